/** Where paths really lead, seen from the directory in which an agent works. */
import { realpathSync } from 'node:fs';
import type { Place } from '../../domain/places.ts';
import { isLink } from './files.ts';
import { homeOf } from './platform.ts';
import { isBareRepository, provenProject } from './project.ts';

/** Resolves paths as the kernel does: a link is followed before `..` goes up from its target. */
export function placeAt(directory: string): Place {
  const cwd = directory.startsWith('/') ? realPath(directory) : null;
  return {
    cwd,
    home: homeOf(process.env),
    isRepository: isBareRepository,
    project_dir: provenProject(directory),
    resolve(path) {
      if (path.includes('\0')) return null;
      if (path.startsWith('/')) return realPath(path);
      return cwd === null ? null : realPath(cwd === '/' ? `/${path}` : `${cwd}/${path}`);
    },
  };
}

/** The path without links. Only its last parts may be missing. */
function realPath(path: string): string | null {
  const missing: string[] = [];
  for (let left = path.replace(/\/+$/, ''); ; ) {
    try {
      const found = realpathSync.native(left === '' ? '/' : left);
      if (missing.length === 0) return found;
      return `${found === '/' ? '' : found}/${missing.toReversed().join('/')}`;
    } catch (error) {
      // No file has a name that is too long. Writing to a dangling link creates a file elsewhere.
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['ENOENT', 'ENAMETOOLONG'].includes(code) || isLink(left)) return null;
    }
    const slash = left.lastIndexOf('/');
    const name = left.slice(slash + 1);
    // Their target is unknown until the missing folder exists.
    if (name === '..' || name === '.') return null;
    missing.push(name);
    left = left.slice(0, slash).replace(/\/+$/, '');
  }
}
