/**
 * `hive install` and `hive uninstall`: install the package that this program belongs to for one person, without root, and
 * remove it again. The installed `hive init` writes into the files of Emacs and the agents; it shows the changes
 * and asks. bin/hive starts this on any Node ≥ 20, so it imports nothing that needs the Node of the other commands.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { Check } from '../application/world.ts';
import { HiveError } from '../domain/errors.ts';
import { createInstaller, readText } from '../infrastructure/installation/files.ts';
import { emacsKey, hasPathLine, pathPart, shellFile } from '../infrastructure/installation/init-files.ts';
import { claudePaths, emacsInitFile, planInit, planUninit } from '../infrastructure/installation/parts.ts';
import {
  findOnPath,
  findProgram,
  isOnPath,
  pathFolders,
  searchedFolders,
} from '../infrastructure/installation/programs.ts';
import {
  chooseNode,
  compileLisp,
  type Installed,
  type InstallFolders,
  type InstallStep,
  installedProgram,
  installVersion,
  isInstalled,
  isLinked,
  keepOthersOut,
  linkedIn,
  removeInstallation,
  usualPlace,
} from '../infrastructure/installation/versions.ts';
import { stateDirectory } from '../infrastructure/platform/paths.ts';
import { ask, hasTerminal } from './questions.ts';
import { changedByOther, checkLine, checksSummary, fitted, listed } from './sentences.ts';

const STEPS = {
  pack: 'Packing the program',
  fetch: 'Fetching what it needs from npm',
  try: 'Trying it',
  compile: 'Compiling the Emacs package',
  check: 'Checking the setup',
} as const;

const untold = (client: string, why: string): string =>
  `Nothing was removed, because Hive cannot tell whether it is configured for ${client}: ${why}`;

interface FolderOptions {
  to?: string;
  bin?: string;
  yes?: boolean;
}

export function defineInstall(command: Command): void {
  places(command, 'change files without asking').action(install);
}

export function defineUninstall(command: Command): void {
  places(command, 'remove without asking').action(uninstall);
}

function places(command: Command, yes: string): Command {
  return command
    .option('--to <folder>', 'where the program is kept; default: ~/.local/share/hive')
    .option('--bin <folder>', 'where the command is linked; default: ~/.local/bin, with --to nowhere')
    .option('-y, --yes', yes);
}

function foldersOf({ to, bin }: FolderOptions): InstallFolders {
  const usual = usualPlace(process.env);
  const folder = to === undefined ? usual.folder : resolve(to);
  const named = bin === undefined ? null : resolve(bin);
  const link = named ?? (to === undefined ? usual.bin : null);
  // The program itself is there, and a link would replace it.
  return { folder, bin: link === join(folder, 'bin') ? null : link };
}

// ---- Installing ----

async function install(options: FolderOptions): Promise<void> {
  keepOthersOut();
  const folders = foldersOf(options);
  const source = dirname(dirname(realpathSync(process.argv[1] ?? '')));
  const { version } = manifest;
  const minimum = manifest.engines.node.replace('>=', '');
  const node = await chooseNode(process.env, minimum, manifest.devDependencies.node);
  say(`Installing Hive ${version} in ${folders.folder} …`);
  const needs = Object.fromEntries(
    Object.entries(manifest.dependencies).filter(([name]) => manifest.unbundled.includes(name)),
  );
  const progress = showProgress();
  const begins = (step: InstallStep): void => progress.begin(STEPS[step]);
  const editor = findProgram('emacs', process.env) ?? findProgram('Emacs', process.env);
  let uncompiled: string | null = null;
  let installed: Installed;
  try {
    installed = await installVersion({ ...folders, source, needs, node, begins }, process.env);
    if (editor !== null) {
      progress.begin(STEPS.compile);
      uncompiled = await compileLisp(installed.version, editor, process.env);
    }
  } finally {
    progress.end();
  }
  const command = folders.bin === null ? join(folders.folder, 'bin', 'hive') : join(folders.bin, 'hive');
  say(
    installed.changed
      ? `Installed. The command is ${command}.`
      : `This version is already installed. The command is ${command}.`,
  );
  if (uncompiled !== null)
    say(`Emacs could not compile the package, so it runs uncompiled, which is slower: ${uncompiled}`);
  say(
    node.path === null
      ? `Hive uses its own Node ${node.version}, because ${node.instead_of === null ? 'there is no node on PATH' : `${node.instead_of} is older than ${minimum}`}.`
      : `Hive runs on Node ${node.version} (${node.path}).`,
  );
  const program = join(folders.folder, 'bin', 'hive');
  await offer(folders, program, options);
  if (folders.bin !== null) await offerPath(folders.bin, options);
  progress.begin(STEPS.check);
  const checked = await outputOf(program, ['doctor', '--json']);
  progress.end();
  sayWhatDoctorFound(checked);
  say(`\n${firstQuestion(folders, program, command)}`);
}

/**
 * Shows which step of the work is running and for how long, on one line that a terminal redraws each second; without
 * a terminal, one line for each step.
 */
