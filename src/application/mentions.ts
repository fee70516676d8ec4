/** Mentions: creating them with a message, reading them (which changes only the receipt), processing and expiring them. */
import type { Via } from '../domain/actors.ts';
import { type Actor, HUMAN_ADDRESSEE, refusalToProcess, refuse } from '../domain/actors.ts';
import { owed } from '../domain/delivery.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { EventType } from '../domain/events.ts';
import { boundedOptional, countThatFits, parseDuration } from '../domain/limits.ts';
import { recordProgress } from '../domain/mention-gate.ts';
import { foldHandle } from '../domain/mention-parser.ts';
import {
  createMention,
  type Directory,
  deliverMention,
  expireMention,
  expirySubject,
  type Mention,
  type MentionInFull,
  type MentionSummary,
  NOTE_LIMIT,
  processMention,
  resolveMentions,
  type UnprocessedCount,
  type Unresolved,
} from '../domain/mentions.ts';
import { authorKey, authorName, type Message } from '../domain/messages.ts';
import type { Session } from '../domain/sessions.ts';
import { excerpt } from '../domain/text.ts';
import { hand } from './delivery.ts';
import { writeDue } from './expiry.ts';
import { guardLoops, type Trip } from './loops.ts';
import { giveNotice } from './notices.ts';
import type { MentionFilter, Page, ReadTx, Store, WriteTx } from './ports.ts';
import { storeSettings } from './settings.ts';
import type { Ids } from './world.ts';

export interface ProcessCommand {
  /** The addressee. */
  session_id: string;
  actor: Actor;
  /** The mentions to process, by mention_id or by message_id. */
  mention_ids?: readonly string[] | undefined;
  /** Process all unprocessed mentions instead. */
  all?: boolean | undefined;
  note?: string | null | undefined;
  /** The carrier of the result to the addressee; null when somebody else processes. */
  carrier?: string | null | undefined;
}

export interface Processed {
  processed: MentionInFull[];
  /** The processed mentions that had not been delivered to their addressee before; this result delivers them. */
  unread: MentionInFull[];
  /** The mentions that were already processed or expired. */
  already: MentionInFull[];
  /** How many unprocessed ones are left. */
  remaining: number;
}

/** How long until an agent's mention expires, in ms, by the setting `mention_ttl`; null: never. */
async function mentionTtl(tx: ReadTx): Promise<number | null> {
  const { mention_ttl } = await storeSettings(tx);
  return mention_ttl === 'never' ? null : parseDuration(mention_ttl);
}

/** Processing stops when the unread mentions would no longer fit into one result. */
const UNREAD_BYTES = 48 * 1024;

