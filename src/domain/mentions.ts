/**
 * Mentions: each is one addressee of one message. Also how the names in a message are resolved. Pure: no clock, no ids, no I/O.
 *
 *     unprocessed ──▶ processed | expired
 *
 * Reading a mention does not process it: `delivered_at` is only a receipt.
 */

import type { Via } from './actors.ts';
import { HUMAN_ADDRESSEE } from './actors.ts';
import { foldHandle } from './mention-parser.ts';
import { authorKey, authorName, type Message } from './messages.ts';
import { didYouMean, givenHandle, nearestNames, titleKey } from './names.ts';
import { EVERYONE, HUMAN_HANDLE, hostOf, type Session } from './sessions.ts';
import { excerpt } from './text.ts';
import { timeAfter } from './times.ts';

export type MentionStatus = 'unprocessed' | 'processed' | 'expired';

export interface Mention {
  mention_id: string;
  message_id: string;
  /** The `seq` of the message: its position in the event order. */
  seq: number;
  /** The addressee's session; `HUMAN_ADDRESSEE` for @Human. */
  session_id: string;
  /** The addressee's handle when it was mentioned. */
  handle: string;
  /** The author's session; null for the human; `UNVERIFIED_HANDLE` for an unverified author. */
  from_session_id: string | null;
  priority: Message['priority'];
  /** True when the addressee was named by handle or by role; false when only `@All` reached it. */
  by_name: boolean;
  /** False once the loop guard has tripped for author and addressee: the mention is delivered but holds nothing. */
  gates: boolean;
  /** How many tool calls it has held. */
  denials: number;
  status: MentionStatus;
  created_at: string;
  expires_at: string | null;
  delivered_at: string | null;
  /** The carrier that delivered it: one MCP connection or one hook. */
  carrier: string | null;
  processed_at: string | null;
  processed_by: string | null;
  processed_via: Via | null;
  note: string | null;
}

/** A mention together with the parts of its message that a reader needs. */
export interface MentionInFull extends Mention {
  at: string;
  from_handle: string;
  author: Message['author'];
  by: string | null;
  as_handle: string | null;
  project: string | null;
  project_dir: string | null;
  thread: string | null;
  reply_to: string | null;
  expects_reply: boolean;
  body: string;
}

/** How many mentions a session has not processed. */
export interface UnprocessedCount {
  count: number;
  /** How many of them hold tool calls. */
  gating: number;
  /** How many of those are urgent. */
  urgent: number;
}

/** Counts of one session's mentions. */
export interface MentionSummary {
  total: number;
  unprocessed: number;
  processed: number;
  expired: number;
  /** How many of the unprocessed ones hold tool calls. */
  gating: number;
  denials: number;
}

/** The longest note, in characters, that may accompany processing. */
export const NOTE_LIMIT = 2_000;

/** A session or human that a message reaches. */
export interface Addressee {
  session_id: string;
  handle: string;
  /** Named by handle or by role, not only by `@All`. */
  by_name: boolean;
}

/** A new mention of `addressee` in `message`. With `ttl_ms` null it never expires. */
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
    expires_at: expires ? timeAfter(message.at, ttl_ms) : null,
    delivered_at: null,
    carrier: null,
    processed_at: null,
    processed_by: null,
    processed_via: null,
    note: null,
  };
}

/** Records that the mention was shown or printed to its addressee. Only the first time counts. */
export function deliverMention<T extends Mention>(mention: T, carrier: string, now: string): T {
  return mention.delivered_at === null ? { ...mention, delivered_at: now, carrier } : mention;
}

/** Marks a mention as processed. A mention that is already processed or expired is returned unchanged. */
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

/** Marks a mention as expired, unless it was processed before. */
export function expireMention<T extends Mention>(mention: T): T {
  return mention.status === 'unprocessed' ? { ...mention, status: 'expired' } : mention;
}

// ---- Notices of expired mentions ----
// The addressee and the author each get one. The subject of the delivery is the mention and the side that it is for.

export type ExpirySide = 'to' | 'from';

export function expirySubject({ mention_id }: Pick<Mention, 'mention_id'>, side: ExpirySide): string {
  return `${mention_id}:${side}`;
}

export function readExpirySubject(subject: string): { mention_id: string; side: ExpirySide } {
  const [mention_id = '', side] = subject.split(':');
  return { mention_id, side: side === 'from' ? 'from' : 'to' };
}

const EXPIRED_EXCERPT = 120;

/** The sentence about an expired mention, for its addressee or for its author. */
export function expirySentence(mention: MentionInFull, side: ExpirySide): string {
  const { mention_id, at, handle, body } = mention;
  const which =
    side === 'to'
      ? `The mention of you by ${authorName(mention)} at ${at} has expired before you processed it`
      : `Your mention of ${handle} at ${at} has expired: ${handle} did not process it`;
  return `${which} [${mention_id}]: ${excerpt(body, EXPIRED_EXCERPT)}`;
}

