/**
 * Messages: posting to the shared buffer and reading it. A post is one transaction: the message, its mentions, the processed
 * mention that it replies to, and their events.
 */

import { HUMAN_ADDRESSEE } from '../domain/actors.ts';
import { HiveError } from '../domain/errors.ts';
import { countThatFits } from '../domain/limits.ts';
import { foldHandle, parseMentions } from '../domain/mention-parser.ts';
import { explainUnresolved, type Mention, type Unresolved, unresolvedText } from '../domain/mentions.ts';
import {
  type Author,
  authorOfBlock,
  type Block,
  type BlockOrigin,
  createMessage,
  isBlockOf,
  type Message,
  messageBody,
  messageNotFound,
  type PostRequest,
} from '../domain/messages.ts';
import { type QuotaRefusal, tooMany } from '../domain/quotas.ts';
import { HUMAN_HANDLE, type Session } from '../domain/sessions.ts';
import { cleanOptional, cleanText } from '../domain/text.ts';
import { authorNamed } from './history.ts';
import { hopsOf, humanWrote, type Trip } from './loops.ts';
import { mentionIn, recordProcessed } from './mentions.ts';
import type { MessageFilter, MessagePage, ReadTx, Store, WriteTx } from './ports.ts';
import { chargeQuotas } from './quotas.ts';
import { announceInRoom } from './room.ts';
import type { Ids } from './world.ts';

/** A message to post. */
export interface PostCommand extends PostRequest {
  author: Author;
  /** The poster's name for the event log; default: the author's handle. */
  by?: string | undefined;
  /** Chosen by the sender, so that a message that is sent twice is stored once. Generated if missing. */
  message_id?: string | null | undefined;
  /**
   * The heading of a block that was found in a buffer. A block equal to a stored message (same name, time and
   * body) is not posted again; a name that is not the author's is kept as `as_handle`. `origin`, by default `typed`,
   * decides whether `author` is its author or the author is unverified (`authorOfBlock`).
   */
  heading?: (Pick<Block, 'handle' | 'stamp'> & { origin?: BlockOrigin | undefined }) | null | undefined;
}

/** The result of a post. */
export interface Posted {
  message: Message;
  /** Whether it was already stored; then nothing was posted and nobody was mentioned. */
  existing: boolean;
  mentions: Mention[];
  unresolved: Unresolved[];
  /** The mentions that this message processed: the one that it replies to, or the only one by an author whom it names. */
  answered: Mention[];
  /** Mentions by an author whom it names and who has several, so that it processed none of them. */
  undecided: Mention[];
  /** Addressees that get the message but are not gated, because of a loop. */
  trips: Trip[];
}

const SAME_BODIES = 100;

