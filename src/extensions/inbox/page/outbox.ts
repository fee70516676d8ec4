/**
 * The outbox: answers and messages of the human that the server has not acknowledged. An entry is stored before the page
 * reports it as queued, is sent in order, and leaves only when the server has reported its outcome. Page, browser and
 * phone may end at any moment: thanks to its id, the server accepts the same entry only once.
 */

import type { PromptAnswer } from '../../../domain/prompts.ts';
import { answerText } from '../../../domain/seats.ts';
import { sign } from './keys.ts';
import { call, Failed, Refused, setStoreTime, storeTime, Unreachable } from './server.ts';
import {
  type AnswerReply,
  changeOutbox,
  type Fate,
  type OutboxEntry,
  type OwnDevice,
  type Queued,
  type QueuedAnswer,
  type QueuedMessage,
  storage,
} from './storage.ts';
import { WORDS } from './words.ts';

/** Stores an entry; it is queued once this has resolved. A second tap on a question whose answer is queued changes nothing. */
export async function queue(queued: Queued): Promise<void> {
  const device = await storage((database) => database.get('device', 'own'));
  if (device === undefined) throw new Error('This device is not paired.');
  const entry: OutboxEntry = { store_id: device.store_id, queued, fate: { state: 'queued' } };
  await changeOutbox(async (outbox) => {
    const isAnswered = (await outbox.getAll()).some(
      ({ queued: other, fate }) =>
        queued.kind === 'answer' &&
        other.kind === 'answer' &&
        other.ask_id === queued.ask_id &&
        ['queued', 'delayed', 'stuck'].includes(fate.state),
    );
    if (!isAnswered) await outbox.add(entry);
  });
}

/** Every entry that is still here, oldest first. */
export async function entries(): Promise<OutboxEntry[]> {
  return storage((database) => database.getAll('outbox'));
}

/** Removes an entry whose outcome the human has read. */
export async function dismiss(number: number): Promise<void> {
  await storage((database) => database.delete('outbox', number));
}

/** Gives a delayed answer again: the same answer, with the present time. */
export async function renew(entry: OutboxEntry): Promise<void> {
  if (entry.queued.kind !== 'answer') return;
  const queued = { ...entry.queued, responded_at: storeTime() };
  await put({ ...entry, queued, fate: { state: 'queued' } });
}

/** Sends an entry again on which the server has failed: the same entry, with its original time. */
export async function retry(entry: OutboxEntry): Promise<void> {
  await put({ ...entry, fate: { state: 'queued' }, failures: 0 });
}

async function put(entry: OutboxEntry): Promise<void> {
  await changeOutbox(async (outbox) => void (await outbox.put(entry)));
}

/** Records the outcome of an entry, unless another page has recorded it, or the human answered again. */
async function settle(number: number, { queued: sent }: OutboxEntry, fate: Fate): Promise<void> {
  await changeOutbox(async (outbox) => {
    const entry = await outbox.get(number);
    if (entry?.fate.state !== 'queued' || timeOf(entry.queued) !== timeOf(sent)) return;
    // The human need not read about a message that reached everybody, or an answer that counts.
    const isOver =
      fate.state === 'done' &&
      (sent.kind === 'message' ? fate.reply.missed === undefined : fate.reply.accepted === true);
    if (isOver) await outbox.delete(number);
    else await outbox.put({ ...entry, fate });
  });
}

/** After this many failures on one entry, the server will not accept it by itself. */
const MOST_FAILURES = 5;

/** Counts a failure of the server on this entry, which is kept until its human discards it. */
async function countFailure(number: number, message: string): Promise<OutboxEntry | undefined> {
  return changeOutbox(async (outbox) => {
    const entry = await outbox.get(number);
    if (entry?.fate.state !== 'queued') return undefined;
    const failures = (entry.failures ?? 0) + 1;
    const fate: Fate = failures < MOST_FAILURES ? entry.fate : { state: 'stuck', message };
    const counted = { ...entry, failures, fate };
    await outbox.put(counted);
    return counted;
  });
}

const timeOf = (queued: Queued): string | null => (queued.kind === 'answer' ? queued.responded_at : null);

