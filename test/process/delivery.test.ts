/**
 * Delivery to a model: at least once, exactly once if nothing fails, and never lost (invariant 6).
 *
 * @module-tag at-least-once
 * @module-tag not-consumed
 * @module-tag mcp
 */
import { describe, expect, test } from 'vitest';
import { endSession } from '../../src/application/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN, newHive, openTestHive } from '../support/hive.ts';
import { connectMcp, type McpCaller } from '../support/mcp-client.ts';
import { type CallerInProcess, callInProcess, connectInProcess } from '../support/mcp-in-process.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

interface Scene<Agent = CallerInProcess> {
  store: string;
  hive: OpenedHive;
  agent: Agent;
}

/** An agent in this process, with a connection of its own to the store. */
async function scene(): Promise<Scene> {
  const store = tempStore();
  return { store, hive: await openTestHive(store), agent: await callInProcess(await openTestHive(store)) };
}

/** An agent whose process can be killed. */
async function processes(): Promise<Scene<McpCaller>> {
  const store = tempStore();
  return { store, hive: await openTestHive(store), agent: await connectMcp({ store }) };
}

async function asked(agent: CallerInProcess): Promise<string> {
  return String((await agent.call('hivemind_ask_async', { question: 'Go on?', urgency: 'low' }))['ask_id']);
}

async function answered({ hive, agent }: Scene, decision = 'yes'): Promise<string> {
  const ask_id = await asked(agent);
  await hive.prompts.respond({ ask_id, decision, actor: HUMAN });
  return ask_id;
}

async function open(agent: CallerInProcess): Promise<Record<string, unknown>[]> {
  return (await agent.call('hivemind_poll'))['prompts'] as Record<string, unknown>[];
}

async function trail(hive: OpenedHive, ask_id: string): Promise<string[]> {
  const events = await hive.store.read((tx) => tx.events.of(ask_id, 100));
  return events
    .map(({ type }) => type)
    .filter((type) => type === 'prompt/handed' || type === 'prompt/collected');
}

describe('undisturbed', () => {
  test('an answer is handed over once, collected with the next call, and not shown again', async () => {
    const at = await scene();
    const ask_id = await answered(at);
    const [first] = await open(at.agent);
    expect(first).toMatchObject({ ask_id, status: 'responded', decision: 'yes' });
    const { handed_at, collected_at } = await at.hive.prompts.get(ask_id);
    expect([handed_at, collected_at]).toEqual([expect.any(String), null]);
    expect(first).not.toHaveProperty('repeated');
    expect(await trail(at.hive, ask_id)).toEqual(['prompt/handed']);
    expect(await open(at.agent)).toEqual([]);
    expect(await trail(at.hive, ask_id)).toEqual(['prompt/handed', 'prompt/collected']);
  });

  test('a settled prompt can still be polled by its id, with all its receipts', async () => {
    const at = await scene();
    const ask_id = await answered(at);
    await at.agent.call('hivemind_poll', { ask_id });
    for (let n = 0; n < 2; n += 1) {
      const again = await at.agent.call('hivemind_poll', { ask_id });
      expect(again).toMatchObject({ decision: 'yes', by: 'ada', via: 'emacs' });
      expect(again['responded_at']).toEqual(expect.any(String));
      expect(again).not.toHaveProperty('repeated');
    }
    const { handed_at, collected_at } = await at.hive.prompts.get(ask_id);
    expect([handed_at, collected_at]).not.toContain(null);
    expect(await trail(at.hive, ask_id)).toEqual(['prompt/handed', 'prompt/collected']);
  });

  test('an answer that is requested twice in one poll is handed over once, and not as repeated', async () => {
    const at = await scene();
    const ask_id = await answered(at);
    const { prompts } = await at.agent.call('hivemind_poll', { ask_ids: [ask_id, ask_id] });
    expect(prompts).toMatchObject([{ ask_id, decision: 'yes' }]);
    expect((prompts as object[])[0]).not.toHaveProperty('repeated');
    expect(await trail(at.hive, ask_id)).toEqual(['prompt/handed']);
  });

  test('reading pending prompts hands over nothing', async () => {
    const at = await scene();
    const ask_id = await asked(at.agent);
    await at.agent.call('hivemind_poll', { ask_id });
    expect(await trail(at.hive, ask_id)).toEqual([]);
  });
});

