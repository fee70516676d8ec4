/**
 * `hive init` and `hive uninit`: adds Hive to the configuration of Claude Code, Codex or Emacs, and removes it. An agent
 * may set itself up, but only a person at a terminal may let Codex run the hooks unasked.
 */

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Command, Option } from 'commander';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { HookClient } from '../domain/hooks.ts';
import {
  type HookProgram,
  type HookWay,
  knowsConnection,
  PLUGIN_SERVER,
  readHook,
  SERVER_NAME,
} from '../domain/installation.ts';
import { shellLine } from '../domain/shell-words.ts';
import type { Role } from '../domain/tokens.ts';
import {
  COMMANDS,
  claudeRole,
  claudeServer,
  commandPart,
  findHooks,
  hasHivePlugin,
  hookPart,
  inOneFile,
  refusalPart,
  rulePart,
} from '../infrastructure/installation/claude.ts';
import { codexConfig, codexRole, isForeign, trustIn, trustOf } from '../infrastructure/installation/codex.ts';
import { createInstaller, type Installer, readText } from '../infrastructure/installation/files.ts';
import { emacsKey, emacsPart, freeEmacsKey, isEmacsKey } from '../infrastructure/installation/init-files.ts';
import {
  claudePaths,
  codexPaths,
  type Entry,
  emacsInitFile,
  type FileChange,
  isAsWritten,
  naming,
  type Part,
  planInit,
  planUninit,
  type Scope,
} from '../infrastructure/installation/parts.ts';
import { findOnPath } from '../infrastructure/installation/programs.ts';
import type { TomlTable } from '../infrastructure/installation/toml-edits.ts';
import { clientVersion } from '../infrastructure/installation/try-out.ts';
import { unifiedDiff } from '../infrastructure/platform/edits.ts';
import { findCaller, refuseAgents } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, print, printJson, remark, say } from './output.ts';
import { packageFolder, reportErrors, thisProgram, usingHive } from './program.ts';
import { ask, hasTerminal } from './questions.ts';
import { changedByOther, counted } from './sentences.ts';

const benefitOf = (client: string, reached: string): string =>
  `${client} can then ask you while it goes on working. ${reached}`;

const REACHED = 'Your answers, mentions and interrupts reach it by themselves';

const WHAT_HOOKS_DO =
  'They report the steps of each session to Hive, which can stop a step, add text to it, or answer its dialog:';

interface CodexOptions extends SetUpOptions {
  role?: Role;
}

interface ClaudeOptions extends CodexOptions {
  project?: boolean;
  /** True: the best way that the client supports. */
  hooks?: boolean | HookWay;
}

export const defineInit = (command: Command): void => defineSetUp(command, 'init');
export const defineUninit = (command: Command): void => defineSetUp(command, 'uninit');

function defineSetUp(command: Command, direction: Direction): void {
  const isInit = direction === 'init';
  const define = <Options extends SetUpOptions>(
    name: string,
    client: string,
    work: (options: Options) => Promise<ExitCode>,
  ): Command => {
    const defined = command
      .command(name)
      .description(isInit ? `Add Hive to ${client}` : `Remove Hive from ${client}`)
      .option('-y, --yes', 'write without asking')
      .option('--json', 'print JSON')
      .action((options: Options) => reportErrors(options, () => work(options)));
    return isInit ? defined.option('--print', 'show what belongs in which file, and write nothing') : defined;
  };
  const claude = define<ClaudeOptions>('claude', 'Claude Code', (options) =>
    setUpClaude(direction, options),
  ).option(
    '--project',
    'for everybody who works on the project in this folder; default: for you, in every project',
  );
  const codex = define<CodexOptions>('codex', 'Codex', (options) => setUpCodex(direction, options));
  if (isInit) {
    claude.addOption(
      new Option(
        '--hooks [way]',
        'also add the hooks, which deliver answers and mentions and run the guards; default: over the connection, where the client can do that',
      ).choices(['connection', 'process']),
    );
    for (const client of [claude, codex]) client.addOption(roleOption());
    command
      .command('acp')
      .description('Print the settings for an ACP agent in agent-shell or Zed')
      .argument('[command...]', 'the agent and its arguments, after --; default: claude-agent-acp')
      .option('--json', 'print JSON')
      .action((agent: string[], options: Format) =>
        reportErrors(options, () => printAcp(agent.length > 0 ? agent : ['claude-agent-acp'], options)),
      );
  }
  define<SetUpOptions>('emacs', 'Emacs', (options) => setUpEmacs(direction, options));
}