export function createMessages(store: Store, ids: Ids) {
  return {
    /** Like `get`; undefined if there is none. */
    find: (message_id: string): Promise<Message | undefined> =>
      store.read((tx) => tx.messages.get(message_id)),

    /** @throws HiveError `invalid_input`, `message_not_found` (of `reply_to`), `idempotency_conflict`, `too_many`. */
    async post(given: PostCommand): Promise<Posted> {
      // Parsed outside the transaction, so that no writer waits for it.
      const body = messageBody(given.body);
      const command = { ...given, body };
      const missed = new Set<string>();
      const names = parseMentions(body, missed);
      const posted = await store.write(async (tx) => {
        const before = await alreadyPosted(tx, command);
        if (before !== undefined) return before;
        const refusal = await chargeMentions(tx, command, names);
        if (refusal !== null) return refusal;
        const { message, parent } = await writeMessage(tx, command, ids.make('msg'));
        const { mentions, unresolved, trips } = await mentionIn(tx, message, names, ids);
        await announceInRoom(tx, message);
        const { answered, undecided } =
          parent === null
            ? await processByName(tx, message, mentions, command)
            : await processByReply(tx, parent, message, command);
        if (message.author === 'human') await humanWrote(tx, message);
        unresolved.push(...[...missed].map(unresolvedText));
        return { message, existing: false, mentions, unresolved, answered, undecided, trips };
      });
      if ('quota' in posted) throw tooMany(posted);
      return posted;
    },

    /** @throws HiveError `message_not_found`. */
    get: (message_id: string): Promise<Message> => store.read((tx) => find(tx, message_id)),
    /** A page, oldest first: with `after` the messages since then, else the last ones. */
    read: (filter: MessageFilter): Promise<MessagePage> => store.read((tx) => readPage(tx, filter)),
    /** The same, limited to `bytes` of JSON: the first messages with `after`, else the last; at least one. */
    readFitting: (filter: MessageFilter, bytes: number): Promise<MessagePage> =>
      store.read((tx) => readFitting(tx, filter, bytes)),

    /**
     * The room for a session, a page of at most `bytes`: the latest messages, or those after `after`. Messages that were read
     * without a gap are recorded as read, which is only a receipt. `unread` is a cursor for unread news before the latest
     * messages; null if there is none.
     */
    async readRoom(
      { session_id, project_dir, room_read }: Pick<Session, 'session_id' | 'project_dir' | 'room_read'>,
      { after, limit }: Pick<MessageFilter, 'after' | 'limit'>,
      bytes: number,
    ): Promise<MessagePage & { unread: string | null }> {
      const { page, isWhole, unread } = await store.read(async (tx) => {
        const page = await readFitting(tx, { project_dir, limit, after }, bytes);
        const [first] = page.items;
        if (room_read === null || first === undefined) return { page, isWhole: false, unread: null };
        const between = { project_dir, after: room_read, before: first.seq, limit: 1 };
        if (after !== undefined)
          return { page, isWhole: (await tx.messages.list(between)).items.length === 0, unread: null };
        // Its own messages are not news. One more than the page is read, which then includes any news before the page.
        const newest = { session_id, project_dir, after: room_read, limit: page.items.length + 1 };
        const isWhole = (await tx.messages.newsFor(newest)).every((news) => news.seq >= first.seq);
        return { page, isWhole, unread: isWhole ? null : tx.messages.cursorOf(room_read) };
      });
      const seq = page.items.at(-1)?.seq ?? 0;
      if (isWhole && room_read !== null && room_read < seq)
        await store.writeUnflushed((tx) => tx.sessions.readRoom(session_id, seq));
      return { ...page, unread };
    },
  };
}

/** Both reads are in one transaction, because a message posted in between might not fit. */
async function readFitting(tx: ReadTx, filter: MessageFilter, bytes: number): Promise<MessagePage> {
  const page = await readPage(tx, filter);
  const forward = filter.after !== undefined && filter.after !== null;
  const count = countThatFits(forward ? page.items : page.items.toReversed(), bytes);
  return count === page.items.length ? page : readPage(tx, { ...filter, limit: count });
}

async function readPage(tx: ReadTx, filter: MessageFilter): Promise<MessagePage> {
  const { from_handle } = filter;
  const from = from_handle === undefined ? undefined : await authorNamed(tx, from_handle);
  return tx.messages.list({ ...filter, from_handle: from });
}

async function find(tx: ReadTx, message_id: string): Promise<Message> {
  const message = await tx.messages.get(message_id);
  if (message === undefined) throw messageNotFound(message_id);
  return message;
}

/** Charges the quotas of an agent that mentions somebody. Messages through the human's Emacs are not charged. */
async function chargeMentions(
  tx: WriteTx,
  { author, priority }: PostCommand,
  names: readonly string[],
): Promise<QuotaRefusal | null> {
  if (names.length === 0 || author.session_id === null || author.via === 'emacs') return null;
  const session = await tx.sessions.get(author.session_id);
  if (session === undefined) return null;
  const urgesHuman =
    priority === 'urgent' && names.some((name) => foldHandle(name) === foldHandle(HUMAN_HANDLE));
  return chargeQuotas(tx, session, {
    quota_mentions: names.length,
    quota_criticals: urgesHuman ? 1 : 0,
  });
}

/** The result of an earlier post of this message; undefined if there was none. */
async function alreadyPosted(tx: ReadTx, command: PostCommand): Promise<Posted | undefined> {
  const { body, message_id, heading } = command;
  if (message_id !== undefined && message_id !== null) {
    const message = await tx.messages.get(message_id);
    if (message !== undefined && message.body !== body) throw conflict(message_id);
    if (message !== undefined) return existing(message);
  }
  if (heading === undefined || heading === null) return undefined;
  const block = { stamp: heading.stamp, handle: cleanText(heading.handle), body };
  const same = (await tx.messages.byBody(body, SAME_BODIES)).find((message) => isBlockOf(message, block));
  return same === undefined ? undefined : existing(same);
}

function existing(message: Message): Posted {
  return { message, existing: true, mentions: [], unresolved: [], ...NOTHING_ANSWERED, trips: [] };
}

