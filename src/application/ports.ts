/**
 * What the application needs from the world, as plain interfaces. `infrastructure/` makes them real,
 * `open-hive.ts` chooses which; nothing here knows of files, sockets or SQL.
 */
import type { Bucket } from '../domain/budget.ts';
import type { Desk } from '../domain/desks.ts';
import type { HiveEvent, NewEvent } from '../domain/events.ts';
import type { GateRecord } from '../domain/gate.ts';
import type { HistoryEntry } from '../domain/history.ts';
import type { Human, Team } from '../domain/humans.ts';
import type { Interrupt } from '../domain/interrupts.ts';
import type { Loop, Pair } from '../domain/loop-guard.ts';
import type { Mention, MentionInFull, MentionStatus, MentionSummary } from '../domain/mentions.ts';
import type { Message } from '../domain/messages.ts';
import type { Outreach, OutreachKind } from '../domain/outreach.ts';
import type { Popup } from '../domain/popups.ts';
import type { AnswerOutcome, Prompt, PromptAnswer, PromptStatus, Urgency } from '../domain/prompts.ts';
import type { Session } from '../domain/sessions.ts';
import type { StopGuardRecord } from '../domain/stop-guard.ts';
import type { Token } from '../domain/tokens.ts';
import type { Turn } from '../domain/turns.ts';
import type { Waker } from '../domain/wakes.ts';

/** The one door to what is stored. */
export interface Store {
  /** Fixed for the life of the store; an answer written for another store is refused by it. */
  readonly store_id: string;
  /**
   * Runs `work` as one durable transaction: when the promise resolves, everything is on disk (invariant 1).
   * Writes of one process queue; `work` awaits nothing but its own statements and decides by `tx.now`.
   * @throws HiveError `store_busy` after 5 s without the lock, `store_full`, `store_unavailable`.
   */
  write<T>(work: (tx: WriteTx) => Promise<T>): Promise<T>;
  /**
   * A write that acknowledges nothing to anybody: a receipt (invariant 6). It is seen by all and survives the death
   * of any process like every other, but it does not wait for the disk, where that can be had: a machine that
   * loses power may lose it, and then what was handed is handed once more. `tells` is asked after the commit whether
   * somebody is told something by it after all (`announced`: an event was appended): then it waits before it resolves.
   */
  writeReceipt<T>(
    work: (tx: WriteTx) => Promise<T>,
    tells?: (result: T, announced: boolean) => boolean,
  ): Promise<T>;
  /** Runs `work` on one consistent snapshot, never waiting for a writer. */
  read<T>(work: (tx: ReadTx) => Promise<T>): Promise<T>;
  /** Calls `listener` when something may have changed, here or in another process: a hint without data. */
  watch(listener: () => void): () => void;
  close(): Promise<void>;
  /**
   * For a process that lives for one event and ends now: closes only where that is due, else leaves the store as a
   * kill would. With SQLite the last one to close copies the log into place and waits for the disk; but a log that
   * nobody ever ends grows, and whoever opens the store first must read it back.
   */
  leave(): Promise<void>;
}

export interface ReadTx {
  /** The store's clock at the beginning of the transaction. */
  readonly now: string;
  readonly prompts: PromptReads;
  readonly sessions: SessionReads;
  readonly turns: TurnReads;
  readonly messages: MessageReads;
  readonly mentions: MentionReads;
  readonly loops: LoopReads;
  readonly gates: GateReads;
  readonly tokens: TokenReads;
  readonly history: HistoryReads;
  readonly outreach: OutreachReads;
  readonly prints: PrintReads;
  readonly wakers: WakerReads;
  readonly desks: DeskReads;
  readonly humans: HumanReads;
  readonly claims: ClaimReads;
  readonly events: EventReads;
}

export interface WriteTx extends ReadTx {
  readonly prompts: PromptRecords;
  readonly sessions: SessionRecords;
  readonly turns: TurnRecords;
  readonly messages: MessageRecords;
  readonly mentions: MentionRecords;
  readonly loops: LoopRecords;
  readonly gates: GateRecords;
  readonly tokens: TokenRecords;
  readonly outreach: OutreachRecords;
  readonly prints: PrintRecords;
  readonly wakers: WakerRecords;
  readonly desks: DeskRecords;
  readonly humans: HumanRecords;
  readonly claims: ClaimRecords;
  readonly events: EventRecords;
}

