/** Runs in a page of the inbox: taps and sends through the page's own modules, and reports each step to the test. */

import type { Prompt } from '../../../src/domain/prompts.ts';
import { answerOf } from '../../../src/extensions/inbox/page/answering.ts';
import { randomId } from '../../../src/extensions/inbox/page/keys.ts';
import { dismiss, entries, queue, sendQueued } from '../../../src/extensions/inbox/page/outbox.ts';
import { call, signIn, storeTime } from '../../../src/extensions/inbox/page/server.ts';
import { type OutboxEntry, type OwnDevice, storage } from '../../../src/extensions/inbox/page/storage.ts';

export interface RacePage {
  /** Taps this option of each question, twice, and sends meanwhile; resolves when the fate of every answer is known. */
  answerAll(ask_ids: readonly string[], label: string): Promise<void>;
}

/** A report of the page: an answer is in its outbox, or the store has said what became of it. */
export type Report =
  | { step: 'queued'; ask_id: string; response_id: string }
  | { step: 'settled'; ask_id: string; response_id: string; won: boolean; decision: string };

/** The test hears it (racers.ts). */
declare function report(said: Report): Promise<void>;

/** Until it works: the server may be away. */
async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch {
      await pause(200);
    }
  }
}

function pause(ms: number): Promise<void> {
  // biome-ignore lint/plugin: it runs in the page, and tries again as the page does
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Two taps at once: one answer, of either. */
async function tapTwice(prompt: Prompt, label: string): Promise<void> {
  const taps = [0, 1].map(() => {
    const stamp = { response_id: randomId('response'), responded_at: storeTime(), displayed_digest: null };
    return queue(answerOf(prompt, { selected: [label], comment: null }, stamp));
  });
  await Promise.all(taps);
  // An answer that was sent and accepted at once is no longer there.
  for (const { queued } of await entries())
    if (queued.kind === 'answer' && queued.ask_id === prompt.ask_id)
      await report({ step: 'queued', ask_id: queued.ask_id, response_id: queued.response_id });
}

async function reportFate({ queued, fate }: OutboxEntry): Promise<void> {
  if (queued.kind !== 'answer') return;
  const { ask_id, response_id } = queued;
  if (fate.state !== 'done') throw new Error(`${ask_id}: ${JSON.stringify(fate)}`);
  const { accepted, decision } = fate.reply;
  await report({ step: 'settled', ask_id, response_id, won: accepted === true, decision: decision ?? '' });
}

const race: RacePage = {
  async answerAll(ask_ids, label) {
    const device = (await storage((database) => database.get('device', 'own'))) as OwnDevice;
    await insist(() => signIn(device));
    const [first = ''] = ask_ids;
    const { prompt } = await insist(() => call<{ prompt: Prompt }>(device, 'prompt/get', { ask_id: first }));
    let tapping = true;
    const sending = (async () => {
      for (;;) {
        const isLast = !tapping;
        const failed: unknown[] = [];
        await insist(() =>
          sendQueued(device, (entry) => reportFate(entry).catch((error) => void failed.push(error))),
        );
        if (failed.length > 0) throw failed[0];
        if (isLast) return;
        await pause(5);
      }
    })();
    const tapAll = (async () => {
      for (const ask_id of ask_ids) await tapTwice({ ...prompt, ask_id }, label);
      tapping = false;
    })();
    await Promise.all([tapAll, sending]);
    // The human has read who was first.
    for (const { number = 0 } of await entries()) await dismiss(number);
  },
};
Object.assign(globalThis, { race });
