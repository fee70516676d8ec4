/**
 * The store as the application needs it, as plain interfaces: `infrastructure/store/` implements them, and nothing here
 * knows of SQL. Reads are separate from records, which write. What else the application needs is in world.ts.
 */
import type { Delivery } from '../domain/delivery.ts';
import type { Device, Pairing } from '../domain/devices.ts';
import type { HiveEvent, NewEvent } from '../domain/events.ts';
import type { HistoryEntry } from '../domain/history.ts';
import type { Desk, Human, Team } from '../domain/humans.ts';
import type { Interrupt } from '../domain/interrupts.ts';
import type { Loop, Pair } from '../domain/loops.ts';
import type { GateRecord } from '../domain/mention-gate.ts';
import type {
  Mention,
  MentionInFull,
  MentionStatus,
  MentionSummary,
  UnprocessedCount,
} from '../domain/mentions.ts';
import type { Message } from '../domain/messages.ts';
import type { KnownHandle } from '../domain/names.ts';
import type { Outreach, OutreachKind } from '../domain/outreach.ts';
import type { PopupKind, Storm } from '../domain/popups.ts';
import type { AnswerOutcome, Prompt, PromptAnswer, PromptStatus, Urgency } from '../domain/prompts.ts';
import type { Bucket } from '../domain/rates.ts';
import type { RoomNews } from '../domain/room.ts';
import type { PastPermission } from '../domain/rules.ts';
import type { Run } from '../domain/runs.ts';
import type { Session } from '../domain/sessions.ts';
import type { CountedPrompt } from '../domain/stats.ts';
import type { StopGuardRecord } from '../domain/stop-guard.ts';
import type { Token } from '../domain/tokens.ts';
import type { Turn } from '../domain/turns.ts';
import type { Waker } from '../domain/wakes.ts';

/** The only access to stored data. */
export interface Store {
  /** Never changes. An answer that names another store's id is refused. */
  readonly store_id: string;
  /**
   * The address with which it was opened, without user and password. It identifies the store for the human, whatever its
   * content.
   */
  readonly name: string;
  /**
   * Runs `work` as one durable transaction: when the promise resolves, everything is on disk (invariant 1).
   * Writes of one process queue; `work` awaits nothing but its own statements and decides by `tx.now`.
   * @throws HiveError `store_busy` if nobody in the queue got the lock for 5 s, `store_full`, `store_unavailable`.
   */
  write<T>(work: (tx: WriteTx) => Promise<T>): Promise<T>;
  /**
   * A write that acknowledges nothing: a receipt (invariant 6). It is visible to all and survives the death of any
   * process like any other write, but it does not wait for the disk if the engine allows that. If the machine loses power,
   * it may be lost, and what was handed over is handed over again. `acknowledges` is called after the commit. If it returns true
   * (`announced`: an event was appended), the write acknowledges something after all and waits for the disk before it resolves.
   */
  writeUnflushed<T>(
    work: (tx: WriteTx) => Promise<T>,
    acknowledges?: (result: T, announced: boolean) => boolean,
  ): Promise<T>;
  /** Runs `work` on one consistent snapshot, without waiting for a writer; `work` awaits nothing but its own statements. */
  read<T>(work: (tx: ReadTx) => Promise<T>): Promise<T>;
  /** Calls `listener` when something may have changed, here or in another process: a hint without data. */
  watch(listener: () => void): () => void;
  close(): Promise<void>;
  /**
   * For a process that has handled one event and is about to end. Closes the store only if that is due, and otherwise leaves it
   * as a kill would. With SQLite, the last process to close copies the log into the file and waits for the disk. Without that,
   * the log would grow, and the next process to open the store would have to read it back.
   */
  leave(): Promise<void>;
}

