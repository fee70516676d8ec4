/** Reads the human's file of permission rules. */
import { files } from '../infrastructure/platform/files.ts';
import { rulesFile } from '../infrastructure/platform/paths.ts';

/** Only this much of the file is read. */
const RULES_BYTES = 256 * 1024;

/** Its text; null if there is none. */
export function readRulesFile(env: Readonly<Record<string, string | undefined>>): string | null {
  return files.readTail(env['HIVE_PERMISSION_RULES'] ?? rulesFile(env), RULES_BYTES);
}