/** One page of a list; `next_cursor` null at the end. The cursor is opaque to callers. */
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** Which prompts a list shows. `late` are those with a late answer; `waiting` leaves out what is snoozed. */
export interface PromptFilter {
  status?: PromptStatus | 'late' | 'waiting' | undefined;
  session_id?: string | undefined;
  agent?: string | undefined;
  project?: string | undefined;
  kind?: string | undefined;
  /** Addressed to this human or team. */
  to?: string | undefined;
  query?: string | undefined;
  limit: number;
  cursor?: string | null | undefined;
}

export type StoredOutcome = AnswerOutcome | 'amendment';
export interface StoredResponse extends PromptAnswer {
  ask_id: string;
  outcome: StoredOutcome;
}

/** Records by kind: a prune of prompts also takes their responses, popups and events. */
export type PruneCounts = Readonly<Record<string, number>>;

/** What ages and goes: settled before then, with everything that hangs on it (retention.ts). */
export interface PrunableReads {
  prunable(before: string): Promise<PruneCounts>;
}
export interface Prunable {
  /** Removes at most `limit` of them; no counts at all when none is left. */
  prune(before: string, limit: number): Promise<PruneCounts>;
}

export interface PromptReads extends PrunableReads {
  get(ask_id: string): Promise<Prompt | undefined>;
  byKey(session_id: string, idempotency_key: string): Promise<Prompt | undefined>;
  list(filter: PromptFilter): Promise<Page<Prompt>>;
  count(filter: Pick<PromptFilter, 'status' | 'session_id'>): Promise<number>;
  countByUrgency(): Promise<Record<Urgency, number>>;
  /** The caller's own: what settled and was not collected, then what is pending, oldest first. */
  openOf(session_id: string, limit: number): Promise<Prompt[]>;
  /** Handed by this carrier before then, and not proved read yet. */
  carriedBy(carrier: string, handed_before: string): Promise<Prompt[]>;
  /** Still pending, asked in this turn. */
  pendingOfTurn(turn_id: string): Promise<Prompt[]>;
  /** Pending prompts whose time is up by `now`. */
  due(now: string, limit: number): Promise<Prompt[]>;
  /** When the next pending prompt expires. */
  nextExpiry(): Promise<string | null>;
  /** Pending prompts of which everybody is to be asked by `now`. */
  toEscalate(now: string, limit: number): Promise<Prompt[]>;
  nextEscalation(): Promise<string | null>;
  response(response_id: string): Promise<StoredResponse | undefined>;
}

export interface PromptRecords extends PromptReads, Prunable {
  insert(prompt: Prompt): Promise<void>;
  /** Compare-and-set from `pending`; an answer also needs the time not to have run out. False: somebody was first. */
  settle(prompt: Prompt, now: string): Promise<boolean>;
  /** False: it is settled, or escalated already. */
  escalate(ask_id: string, escalated_at: string): Promise<boolean>;
  /** Writes everything that may change beside the status: receipts, late answer, amendment, snooze, claim. */
  update(prompt: Prompt): Promise<void>;
  addResponse(response: StoredResponse): Promise<void>;
  /** Marks the pending prompts of a session as orphaned or not; returns those that changed. */
  setOrphaned(session_id: string, orphaned: boolean): Promise<string[]>;
  /** Gives what a session has open to the one that continues it; returns what moved. */
  move(from: string, to: { session_id: string; handle: string }): Promise<string[]>;
  /** Claims the popup of a prompt for a seat; false when it is claimed already. */
  claimPopup(ask_id: string, seat: string, claimed_by: string, now: string): Promise<boolean>;
  setPopupOutcome(ask_id: string, seat: string, outcome: PopupOutcome, reason: string | null): Promise<void>;
}

export type PopupOutcome = 'claimed' | 'sent' | 'suppressed' | 'failed';

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
  /** The living session whose client is this process; subagents carry no pid. */
  byProcess(machine: string, pid: number): Promise<Session | undefined>;
  /** The living session that the hooks of this client process speak for. */
  hookedByProcess(machine: string, pid: number): Promise<Session | undefined>;
  list(filter: { state?: 'alive' | 'ended' | undefined; limit: number }): Promise<Session[]>;
  /** The last session that the hooks of a client process spoke for, ended or not: what a new one of it may continue. */
  lastHookedOfProcess(machine: string, pid: number): Promise<Session | undefined>;
  /** The living sessions whose parent this is. */
  childrenOf(session_id: string): Promise<Session[]>;
  /** Whose call a `tool_use_id` is, as its PreToolUse hook told. */
  callerOf(tool_use_id: string): Promise<string | undefined>;
  connections(machine: string): Promise<Connection[]>;
  connection(connection_id: string): Promise<Connection | undefined>;
}