/** The records of each capability: as a read sees them, and as a write does. */
interface Capabilities {
  prompts: [PromptReads, PromptRecords];
  sessions: [SessionReads, SessionRecords];
  turns: [TurnReads, TurnRecords];
  messages: [MessageReads, MessageRecords];
  mentions: [MentionReads, MentionRecords];
  loops: [LoopReads, LoopRecords];
  gates: [GateReads, GateRecords];
  tokens: [TokenReads, TokenRecords];
  devices: [DeviceReads, DeviceRecords];
  runs: [RunReads, RunRecords];
  rules: [RuleReads, RuleReads];
  stats: [StatsReads, StatsReads];
  history: [HistoryReads, HistoryReads];
  retention: [RetentionReads, RetentionRecords];
  outreach: [OutreachReads, OutreachRecords];
  deliveries: [DeliveryReads, DeliveryRecords];
  hookOutputs: [HookOutputReads, HookOutputRecords];
  wakers: [WakerReads, WakerRecords];
  desks: [DeskReads, DeskRecords];
  humans: [HumanReads, HumanRecords];
  claims: [ClaimReads, ClaimRecords];
  waits: [WaitReads, WaitRecords];
  popups: [PopupReads, PopupRecords];
  events: [EventReads, EventRecords];
}

/** The store's clock at the beginning of the transaction, and the records. */
interface Tx {
  readonly now: string;
}

export type ReadTx = Tx & { readonly [Name in keyof Capabilities]: Capabilities[Name][0] };
export type WriteTx = Tx & { readonly [Name in keyof Capabilities]: Capabilities[Name][1] };

// ---- Lists ----
// Shared by all kinds of records.

/** One page of a list, in its order. */
export interface Page<T> {
  /** In the order of the list. */
  items: T[];
  /** Where the next page begins, opaque to callers; null at the end. */
  next_cursor: string | null;
}

/** A page of a list that is read to its end. */
export interface PageAfter<Item, After> {
  items: Item[];
  /** The `after` of the next page; null at the end. */
  next: After | null;
}

export interface DoctoredReads {
  /** The names of damaged records, which do not read as they were written. Lists leave them out. `after` is a key; '' at first. */
  damaged(after: string): Promise<PageAfter<string, string>>;
}

/** A time at which something is due, by itself, in records of one kind. */
export interface Deadlines<T> {
  /** Those that are due by `now`. */
  due(now: string, limit: number): Promise<T[]>;
  /** When the next one is due, which may be in the past; null if none is. */
  next(): Promise<string | null>;
}

/** The position of a prompt in the order of asking. */
export interface AskedAt {
  at: string;
  ask_id: string;
}

/** A page in this order, without damaged records. */
export type AskedPage<T> = PageAfter<T, AskedAt>;

// ---- Prompts ----
// Prompts, their answers, and their claims.

/** Which prompts a list shows. `late`: those with a late answer. `waiting`: the pending ones that are not snoozed. */
export interface PromptFilter {
  /** Missing: any. */
  status?: PromptStatus | 'late' | 'waiting' | undefined;
  /** The session that asked. */
  session_id?: string | undefined;
  /** The asker's handle. */
  agent?: string | undefined;
  /** The project's short name. */
  project?: string | undefined;
  /** `question` or `permission`. */
  kind?: string | undefined;
  /** Addressed to this human or team. */
  to?: string | undefined;
  /** Words in the header, question, context or answer, or in the names of agent and project. */
  query?: string | undefined;
  /** The maximum number per page. */
  limit: number;
  /** The `next_cursor` of the previous page. */
  cursor?: string | null | undefined;
}

export interface StoredResponse extends PromptAnswer {
  ask_id: string;
  outcome: AnswerOutcome | 'amendment';
  /** The signature of the seat where it was given (seats.ts); null if it allows nothing. */
  signature: string | null;
}