const LOCK = 'hive-outbox';
/** In ms. A page that the phone has put to sleep keeps its lock. An entry that two pages send counts once. */
const LOCK_MS = 60_000;

async function alone(work: () => Promise<void>): Promise<void> {
  try {
    await navigator.locks.request(LOCK, { signal: AbortSignal.timeout(LOCK_MS) }, work);
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'TimeoutError') throw error;
    await navigator.locks.request(LOCK, { steal: true }, work);
  }
}

/** Entries with the same subject keep their order. */
const subjectOf = (queued: Queued): string => (queued.kind === 'answer' ? queued.ask_id : queued.kind);

/**
 * Sends what is queued, in order, until all is sent or the server cannot be reached. An entry on which the server fails does not
 * hold up entries of other subjects. One page of this device does this at a time. `settled` is called with each entry whose
 * outcome is known. An accepted entry is removed.
 * @throws Unreachable if something is still queued.
 */
export async function sendQueued(
  device: OwnDevice,
  settled: (entry: OutboxEntry) => Promise<void> | void,
): Promise<void> {
  await alone(async () => {
    const held = new Map<string, Failed>();
    for (const entry of await entries()) {
      const subject = subjectOf(entry.queued);
      if (entry.fate.state !== 'queued' || entry.number === undefined || held.has(subject)) continue;
      try {
        const fate = await send(device, entry);
        await settle(entry.number, entry, fate);
        await settled({ ...entry, fate });
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        const counted = error.byHive ? await countFailure(entry.number, error.message) : undefined;
        if (counted?.fate.state === 'stuck') await settled(counted);
        else held.set(subject, error);
      }
    }
    const [failed] = held.values();
    if (failed !== undefined) throw failed;
  });
}

async function send(device: OwnDevice, { queued, store_id }: OutboxEntry): Promise<Fate> {
  if (store_id !== device.store_id)
    return { state: 'refused', code: 'wrong_store', message: WORDS.otherHive };
  try {
    const reply =
      queued.kind === 'answer' ? await sendAnswer(device, queued) : await sendMessage(device, queued);
    return { state: 'done', reply };
  } catch (error) {
    // A device that is refused now may be admitted again, and its human has still given these answers.
    if (!(error instanceof Refused) || error.atDoor)
      throw error instanceof Unreachable ? error : new Unreachable(String(error));
    const { code, message, details } = error;
    if (code !== 'answer_stale') return { state: 'refused', code, message };
    // The clock of this device was changed since it last got the store's time.
    setStoreTime(details['now']);
    return { state: 'delayed', message };
  }
}

async function sendAnswer(device: OwnDevice, queued: QueuedAnswer): Promise<AnswerReply> {
  const { kind: _, question: __, ...answer } = queued;
  const { ask_id, displayed_digest, decision, selected, comment, response_id, responded_at } = answer;
  const signed: PromptAnswer = {
    decision,
    selected,
    comment,
    by: device.human,
    via: 'inbox',
    attested: true,
    response_id,
    responded_at,
  };
  const text = answerText({
    store_id: device.store_id,
    ask_id,
    displayed_digest: displayed_digest ?? '',
    answer: signed,
  });
  const signature = await sign(device.secret, text);
  const params = { ...answer, store_id: device.store_id, signature };
  const reply = await call<AnswerReply | undefined>(device, 'hivemind-response', params);
  // Another program than Hive may answer at this address, and then nothing is stored.
  if (reply?.ask_id !== ask_id || typeof reply.accepted !== 'boolean')
    throw new Failed('The server at this address is not Hive.');
  return reply;
}

interface PostReply {
  message?: { message_id?: string };
  unresolved?: readonly { sentence: string }[];
}

async function sendMessage(
  device: OwnDevice,
  { body, reply_to, message_id }: QueuedMessage,
): Promise<AnswerReply> {
  const params = { body, reply_to, message_id, store_id: device.store_id };
  const reply = await call<PostReply | undefined>(device, 'message/post', params);
  if (reply?.message?.message_id !== message_id) throw new Failed('The server at this address is not Hive.');
  const missed = (reply.unresolved ?? []).map(({ sentence }) => sentence);
  return missed.length === 0 ? {} : { missed: missed.join(' ') };
}
