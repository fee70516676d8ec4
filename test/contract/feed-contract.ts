/** The feed: it skips nothing, repeats nothing, says when it lost its place, and wakes those who wait. */
import { expect, onTestFinished, test, vi } from 'vitest';
import type { HiveError } from '../../src/domain/errors.ts';
import type { HiveEvent } from '../../src/domain/events.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, introduce, openTestHive, whenWaiting } from '../support/hive.ts';
import { claude, SESSION } from '../support/turns.ts';
import { eventually, FOR_EVER_MS, moment } from '../support/wait.ts';
import { append, openTwo } from './open.ts';
import type { StoreEngine } from './store-contract.ts';

const FAR_FUTURE = '2100-01-01T00:00:00.000Z';

interface Followed {
  seqs: number[];
  resyncs: number[];
  stop(): Promise<void>;
}

function follow(
  hive: OpenedHive,
  cursor: number,
  onEvents?: (events: HiveEvent[]) => Promise<void>,
): Followed {
  const followed: Followed = { seqs: [], resyncs: [], stop: async () => undefined };
  followed.stop = hive.feed.follow({
    cursor,
    async onEvents(events) {
      await onEvents?.(events);
      followed.seqs.push(...events.map((event) => event.seq));
    },
    async onResync(head) {
      followed.resyncs.push(head);
    },
  });
  onTestFinished(() => followed.stop());
  return followed;
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, n) => n + 1);
}

export function feedContract(engine: StoreEngine): void {
  test('delivers every event once and in order, more than a page of them and from two writers', async () => {
    const [one, other] = await openTwo(engine);
    const followed = follow(one, 0);
    await Promise.all(Array.from({ length: 60 }, (_, n) => append((n % 2 === 0 ? one : other).store, 20)));
    await eventually(() => followed.seqs.length >= 1_200);
    expect(followed.seqs).toEqual(upTo(1_200));
  });

  test('begins behind its cursor', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await append(hive.store, 5);
    const followed = follow(hive, 3);
    await eventually(() => followed.seqs.length === 2);
    expect(followed.seqs).toEqual([4, 5]);
  });

  test('delivers what happens while it delivers', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await append(hive.store, 1);
    const followed = follow(hive, 0, async (events) => {
      if (events[0]?.seq === 1) await append(hive.store, 1);
    });
    await eventually(() => followed.seqs.length === 2);
    expect(followed.seqs).toEqual([1, 2]);
  });

  test('delivers again what its listener failed to take', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await append(hive.store, 1);
    let failures = 0;
    const followed = follow(hive, 0, async () => {
      failures += 1;
      if (failures === 1) throw new Error('not now');
    });
    await eventually(() => followed.seqs.length === 1);
    expect(followed.seqs).toEqual([1]);
  });

  test('says resync when retention has removed what it had not seen, and goes on from there', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await append(hive.store, 5);
    await hive.store.write((tx) => tx.retention.prune('events', FAR_FUTURE, 3));
    const followed = follow(hive, 1);
    await eventually(() => followed.resyncs.length === 1);
    await append(hive.store, 1);
    await eventually(() => followed.seqs.length === 1);
    expect([followed.resyncs, followed.seqs]).toEqual([[5], [6]]);
  });

  test('says resync again when the first time failed', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await append(hive.store, 2);
    await hive.store.write((tx) => tx.retention.prune('events', FAR_FUTURE, 2));
    const heads: number[] = [];
    const stop = hive.feed.follow({
      cursor: 0,
      onEvents: async () => undefined,
      async onResync(head) {
        heads.push(head);
        if (heads.length === 1) throw new Error('not now');
      },
    });
    onTestFinished(stop);
    await eventually(() => heads.length === 2);
    expect(heads).toEqual([2, 2]);
  });

  test('needs no resync if its cursor had passed everything that was removed', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    await append(hive.store, 5);
    const followed = follow(hive, 0);
    await eventually(() => followed.seqs.length === 5);
    await hive.store.write((tx) => tx.retention.prune('events', FAR_FUTURE, 100));
    await append(hive.store, 1);
    await eventually(() => followed.seqs.length === 6);
    expect([followed.resyncs, followed.seqs]).toEqual([[], upTo(6)]);
  });

  test('has caught up once everything stored is delivered, whoever stored it', async () => {
    const address = await engine.freshAddress();
    const hive = await openTestHive(address);
    const other = await openTestHive(address);
    const seqs: number[] = [];
    const stop = hive.feed.follow({
      cursor: 0,
      async onEvents(events) {
        // Slower than the asker.
        await moment(5);
        seqs.push(...events.map(({ seq }) => seq));
      },
      onResync: async () => undefined,
    });
    onTestFinished(() => stop());
    for (let round = 1; round <= 10; round += 1) {
      await append(round % 2 === 0 ? other.store : hive.store, 1);
      await stop.caughtUp();
      expect(seqs).toEqual(upTo(round));
    }
    await stop();
    await stop.caughtUp();
  });

  test('is silent after it was stopped', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const followed = follow(hive, 0);
    await followed.stop();
    const other = follow(hive, 0);
    await append(hive.store, 1);
    await eventually(() => other.seqs.length === 1);
    expect(followed.seqs).toEqual([]);
  });

  test('wakes a wait when an answer is given elsewhere, without the slow poll', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const [one, other] = await openTwo(engine);
    const { ask_id } = await ask(one);
    const waiting = one.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS });
    await whenWaiting(one);
    await other.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    expect((await waiting)[0]?.status).toBe('responded');
  });

  test('ends a wait at its time limit, and when it is aborted', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    expect((await hive.prompts.wait([ask_id], { wait_ms: 60 }))[0]?.status).toBe('pending');
    const controller = new AbortController();
    const waiting = hive.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS, signal: controller.signal });
    await whenWaiting(hive);
    controller.abort();
    expect((await waiting)[0]?.status).toBe('pending');
  });

  test('waits for one of several, and not for what was read already', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [first, second] = [await ask(hive), await ask(hive)];
    const { session_id } = await introduce(hive);
    await hive.prompts.respond({ ask_id: first.ask_id, decision: 'yes', actor: HUMAN });
    await hive.delivery.hand([first.ask_id], 'mcp:1', session_id);
    await hive.delivery.collect('mcp:1');
    const ids = [first.ask_id, second.ask_id];
    const waiting = hive.prompts.wait(ids, { wait_ms: FOR_EVER_MS });
    await whenWaiting(hive);
    await hive.prompts.respond({ ask_id: second.ask_id, decision: 'no', actor: HUMAN });
    expect((await waiting).map((prompt) => prompt.decision)).toEqual(['yes', 'no']);
  });

  test('a wait ends with the current state when the hive is closed, at once, and nothing is read later', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { ask_id } = await ask(hive);
    await claude(hive).prompt('p1');
    const waits = [
      hive.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS }).then(([prompt]) => prompt?.status),
      hive.interrupts
        .interrupt({ session: SESSION, actor: HUMAN, timeout_ms: FOR_EVER_MS })
        .catch(({ code }: HiveError) => code),
    ];
    await eventually(async () => {
      const turn = await hive.store.read((tx) => tx.turns.current(SESSION));
      return (await hive.store.read((tx) => tx.turns.pendingInterrupts(turn?.turn_id ?? ''))).length > 0;
    });
    await hive.close();
    expect(await Promise.all(waits)).toEqual(['pending', 'cancelled']);
    await expect(hive.prompts.get(ask_id)).rejects.toThrow(/was closed by this program/);
    await expect(hive.prompts.wait([ask_id], { wait_ms: 60_000 })).rejects.toThrow(/was closed/);
  });
}
