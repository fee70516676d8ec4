/** The command line. Each command is a file of its own, which is loaded when it is called and parses its own options. */
import { Command, CommanderError } from 'commander';
import { HiveError } from '../domain/errors.ts';
import { VERSION } from '../version.ts';
import { EXIT, exitCodeOfError } from './program.ts';
import './stdout-is-the-wire.ts';

type Define = (command: Command) => void | Promise<void>;

/** Each command with its line in `hive --help` and the file that defines it. */
const COMMANDS: Readonly<Record<string, readonly [summary: string, load: () => Promise<Define>]>> = {
  ask: ['Ask the human', async () => (await import('./ask.ts')).defineAsk],
  poll: [
    'Check whether the human has answered, or wait for the answer',
    async () => (await import('./poll.ts')).definePoll,
  ],
  list: ['List the questions of every agent', async () => (await import('./list.ts')).defineList],
  respond: [
    'Answer a question, or correct your answer',
    async () => (await import('./respond.ts')).defineRespond,
  ],
  cancel: ['Cancel a question', async () => (await import('./cancel.ts')).defineCancel],
  post: ['Write to the shared buffer', async () => (await import('./post.ts')).definePost],
  messages: ['Read the shared buffer', async () => (await import('./messages.ts')).defineMessages],
  mentions: ['List and process mentions', async () => (await import('./mentions.ts')).defineMentions],
  outreach: [
    'Show the pings, cards and reports of agents',
    async () => (await import('./outreach.ts')).defineOutreach,
  ],
  sessions: [
    'List the sessions, or change the settings of one',
    async () => (await import('./sessions.ts')).defineSessions,
  ],
  interrupt: [
    'Stop an agent, and wait until it has stopped',
    async () => (await import('./interrupt.ts')).defineInterrupt,
  ],
  status: ['Show what is pending and who is online', async () => (await import('./status.ts')).defineStatus],
  config: ['Show and set your preferences', async () => (await import('./config.ts')).defineConfig],
  stats: ['Show how long agents waited, and for what', async () => (await import('./stats.ts')).defineStats],
  rules: ['List the rules that answer permissions', async () => (await import('./rules.ts')).defineRules],
  doctor: [
    'Check the setup and say how to fix problems',
    async () => (await import('./doctor.ts')).defineDoctor,
  ],
  history: [
    'Search everything asked, answered and posted',
    async () => (await import('./history.ts')).defineHistory,
  ],
  log: ['Print the events', async () => (await import('./log.ts')).defineLog],
  store: ['Remove old records, or copy the store', async () => (await import('./store.ts')).defineStore],
  run: ['Run a headless agent that ends while you think', async () => (await import('./run.ts')).defineRun],
  runs: ['List the active and sleeping runs', async () => (await import('./run.ts')).defineRuns],
  acp: [
    'Run an ACP agent of an editor, and show what it asks at your desk as well',
    async () => (await import('./acp.ts')).defineAcp,
  ],
  attach: [
    'Show what the agents of an opencode server ask at your desk as well',
    async () => (await import('./attach.ts')).defineAttach,
  ],
  init: ['Set up Hive in Claude Code, Codex or Emacs', async () => (await import('./init.ts')).defineInit],
  uninit: ['Remove that setup', async () => (await import('./init.ts')).defineUninit],
  install: ['Install Hive for you, without root', async () => (await import('./install.ts')).defineInstall],
  uninstall: [
    'Remove what hive install has installed and written',
    async () => (await import('./install.ts')).defineUninstall,
  ],
  sidecar: [
    'Serve an Emacs over JSON-RPC on stdio (started by hive-mode)',
    async () => (await import('./sidecar.ts')).defineSidecar,
  ],
  serve: ['Serve remote agents over MCP on HTTP', async () => (await import('./serve.ts')).defineServe],
  token: [
    'Make, show and revoke tokens for remote agents',
    async () => (await import('./token.ts')).defineToken,
  ],
  phone: ['Pair, list and revoke phones', async () => (await import('./phone.ts')).definePhone],
  team: ['Show and set the teams of humans', async () => (await import('./team.ts')).defineTeam],
  mcp: ['Serve an agent over MCP on stdio', async () => (await import('./mcp.ts')).defineMcp],
};

/** Earlier spellings of commands that are now part of another. They still work, and no help shows them. */
const OLD_SPELLINGS: Readonly<Record<string, readonly [now: string, load: () => Promise<Define>]>> = {
  wait: ['poll --wait', async () => (await import('./poll.ts')).defineWait],
  amend: ['respond --amend', async () => (await import('./respond.ts')).defineAmend],
  prune: ['store prune', async () => (await import('./store.ts')).definePrune],
  migrate: ['store migrate', async () => (await import('./store.ts')).defineMigrate],
  'emacs-path': ['init emacs --print', async () => (await import('./init.ts')).defineEmacsPath],
};

// Whoever read our messages may be gone; that ends no program, and there is nobody left to tell.
process.stderr.on('error', () => undefined);

void main();

async function main(): Promise<void> {
  const program = new Command('hive')
    .description('Human in the loop for coding agents.')
    .version(VERSION)
    .exitOverride()
    // The errors of commander begin like those of our commands.
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'hive: ')) })
    .addHelpText('after', '\nExit codes and examples: docs/cli.md');

  const called = process.argv[2] ?? '';
  for (const [name, [summary, load]] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(summary);
    if (name === called || called === 'help') await (await load())(command);
  }
  for (const [name, [now, load]] of Object.entries(OLD_SPELLINGS)) {
    const command = program.command(name, { hidden: true }).description(`The old spelling of hive ${now}`);
    if (name === called) await (await load())(command);
  }

  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the error. A request for the help or the version is not an error.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    } else if (error instanceof HiveError) {
      process.stderr.write(`hive: ${error.message}\n`);
      process.exitCode = exitCodeOfError(error);
    } else throw error;
  }
}
