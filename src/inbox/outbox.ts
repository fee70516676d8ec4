/**
 * The outbox: what the human has answered or written, and the server has not acknowledged. An entry is stored before the page
 * says that it is queued, goes out in order, and leaves only when the server has said what became of it. Page, browser and
 * phone may end at any moment: its id makes the server take the same entry once.
 */

import type { PromptAnswer } from '../domain/prompts.ts';
import { answerText } from '../domain/seats.ts';
import { sign } from './keys.ts';
import { call, Refused, storeTime, Unreachable } from './server.ts';
import {
  type AnswerReply,
  type Fate,
  type OutboxEntry,
  type OwnDevice,
  type Queued,
  type QueuedAnswer,
  type QueuedMessage,
  storage,
} from './storage.ts';

/** Stores an entry; it is queued once this has resolved. A second tap on a question whose answer is queued changes nothing. */
export async function queue(queued: Queued): Promise<void> {
  const database = await storage();
  const entry: OutboxEntry = { queued, fate: { state: 'queued' } };
  const written = database.transaction('outbox', 'readwrite', { durability: 'strict' });
  const isAnswered = (await written.store.getAll()).some(
    ({ queued: other, fate }) =>
      queued.kind === 'answer' &&
      other.kind === 'answer' &&
      other.ask_id === queued.ask_id &&
      (fate.state === 'queued' || fate.state === 'delayed'),
  );
  if (!isAnswered) await written.store.add(entry);
  await written.done;
}

/** Every entry that is still here, oldest first. */
export async function entries(): Promise<OutboxEntry[]> {
  return (await storage()).getAll('outbox');
}

/** Takes out an entry whose fate the human has read. */
export async function dismiss(number: number): Promise<void> {
  await (await storage()).delete('outbox', number);
}

/** Answers a delayed one again: the same answer, given now. */
export async function renew(entry: OutboxEntry): Promise<void> {
  if (entry.queued.kind !== 'answer') return;
  const queued = { ...entry.queued, responded_at: storeTime() };
  await put({ ...entry, queued, fate: { state: 'queued' } });
}

async function put(entry: OutboxEntry): Promise<void> {
  const database = await storage();
  const written = database.transaction('outbox', 'readwrite', { durability: 'strict' });
  await written.store.put(entry);
  await written.done;
}

/**
 * Sends what is queued, in order, until all is sent or the server cannot be reached. One page of this device does it at a time.
 * `settled` is called with each entry whose fate is known. What was accepted, and so is all done, is kept no longer.
 * @throws Unreachable.
 */
export async function sendQueued(
  device: OwnDevice,
  settled: (entry: OutboxEntry) => Promise<void> | void,
): Promise<void> {
  await navigator.locks.request('hive-outbox', async () => {
    for (const entry of await entries()) {
      if (entry.fate.state !== 'queued' || entry.number === undefined) continue;
      const fate = await send(device, entry.queued);
      const isOver =
        fate.state === 'done' && (entry.queued.kind === 'message' || fate.reply.accepted === true);
      if (isOver) await dismiss(entry.number);
      else await put({ ...entry, fate });
      await settled({ ...entry, fate });
    }
  });
}

async function send(device: OwnDevice, queued: Queued): Promise<Fate> {
  try {
    const reply =
      queued.kind === 'answer' ? await sendAnswer(device, queued) : await sendMessage(device, queued);
    return { state: 'done', reply };
  } catch (error) {
    if (!(error instanceof Refused))
      throw error instanceof Unreachable ? error : new Unreachable(String(error));
    const { code, message } = error;
    return code === 'answer_stale' ? { state: 'delayed', message } : { state: 'refused', code, message };
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
  return call(device, 'hivemind-response', { ...answer, store_id: device.store_id, signature });
}

async function sendMessage(
  device: OwnDevice,
  { body, reply_to, message_id }: QueuedMessage,
): Promise<AnswerReply> {
  const params = { body, reply_to, message_id, store_id: device.store_id };
  await call(device, 'message/post', params);
  return {};
}
