/**
 * The project of a directory: the git common directory, read from `.git` and `commondir` without starting git, so that
 * several worktrees are one project; else the directory itself.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { projectName } from '../../domain/preferences.ts';

/** The project that something happens in. */
export interface ProjectContext {
  /** A short name for people. */
  project: string;
  /** The identity of the project. */
  project_dir: string;
  branch: string | null;
}

/** Never throws: a directory that cannot be read counts as its own project. */
export function findProject(directory: string): ProjectContext {
  const start = resolve(directory);
  for (let folder = start; ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git');
    if (existsSync(dotGit)) {
      try {
        const gitDir = statSync(dotGit).isDirectory()
          ? dotGit
          : resolve(
              folder,
              readFileSync(dotGit, 'utf8')
                .replace(/^gitdir:/, '')
                .trim(),
            );
        return describe(gitDir);
      } catch {
        break;
      }
    }
    if (dirname(folder) === folder) break;
  }
  return { project: projectName(start), project_dir: start, branch: null };
}

function describe(gitDir: string): ProjectContext {
  const commonFile = join(gitDir, 'commondir');
  const common = existsSync(commonFile) ? resolve(gitDir, readFileSync(commonFile, 'utf8').trim()) : gitDir;
  const head = readFileSync(join(gitDir, 'HEAD'), 'utf8').trim();
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? null;
  return { project: projectName(common), project_dir: common, branch };
}