export interface PromptReads extends DoctoredReads {
  /** For callers that ask for this very prompt. @throws HiveError `store_foreign` if it is damaged. */
  get(ask_id: string): Promise<Prompt | undefined>;
  /** The same for work that can go on without it: undefined if it is damaged. */
  intact(ask_id: string): Promise<Prompt | undefined>;
  /**
   * The prompt that this session asked under this key. A subagent's prompts move to its parent, which may have used the same
   * key for another question. Then this is the one with this fingerprint, else the oldest.
   */
  byKey(
    session_id: string,
    idempotency_key: string,
    fingerprint?: string | null,
  ): Promise<Prompt | undefined>;
  list(filter: PromptFilter): Promise<Page<Prompt>>;
  count(filter: Omit<PromptFilter, 'limit' | 'cursor'>): Promise<number>;
  countByUrgency(): Promise<Record<Urgency, number>>;
  /** The caller's own prompts: settled but not collected, then pending, oldest first. */
  openOf(session_id: string, limit: number): Promise<Prompt[]>;
  /** Only the settled prompts among those, including late answers. */
  uncollectedOf(session_id: string, limit: number): Promise<Prompt[]>;
  /** The total number of open prompts. */
  countOpenOf(session_id: string): Promise<{ settled: number; pending: number }>;
  /**
   * How many prompts of a session and its subagents (`ID:…`), or of a token's sessions, are pending. Counts no further than
   * `most`.
   */
  countPendingUnder(id: string, most: number): Promise<number>;
  /** The ids of damaged pending prompts. Lists leave them out. */
  damagedPending(): Promise<string[]>;
  /** Pending prompts that were asked in this turn. */
  pendingOfTurn(turn_id: string): Promise<Prompt[]>;
  /** Pending prompts: when they expire, are escalated, and when the human is to be warned that they expire. */
  expiries: Deadlines<Prompt>;
  escalations: Deadlines<Prompt>;
  warnings: Deadlines<Prompt>;
  response(response_id: string): Promise<StoredResponse | undefined>;
}

export interface PromptRecords extends PromptReads {
  insert(prompt: Prompt): Promise<void>;
  /** Compare-and-set from `pending`; an answer also requires that the prompt has not expired. False: another was first. */
  settle(prompt: Prompt, now: string): Promise<boolean>;
  /** False if it is settled or was already escalated. */
  escalate(prompt: Prompt): Promise<boolean>;
  /** Writes the fields that may change, apart from the status and those that have a method of their own here. */
  update(prompt: Prompt): Promise<void>;
  addResponse(response: StoredResponse): Promise<void>;
  /** Writes since when it blocks its agent, which changes its place in lists. */
  setBlocked(prompt: Prompt): Promise<void>;
  /** Writes since when only its terminal can answer it. */
  setTerminal(prompt: Prompt): Promise<void>;
  /** Records that the human was warned; false if they already were. */
  warned(ask_id: string): Promise<boolean>;
  /** Removes a damaged prompt from the pending ones, and leaves the rest of it as it is. */
  setAside(ask_id: string): Promise<void>;
  /**
   * Marks the pending prompts of a session as orphaned, unless its run sleeps, or as not orphaned; returns those that changed.
   */
  setOrphaned(session_id: string, orphaned: boolean): Promise<string[]>;
  /** Moves the open prompts of a session to the one that continues it; returns those that moved. */
  move(from: string, to: { session_id: string; handle: string }): Promise<string[]>;
}

/** The claims: which desk holds which prompt. */
export interface ClaimReads {
  /** The desk that holds it, while that desk is alive. */
  holder(ask_id: string, now: string): Promise<string | null>;
  /** The prompts that a desk holds. */
  ofDesk(desk_id: string): Promise<string[]>;
  /** The prompts held by desks, by the lease of the desk. */
  lapses: Deadlines<string>;
}

export interface ClaimRecords extends ClaimReads {
  put(ask_id: string, desk_id: string): Promise<void>;
  remove(ask_id: string): Promise<void>;
}

// ---- Waits ----
// Sessions that do nothing until a question is settled (waits.ts).

/** One wait for one question. */
export interface Wait {
  ask_id: string;
  /** Made for the wait of one process, `hook-PID-…` for that of a hook; `dialog` for a client's dialog; the id of a run that sleeps. */
  wait_id: string;
  /** The wait counts until this time, unless it is renewed. */
  lease_until: string;
}

export interface WaitReads {
  /** Whether anybody waits for it at `now`. */
  isWaited(ask_id: string, now: string): Promise<boolean>;
  /** The questions that have a wait, by its lease. */
  lapses: Deadlines<string>;
  /** The waits of hooks whose dialogs are also in a terminal. */
  ofHooks(): Promise<Pick<Wait, 'ask_id' | 'wait_id'>[]>;
}

export interface WaitRecords extends WaitReads {
  /** Begins a wait, or renews its lease. */
  put(wait: Wait): Promise<void>;
  /** Removes the waits for a question that have ended by `now`; returns their `wait_id`. */
  removeLapsed(ask_id: string, now: string): Promise<string[]>;
  /** Removes one wait; returns its questions. */
  end(wait_id: string): Promise<string[]>;
  /** Removes every wait for a question except that of a run, which outlives the session of its agent. */
  endOfSession(ask_id: string): Promise<void>;
  /** Removes every wait for a question. */
  remove(ask_id: string): Promise<void>;
}