// ---- Resolving names to addressees ----
// A name is the handle or title of a session, a role, everyone, or the human. A name that reaches nobody is returned with the
// reason and with similar names.

/** The sessions that can be mentioned: living ones, and ended ones whose handle was looked up. */
export interface Directory {
  alive: readonly Session[];
  ended: readonly Session[];
  /** Whether the human has muted mentions between the author and this session. */
  isMuted(session_id: string): boolean;
}

/**
 * `unknown`: nobody has the name. `nobody`: the group of that name has no other member that accepts mentions. `ended`: its
 * session is gone. `not_shared`: the session accepts no mentions from agents. `ambiguous`: several sessions have that title.
 * `elsewhere`: only sessions of other projects have the role. `muted`: the human muted this pair. `own_heading`: the message is
 * under a heading that names this session as its author. `no_mention`: the text only looks like a mention; its `handle` is the
 * whole text.
 */
type UnresolvedReason =
  | 'unknown'
  | 'nobody'
  | 'ended'
  | 'not_shared'
  | 'ambiguous'
  | 'elsewhere'
  | 'muted'
  | 'own_heading'
  | 'no_mention';

export interface Unresolved {
  handle: string;
  reason: UnresolvedReason;
  near: string[];
}

const REASONS: Readonly<Record<UnresolvedReason, string>> = {
  unknown: 'nobody has that name',
  nobody: 'no other agent there takes mentions',
  ended: 'that session has ended; mention it again if it is resumed',
  not_shared: 'that session accepts no mentions',
  ambiguous: 'several sessions are called that',
  elsewhere: 'only sessions of other projects have that role; scope "all" reaches them',
  muted: 'the human has muted mentions between these two',
  own_heading: 'the heading names that session as the author',
  no_mention: 'a mention is a plain @ and one name, with spaces around them',
};

/** The sentence about an unresolved name, for the author of the message. */
export function explainUnresolved({ handle, reason, near }: Unresolved): string {
  const hint = didYouMean(near.map((name) => `@${name}`));
  const written = reason === 'no_mention' ? handle : `@${handle}`;
  return `${written} reached nobody: ${REASONS[reason]}.${hint}`;
}

/** The call that clears mentions by authors that a message named without processing their mentions; null if there are none. */
export function explainUndecided(mentions: readonly Pick<Mention, 'mention_id'>[]): string | null {
  if (mentions.length === 0) return null;
  const ids = JSON.stringify(mentions.map(({ mention_id }) => mention_id));
  return `You have ${mentions.length} unprocessed mentions by authors you named, and this message processed none of them. Process those that you have dealt with: hivemind_process_mentions {"mention_ids": ${ids}}.`;
}

/** Text that only looks like a mention, with the names that were probably meant. */
export function unresolvedText(text: string): Unresolved {
  const near = text.split(/[@\uff20]/).filter((name) => name !== '');
  return { handle: text, reason: 'no_mention', near };
}

export interface Resolution {
  addressees: Addressee[];
  unresolved: Unresolved[];
}

/** How many unknown names of a message are compared with similar ones: this is the only part that is not linear. */
const NEAR_LOOKUPS = 10;

type Origin = Pick<Message, 'session_id' | 'author' | 'as_handle' | 'scope' | 'project_dir'>;

/**
 * Resolves each name. Each addressee appears once. The author, and the session that the heading names as the author, never do.
 */
export function resolveMentions(names: readonly string[], message: Origin, directory: Directory): Resolution {
  const index = createNameIndex(message, directory);
  const addressees = new Map<string, Addressee>();
  const unresolved: Unresolved[] = [];
  for (const name of names) {
    const found = index.lookUp(name);
    if (typeof found === 'string') {
      const searches = found === 'unknown' && unresolved.length < NEAR_LOOKUPS;
      unresolved.push({ handle: name, reason: found, near: searches ? nearestNames(name, index.names) : [] });
      continue;
    }
    if (!Array.isArray(found)) {
      unresolved.push({ handle: name, reason: 'ambiguous', near: found.near });
      continue;
    }
    for (const addressee of found) {
      const by_name = addressee.by_name || addressees.get(addressee.session_id)?.by_name === true;
      addressees.set(addressee.session_id, { ...addressee, by_name });
    }
  }
  return { addressees: [...addressees.values()], unresolved };
}

/**
 * The addressees of a name (none when it is the author's own), or the reason why it reaches nobody. `near`: the handles of the
 * sessions that the name could mean.
 */
type LookedUp = Addressee[] | UnresolvedReason | { near: string[] };