/** The prefix of Hive's keys: the one in the file, else the first usual one that is free, or the one that the person types. */
function setUpEmacs(direction: Direction, options: SetUpOptions): Promise<ExitCode> {
  const file = emacsInitFile(process.env);
  const text = readText(file) ?? '';
  const key = emacsKey(text) ?? freeEmacsKey(text);
  const partsWith = (prefix: string): Part[] => [emacsPart(file, `${packageFolder()}/elisp`, prefix)];
  return setUp(direction, partsWith(key), options, {
    benefit: `The mode line of Emacs then shows when an agent asks you something, and ${key} n answers it.`,
    choice: {
      question: `Set this up? [Y/n, or another key than ${key}, d shows every line] `,
      parts: (answer) => (isEmacsKey(answer) ? partsWith(answer) : null),
    },
    done: existsSync(`${file}c`)
      ? `Done, but Emacs reads ${file}c, which was compiled before: compile ${file} again with M-x byte-compile-file.`
      : direction === 'init'
        ? 'Done. Hive starts the next time you start Emacs. Check the setup there with M-x hive-doctor.'
        : 'Removed. Emacs no longer starts Hive.',
  });
}

/** The names in agent-shell's variables, by the words of a command. */
const AGENT_SHELL: readonly (readonly [RegExp, string])[] = [
  [/claude/, 'anthropic-claude'],
  [/codex/, 'openai-codex'],
  [/gemini/, 'google-gemini'],
  [/opencode/, 'opencode'],
  [/goose/, 'goose'],
  [/copilot/, 'github'],
];

/** The settings with which an editor starts its agent through the proxy. Each agent has its own, so none are written. */
async function printAcp(agent: readonly string[], { json }: Format): Promise<ExitCode> {
  const [program = 'hive', ...rest] = thisProgram();
  const words = [program, ...rest, 'acp', '--', ...agent];
  const [command = '', ...args] = words;
  const zed = { agent_servers: { [`${agent[0]} with Hive`]: { type: 'custom', command, args } } };
  const variable = agent.flatMap((word) => AGENT_SHELL.find(([name]) => name.test(word))?.[1] ?? [])[0];
  const agent_shell = `(${words.map((word) => JSON.stringify(word)).join(' ')})`;
  if (json === true) printJson({ agent_shell, zed });
  else
    print(`For agent-shell in Emacs, set the command of your agent${variable === undefined ? ', whose variable has its name instead of the dots' : ''}:

(setq agent-shell-${variable ?? '…'}-acp-command
      '${agent_shell})

For Zed, add to its settings:

${JSON.stringify(zed, null, 2)}`);
  return EXIT.done;
}

function roleOption(): Option {
  const what = 'what its agents may do; default: the role set there, else agent';
  return new Option('--role <role>', what).choices(['agent', 'coordinator']);
}

/** A coordinator answers and interrupts other agents, so no agent may make itself one. @throws HiveError `not_allowed`. */
async function mayCoordinate({ role, print }: CodexOptions): Promise<void> {
  if (role !== 'coordinator' || print === true) return;
  await usingHive({}, (hive) => refuseAgents(hive, 'make an agent a coordinator'));
}

