/** This very program, as others can start it, and what lies beside it in its package. */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** `bin/hive`, whatever link it was called by. */
export function thisFile(): string {
  return realpathSync(process.argv[1] ?? '');
}

/** The folder of the package. */
export function packageFolder(): string {
  return dirname(dirname(thisFile()));
}

/** By its full path and with this Node: whoever starts it may have another PATH, or none. */
export function thisProgram(): string[] {
  return [process.execPath, thisFile()];
}

export function isOnPath(name: string, env: NodeJS.ProcessEnv = process.env): boolean {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, name)));
}
