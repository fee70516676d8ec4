/** This very program, as others can start it, and what lies beside it in its package. */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { HiveError } from '../domain/errors.ts';

/** `bin/hive`, whatever link it was called by. */
export function thisFile(): string {
  return realpathSync(process.argv[1] ?? '');
}

/** The folder of the package. */
export function packageFolder(): string {
  return dirname(dirname(thisFile()));
}

/**
 * By its full path and with this Node: whoever starts it may have another PATH, or none.
 * @throws HiveError `invalid_input` where npx runs it, whose copy is gone one day without a word.
 */
export function thisProgram(): string[] {
  const file = thisFile();
  if (/[/\\]_npx[/\\]/.test(file)) {
    throw new HiveError(
      'invalid_input',
      'npx keeps this Hive only for a while, and a configuration must not name it: npm install -g hive-sidecar, then run this again.',
    );
  }
  return [process.execPath, file];
}

export function isOnPath(name: string, env: NodeJS.ProcessEnv = process.env): boolean {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, name)));
}
