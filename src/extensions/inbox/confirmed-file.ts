/** The file with the keys of phones that the person has confirmed: next to their file of trust, and just as private. */
import { dirname } from 'node:path';
import { objectIn } from '../../domain/json.ts';
import { makeFolders, replaceDurably } from '../../infrastructure/platform/files.ts';
import { readPrivately } from '../../infrastructure/platform/human-file.ts';
import { confirmedFile } from '../../infrastructure/platform/paths.ts';

export interface ConfirmedKey {
  name: string;
  key: string;
}

export type ConfirmedKeys = ReturnType<typeof confirmedKeys>;

/**
 * The keys of phones that this person has confirmed by comparing the phrases. They are in a file of the person's own: anybody who
 * can write the store could replace a confirmed key with another one, before it may allow anything.
 */
export function confirmedKeys(env: Readonly<Record<string, string | undefined>>) {
  const found = (store_id: string): Record<string, unknown> => {
    const { text, problems } = readPrivately(confirmedFile(env, store_id));
    try {
      return problems.length > 0 ? {} : { ...objectIn(JSON.parse(text ?? '{}')) };
    } catch {
      return {};
    }
  };
  return {
    /** Null if this person has confirmed no such phone on this machine. */
    read(store_id: string, device_id: string): ConfirmedKey | null {
      const all = found(store_id);
      const { name, key } = (
        Object.hasOwn(all, device_id) ? (all[device_id] ?? {}) : {}
      ) as Partial<ConfirmedKey>;
      return typeof name === 'string' && typeof key === 'string' ? { name, key } : null;
    },
    /** @throws if the file cannot be written. */
    write(store_id: string, device_id: string, { name, key }: ConfirmedKey): void {
      const file = confirmedFile(env, store_id);
      makeFolders(dirname(file));
      const all = new Map([...Object.entries(found(store_id)), [device_id, { name, key }]]);
      replaceDurably(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    },
  };
}
