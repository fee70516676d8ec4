/** PATH without the programs of a project: a folder that was merely cloned must not choose what Hive starts. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Environment } from '../../domain/sources.ts';
import { homeOf } from './platform.ts';
import { realOr } from './project.ts';

/** The repository around a folder. Null for one that contains the person's home: its programs are their own. */
export function ownProject(folder: string): string | null {
  const whole = wholeRepository(folder);
  return leadsInto(whole, homeOf(process.env)) ? null : whole;
}

/** The entries of PATH that are relative or empty, or lead into the project. */
export function entriesInside(env: Environment, project: string | null): string[] {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !isAbsolute(entry) || (project !== null && leadsInto(project, entry)));
}

/** The file that a program of this name is in PATH; null if there is none. A name with a folder is the file itself. */
export function programFile(program: string, env: Environment): string | null {
  if (program.includes(sep)) return resolve(program);
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const file = join(folder, program);
    try {
      if (folder === '') continue;
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // It is not in this folder.
    }
  }
  return null;
}

/** The environment with these entries removed from PATH. */
export function withoutProject(env: Environment, folder: string): Environment {
  const inside = new Set(entriesInside(env, ownProject(folder)));
  const path = (env['PATH'] ?? '').split(delimiter).filter((entry) => !inside.has(entry));
  return { ...env, PATH: path.join(delimiter) };
}

/** The outermost folder with a `.git` around the project: everything else in its repository is just as foreign. */
export function wholeRepository(project: string): string {
  let whole = realOr(project);
  for (let folder = whole; dirname(folder) !== folder; folder = dirname(folder))
    if (existsSync(join(folder, '.git'))) whole = folder;
  return whole;
}

/** This folder and those above it, up to the first with `.git`; without one, only itself. Codex reads the settings of each. */
export function projectFolders(folder: string): string[] {
  const folders: string[] = [];
  for (let each = folder; ; each = dirname(each)) {
    folders.push(each);
    if (existsSync(join(each, '.git'))) return folders;
    if (dirname(each) === each) return [folder];
  }
}

/** An entry that is relative or empty depends on where the doctor was started: in the project. */
function leadsInto(project: string, entry: string): boolean {
  if (!isAbsolute(entry)) return true;
  const path = relative(realOr(project), realOr(entry));
  return path === '' || !(path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path));
}
