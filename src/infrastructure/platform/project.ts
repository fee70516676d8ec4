/**
 * The project of a directory: the git common directory, read from `.git` and `commondir` without starting git, so that
 * several worktrees are one project; otherwise the directory itself.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ProjectContext } from '../../application/world.ts';
import { projectName } from '../../domain/preferences.ts';
import { readFileOnly } from './files.ts';

/** Never throws: a directory that cannot be read counts as its own project. */
export function findProject(directory: string): ProjectContext {
  const start = resolve(directory);
  for (let folder = start; ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git');
    if (existsSync(dotGit)) {
      try {
        return describe(statSync(dotGit).isDirectory() ? dotGit : namedBy(dotGit));
      } catch {
        break;
      }
    }
    if (dirname(folder) === folder) break;
  }
  return { project: projectName(start), project_dir: start, branch: null };
}

/**
 * The identity of the project of a directory, for a rule that allows something there. A folder's own claims prove nothing.
 * A `.git` directory is its own identity, and so is a folder that git takes for a repository without one. A `.git` file counts
 * only if the repository that it names lists this worktree. A link into another project leads to that project.
 */
export function provenProject(directory: string): string {
  const start = resolve(directory);
  const named = provenAt(start);
  const real = provenAt(realOr(start));
  return realOr(named) === realOr(real) ? named : real;
}

function provenAt(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git');
    if (existsSync(dotGit)) {
      if (statSync(dotGit).isDirectory()) return dotGit;
      return repositoryOfWorktree(dotGit) ?? folder;
    }
    // Git uses the settings of such a folder as those of a repository, and they name programs.
    if (isBareRepository(folder)) return dotGit;
    if (dirname(folder) === folder) return start;
  }
}

/** Whether git takes a folder without .git for a repository: its missing parts may be where its `commondir` points. */
export function isBareRepository(folder: string): boolean {
  const has = (name: string): boolean => existsSync(join(folder, name));
  return has('HEAD') && (has('commondir') || ['objects', 'refs'].every(has));
}

/** The common directory of a worktree's repository; null if that repository does not list this worktree. */
function repositoryOfWorktree(dotGit: string): string | null {
  try {
    const gitDir = namedBy(dotGit);
    const back = resolve(gitDir, readFileOnly(join(gitDir, 'gitdir')).trim());
    const common = resolve(gitDir, readFileOnly(join(gitDir, 'commondir')).trim());
    const isKept = dirname(realpathSync(gitDir)) === join(realpathSync(common), 'worktrees');
    return isKept && realpathSync(back) === realpathSync(dotGit) ? common : null;
  } catch {
    return null;
  }
}

/** The directory that a `.git` file names. */
function namedBy(dotGit: string): string {
  const text = readFileOnly(dotGit);
  return resolve(dirname(dotGit), text.replace(/^gitdir:/, '').trim());
}

/** The path without links; the path itself if that cannot be known. */
export function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function describe(gitDir: string): ProjectContext {
  const commonFile = join(gitDir, 'commondir');
  const common = existsSync(commonFile) ? resolve(gitDir, readFileOnly(commonFile).trim()) : gitDir;
  const head = readFileOnly(join(gitDir, 'HEAD')).trim();
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? null;
  return { project: projectName(common), project_dir: common, branch };
}
