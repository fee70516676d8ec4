/** The command line. Each command is a file of its own, which is loaded when it is called and parses its own options. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { VERSION } from '../version.ts';
import { EXIT, exitCodeOfError } from './exit-codes.ts';
import { type Commands, EXTENSION_COMMANDS } from './extensions.ts';
import { printJson, remark } from './output.ts';

/** The commands of the core; each is a file. */
const COMMANDS: Commands = {
  'Questions:': {
    ask: ['Ask the human a question', async () => (await import('./ask.ts')).defineAsk],
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
  },
  'Messages:': {
    post: [
      "Write to the shared buffer of the project's agents and humans",
      async () => (await import('./post.ts')).definePost,
    ],
    messages: ['Read the shared buffer', async () => (await import('./messages.ts')).defineMessages],
    mentions: ['List and process mentions', async () => (await import('./mentions.ts')).defineMentions],
    outreach: [
      'Show the pings, cards and reports of agents',
      async () => (await import('./outreach.ts')).defineOutreach,
    ],
  },
  'Agents:': {
    sessions: [
      'List the sessions, or change the settings of one',
      async () => (await import('./sessions.ts')).defineSessions,
    ],
    interrupt: [
      'Stop an agent, and wait until it has stopped',
      async () => (await import('./interrupt.ts')).defineInterrupt,
    ],
  },
  'Overview:': {
    status: [
      'Show what is pending and who is online',
      async () => (await import('./status.ts')).defineStatus,
    ],
    history: [
      'Search everything asked, answered and posted',
      async () => (await import('./history.ts')).defineHistory,
    ],
    stats: [
      'Show how long agents waited for you, and for what',
      async () => (await import('./stats.ts')).defineStats,
    ],
  },
  'Setting up:': {
    install: ['Install Hive for you, without root', async () => (await import('./install.ts')).defineInstall],
    uninstall: [
      'Remove what hive install has installed and written',
      async () => (await import('./install.ts')).defineUninstall,
    ],
    init: ['Add Hive to Claude Code, Codex or Emacs', async () => (await import('./init.ts')).defineInit],
    uninit: [
      'Remove Hive from Claude Code, Codex or Emacs',
      async () => (await import('./init.ts')).defineUninit,
    ],
    doctor: [
      'Check the setup and say how to fix problems',
      async () => (await import('./doctor.ts')).defineDoctor,
    ],
    config: ['Show and change settings', async () => (await import('./config.ts')).defineConfig],
    rules: ['List your permission rules', async () => (await import('./rules.ts')).defineRules],
    team: ['Show and change teams of humans', async () => (await import('./team.ts')).defineTeam],
    store: [
      'Back up, restore, prune or copy the store',
      async () => (await import('./store.ts')).defineStore,
    ],
  },
  // All its commands are in extensions; this line only fixes the position of the heading.
  'Agents on other machines:': {},
  'Started by other programs:': {
    sidecar: [
      'Serve an Emacs over JSON-RPC on stdio',
      async () => (await import('./sidecar.ts')).defineSidecar,
    ],
    mcp: ['Serve an agent over MCP on stdio', async () => (await import('./mcp.ts')).defineMcp],
    hook: [
      'Handle an event of Claude Code or Codex, read from stdin',
      async () => (await import('./mcp.ts')).defineHook,
    ],
  },
};

/** The commands of the first week; `--all` shows the others too. */
const FIRST_WEEK: ReadonlySet<string> = new Set([
  'ask',
  'list',
  'respond',
  'sessions',
  'interrupt',
  'init',
  'doctor',
  'config',
]);

/**
 * The command line, with the options of the called command; `help` loads the options of all. Its own help shows the commands of
 * the first week, or all of them with `isAll`.
 */
export async function commandLine(called: string, isAll: boolean): Promise<Command> {
  const program = new Command('hive')
    .description('Coding agents ask you questions without stopping, and you answer when it suits you.')
    .version(VERSION)
    .option('--all', 'with --help: list all commands')
    // Some commands have an --all of their own.
    .enablePositionalOptions()
    .exitOverride()
    // The errors of commander begin like those of our commands.
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'hive: ')) })
    .showHelpAfterError('hive: Add --help to see how the command is used.')
    .addHelpText('afterAll', ({ command }) => `\n${footer(command, isAll)}`);

  for (const [group, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(group);
    for (const [name, [summary, load]] of Object.entries({ ...commands, ...EXTENSION_COMMANDS[group] })) {
      const command = program.command(name, { hidden: !isAll && !FIRST_WEEK.has(name) }).description(summary);
      if (name === called || called === 'help') {
        await (await load())(command);
        for (const one of [command, ...command.commands]) refuseRepeated(one);
      }
    }
  }
  program.commandsGroup('Help:').helpCommand('help [command]', 'Show the help of a command');
  return program;
}

/** Commander silently takes the last value of a repeated option. An option that collects its values may be repeated. */
function refuseRepeated(command: Command): void {
  for (const option of command.options) {
    let times = 0;
    command.on(`option:${option.name()}`, () => {
      times += 1;
      if (times > 1 && !option.isBoolean() && !Array.isArray(command.getOptionValue(option.attributeName())))
        command.error(`error: option '${option.flags}' was given twice. Give it once.`);
    });
  }
}

/** Runs the command that this process was started with, and sets its exit code. */
export async function main(): Promise<void> {
  // `hive -- list` is `hive list`.
  const [called = '', ...words] = process.argv.slice(2).filter((word, n) => n > 0 || word !== '--');
  const isAll = called === '--all' || (HELP.has(called) && words.includes('--all'));
  const program = await commandLine(called, isAll);
  try {
    refuseLostBytes();
    if (isAll) program.help();
    const [about = '-'] = called === 'help' ? words : [];
    if (!about.startsWith('-') && !program.commands.some((command) => command.name() === about))
      program.error(`error: unknown command '${about}'`);
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the error. A request for the help or the version is not an error.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
      if (isMistake(error) && process.argv.includes('--json'))
        printJson({ error: { code: 'invalid_input', message: error.message.replace(/^error: /, '') } });
    } else if (error instanceof HiveError) {
      remark(error.message);
      process.exitCode = exitCodeOfError(error);
    } else throw error;
  }
}

/** Node reads the bytes of an argument that are not UTF-8 as U+FFFD: the bytes would be lost silently. */
function refuseLostBytes(): void {
  if (!process.argv.some((word) => word.includes('\uFFFD'))) return;
  let given: Buffer;
  try {
    given = readFileSync('/proc/self/cmdline');
  } catch {
    // Only Linux shows the original bytes.
    return;
  }
  if (!isUtf8(given)) throw invalidInput('An argument is not UTF-8. Nothing was done.');
}

/** Commander also throws after it has shown a help: on request, or because a command is missing. */
function isMistake({ code }: CommanderError): boolean {
  return !/^commander\.(?:help|version)/.test(code);
}

const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** The last lines of each help. */
function footer({ options, parent }: Command, isAll: boolean): string {
  const hasDuration = options.some(({ flags }) => flags.includes('duration'));
  const more = parent === null && !isAll ? 'hive --help --all shows all commands.\n' : '';
  return `${more}${hasDuration ? 'A duration is written like 500ms, 90s, 10m, 2h or 1d.\n' : ''}Exit codes and examples: docs/cli.md, in Emacs M-x hive-manual`;
}
