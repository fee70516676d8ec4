/**
 * `hive init` and `hive uninit`: Hive in the configuration of Claude Code, Codex and Emacs. An agent may set itself
 * up; but that Codex runs our hooks unasked, only a person at a terminal decides.
 */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import { unifiedDiff } from '../adapters/unified-diff.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { Role } from '../domain/tokens.ts';
import { claudeRole, claudeServer, hookPart } from '../infrastructure/installation/claude.ts';
import { codexConfig, codexRole, isForeign, trustIn, trustOf } from '../infrastructure/installation/codex.ts';
import { emacsPart } from '../infrastructure/installation/emacs.ts';
import { createInstaller, readText } from '../infrastructure/installation/files.ts';
import {
  claudePaths,
  codexPaths,
  emacsInitFile,
  type FileChange,
  naming,
  type Part,
  planInit,
  planUninit,
  type Scope,
} from '../infrastructure/installation/parts.ts';
import type { TomlTable } from '../infrastructure/installation/toml-edits.ts';
import { openHive } from '../open-hive.ts';
import { findCaller, refuseAgents } from './actor.ts';
import { type Format, print, printJson, remark } from './output.ts';
import { EXIT, type ExitCode, isOnPath, packageFolder, reportErrors, thisProgram } from './program.ts';

interface CodexOptions extends SetUpOptions {
  role?: Role;
}

interface ClaudeOptions extends CodexOptions {
  project?: boolean;
  user?: boolean;
  hooks?: boolean;
}

export const defineInit = (command: Command): void => defineSetUp(command, 'init');
export const defineUninit = (command: Command): void => defineSetUp(command, 'uninit');

function defineSetUp(command: Command, direction: Direction): void {
  const isInit = direction === 'init';
  const define = <Options extends SetUpOptions>(
    name: string,
    summary: string,
    work: (options: Options) => Promise<ExitCode>,
  ): Command => {
    const defined = command
      .command(name)
      .description(summary)
      .option('-y, --yes', 'write without asking')
      .option('--json', 'print JSON')
      .action((options: Options) => reportErrors(options, () => work(options)));
    return isInit ? defined.option('--print', 'show what belongs where, and write nothing') : defined;
  };
  const claude = define<ClaudeOptions>('claude', 'Claude Code', (options) => setUpClaude(direction, options))
    .option('--user', 'for you, in every project (default)')
    .option('--project', 'for everybody who works on the project in this folder');
  const codex = define<CodexOptions>('codex', 'Codex', async (options) => {
    await mayCoordinate(options);
    const code = await setUp(direction, codexParts(options.role), options, said(direction, 'Codex'));
    return isInit && code === 0 ? offerTrust(options) : code;
  });
  if (isInit) {
    claude.option('--hooks', 'hooks too: answers and mentions arrive by themselves, guards hold');
    for (const client of [claude, codex]) client.addOption(roleOption());
  }
  define<SetUpOptions>('emacs', 'Emacs', (options) =>
    setUp(
      direction,
      [emacsPart(emacsInitFile(process.env), `${packageFolder()}/elisp`)],
      options,
      isInit
        ? 'Hive starts with the next Emacs; M-x hive-doctor there says whether all is well.'
        : 'Taken back.',
    ),
  );
}

function roleOption(): Option {
  const what = 'what its agents may do; default: what is set there, else agent';
  return new Option('--role <role>', what).choices(['agent', 'coordinator']);
}

/** A coordinator answers and interrupts other agents: no agent makes itself one. @throws HiveError `not_allowed`. */
async function mayCoordinate({ role, print }: CodexOptions): Promise<void> {
  if (role !== 'coordinator' || print === true) return;
  const hive = await openHive();
  try {
    await refuseAgents(hive, "Who coordinates other agents is the human's to say");
  } finally {
    await hive.close();
  }
}

async function setUpClaude(direction: Direction, options: ClaudeOptions): Promise<ExitCode> {
  await mayCoordinate(options);
  const scope: Scope = options.project === true ? 'project' : 'user';
  const code = await setUp(
    direction,
    claudeParts(direction, scope, options),
    options,
    said(direction, 'Claude Code'),
  );
  if (direction === 'init' && scope === 'project' && !isOnPath('hive'))
    remark('What a project shares starts plain "hive": install it where everybody has it on PATH.');
  return code;
}

/** A project's files are shared: they cannot hold a path of this machine. */
function claudeParts(direction: Direction, scope: Scope, { hooks = false, role }: ClaudeOptions): Part[] {
  const places = claudePaths(process.env, scope, process.cwd());
  const program = scope === 'project' ? ['hive'] : thisProgram();
  const kept = naming({ path: places.servers }, () => claudeRole(readText(places.servers)));
  const server = claudeServer(places.servers, program, role ?? kept);
  return hooks || direction === 'uninit'
    ? [server, hookPart('claude-code', places.settings, program)]
    : [server];
}

function said(direction: Direction, client: string): string {
  return direction === 'init'
    ? `Done: it holds for every session that ${client} starts from now on. hive doctor says whether all is well.`
    : `Taken back: it holds for every session that ${client} starts from now on.`;
}