function showProgress(): { begin(step: string): void; end(): void } {
  // A buffer of Emacs is a terminal, too, but does not redraw lines.
  const isTerminal = process.stdout.isTTY && process.env['TERM'] !== 'dumb';
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
async function offer(folders: InstallFolders, program: string, options: FolderOptions): Promise<void> {
  const looked = [EMACS, CLAUDE, CODEX].map((client) => ({
    client,
    path: client.programs.map((name) => findProgram(name, process.env)).find((path) => path !== null) ?? null,
  }));
  const found = looked.flatMap(({ client, path }) => (path === null ? [] : [{ client, path }]));
  const missing = looked.filter(({ path }) => path === null).map(({ client }) => client);
  if (found.length > 0) say(`Found ${listed(found.map(({ client, path }) => `${client.name} (${path})`))}.`);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name);
    const searched = searchedFolders(process.env);
    say(
      `Did not find ${listed(names, 'or')}: not on PATH${searched.length === 0 ? '' : `, nor in ${listed(searched, 'or')}`}. An alias of your shell cannot be seen from here. If you have ${names.length === 1 ? 'it, run' : 'one of them, run'}: ${missing.map(initOf).join(', or: ')}`,
    );
  }
  if (found.length === 0) return;
  if (options.yes !== true && !hasTerminal()) {
    // A program that already names this installation needs nothing.
    const later = found.filter(({ client }) => !isKnownToName(folders, program, client));
    if (later.length > 0)
      say(
        `Hive cannot ask for confirmation without a terminal, so no other file was changed. Use --yes, or run later: ${later.map(({ client }) => initOf(client)).join('; ')}`,
      );
    return;
  }
  for (const { client } of found) {
    say(`\n${client.name}: looking at its files …`);
    await run(program, ['init', ...client.args, ...(options.yes === true ? ['--yes'] : [])]);
  }
}

/** A person decides about their shell's file; a script that installs only prints the line. */
async function offerPath(bin: string, { yes }: FolderOptions): Promise<void> {
  const found = findOnPath('hive', process.env);
  if (found === join(bin, 'hive')) return;
  if (isOnPath(bin, process.env) && found !== null) {
    say(
      `"hive" in your shell runs another copy, ${found}, which comes first on PATH. Remove it, or put ${bin} first.`,
    );
    return;
  }
  const file = shellFile(process.env);
  if (!hasPathLine(file)) {
    const part = pathPart(file, bin);
    say(`\nPATH: with this line in ${file}, new terminals find the command hive:\n`);
    process.stdout.write(`${part.fragment}\n\n`);
    if (yes === true || !hasTerminal() || !/^(?:y|yes)?$/i.test(await ask('Write it there? [Y/n] '))) return;
    const installer = createInstaller(process.env);
    const change = planInit(part, readText(file), installer.receiptOf(file));
    if (change === null || installer.write([change]) !== null)
      throw new HiveError('invalid_input', changedByOther(file));
  }
  say(`${file} has the line. New terminals find the command hive.`);
}

function sayWhatDoctorFound(output: string): void {
  let checks: Check[];
  try {
    ({ checks } = JSON.parse(output) as { checks: Check[] });
  } catch {
    say('hive doctor did not run. Run it yourself to see why.');
    return;
  }
  say(`\nhive doctor: ${checksSummary(checks)}`);
  for (const check of checks.filter(({ state }) => state !== 'ok')) say(checkLine(check));
}

