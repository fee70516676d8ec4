/**
 * The installation of Hive for one person: a folder with a folder for each version, and a link `current` to the one in use.
 *
 *     FOLDER/bin/hive                     starts `current`
 *     FOLDER/current → versions/NAME
 *     FOLDER/versions/NAME/node_modules   the package hive-sidecar and what is not bundled into it; its own Node if it has one
 *     FOLDER/versions/NAME/bin/node       a link to the Node that runs it
 *
 * A version is made under another name and tried before it gets its own name, and renaming one link puts it in use. If the
 * installation is killed, either the old version or the new one is in use. This file must run on the Node that a machine
 * happens to have, so it imports nothing that needs a newer one.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join, sep } from 'node:path';
import { HiveError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/sources.ts';
import { isAtLeast } from '../../domain/text.ts';
import { homeOf } from '../platform/platform.ts';
import { processes } from '../platform/processes.ts';
import { withoutProject } from '../platform/project-path.ts';
import { refusal, removeFolders } from './files.ts';
import { pathFolders } from './programs.ts';

const PACKAGE = join('node_modules', 'hive-sidecar');
/** npm prints megabytes when a script fails. */
const MOST_OUTPUT = 2 ** 26;

/** Where Hive is installed for a person. */
export interface InstallFolders {
  folder: string;
  /** The folder of the link `hive`; null for none. */
  bin: string | null;
}

/** The usual place: below ~/.local, according to the XDG Base Directory Specification. */
export function usualPlace(env: Environment): { folder: string; bin: string } {
  const home = homeOf(env);
  const data = env['XDG_DATA_HOME'];
  const below = data?.startsWith('/') === true ? data : join(home, '.local', 'share');
  return { folder: join(below, 'hive'), bin: join(home, '.local', 'bin') };
}

/** The Node that an installed version runs on. */
export interface ChosenNode {
  /** The machine's program; null when the installation brings its own. */
  path: string | null;
  version: string;
  /** The first Node on PATH, if it is too old; null if there is none. */
  instead_of: string | null;
}

/** The package to install. */
export interface Wanted extends InstallFolders {
  /** The folder of a built package, for example of the running one. */
  source: string;
  /** The packages that are not bundled into its programs, with their versions. */
  needs: Readonly<Record<string, string>>;
  node: ChosenNode;
  /** Called when a step begins, since each may take seconds. */
  begins(step: InstallStep): void;
}

export type InstallStep = 'pack' | 'fetch' | 'try';

export interface Installed {
  /** The folder of the version in use. */
  version: string;
  /** False when exactly this version was in use already. */
  changed: boolean;
}

// ---- Finding the installation ----

/**
 * The path of an installed file that stays valid when another version is put in use; any other path as it is.
 * @param path a real path, with links resolved
 */
export function lastingPath(path: string): string {
  const found = /^(.*)[/\\]versions[/\\][^/\\]+([/\\]node_modules[/\\]hive-sidecar(?:[/\\].*)?)$/.exec(path);
  const lasting = found === null ? path : join(`${found[1]}`, 'current', `${found[2]}`);
  return existsSync(lasting) ? lasting : path;
}

/** The Node of an installation, by a path that outlives updates; null for a program that was not installed like this. */
export function installedNode(program: string): string | null {
  const found = /^(.*[/\\]current)[/\\]node_modules[/\\]hive-sidecar[/\\]bin[/\\]hive$/.exec(program);
  const node = found === null ? null : join(`${found[1]}`, 'bin', 'node');
  return node !== null && existsSync(node) ? node : null;
}

/** Whether `hive install` has written there. An unfinished installation counts, so that it can be removed, too. */
export function isInstalled({ folder }: InstallFolders): boolean {
  return existsSync(join(folder, FOLDERS)) || isLauncher(join(folder, 'bin', 'hive'));
}

