/** Where a tool runs, and the files that a path means there. The caller resolves the paths. */
import { fill, STAR } from './patterns.ts';

/** Where a tool runs. */
export interface Place {
  /** The directory in which the agent works, without links; null if that cannot be known. */
  cwd: string | null;
  /** Where a path really leads, from `cwd`; null if that cannot be known. */
  resolve: (path: string) => string | null;
  /** Whether git takes a folder without .git for a repository. Absent for another machine. */
  isRepository?: (folder: string) => boolean;
  /** The home directory, which a path that begins with `~` may mean. Absent for another machine. */
  home?: string;
  /**
   * The project of that directory, as its own files prove it, or the directory where no project is around it. Absent for
   * another machine. What the store says of a session's project is not enough for a rule that allows.
   */
  project_dir?: string;
}

/** Another machine's files cannot be examined, so a star allows nothing there. */
export const NOWHERE: Place = { cwd: null, resolve: () => null };

/** The path is compared as resolved; a star stays in the folder that is named before it. */
export function isPathAllowed(pieces: readonly string[], text: string, { cwd, resolve }: Place): boolean {
  const wanted = absolute(pieces.join(STAR), cwd);
  // Clients read a home directory, drop outer blanks and compose letters: then the file is another one.
  const isPlain = text !== '' && !text.startsWith('~') && text === text.trim().normalize('NFC');
  const real = isPlain ? leadsTo(text, { cwd, resolve }) : null;
  if (wanted === null || real === null) return false;
  const given = real.split('/').slice(1);
  const last = wanted.length - 1;
  if (wanted.length === 0 || given.length < wanted.length) return false;
  return wanted.every((part, index) =>
    isNameAllowed(part.split(STAR), index === last ? given.slice(last).join('/') : (given[index] ?? '')),
  );
}

/** The parts of a path that a rule names, from the root; null if they cannot be known. */
export function absolute(path: string, cwd: string | null): string[] | null {
  if (!path.startsWith('/') && cwd === null) return null;
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${cwd}/${path}`).split('/')) {
    if (part === '..' && parts.pop()?.includes(STAR) === true) return null;
    if (part !== '' && part !== '.' && part !== '..') parts.push(part);
  }
  return path.endsWith('/') ? null : parts;
}

/**
 * Where a path leads; null if that cannot be known. Behind a link, `cd` and some clients go up from the link, and other programs
 * from where it leads: there a path means two files.
 */
export function leadsTo(path: string, { cwd, resolve }: Pick<Place, 'cwd' | 'resolve'>): string | null {
  const real = resolve(path);
  if (real === null || !path.split('/').includes('..')) return real;
  const written = asWritten(path, cwd);
  return written !== null && resolve(written) === real ? real : null;
}

/** A path from the root, in which each `..` takes away the name before it; null if that cannot be known. */
export function asWritten(path: string, cwd: string | null): string | null {
  const parts = absolute(path.replace(/(?<!\/)\/+$/, ''), cwd);
  return parts === null ? null : `/${parts.join('/')}`;
}

/** A star matches no name that begins with a dot: git's hooks and agents' settings have such names. */
function isNameAllowed(pieces: readonly string[], name: string): boolean {
  const filled = fill(pieces, name);
  if (filled === null) return false;
  if (pieces[0] === '' && pieces.length > 1 && name.startsWith('.')) return false;
  return filled.every((part) => !part.includes('/.')) && (pieces.length > 1 || !name.includes('/'));
}

/** A path that begins with `~`, in the home directory. */
export function atHome(path: string, { home }: Place): string {
  return home !== undefined && /^~(?:\/|$)/.test(path) ? `${home}${path.slice(1)}` : path;
}

/** Whether a path is this folder or in it, and not hidden there. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || (isWithin(folder, path) && !path.slice(folder.length).includes('/.'));
}

function isWithin(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
