/** The tarball that would be published, installed into an empty project. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment, type Environment, ROOT } from '../support/children.ts';
import { lettingScriptsAnswer } from '../support/scripts-answer.ts';

export interface Installed {
  /** The home of its user, with the project and a folder for the store. */
  folder: string;
  project: string;
  /** What a child of that home has: the project's programs, this Node, and what every machine has. */
  env: Environment;
  tarball: Tarball;
  /** Off when the registry could not be reached: then nothing was installed. */
  reachable: boolean;
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

const OUT_OF_REACH = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/;

// What npm has fetched before it takes from its cache.
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', '--omit=dev'];

/** Packs this checkout and installs that. */
export async function packAndInstall(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${process.pid}-package-`));
  const project = join(folder, 'project');
  mkdirSync(join(folder, 'state'), { mode: 0o700 });
  mkdirSync(project);
  const tarball = await pack(folder);
  writeFileSync(join(project, 'package.json'), '{"private": true}\n');
  let reachable = true;
  const installing = run('npm', [...INSTALL, tarball.path], { cwd: project, env: npmEnvironment() });
  await installing.catch((error: { stderr: string }) => {
    if (!OUT_OF_REACH.test(error.stderr)) throw error;
    reachable = false;
  });
  const env = childEnvironment(join(folder, 'state', 'hive.db'), {
    HOME: lettingScriptsAnswer(folder),
    PATH: `${join(project, 'node_modules/.bin')}:${BINARIES}:/usr/bin:/bin`,
  });
  // What npm and Emacs have started may still write there for a moment.
  const remove = (): Promise<void> =>
    rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  return { folder, project, env, tarball, reachable, remove };
}

async function pack(folder: string): Promise<Tarball> {
  const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
    env: npmEnvironment(),
    maxBuffer: 2 ** 26,
  });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as {
    filename: string;
    size: number;
    files: { path: string }[];
  }[];
  return {
    path: join(folder, packed?.filename ?? ''),
    files: packed?.files.map(({ path }) => path) ?? [],
    size: packed?.size ?? 0,
  };
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