/** The command that starts the installed version; null when there is none. */
export function installedProgram({ folder }: InstallFolders): string | null {
  const launcher = join(folder, 'bin', 'hive');
  return isLauncher(launcher) && existsSync(join(folder, 'current')) ? launcher : null;
}

/** Whether the command in `bin` is a link to the installed version. */
export function isLinked({ folder, bin }: InstallFolders): boolean {
  return bin !== null && linkOf(join(bin, 'hive')) === join(folder, 'bin', 'hive');
}

/** The folders in which an installation has linked the command. */
export function linkedIn({ folder }: Pick<InstallFolders, 'folder'>): string[] {
  return rememberedFolders(folder)
    .map((path) => dirname(path))
    .filter((bin) => isLinked({ folder, bin }));
}

// ---- What is Hive's in the folder ----
// The folder may have existed before, for example ~/.local, and contain other people's files.

/** The paths of an installation, including drafts of a killed one, but without its lock and the record of its folders. */
function ownPaths(folder: string): string[] {
  const named = (below: string, pattern: RegExp): string[] =>
    namesIn(join(folder, below))
      .filter((name) => pattern.test(name))
      .map((name) => join(folder, below, name));
  return [
    ...named('bin', /^hive(?:\.\d+)?$/).filter(isLauncher),
    ...named('', /^(?:current|previous)(?:\.\d+)?$/).filter(leadsToVersion),
    ...named('versions', VERSION),
  ];
}

const UNFINISHED = '.unfinished-';
/** The names that `installVersion` gives. */
const VERSION = /^(?:\d+\.\d+\.\d+.*-[0-9a-f]{12}(?:-node-.+)?|\.unfinished-\d+)$/;

function versionsIn(folder: string): string[] {
  return namesIn(join(folder, 'versions')).filter((name) => VERSION.test(name));
}

function leadsToVersion(path: string): boolean {
  const target = linkOf(path) ?? '';
  return dirname(target) === 'versions' && VERSION.test(basename(target));
}

/** A link may lead to the launcher of another installation. */
function isLauncher(path: string): boolean {
  if (linkOf(path) !== null || !existsSync(path) || !statSync(path).isFile()) return false;
  return readFileSync(path, 'utf8').includes(MARK);
}

// ---- Choosing a Node ----

