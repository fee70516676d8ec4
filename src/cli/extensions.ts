/**
 * The commands of extensions, and their parts of commands of the core. They are not in src/extensions.ts, because that file
 * is part of every program, and what a hook loads must not import a command.
 */
import type { Command } from 'commander';
import type { EmacsExtension } from '../adapters/emacs/method.ts';
import type { StartInbox } from '../adapters/inbox.ts';
import type { ServeMcp } from '../adapters/mcp/over-http.ts';
import type { Hive } from '../application/hive.ts';
import type { Device } from '../domain/devices.ts';
import type { RemoteMcpOptions } from '../extensions/serve/mcp.ts';

/** Adds arguments, options and the action to a command. */
export type Define = (command: Command) => void | Promise<void>;

/** By heading and name: the line in `hive --help`, and the file that defines the command. */
export type Commands = Readonly<
  Record<string, Readonly<Record<string, readonly [summary: string, load: () => Promise<Define>]>>>
>;

export const EXTENSION_COMMANDS: Commands = {
  'Agents:': {
    run: [
      'Run a headless agent that ends while it waits for you',
      async () => (await import('../extensions/runs/command.ts')).defineRun,
    ],
    runs: [
      'List the active and sleeping runs, or stop one',
      async () => (await import('../extensions/runs/command.ts')).defineRuns,
    ],
    attach: [
      'Show the questions of an opencode server in Hive, too',
      async () => (await import('../extensions/editors/opencode/command.ts')).defineAttach,
    ],
  },
  'Agents on other machines:': {
    serve: [
      'Serve agents on other machines over HTTP',
      async () => {
        const { defineServe } = await import('../extensions/serve/command.ts');
        return (command) => defineServe(command, { startInbox, resumeRuns });
      },
    ],
    phone: [
      'Pair, list and revoke phones, which show the inbox',
      async () => (await import('../extensions/inbox/command.ts')).definePhone,
    ],
    token: [
      'Make, show and revoke tokens for agents on other machines',
      async () => (await import('../extensions/serve/token.ts')).defineToken,
    ],
  },
  'Started by other programs:': {
    acp: [
      "Run an editor's ACP agent, and show its questions in Hive, too",
      async () => {
        const { defineAcp } = await import('../extensions/editors/acp/command.ts');
        return (command) => defineAcp(command, serveMcp);
      },
    ],
  },
};

/** The additions of extensions to the connection of an Emacs. */
export async function emacsExtensions(): Promise<readonly EmacsExtension[]> {
  const [{ agentsInEmacs }, { phonesInEmacs }] = await Promise.all([
    import('../extensions/editors/emacs.ts'),
    import('../extensions/inbox/emacs.ts'),
  ]);
  return [agentsInEmacs, phonesInEmacs];
}

/** Runs `hive mcp --url`. @throws HiveError `invalid_input`, `not_allowed`. */
export async function runRemoteMcp(url: string, options: RemoteMcpOptions): Promise<void> {
  await (await import('../extensions/serve/mcp.ts')).runRemoteMcp(url, options);
}

/** Serves agents on other machines from the sidecar of an Emacs; returns what ends it. @throws Error if it cannot. */
export async function serveBeside(
  hive: Hive,
  address: string,
  inbox: true | string | undefined,
): Promise<() => Promise<void>> {
  const { serveBeside } = await import('../extensions/serve/beside-emacs.ts');
  return serveBeside(hive, address, { inbox, startInbox });
}

/** The phone with this id or name. @throws HiveError `device_not_found`. */
export async function findPhone(hive: Hive, given: string): Promise<Device> {
  return (await import('../extensions/inbox/service.ts')).devicesOf(hive).find(given);
}

/** Resumes sleeping runs while this process lives. */
export async function resumeRuns(hive: Hive): Promise<void> {
  (await import('../extensions/runs/service.ts')).resumeRuns(hive);
}

/** Runs `hive mcp --deny`, which a run adds to its agent. */
export async function runDenying(): Promise<void> {
  await (await import('../extensions/runs/deny.ts')).runDenying();
}

const serveMcp: ServeMcp = async (hive, options) =>
  (await import('../extensions/serve/mcp-http.ts')).createMcpOverHttp(hive, options);

const startInbox: StartInbox = async (hive, options) =>
  (await import('../extensions/inbox/serving.ts')).startInbox(hive, options);
