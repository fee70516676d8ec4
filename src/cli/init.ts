/**
 * `hive init` and `hive uninit`: Hive in the configuration of Claude Code, Codex and Emacs. An agent may set itself
 * up; but that Codex runs our hooks unasked, only a person at a terminal decides.
 */
import { type Command, Option } from 'commander';
import type { Role } from '../domain/tokens.ts';
import { claudeRole, claudeServer, hookPart } from '../infrastructure/installation/claude.ts';
import { emacsPart } from '../infrastructure/installation/emacs.ts';
import { readText } from '../infrastructure/installation/files.ts';
import { naming, type Part } from '../infrastructure/installation/parts.ts';
import { claudePlaces, emacsInitFile, type Scope } from '../infrastructure/installation/places.ts';
import { openHive } from '../open-hive.ts';
import { refuseAgents } from './actor.ts';
import type { ExitCode } from './exit-codes.ts';
import { codexParts, offerTrust } from './init-codex.ts';
import { remark } from './output.ts';
import { isOnPath, packageFolder, thisProgram } from './program.ts';
import { reportErrors } from './run.ts';
import { type Direction, type SetUpOptions, setUp } from './set-up.ts';

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
  const places = claudePlaces(process.env, scope, process.cwd());
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
