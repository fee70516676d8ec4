/**
 * What the application needs from the outside world, as plain interfaces. `infrastructure/` implements them and `open-hive.ts` chooses
 * the implementations; nothing here knows of files, sockets or SQL. Reads are separate from records, which write.
 */
import type {
  DeliveryReads,
  DeliveryRecords,
  HookOutputReads,
  HookOutputRecords,
} from './ports/deliveries.ts';
import type { EventReads, EventRecords, HistoryReads } from './ports/events.ts';
import type {
  LoopReads,
  LoopRecords,
  MentionReads,
  MentionRecords,
  MessageReads,
  MessageRecords,
} from './ports/messages.ts';
import type { OutreachReads, OutreachRecords } from './ports/outreach.ts';
import type {
  DeskReads,
  DeskRecords,
  HumanReads,
  HumanRecords,
  TokenReads,
  TokenRecords,
} from './ports/people.ts';
import type { PopupReads, PopupRecords } from './ports/popups.ts';
import type { ClaimReads, ClaimRecords, PromptReads, PromptRecords } from './ports/prompts.ts';
import type { RunReads, RunRecords } from './ports/runs.ts';
import type {
  GateReads,
  GateRecords,
  SessionReads,
  SessionRecords,
  WakerReads,
  WakerRecords,
} from './ports/sessions.ts';
import type { TurnReads, TurnRecords } from './ports/turns.ts';

export type * from './ports/deliveries.ts';
export type * from './ports/events.ts';
export type * from './ports/messages.ts';
export type * from './ports/outreach.ts';
export type * from './ports/people.ts';
export type * from './ports/popups.ts';
export type * from './ports/prompts.ts';
export type * from './ports/records.ts';
export type * from './ports/runs.ts';
export type * from './ports/sessions.ts';
export type * from './ports/turns.ts';
export type * from './ports/world.ts';

/** The only access to stored data. */
export interface Store {
  /** Never changes; an answer that names another store's id is refused. */
  readonly store_id: string;
  /**
   * Runs `work` as one durable transaction: when the promise resolves, everything is on disk (invariant 1).
   * Writes of one process queue; `work` awaits nothing but its own statements and decides by `tx.now`.
   * @throws HiveError `store_busy` after 5 s without the lock, `store_full`, `store_unavailable`.
   */
  write<T>(work: (tx: WriteTx) => Promise<T>): Promise<T>;
  /**
   * A write that acknowledges nothing: a receipt (invariant 6). It is visible to all and survives the death of any
   * process like any other write, but it does not wait for the disk if the engine allows that. If the machine loses power,
   * it may be lost, and what was handed over is handed over again. `tells` returns after the commit whether the write
   * acknowledges something after all (`announced`: an event was appended); then it waits for the disk before it resolves.
   */
  writeReceipt<T>(
    work: (tx: WriteTx) => Promise<T>,
    tells?: (result: T, announced: boolean) => boolean,
  ): Promise<T>;
  /** Runs `work` on one consistent snapshot, without waiting for a writer; `work` awaits nothing but its own statements. */
  read<T>(work: (tx: ReadTx) => Promise<T>): Promise<T>;
  /** Calls `listener` when something may have changed, here or in another process: a hint without data. */
  watch(listener: () => void): () => void;
  close(): Promise<void>;
  /**
   * For a process that has handled one event and is about to end: closes the store only if that is due, and otherwise
   * leaves it as a kill would. With SQLite, closing last means copying the log into the file and waiting for the disk. Without it the
   * log would grow, and the next process to open the store would have to read it back.
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
  readonly runs: RunReads;
  readonly history: HistoryReads;
  readonly outreach: OutreachReads;
  readonly deliveries: DeliveryReads;
  readonly hookOutputs: HookOutputReads;
  readonly wakers: WakerReads;
  readonly desks: DeskReads;
  readonly humans: HumanReads;
  readonly claims: ClaimReads;
  readonly popups: PopupReads;
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
  readonly runs: RunRecords;
  readonly outreach: OutreachRecords;
  readonly deliveries: DeliveryRecords;
  readonly hookOutputs: HookOutputRecords;
  readonly wakers: WakerRecords;
  readonly desks: DeskRecords;
  readonly humans: HumanRecords;
  readonly claims: ClaimRecords;
  readonly popups: PopupRecords;
  readonly events: EventRecords;
}