/** The npm package that contains the binary of Node for this machine. The package `node` fetches the same one, by a script. */
function packageOfNode(): string {
  const { platform, arch } = process;
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${platform}-${arch}`;
}

/**
 * The first Node on PATH that is new enough; otherwise the one that the installation brings. A Node below a `node_modules`
 * belongs to a project and disappears with it, and so does one in the project in which this was started.
 */
export async function chooseNode(env: Environment, minimum: string, brought: string): Promise<ChosenNode> {
  let first: string | null = null;
  const { PATH: path_list = '' } = withoutProject(env, process.cwd());
  for (const folder of new Set(path_list.split(delimiter))) {
    const path = join(folder, 'node');
    if (folder === '' || !existsSync(path) || isInProject(path)) continue;
    const version = (await output(path, ['--version'], { env }).catch(() => '')).trim().replace(/^v/, '');
    if (!/^\d+\.\d+\.\d+/.test(version)) continue;
    if (isAtLeast(version, minimum)) return { path: lastingNode(path), version, instead_of: null };
    first ??= `${path} (${version})`;
  }
  return { path: null, version: brought, instead_of: first };
}

function isInProject(path: string): boolean {
  return [path, realpathSync(path)].some((each) => each.includes(`${sep}node_modules${sep}`));
}

/** A link usually outlives an update of its target; the links that fnm makes for a shell end with it. */
function lastingNode(path: string): string {
  return /fnm_multishells/.test(path) ? realpathSync(path) : path;
}

// ---- Installing ----

/**
 * Installs a version and puts it in use.
 * @throws HiveError `invalid_input` when a folder cannot be written, when another installation runs, when npm fails, when the new
 * version does not start, or when a foreign file has the name of one of ours. The version in use then stays in use.
 */
export async function installVersion(wanted: Wanted, env: Environment): Promise<Installed> {
  const { folder, bin } = wanted;
  refuseForeign(folder, bin);
  for (const one of [folder, join(folder, 'bin'), join(folder, 'versions'), ...(bin === null ? [] : [bin])]) {
    refuseOpenFolders(one);
    refuseUnwritable(one);
  }
  const made = [makeFolder(folder), makeFolder(join(folder, 'bin'))];
  if (bin !== null) made.push(makeFolder(bin), join(bin, 'hive'));
  const release = lock(folder);
  let installed: Installed | null = null;
  try {
    rememberFolders(folder, made);
    installed = await makeVersion(wanted, env);
    return installed;
  } finally {
    release();
    // A failed first installation leaves nothing behind.
    if (installed === null && linkOf(join(folder, 'current')) === null) removeInstallation({ folder, bin });
  }
}

/** Makes the version, and puts it in use. */
async function makeVersion(wanted: Wanted, env: Environment): Promise<Installed> {
  const { folder, bin, source, node } = wanted;
  const versions = join(folder, 'versions');
  // The process that made them is gone; otherwise we would not have the lock.
  for (const name of versionsIn(folder).filter((each) => each.startsWith(UNFINISHED)))
    rmSync(join(versions, name), { recursive: true, force: true });
  const draft = join(versions, `${UNFINISHED}${process.pid}`);
  mkdirSync(draft, { recursive: true });
  try {
    wanted.begins('pack');
    const name = await packInto(draft, source, node, env);
    const version = join(versions, name);
    if (!isComplete(version)) {
      await fill(draft, wanted, env);
      rmSync(version, { recursive: true, force: true });
      renameSync(draft, version);
    } else if (node.path !== null) linkTo(node.path, join(version, 'bin', 'node'));
    const changed = putInUse(folder, name);
    writeLauncher(folder);
    if (bin !== null) linkTo(join(folder, 'bin', 'hive'), join(bin, 'hive'));
    removeReplaced(folder);
    return { version, changed };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Packs the package, and names the version after its content and its Node. */
async function packInto(draft: string, source: string, node: ChosenNode, env: Environment): Promise<string> {
  const args = ['pack', source, '--ignore-scripts', '--silent', '--pack-destination', draft];
  await npm(args, draft, env);
  const [tarball = ''] = namesIn(draft).filter((name) => name.endsWith('.tgz'));
  renameSync(join(draft, tarball), join(draft, 'hive-sidecar.tgz'));
  const digest = createHash('sha256')
    .update(readFileSync(join(draft, 'hive-sidecar.tgz')))
    .digest('hex');
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
  return [version, digest.slice(0, 12), ...(node.path === null ? [`node-${node.version}`] : [])].join('-');
}

async function fill(draft: string, { needs, node, begins }: Wanted, env: Environment): Promise<void> {
  begins('fetch');
  const own = packageOfNode();
  const dependencies = { ...needs, ...(node.path === null && { [own]: node.version }) };
  writeFileSync(join(draft, 'package.json'), `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`);
  // None of the installed packages needs its install script.
  const args = ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'];
  await npm([...args, '--prefer-offline', '--loglevel=error'], draft, env);
  // Unpacked here, and last: npm would also bring a hundred packages that are bundled into the programs.
  await unpack(join(draft, 'hive-sidecar.tgz'), draft, env);
  renameSync(join(draft, 'package'), join(draft, PACKAGE));
  mkdirSync(join(draft, 'bin'));
  linkTo(node.path ?? join('..', 'node_modules', own, 'bin', 'node'), join(draft, 'bin', 'node'));
  begins('try');
  const command = [join(draft, 'bin', 'node'), join(draft, PACKAGE, 'bin', 'hive')] as const;
  await output(command[0], [command[1], '--version'], { env }).catch((error: Error) => {
    throw new HiveError(
      'invalid_input',
      `The new version does not start, so it was not installed: ${error.message}`,
    );
  });
  rmSync(join(draft, 'hive-sidecar.tgz'));
}

/**
 * Byte-compiles the Lisp of a version, unless it is compiled already: Emacs takes nearly twice as long to load source, and
 * interprets it. Returns why compiling failed; everything works without compiled files, too.
 */
export async function compileLisp(version: string, emacs: string, env: Environment): Promise<string | null> {
  const folder = join(version, PACKAGE, 'elisp');
  const sources = namesIn(folder).filter((name) => name.endsWith('.el'));
  const missing = sources.filter((name) => !existsSync(join(folder, `${name}c`)));
  if (missing.length === 0) return null;
  // Otherwise an Emacs with native compilation writes below ~/.emacs.d (the second name is that of Emacs 28).
  const quietly =
    '(setq byte-compile-warnings nil native-comp-enable-subr-trampolines nil comp-enable-subr-trampolines nil)';
  const args = ['-Q', '--batch', '--eval', quietly, '-L', folder];
  const files = missing.map((name) => join(folder, name));
  try {
    await output(emacs, [...args, '-f', 'batch-byte-compile', ...files], { env, cwd: folder });
    return null;
  } catch (error) {
    // Compiled files may still use what the other files no longer have.
    for (const name of sources) rmSync(join(folder, `${name}c`), { force: true });
    return (error as Error).message.split('\n').find((line) => /error/i.test(line)) ?? 'Emacs failed';
  }
}

/** A version has its name only once it is whole; but its Node may have disappeared since. */
function isComplete(version: string): boolean {
  return existsSync(join(version, PACKAGE, 'bin', 'hive'));
}

/** Renames the link `current`, which happens at once or not at all. False when it had this target already. */
function putInUse(folder: string, name: string): boolean {
  const target = join('versions', name);
  const current = join(folder, 'current');
  if (linkOf(current) === target) return false;
  const replaced = linkOf(current);
  if (replaced !== null) linkTo(replaced, join(folder, 'previous'));
  linkTo(target, current);
  return true;
}

/** Removes all versions but two: programs that were started before an update still read the files of the previous one. */
function removeReplaced(folder: string): void {
  const kept = ['current', 'previous'].map((link) => basename(linkOf(join(folder, link)) ?? ''));
  for (const name of versionsIn(folder).filter((each) => !kept.includes(each)))
    rmSync(join(folder, 'versions', name), { recursive: true, force: true });
}

/** A shell starts in a millisecond; an old Node that starts another one takes 40 ms. */
function writeLauncher(folder: string): void {
  const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;
  const node = quoted(join(folder, 'current', 'bin', 'node'));
  const text = [
    '#!/bin/sh',
    `# Starts Hive. ${MARK}; "hive uninstall" removes it.`,
    `node=${node}`,
    '# The Node of the machine may have gone since; then another one may do.',
    '[ -x "$node" ] || node=$(command -v node) || {',
    '  echo "hive: needs Node, and there is none on PATH. Install Hive again, which brings one if needed." >&2',
    // EXIT.nodeTooOld of src/cli/exit-codes.ts, which must not be loaded here.
    '  exit 8',
    '}',
    '# These variables of a project or an editor are for its own Node, and for the agents that run and acp start.',
    'case "$1" in run | acp) ;; *) unset NODE_OPTIONS NODE_V8_COVERAGE ;; esac',
    `exec "$node" ${quoted(join(folder, 'current', PACKAGE, 'bin', 'hive'))} "$@"`,
    '',
  ].join('\n');
  const launcher = join(folder, 'bin', 'hive');
  if (existsSync(launcher) && readFileSync(launcher, 'utf8') === text) return;
  const draft = `${launcher}.${process.pid}`;
  writeFileSync(draft, text);
  chmodSync(draft, 0o755);
  renameSync(draft, launcher);
}