async function setUpClaude(direction: Direction, options: ClaudeOptions): Promise<ExitCode> {
  await mayCoordinate(options);
  const scope: Scope = options.project === true ? 'project' : 'user';
  const { settings } = claudePaths(process.env, scope, process.cwd());
  const hasPlugin = scope === 'user' && naming({ path: settings }, () => hasHivePlugin(readText(settings)));
  const byPlugin = hasPlugin && direction === 'init';
  if (hasPlugin)
    remark(
      `Claude Code has Hive's plugin, which contains the server and the hooks.${byPlugin ? '' : ' To remove it, run: claude plugin uninstall hive@hive'}`,
    );
  const server = byPlugin ? PLUGIN_SERVER : SERVER_NAME;
  const partsWith = byPlugin
    ? (rules: Part | null): Part[] => inSettings(settings, scope, rules)
    : await claudeParts(direction, scope, options);
  const [all, none] = [rulePart(settings, server), rulePart(settings, null)];
  const text = readText(settings) ?? '';
  const isHooked = byPlugin || options.hooks !== undefined || naming(all, () => hookWayIn(text)) !== null;
  const isNew = direction === 'init' && (text.trim() === '' || !naming(all, () => all.isRight(text)));
  const code = await setUp(direction, partsWith(direction === 'init' ? all : none), options, {
    benefit: benefitOf(
      'Claude Code',
      isHooked
        ? `${REACHED}, and its permission dialogs can be answered in Emacs, too.`
        : 'It gets your answers when it polls. With --hooks they reach it by themselves.',
    ),
    ...(isNew && { choice: withoutRules(partsWith, scope) }),
    done: hasPlugin && !byPlugin ? 'Removed.' : doneSentence(direction, 'Claude Code'),
  });
  if (
    direction === 'init' &&
    scope === 'project' &&
    code === EXIT.done &&
    findOnPath('hive', process.env) === null
  )
    remark(
      'The project\'s configuration runs "hive" from PATH, and it is not on yours. Everybody who works on the project needs it there.',
    );
  return code;
}

/** The person may leave out the permission rules: Claude Code then asks at each call. */
function withoutRules(partsWith: (rules: Part | null) => Part[], scope: Scope): Choice {
  return {
    question: `Set this up, and let ${scope === 'user' ? 'agents' : 'the agents of everybody who works on this project'} use Hive's own tools without asking each time? [Y/n, a: set it up, but ask each time, d shows every line] `,
    parts(answer) {
      if (!/^a(sk)?$/i.test(answer)) return null;
      remark(
        "Claude Code will ask you before each call of Hive's tools, and refuse the call where it cannot ask. To change that, run hive init claude again.",
      );
      return partsWith(null);
    },
  };
}

/** The parts, with these permission rules or none. A project's files are shared: they must not contain paths of this machine. */
async function claudeParts(
  direction: Direction,
  scope: Scope,
  { hooks = false, role }: ClaudeOptions,
): Promise<(rules: Part | null) => Part[]> {
  if (scope === 'project') refuseGoneFolder(process.env['PWD']);
  const paths = claudePaths(process.env, scope, process.cwd());
  const program = scope === 'project' ? ['hive'] : thisProgram();
  const kept = naming({ path: paths.servers }, () => claudeRole(readText(paths.servers)));
  const server = claudeServer(paths.servers, program, role ?? kept);
  // The hooks are in the same file as the rules, so hooks that are there are kept complete and current.
  const there = naming({ path: paths.settings }, () => hookWayIn(readText(paths.settings)));
  if (hooks === false && there === null && direction === 'init')
    return (rules) => [server, ...inSettings(paths.settings, scope, rules)];
  const way =
    typeof hooks === 'string' ? hooks : hooks || there === null ? await wayOf('claude-code') : there;
  const commands = commandParts(paths.commands);
  const hooked = hookPart('claude-code', paths.settings, hookProgram(program, way));
  // A folder that was made for a file is removed with it, so the outermost one comes first.
  return (rules) => [
    server,
    ...inSettings(paths.settings, scope, hooked, rules ?? rulePart(paths.settings, null)),
    ...commands,
  ];
}

/** These parts of the settings. What a person sets up for themselves, no project may replace. */
function inSettings(path: string, scope: Scope, ...parts: (Part | null)[]): Part[] {
  const own = scope === 'user' ? refusalPart(path) : null;
  const [first, ...more] = [...parts, own].filter((part) => part !== null);
  return first === undefined ? [] : [inOneFile(first, ...more)];
}

