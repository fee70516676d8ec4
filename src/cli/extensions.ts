/**
 * The commands of extensions, and their parts of commands of the core. They are beside src/extensions.ts and not in it, because that
 * is part of every program, and what a hook loads must not lead to a command.
 */
import type { Command } from 'commander';
import type { Inbox, InboxOptions } from '../adapters/door.ts';
import type { Hive } from '../application/hive.ts';

/** Adds arguments, options and the action to a command. */
export type Define = (command: Command) => void | Promise<void>;

/** By heading and name: the line in `hive --help`, and the file that defines the command. */
export type Commands = Readonly<
  Record<string, Readonly<Record<string, readonly [summary: string, load: () => Promise<Define>]>>>
>;

export const EXTENSION_COMMANDS: Commands = {
  'Agents:': {
    attach: [
      'Show the questions of an opencode server in Hive, too',
      async () => (await import('../extensions/editors/opencode/command.ts')).defineAttach,
    ],
  },
  'Started by other programs:': {
    acp: [
      "Run an editor's ACP agent, and show its questions in Hive, too",
      async () => (await import('../extensions/editors/acp/command.ts')).defineAcp,
    ],
  },
};

/** Serves the inbox, with the notifications of phones. @throws HiveError `invalid_input` where the page was not built. */
export async function startInbox(hive: Hive, options: InboxOptions): Promise<Inbox> {
  return (await import('../extensions/inbox/serving.ts')).startInbox(hive, options);
}