export interface SessionRecords extends SessionReads, Prunable {
  upsert(session: Session): Promise<void>;
  touch(session_id: string, now: string): Promise<void>;
  touchByHook(session_id: string, now: string): Promise<void>;
  /** Remembers whose call this is, until the call has come over MCP. */
  recordCaller(tool_use_id: string, session_id: string): Promise<void>;
  openConnection(connection: Connection): Promise<void>;
  /** Notes who called through a connection last. */
  nameConnection(connection_id: string, session_id: string): Promise<void>;
  closeConnection(connection_id: string): Promise<void>;
}

/** Which messages a page shows. With `after` it goes forward from there, else it is the last page before `before`. */
export interface MessageFilter {
  /** The messages of this project and those to everyone. */
  project_dir?: string | undefined;
  /** A thread's name, or the message_id that a chain of replies began with. */
  thread?: string | undefined;
  from_handle?: string | undefined;
  query?: string | undefined;
  /** A cursor, or the `seq` of a message; so has `before`. */
  after?: string | number | null | undefined;
  before?: string | number | null | undefined;
  limit: number;
}

/** Messages in their order. */
export interface MessagePage {
  items: Message[];
  /** Where to go on forward, now or when more has come; null while there is nothing to stand behind. */
  next_cursor: string | null;
  /** Where to go on backward; null at the beginning. */
  previous_cursor: string | null;
  /** More lies ahead in the direction that was read. */
  more: boolean;
}

export interface MessageReads extends PrunableReads {
  get(message_id: string): Promise<Message | undefined>;
  list(filter: MessageFilter): Promise<MessagePage>;
  /** The last messages with exactly this body, newest first. */
  byBody(body: string, limit: number): Promise<Message[]>;
}

export interface MessageRecords extends MessageReads, Prunable {
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
  /** The mention of one session in one message. */
  ofMessage(message_id: string, session_id: string): Promise<MentionInFull | undefined>;
  /** What a session has to deal with now: urgent first, then oldest. Costs the same whatever the history. */
  unprocessedOf(session_id: string, limit?: number): Promise<MentionInFull[]>;
  countUnprocessed(session_id: string): Promise<UnprocessedCount>;
  /** Newest first. */
  list(filter: MentionFilter): Promise<Page<MentionInFull>>;
  summary(session_id: string): Promise<MentionSummary>;
  /** How many unprocessed mentions each session has that has any. */
  unprocessedBySession(): Promise<ReadonlyMap<string, number>>;
  /** How many mentions of each other two sessions got since then, in messages after the one of that seq. */
  countBetween(pair: Pair, since: string, after: number): Promise<number>;
  /** Unprocessed mentions whose time is up by `now`. */
  due(now: string, limit: number): Promise<Mention[]>;
  nextExpiry(): Promise<string | null>;
}

export interface UnprocessedCount {
  count: number;
  /** Those that hold up tool calls. */
  gating: number;
  /** Those of the gating ones that are urgent. */
  urgent: number;
}

export interface MentionRecords extends MentionReads {
  insert(mention: Mention): Promise<void>;
  update(mention: Mention): Promise<void>;
  /** Counts one more tool call that these mentions have held up. */
  deny(mention_ids: readonly string[]): Promise<void>;
  /** Gives the unprocessed mentions of a session to the one that continues it; returns the ids of what moved. */
  move(from: string, to: { session_id: string; handle: string }): Promise<string[]>;
}

/** What a search through history looks for; a missing field matches all. */
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

export interface TokenReads {
  get(name: string): Promise<Token | undefined>;
  byDigest(digest: string): Promise<Token | undefined>;
  list(): Promise<Token[]>;
}

export interface TokenRecords extends TokenReads {
  put(token: Token): Promise<void>;
}

/** Random secrets, and what is kept of them. */
export interface Secrets {
  make(): string;
  digest(secret: string): string;
  /** Compares in constant time. */
  equal(a: string, b: string): boolean;
}

/** The mention gate's memory. */
export interface GateReads {
  get(session_id: string): Promise<GateRecord | undefined>;
}

export interface GateRecords extends GateReads {
  put(record: GateRecord): Promise<void>;
}

export interface LoopReads {
  /** The seq of the last message when a human last had a say to any of these: session ids, project directories, `*` for everyone. */
  humanSpokeAt(subjects: readonly string[]): Promise<number>;
  get(pair: Pair): Promise<Loop | undefined>;
  list(): Promise<Loop[]>;
}

export interface LoopRecords extends LoopReads {
  /** A human had a say: what agents said to each other before then counts no longer. */
  humanSpoke(subject: string): Promise<void>;
  put(loop: Loop): Promise<void>;
  remove(pair: Pair): Promise<void>;
}

