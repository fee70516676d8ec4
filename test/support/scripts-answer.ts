/** A person's permission for scripts: without it `hive respond` needs a terminal where somebody types. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The person with this home lets scripts answer questions; their answers are unattested. */
export function lettingScriptsAnswer(folder: string, more: object = {}): string {
  const config = join(folder, '.config/hive');
  mkdirSync(config, { recursive: true, mode: 0o700 });
  writeFileSync(
    join(config, 'trust.json'),
    `${JSON.stringify({ allow_scripts_to_answer: true, ...more })}\n`,
    { mode: 0o600 },
  );
  return folder;
}