const MARK = 'Written by "hive install"';

/** Makes new files writable by this user alone, whatever the umask was. Programs that are started inherit this. */
export function keepOthersOut(): void {
  process.umask(process.umask() | 0o022);
}

const STICKY = 0o1000;

/**
 * A user who can write to a folder, or to one above it, can replace its content.
 * @throws HiveError `invalid_input` that names the folder, and what to do.
 */
function refuseOpenFolders(path: string): void {
  const me = process.getuid?.();
  if (me === undefined) return;
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(folder)) {
      const { mode, uid, gid } = statSync(folder);
      if (uid !== me && uid !== 0)
        throw new HiveError(
          'invalid_input',
          `${folder} belongs to another user (uid ${uid}), who could replace what is installed. Name another folder with --to.`,
        );
      const byGroup = (mode & 0o020) !== 0 && !isOwnGroup(gid, me);
      const isOpen = ((mode & 0o002) !== 0 || byGroup) && (mode & STICKY) === 0;
      if (isOpen)
        throw new HiveError(
          'invalid_input',
          `Other users can write ${folder}, and could replace what is installed. Run: chmod go-w '${folder}'`,
        );
    }
    if (folder === dirname(folder)) return;
  }
}

/**
 * Makes a folder and removes it again: nothing else reveals a read-only file system, or a file in the place of a folder.
 * @throws HiveError `invalid_input` that names what is there, and what to do.
 */
