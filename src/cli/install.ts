/**
 * `hive install` and `hive uninstall`: install the package that this program belongs to for one person, without root, and
 * remove it again. What belongs into the files of Emacs and the agents is written by the installed `hive init`, which shows
 * it and asks. bin/hive starts this on any Node ≥ 20, so it imports nothing that needs the Node of the other commands.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { Check } from '../application/world.ts';
import { HiveError } from '../domain/errors.ts';
import {
  chooseNode,
  installedProgram,
  installVersion,
  type Place,
  removeInstallation,
  usualPlace,
} from '../infrastructure/installation/versions.ts';
import { stateDirectory } from '../infrastructure/platform/paths.ts';
import { DOCTOR, INSTALL } from './sentences.ts';

interface PlaceOptions {
  to?: string;
  bin?: string;
  yes?: boolean;
  show?: boolean;
}

interface InstallOptions extends PlaceOptions {
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

function placeOf({ to, bin }: PlaceOptions): Place {
  const usual = usualPlace(process.env);
  if (to === undefined) return { folder: usual.folder, bin: bin === undefined ? usual.bin : resolve(bin) };
  return { folder: resolve(to), bin: bin === undefined ? null : resolve(bin) };
}

// ---- Installing ----

async function install({ emacs, agents, ...options }: InstallOptions): Promise<void> {
  const place = placeOf(options);
  const source = dirname(dirname(realpathSync(process.argv[1] ?? '')));
  const { version } = manifest;
  const minimum = manifest.engines.node.replace('>=', '');
  const node = await chooseNode(process.env, minimum, manifest.devDependencies.node);
  say(INSTALL.installing(version, place.folder));
  const needs = Object.fromEntries(
    Object.entries(manifest.dependencies).filter(([name]) => manifest.unbundled.includes(name)),
  );
  const { changed } = await installVersion({ ...place, source, needs, node }, process.env);
  const command = place.bin === null ? join(place.folder, 'bin', 'hive') : join(place.bin, 'hive');
  say(changed ? INSTALL.installed(command) : INSTALL.unchanged(command));
  say(
    node.path === null
      ? INSTALL.ownNode(node.version, minimum, node.instead_of)
      : INSTALL.machineNode(node.version, node.path),
  );
  if (place.bin !== null) sayAboutPath(place.bin);
  const program = join(place.folder, 'bin', 'hive');
  await offer(place, program, partsToOffer({ emacs, agents }), options);
  sayWhatDoctorFinds(program);
}

interface Client {
  name: string;
  /** The words after `hive init`. */
  args: readonly string[];
}

const EMACS: Client = { name: 'Emacs', args: ['emacs'] };
const CLAUDE: Client = { name: 'Claude Code', args: ['claude', '--hooks'] };
const CODEX: Client = { name: 'Codex', args: ['codex'] };

function partsToOffer({ emacs, agents }: { emacs: boolean; agents: boolean }): Client[] {
  return [
    ...(emacs && findOnPath('emacs') !== null ? [EMACS] : []),
    ...(agents && findOnPath('claude') !== null ? [CLAUDE] : []),
    ...(agents && findOnPath('codex') !== null ? [CODEX] : []),
  ];
}

/** Lets the installed `hive init` show what it would write, and ask. */
async function offer(
  place: Place,
  program: string,
  clients: readonly Client[],
  options: PlaceOptions,
): Promise<void> {
  if (clients.length === 0) return;
  if (options.yes !== true && !hasTerminal()) {
    // One that names this installation already needs nothing.
    const missing = clients.filter((client) => !names(place, program, client));
    if (missing.length > 0) say(INSTALL.later(missing.map(({ args }) => `hive init ${args.join(' ')}`)));
    return;
  }
  for (const { name, args } of clients) {
    say(INSTALL.part(name));
    await run(program, ['init', ...args, ...passedOn(options)]);
  }
}

/** The options of `hive init` and `hive uninit` that these two commands have as well. */
function passedOn({ yes, show }: PlaceOptions): string[] {
  return [...(yes === true ? ['--yes'] : []), ...(show === true ? ['--show'] : [])];
}

function sayWhatDoctorFinds(program: string): void {
  const { stdout } = spawnSync(program, ['doctor', '--json'], { encoding: 'utf8' });
  let checks: Check[];
  try {
    ({ checks } = JSON.parse(stdout) as { checks: Check[] });
  } catch {
    say(INSTALL.doctorSilent);
    return;
  }
  say(INSTALL.doctor(DOCTOR.summary(checks)));
  for (const check of checks.filter(({ state }) => state !== 'ok')) say(DOCTOR.check(check));
}

function sayAboutPath(bin: string): void {
  const found = findOnPath('hive');
  if (found === join(bin, 'hive')) return;
  say(pathFolders().includes(bin) && found !== null ? INSTALL.other(found, bin) : INSTALL.notOnPath(bin));
}

// ---- Removing ----

async function uninstall(options: PlaceOptions): Promise<void> {
  const yes = options.yes === true;
  const place = placeOf(options);
  const program = installedProgram(place);
  if (program === null && !existsSync(place.folder)) {
    say(INSTALL.nothingInstalled(place.folder));
    return;
  }
  say(INSTALL.aboutRemoving(place.folder, place.bin === null ? null : join(place.bin, 'hive')));
  if (!yes && !hasTerminal()) throw new HiveError('invalid_input', INSTALL.cannotAskRemove);
  if (!yes && !/^y(es)?$/i.test(await ask(INSTALL.askRemove))) {
    process.exitCode = NOT_ACCEPTED;
    return;
  }
  // Only where this installation is named: another Hive of the person, such as a clone, stays configured.
  for (const client of program === null
    ? []
    : [CODEX, CLAUDE, EMACS].filter((each) => names(place, program, each))) {
    say(INSTALL.part(client.name));
    await run(program ?? '', ['uninit', `${client.args[0]}`, ...passedOn(options)]);
  }
  const left = program === null ? [] : [EMACS, CLAUDE, CODEX].filter((each) => names(place, program, each));
  if (left.length > 0) throw new HiveError('invalid_input', INSTALL.stillUsed(left.map(({ name }) => name)));
  removeInstallation(place);
  // Compiled code, which can be made again, and the key that is only for it.
  const state = stateDirectory(process.env);
  for (const name of ['code', 'code.key']) rmSync(join(state, name), { recursive: true, force: true });
  say(INSTALL.removed(place.folder));
  if (existsSync(state)) say(INSTALL.dataKept(state));
}

/** Whether a file of the client names this installation. */
function names({ folder }: Place, program: string, { args }: Client): boolean {
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

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

function pathFolders(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** The first on PATH outside of a project's own programs. */
function findOnPath(name: string): string | null {
  const folders = pathFolders().filter((folder) => !folder.endsWith(join('node_modules', '.bin')));
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Runs a program at the same terminal, and waits for it. */
function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}

/** What bin/hive calls for these two commands. */
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
