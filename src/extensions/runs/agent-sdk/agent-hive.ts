/**
 * Hive for a program that runs agents through the Claude Agent SDK: the state that the callbacks of one program share. They run
 * in the program itself, so the store is opened once and no process is started.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseEvent } from '../../../adapters/hooks/hook.ts';
import type { Hive } from '../../../application/hive.ts';
import type { HookSurroundings } from '../../../application/hook-context.ts';
import type { StopRequest } from '../../../application/interrupts.ts';
import type { HookEvent } from '../../../domain/hooks.ts';
import { thisSeat } from '../../../infrastructure/platform/paths.ts';
import { findProject } from '../../../infrastructure/platform/project.ts';
import { hookMachine, type OpenHiveOptions, openHive } from '../../../open-hive.ts';

/** The functions that get each event that the hooks of one `query` have handled. */
export type HookListeners = Set<(event: HookEvent) => void>;

/** The store, opened for the callbacks of one program, which passes it to them. The program itself needs only `close`. */
export interface AgentHive {
  /** The services of this package, as the command line uses them; they may change with any version. */
  readonly hive: Hive;
  /** The store that the program named itself, which its agents have to use, too; undefined for the one of their environment. */
  readonly store: string | undefined;
  /** True: a failing hook blocks what it guards (HIVE_GATE_FAIL). */
  readonly fails_closed: boolean;
  /** Fires when the program is done with its agents. */
  readonly closing: AbortSignal;
  /** Parses the input of an SDK hook. @throws HiveError `invalid_input`. */
  read(input: object): HookEvent;
  /** The surroundings of a hook of this program; `signal` fires when the SDK stops waiting for it. */
  surroundings(event: HookEvent, signal?: AbortSignal): HookSurroundings;
  /** The session, agent and directory of a tool call, as its PreToolUse reported them. */
  callerOf(tool_use_id: string | undefined): Caller | null;
  /** The listeners of the hooks that `hiveHooks` made last. */
  listeners: HookListeners;
  /** Adds work that `close` waits for. */
  track(work: Promise<void>): void;
  /** Waits for running work and closes the store; interrupts are no longer received. */
  close(): Promise<void>;
}

interface Caller {
  session_id: string;
  agent_id: string | null;
  cwd: string;
}

/** How many calls are remembered; an agent runs only a handful at a time. */
const CALLERS = 1_000;

/**
 * Opens the store for the callbacks of this program. Close it when the program is done with its agents.
 * @throws HiveError with a sentence that says what to do: `store_unsafe`, `store_foreign`, `store_too_new`, …
 */
export async function openAgentHive(options: OpenHiveOptions = {}): Promise<AgentHive> {
  const hive = await openHive(options);
  hive.startExpiry();
  const given = options.env ?? process.env;
  // As for the SDK's own hooks: nobody sits at a terminal of this agent. An agent that started this program may have
  // left variables of its own here.
  const env: Readonly<Record<string, string | undefined>> = {
    ...given,
    CLAUDE_CODE_ENTRYPOINT: 'sdk-ts',
    CLAUDE_CODE_SESSION_ATTENDED: '0',
    CLAUDE_PID: undefined,
  };
  const callers = new Map<string, Caller>();
  const working = new Set<Promise<void>>();
  const closing = new AbortController();
  let last: Caller | null = null;
  return {
    hive,
    store: options.store ?? options.env?.['HIVE_STORE'],
    closing: closing.signal,
    fails_closed: env['HIVE_GATE_FAIL'] === 'closed',
    read(input) {
      const event = parseEvent(JSON.stringify(input), env, 'claude-code');
      const { session_id, agent_id, tool, cwd } = event;
      last = { session_id, agent_id: null, cwd };
      if (event.name === 'PreToolUse' && tool?.use_id != null) {
        callers.set(tool.use_id, { session_id, agent_id, cwd });
        const [oldest] = callers.keys();
        if (callers.size > CALLERS && oldest !== undefined) callers.delete(oldest);
      }
      return event;
    },
    surroundings: (event, signal) => ({
      ...hookMachine(env),
      findProject: () => findProject(event.cwd),
      seat: thisSeat(),
      withoutTimeLimit: (work) => work(signal),
    }),
    callerOf: (tool_use_id) => callers.get(tool_use_id ?? '') ?? last,
    listeners: new Set(),
    track(work) {
      const tracked = work.finally(() => working.delete(tracked));
      working.add(tracked);
    },
    async close() {
      closing.abort();
      await Promise.all(working);
      await hive.close();
    },
  };
}

