/** Where a tool runs, and to which files a path refers there. The caller resolves the paths. */
import { fill, STAR } from './patterns.ts';

/** Where a tool runs. */
export interface Place {
  /** The directory in which the agent works, without links; null if that cannot be known. */
  cwd: string | null;
  /** The real path of a path, resolved from `cwd`; null if it is unknown. */
  resolve: (path: string) => string | null;
  /** Whether git takes a folder without .git for a repository. Absent for another machine. */
  isRepository?: (folder: string) => boolean;
  /** The home directory, for paths that begin with `~`. Absent for another machine. */
  home?: string;
  /**
   * The project of that directory according to its own files, or the directory itself outside of projects. Absent for another
   * machine. An allowing rule does not rely on a session's project in the store.
   */
  project_dir?: string;
}

/** Another machine's files cannot be examined, so a star allows nothing there. */
export const NOWHERE: Place = { cwd: null, resolve: () => null };

/** Whether a rule allows a path. The resolved path is compared, and a star stays in the folder that is named before it. */
export function isPathAllowed(pieces: readonly string[], text: string, { cwd, resolve }: Place): boolean {
  const wanted = absolute(pieces.join(STAR), cwd);
  // Clients expand `~`, trim white space and compose letters, so for such a path the file is another one.
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
 * The real path of a path; null if it is unknown or ambiguous. For `..` after a link, `cd` and some clients go up from the link,
 * and other programs from its target.
 */
export function leadsTo(path: string, { cwd, resolve }: Pick<Place, 'cwd' | 'resolve'>): string | null {
  const real = resolve(path);
  if (real === null || !path.split('/').includes('..')) return real;
  const written = asWritten(path, cwd);
  return written !== null && resolve(written) === real ? real : null;
}

/** An absolute path in which each `..` removes the name before it; null if it cannot be known. */
export function asWritten(path: string, cwd: string | null): string | null {
  const parts = absolute(path.replace(/(?<!\/)\/+$/, ''), cwd);
  return parts === null ? null : `/${parts.join('/')}`;
}

/**
 * Whether a pattern allows a name. A star matches no name that begins with a dot, such as `.git` or the folders with agents'
 * settings.
 */
function isNameAllowed(pieces: readonly string[], name: string): boolean {
  const filled = fill(pieces, name);
  if (filled === null) return false;
  if (pieces[0] === '' && pieces.length > 1 && name.startsWith('.')) return false;
  return filled.every((part) => !part.includes('/.')) && (pieces.length > 1 || !name.includes('/'));
}

/** The path with a leading `~` expanded. */
export function atHome(path: string, { home }: Place): string {
  return home !== undefined && /^~(?:\/|$)/.test(path) ? `${home}${path.slice(1)}` : path;
}

/** Whether a path is this folder, or inside it and not hidden there. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || (isWithin(folder, path) && !path.slice(folder.length).includes('/.'));
}

function isWithin(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
