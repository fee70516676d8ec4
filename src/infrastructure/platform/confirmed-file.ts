/** The file with the keys of phones that the person has confirmed: beside their file of trust, and private as it is. */
import { dirname } from 'node:path';
import type { ConfirmedKey, ConfirmedKeys } from '../../application/world.ts';
import { objectIn } from '../../domain/json.ts';
import { makeFolders, replaceDurably } from './files.ts';
import { readPrivately } from './human-file.ts';
import { confirmedFile } from './paths.ts';

export function confirmedKeys(env: Readonly<Record<string, string | undefined>>): ConfirmedKeys {
  const found = (store_id: string): Record<string, unknown> => {
    const { text, problems } = readPrivately(confirmedFile(env, store_id));
    try {
      return problems.length > 0 ? {} : { ...objectIn(JSON.parse(text ?? '{}')) };
    } catch {
      return {};
    }
  };
  return {
    read(store_id, device_id) {
      const all = found(store_id);
      const { name, key } = (
        Object.hasOwn(all, device_id) ? (all[device_id] ?? {}) : {}
      ) as Partial<ConfirmedKey>;
      return typeof name === 'string' && typeof key === 'string' ? { name, key } : null;
    },
    write(store_id, device_id, { name, key }) {
      const file = confirmedFile(env, store_id);
      makeFolders(dirname(file));
      const all = new Map([...Object.entries(found(store_id)), [device_id, { name, key }]]);
      replaceDurably(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    },
  };
}
