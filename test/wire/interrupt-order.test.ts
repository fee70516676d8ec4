/**
 * The order on the wire: the end of a turn is always notified before the request that asked for it is answered. Each
 * trial looks at the frames as they came, so that one reply in thirty that overtakes its notification fails.
 *
 * @module-tag durable
 * @module-tag emacs
 */
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import type { Turn } from '../../src/domain/turns.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, newHive, openTestHive } from '../support/hive.ts';
import { beginTurn, INTERRUPTED, interruptStored, requestStored } from '../support/interrupts.ts';
import { callInProcess } from '../support/mcp-in-process.ts';
import { type Frame, type RpcClient, serveInProcess, startSidecar } from '../support/sidecar.ts';
import { eventually } from '../support/wait.ts';

const TRIALS = 30;

/** The state of the turn as the client knew it when this frame came, from the last notification before. */
function knownAt(client: RpcClient, frame: Frame | undefined, turn_id: string): string | undefined {
  const before = client.frames.slice(0, client.frames.indexOf(frame as Frame));
  return before.findLast(({ method, params }) => method === 'turn/changed' && params.turn_id === turn_id)
    ?.params.state;
}

const isReply = (test: (result: Frame['result']) => boolean) => (frame: Frame) =>
  frame.result !== undefined && test(frame.result);

/** Interrupts a turn, ends it as a hook would, and gives what the client knew at the reply. */
async function trial(hive: OpenedHive, client: RpcClient, requests: number): Promise<(string | undefined)[]> {
  const turn = await beginTurn(hive);
  const replies = Array.from({ length: requests }, () =>
    client.request('turn/interrupt', { session_id: turn.session_id }),
  );
  await pending(hive, turn, requests);
  await hive.turns.end(turn.turn_id, INTERRUPTED);
  await Promise.all(replies);
  const frames = client.frames.filter(isReply(({ turn_id }) => turn_id === turn.turn_id));
  expect(frames).toHaveLength(requests);
  return frames.map((frame) => knownAt(client, frame, turn.turn_id));
}

async function pending(hive: OpenedHive, { turn_id }: Turn, count: number): Promise<void> {
  const all = () => hive.store.read((tx) => tx.turns.pendingInterrupts(turn_id));
  await eventually(async () => (await all()).length === count, 10_000, 'the requests');
}

const ABORTED = (count: number): string[] => Array.from({ length: count }, () => 'aborted');

test('turn/interrupt, again and again, in the process that ends the turn', async () => {
  const hive = await openTestHive();
  const client = await serveInProcess(hive);
  const known: (string | undefined)[] = [];
  for (let n = 0; n < TRIALS; n += 1) known.push(...(await trial(hive, client, 1)));
  expect(known).toEqual(ABORTED(TRIALS));
});

test('a real sidecar, several requests at once for a turn that another process ends', async () => {
  const { store, hive } = await newHive();
  const sidecar = await startSidecar(store);
  const known: (string | undefined)[] = [];
  for (let n = 0; n < TRIALS; n += 1) known.push(...(await trial(hive, sidecar, 1 + (n % 3))));
  expect(known).toEqual(ABORTED(known.length));
  await sidecar.end();
});

test('turn/interrupt_all is answered after the end of every turn', async () => {
  const { store, hive } = await newHive();
  const sidecar = await serveInProcess(await openTestHive(store));
  for (let n = 0; n < 10; n += 1) {
    const turns = [await beginTurn(hive, `a-${n}`, 'test'), await beginTurn(hive, `b-${n}`, 'test')];
    const reply = sidecar.request('turn/interrupt_all', {});
    for (const turn of turns) await requestStored(hive, turn);
    for (const turn of turns) await hive.turns.end(turn.turn_id, INTERRUPTED);
    await reply;
    const frame = sidecar.frames.findLast(isReply(({ outcomes }) => outcomes !== undefined));
    expect(turns.map(({ turn_id }) => knownAt(sidecar, frame, turn_id))).toEqual(ABORTED(2));
  }
});

test('every desk is notified of the end before its own reply, also if the turn completed first', async () => {
  const { store, hive } = await newHive();
  const serve = async () => serveInProcess(await openTestHive(store));
  const desks = [await serve(), await serve()];
  for (let n = 0; n < 10; n += 1) {
    const turn = await beginTurn(hive);
    const replies = desks.map((desk) => desk.request('turn/interrupt', { session_id: turn.session_id }));
    await pending(hive, turn, 2);
    await hive.turns.end(turn.turn_id);
    await Promise.all(replies);
    for (const desk of desks) {
      const frame = desk.frames.find(isReply(({ turn_id }) => turn_id === turn.turn_id));
      expect(knownAt(desk, frame, turn.turn_id)).toBe('completed');
    }
  }
});

test('a desk that has not sent initialized gets no notification, and its reply does not wait for one', async () => {
  const { store, hive } = await newHive();
  const sidecar = await startSidecar(store, { handshake: false });
  await sidecar.request('initialize', { protocol_version: 1, client: { name: 'test', version: '1' } });
  const turn = await beginTurn(hive);
  const reply = sidecar.request('turn/interrupt', { session_id: turn.session_id });
  await requestStored(hive, turn);
  await hive.turns.end(turn.turn_id, INTERRUPTED);
  expect(await reply).toMatchObject({ outcome: 'aborted' });
  await sidecar.end();
});

test('hivemind_interrupt: a coordinator learns that the questions were cancelled before it learns that the turn is over', async () => {
  const { store, hive } = await newHive();
  const coordinator = await callInProcess(await openTestHive(store), 'coordinator');
  const heard: string[] = [];
  coordinator.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    heard.push(params.uri);
  });
  for (let n = 0; n < TRIALS; n += 1) {
    const turn = await beginTurn(hive);
    const { ask_id } = await ask(hive, { question: `Number ${n}?` });
    const uri = `hive://prompts/${ask_id}`;
    await coordinator.client.subscribeResource({ uri });
    const reply = coordinator.call('hivemind_interrupt', { session: turn.session_id });
    await requestStored(hive, turn);
    await hive.turns.end(turn.turn_id, INTERRUPTED);
    expect(await reply).toMatchObject({ outcome: 'aborted', cancelled_prompts: 1 });
    expect(heard).toContain(uri);
    await coordinator.client.unsubscribeResource({ uri });
  }
});

test('without a subscription hivemind_interrupt follows nothing', async () => {
  const { store, hive } = await newHive();
  const coordinator = await callInProcess(await openTestHive(store), 'coordinator');
  const turn = await beginTurn(hive);
  const { reply } = await interruptStored(hive);
  const second = coordinator.call('hivemind_interrupt', { session: turn.session_id });
  await pending(hive, turn, 2);
  await hive.turns.end(turn.turn_id, INTERRUPTED);
  expect([await second, await reply]).toMatchObject([{ outcome: 'aborted' }, { outcome: 'aborted' }]);
});