function refuseUnwritable(path: string): void {
  let there = path;
  while (!existsSync(there) && linkOf(there) === null) there = dirname(there);
  try {
    rmdirSync(mkdtempSync(join(there, '.hive-')));
  } catch (error) {
    const { message } = refusal(there, error, 'written') as Error;
    throw new HiveError(
      'invalid_input',
      `${message} Nothing was installed; name another folder with --to or --bin.`,
    );
  }
}

/** Whether a group has no other member: many systems give each user such a group, and a umask that lets it write. */
function isOwnGroup(gid: number, me: number): boolean {
  const rows = (file: string): string[][] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  try {
    const users = rows('/etc/passwd');
    const [own = ''] = users.find(([, , uid]) => Number(uid) === me) ?? [];
    const hasOthers = users.some(([, , uid, group]) => Number(group) === gid && Number(uid) !== me);
    const [, , , members = ''] = rows('/etc/group').find(([, , id]) => Number(id) === gid) ?? [];
    return own !== '' && !hasOthers && members.split(',').every((name) => name === '' || name === own);
  } catch {
    return false;
  }
}

/** @throws HiveError `invalid_input` that names a foreign file in the place of one of ours. */
function refuseForeign(folder: string, bin: string | null): void {
  const launcher = join(folder, 'bin', 'hive');
  const refuse = (path: string, isOurs: (path: string) => boolean, option: string): void => {
    if (isOurs(path) || (linkOf(path) === null && !existsSync(path))) return;
    throw new HiveError(
      'invalid_input',
      `${path} exists, and this installation did not make it: move it away, or name another folder with ${option}.`,
    );
  };
  if (bin !== null) refuse(join(bin, 'hive'), (path) => linkOf(path) === launcher, '--bin');
  refuse(launcher, isLauncher, '--to');
  for (const link of ['current', 'previous']) refuse(join(folder, link), leadsToVersion, '--to');
}

// ---- Removing ----

/**
 * Removes the installation: its files, each link to it, and the folders of both if they are empty.
 * The record that identifies an installation is removed last, so that a second call finishes an interrupted one.
 */
export function removeInstallation({ folder, bin }: InstallFolders): void {
  const release = lock(folder);
  const made = rememberedFolders(folder);
  const bins = new Set([...(bin === null ? [] : [bin]), ...linkedIn({ folder })]);
  try {
    for (const each of bins) if (isLinked({ folder, bin: each })) rmSync(join(each, 'hive'));
    for (const path of ownPaths(folder)) rmSync(path, { recursive: true, force: true });
    for (const path of [join(folder, 'bin'), join(folder, 'versions')]) removeFolders(path, path);
  } finally {
    release();
  }
  rmSync(join(folder, FOLDERS), { force: true });
  for (const path of [folder, ...bins])
    removeFolders(path, made.find((each) => within(path, each)) ?? (path === folder ? folder : null));
}

