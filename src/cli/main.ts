/** The command line: dispatches. Each command is a file of its own, loaded when it is called, and parses its own options. */
import { Command, CommanderError } from 'commander';
import { HiveError } from '../domain/errors.ts';
import { VERSION } from '../version.ts';
import { EXIT, exitCodeOfError } from './program.ts';
import './stdout-is-the-wire.ts';

type Define = (command: Command) => void | Promise<void>;

/** What `hive --help` says of each, and where it is defined. */
const COMMANDS: Readonly<Record<string, readonly [summary: string, load: () => Promise<Define>]>> = {
  ask: ['Ask the human', async () => (await import('./ask.ts')).defineAsk],
  poll: [
    'Look whether the human has answered, or wait for it',
    async () => (await import('./poll.ts')).definePoll,
  ],
  list: ['List the prompts of every agent', async () => (await import('./list.ts')).defineList],
  respond: [
    'Answer a prompt, or correct your answer',
    async () => (await import('./respond.ts')).defineRespond,
  ],
  cancel: ['Take a prompt back', async () => (await import('./cancel.ts')).defineCancel],
  post: ['Write to the shared buffer', async () => (await import('./post.ts')).definePost],
  messages: ['Read the shared buffer', async () => (await import('./messages.ts')).defineMessages],
  mentions: ['Show mentions and deal with them', async () => (await import('./mentions.ts')).defineMentions],
  outreach: [
    'Show the pings, cards and reports of agents',
    async () => (await import('./outreach.ts')).defineOutreach,
  ],
  sessions: ['Show who is here', async () => (await import('./sessions.ts')).defineSessions],
  interrupt: [
    'Stop an agent, and wait until it has stopped',
    async () => (await import('./interrupt.ts')).defineInterrupt,
  ],
  status: ['Show what waits, and who is here', async () => (await import('./status.ts')).defineStatus],
  config: ['Show and set your preferences', async () => (await import('./config.ts')).defineConfig],
  doctor: ['Say what is wrong, and what to do', async () => (await import('./doctor.ts')).defineDoctor],
  history: [
    'Search everything asked, answered and posted',
    async () => (await import('./history.ts')).defineHistory,
  ],
  log: ['Print the events', async () => (await import('./log.ts')).defineLog],
  store: ['Remove old records, or copy the store', async () => defineStore],
  init: ['Set Hive up in Claude Code, Codex or Emacs', async () => (await import('./init.ts')).defineInit],
  uninit: ['Take that back', async () => (await import('./init.ts')).defineUninit],
  sidecar: [
    'Serve an Emacs over JSON-RPC on stdio (started by hive-mode)',
    async () => (await import('./sidecar.ts')).defineSidecar,
  ],
  serve: ['Serve remote agents over MCP on HTTP', async () => (await import('./serve.ts')).defineServe],
  token: [
    'Make, show and revoke tokens for remote agents',
    async () => (await import('./token.ts')).defineToken,
  ],
  team: ['Show and set the teams of humans', async () => (await import('./team.ts')).defineTeam],
  mcp: ['Serve an agent over MCP on stdio', async () => (await import('./mcp.ts')).defineMcp],
};

/** Earlier spellings of commands that are now part of another. They work as they did, and no help shows them. */
const OLD_SPELLINGS: Readonly<Record<string, readonly [now: string, load: () => Promise<Define>]>> = {
  wait: ['poll --wait', async () => (await import('./poll.ts')).defineWait],
  amend: ['respond --amend', async () => (await import('./respond.ts')).defineAmend],
  prune: ['store prune', async () => (await import('./prune.ts')).definePrune],
  migrate: ['store migrate', async () => (await import('./migrate.ts')).defineMigrate],
  'emacs-path': ['init emacs --print', async () => (await import('./emacs-path.ts')).defineEmacsPath],
};

void main();

/** Defined here, because both of its commands are files of their own. */
async function defineStore(command: Command): Promise<void> {
  const [{ definePrune }, { defineMigrate }] = await Promise.all([
    import('./prune.ts'),
    import('./migrate.ts'),
  ]);
  definePrune(command.command('prune').description('Remove what settled long ago'));
  defineMigrate(command.command('migrate').description('Copy the store to another place or engine'));
}

async function main(): Promise<void> {
  const program = new Command('hive')
    .description('Human in the loop for coding agents.')
    .version(VERSION)
    .exitOverride()
    // One voice: what commander says of a command line begins as what a command says.
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
      // Commander has said what is wrong; help and version that were asked for are no error.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    } else if (error instanceof HiveError) {
      process.stderr.write(`hive: ${error.message}\n`);
      process.exitCode = exitCodeOfError(error);
    } else throw error;
  }
}