// ---- Deliveries ----
// Deliveries to agents with their receipts, and the hooks that are about to print some of them.

/** Prompts, mentions and reports are read together with their own receipts; this reads the rest. */
export interface DeliveryReads {
  get(subject: string): Promise<Delivery | undefined>;
  /** Deliveries that this carrier handed over by this time, inclusive, and that are not yet proved to be read. */
  carriedBy(carrier: string, handed_until: string): Promise<Delivery[]>;
  /** The records of one kind that a session has yet to read. */
  openOf(recipient: string, kind: Delivery['kind'], limit: number): Promise<Delivery[]>;
}

export interface DeliveryRecords extends DeliveryReads {
  /** Replaces an earlier delivery of the same subject. */
  put(delivery: Delivery): Promise<void>;
  /** Marks deliveries of this carrier that are not proved to be read as lost, so that they are handed over again. */
  markLost(carrier: string): Promise<void>;
  /**
   * Moves the unread prompts, reports and expiries of a session to another one, and marks as lost those that `carrier` handed
   * over.
   */
  move(from: string, to: string, carrier: string): Promise<void>;
}

/** A hook of a session that has handed something over and is about to print it. */
export interface HookOutput {
  output_id: string;
  session_id: string;
  at: string;
}

export interface HookOutputReads {
  of(session_id: string): Promise<HookOutput[]>;
}

export interface HookOutputRecords extends HookOutputReads {
  insert(output: HookOutput): Promise<void>;
  /** Removes an output, only if the id of its session begins with `ids`. */
  remove(output_id: string, ids?: string): Promise<void>;
}

// ---- Popups ----
// Popups: which process of a seat holds the lease of each, and the storm that some of them are part of.

/** `leased`: the process that leased it has yet to show it. */
export type PopupOutcome = 'leased' | 'sent' | 'suppressed' | 'failed';

/** The popups of one kind at one seat: what a storm is counted over. */
export interface PopupScope {
  seat: string;
  kind: PopupKind;
}

/** The row of a lease. */
export interface PopupLease extends PopupScope {
  /** The id of the popup's subject. */
  subject: string;
  /** The process that holds the lease: a desk, or a connection of an agent. */
  held_by: string;
}

export interface PopupReads {
  /** The state of a popup; undefined if no process holds its lease. */
  outcome(subject: string, seat: string): Promise<PopupOutcome | undefined>;
  /** The latest storm, however long ago; null if there was none. */
  storm(scope: PopupScope): Promise<Storm | null>;
  /** The unsettled subjects of a storm's popup, in the order of their leases. */
  inStorm(scope: PopupScope, storm: Storm): Promise<{ subject: string; outcome: PopupOutcome }[]>;
  /** Whether any subject of a storm is unsettled. */
  isStormOpen(scope: PopupScope, storm: Storm): Promise<boolean>;
  /** How many leases were taken after that time and not suppressed; `first` is the time of the oldest. */
  recent(scope: PopupScope, after: string): Promise<{ count: number; first: string | null }>;
}

export interface PopupRecords extends PopupReads {
  /** Takes the lease of a popup at a seat; false if another process has it already. */
  lease(lease: PopupLease, now: string): Promise<boolean>;
  /** Takes over a lease that was taken before that time and whose popup was never shown; false if there is none. */
  takeOver(lease: PopupLease, now: string, before: string): Promise<boolean>;
  /** Records on a lease that it was taken in a storm. */
  joinStorm(subject: string, seat: string, since: string): Promise<void>;
  /** Records the outcome of a leased popup; false when it is already recorded. */
  settle(
    subject: string,
    seat: string,
    outcome: Exclude<PopupOutcome, 'leased'>,
    reason: string | null,
  ): Promise<boolean>;
}

// ---- Sessions ----
// Sessions, their connections, and the state that hooks keep between two events.

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

