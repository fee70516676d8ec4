/** A tracker remembers what its calls have returned, and proves only that. */
import { expect, test } from 'vitest';
import { createDeliveryTracker, type DeliveryService, type Handed } from '../../src/application/delivery.ts';
import type { Prompt } from '../../src/domain/prompts.ts';

/** A delivery that hands over whatever it is asked for, all in the same millisecond, and counts. */
function fakeDelivery(): { delivery: DeliveryService; proven: string[]; lost: string[]; fail: boolean } {
  const fake = { proven: [] as string[], lost: [] as string[], fail: false };
  const idsOf = (handed: readonly Handed[]): string[] => handed.map(({ ask_id }) => ask_id);
  const delivery = {
    hand: async (ask_ids: readonly string[], carrier: string) =>
      ask_ids.map((ask_id) => ({
        prompt: { ask_id, status: 'responded', handed_at: 'now', collected_at: null, carrier } as Prompt,
        repeated: false,
      })),
    prove: async (_carrier: string, handed: readonly Handed[]) => {
      if (fake.fail) throw new Error('store_busy');
      fake.proven.push(...idsOf(handed));
    },
    markLost: async (_carrier: string, handed: readonly Handed[]) => void fake.lost.push(...idsOf(handed)),
    collect: async () => 0,
  } satisfies DeliveryService;
  return Object.assign(fake, { delivery });
}

test('a call proves what was returned before it came, once', async () => {
  const fake = fakeDelivery();
  const tracker = createDeliveryTracker(fake.delivery, 'mcp:1');
  const first = tracker.begin();
  await first.hand(['ask-1', 'ask-2']);
  first.returned();
  for (let n = 0; n < 2; n += 1) await tracker.begin().prove();
  expect(fake.proven).toEqual(['ask-1', 'ask-2']);
});

test('a call that came before another returned proves nothing of it', async () => {
  const fake = fakeDelivery();
  const tracker = createDeliveryTracker(fake.delivery, 'mcp:1');
  const [first, beside] = [tracker.begin(), tracker.begin()];
  await first.hand(['ask-1']);
  first.returned();
  await beside.prove();
  expect(fake.proven).toEqual([]);
  await tracker.begin().prove();
  expect(fake.proven).toEqual(['ask-1']);
});

test('what a call returned that had to wait is not proved, and delivered once more', async () => {
  const fake = fakeDelivery();
  const tracker = createDeliveryTracker(fake.delivery, 'mcp:1');
  const [waiting, quick] = [tracker.begin(), tracker.begin()];
  waiting.waits();
  await waiting.hand(['ask-1']);
  await quick.hand(['ask-2']);
  waiting.returned();
  quick.returned();
  for (let n = 0; n < 2; n += 1) await tracker.begin().prove();
  expect([fake.proven, fake.lost]).toEqual([['ask-2'], ['ask-1']]);
  const again = tracker.begin();
  await again.hand(['ask-1']);
  again.returned();
  await tracker.begin().prove();
  expect([fake.proven, fake.lost]).toEqual([['ask-2', 'ask-1'], ['ask-1']]);
});

test('a dropped call takes back what it handed over', async () => {
  const fake = fakeDelivery();
  const tracker = createDeliveryTracker(fake.delivery, 'mcp:1');
  const first = tracker.begin();
  await first.hand(['ask-1']);
  await first.dropped();
  await tracker.begin().prove();
  expect([fake.lost, fake.proven]).toEqual([['ask-1'], []]);
});

test('a proof that could not be written is not forgotten', async () => {
  const fake = fakeDelivery();
  const tracker = createDeliveryTracker(fake.delivery, 'mcp:1');
  const first = tracker.begin();
  await first.hand(['ask-1']);
  first.returned();
  fake.fail = true;
  await expect(tracker.begin().prove()).rejects.toThrow('store_busy');
  fake.fail = false;
  await tracker.begin().prove();
  expect(fake.proven).toEqual(['ask-1']);
});
