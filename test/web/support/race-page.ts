/** Runs in a page of the inbox: answers through the page's own modules, as many taps would. */

import type { Prompt } from '../../../src/domain/prompts.ts';
import { answerOf } from '../../../src/inbox/answering.ts';
import { randomId } from '../../../src/inbox/keys.ts';
import { dismiss, entries, queue, sendQueued } from '../../../src/inbox/outbox.ts';
import { call, signIn, storeTime } from '../../../src/inbox/server.ts';
import { type OutboxEntry, type OwnDevice, storage } from '../../../src/inbox/storage.ts';

export interface RacePage {
  /** Answers these with this option, and resolves when the fate of each answer is known. */
  answerAll(
    ask_ids: readonly string[],
    label: string,
  ): Promise<{ ask_id: string; won: boolean; decision: string }[]>;
}

/** Until it works: the server may be away. */
async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch {
      // biome-ignore lint/plugin: it runs in the page, and tries again as the page does
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

const race: RacePage = {
  async answerAll(ask_ids, label) {
    const device = (await (await storage()).get('device', 'own')) as OwnDevice;
    await insist(() => signIn(device));
    const [first = ''] = ask_ids;
    const { prompt } = await insist(() => call<{ prompt: Prompt }>(device, 'prompt/get', { ask_id: first }));
    for (const ask_id of ask_ids) {
      const stamp = { response_id: randomId('response'), responded_at: storeTime(), displayed_digest: null };
      await queue(answerOf({ ...prompt, ask_id }, { selected: [label], comment: null }, stamp));
    }
    const settled: OutboxEntry[] = [];
    await insist(() =>
      sendQueued(device, async (entry) => {
        settled.push(entry);
      }),
    );
    for (const { number = 0 } of await entries()) await dismiss(number);
    return settled.flatMap(({ queued, fate }) => {
      if (queued.kind !== 'answer') return [];
      if (fate.state !== 'done') throw new Error(`${queued.ask_id}: ${JSON.stringify(fate)}`);
      const { accepted, decision } = fate.reply;
      return [{ ask_id: queued.ask_id, won: accepted === true, decision: decision ?? '' }];
    });
  },
};
Object.assign(globalThis, { race });
