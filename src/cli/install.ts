/**
 * `hive install` and `hive uninstall`: install the package that this program belongs to for one person, without root, and
 * remove it again. What belongs into the files of Emacs and the agents is written by the installed `hive init`, which shows
 * it and asks. bin/hive starts this on any Node ≥ 20, so it imports nothing that needs the Node of the other commands.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { Check } from '../application/world.ts';
import { HiveError } from '../domain/errors.ts';
import { emacsKey } from '../infrastructure/installation/emacs.ts';
import { createInstaller, readText } from '../infrastructure/installation/files.ts';
import { emacsInitFile, planInit, planUninit } from '../infrastructure/installation/parts.ts';
import {
  findOnPath,
  findProgram,
  isOnPath,
  searchedFolders,
} from '../infrastructure/installation/programs.ts';
import { hasPathLine, pathPart, shellFile } from '../infrastructure/installation/shell.ts';
import {
  chooseNode,
  compileLisp,
  type Installed,
  type InstallFolders,
  type InstallStep,
  installedProgram,
  installVersion,
  keepOthersOut,
  removeInstallation,
  usualPlace,
} from '../infrastructure/installation/versions.ts';
import { stateDirectory } from '../infrastructure/platform/paths.ts';
import { DOCTOR, INIT, INSTALL } from './sentences.ts';

interface FolderOptions {
  to?: string;
  bin?: string;
  yes?: boolean;
  show?: boolean;
}

interface InstallOptions extends FolderOptions {
  emacs: boolean;
  agents: boolean;
}

export function defineInstall(command: Command): void {
  places(command, 'change files without asking')
    .option('--no-emacs', 'do not offer to add Hive to the init file of Emacs')
    .option('--no-agents', 'do not offer to set up the agents found here')
    .action(install);
}

export function defineUninstall(command: Command): void {
  places(command, 'remove without asking').action(uninstall);
}

function places(command: Command, yes: string): Command {
  return command
    .option('--to <folder>', 'where the program is kept; default: ~/.local/share/hive')
    .option('--bin <folder>', 'where the command is linked; default: ~/.local/bin, with --to nowhere')
    .option('-y, --yes', yes)
    .option('--show', 'show every line that changes in the files of Emacs and the agents');
}

function foldersOf({ to, bin }: FolderOptions): InstallFolders {
  const usual = usualPlace(process.env);
  if (to === undefined) return { folder: usual.folder, bin: bin === undefined ? usual.bin : resolve(bin) };
  return { folder: resolve(to), bin: bin === undefined ? null : resolve(bin) };
}

// ---- Installing ----

async function install({ emacs, agents, ...options }: InstallOptions): Promise<void> {
  keepOthersOut();
  const folders = foldersOf(options);
  const source = dirname(dirname(realpathSync(process.argv[1] ?? '')));
  const { version } = manifest;
  const minimum = manifest.engines.node.replace('>=', '');
  const node = await chooseNode(process.env, minimum, manifest.devDependencies.node);
  say(INSTALL.installing(version, folders.folder));
  const needs = Object.fromEntries(
    Object.entries(manifest.dependencies).filter(([name]) => manifest.unbundled.includes(name)),
  );
  const progress = showProgress();
  const begins = (step: InstallStep): void => progress.begin(INSTALL.steps[step]);
  const editor = findProgram('emacs', process.env) ?? findProgram('Emacs', process.env);
  let uncompiled: string | null = null;
  let installed: Installed;
  try {
    installed = await installVersion({ ...folders, source, needs, node, begins }, process.env);
    if (editor !== null) {
      progress.begin(INSTALL.steps.compile);
      uncompiled = await compileLisp(installed.version, editor, process.env);
    }
  } finally {
    progress.end();
  }
  const command = folders.bin === null ? join(folders.folder, 'bin', 'hive') : join(folders.bin, 'hive');
  say(installed.changed ? INSTALL.installed(command) : INSTALL.unchanged(command));
  if (uncompiled !== null) say(INSTALL.notCompiled(uncompiled));
  say(
    node.path === null
      ? INSTALL.ownNode(node.version, minimum, node.instead_of)
      : INSTALL.machineNode(node.version, node.path),
  );
  const program = join(folders.folder, 'bin', 'hive');
  const wanted = [...(emacs ? [EMACS] : []), ...(agents ? [CLAUDE, CODEX] : [])];
  await offer(folders, program, wanted, options);
  if (folders.bin !== null) await offerPath(folders.bin, options);
  progress.begin(INSTALL.steps.check);
  const checked = await outputOf(program, ['doctor', '--json']);
  progress.end();
  sayWhatDoctorFound(checked);
  say(INSTALL.tryIt(firstQuestion(folders, program, wanted, command)));
}

/**
 * Shows which step of a long work is running and for how long, on one line that a terminal draws again each second; without
 * a terminal a line for each step.
 */
