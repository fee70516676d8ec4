/**
 * When the session of an agent ends that says nothing: with the process of its client, and if its connection was all the
 * identity that it had, with that.
 *
 * @module-tag state-not-events
 * @module-tag sqlite
 * @module-tag mcp
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Session } from '../../src/domain/sessions.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

afterEach(() => {
  vi.useRealTimers();
});

const QUESTION = { question: 'Go on?', urgency: 'low' };
/** So often a desk looks for processes that have ended. */
const LOOK_MS = 5_000;

/** The session of the agent that has asked. */
async function asker(hive: OpenedHive): Promise<Session | undefined> {
  const [prompt] = (await hive.prompts.list({ limit: 1 })).items;
  return hive.sessions.find(prompt?.session_id ?? '');
}

async function isEnded(hive: OpenedHive): Promise<boolean> {
  return (await asker(hive))?.state === 'ended';
}

describe('an agent whose question is open', () => {
  test('has ended at the next look for its process, which is seconds later; its question stays', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const agent = await connectMcp({ store });
    await agent.call('hivemind_ask_async', QUESTION);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    hive.startSweep();
    const pid = (await asker(hive))?.pid ?? 0;
    expect(processes.alive(pid)).toBe(true);
    await agent.crash();
    await eventually(() => !processes.alive(pid));
    vi.advanceTimersByTime(LOOK_MS);
    await eventually(() => isEnded(hive));
    const pending = (await hive.prompts.list({ status: 'pending', limit: 2 })).items;
    expect(pending).toMatchObject([{ orphaned: true }]);
  });

  test('and whose only identity was its connection has ended with that', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const agent = await connectMcp({ store, env: {} });
    const { ask_id } = await agent.call('hivemind_ask_async', QUESTION);
    expect(await asker(hive)).toMatchObject({ state: 'active' });
    await agent.close();
    await eventually(() => isEnded(hive));
    expect(await hive.prompts.get(String(ask_id))).toMatchObject({ status: 'pending', orphaned: true });
  });
});