export interface TurnReads extends PrunableReads {
  get(turn_id: string): Promise<Turn | undefined>;
  /** The one that runs; a session has one at a time. */
  current(session_id: string): Promise<Turn | undefined>;
  /** The newest. */
  last(session_id: string): Promise<Turn | undefined>;
  /** The newest under the client's own id. */
  byClientTurn(session_id: string, client_turn_id: string): Promise<Turn | undefined>;
  /** Every turn that runs, the oldest first. */
  running(limit: number): Promise<Turn[]>;
  /** Aborted, and nothing proves that the session was told, the oldest first. */
  untold(session_id: string, limit: number): Promise<Turn[]>;
  interrupt(interrupt_id: string): Promise<Interrupt | undefined>;
  /** Every request for a turn, in the order in which they were asked. */
  interruptsOf(turn_id: string): Promise<Interrupt[]>;
  pendingInterrupts(turn_id: string): Promise<Interrupt[]>;
}

export interface TurnRecords extends TurnReads, Prunable {
  insert(turn: Turn): Promise<void>;
  update(turn: Turn): Promise<void>;
  insertInterrupt(interrupt: Interrupt): Promise<void>;
  updateInterrupt(interrupt: Interrupt): Promise<void>;
}

/** Who waits to wake which session. */
export interface WakerReads {
  get(session_id: string): Promise<Waker | undefined>;
}

export interface WakerRecords extends WakerReads {
  /** Whoever waited before waits no longer. */
  put(waker: Waker): Promise<void>;
}

export interface OutreachFilter {
  kind?: OutreachKind | undefined;
  session_id?: string | undefined;
  project_dir?: string | undefined;
  limit: number;
  cursor?: string | null | undefined;
}

/** Who reads reports. `heir`: also those of its project whose own reader is gone. */
export interface ReportReader {
  session_id: string;
  project_dir: string;
  heir: boolean;
  /** What carries them in: what it has carried already is not handed again. */
  carrier: string;
}

export interface OutreachReads extends PrunableReads {
  get(outreach_id: string): Promise<Outreach | undefined>;
  /** The card whose actions are this prompt's options. */
  byPrompt(ask_id: string): Promise<Outreach | undefined>;
  /** Newest first. */
  list(filter: OutreachFilter): Promise<Page<Outreach>>;
  /** Visible output of a session that no report has told of, oldest first. */
  unreported(session_id: string): Promise<Outreach[]>;
  /** Visible output of a turn that was not critical; where turns are not told, since the last report. */
  outputs(session_id: string, turn_id: string | null): Promise<number>;
  /** Pings and cards sent before then that nobody has shown. */
  unshown(before: string): Promise<Outreach[]>;
  /** The oldest reports that wait for a reader, and how many there are in all. */
  reportsFor(reader: ReportReader, limit: number): Promise<{ items: Outreach[]; total: number }>;
  /** Handed by this carrier before then, and not proved read yet. */
  carriedBy(carrier: string, handed_before: string): Promise<Outreach[]>;
  bucket(name: string): Promise<Bucket | undefined>;
  guard(session_id: string): Promise<StopGuardRecord | undefined>;
  /** When the human last took up a prompt that still waits. */
  answeringSince(): Promise<string | null>;
  /** What the human wishes at each seat that has wishes. */
  everySeat(): Promise<Record<string, unknown>[]>;
}

export interface OutreachRecords extends OutreachReads, Prunable {
  nextNumber(): Promise<number>;
  insert(item: Outreach): Promise<void>;
  update(item: Outreach): Promise<void>;
  /** Reports that wait for one session wait for another. */
  moveReader(from: string, to: string): Promise<void>;
  putBucket(bucket: Bucket): Promise<void>;
  putGuard(record: StopGuardRecord): Promise<void>;
}

/** A hook of a session that has handed something over and is about to print it. */
export interface Print {
  print_id: string;
  session_id: string;
  at: string;
}

export interface PrintReads {
  of(session_id: string): Promise<Print[]>;
}

export interface PrintRecords extends PrintReads {
  insert(print: Print): Promise<void>;
  remove(print_id: string): Promise<void>;
}

export interface DeskReads extends PrunableReads {
  online(now: string): Promise<Desk[]>;
  get(desk_id: string): Promise<Desk | undefined>;
  preferences(seat: string): Promise<Record<string, unknown>>;
}

export interface DeskRecords extends DeskReads, Prunable {
  put(desk: Desk): Promise<void>;
  renew(desk_id: string, lease_until: string): Promise<void>;
  remove(desk_id: string): Promise<void>;
  removeLapsed(now: string): Promise<void>;
  setPreferences(seat: string, value: Record<string, unknown>, now: string): Promise<void>;
}