function showProgress(): { begin(step: string): void; end(): void } {
  const isTerminal = process.stdout.isTTY;
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    process.stdout.write('\r\u001b[K');
  };
  return {
    begin(step) {
      end();
      if (!isTerminal) {
        say(`${step} …`);
        return;
      }
      const began = performance.now();
      const draw = (): void => {
        process.stdout.write(`\r\u001b[K${step} … ${Math.round((performance.now() - began) / 1_000)} s`);
      };
      draw();
      timer = setInterval(draw, 1_000);
    },
    end,
  };
}

interface Client {
  name: string;
  /** The names under which its program may be found. */
  programs: readonly string[];
  /** The words after `hive init`. */
  args: readonly string[];
}

const EMACS: Client = { name: 'Emacs', programs: ['emacs', 'Emacs'], args: ['emacs'] };
const CLAUDE: Client = { name: 'Claude Code', programs: ['claude'], args: ['claude', '--hooks'] };
const CODEX: Client = { name: 'Codex', programs: ['codex'], args: ['codex'] };

const initOf = ({ args }: Client): string => `hive init ${args.join(' ')}`;

/** Says which programs are here, and lets the installed `hive init` show what it would write for each, and ask. */
async function offer(
  folders: InstallFolders,
  program: string,
  clients: readonly Client[],
  options: FolderOptions,
): Promise<void> {
  const looked = clients.map((client) => ({
    client,
    path: client.programs.map((name) => findProgram(name, process.env)).find((path) => path !== null) ?? null,
  }));
  const found = looked.flatMap(({ client, path }) => (path === null ? [] : [{ client, path }]));
  const missing = looked.filter(({ path }) => path === null).map(({ client }) => client);
  if (found.length > 0) say(INSTALL.found(found.map(({ client, path }) => `${client.name} (${path})`)));
  if (missing.length > 0)
    say(
      INSTALL.notFound(
        missing.map(({ name }) => name),
        searchedFolders(process.env),
        missing.map(initOf),
      ),
    );
  if (found.length === 0) return;
  if (options.yes !== true && !hasTerminal()) {
    // One that names this installation already needs nothing.
    const later = found.filter(({ client }) => !names(folders, program, client));
    if (later.length > 0) say(INSTALL.later(later.map(({ client }) => initOf(client))));
    return;
  }
  for (const { client } of found) {
    say(INSTALL.part(client.name));
    await run(program, ['init', ...client.args, ...passedOn(options)]);
  }
}

/** The options of `hive init` and `hive uninit` that these two commands have as well. */
function passedOn({ yes, show }: FolderOptions): string[] {
  return [...(yes === true ? ['--yes'] : []), ...(show === true ? ['--show'] : [])];
}

/** A person decides about the file of their shell; a script that installs only reads the line. */
async function offerPath(bin: string, { yes }: FolderOptions): Promise<void> {
  const found = findOnPath('hive', process.env);
  if (found === join(bin, 'hive')) return;
  if (isOnPath(bin, process.env) && found !== null) {
    say(INSTALL.other(found, bin));
    return;
  }
  const file = shellFile(process.env);
  const part = pathPart(file, bin);
  if (hasPathLine(file)) {
    say(INSTALL.pathWritten(file));
    return;
  }
  say(INSTALL.notOnPath(file, part.fragment));
  if (yes === true || !hasTerminal() || !isYes(await ask(INSTALL.askPath))) return;
  const installer = createInstaller(process.env);
  const change = planInit(part, readText(file), installer.receiptOf(file));
  if (change === null || installer.write([change]) !== null)
    throw new HiveError('invalid_input', INIT.changedByOther(file));
  say(INSTALL.pathWritten(file));
}

function sayWhatDoctorFound(output: string): void {
  let checks: Check[];
  try {
    ({ checks } = JSON.parse(output) as { checks: Check[] });
  } catch {
    say(INSTALL.doctorSilent);
    return;
  }
  say(INSTALL.doctor(DOCTOR.summary(checks)));
  for (const check of checks.filter(({ state }) => state !== 'ok')) say(DOCTOR.check(check));
}