export interface SessionReads extends DoctoredReads {
  get(session_id: string): Promise<Session | undefined>;
  byHandle(handle: string): Promise<Session | undefined>;
  /** Every handle, the most recently active session first. */
  handles(): Promise<KnownHandle[]>;
  /** The names of the living sessions. */
  titles(): Promise<Pick<Session, 'session_id' | 'handle' | 'title' | 'name'>[]>;
  /** The living session whose client is this process; subagents carry no pid. */
  byProcess(machine: string, pid: number): Promise<Session | undefined>;
  /** The living session that the hooks of this client process speak for. */
  hookedByProcess(machine: string, pid: number): Promise<Session | undefined>;
  list(filter: { state?: 'alive' | 'ended' | undefined; limit: number }): Promise<Session[]>;
  /**
   * The last session that the hooks of a client process spoke for, ended or not. A new session of that process may continue it.
   */
  lastHookedOfProcess(machine: string, pid: number): Promise<Session | undefined>;
  /** The most recently active main session of a project, other than `except`: the default reader of reports. */
  lastMainOf(project_dir: string, except: string): Promise<Session | undefined>;
  /** The living sessions whose parent this is. */
  childrenOf(session_id: string): Promise<Session[]>;
  /** The session of a `tool_use_id`, according to its PreToolUse hook. */
  callerOf(tool_use_id: string): Promise<string | undefined>;
  /** The sessions that served this conversation of an editor's agent (`nameConversation`). */
  ofConversation(machine: string, conversation: string): Promise<Session[]>;
  connections(machine: string): Promise<Connection[]>;
  connection(connection_id: string): Promise<Connection | undefined>;
}

export interface SessionRecords extends SessionReads {
  upsert(session: Session): Promise<void>;
  touch(session_id: string, now: string): Promise<void>;
  touchByHook(session_id: string, now: string): Promise<void>;
  /** The author of a message and those it mentions take part in the room from this message on. */
  joinRoom(message: Pick<Message, 'message_id' | 'seq' | 'session_id'>): Promise<void>;
  /** A session takes part in the room from now on. */
  beginRoom(session_id: string): Promise<void>;
  /** Marks the sessions whose next hook will announce this message. */
  markRoom(message: Pick<Message, 'message_id' | 'project_dir' | 'session_id' | 'scope'>): Promise<void>;
  /** Marks one session, so that its next hook announces news of the room. */
  flagRoom(session_id: string): Promise<void>;
  /** Removes that mark, because a hook announces the news now. */
  noticeRoom(session_id: string): Promise<void>;
  /** A session that takes part has read the room up to this message. */
  readRoom(session_id: string, seq: number): Promise<void>;
  /** Records which conversation of an editor's agent a session serves. */
  nameConversation(session_id: string, conversation: string): Promise<void>;
  /** Records the session of this call, until the call arrives over MCP. */
  recordCaller(tool_use_id: string, session_id: string): Promise<void>;
  openConnection(connection: Connection): Promise<void>;
  /** Records who last called through a connection. */
  nameConnection(connection_id: string, session_id: string): Promise<void>;
  closeConnection(connection_id: string): Promise<void>;
}

/** The state of the mention gate. */
export interface GateReads extends DoctoredReads {
  get(session_id: string): Promise<GateRecord | undefined>;
  /** The gates of held sessions, the longest held first. */
  held(): Promise<GateRecord[]>;
}

export interface GateRecords extends GateReads {
  put(record: GateRecord): Promise<void>;
}

/** The process that waits to wake a session. */
export interface WakerReads {
  get(session_id: string): Promise<Waker | undefined>;
}

export interface WakerRecords extends WakerReads {
  /** Stores the record. A previous waker then stops waiting. */
  put(waker: Waker): Promise<void>;
}

// ---- Turns ----
// Turns, and the requests to end one.

export interface TurnReads extends DoctoredReads {
  get(turn_id: string): Promise<Turn | undefined>;
  /** The running turn; a session has one at a time. */
  current(session_id: string): Promise<Turn | undefined>;
  /** The newest turn. */
  last(session_id: string): Promise<Turn | undefined>;
  /** The newest turn with this client_turn_id. */
  byClientTurn(session_id: string, client_turn_id: string): Promise<Turn | undefined>;
  /** Running turns, the oldest first. */
  running(limit: number): Promise<Turn[]>;
  /** Aborted turns without proof that the session was notified, the oldest first. */
  unreadAborts(session_id: string, limit: number): Promise<{ turn: Turn; delivery: Delivery }[]>;
  interrupt(interrupt_id: string): Promise<Interrupt | undefined>;
  /** Every request for a turn, oldest first. */
  interruptsOf(turn_id: string): Promise<Interrupt[]>;
  pendingInterrupts(turn_id: string): Promise<Interrupt[]>;
}