export function createMentions(store: Store) {
  const service = {
    has: (session_id: string): Promise<UnprocessedCount> =>
      store.read((tx) => tx.mentions.countUnprocessed(session_id)),
    /** One mention with its message; undefined once retention has removed it. */
    find: (mention_id: string): Promise<MentionInFull | undefined> =>
      store.read((tx) => tx.mentions.get(mention_id)),
    /** How many unprocessed mentions each session has; sessions without any are missing. */
    unprocessedBySession: () => store.read((tx) => tx.mentions.unprocessedBySession()),

    /** A session's unprocessed mentions, urgent first. Records `carrier` as the receipt, unless it is null. Processes nothing. */
    async unprocessed(session_id: string, carrier: string | null, limit?: number): Promise<MentionInFull[]> {
      const open = await store.read((tx) => tx.mentions.unprocessedOf(session_id, limit));
      if (carrier === null || open.every((mention) => mention.delivered_at !== null)) return open;
      return store.write(async (tx) =>
        deliverMentions(tx, await tx.mentions.unprocessedOf(session_id, limit), carrier),
      );
    },

    /** @throws HiveError `mention_not_found`, `not_allowed`, `invalid_input`. */
    async process(command: ProcessCommand): Promise<Processed> {
      const { session_id, actor } = command;
      refuse(refusalToProcess(actor, session_id));
      if (command.all === true && (command.mention_ids ?? []).length > 0)
        throw invalidInput('Give mention_ids, or all: true, not both. Nothing was processed.', {
          field: 'mention_ids',
        });
      const note = boundedOptional('note', command.note, NOTE_LIMIT);
      const carrier = command.carrier ?? null;
      await service.expireDue();
      return store.write(async (tx) => {
        const chosen =
          command.all === true ? await tx.mentions.unprocessedOf(session_id) : await named(tx, command);
        const waiting = chosen.filter((mention) => mention.status === 'unprocessed');
        const open = carrier === null ? waiting : fitting(waiting);
        const unread = open.filter((mention) => mention.delivered_at === null);
        const read = carrier === null ? open : await deliverMentions(tx, open, carrier);
        const processed: MentionInFull[] = [];
        for (const mention of read) {
          processed.push(await recordProcessed(tx, mention, { by: actor.by, via: actor.via, note }));
        }
        return {
          processed,
          unread,
          already: chosen.filter(({ status }) => status !== 'unprocessed'),
          remaining: (await tx.mentions.countUnprocessed(session_id)).count,
        };
      });
    },

    async history(filter: MentionFilter): Promise<Page<MentionInFull>> {
      await service.expireDue();
      return store.read((tx) => tx.mentions.list(filter));
    },

    async summary(session_id: string): Promise<MentionSummary> {
      await service.expireDue();
      return store.read((tx) => tx.mentions.summary(session_id));
    },

    /** Expires what is due, as every live process does. Returns how many expired. */
    expireDue: () => writeDue(store, (tx) => tx.mentions.expiries, recordExpiries),
  };
  return service;
}

/** The mentions whose unread texts fit into one result; the others stay unprocessed. */
function fitting(mentions: readonly MentionInFull[]): MentionInFull[] {
  const unread = mentions.filter((mention) => mention.delivered_at === null);
  const bodies = unread.map(({ body }) => body);
  const shown = new Set(unread.slice(0, countThatFits(bodies, UNREAD_BYTES)));
  return mentions.filter((mention) => mention.delivered_at !== null || shown.has(mention));
}

async function named(
  tx: WriteTx,
  { session_id, mention_ids = [] }: ProcessCommand,
): Promise<MentionInFull[]> {
  if (mention_ids.length === 0) {
    throw invalidInput('Say which mentions: give mention_ids, or all: true.', { field: 'mention_ids' });
  }
  const found = new Map<string, MentionInFull>();
  for (const id of new Set(mention_ids)) {
    const mention = (await tx.mentions.get(id)) ?? (await tx.mentions.ofMessage(id, session_id));
    if (mention === undefined || mention.session_id !== session_id) throw notFound(id);
    found.set(mention.mention_id, mention);
  }
  return [...found.values()];
}

function notFound(mention_id: string): HiveError {
  return new HiveError(
    'mention_not_found',
    `There is no mention "${mention_id}" for this session. Nothing was processed; check the ids, or process all.`,
    { mention_id },
  );
}

// ---- Steps inside a caller's transaction ----

/** More sessions than are ever alive at once; `@All` reaches no more. */
const MOST_SESSIONS = 2_000;
/** How many ended sessions are searched for a name that no living session has. */
const RECENTLY_ENDED = 200;
/** How many such names of a message are then looked up one by one. */
const LOOKUPS = 50;