/** How this person asks and answers a first question: with the agent and the editor that now use Hive. */
function firstQuestion(
  folders: InstallFolders,
  program: string,
  wanted: readonly Client[],
  command: string,
): Parameters<typeof INSTALL.tryIt>[0] {
  const used = (client: Client): boolean => wanted.includes(client) && names(folders, program, client);
  const file = emacsInitFile(process.env);
  const agent = [CLAUDE, CODEX].find(used);
  return {
    agent: agent?.programs[0] ?? null,
    key: used(EMACS) ? emacsKey(readText(file) ?? '') : null,
    hive: findOnPath('hive', process.env) === command ? 'hive' : command,
  };
}

// ---- Removing ----

async function uninstall(options: FolderOptions): Promise<void> {
  const yes = options.yes === true;
  const folders = foldersOf(options);
  const program = installedProgram(folders);
  if (program === null && !existsSync(folders.folder)) {
    say(INSTALL.nothingInstalled(folders.folder));
    return;
  }
  const shell = shellFile(process.env);
  const hasLine = folders.bin !== null && hasPathLine(shell);
  say(
    INSTALL.aboutRemoving([
      folders.folder,
      ...(folders.bin === null ? [] : [join(folders.bin, 'hive')]),
      ...(hasLine ? [INSTALL.lineIn(shell)] : []),
    ]),
  );
  if (!yes && !hasTerminal()) throw new HiveError('invalid_input', INSTALL.cannotAskRemove);
  if (!yes && !/^y(es)?$/i.test(await ask(INSTALL.askRemove))) {
    process.exitCode = NOT_ACCEPTED;
    return;
  }
  // Only where this installation is named: another Hive of the person, such as a clone, stays configured.
  for (const client of program === null
    ? []
    : [CODEX, CLAUDE, EMACS].filter((each) => names(folders, program, each))) {
    say(INSTALL.part(client.name));
    await run(program ?? '', ['uninit', `${client.args[0]}`, ...passedOn(options)]);
  }
  const left = program === null ? [] : [EMACS, CLAUDE, CODEX].filter((each) => names(folders, program, each));
  if (left.length > 0) throw new HiveError('invalid_input', INSTALL.stillUsed(left.map(({ name }) => name)));
  if (hasLine && folders.bin !== null) removePathLine(shell, folders.bin);
  removeInstallation(folders);
  // Compiled code, which can be made again, and the key that is only for it.
  const state = stateDirectory(process.env);
  for (const name of ['code', 'code.key']) rmSync(join(state, name), { recursive: true, force: true });
  say(INSTALL.removed(folders.folder));
  if (existsSync(state)) say(INSTALL.dataKept(state));
}

function removePathLine(file: string, bin: string): void {
  const installer = createInstaller(process.env);
  const change = planUninit(pathPart(file, bin), readText(file), installer.receiptOf(file));
  if (change !== null && installer.write([change]) !== null)
    throw new HiveError('invalid_input', INIT.changedByOther(file));
}

/** Whether a file of the client names this installation. */
function names({ folder }: InstallFolders, program: string, { args }: Client): boolean {
  const { stdout } = spawnSync(program, ['init', ...args, '--print', '--json'], { encoding: 'utf8' });
  const { parts } = JSON.parse(stdout) as { parts: { path: string }[] };
  const current = join(folder, 'current');
  return parts.some(({ path }) => {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return [current, JSON.stringify(current).slice(1, -1)].some((each) => text.includes(each));
  });
}

// ---- The person's terminal and programs ----

/** As in the table of exit codes in docs/cli.md, which needs the Node of the other commands. */
const USAGE = 2;
const NOT_ACCEPTED = 6;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

function isYes(answer: string): boolean {
  return /^(?:y|yes)?$/i.test(answer);
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

/** The output of a program, or an empty text where it does not run. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, [...args], (_error, stdout) => resolve(stdout));
  });
}

/** Runs a program at the same terminal, and waits for it. */
function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}

/** The entry of bin/hive for these two commands. */
export async function runInstaller(): Promise<void> {
  const program = new Command('hive').exitOverride();
  program.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'hive: ')) });
  defineInstall(program.command('install').description('Install Hive for you, without root'));
  defineUninstall(
    program.command('uninstall').description('Remove what hive install has installed and written'),
  );
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE;
    else if (error instanceof HiveError) {
      process.stderr.write(`hive: ${error.message}\n`);
      process.exitCode = 1;
    } else throw error;
  }
}
