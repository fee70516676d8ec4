/** `hive mcp`: MCP on stdio, started by an agent. It works without a running Emacs: prompts wait in the store. */
import { hostname } from 'node:os';
import { type Command, Option } from 'commander';
import { createConnectionHook } from '../adapters/hooks/connection-hook.ts';
import { announce, createMcpServer, createRefusingServer } from '../adapters/mcp/server.ts';
import { openStdio, type StdioConnection } from '../adapters/mcp/stdio.ts';
import type { Hive } from '../application/hive.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { explainHandle } from '../domain/names.ts';
import { hostOf, type Session } from '../domain/sessions.ts';
import { cleanText } from '../domain/text.ts';
import type { Role } from '../domain/tokens.ts';
import { randomIds } from '../infrastructure/platform/ids.ts';
import { humanName, thisSeat } from '../infrastructure/platform/paths.ts';
import { findProject } from '../infrastructure/platform/project.ts';
import { hookMachine, openHive } from '../open-hive.ts';
import { exitCodeOfError } from './exit-codes.ts';
import { runDenying, runRemoteMcp } from './extensions.ts';
import { parseDuration } from './output.ts';
import { endSoon, untilAbandoned } from './program.ts';

export function defineMcp(command: Command): void {
  command
    .addOption(
      new Option('--role <role>', 'what the agent may do; default: agent').choices(['agent', 'coordinator']),
    )
    .option('--tool-timeout <duration>', 'how long the client lets a call run')
    .option('--url <url>', 'the hive serve of another machine, instead of a store')
    .option('--token-file <file>', 'the file that holds the token')
    .option('--insecure', 'send the token over plain http to another machine')
    .addOption(new Option('--deny', 'the server that hive run adds to Claude Code').hideHelp())
    .action(async ({ url, deny, ...options }: McpOptions) => {
      if (deny === true) return runDenying();
      if (url !== undefined) return runRemoteMcp(url, options);
      if (options.tokenFile !== undefined || options.insecure === true)
        throw invalidInput(
          '--token-file and --insecure are for a server that --url names. Nothing was started.',
        );
      return runMcp({
        role: options.role ?? 'agent',
        tool_timeout_ms: options.toolTimeout === undefined ? null : parseDuration(options.toolTimeout),
      });
    });
}

/** Only its help: `bin/hive` starts the hook itself, from a bundle of its own (hook.ts). */
export function defineHook(command: Command): void {
  command
    .addOption(
      new Option('--client <client>', 'the agent whose event it is').choices(['claude-code', 'codex']),
    )
    .option('--wake', 'wait alongside the idle session, and wake it')
    .option('--url <url>', 'the hive serve of another machine, instead of a store')
    .option('--token-file <file>', 'the file that holds the token')
    .option('--insecure', 'send the token over plain http to another machine');
}

interface McpOptions {
  role?: Role;
  toolTimeout?: string;
  url?: string;
  tokenFile?: string;
  insecure?: boolean;
  deny?: boolean;
}

async function runMcp({
  role,
  tool_timeout_ms,
}: {
  role: Role;
  tool_timeout_ms: number | null;
}): Promise<void> {
  const stop = untilAbandoned();
  // A copy: each read of `process.env` asks the system, and each call reads it ten times.
  const env = { ...process.env };
  const wire = openStdio(process.stdin, process.stdout, stop);
  const hive = await openHive().catch((error: unknown) => openLater(error, role, wire));
  hive.startExpiry();
  const waker = hive.startCodexWaker({ seat: thisSeat() });
  const noteName = nameNote(env['HIVE_AGENT']);
  try {
    const connection = {
      env,
      connection_id: randomIds.make('connection'),
      tool_timeout_ms,
      project: findProject(env['CLAUDE_PROJECT_DIR'] ?? process.cwd()),
      machine: hostname(),
      parent_pid: process.ppid,
      trusts_meta: true,
      stopping: stop,
      onClient: waker.onClient,
      onCaller: (session: Session) => {
        waker.onSession(session);
        noteName(session);
      },
    };
    const { connection_id, machine, parent_pid } = connection;
    await announce(hive, { connection_id, machine, parent_pid });
    const stopPopups = hive.startPopups({
      seat: thisSeat(),
      human: humanName(env),
      name: connection_id,
      desk_id: null,
      open: null,
    });
    const server = createMcpServer(hive, connection, role);
    const onHook = createConnectionHook(hive, {
      ...hookMachine(env),
      seat: thisSeat(),
      findProject,
      client_version() {
        const { name, version = null } = server.server.getClientVersion() ?? {};
        return name === 'claude-code' ? version : null;
      },
    });
    await wire.serve(server, onHook);
    endSoon();
    waker.close();
    await stopPopups();
    await hive.callers.closeConnections([connection_id]).catch(() => undefined);
  } finally {
    await hive.close();
  }
  process.exit(0);
}

/** Explains once, in the client's log, why a session has another name than the one its person gave it. */
function nameNote(name: string | undefined): (session: Session) => void {
  let isDone = name === undefined || name === '';
  return (session) => {
    if (isDone || hostOf(session) !== session.session_id) return;
    isDone = true;
    const note = explainHandle(cleanText(name ?? ''), session.handle);
    if (note !== null) process.stderr.write(`hive mcp: ${note}\n`);
  };
}

/**
 * A store that cannot be opened now may be available later, when the agent calls: once a server is up, a disk has space again, or
 * the human has closed a folder to others. Until then the agent's tools report the problem.
 */
async function openLater(error: unknown, role: Role, wire: StdioConnection): Promise<Hive> {
  if (!(error instanceof HiveError)) throw error;
  process.stderr.write(`hive mcp: ${error.message}\n`);
  let opening: Promise<Hive> | null = null;
  const opened = new Promise<Hive>((resolve) => {
    const open = async (): Promise<HiveError | null> => {
      opening ??= openHive();
      try {
        resolve(await opening);
        return null;
      } catch (again) {
        opening = null;
        if (again instanceof HiveError) return again;
        throw again;
      }
    };
    void wire.serve(createRefusingServer(role, open));
  });
  return Promise.race([opened, wire.ended.then(() => process.exit(exitCodeOfError(error)))]);
}
