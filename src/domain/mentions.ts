/**
 * Mentions: one addressee of a message each, and its life. Pure.
 *
 *     unprocessed ──▶ processed | expired
 *
 * Reading a mention is not processing it: `delivered_at` is a receipt beside the status.
 */
import { authorKey } from './authors.ts';
import type { Message } from './messages.ts';
import type { Via } from './prompts.ts';
import { HUMAN_ADDRESSEE } from './sessions.ts';

export type MentionStatus = 'unprocessed' | 'processed' | 'expired';

export interface Mention {
  mention_id: string;
  message_id: string;
  /** The message's place in the one order. */
  seq: number;
  /** The addressee's session; `HUMAN_ADDRESSEE` for @Human. */
  session_id: string;
  /** The addressee's handle when it was mentioned. */
  handle: string;
  /** The author's session; null for the human; `UNVERIFIED_HANDLE` for whoever is unverified. */
  from_session_id: string | null;
  priority: Message['priority'];
  /** Its addressee was named, by handle or by role; false for one that only `@All` reached. */
  by_name: boolean;
  /** False once the loop guard has tripped for author and addressee: it is delivered and blocks nothing. */
  gates: boolean;
  /** How many tool calls it has held up. */
  denials: number;
  status: MentionStatus;
  created_at: string;
  expires_at: string | null;
  delivered_at: string | null;
  /** What carried it into the agent: one MCP connection, one hook. */
  carrier: string | null;
  processed_at: string | null;
  processed_by: string | null;
  processed_via: Via | null;
  note: string | null;
}

/** A mention with what its reader wants of the message. */
export interface MentionInFull extends Mention {
  at: string;
  from_handle: string;
  author: Message['author'];
  as_handle: string | null;
  project: string | null;
  project_dir: string | null;
  thread: string | null;
  reply_to: string | null;
  expects_reply: boolean;
  body: string;
}

/** What a session has to deal with. */
export interface UnprocessedCount {
  count: number;
  /** Those that hold up tool calls. */
  gating: number;
  /** Those of the gating ones that are urgent. */
  urgent: number;
}

/** Mentions of one session in numbers. */
export interface MentionSummary {
  total: number;
  unprocessed: number;
  processed: number;
  expired: number;
  /** How many of the unprocessed ones hold up tool calls. */
  gating: number;
  denials: number;
}

/** Mentions of agents expire after this unless configured otherwise; the human's never do. */
export const MENTION_TTL_MS = 24 * 60 * 60 * 1000;

export const NOTE_LIMIT = 2_000;

export interface Addressee {
  session_id: string;
  handle: string;
  /** Named by handle or by role, not only reached by `@All`. */
  by_name: boolean;
}

/** A new mention of `addressee` in `message`. `ttl_ms` null: it never expires. */
export function createMention(
  message: Message,
  addressee: Addressee,
  { mention_id, gates, ttl_ms }: { mention_id: string; gates: boolean; ttl_ms: number | null },
): Mention {
  const expires = ttl_ms !== null && addressee.session_id !== HUMAN_ADDRESSEE;
  return {
    mention_id,
    message_id: message.message_id,
    seq: message.seq,
    session_id: addressee.session_id,
    handle: addressee.handle,
    from_session_id: authorKey(message),
    priority: message.priority,
    by_name: addressee.by_name,
    gates: gates && addressee.session_id !== HUMAN_ADDRESSEE,
    denials: 0,
    status: 'unprocessed',
    created_at: message.at,
    expires_at: expires ? new Date(Date.parse(message.at) + ttl_ms).toISOString() : null,
    delivered_at: null,
    carrier: null,
    processed_at: null,
    processed_by: null,
    processed_via: null,
    note: null,
  };
}

/** Shown or printed to its addressee. The first time counts. */
export function deliverMention<T extends Mention>(mention: T, carrier: string, now: string): T {
  return mention.delivered_at === null ? { ...mention, delivered_at: now, carrier } : mention;
}

/** Dealt with. One that is processed or expired stays as it is. */
export function processMention<T extends Mention>(
  mention: T,
  { by, via, note }: { by: string; via: Via; note: string | null },
  now: string,
): T {
  if (mention.status !== 'unprocessed') return mention;
  return {
    ...mention,
    status: 'processed',
    processed_at: now,
    processed_by: by,
    processed_via: via,
    note,
  };
}

/** Its time ran out before anybody dealt with it. */
export function expireMention<T extends Mention>(mention: T): T {
  return mention.status === 'unprocessed' ? { ...mention, status: 'expired' } : mention;
}
