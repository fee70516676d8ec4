/** Prompts, their answers, and their claims. */
import type { AnswerOutcome, Prompt, PromptAnswer, PromptStatus, Urgency } from '../../domain/prompts.ts';
import type { Page, Prunable, PrunableReads } from './records.ts';

/** Which prompts a list shows. `late` are those with a late answer; `waiting` leaves out what is snoozed. */
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

export type StoredOutcome = AnswerOutcome | 'amendment';

export interface StoredResponse extends PromptAnswer {
  ask_id: string;
  outcome: StoredOutcome;
  /** Of the seat where it was given (seats.ts); null for whatever allows nothing. */
  signature: string | null;
}

export interface PromptReads extends PrunableReads {
  get(ask_id: string): Promise<Prompt | undefined>;
  byKey(session_id: string, idempotency_key: string): Promise<Prompt | undefined>;
  list(filter: PromptFilter): Promise<Page<Prompt>>;
  count(filter: Omit<PromptFilter, 'limit' | 'cursor'>): Promise<number>;
  countByUrgency(): Promise<Record<Urgency, number>>;
  /** The caller's own prompts: settled but not collected, then pending, oldest first. */
  openOf(session_id: string, limit: number): Promise<Prompt[]>;
  /** Only the settled ones of those, including late answers. */
  uncollectedOf(session_id: string, limit: number): Promise<Prompt[]>;
  /** How many are open in all. */
  countOpenOf(session_id: string): Promise<{ settled: number; pending: number }>;
  /** How many prompts of a session and its subagents (`ID:…`), or of a token's sessions, are pending. */
  countPendingUnder(id: string): Promise<number>;
  /** Still pending, asked in this turn. */
  pendingOfTurn(turn_id: string): Promise<Prompt[]>;
  /** Pending prompts that expire by `now`. */
  due(now: string, limit: number): Promise<Prompt[]>;
  /** When the next pending prompt expires. */
  nextExpiry(): Promise<string | null>;
  /** Pending prompts that are due to be escalated by `now`. */
  toEscalate(now: string, limit: number): Promise<Prompt[]>;
  nextEscalation(): Promise<string | null>;
  response(response_id: string): Promise<StoredResponse | undefined>;
}

export interface PromptRecords extends PromptReads, Prunable {
  insert(prompt: Prompt): Promise<void>;
  /** Compare-and-set from `pending`; an answer also requires that the prompt has not expired. False: somebody was first. */
  settle(prompt: Prompt, now: string): Promise<boolean>;
  /** False: it is settled, or was escalated already. */
  escalate(prompt: Prompt): Promise<boolean>;
  /** Writes everything that may change besides the status: when it was offered and seen, late answer, amendment, snooze, claim. */
  update(prompt: Prompt): Promise<void>;
  addResponse(response: StoredResponse): Promise<void>;
  /** Marks the pending prompts of a session as orphaned or not; returns those that changed. */
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
  /** The prompts held by desks that are gone. */
  lapsed(now: string, limit: number): Promise<string[]>;
  /** When the first lease of a desk that holds a claim ends; in the past if one has ended. */
  nextLapse(): Promise<string | null>;
}

export interface ClaimRecords extends ClaimReads {
  put(ask_id: string, desk_id: string): Promise<void>;
  remove(ask_id: string): Promise<void>;
}