/** How this person asks and answers a first question: with the agent and the editor that now use Hive. */
function firstQuestion(folders: InstallFolders, program: string, command: string): string {
  const used = (client: Client): boolean => isKnownToName(folders, program, client);
  const hive = findOnPath('hive', process.env) === command ? 'hive' : command;
  const key = used(EMACS) ? emacsKey(readText(emacsInitFile(process.env)) ?? '') : null;
  const answer = key === null ? `answer it with: ${hive} respond` : `press ${key} n in Emacs to answer it`;
  const first = key === null ? 'Try it:' : 'Try it: restart Emacs,';
  const agent = [CLAUDE, CODEX].find(used)?.programs[0];
  return agent === undefined
    ? `${first} run ${hive} ask "Does Hive work?" --option yes in a shell, and ${answer}`
    : `${first} start ${agent} in a project, type "Ask me through Hive which colour I like", and ${answer}`;
}

// ---- Removing ----

/** As `foldersOf`, but unless `--bin` names it, the command is linked where it was installed, or else in any folder on PATH. */
function linkedFolders(options: FolderOptions): InstallFolders {
  const folders = foldersOf(options);
  if (options.bin !== undefined || isLinked(folders)) return folders;
  const linked = [...linkedIn(folders), ...pathFolders(process.env)].map((bin) => ({ ...folders, bin }));
  return linked.find(isLinked) ?? folders;
}

async function uninstall(options: FolderOptions): Promise<void> {
  const yes = options.yes === true;
  const folders = linkedFolders(options);
  if (!isInstalled(folders)) {
    const nothing = `Hive is not installed in ${folders.folder}.`;
    if (existsSync(folders.folder)) throw new HiveError('invalid_input', nothing);
    say(nothing);
    return;
  }
  const program = installedProgram(folders);
  // Only Claude Code itself can remove its plugin.
  if (program !== null && isPluginSource(folders))
    throw new HiveError(
      'invalid_input',
      'Nothing was removed, because Claude Code has its plugin from this installation. Run claude plugin marketplace remove hive, which removes the plugin as well, then try again.',
    );
  const shell = shellFile(process.env);
  const hasLine = folders.bin !== null && hasPathLine(shell);
  // Only where this installation is named: another Hive of the person, such as a clone, stays configured.
  const named =
    program === null
      ? []
      : [CODEX, CLAUDE, EMACS]
          .map((client) => ({ client, program, files: filesNaming(folders, program, client) }))
          .filter(({ files }) => files.length > 0);
  const linked = [...(folders.bin !== null && isLinked(folders) ? [folders.bin] : []), ...linkedIn(folders)];
  const things = [
    `the program in ${folders.folder}`,
    ...new Set(linked.map((bin) => join(bin, 'hive'))),
    ...(hasLine ? [`the PATH line in ${shell}`] : []),
  ];
  const files = named.flatMap(({ files }) => files);
  say(
    `This removes ${files.length === 0 ? '' : `what Hive has written into ${listed(files)}${yes ? '' : ', and asks about each program'}. Then it removes `}${listed(things)}.`,
  );
  if (!yes && !hasTerminal()) {
    for (const { client, program } of named)
      process.stdout.write(await outputOf(program, ['uninit', `${client.args[0]}`]));
    throw new HiveError(
      'invalid_input',
      'Hive cannot ask for confirmation without a terminal. Use --yes to remove Hive without asking. Nothing was removed.',
    );
  }
  if (!yes && !/^y(es)?$/i.test(await ask('Continue? [y/N] '))) {
    say('Nothing was removed.');
    process.exitCode = NOT_ACCEPTED;
    return;
  }
  for (const { client, program } of named) {
    say(`\n${client.name}: looking at its files …`);
    await run(program, ['uninit', `${client.args[0]}`, ...(yes ? ['--yes'] : [])]);
  }
  const left =
    program === null
      ? []
      : [EMACS, CLAUDE, CODEX].filter((client) => filesNaming(folders, program, client).length > 0);
  if (left.length > 0)
    throw new HiveError(
      'invalid_input',
      `Hive was not removed, because it is still configured for ${left.map(({ name }) => name).join(' and ')}. Run hive uninit for ${left.length === 1 ? 'it' : 'them'}, then try again.`,
    );
  if (hasLine && folders.bin !== null) removePathLine(shell, folders.bin);
  removeInstallation(folders);
  // The compiled code, which can be made again, and the key that is used only for it.
  const state = stateDirectory(process.env);
  for (const name of ['code', 'code.key']) rmSync(join(state, name), { recursive: true, force: true });
  say(
    existsSync(folders.folder)
      ? `Removed Hive from ${folders.folder}. What else is in that folder stays.`
      : `Removed ${folders.folder}.`,
  );
  if (existsSync(state))
    say(`Your questions and answers are kept in ${state}. Delete that folder if you no longer want them.`);
}