// ---------------------------------------------------------------------------
// Codex: its server, its hooks, and the trust without which it skips them silently.

/**
 * Trust that was given stays as long as it is for these very hooks, and the role unless another is wanted.
 * @throws HiveError `invalid_input` for a role in a server's table that is not ours to change.
 */
function codexParts(role?: Role): Part[] {
  const { config, hooks } = codexPaths(process.env);
  const now = naming({ path: config }, () => readText(config) ?? '');
  const kept = naming({ path: config }, () => codexRole(now));
  if (role !== undefined && role !== kept && isForeign(now))
    throw invalidInput(
      `${config} has a server of its own that starts Hive, which Hive does not change. Give it the role there: args = ["mcp", "--role", "${role}"].`,
    );
  const part = hookPart('codex', hooks, thisProgram());
  const text = readText(hooks);
  const change = planInit(part, text, createInstaller(process.env).receiptOf(hooks));
  const tables = trustTables(change?.after ?? text ?? '{}');
  const trust = naming({ path: config }, () => trustIn(now, tables));
  return [codexConfig(config, thisProgram(), trust, role ?? kept), part];
}

/** Asks whether Codex may run the hooks that are there now. Only a person at a terminal can say so. */
async function offerTrust(options: SetUpOptions): Promise<ExitCode> {
  const { config, hooks } = codexPaths(process.env);
  const text = readText(config) ?? '';
  if (options.print === true) return EXIT.done;
  if (isForeign(text)) remark(`${config} has a server of its own that starts Hive: it stays as it is.`);
  const tables = trustTables(readText(hooks) ?? '{}');
  if (trustIn(text, tables).length === tables.length) return EXIT.done;
  const missing = await noPersonBecause(options);
  if (missing !== null) {
    remark(
      `Codex skips these hooks silently until you trust them: run hive init codex in a terminal, or look at /hooks in Codex (${missing}).`,
    );
    return EXIT.done;
  }
  print(
    `Codex skips hooks that nobody has trusted. These ${tables.length} run "hive hook" at each step of every session, with all your rights.`,
  );
  if ((await ask('Trust them? Type yes to write that into config.toml: ')) !== 'yes') {
    remark('Not trusted: Codex will skip the hooks until you trust them there with /hooks, or here.');
    return EXIT.done;
  }
  const installer = createInstaller(process.env);
  const part = codexConfig(config, thisProgram(), tables, codexRole(text));
  const change = planInit(part, readText(config), installer.receiptOf(config));
  if (change !== null && !installer.write(change))
    throw new HiveError('invalid_input', `${config} has changed meanwhile: run this again.`);
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
  if (json === true || !process.stdin.isTTY || !process.stdout.isTTY) return 'there is no terminal to ask at';
  const hive = await openHive();
  try {
    return (await findCaller(hive)).agent_because;
  } finally {
    await hive.close();
  }
}

// ---------------------------------------------------------------------------
// What `hive init` and `hive uninit` do with a client's files: show what would change, ask, write.

interface SetUpOptions extends Format {
  /** The person has said yes already. */
  yes?: boolean | undefined;
  /** Show what belongs there, and write nothing. */
  print?: boolean | undefined;
}

type Direction = 'init' | 'uninit';

/** Nothing is written unless the person agrees, and then all of it. */
async function setUp(
  direction: Direction,
  parts: readonly Part[],
  options: SetUpOptions,
  done: string,
): Promise<ExitCode> {
  if (options.print === true) {
    if (options.json === true) printJson({ parts: parts.map(({ path, fragment }) => ({ path, fragment })) });
    else for (const { path, fragment } of parts) print(`# ${path}\n${fragment}\n`);
    return EXIT.done;
  }
  const installer = createInstaller(process.env);
  const plan = direction === 'init' ? planInit : planUninit;
  const changes = parts.flatMap(
    (part) => plan(part, readText(part.path), installer.receiptOf(part.path)) ?? [],
  );
  if (options.json !== true) for (const change of changes) show(change);
  if (changes.length > 0 && options.yes !== true && !(await agrees())) {
    remark('Nothing was written.');
    return EXIT.notAccepted;
  }
  // The file that a folder was made for is taken back last, when nothing else of ours lies there.
  if (direction === 'uninit') changes.reverse();
  for (const change of changes) {
    if (!installer.write(change)) {
      throw new HiveError('invalid_input', `${change.path} has changed meanwhile: run this again.`);
    }
  }
  if (options.json === true) printJson({ changed: changes.map(({ path }) => path) });
  else print(changes.length === 0 ? 'Nothing to do.' : done);
  return EXIT.done;
}

function show({ path, before, after }: FileChange): void {
  print(before === null ? `${path} (new)` : after === null ? `${path} (removed)` : path);
  print(unifiedDiff(before ?? '', after ?? '').replace(/^/gm, '  '));
  print('');
}

async function agrees(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    remark('There is no terminal to ask at: --yes says yes, --print only shows what belongs where.');
    return false;
  }
  return /^y(es)?$/i.test(await ask('Write this? [y/N] '));
}

/** A line that the person at the terminal types. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}