/** The commands, without those for which the person has a file of the same name. */
function commandParts(folder: string): Part[] {
  const installer = createInstaller(process.env);
  return COMMANDS.map((name) =>
    commandPart(
      join(folder, `${name}.md`),
      readFileSync(join(packageFolder(), 'plugin/commands', `${name}.md`), 'utf8'),
    ),
  ).filter((part) => {
    const text = readText(part.path);
    return text === null || part.isRight(text) || isAsWritten(text, installer.receiptOf(part.path));
  });
}

/** How the hooks in these settings reach Hive; null if there are none. */
function hookWayIn(settings: string | null): HookWay | null {
  const hooks = settings?.trim() ? findHooks(settings, 'claude-code') : [];
  if (hooks.length === 0) return null;
  return hooks.some(({ entry }) => readHook(entry)?.program.length === 0) ? 'connection' : 'process';
}

/** bin/hive would continue in a parent folder, where a project's files do not belong. @throws HiveError `invalid_input`. */
function refuseGoneFolder(folder: string | undefined): void {
  if (folder !== undefined && process.cwd() !== folder && !existsSync(folder))
    throw invalidInput(`The folder ${folder} is gone, so there is no project here. Nothing was written.`);
}

/** The best way for the client that is installed here. A client whose version is unknown counts as current. */
async function wayOf(client: HookClient): Promise<HookWay> {
  const version = await clientVersion(client, process.env);
  if (version === null || knowsConnection(client, version)) return 'connection';
  remark(`${client} ${version} is too old for hooks over the connection, so each hook will start a process.`);
  return 'process';
}

/** A failing hook can only block while it is a process: a server that is gone sends no refusal. */
function hookProgram(program: readonly string[], way: HookWay): HookProgram {
  return { program, way, fails_closed: process.env['HIVE_GATE_FAIL'] === 'closed' };
}

function doneSentence(direction: Direction, client: string): string {
  return direction === 'init'
    ? `Done. New sessions of ${client} will use Hive. Check the setup with: hive doctor`
    : `Removed. New sessions of ${client} will not use Hive.`;
}

// ---- Codex ----
// Its server, its hooks, and the trust without which it skips them silently.

async function setUpCodex(direction: Direction, options: CodexOptions): Promise<ExitCode> {
  await mayCoordinate(options);
  const isAsked = direction === 'init' && options.yes !== true && options.print !== true;
  const trusts = isAsked && (await noPersonBecause(options)) === null;
  const code = await setUp(direction, await codexParts(options.role, trusts), options, {
    // Codex hides its own dialog while a hook waits.
    benefit: benefitOf(
      'Codex',
      `${REACHED}. Commands that it asks for can be answered at your desk. Its other permissions stay in its terminal, unless you set dialog_wait with hive config.`,
    ),
    done: doneSentence(direction, 'Codex'),
  });
  return direction === 'init' && code === EXIT.done ? offerTrust(options) : code;
}

/**
 * Keeps the trust that was given as long as it is for exactly these hooks, and the role unless another is given. With `trusts`,
 * the person at the terminal is asked about the trust together with everything else.
 * @throws HiveError `invalid_input` for a role in a server's table that Hive did not write.
 */
async function codexParts(role: Role | undefined, trusts: boolean): Promise<Part[]> {
  const { config, hooks } = codexPaths(process.env);
  const now = naming({ path: config }, () => readText(config) ?? '');
  const kept = naming({ path: config }, () => codexRole(now));
  if (role !== undefined && role !== kept && isForeign(now))
    throw invalidInput(
      `${config} already has a server that starts Hive, and Hive does not change that. Set the role there: args = ["mcp", "--role", "${role}"].`,
    );
  const part = hookPart('codex', hooks, hookProgram(thisProgram(), await wayOf('codex')));
  const text = readText(hooks);
  const change = planInit(part, text, createInstaller(process.env).receiptOf(hooks));
  const tables = trustTables(change?.after ?? text ?? '{}');
  const trust = trusts ? tables : naming({ path: config }, () => trustIn(now, tables));
  return [codexConfig(config, thisProgram(), trust, role ?? kept), part];
}

