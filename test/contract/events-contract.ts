/** Events: one order, strictly increasing, in the same transaction as the change they record. */
import { expect, test } from 'vitest';
import { ask, HUMAN, introduce, openTestHive } from '../support/hive.ts';
import { append, openOn, openTwo, seqsAfter } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

const FAR_FUTURE = '2100-01-01T00:00:00.000Z';

export function eventsContract(engine: StoreEngine): void {
  test('are in one order with strictly increasing numbers, whoever writes', async () => {
    const [one, other] = await openTwo(engine);
    await Promise.all(Array.from({ length: 40 }, (_, n) => append((n % 2 === 0 ? one : other).store, 3)));
    const seqs = await seqsAfter(one.store, 0);
    expect(seqs).toHaveLength(120);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect(await seqsAfter(other.store, 0)).toEqual(seqs);
  });

  test('use no number for what was rolled back', async () => {
    const store = await openOn(engine, await engine.freshAddress());
    await append(store, 2);
    await expect(
      store.write(async (tx) => {
        await tx.events.append({ type: 'desk/notice', session_id: null, subject: 'undone', data: {} });
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await append(store, 1);
    const subjects = await store.read(async (tx) => (await tx.events.after(0, 10)).map((e) => e.subject));
    expect(subjects).toEqual(['thing', 'thing', 'thing']);
  });

  test('never use a number again after a prune', async () => {
    const address = await engine.freshAddress();
    const store = await openOn(engine, address);
    await append(store, 5);
    const head = await store.read((tx) => tx.events.head());
    await store.write((tx) => tx.retention.prune('events', FAR_FUTURE, 100));
    expect(await seqsAfter(store, 0)).toEqual([]);
    await store.close();
    const reopened = await openOn(engine, address);
    await append(reopened, 1);
    expect(await seqsAfter(reopened, 0)).toEqual([head + 1]);
  });

  test('remember how far a prune has gone', async () => {
    const store = await openOn(engine, await engine.freshAddress());
    await append(store, 5);
    await store.write((tx) => tx.retention.prune('events', FAR_FUTURE, 3));
    const [pruned, head] = await store.read(async (tx) => [await tx.events.pruned(), await tx.events.head()]);
    const [first] = await seqsAfter(store, 0);
    expect(first).toBe((pruned ?? 0) + 1);
    expect(head).toBe((pruned ?? 0) + 2);
  });

  test('record each change of a prompt in the transaction that made it', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive, { options: ['yes', 'no'] });
    await hive.prompts.mark(ask_id, 'offered');
    await hive.prompts.mark(ask_id, 'seen');
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN, response_id: 'r1' });
    await hive.prompts.amend({ ask_id, decision: 'no', actor: HUMAN, response_id: 'r2' });
    const session = await introduce(hive);
    await hive.delivery.hand([ask_id], 'mcp:1', session.session_id);
    await hive.delivery.collect('mcp:1');
    const trail = await hive.store.read((tx) => tx.events.of(ask_id, 50));
    expect(trail.map((event) => event.type)).toEqual([
      'prompt/created',
      'prompt/offered',
      'prompt/seen',
      'prompt/responded',
      'prompt/amended',
      'prompt/handed',
      'prompt/collected',
    ]);
    expect(trail[3]?.data).toMatchObject({ decision: 'yes', by: 'ada', via: 'emacs', response_id: 'r1' });
    expect(trail[4]?.data).toMatchObject({ decision: 'no', before: 'yes', response_id: 'r2' });
  });

  test('are not appended again for a receipt that exists already', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    const first = await hive.prompts.mark(ask_id, 'seen');
    const again = await hive.prompts.mark(ask_id, 'seen');
    expect(again.seen_at).toBe(first.seen_at);
    const trail = await hive.store.read((tx) => tx.events.of(ask_id, 50));
    expect(trail.map((event) => event.type)).toEqual(['prompt/created', 'prompt/seen']);
  });

  test('cannot be appended while reading', async () => {
    const store = await openOn(engine, await engine.freshAddress());
    const smuggled = store.read((tx) =>
      (tx as unknown as { events: { append(event: object): Promise<void> } }).events.append({
        type: 'desk/notice',
        session_id: null,
        subject: null,
        data: {},
      }),
    );
    await expect(smuggled).rejects.toThrow(/inside a read/);
    expect(await seqsAfter(store, 0)).toEqual([]);
  });
}
