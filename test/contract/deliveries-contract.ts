/** Deliveries: the receipts of everything that is delivered to an agent, the same on every engine. */
import { expect, test } from 'vitest';
import type { Receipts } from '../../src/domain/delivery.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduce } from '../support/hive.ts';
import { join, post } from '../support/messages.ts';
import { agent } from '../support/outreach.ts';
import { claude, SESSION } from '../support/turns.ts';
import { openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

/** The subjects that were handed over and are not proved read. */
async function carried(hive: OpenedHive, carrier: string): Promise<string[]> {
  const found = await hive.store.read((tx) => tx.deliveries.carriedBy(carrier, '9999'));
  return found.map(({ subject }) => subject);
}

async function receipts(hive: OpenedHive, subject: string): Promise<Receipts | undefined> {
  return hive.store.read((tx) => tx.deliveries.get(subject));
}

async function answered(hive: OpenedHive, session_id?: string): Promise<string> {
  const { ask_id } = await ask(hive, {}, session_id);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  return ask_id;
}

export function deliveriesContract(engine: StoreEngine): void {
  test('a pending question is not owed to anybody; its outcome is owed to its asker', async () => {
    const [hive] = await openTwo(engine);
    const { ask_id, session_id } = await ask(hive);
    expect(await receipts(hive, ask_id)).toBeUndefined();
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
    expect(await receipts(hive, ask_id)).toEqual({
      subject: ask_id,
      kind: 'prompt',
      recipient: session_id,
      handed_at: null,
      collected_at: null,
      carrier: null,
      repeated: false,
    });
  });

  test('one that is handed over again without proof of the first time says that it is repeated', async () => {
    const [hive, other] = await openTwo(engine);
    const ask_id = await answered(hive);
    expect(await hive.delivery.hand([ask_id], 'mcp:1')).toMatchObject([{ repeated: false }]);
    expect(await other.delivery.hand([ask_id], 'mcp:2')).toMatchObject([{ repeated: true }]);
    expect(await receipts(hive, ask_id)).toMatchObject({ carrier: 'mcp:2', repeated: true });
    expect(await hive.delivery.collect('mcp:1')).toBe(0);
    expect((await hive.prompts.get(ask_id)).collected_at).toBeNull();
    expect(await other.delivery.collect('mcp:2')).toBe(1);
    expect((await hive.prompts.get(ask_id)).collected_at).toEqual(expect.any(String));
    expect(await carried(hive, 'mcp:2')).toEqual([]);
  });

  test('what is proved read until a time includes what was handed over in that millisecond', async () => {
    const [hive] = await openTwo(engine);
    const ask_id = await answered(hive);
    const [delivered] = await hive.delivery.hand([ask_id], 'mcp:1');
    const handed_at = delivered?.prompt.handed_at ?? '';
    const before = new Date(Date.parse(handed_at) - 1).toISOString();
    const until = (time: string) => hive.store.read((tx) => tx.deliveries.carriedBy('mcp:1', time));
    expect(await until(before)).toEqual([]);
    expect(await until(handed_at)).toMatchObject([{ subject: ask_id, handed_at }]);
  });

  test('a late answer is owed again, whatever was read of its question before', async () => {
    const [hive] = await openTwo(engine);
    const { ask_id } = await ask(hive);
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
    await hive.delivery.hand([ask_id], 'mcp:1');
    await hive.delivery.collect('mcp:1');
    await hive.prompts.respond({ ask_id, decision: 'after all', actor: HUMAN });
    expect(await hive.prompts.get(ask_id)).toMatchObject({
      handed_at: null,
      collected_at: null,
      carrier: null,
    });
    expect(await hive.delivery.hand([ask_id], 'mcp:1')).toMatchObject([{ repeated: false }]);
  });

  test('a change of a question leaves its receipts alone', async () => {
    const [hive] = await openTwo(engine);
    const ask_id = await answered(hive);
    const stale = await hive.store.read((tx) => tx.prompts.get(ask_id));
    await hive.delivery.hand([ask_id], 'mcp:1');
    await hive.store.write(async (tx) => {
      if (stale !== undefined) await tx.prompts.update({ ...stale, seen_at: tx.now });
    });
    expect(await hive.prompts.get(ask_id)).toMatchObject({ seen_at: expect.any(String), carrier: 'mcp:1' });
  });

  test('only what its carrier has lost is delivered again', async () => {
    const [hive] = await openTwo(engine);
    const [first, second] = [await answered(hive), await answered(hive)];
    const [one] = await hive.delivery.hand([first], 'mcp:1');
    await hive.delivery.hand([second], 'mcp:1');
    const handed = [{ ask_id: first, handed_at: one?.prompt.handed_at ?? '' }];
    await hive.delivery.markLost('mcp:2', handed);
    expect(await carried(hive, 'mcp:1')).toHaveLength(2);
    await hive.delivery.markLost('mcp:1', handed);
    expect(await carried(hive, 'mcp:1')).toEqual([second]);
    expect((await hive.prompts.get(first)).handed_at).toEqual(expect.any(String));
    await hive.store.write((tx) => tx.deliveries.markLost('mcp:1'));
    expect(await carried(hive, 'mcp:1')).toEqual([]);
  });

  test('a mention counts as read once it is handed over: it needs no proof, because it is processed', async () => {
    const [hive] = await openTwo(engine);
    const [ada, bob] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
    const { mentions } = await post(hive, ada, '@Claude-def34 look');
    await hive.mentions.unprocessed(bob.session_id, 'mcp:1');
    expect(await carried(hive, 'mcp:1')).toEqual([]);
    const receipt = await receipts(hive, mentions[0]?.mention_id ?? '');
    expect(receipt).toMatchObject({ recipient: bob.session_id, carrier: 'mcp:1' });
    const [mention] = (await hive.mentions.history({ limit: 1 })).items;
    expect(mention).toMatchObject({ carrier: 'mcp:1', delivered_at: receipt?.handed_at });
  });

  test('one hook carries an answer, a report and the notice of an abort, and one event proves them all', async () => {
    const [hive] = await openTwo(engine);
    const client = claude(hive);
    await client.prompt('p1');
    const turn_id = (await hive.turns.current(SESSION))?.turn_id ?? '';
    await client.pre('p1', 't1');
    await hive.turns.end(turn_id, { aborted: 'interrupted', by: 'ada' });
    const ask_id = await answered(hive, SESSION);
    const { item } = await hive.outreach.report({ message: 'Done.' }, await agent(hive, 'bg-1'));
    await client.prompt('p2');
    expect((await carried(hive, `hook:${SESSION}`)).sort()).toEqual(
      [ask_id, item.outreach_id, turn_id].sort(),
    );
    await client.stop('p2');
    expect(await carried(hive, `hook:${SESSION}`)).toEqual([]);
    for (const subject of [ask_id, item.outreach_id, turn_id])
      expect((await receipts(hive, subject))?.collected_at, subject).toEqual(expect.any(String));
    expect(await hive.outreach.find(item.outreach_id)).toMatchObject({
      status: 'delivered',
      delivered_at: expect.any(String),
      carrier: `hook:${SESSION}`,
    });
    const pruned = await hive.store.write((tx) => tx.retention.prune('outreach', '9999', 10));
    expect(pruned).toMatchObject({ outreach: 1, deliveries: 1 });
    expect(await receipts(hive, item.outreach_id)).toBeUndefined();
  });

  test('what a session has yet to read moves to its successor: nobody carries what its hooks had carried', async () => {
    const [hive] = await openTwo(engine);
    for (const session_id of ['before', 'after']) await introduce(hive, session_id);
    const [unread, polled, read] = [
      await answered(hive, 'before'),
      await answered(hive, 'before'),
      await answered(hive, 'before'),
    ];
    const { ask_id: waiting } = await ask(hive, {}, 'before');
    await hive.delivery.hand([unread], 'hook:before');
    await hive.delivery.hand([polled], 'mcp:1');
    await hive.delivery.hand([read], 'mcp:2');
    await hive.delivery.collect('mcp:2');
    await hive.store.write(async (tx) => {
      const moved = await tx.prompts.move('before', { session_id: 'after', handle: 'Claude-after' });
      expect(moved.sort()).toEqual([unread, polled, waiting].sort());
      await tx.deliveries.move('before', 'after', 'hook:before');
    });
    const open = await hive.store.read((tx) => tx.prompts.openOf('after', 10));
    expect(open.map(({ ask_id, carrier }) => [ask_id, carrier])).toEqual(
      open.map(({ ask_id }) => [ask_id, ask_id === polled ? 'mcp:1' : null]),
    );
    expect(open.map(({ ask_id }) => ask_id).sort()).toEqual([unread, polled, waiting].sort());
    expect(await hive.store.read((tx) => tx.prompts.countOpenOf('after'))).toEqual({
      settled: 2,
      pending: 1,
    });
    expect(await hive.store.read((tx) => tx.prompts.openOf('before', 10))).toEqual([]);
  });
}
