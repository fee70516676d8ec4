/** The tarball of the release, installed into an empty project. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { childEnvironment, type Environment } from '../support/children.ts';
import { lettingScriptsAnswer } from '../support/scripts-answer.ts';

export interface Installed {
  /** The home of its user, with the project and a folder for the store. */
  folder: string;
  project: string;
  /** The environment of a child of that home: the project's programs, this Node, and what every machine has. */
  env: Environment;
  tarball: Tarball;
  remove(): Promise<void>;
}

export interface Tarball {
  path: string;
  /** The paths in it. */
  files: string[];
  /** Bytes, compressed. */
  size: number;
}

export const run: typeof execFile.__promisify__ = promisify(execFile);

/** The folder of the Node that runs the tests, with its npm. */
export const BINARIES: string = dirname(process.execPath);

// Packages that npm has fetched before it takes from its cache.
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', '--omit=dev'];

/** Installs the release. */
export async function installRelease(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${process.pid}-package-`));
  const project = join(folder, 'project');
  mkdirSync(join(folder, 'state'), { mode: 0o700 });
  mkdirSync(project);
  const tarball = await releasedTarball();
  writeFileSync(join(project, 'package.json'), '{"private": true}\n');
  await run('npm', [...INSTALL, tarball.path], { cwd: project, env: npmEnvironment() });
  const env = childEnvironment(join(folder, 'state', 'hive.db'), {
    HOME: lettingScriptsAnswer(folder),
    PATH: `${join(project, 'node_modules/.bin')}:${BINARIES}:/usr/bin:/bin`,
  });
  // Processes that npm and Emacs have started may still write there for a moment.
  const remove = (): Promise<void> =>
    rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  return { folder, project, env, tarball, remove };
}

async function releasedTarball(): Promise<Tarball> {
  const path = releasedFile('.tgz');
  const { stdout } = await run('tar', ['-tzf', path], { maxBuffer: 2 ** 26 });
  const files = stdout.split('\n').filter((name) => name !== '' && !name.endsWith('/'));
  return { path, files: files.map((name) => name.replace(/^package\//, '')), size: statSync(path).size };
}

/** The file of the release whose name ends like this. */
export function releasedFile(ending: string): string {
  const { first } = inject('releases');
  return join(first, readdirSync(first).find((name) => name.endsWith(ending)) ?? `hive-*${ending}`);
}

/** npm's own settings of the machine, and none of the npm that may run this test. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?:lifecycle|package|command)/.test(name),
  );
  return { ...Object.fromEntries(kept), PATH: `${BINARIES}:${process.env['PATH']}` };
}

/** Where npm of this machine fetches from and what it has kept, for one whose home is elsewhere. */
export async function npmOfThisMachine(): Promise<Environment> {
  const { stdout } = await run('npm', ['config', 'get', 'cache'], { env: npmEnvironment() });
  const kept = Object.entries(process.env).filter(([name]) => /^npm_config_|_proxy$/i.test(name));
  return {
    ...(Object.fromEntries(kept) as Environment),
    npm_config_cache: stdout.trim(),
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_prefer_offline: 'true',
  };
}