async function writeMessage(
  tx: WriteTx,
  command: PostCommand,
  fresh_id: string,
): Promise<{ message: Message; parent: Message | null }> {
  const { author, by } = writerOf(command);
  const { heading } = command;
  const reply_to = cleanOptional(command.reply_to);
  const parent = reply_to === null ? null : await find(tx, reply_to);
  const typedAs = heading === undefined || heading === null ? null : cleanText(heading.handle);
  const message = createMessage(command, author, {
    message_id: command.message_id ?? fresh_id,
    seq: await tx.messages.nextSeq(),
    now: tx.now,
    parent,
    hops: await hopsOf(tx, author, parent),
    by: cleanText(by),
    under:
      typedAs === null
        ? null
        : { handle: typedAs === author.handle ? null : typedAs, stamp: heading?.stamp ?? '' },
  });
  await tx.messages.insert(message);
  const { message_id, session_id, project, thread, priority, via } = message;
  await tx.events.append({
    type: 'message/posted',
    session_id,
    subject: message_id,
    data: { from: message.from_handle, by, author: message.author, project, thread, priority, via },
  });
  return { message, parent };
}

/** The author of the message, and the recorded poster. */
function writerOf({ author: writer, by = writer.handle, heading }: PostCommand): {
  author: Author;
  by: string;
} {
  if (heading === undefined || heading === null) return { author: writer, by };
  const author = authorOfBlock(writer, { ...heading, handle: cleanText(heading.handle) }, by);
  // A program's text is not the human's post just because it came through their Emacs.
  return { author, by: heading.origin === 'program' ? author.handle : by };
}

type Answered = Pick<Posted, 'answered' | 'undecided'>;
const NOTHING_ANSWERED: Answered = { answered: [], undecided: [] };

/** A reply processes the mention that its author had in the message it replies to. */
async function processByReply(
  tx: WriteTx,
  parent: Message,
  { message_id, session_id, author }: Message,
  command: PostCommand,
): Promise<Answered> {
  const addressee = author === 'human' ? HUMAN_ADDRESSEE : session_id;
  const mention = addressee === null ? undefined : await tx.mentions.ofMessage(parent.message_id, addressee);
  if (mention === undefined || mention.status !== 'unprocessed') return NOTHING_ANSWERED;
  return { answered: [await settle(tx, mention, 'replied', message_id, command)], undecided: [] };
}

/**
 * An agent that answers an author by name, without a reply, has dealt with that author's mention that it has read, if there is
 * only one. If there are several, only the agent knows which one it meant.
 */
async function processByName(
  tx: WriteTx,
  { message_id, session_id, author }: Message,
  mentions: readonly Mention[],
  command: PostCommand,
): Promise<Answered> {
  const named = new Set(mentions.filter(({ by_name }) => by_name).map((mention) => mention.session_id));
  if (author !== 'agent' || session_id === null || named.size === 0) return NOTHING_ANSWERED;
  const open = Map.groupBy(await tx.mentions.unprocessedOf(session_id), (mention) =>
    mention.author === 'human' ? HUMAN_ADDRESSEE : mention.from_session_id,
  );
  const found: Answered = { answered: [], undecided: [] };
  for (const name of named) {
    const [mention, ...more] = open.get(name) ?? [];
    if (mention !== undefined && more.length > 0) found.undecided.push(mention, ...more);
    else if (mention !== undefined && mention.delivered_at !== null)
      found.answered.push(await settle(tx, mention, 'answered in a message', message_id, command));
  }
  return found;
}

/** The note is for people; the log has the id of the message. */
function settle(
  tx: WriteTx,
  mention: Mention,
  note: string,
  answered_with: string,
  { author, by }: PostCommand,
): Promise<Mention> {
  return recordProcessed(tx, mention, { by: by ?? author.handle, via: author.via, note, answered_with });
}

/** The sessions and mentions that a post has reached and settled, as lists, the same on every wire. */
export function reachedBy({ mentions, unresolved, answered, trips }: Posted): {
  mentioned: string[];
  unresolved: (Unresolved & { sentence: string })[];
  answered: string[];
  not_held: string[];
} {
  return {
    mentioned: mentions.map((mention) => mention.handle),
    unresolved: unresolved.map((one) => ({ ...one, sentence: explainUnresolved(one) })),
    answered: answered.map((mention) => mention.mention_id),
    not_held: trips.map((trip) => trip.addressee.handle),
  };
}

function conflict(message_id: string): HiveError {
  return new HiveError(
    'idempotency_conflict',
    `The message ${message_id} was posted before with another body. Use a new message_id for a new message.`,
    { message_id },
  );
}
