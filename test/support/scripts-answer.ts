/** The leave of a person for their scripts: without it `hive respond` wants a terminal, and somebody who types there. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The person of this home lets scripts answer questions, as those who test may: their answers are unattested. */
export function lettingScriptsAnswer(folder: string): string {
  const config = join(folder, '.config/hive');
  mkdirSync(config, { recursive: true, mode: 0o700 });
  writeFileSync(join(config, 'trust.json'), '{"allow_scripts_to_answer": true}\n', { mode: 0o600 });
  return folder;
}
