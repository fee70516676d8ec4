/** The file with the address where this machine serves the inbox of a store: next to the person's file of trust, and private. */
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders, replaceDurably } from '../../infrastructure/platform/files.ts';
import { readPrivately } from '../../infrastructure/platform/human-file.ts';
import { inboxFile } from '../../infrastructure/platform/paths.ts';
import { processes } from '../../infrastructure/platform/processes.ts';

/**
 * The address where this person's machine serves the inbox of a store. It is in a file of the person's own and not in the store:
 * a phone that is then trusted opens the address, and anybody who can write the store could name a page of their own.
 */
export interface InboxPlace {
  /** Null if no process serves it now. */
  read(store_id: string): string | null;
  /** Records that this process serves it at that address, until the returned function is called. */
  write(store_id: string, address: string): () => void;
}

interface Served {
  address: string;
  /** The process that serves it, and when that process began. */
  pid: number;
  started_at: string | null;
}

export function inboxPlace(env: Readonly<Record<string, string | undefined>>): InboxPlace {
  const found = (store_id: string): Served | null => {
    const { text, problems } = readPrivately(inboxFile(env, store_id));
    return problems.length > 0 ? null : servedFrom(text);
  };
  const isServing = ({ pid, started_at }: Served): boolean => processes.startedAt(pid) === started_at;
  return {
    read(store_id) {
      const served = found(store_id);
      // A process that was killed has left its file behind.
      return served !== null && isServing(served) ? served.address : null;
    },
    write(store_id, address) {
      const file = inboxFile(env, store_id);
      const { pid } = process;
      const before = found(store_id);
      const put = (served: Served): void => replaceDurably(file, `${JSON.stringify(served)}\n`);
      makeFolders(dirname(file));
      put({ address, pid, started_at: processes.startedAt(pid) });
      return () => {
        // Another process may serve it now, or as well: for example an Emacs and a hive serve.
        if (found(store_id)?.pid !== pid) return;
        if (before !== null && before.pid !== pid && isServing(before)) put(before);
        else rmSync(file, { force: true });
      };
    },
  };
}

function servedFrom(text: string | null): Served | null {
  try {
    const { address, pid, started_at } = JSON.parse(text ?? '') as Partial<Served>;
    if (typeof address !== 'string' || typeof pid !== 'number' || started_at === undefined) return null;
    return { address, pid, started_at };
  } catch {
    return null;
  }
}
