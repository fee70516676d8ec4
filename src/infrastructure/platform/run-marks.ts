/** The marks of runs. Only this person's processes can make them, so nothing that somebody else writes can start a program. */
import type { Environment } from '../../domain/sources.ts';
import { runsSecret } from './seat-file.ts';

/** The mark of a text, with the key of `runsSecret`. */
export function markOf(text: string, key: string): string {
  const { createHmac } = process.getBuiltinModule('node:crypto');
  return createHmac('sha256', Buffer.from(key, 'hex')).update(`hive run 1\n${text}`).digest('hex');
}

/**
 * The mark of a run's row in the store, over its columns. Null if the key cannot be used: then no row is marked, and none
 * counts as marked.
 */
export function markOfRow(columns: string, env: Environment): string | null {
  try {
    return markOf(`row\n${columns}`, runsSecret(env));
  } catch {
    return null;
  }
}