export interface TurnRecords extends TurnReads {
  insert(turn: Turn): Promise<void>;
  update(turn: Turn): Promise<void>;
  insertInterrupt(interrupt: Interrupt): Promise<void>;
  updateInterrupt(interrupt: Interrupt): Promise<void>;
}

// ---- Messages ----
// Messages of the shared buffer, mentions, and pairs of agents that only answer each other.

/** Which messages a page shows. With `after` it begins there; otherwise it is the last page before `before`. */
export interface MessageFilter {
  /** The messages of this project and those to everyone. */
  project_dir?: string | undefined;
  /** A thread's name, or the message_id of the first message of a chain of replies. */
  thread?: string | undefined;
  from_handle?: string | undefined;
  query?: string | undefined;
  /** A cursor, or the `seq` of a message; the same for `before`. */
  after?: string | number | null | undefined;
  before?: string | number | null | undefined;
  limit: number;
}

/** Messages in their order. */
export interface MessagePage {
  items: Message[];
  /** The cursor for what follows, now or later; null while there is nothing. */
  next_cursor: string | null;
  /** The cursor for what precedes; null at the beginning. */
  previous_cursor: string | null;
  /** Whether there is more in the direction of reading. */
  more: boolean;
}

export interface MessageReads extends DoctoredReads {
  /** For callers that ask for this very message. @throws HiveError `store_foreign` if it is damaged. */
  get(message_id: string): Promise<Message | undefined>;
  /** The same for work that can go on without it: undefined if it is damaged. */
  intact(message_id: string): Promise<Message | undefined>;
  list(filter: MessageFilter): Promise<MessagePage>;
  /** The cursor for what follows the message with this `seq`. */
  cursorOf(seq: number): string;
  /**
   * Messages of the room after the `seq` `after` that a session neither wrote nor is mentioned in: the newest `limit`, oldest
   * first.
   */
  newsFor(reader: {
    session_id: string;
    project_dir: string;
    after: number;
    limit: number;
  }): Promise<RoomNews[]>;
  /** How many messages each of two sessions has written since then, with a higher seq. */
  countOf(pair: Pair, since: string, after: number): Promise<[number, number]>;
  /** The last messages with exactly this body, newest first. */
  byBody(body: string, limit: number): Promise<Message[]>;
}

export interface MessageRecords extends MessageReads {
  nextSeq(): Promise<number>;
  insert(message: Message): Promise<void>;
}

export interface MentionFilter {
  session_id?: string | undefined;
  status?: MentionStatus | undefined;
  limit: number;
  cursor?: string | null | undefined;
}

export interface MentionReads {
  get(mention_id: string): Promise<MentionInFull | undefined>;
  ofMessage(message_id: string, session_id: string): Promise<MentionInFull | undefined>;
  /**
   * The mentions that a session has to deal with now: urgent first, then oldest. The cost does not depend on the length of the
   * history.
   */
  unprocessedOf(session_id: string, limit?: number): Promise<MentionInFull[]>;
  /** The unprocessed mentions that gate and were not delivered in full, without their messages. */
  undelivered(session_id: string, limit: number): Promise<Mention[]>;
  /** All unprocessed mentions that were not delivered in full, gating or not, in the same order. */
  freshOf(session_id: string, limit: number): Promise<MentionInFull[]>;
  countFresh(session_id: string): Promise<number>;
  countUnprocessed(session_id: string): Promise<UnprocessedCount>;
  /** A page, newest first. */
  list(filter: MentionFilter): Promise<Page<MentionInFull>>;
  summary(session_id: string): Promise<MentionSummary>;
  /** The number of unprocessed mentions of each session that has any. */
  unprocessedBySession(): Promise<ReadonlyMap<string, number>>;
  /** How often two sessions have mentioned each other since then, in messages with a higher seq. */
  countBetween(pair: Pair, since: string, after: number): Promise<number>;
  /** Unprocessed mentions that expire. */
  expiries: Deadlines<Mention>;
}