/** Asks whether Codex may run the current hooks. Only a person at a terminal can allow that. */
async function offerTrust(options: SetUpOptions): Promise<ExitCode> {
  const { config, hooks } = codexPaths(process.env);
  const text = readText(config) ?? '';
  if (options.print === true) return EXIT.done;
  if (isForeign(text)) remark(`${config} already has a server that starts Hive. It was left as it is.`);
  const tables = trustTables(readText(hooks) ?? '{}');
  if (trustIn(text, tables).length === tables.length) return EXIT.done;
  const missing = await noPersonBecause(options);
  if (missing !== null) {
    remark(
      `Codex silently skips these hooks until you trust them. Run hive init codex in a terminal, or use /hooks in Codex. (Hive did not ask now: ${missing}.)`,
    );
    return EXIT.done;
  }
  say(
    `Codex skips hooks that nobody has trusted. These ${tables.length} report each step of every session to Hive. Most start "hive hook" with your full permissions; the others use the connection to "hive mcp".`,
  );
  if (!/^y(es)?$/i.test(await ask('Trust them? [y/N] '))) {
    remark('Not trusted. Codex skips the hooks until you trust them, here or with /hooks in Codex.');
    return EXIT.done;
  }
  const installer = createInstaller(process.env);
  const part = codexConfig(config, thisProgram(), tables, codexRole(text));
  const change = planInit(part, readText(config), installer.receiptOf(config));
  if (change !== null) write('init', installer, [change]);
  print('Trusted.');
  return EXIT.done;
}

/** Codex knows its folder by its real path. */
function trustTables(text: string): TomlTable[] {
  const { hooks } = codexPaths(process.env);
  const folder = dirname(hooks);
  return trustOf(existsSync(folder) ? join(realpathSync(folder), basename(hooks)) : hooks, text);
}

async function noPersonBecause({ json }: SetUpOptions): Promise<string | null> {
  if (json === true || !hasTerminal()) return 'there is no terminal';
  return usingHive({}, async (hive) => (await findCaller(hive)).agent_because);
}

// ---- Changing a client's files ----
// Both commands show the changes, ask, and write.

interface SetUpOptions extends Format {
  /** Write without asking. */
  yes?: boolean | undefined;
  /** Show what belongs in the files, and write nothing. */
  print?: boolean | undefined;
}

type Direction = 'init' | 'uninit';

/** The texts about one client for the person at the terminal, and the answers besides yes and no. */
interface Words {
  /** Its benefit, which is shown first. */
  benefit: string;
  choice?: Choice;
  done: string;
}

interface Choice {
  question: string;
  /** The parts to write for this answer; null if it is not a valid answer. */
  parts(answer: string): readonly Part[] | null;
}

/** Writes everything if the person agrees, else nothing. */
async function setUp(
  direction: Direction,
  parts: readonly Part[],
  options: SetUpOptions,
  { benefit, choice, done }: Words,
): Promise<ExitCode> {
  if (options.print === true) {
    if (options.json === true) printJson({ parts: parts.map(({ path, fragment }) => ({ path, fragment })) });
    else for (const { path, fragment } of parts) print(`# ${onOneLine(path)}\n${fragment}\n`);
    return EXIT.done;
  }
  const installer = createInstaller(process.env);
  const plan = direction === 'init' ? planInit : planUninit;
  const planned = (wanted: readonly Part[]): ShownChange[] =>
    wanted.flatMap((part) => {
      const change = plan(part, readText(part.path), installer.receiptOf(part.path));
      return change === null
        ? []
        : [{ ...change, part, diff: unifiedDiff(change.before ?? '', change.after ?? '', CONTEXT) }];
    });
  let changes = planned(parts);
  if (options.json !== true && changes.length > 0) {
    if (direction === 'init') say(`${benefit}\n`);
    for (const change of changes) describe(change);
    // Otherwise the person may ask for it.
    if (!hasTerminal() && options.yes !== true) for (const change of changes) show(change);
  }
  if (changes.length > 0 && options.yes !== true) {
    const agreed = await agree(direction, parts, changes, choice);
    if (agreed === null) {
      if (options.json === true) printJson({ changed: [] });
      remark('Nothing was written.');
      return EXIT.notAccepted;
    }
    if (agreed !== parts) changes = planned(agreed);
  }
  // The file for which a folder was made goes last, when nothing else of ours is in the folder.
  if (direction === 'uninit') changes.reverse();
  write(direction, installer, changes);
  if (options.json === true) printJson({ changed: changes.map(({ path }) => path) });
  else say(changes.length === 0 ? 'Nothing to do.' : done);
  return EXIT.done;
}

