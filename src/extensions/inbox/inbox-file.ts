/** The file with the addresses where this machine serves the inbox of a store: next to the person's file of trust, and private. */
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders, replaceDurably } from '../../infrastructure/platform/files.ts';
import { readPrivately } from '../../infrastructure/platform/human-file.ts';
import { inboxFile } from '../../infrastructure/platform/paths.ts';
import { processes } from '../../infrastructure/platform/processes.ts';

interface Served {
  address: string;
  /** The process that serves it, and when that process began. */
  pid: number;
  started_at: string | null;
}

export type InboxPlace = ReturnType<typeof inboxPlace>;

/**
 * The address where this person's machine serves the inbox of a store. It is in a file of the person's own and not in the store:
 * a phone that is then trusted opens the address, and anybody who can write the store could name a page of their own.
 */
export function inboxPlace(env: Readonly<Record<string, string | undefined>>) {
  /** The processes that serve it, for example an Emacs and a hive serve; the newest is last. One that was killed is left out. */
  const found = (store_id: string): Served[] => {
    const { text, problems } = readPrivately(inboxFile(env, store_id));
    const all = problems.length > 0 ? [] : servedFrom(text);
    return all.filter(({ pid, started_at }) => processes.startedAt(pid) === started_at);
  };
  return {
    /** The newest address; null if no process serves it now. */
    read: (store_id: string): string | null => found(store_id).at(-1)?.address ?? null,
    /** Records that this process serves it at that address, until the returned function is called. */
    write(store_id: string, address: string): () => void {
      const file = inboxFile(env, store_id);
      const { pid } = process;
      const others = (): Served[] => found(store_id).filter((one) => one.pid !== pid);
      const put = (all: readonly Served[]): void => replaceDurably(file, `${JSON.stringify(all)}\n`);
      makeFolders(dirname(file));
      put([...others(), { address, pid, started_at: processes.startedAt(pid) }]);
      return () => {
        const left = others();
        if (left.length > 0) put(left);
        else rmSync(file, { force: true });
      };
    },
  };
}

function servedFrom(text: string | null): Served[] {
  try {
    const all = JSON.parse(text ?? '') as Partial<Served>[];
    return all.filter(
      (one): one is Served =>
        typeof one.address === 'string' && typeof one.pid === 'number' && one.started_at !== undefined,
    );
  } catch {
    return [];
  }
}