function removePathLine(file: string, bin: string): void {
  const installer = createInstaller(process.env);
  const change = planUninit(pathPart(file, bin), readText(file), installer.receiptOf(file));
  if (change !== null && installer.write([change]) !== null)
    throw new HiveError('invalid_input', changedByOther(file));
}

/**
 * The files of the client that name this installation.
 * @throws HiveError `invalid_input` that names a file which cannot be read or parsed, or the program if it does not start.
 */
function filesNaming({ folder }: InstallFolders, program: string, { name, args }: Client): string[] {
  const ran = spawnSync(program, ['init', ...args, '--print', '--json'], { encoding: 'utf8' });
  // Null or not JSON if the program does not start: its Node may be gone.
  const stdout = ran.stdout ?? '';
  if (!stdout.startsWith('{')) {
    const why = ran.error?.message ?? ran.stderr.trim().replace(/^hive: /, '');
    throw new HiveError(
      'invalid_input',
      untold(name, `${program} does not start (${why}). Install Hive again first, then remove it.`),
    );
  }
  const { parts, error } = JSON.parse(stdout) as { parts?: { path: string }[]; error?: { message: string } };
  if (parts === undefined) throw new HiveError('invalid_input', untold(name, error?.message ?? stdout));
  const paths = new Set(parts.map(({ path }) => path));
  return [...paths].filter((path) => hasPath(readText(path) ?? '', folder));
}

/** Whether a text contains the path of the installation, which the installed program writes with its links resolved. */
function hasPath(text: string, folder: string, ...below: string[]): boolean {
  const paths = [folder, realpathSync(folder)].map((each) => join(each, 'current', ...below));
  return paths.some((path) => text.includes(path) || text.includes(JSON.stringify(path).slice(1, -1)));
}

/** Whether Claude Code has its plugin from this installation. */
function isPluginSource({ folder }: InstallFolders): boolean {
  const { settings } = claudePaths(process.env, 'user', process.cwd());
  return hasPath(readText(settings) ?? '', folder, 'node_modules', 'hive-sidecar', 'plugin');
}

/** Whether files name it, during an installation, where `hive init` itself reports problems with a file. */
function isKnownToName(...asked: Parameters<typeof filesNaming>): boolean {
  try {
    return filesNaming(...asked).length > 0;
  } catch (error) {
    if (error instanceof HiveError) return false;
    throw error;
  }
}

// ---- The person's terminal and programs ----

/** As in the table of exit codes in docs/cli.md. The shared constant cannot be imported on every Node ≥ 20. */
const USAGE = 2;
const NOT_ACCEPTED = 6;

function say(text: string): void {
  process.stdout.write(`${fitted(text, process.stdout)}\n`);
}

/** The output of a program, or an empty text if it does not run. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, [...args], (_error, stdout) => resolve(stdout));
  });
}

/** Runs a program at the same terminal, and waits for it. Ctrl-C reaches this program, too. */
function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (_code, signal) => {
      if (signal === null) resolve();
      else process.kill(process.pid, signal);
    });
  });
}

/** The entry of bin/hive for these two commands. */
export async function runInstaller(): Promise<void> {
  const program = new Command('hive').exitOverride();
  program.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'hive: ')) });
  program.showHelpAfterError('hive: Add --help to see how the command is used.');
  defineInstall(program.command('install').description('Install Hive for you, without root'));
  defineUninstall(
    program.command('uninstall').description('Remove what hive install has installed and written'),
  );
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE;
    else if (error instanceof HiveError) {
      process.stderr.write(`${fitted(`hive: ${error.message}`, process.stderr)}\n`);
      process.exitCode = 1;
    } else throw error;
  }
}
