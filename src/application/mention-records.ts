/** What a post, a tool, a hook and a timer do to mentions, inside a transaction of theirs. */
import { authorKey } from '../domain/authors.ts';
import type { EventType } from '../domain/events.ts';
import { noteProgress } from '../domain/gate.ts';
import { pairOf } from '../domain/loop-guard.ts';
import { foldHandle } from '../domain/mention-parser.ts';
import { type Directory, resolveMentions, type Unresolved } from '../domain/mention-resolution.ts';
import {
  createMention,
  deliverMention,
  expireMention,
  type Mention,
  type MentionInFull,
  processMention,
} from '../domain/mentions.ts';
import type { Message } from '../domain/messages.ts';
import type { Via } from '../domain/prompts.ts';
import { HUMAN_ADDRESSEE, type Session } from '../domain/sessions.ts';
import { guardLoops, type Trip } from './loops.ts';
import type { Ids, ReadTx, WriteTx } from './ports.ts';

/** More than ever live at once; what lies beyond is not reached by `@All`. */
const MOST_SESSIONS = 2_000;
/** How many ended sessions are looked through for a name that no living one has. */
const RECENTLY_ENDED = 200;
/** How many such names a message may have looked up one by one. */
const LOOKUPS = 50;

export interface MentionSettings {
  ids: Ids;
  /** Null: mentions never expire. */
  ttl_ms: number | null;
}

/** Writes down the mentions of a message; what they gate, the loop guard has a say in. */
export async function mentionIn(
  tx: WriteTx,
  message: Message,
  names: readonly string[],
  { ids, ttl_ms }: MentionSettings,
): Promise<{ mentions: Mention[]; unresolved: Unresolved[]; trips: Trip[] }> {
  if (names.length === 0) return { mentions: [], unresolved: [], trips: [] };
  const asked = message.as_handle === null ? names : [message.as_handle, ...names];
  const directory = await directoryFor(tx, asked, message);
  const { addressees, unresolved } = resolveMentions(names, message, directory);
  const trips = await guardLoops(tx, message, addressees);
  const stopped = new Set(trips.map((trip) => trip.addressee.session_id));
  const mentions: Mention[] = [];
  for (const addressee of addressees) {
    const mention = createMention(message, addressee, {
      mention_id: ids.make('mention'),
      gates: !stopped.has(addressee.session_id),
      ttl_ms,
    });
    await tx.mentions.insert(mention);
    await append(tx, 'mention/created', mention, { from: message.from_handle, gates: mention.gates });
    mentions.push(mention);
  }
  return { mentions, unresolved, trips };
}

async function directoryFor(tx: ReadTx, names: readonly string[], message: Message): Promise<Directory> {
  const author = authorKey(message);
  const alive = await tx.sessions.list({ state: 'alive', limit: MOST_SESSIONS });
  const living = new Set(alive.map((session) => foldHandle(session.handle)));
  const missing = names.filter((name) => !living.has(foldHandle(name)));
  const muted = new Set<string>();
  if (author !== null) {
    for (const { first_session_id, second_session_id, state } of await tx.loops.list()) {
      if (state !== 'muted') continue;
      if (first_session_id === author) muted.add(second_session_id);
      if (second_session_id === author) muted.add(first_session_id);
    }
  }
  const ended = missing.length === 0 ? [] : await endedFor(tx, missing);
  return { alive, ended, isMuted: (other) => muted.has(other) };
}

async function endedFor(tx: ReadTx, names: readonly string[]): Promise<Session[]> {
  const ended = await tx.sessions.list({ state: 'ended', limit: RECENTLY_ENDED });
  for (const name of names.slice(0, LOOKUPS)) {
    const session = await tx.sessions.byHandle(name);
    if (session?.state === 'ended') ended.push(session);
  }
  return ended;
}

/** Stamps the receipt of those that nobody has carried to their addressee before. */
export async function deliverMentions(
  tx: WriteTx,
  mentions: readonly MentionInFull[],
  carrier: string,
): Promise<MentionInFull[]> {
  const delivered: MentionInFull[] = [];
  for (const mention of mentions) {
    const now = deliverMention(mention, carrier, tx.now);
    delivered.push(now);
    if (now === mention) continue;
    await tx.mentions.update(now);
    await append(tx, 'mention/delivered', now, { carrier });
  }
  return delivered;
}

/** Marks a mention as dealt with; one that is settled stays as it is. */
export async function settleMention<T extends Mention>(
  tx: WriteTx,
  mention: T,
  settlement: { by: string; via: Via; note: string | null },
): Promise<T> {
  const processed = processMention(mention, settlement, tx.now);
  if (processed === mention) return mention;
  await tx.mentions.update(processed);
  const { by, via, note } = settlement;
  await append(tx, 'mention/processed', processed, { by, via, note });
  const gate = await tx.gates.get(mention.session_id);
  if (gate !== undefined) await tx.gates.put(noteProgress(gate));
  return processed;
}

export async function lapseMention(tx: WriteTx, mention: Mention): Promise<void> {
  const expired = expireMention(mention);
  if (expired === mention) return;
  await tx.mentions.update(expired);
  await append(tx, 'mention/expired', expired, {});
}

/** What a session has yet to deal with goes to the one that continues it, and so do the pairs it is muted in. */
export async function moveMentions(
  tx: WriteTx,
  from: Pick<Session, 'session_id'>,
  to: Pick<Session, 'session_id' | 'handle'>,
): Promise<void> {
  for (const mention_id of await tx.mentions.move(from.session_id, to)) {
    const data = { from: from.session_id, to: to.session_id };
    await tx.events.append({ type: 'mention/moved', session_id: to.session_id, subject: mention_id, data });
  }
  for (const loop of await tx.loops.list()) {
    const { first_session_id: first, second_session_id: second } = loop;
    if (first !== from.session_id && second !== from.session_id) continue;
    const other = first === from.session_id ? second : first;
    await tx.loops.remove(loop);
    await tx.loops.put({ ...loop, ...pairOf(to.session_id, other) });
  }
}

async function append(
  tx: WriteTx,
  type: EventType,
  { mention_id, message_id, session_id, handle, status }: Mention,
  data: Record<string, unknown>,
): Promise<void> {
  await tx.events.append({
    type,
    session_id: session_id === HUMAN_ADDRESSEE ? null : session_id,
    subject: mention_id,
    data: { message_id, handle, status, ...data },
  });
}
