/** The human's own file of permission rules, for whoever asks it about a hook. */
import { files } from '../infrastructure/platform/files.ts';
import { rulesFile } from '../infrastructure/platform/paths.ts';

/** A file of more than this is no file of rules. */
const RULES_BYTES = 256 * 1024;

/** Its text; null where there is none. */
export function readRulesFile(env: Readonly<Record<string, string | undefined>>): string | null {
  return files.readTail(env['HIVE_PERMISSION_RULES'] ?? rulesFile(env), RULES_BYTES);
}