export interface MentionRecords extends MentionReads {
  insert(mention: Mention): Promise<void>;
  update(mention: Mention): Promise<void>;
  /** Counts one more tool call that the unprocessed mentions of a session have held. */
  deny(session_id: string): Promise<void>;
  /** Moves the unprocessed mentions of a session to the one that continues it; returns their ids. */
  move(from: string, to: { session_id: string; handle: string }): Promise<string[]>;
}

export interface LoopReads {
  /**
   * The seq of the newest message when a human last posted to any of these: session ids, project directories, `*` for everyone.
   */
  humanSpokeAt(subjects: readonly string[]): Promise<number>;
  /** The seq of the newest message. */
  newestSeq(): Promise<number>;
  get(pair: Pair): Promise<Loop | undefined>;
  list(): Promise<Loop[]>;
}

export interface LoopRecords extends LoopReads {
  /** A human posted: earlier exchanges between agents no longer count. */
  humanSpoke(subject: string): Promise<void>;
  put(loop: Loop): Promise<void>;
  remove(pair: Pair): Promise<void>;
}

// ---- Outreach ----
// Pings, cards and reports, with their budget and the Stop guard.

export interface OutreachFilter {
  kind?: OutreachKind | undefined;
  session_id?: string | undefined;
  project_dir?: string | undefined;
  limit: number;
  cursor?: string | null | undefined;
}

/** A reader of reports. `heir`: also reports of its project whose own reader is gone. */
export interface ReportReader {
  session_id: string;
  project_dir: string;
  heir: boolean;
  /** The carrier; what it has already delivered is not handed over again. */
  carrier: string;
}

export interface OutreachReads extends DoctoredReads {
  get(outreach_id: string): Promise<Outreach | undefined>;
  /** The card whose actions are the options of this prompt. */
  byPrompt(ask_id: string): Promise<Outreach | undefined>;
  /** A page, newest first. */
  list(filter: OutreachFilter): Promise<Page<Outreach>>;
  /** Visible output of a session that no report covers, oldest first. */
  unreported(session_id: string): Promise<Outreach[]>;
  /** Pings and cards that are kept for a human who was away, oldest first. */
  unseen(limit: number): Promise<Outreach[]>;
  /** How many of the unseen are non-critical and from background sessions. */
  countUnseen(): Promise<number>;
  /** Pings and cards sent before this time that nobody has shown. */
  unshown(before: string): Promise<Outreach[]>;
  /** The oldest reports that wait for a reader, and how many there are in all. */
  reportsFor(reader: ReportReader, limit: number): Promise<{ items: Outreach[]; total: number }>;
  bucket(name: string): Promise<Bucket | undefined>;
  guard(session_id: string): Promise<StopGuardRecord | undefined>;
}

export interface OutreachRecords extends OutreachReads {
  /** Makes reports owed again that were given up at this time. */
  oweAgain(session_id: string, let_go_at: string): Promise<void>;
  nextNumber(): Promise<number>;
  insert(item: Outreach): Promise<void>;
  update(item: Outreach): Promise<void>;
  /** Moves the unread reports of one session to another. */
  moveReader(from: string, to: string): Promise<void>;
  putBucket(bucket: Bucket): Promise<void>;
  putGuard(record: StopGuardRecord): Promise<void>;
}

// ---- People ----
// Desks, humans, teams, and tokens for remote agents.

export interface DeskReads {
  online(now: string): Promise<Desk[]>;
  get(desk_id: string): Promise<Desk | undefined>;
  preferences(seat: string): Promise<Record<string, unknown>>;
}

export interface DeskRecords extends DeskReads {
  put(desk: Desk): Promise<void>;
  renew(desk_id: string, lease_until: string): Promise<void>;
  remove(desk_id: string): Promise<void>;
  removeLapsed(now: string): Promise<void>;
  setPreferences(seat: string, value: Record<string, unknown>): Promise<void>;
}

export interface HumanReads extends DoctoredReads {
  /** Finds a human by folded name; every name in this interface is folded. */
  get(folded: string): Promise<Human | undefined>;
  /** One entry per name that reaches a human, the last seen first. */
  list(limit: number): Promise<Human[]>;
  team(folded: string): Promise<Team | undefined>;
  teams(): Promise<Team[]>;
}

