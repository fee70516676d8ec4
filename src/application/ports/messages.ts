/** Messages of the shared buffer, mentions, and pairs of agents that only answer each other. */
import type { Loop, Pair } from '../../domain/mention-gate.ts';
import type {
  Mention,
  MentionInFull,
  MentionStatus,
  MentionSummary,
  UnprocessedCount,
} from '../../domain/mentions.ts';
import type { Message } from '../../domain/messages.ts';
import type { Page, Prunable, PrunableReads } from './records.ts';

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

export interface MentionReads extends PrunableReads {
  get(mention_id: string): Promise<MentionInFull | undefined>;
  /** The mention of one session in one message. */
  ofMessage(message_id: string, session_id: string): Promise<MentionInFull | undefined>;
  /** What a session has to deal with now: urgent first, then oldest. The cost does not depend on the length of the history. */
  unprocessedOf(session_id: string, limit?: number): Promise<MentionInFull[]>;
  /** The unprocessed mentions that gate and were not delivered in full, without their messages. */
  undelivered(session_id: string, limit: number): Promise<Mention[]>;
  /** All unprocessed mentions that were not delivered in full, gating or not, in the same order. */
  freshOf(session_id: string, limit: number): Promise<MentionInFull[]>;
  countFresh(session_id: string): Promise<number>;
  countUnprocessed(session_id: string): Promise<UnprocessedCount>;
  /** Newest first. */
  list(filter: MentionFilter): Promise<Page<MentionInFull>>;
  summary(session_id: string): Promise<MentionSummary>;
  /** The number of unprocessed mentions of each session that has any. */
  unprocessedBySession(): Promise<ReadonlyMap<string, number>>;
  /** How often two sessions have mentioned each other since then, in messages with a higher seq. */
  countBetween(pair: Pair, since: string, after: number): Promise<number>;
  /** Unprocessed mentions that expire by `now`. */
  due(now: string, limit: number): Promise<Mention[]>;
  nextExpiry(): Promise<string | null>;
}

export interface MentionRecords extends MentionReads, Prunable {
  insert(mention: Mention): Promise<void>;
  update(mention: Mention): Promise<void>;
  /** Counts one more tool call that the unprocessed mentions of a session have blocked. */
  deny(session_id: string): Promise<void>;
  /** Moves the unprocessed mentions of a session to the one that continues it; returns their ids. */
  move(from: string, to: { session_id: string; handle: string }): Promise<string[]>;
}

export interface LoopReads {
  /** The seq of the newest message when a human last posted to any of these: session ids, project directories, `*` for everyone. */
  humanSpokeAt(subjects: readonly string[]): Promise<number>;
  get(pair: Pair): Promise<Loop | undefined>;
  list(): Promise<Loop[]>;
}

export interface LoopRecords extends LoopReads {
  /** A human posted: earlier exchanges between agents no longer count. */
  humanSpoke(subject: string): Promise<void>;
  put(loop: Loop): Promise<void>;
  remove(pair: Pair): Promise<void>;
}