describe('disturbed', () => {
  test('what a killed child had handed over is handed over again by the next one, once, as repeated', async () => {
    const at = await processes();
    const ask_id = await answered(at);
    await open(at.agent);
    await at.agent.crash();
    const next = await connectMcp({ store: at.store });
    expect(await open(next)).toMatchObject([{ ask_id, decision: 'yes', repeated: true }]);
    expect(await open(next)).toEqual([]);
    expect(await trail(at.hive, ask_id)).toEqual(['prompt/handed', 'prompt/handed', 'prompt/collected']);
  });

  /** An answered prompt whose poll has handed it over in the store, and not yet returned to the client. */
  async function midway(): Promise<{
    real: OpenedHive;
    ask_id: string;
    polling: Promise<unknown>;
    call: (name: string, args?: Record<string, unknown>) => Promise<unknown>;
    cancel: () => void;
    letGo: () => void;
  }> {
    const real = await openTestHive();
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const hand: OpenedHive['delivery']['hand'] = async (...args) => {
      const delivered = await real.delivery.hand(...args);
      await held;
      return delivered;
    };
    const client = await connectInProcess({ ...real, delivery: { ...real.delivery, hand } });
    const call = (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
      client.callTool({ name, arguments: args });
    await call('hivemind_ask_async', { question: 'Go on?' });
    const ask_id = (await real.prompts.waitForOpen('agent-1', { wait_ms: 0 })).prompts[0]?.ask_id ?? '';
    await real.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    const controller = new AbortController();
    const params = { name: 'hivemind_poll', arguments: { ask_id } };
    const polling = client
      .callTool(params, undefined, { signal: controller.signal })
      .catch(() => 'cancelled');
    await eventually(async () => (await real.prompts.get(ask_id)).handed_at !== null);
    return { real, ask_id, polling, call, cancel: () => controller.abort(), letGo };
  }

  test('a call parallel to the one that hands over proves nothing; the next one does', async () => {
    const { real, ask_id, polling, call, letGo } = await midway();
    await call('hivemind_status');
    expect((await real.prompts.get(ask_id)).collected_at).toBeNull();
    letGo();
    await polling;
    await call('hivemind_status');
    expect((await real.prompts.get(ask_id)).collected_at).toEqual(expect.any(String));
  });

  test('an answer in the result of a call that its client cancelled is handed over again', async () => {
    const { real, ask_id, polling, call, cancel, letGo } = await midway();
    cancel();
    expect(await polling).toBe('cancelled');
    letGo();
    await eventually(async () => (await real.prompts.get(ask_id)).carrier === null);
    await call('hivemind_status');
    expect((await real.prompts.get(ask_id)).collected_at).toBeNull();
    expect(await call('hivemind_poll')).toMatchObject({
      structuredContent: { prompts: [{ ask_id, decision: 'yes', repeated: true }] },
    });
    await call('hivemind_status');
    expect((await real.prompts.get(ask_id)).collected_at).toEqual(expect.any(String));
  });
});

describe('another session', () => {
  test('may read with the id, and collects nothing', async () => {
    const at = await scene();
    const ask_id = await answered(at);
    const connection = { env: { HIVE_AGENT: 'agent-2' }, connection_id: 'connection-2' };
    const stranger = await callInProcess(await openTestHive(at.store), 'agent', { connection });
    expect(await open(stranger)).toEqual([]);
    expect(await stranger.call('hivemind_poll', { ask_id })).toMatchObject({ decision: 'yes' });
    expect((await at.hive.prompts.get(ask_id)).handed_at).toBeNull();
    await stranger.call('hivemind_poll', { ask_id });
    expect(await trail(at.hive, ask_id)).toEqual([]);
    expect(await open(at.agent)).toMatchObject([{ ask_id, decision: 'yes' }]);
  });

  test('collects nothing for an asker that is gone either: resumed, it gets the answer', async () => {
    const at = await processes();
    const ask_id = await asked(at.agent);
    const { session_id } = await at.hive.prompts.get(ask_id);
    await at.agent.crash();
    await at.hive.store.write(async (tx) => {
      const session = await tx.sessions.get(session_id);
      if (session !== undefined) await endSession(tx, session);
    });
    await at.hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    expect(await at.hive.prompts.get(ask_id)).toMatchObject({ orphaned: true });
    const fork = await connectMcp({ store: at.store, env: { HIVE_AGENT: 'agent-2' } });
    expect(await fork.call('hivemind_poll', { ask_id })).toMatchObject({ decision: 'yes' });
    await fork.call('hivemind_status');
    expect(await trail(at.hive, ask_id)).toEqual([]);
    expect(await open(await connectMcp({ store: at.store }))).toMatchObject([{ ask_id, decision: 'yes' }]);
  });

  test('gets the answer to what it asked over a connection without identity, by the id', async () => {
    const { store, hive } = await newHive();
    const nameless = await connectMcp({ store, env: {} });
    const ask_id = await asked(nameless);
    await nameless.crash();
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    const next = await connectMcp({ store, env: {} });
    expect(await next.call('hivemind_poll', { ask_id })).toMatchObject({ decision: 'yes' });
    await next.call('hivemind_status');
    expect(await trail(hive, ask_id)).toEqual(['prompt/handed', 'prompt/collected']);
  });
});