export interface HumanRecords extends HumanReads {
  put(human: Human): Promise<void>;
  putTeam(team: Team): Promise<void>;
  /** False if there was none. */
  removeTeam(folded: string): Promise<boolean>;
}

export interface TokenReads extends DoctoredReads {
  get(name: string): Promise<Token | undefined>;
  byDigest(digest: string): Promise<Token | undefined>;
  list(): Promise<Token[]>;
}

export interface TokenRecords extends TokenReads {
  put(token: Token): Promise<void>;
}

export interface DeviceReads extends DoctoredReads {
  get(device_id: string): Promise<Device | undefined>;
  byKey(key: string): Promise<Device | undefined>;
  /** All devices, in the order of pairing. */
  list(): Promise<Device[]>;
  pairing(code_digest: string): Promise<Pairing | undefined>;
}

export interface DeviceRecords extends DeviceReads {
  put(device: Device): Promise<void>;
  putPairing(pairing: Pairing): Promise<void>;
  removeExpiredPairings(now: string): Promise<void>;
  /** Removes pairings that no device has used; returns how many. */
  removeUnusedPairings(): Promise<number>;
}

// ---- Runs ----
// Headless agents that end while their human thinks.

export interface RunReads extends DoctoredReads {
  get(run_id: string): Promise<Run | undefined>;
  /** Whether the row was last written by a process with this person's key. */
  isMarked(run_id: string): Promise<boolean>;
  /** The runs of a seat that have not ended, the oldest first. */
  open(seat: string): Promise<Run[]>;
  /** All runs of a seat. */
  list(seat: string): Promise<Run[]>;
}

export interface RunRecords extends RunReads {
  /** Writes the row with a mark of this person's key, unless the previous row had lost its mark. */
  put(run: Run): Promise<void>;
}

// ---- Events ----
// The event log, and the search through history.

export interface EventReads extends DoctoredReads {
  /** The highest seq committed so far; 0 in a new store. */
  head(): Promise<number>;
  /** Events after a cursor, in order. */
  after(seq: number, limit: number): Promise<HiveEvent[]>;
  /** The highest seq that retention has removed: a cursor below it needs a snapshot (invariant 10). */
  pruned(): Promise<number>;
  of(subject: string, limit: number): Promise<HiveEvent[]>;
  /** Notices for desks, newest first; with `before` only those with a lower seq. */
  notices(limit: number, before?: number): Promise<HiveEvent[]>;
}

export interface EventRecords extends EventReads {
  append(event: NewEvent): Promise<void>;
}

/** The criteria of a search through history; a missing field matches all. */
export interface HistoryFilter {
  query?: string | undefined;
  agent?: string | undefined;
  project?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  limit: number;
  cursor?: string | null | undefined;
}

export interface HistoryReads {
  search(filter: HistoryFilter): Promise<Page<HistoryEntry>>;
}

// ---- Retention ----

/** The records that are removed with age, by their main kind (retention.ts). Mentions alone only on a person's request. */
export type Aging =
  | 'prompts'
  | 'messages'
  | 'mentions'
  | 'outreach'
  | 'turns'
  | 'sessions'
  | 'tokens'
  | 'devices'
  | 'runs'
  | 'desks'
  | 'events';

/** Counts of records by table: pruning prompts also removes their responses, popups and events. */
export type PruneCounts = Readonly<Record<string, number>>;

export interface RetentionReads {
  /** How many were settled before that time, with everything that depends on them. */
  prunable(aging: Aging, before: string): Promise<PruneCounts>;
}

export interface RetentionRecords extends RetentionReads {
  /** Removes at most `limit` of them; no counts at all when none is left. */
  prune(aging: Aging, before: string, limit: number): Promise<PruneCounts>;
}

// ---- Rules ----
// The history of rules. The rules themselves are never in the store.

export interface RuleReads {
  /** The permissions of clients' dialogs that were asked after this one, oldest first. */
  past(after: AskedAt, limit: number): Promise<AskedPage<PastPermission>>;
  /** How often each rule, identified by its name, has answered. */
  uses(): Promise<{ name: string; uses: number; last_used_at: string }[]>;
}

// ---- The statistics ----

export interface StatsReads {
  /** The fields that statistics need of the prompts asked after `after` and up to `until`, oldest first. */
  counted(after: AskedAt, until: string, limit: number): Promise<AskedPage<CountedPrompt>>;
}
