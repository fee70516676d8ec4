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

export interface MentionReads extends PrunableReads {
  get(mention_id: string): Promise<MentionInFull | undefined>;
  /** The mention of one session in one message. */
  ofMessage(message_id: string, session_id: string): Promise<MentionInFull | undefined>;
  /** What a session has to deal with now: urgent first, then oldest. Costs the same whatever the history. */
  unprocessedOf(session_id: string, limit?: number): Promise<MentionInFull[]>;
  /** Those of them that gate and that nothing has carried to it in full, without their messages. */
  undelivered(session_id: string, limit: number): Promise<Mention[]>;
  /** Those that nothing has carried to it in full, gating or not, in the same order. */
  freshOf(session_id: string, limit: number): Promise<MentionInFull[]>;
  countFresh(session_id: string): Promise<number>;
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

export interface MentionRecords extends MentionReads, Prunable {
  insert(mention: Mention): Promise<void>;
  update(mention: Mention): Promise<void>;
  /** Counts one more tool call that the unprocessed mentions of a session have held up. */
  deny(session_id: string): Promise<void>;
  /** Gives the unprocessed mentions of a session to the one that continues it; returns the ids of what moved. */
  move(from: string, to: { session_id: string; handle: string }): Promise<string[]>;
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
