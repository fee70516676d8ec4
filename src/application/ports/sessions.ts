/** Sessions, their connections, and the state that hooks keep between two events. */
import type { Waker } from '../../domain/hooks.ts';
import type { GateRecord } from '../../domain/mention-gate.ts';
import type { KnownHandle, Session } from '../../domain/sessions.ts';
import type { Prunable, PrunableReads } from './records.ts';

/** A live `hive mcp` (or one session of `hive serve`): through it a session can call our tools. */
export interface Connection {
  connection_id: string;
  machine: string;
  pid: number;
  /** The client that started it; equals `CLAUDE_PID` of the hooks. */
  parent_pid: number | null;
  /** The last session that called through it. */
  session_id: string | null;
  opened_at: string;
}

export interface SessionReads extends PrunableReads {
  get(session_id: string): Promise<Session | undefined>;
  byHandle(handle: string): Promise<Session | undefined>;
  /** Every handle, the most recently active session first. */
  handles(): Promise<KnownHandle[]>;
  /** The living session whose client is this process; subagents carry no pid. */
  byProcess(machine: string, pid: number): Promise<Session | undefined>;
  /** The living session that the hooks of this client process speak for. */
  hookedByProcess(machine: string, pid: number): Promise<Session | undefined>;
  list(filter: { state?: 'alive' | 'ended' | undefined; limit: number }): Promise<Session[]>;
  /** The last session that the hooks of a client process spoke for, ended or not: a new one of that process may continue it. */
  lastHookedOfProcess(machine: string, pid: number): Promise<Session | undefined>;
  /** The living sessions whose parent this is. */
  childrenOf(session_id: string): Promise<Session[]>;
  /** Whose call a `tool_use_id` is, according to its PreToolUse hook. */
  callerOf(tool_use_id: string): Promise<string | undefined>;
  connections(machine: string): Promise<Connection[]>;
  connection(connection_id: string): Promise<Connection | undefined>;
}

export interface SessionRecords extends SessionReads, Prunable {
  upsert(session: Session): Promise<void>;
  touch(session_id: string, now: string): Promise<void>;
  touchByHook(session_id: string, now: string): Promise<void>;
  /** Remembers whose call this is, until it arrives over MCP. */
  recordCaller(tool_use_id: string, session_id: string): Promise<void>;
  openConnection(connection: Connection): Promise<void>;
  /** Records who last called through a connection. */
  nameConnection(connection_id: string, session_id: string): Promise<void>;
  closeConnection(connection_id: string): Promise<void>;
}

/** The state of the mention gate. */
export interface GateReads {
  get(session_id: string): Promise<GateRecord | undefined>;
  /** The gates of blocked sessions, the longest blocked first. */
  held(): Promise<GateRecord[]>;
}

export interface GateRecords extends GateReads {
  put(record: GateRecord): Promise<void>;
}

/** Who waits to wake which session. */
export interface WakerReads {
  get(session_id: string): Promise<Waker | undefined>;
}

export interface WakerRecords extends WakerReads {
  /** A process that waited before stops waiting. */
  put(waker: Waker): Promise<void>;
}
