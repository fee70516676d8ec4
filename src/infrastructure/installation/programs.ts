/** Finds the programs that Hive is installed for: on PATH, or in the folders in which their installers put them. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '../../domain/sources.ts';
import { homeOf } from '../platform/platform.ts';

/** The folders on PATH, without those of a project's own programs. */
export function pathFolders(env: Environment): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin')));
}

/**
 * Folders that may be missing from PATH here, because a shell's own file sets PATH or the program is an alias there. `nvm`
 * has one for each Node.
 */
function usualFolders(env: Environment): string[] {
  const home = homeOf(env);
  const nvm = join(env['NVM_DIR'] || join(home, '.nvm'), 'versions', 'node');
  const nodes = existsSync(nvm) ? readdirSync(nvm).map((version) => join(nvm, version, 'bin')) : [];
  return [
    ...['.local/bin', 'bin', '.claude/local', '.npm-global/bin', '.volta/bin', '.bun/bin'].map((folder) =>
      join(home, folder),
    ),
    ...nodes,
    '/usr/local/bin',
    '/opt/homebrew/bin',
    '/Applications/Emacs.app/Contents/MacOS',
  ];
}

/** The first program of this name on PATH; null if there is none. */
export function findOnPath(name: string, env: Environment): string | null {
  return firstIn(pathFolders(env), name);
}

/** The first program of this name on PATH or in a usual folder; null if there is none. */
export function findProgram(name: string, env: Environment): string | null {
  return findOnPath(name, env) ?? firstIn(usualFolders(env), name);
}

/** The existing folders that `findProgram` searches besides PATH, for a message about where it looked. */
export function searchedFolders(env: Environment): string[] {
  const onPath = new Set(pathFolders(env));
  return usualFolders(env).filter((folder) => !onPath.has(folder) && existsSync(folder));
}

/** Whether PATH has this folder. */
export function isOnPath(folder: string, env: Environment): boolean {
  return pathFolders(env).includes(folder);
}

function firstIn(folders: readonly string[], name: string): string | null {
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