/** The list of folders that did not exist before, and of links to the command: `hive uninstall` removes them again. */
const FOLDERS = 'made-folders.json';

function rememberFolders(folder: string, made: readonly (string | null)[]): void {
  const all = new Set([...rememberedFolders(folder), ...made.filter((each) => each !== null)]);
  writeFileSync(join(folder, FOLDERS), `${JSON.stringify([...all])}\n`);
}

function rememberedFolders(folder: string): string[] {
  try {
    return JSON.parse(readFileSync(join(folder, FOLDERS), 'utf8')) as string[];
  } catch {
    return [];
  }
}

/** The first folder that had to be made; null when all were there. */
function makeFolder(path: string): string | null {
  return mkdirSync(path, { recursive: true }) ?? null;
}

function within(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

// ---- One installation at a time ----

const LOCK = 'lock';

/** @throws HiveError `invalid_input` while another process holds the lock. */
function lock(folder: string): () => void {
  const file = join(folder, LOCK);
  if (existsSync(folder) && !take(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid > 0 && processes.alive(pid))
      throw new HiveError(
        'invalid_input',
        `Another installation is running (process ${pid}): wait for it to end.`,
      );
    // Its process was killed.
    rmSync(file, { force: true });
    if (!take(file))
      throw new HiveError('invalid_input', 'Another installation has just begun: wait for it to end.');
  }
  return () => rmSync(file, { force: true });
}

function take(file: string): boolean {
  try {
    writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

// ---- Files and programs ----

function namesIn(folder: string): string[] {
  return existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder).sort() : [];
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Makes or replaces a link in one step. */
function linkTo(target: string, path: string): void {
  if (linkOf(path) === target) return;
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  symlinkSync(target, draft);
  renameSync(draft, path);
}

/** Runs npm: the one that started us, otherwise the one on PATH. */
async function npm(args: readonly string[], folder: string, env: Environment): Promise<void> {
  // Without variables of an outer npm, which this one would apply to itself.
  const outer = /^npm_(?:lifecycle|package|command)|^npm_config_(?:local_prefix|prefix)$/;
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !outer.test(name)));
  const inner = { ...kept, PATH: pathFolders(env).join(delimiter) };
  const started = env['npm_execpath'];
  const [program, first] =
    started !== undefined && basename(started) === 'npm-cli.js' ? [process.execPath, [started]] : ['npm', []];
  await succeed(`npm ${args[0]}`, 'it comes with Node', () =>
    output(program, [...first, ...args], { env: inner, cwd: folder }),
  );
}

async function unpack(archive: string, folder: string, env: Environment): Promise<void> {
  await succeed('tar', 'install it', () => output('tar', ['-xzf', archive, '-C', folder], { env }));
}

/** @throws HiveError `invalid_input` if the program fails, or is not there: then `otherwise` says what to do. */
async function succeed(name: string, otherwise: string, run: () => Promise<unknown>): Promise<void> {
  await run().catch((error: Error & { code?: unknown }) => {
    const why = error.code === 'ENOENT' ? `it was not found on PATH; ${otherwise}` : error.message;
    throw new HiveError('invalid_input', `"${name}" failed, so nothing was changed: ${why}`);
  });
}

/** The output of a program. Rejects with its stderr if it fails. */
function output(
  program: string,
  args: readonly string[],
  { env, cwd }: { env: Environment; cwd?: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: env as NodeJS.ProcessEnv, cwd, maxBuffer: MOST_OUTPUT };
    execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(Object.assign(error, { message: stderr.trim() === '' ? error.message : stderr.trim() }));
    });
  });
}