/** Stores the mentions of a message. The loop guard decides which of them may gate. */
export async function mentionIn(
  tx: WriteTx,
  message: Message,
  names: readonly string[],
  ids: Ids,
): Promise<{ mentions: Mention[]; unresolved: Unresolved[]; trips: Trip[] }> {
  if (names.length === 0) return { mentions: [], unresolved: [], trips: [] };
  const asked = message.as_handle === null ? names : [message.as_handle, ...names];
  const directory = await directoryFor(tx, asked, message);
  const { addressees, unresolved } = resolveMentions(names, message, directory);
  const trips = await guardLoops(tx, message, addressees);
  const stopped = new Set(trips.map((trip) => trip.addressee.session_id));
  const mentions: Mention[] = [];
  const ttl_ms = addressees.length === 0 ? null : await mentionTtl(tx);
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

/** Records the receipt of the mentions that were not delivered to their addressee before. */
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
    await hand(tx, owed('mention', mention.mention_id, mention.session_id), carrier);
    await append(tx, 'mention/delivered', now, { carrier });
  }
  return delivered;
}

/** Marks a mention as processed; a settled one stays as it is. `answered_with`: the message that did it, for the log. */
export async function recordProcessed<T extends Mention>(
  tx: WriteTx,
  mention: T,
  settlement: { by: string; via: Via; note: string | null; answered_with?: string },
): Promise<T> {
  const processed = processMention(mention, settlement, tx.now);
  if (processed === mention) return mention;
  await tx.mentions.update(processed);
  await append(tx, 'mention/processed', processed, settlement);
  const gate = await tx.gates.get(mention.session_id);
  if (gate !== undefined) await tx.gates.put(recordProgress(gate));
  return processed;
}

async function recordExpiries(tx: WriteTx, batch: readonly Mention[]): Promise<void> {
  for (const mention of batch) await recordExpiry(tx, mention);
  await noticeExpired(tx, batch);
}

async function recordExpiry(tx: WriteTx, mention: Mention): Promise<void> {
  const expired = expireMention(mention);
  if (expired === mention) return;
  await tx.mentions.update(expired);
  await append(tx, 'mention/expired', expired, {});
  const { session_id, from_session_id } = mention;
  await oweExpiry(tx, session_id, expirySubject(mention, 'to'));
  if (from_session_id !== null) await oweExpiry(tx, from_session_id, expirySubject(mention, 'from'));
}

/** Owes a living session the notice that a mention has expired, which its next hook delivers (room.ts). */
async function oweExpiry(tx: WriteTx, session_id: string, subject: string): Promise<void> {
  const session = await tx.sessions.get(session_id);
  if (session === undefined || session.state === 'ended') return;
  await tx.deliveries.put(owed('expiry', subject, session_id));
  await tx.sessions.flagRoom(session_id);
}

const EXCERPT = 80;

/** Notifies the human of their own mentions that have expired, with one notice a message. */
async function noticeExpired(tx: WriteTx, expired: readonly Mention[]): Promise<void> {
  const own = expired.filter(({ from_session_id }) => from_session_id === null);
  for (const [message_id, mentions] of Map.groupBy(own, (mention) => mention.message_id)) {
    const body = (await tx.messages.intact(message_id))?.body ?? '';
    const titles = mentions.map(
      async ({ session_id, handle }) => (await tx.sessions.get(session_id))?.title ?? handle,
    );
    const names = (await Promise.all(titles)).join(', ');
    await giveNotice(tx, {
      severity: 'info',
      text: `A mention of yours has expired: ${names} did not process "${excerpt(body, EXCERPT)}". Write again if it still matters.`,
      session_id: mentions.length === 1 ? (mentions[0]?.session_id ?? null) : null,
      data: {
        notice: 'mention_expired',
        message_id,
        mention_ids: mentions.map(({ mention_id }) => mention_id),
      },
    });
  }
}

/** The name of a mention's author for people, which is an agent's title. Agents read its handle, which they can mention. */
export async function titledAuthor(
  tx: ReadTx,
  {
    from_session_id,
    from_handle,
    as_handle,
  }: Pick<MentionInFull, 'from_session_id' | 'from_handle' | 'as_handle'>,
): Promise<string> {
  const session = from_session_id === null ? undefined : await tx.sessions.get(from_session_id);
  return authorName({ from_handle: session?.title ?? from_handle, as_handle });
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