// ---- hiveServer ----
// Our tools for an agent of the SDK, as an entry of its `mcpServers`.

/** An entry of `mcpServers`, in the SDK's form. */
export interface ServerEntry {
  /** The server is a process. */
  type: 'stdio';
  /** The path of this Node. */
  command: string;
  /** The program `hive` of this package, and `mcp`. */
  args: string[];
  /** Additional variables for its process. */
  env?: Record<string, string>;
}

/**
 * An entry for the `hive mcp` of this package, with the store of `hive`. `env` has additional variables for its process. The SDK
 * writes them into the agent's command line, which others on the machine can read: if the store's address has a password, leave
 * it out of `openAgentHive` and set `HIVE_STORE` in the environment of this program.
 */
export function hiveServer(
  { store }: Pick<AgentHive, 'store'>,
  env: Record<string, string> = {},
): ServerEntry {
  const variables = store === undefined ? env : { HIVE_STORE: store, ...env };
  return {
    type: 'stdio',
    command: process.execPath,
    args: [program(), 'mcp'],
    ...(Object.keys(variables).length === 0 ? {} : { env: variables }),
  };
}

/** The path of bin/hive, which is next to `dist/`, from any file in it. */
export function program(): string {
  for (let folder = import.meta.dirname; folder !== join(folder, '..'); folder = join(folder, '..')) {
    const found = join(folder, 'bin/hive');
    if (existsSync(found)) return found;
  }
  throw new Error('The program bin/hive of this package is missing: install the package again.');
}

// ---- onInterrupt ----
// An interrupt stops a `query` of the SDK at once, instead of with its next hook.

/** The part of an SDK `query` that we use. */
export interface Interruptible {
  /** Stops the query. */
  interrupt(): Promise<unknown>;
}

/**
 * Calls `query.interrupt()` when somebody wants a turn of this query's agent stopped, and ends the turn, because the SDK fires
 * no Stop hook then. It follows the turns that the last `hiveHooks` before this call reports: call `hiveHooks` once for each
 * query. If queries share their hooks, it is unknown which query a turn belongs to: it stops with its next hook. The SDK
 * accepts interrupts only for a query whose prompt is a stream of messages. Returns a function that stops listening.
 */
export function onInterrupt(
  hive: AgentHive,
  query: Interruptible,
  callback: (request: StopRequest) => void = () => undefined,
): () => void {
  const { turns, interrupts, log } = hive.hive;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, hive.closing]);
  const watched = new Set<string>();
  const { listeners } = hive;

  async function watch(session_id: string): Promise<void> {
    const turn = await turns.current(session_id);
    if (turn === undefined || watched.has(turn.turn_id)) return;
    watched.add(turn.turn_id);
    const request = await interrupts
      .untilInterrupted(turn.turn_id, signal)
      .finally(() => watched.delete(turn.turn_id));
    if (request === null) return;
    // Called first: the interrupt ends the query, and perhaps its program.
    callback(request);
    await query.interrupt();
    await turns.end(turn.turn_id, { aborted: 'interrupted' });
  }

  const listener = ({ name, session_id, agent_id }: HookEvent): void => {
    if (agent_id !== null || (name !== 'UserPromptSubmit' && name !== 'PreToolUse')) return;
    if (listeners.size > 1) return;
    const watching = watch(session_id).catch((error: unknown) =>
      log.error('An interrupt did not reach its query.', { error: String(error) }),
    );
    hive.track(watching);
  };
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    stop.abort();
  };
}