export interface HumanReads {
  /** By a folded name; so is every name here. */
  get(folded: string): Promise<Human | undefined>;
  /** One entry a name that reaches somebody, those that were seen last first. */
  list(limit: number): Promise<Human[]>;
  team(folded: string): Promise<Team | undefined>;
  teams(): Promise<Team[]>;
}

export interface HumanRecords extends HumanReads {
  put(human: Human): Promise<void>;
  putTeam(team: Team): Promise<void>;
  /** False: there is none. */
  removeTeam(folded: string): Promise<boolean>;
}

/** Which desk holds a prompt that somebody has taken up. */
export interface ClaimReads {
  /** The desk that holds it, as long as that lives. */
  holder(ask_id: string, now: string): Promise<string | null>;
  /** The prompts that a desk holds. */
  ofDesk(desk_id: string): Promise<string[]>;
  /** The prompts held by desks that are gone. */
  lapsed(now: string, limit: number): Promise<string[]>;
  /** When the first lease of a desk that holds something ends; in the past when one has. */
  nextLapse(): Promise<string | null>;
}

export interface ClaimRecords extends ClaimReads {
  put(ask_id: string, desk_id: string): Promise<void>;
  remove(ask_id: string): Promise<void>;
}

export interface EventReads extends PrunableReads {
  /** The highest seq committed so far; 0 in a new store. */
  head(): Promise<number>;
  /** Events after a cursor, in order. */
  after(seq: number, limit: number): Promise<HiveEvent[]>;
  /** The highest seq that retention has removed: a cursor below it needs a snapshot (invariant 10). */
  pruned(): Promise<number>;
  of(subject: string, limit: number): Promise<HiveEvent[]>;
  /** What desks were told, newest first; with `before` only what has a lower seq. */
  notices(limit: number, before?: number): Promise<HiveEvent[]>;
}

export interface EventRecords extends EventReads, Prunable {
  append(event: NewEvent): Promise<number>;
}

/** One thing looked at. `advice` says what to do; null when there is nothing to do. */
export interface Check {
  name: string;
  ok: boolean;
  text: string;
  advice: string | null;
}

/** Looks at one thing, or at several of a kind. A look that throws is itself a finding. */
export interface Examination {
  name: string;
  examine(): Promise<Check[]>;
}

/** Other processes of this machine. */
export interface Processes {
  alive(pid: number): boolean;
  /** The ids of the processes that `pid` descends from, nearest first. */
  ancestors(pid: number): number[];
  /** When a process began, in words that only it has; null for one that is gone. With it a pid is an identity. */
  startedAt(pid: number): string | null;
  /** Sends SIGINT; false when there is no such process, or it is not ours. */
  interrupt(pid: number): boolean;
}

/** Files that belong to others. */
export interface Files {
  /** The last `bytes` of a file, or null where it cannot be read. */
  readTail(path: string, bytes: number): string | null;
}

/** The running Codex of this user, where it listens. */
export interface CodexControl {
  /** Ends a turn at once. False where it cannot be reached, or refuses; never rejects, and never waits long. */
  interrupt(turn: { thread_id: string; client_turn_id: string }): Promise<boolean>;
  /**
   * Answers the questions that its dialog shows, by their text. False where no such dialog stands any more; never
   * rejects, and never waits long.
   */
  answer(dialog: { thread_id: string; answers: ReadonlyMap<string, readonly string[]> }): Promise<boolean>;
  /** Begins a turn with this message where the session idles. False where that cannot be; never rejects. */
  queue(message: { thread_id: string; message: string }): Promise<boolean>;
}

/** New ids, so that tests can hold them still. */
export interface Ids {
  /** A new id: `ask-` and 16 random characters. It is a capability: who knows it may poll. */
  make(prefix: string): string;
}

/** Shows popups on the desktop of whoever runs this process. */
export interface Notifier {
  /** Resolves when the popup was handed over. @throws Error whose sentence says why that was not possible. */
  show(popup: Popup): Promise<ShownPopup>;
  /** Takes down what is shown and waits until nothing of it runs any more. */
  close(): Promise<void>;
}

export interface ShownPopup {
  /** What the person did with it; never rejects. Where nobody can tell, it is `closed` at once. */
  readonly outcome: Promise<PopupEnd>;
  close(): void;
}

export type PopupEnd = { kind: 'button'; index: number } | { kind: 'opened' } | { kind: 'closed' };

/** One line a call; `fields` never hold answers, tokens or environments. */
export interface Logger {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}