function createNameIndex(message: Origin, { alive, ended, isMuted }: Directory) {
  const handles = new Map(alive.map((session) => [foldHandle(session.handle), session]));
  const gone = new Map(ended.map((session) => [foldHandle(session.handle), session]));
  const roles = Map.groupBy(
    alive.flatMap((session) => session.roles.map((role) => ({ role, session }))),
    ({ role }) => foldHandle(role),
  );
  const continuedBy = new Map(
    [...ended, ...alive].flatMap((session) =>
      session.continues === null ? [] : [[session.continues, session] as const],
    ),
  );
  const isNear = (session: Session): boolean =>
    message.scope === 'all' || session.project_dir === message.project_dir;
  const isAuthor = (session: Session): boolean => session.session_id === message.session_id;
  const headed = message.as_handle === null ? undefined : findNamed(foldHandle(message.as_handle));
  const isHeaded = (session: Session): boolean => session.session_id === headed?.session_id;
  /** Made when first needed: few messages name somebody by a title. */
  let byTitle: Map<string, Session[]> | null = null;

  /** The living session with this handle, or the living session that continues the one that had it. */
  function findNamed(key: string): Session | undefined {
    const past = gone.get(key);
    return handles.get(key) ?? (past && successor(past));
  }

  /** The members of a group that accept mentions. Muted ones and the author are left out silently if others are reached. */
  function reach(group: readonly Session[], by_name: boolean): Addressee[] | 'nobody' {
    const reached = group
      .filter(
        (session) =>
          session.shared && !isAuthor(session) && !isHeaded(session) && !isMuted(session.session_id),
      )
      .map(({ session_id, handle }) => ({ session_id, handle, by_name }));
    return reached.length === 0 ? 'nobody' : reached;
  }

  /** The addressees of a name. A title counts only if the name is nothing else. */
  function lookUpExactly(name: string): LookedUp {
    const found = lookUpAddress(name);
    if (found !== 'unknown' && found !== 'ended') return found;
    byTitle ??= Map.groupBy(alive, ({ title }) => titleKey(title));
    const [session, ...more] = byTitle.get(titleKey(name)) ?? [];
    if (session === undefined) return found;
    return more.length === 0 ? reachNamed(session) : { near: [session, ...more].map(({ handle }) => handle) };
  }

  function lookUpAddress(name: string): Addressee[] | UnresolvedReason {
    const key = foldHandle(name);
    if (key === foldHandle(EVERYONE)) {
      const everyone = alive.filter((one) => isNear(one) && !isSubagent(one) && !isShell(one));
      return reach(everyone, false);
    }
    if (key === foldHandle(HUMAN_HANDLE)) {
      if (message.author === 'human') return [];
      return [{ session_id: HUMAN_ADDRESSEE, handle: HUMAN_HANDLE, by_name: true }];
    }
    // A word may be both a handle and a role of other sessions; then it reaches all of them.
    const named = byName(key);
    const withRole = byRole(key);
    if (typeof named === 'string') return withRole === 'unknown' ? named : withRole;
    return typeof withRole === 'string' ? named : [...named, ...withRole];
  }

  function byName(key: string): Addressee[] | UnresolvedReason {
    const session = findNamed(key);
    if (session === undefined) return gone.has(key) ? 'ended' : 'unknown';
    return reachNamed(session);
  }

  function reachNamed(session: Session): Addressee[] | UnresolvedReason {
    if (isAuthor(session)) return [];
    if (isHeaded(session)) return 'own_heading';
    // A session that accepts no mentions still gets the human's mentions by name.
    if (!session.shared && message.author !== 'human') return 'not_shared';
    if (isMuted(session.session_id)) return 'muted';
    return [{ session_id: session.session_id, handle: session.handle, by_name: true }];
  }

  function byRole(key: string): Addressee[] | UnresolvedReason {
    const sessions = roles.get(key)?.map(({ session }) => session);
    if (sessions === undefined) return 'unknown';
    const near = sessions.filter(isNear);
    return near.length === 0 ? 'elsewhere' : reach(near, true);
  }

  /** The living session that continues an ended one under another id. */
  function successor(past: Session): Session | undefined {
    const seen = new Set<string>();
    let session: Session | undefined = past;
    while (session !== undefined && session.state === 'ended' && !seen.has(session.session_id)) {
      seen.add(session.session_id);
      session = continuedBy.get(session.session_id);
    }
    return session?.state === 'ended' ? undefined : session;
  }

  return {
    lookUp(name: string): LookedUp {
      const found = lookUpExactly(name);
      // In scripts without spaces the sentence continues right after the handle: `@Claude-abc12に`.
      const latin = /^[\x21-\x7e]+/.exec(name)?.[0].replace(/[-_]+$/, '') ?? '';
      return found === 'unknown' && latin !== '' && latin !== name ? lookUpExactly(latin) : found;
    },
    names: [
      ...new Set(alive.flatMap(({ handle, title }) => [handle, givenHandle(title) ?? handle])),
      ...new Set(alive.flatMap((session) => session.roles)),
      EVERYONE,
      HUMAN_HANDLE,
    ],
  };
}

/** `@All` leaves subagents out: their session receives it. A subagent is reached by its own handle and roles. */
function isSubagent(session: Session): boolean {
  return hostOf(session) !== session.session_id;
}

/** Whether it is a shell in which somebody typed `hive ask`, where no agent would read a mention. */
function isShell({ client }: Session): boolean {
  return client === 'cli';
}
