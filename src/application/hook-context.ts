/**
 * The context of hooks: their environment, hooks over a connection or for another machine, and the arguments of a hook handler.
 */

import type { EditTools } from '../domain/edits.ts';
import type { HookClient, HookEvent, Verdict, Waited } from '../domain/hooks.ts';
import type { Raw } from '../domain/json.ts';
import type { Place } from '../domain/places.ts';
import type { Preferences } from '../domain/preferences.ts';
import type { RunStart } from '../domain/runs.ts';
import type { Seat } from '../domain/seats.ts';
import type { Session } from '../domain/sessions.ts';
import type { Environment } from '../domain/sources.ts';
import type { TranscriptCalls } from '../domain/transcripts.ts';
import type { Trust } from '../domain/trust.ts';
import type { Store, WriteTx } from './ports.ts';
import type { Ids, Logger, Processes, ProjectContext } from './world.ts';

/** The environment of a hook, with the functions that it can use. */
export interface HookSurroundings {
  env: Environment;
  machine: string;
  /** The hook's own process; the client is one of its ancestors. */
  pid: number;
  /** The processes above the hook, nearest first, where they are known already. */
  above?: readonly number[];
  findProject: () => ProjectContext;
  /** The last `bytes` of a file, or null if it cannot be read. */
  readTail: (path: string, bytes: number) => string | null;
  /** The client's own title, which another machine has read in its files; missing if they do not contain it. */
  client_title?: string | null;
  /**
   * Runs work that may take long: the time limit for an unavailable store does not apply to a hook that waits for the human, or
   * that has waited and has an answer to give. The signal aborts when the client stops waiting.
   */
  withoutTimeLimit?: <T>(work: (signal?: AbortSignal) => Promise<T>) => Promise<T>;
  /** Whether this process lives on, so that a hook with an empty verdict is answered first and recorded afterwards. */
  answers_first?: boolean;
  /** The seat whose preferences apply; without a seat, the defaults. */
  seat?: string;
  /** Reads the human's file and the place for its rules; only the few events that need them call it. */
  human?: (cwd: string) => Promise<{ trust: Trust; place: Place }>;
  /** The seats whose answers may allow something; default: those in the human's file. */
  seats?: () => readonly Seat[];
  /** The version of the connected client; null or missing where only its transcript names it. */
  client_version?: () => string | null;
  /** Compares an edit with the files of a tool that works in `cwd`; only the few events that edit files call it. */
  editTools?: (cwd: string) => Promise<EditTools>;
  /** Whether the Codex daemon of this machine hosts a thread, so that a desk can answer a dialog while the terminal shows it. */
  codexHosts?: (thread_id: string) => Promise<boolean>;
  /** The items of the last turn of such a thread; none of any other. */
  codexItems?: (thread_id: string) => Promise<readonly Raw[]>;
}

/** An event for the `hive serve` of another machine. `signal`: the client cancels it. */
export interface SentHook {
  /** The event as the client wrote it. */
  text: string;
  client: HookClient | null;
  env: Environment;
  cwd: string;
  signal?: AbortSignal;
}

/** The reply of the other machine. */
export interface RemoteReply {
  stdout: string;
  /** Reports that it was printed. */
  printed(): Promise<void>;
}

/**
 * Hooks whose `--url` names the `hive serve` of another machine. `args` are those of `hive hook`. @throws Error if they are
 * invalid or the machine refuses.
 */
export interface OtherMachine {
  /** `onWait` is called when the other side has accepted the event and waits for the human. */
  send(args: readonly string[], hook: SentHook, onWait: () => void): Promise<RemoteReply>;
  /** Waits for the sentence that wakes this session; null if nothing will. */
  awaitWake(args: readonly string[], event: unknown, signal: AbortSignal): Promise<string | null>;
}

/**
 * Loads the handler for an event of a run's agent (extensions/runs), which replaces the dialog handler. `own`: the start that
 * the agent belongs to.
 */
export type LoadRunHandler = (
  event: HookEvent,
  surroundings: HookSurroundings,
  own: RunStart,
) => Promise<HookHandler>;

/** A hook event that comes over a connection instead of starting a process. */
export interface HookCall {
  /** The fields of the event, as the client wrote them. */
  args: Readonly<Record<string, unknown>>;
  /** Codex: the agent of the event; a subagent's own id. */
  thread_id: string | null;
}

/**
 * Handles such an event and resolves to the hook output for the client. `signal` is aborted when the client cancels the call.
 * Never rejects: a hook that fails lets the tool run, unless HIVE_GATE_FAIL is `closed`. It is made by `createConnectionHook`
 * (adapters/hooks/connection-hook.ts) and called by `hookRoute` (adapters/mcp/stdio.ts).
 */
export type ConnectionHook = (call: HookCall, signal: AbortSignal) => Promise<string>;

/** The arguments of a handler for one event. */
export interface HookContext {
  tx: WriteTx;
  store: Pick<Store, 'store_id' | 'name'>;
  event: HookEvent;
  session: Session;
  surroundings: HookSurroundings;
  ids: Ids;
  processes: Processes;
  log: Logger;
  /** The verdict of the earlier handlers. */
  verdict: Verdict;
  /** The calls in the end of the transcript; missing unless they are needed (`withCalls`). */
  calls?: TranscriptCalls | undefined;
  /** The wait that this event has already had, so that it does not wait again; null if none. */
  waited: Waited | null;
  /** The preferences of the hook's seat, read once per event, for the first handler that needs them. */
  preferences: () => Promise<Preferences>;
}

export type HookHandler = (context: HookContext) => Promise<Partial<Verdict> | null>;
