/**
 * The outbox: what the human has answered or written, and the server has not acknowledged. An entry is stored before the page
 * says that it is queued, goes out in order, and leaves only when the server has said what became of it. Page, browser and
 * phone may end at any moment: its id makes the server take the same entry once.
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

/** Takes out an entry whose fate the human has read. */
export async function dismiss(number: number): Promise<void> {
  await storage((database) => database.delete('outbox', number));
}

/** Answers a delayed one again: the same answer, given now. */
export async function renew(entry: OutboxEntry): Promise<void> {
  if (entry.queued.kind !== 'answer') return;
  const queued = { ...entry.queued, responded_at: storeTime() };
  await put({ ...entry, queued, fate: { state: 'queued' } });
}

/** Sends an entry again on which the server has failed: the same one, given when it was given. */
export async function retry(entry: OutboxEntry): Promise<void> {
  await put({ ...entry, fate: { state: 'queued' }, failures: 0 });
}

async function put(entry: OutboxEntry): Promise<void> {
  await changeOutbox(async (outbox) => void (await outbox.put(entry)));
}

/** Records what became of an entry, unless another page has done that, or the human answered it again. */
async function settle(number: number, { queued: sent }: OutboxEntry, fate: Fate): Promise<void> {
  await changeOutbox(async (outbox) => {
    const entry = await outbox.get(number);
    if (entry?.fate.state !== 'queued' || timeOf(entry.queued) !== timeOf(sent)) return;
    // Nothing to read about a message that was posted, or an answer that counts.
    const isOver = fate.state === 'done' && (sent.kind === 'message' || fate.reply.accepted === true);
    if (isOver) await outbox.delete(number);
    else await outbox.put({ ...entry, fate });
  });
}

/** So many failures of the server on one entry are no accident. */
const MOST_FAILURES = 5;

/** Counts a failure of the server on this entry. It stays here for as long as its human keeps it. */
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
/** A page that the phone has put to sleep keeps its lock. What two pages send twice counts once. */
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
 * Sends what is queued, in order, until all is sent or the server cannot be reached. An entry on which it fails lets those
 * of other subjects pass. One page of this device does it at a time. `settled` is called with each entry whose fate is known.
 * An entry that was accepted, and so is all done, is kept no longer.
 * @throws Unreachable where something is still queued.
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
    // A device that is not let in now may be let in again: its human has given these answers all the same.
    if (!(error instanceof Refused) || error.atDoor)
      throw error instanceof Unreachable ? error : new Unreachable(String(error));
    const { code, message, details } = error;
    if (code !== 'answer_stale') return { state: 'refused', code, message };
    // The clock of this device was set since it last asked for the store's.
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
  // Something else than Hive may answer at this address, and then nothing is stored.
  if (reply?.ask_id !== ask_id || typeof reply.accepted !== 'boolean')
    throw new Failed('What answered is not Hive.');
  return reply;
}

async function sendMessage(
  device: OwnDevice,
  { body, reply_to, message_id }: QueuedMessage,
): Promise<AnswerReply> {
  const params = { body, reply_to, message_id, store_id: device.store_id };
  const reply = await call<{ message?: { message_id?: string } } | undefined>(device, 'message/post', params);
  if (reply?.message?.message_id !== message_id) throw new Failed('What answered is not Hive.');
  return {};
}
