/**
 * Expiry: exact while any hive process lives, lazy when none did, and never a decision.
 *
 * @module-tag silence
 * @module-tag mcp
 */
import { describe, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, newHive, openTestHive, withoutQuotas } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

/** The prompt as it is stored, read without expiring it. */
async function stored(hive: OpenedHive, ask_id: string): Promise<Prompt> {
  const prompt = await hive.store.read((tx) => tx.prompts.get(ask_id));
  if (prompt === undefined) throw new Error(`no prompt ${ask_id}`);
  return prompt;
}

/** Waits until the prompt has expired, by the clock and not before its time. */
async function expired(hive: OpenedHive, ask_id: string): Promise<void> {
  await eventually(async () => (await stored(hive, ask_id)).status !== 'pending', 5_000, 'the expiry');
  const { status, decision, expires_at, settled_at, via } = await stored(hive, ask_id);
  expect([status, decision, via]).toEqual(['expired', null, 'clock']);
  expect((settled_at ?? '') >= (expires_at ?? 'never')).toBe(true);
}

describe('with one process alive', () => {
  test('an agent of MCP: the prompt expires on time', async () => {
    const { store, hive } = await newHive();
    await connectMcp({ store });
    const { ask_id } = await ask(hive, { timeout_ms: 1_000 });
    await expired(hive, ask_id);
  });

  test('a sidecar: the prompt expires on time, and Emacs is notified', async () => {
    const { store, hive } = await newHive();
    const sidecar = await startSidecar(store);
    // The later one first, so that an earlier time has to be noticed.
    const later = await ask(hive, { timeout_ms: 1_600, urgency: 'low' });
    const sooner = await ask(hive, { timeout_ms: 1_000, urgency: 'low' });
    await expired(hive, sooner.ask_id);
    await expired(hive, later.ask_id);
    await sidecar.seen(
      ({ method, params }) =>
        method === 'prompt/changed' && params.ask_id === later.ask_id && params.status === 'expired',
    );
  });
});

test('with several processes alive it expires once', async () => {
  const { store, hive } = await newHive();
  await Promise.all([connectMcp({ store }), connectMcp({ store }), startSidecar(store)]);
  const asked = await Promise.all(
    Array.from({ length: 30 }, () => ask(hive, { timeout_ms: 1_000, urgency: 'low' })),
  );
  for (const { ask_id } of asked) {
    await expired(hive, ask_id);
    const trail = await hive.store.read((tx) => tx.events.of(ask_id, 50));
    expect(trail.filter((event) => event.type === 'prompt/expired')).toHaveLength(1);
  }
});

test('with none alive it expires when it is next read, however many prompts there are', async () => {
  const store = tempStore();
  const hive = await withoutQuotas(await openTestHive(store));
  const asked = await Promise.all(Array.from({ length: 450 }, () => ask(hive, { timeout_ms: 1_000 })));
  const due = Math.max(...asked.map(({ expires_at }) => Date.parse(expires_at ?? '')));
  await eventually(() => Date.now() > due);
  const [last] = asked.slice(-1);
  expect((await stored(hive, last?.ask_id ?? '')).status).toBe('pending');
  expect((await hive.prompts.get(last?.ask_id ?? '')).status).toBe('expired');
  expect((await hive.prompts.list({ status: 'pending', limit: 500 })).items).toEqual([]);
  expect((await hive.prompts.list({ status: 'expired', limit: 500 })).items).toHaveLength(450);
});