/** All of them, or none. @throws HiveError `invalid_input`. */
function write(direction: Direction, installer: Installer, changes: readonly FileChange[]): void {
  let changed: string | null;
  try {
    changed = installer.write(changes);
  } catch (error) {
    if (!(error instanceof HiveError)) throw error;
    throw new HiveError(
      error.code,
      `${error.message} Nothing was written. If another program manages this file, ${direction === 'init' ? 'let it add' : 'let it remove'} what the same hive init command shows with --print.`,
    );
  }
  if (changed !== null) throw new HiveError('invalid_input', changedByOther(changed));
}

/** A change that a person decides about. */
interface ShownChange extends FileChange {
  part: Part;
  diff: string;
}

/** How many unchanged lines are shown around a change. */
const CONTEXT = 2;

function show({ path, diff }: ShownChange): void {
  print(`${onOneLine(path)}\n${diff.replace(/^/gm, '  ')}\n`);
}

/** Prints what changes in a file: what of Hive's is added, replaced or removed, and how many lines that takes. */
function describe({ path, before, after, part, diff }: ShownChange): void {
  const [old, now] = [entriesIn(part, before), entriesIn(part, after)];
  const of = <Kind extends Entry['kind']>(kind: Kind): [Of<Kind>[], Of<Kind>[]] => [
    old.filter((entry) => isOf(kind, entry)),
    now.filter((entry) => isOf(kind, entry)),
  ];
  const [added = 0, removed = 0] = [/^\+/gm, /^-/gm].map((mark) => diff.match(mark)?.length ?? 0);
  const lines = counted(added, 'line');
  const changed =
    added === 0
      ? `${counted(removed, 'line')} removed`
      : `${lines} added${removed === 0 ? '' : `, ${removed} removed`}`;
  const what = after === null ? 'the file is removed' : before === null ? `new file, ${lines}` : changed;
  say(`${onOneLine(path)} (${what})`);
  const sentences = [
    ...aboutServer(...of('server')),
    ...aboutHooks(...of('hook')),
    ...aboutTrust(...of('trust')),
    ...aboutRules(...of('rule')),
    ...aboutRefusal(...of('refusal')),
    ...aboutCommands(...of('command')),
    ...aboutLines(...of('line')),
  ];
  for (const sentence of sentences) say(`  ${onOneLine(sentence)}`);
  print('');
}

type Of<Kind extends Entry['kind']> = Extract<Entry, { kind: Kind }>;
const isOf = <Kind extends Entry['kind']>(kind: Kind, entry: Entry): entry is Of<Kind> => entry.kind === kind;

function entriesIn(part: Part, text: string | null): Entry[] {
  return text === null || text.trim() === '' ? [] : naming(part, () => part.entries(text));
}

function aboutServer([old]: readonly Of<'server'>[], [now]: readonly Of<'server'>[]): string[] {
  if (isDeepStrictEqual(old, now)) return [];
  if (now === undefined) return ['Removes the MCP server "hive".'];
  const what =
    old === undefined
      ? `Adds the MCP server "hive", which runs: ${now.command}`
      : `Changes the entry of the MCP server "hive", which then runs: ${now.command}`;
  return now.variables === 0
    ? [what]
    : [
        what,
        `Codex passes ${now.variables} environment variables to it, besides those that every server gets.`,
      ];
}

function aboutHooks(old: readonly Of<'hook'>[], now: readonly Of<'hook'>[]): string[] {
  if (now.length === 0)
    return old.length === 0 ? [] : [`Removes Hive's ${counted(old.length, 'hook')}, and no others.`];
  const ways = Map.groupBy(now, ({ program }) => program);
  return [
    old.length === 0
      ? `Adds ${counted(now.length, 'hook')}. ${WHAT_HOOKS_DO}`
      : `Replaces Hive's ${counted(old.length, 'hook')} with ${now.length}. ${WHAT_HOOKS_DO}`,
    ...[...ways].map(([program, hooks]) => {
      const counts = [...Map.groupBy(hooks, ({ event }) => event)];
      const events = counts.map(([event, { length }]) => (length === 1 ? event : `${event} (${length})`));
      return program === null
        ? `- ${hooks.length} use the connection to the MCP server: ${events.join(', ')}`
        : `- ${hooks.length} start "${program === shellLine(thisProgram()) ? 'hive' : program} hook": ${events.join(', ')}`;
    }),
    'Leaves all other hooks as they are.',
  ];
}

function aboutTrust(old: readonly Of<'trust'>[], now: readonly Of<'trust'>[]): string[] {
  const lost = old.length - now.length;
  if (lost < 0) return [`Lets Codex run ${counted(-lost, 'hook')}: it skips hooks that nobody has trusted.`];
  return lost > 0
    ? [`Removes your trust in Hive's ${counted(lost, 'hook')}, because they change or go.`]
    : [];
}

function aboutRules(old: readonly Of<'rule'>[], now: readonly Of<'rule'>[]): string[] {
  if (isDeepStrictEqual(old, now)) return [];
  return [
    now.length === 0
      ? `Removes Hive's ${counted(old.length, 'permission rule')}.`
      : `Adds ${counted(now.length - old.length, 'permission rule')}, so that agents use Hive's own tools without asking you. They can only ask, post, report and look; they decide nothing.`,
  ];
}

function aboutRefusal([old]: readonly Of<'refusal'>[], [now]: readonly Of<'refusal'>[]): string[] {
  if ((old === undefined) === (now === undefined)) return [];
  return [
    `${now === undefined ? 'No longer keeps' : 'Keeps'} a project's own server called "hive" from taking the place of this one.`,
  ];
}

function aboutCommands([old]: readonly Of<'command'>[], [now]: readonly Of<'command'>[]): string[] {
  if (now !== undefined) return [`Adds the command ${now.command}.`];
  return old === undefined ? [] : [`Removes the command ${old.command}.`];
}

function aboutLines(old: readonly Of<'line'>[], now: readonly Of<'line'>[]): string[] {
  const lines = (now.length === 0 ? old : now).map(({ text }) => `  ${text}`);
  if (lines.length === 0) return [];
  return [
    now.length === 0
      ? 'Removes these lines, and the comments around them:'
      : old.length === 0
        ? 'Adds these lines at the end, between two comments:'
        : "Replaces Hive's lines with these:",
    ...lines,
  ];
}

/** The parts that the person wants written; null for none. Yes is the default only if something is added. */
async function agree(
  direction: Direction,
  parts: readonly Part[],
  changes: readonly ShownChange[],
  choice: Choice | undefined,
): Promise<readonly Part[] | null> {
  if (!hasTerminal()) {
    remark('Hive cannot ask for confirmation without a terminal. Use --yes to write without asking.');
    return null;
  }
  const isInit = direction === 'init';
  for (;;) {
    const answer = await ask(
      isInit
        ? (choice?.question ?? 'Set this up? [Y/n, d shows every line] ')
        : 'Remove this? [y/N, d shows every line] ',
    );
    if (/^y(es)?$/i.test(answer) || (answer === '' && isInit)) return parts;
    if (/^no?$/i.test(answer) || answer === '') return null;
    const chosen = isInit ? (choice?.parts(answer) ?? null) : null;
    if (chosen !== null) return chosen;
    if (/^d(iff)?$/i.test(answer)) for (const change of changes) show(change);
    else say(`"${answer}" is none of these.`);
  }
}

/** A folder or an event may have any name, and a line break in it must not look like another line of ours. */
function onOneLine(text: string): string {
  return /[\u0000-\u001f\u007f-\u009f]/.test(text) ? JSON.stringify(text) : text;
}
