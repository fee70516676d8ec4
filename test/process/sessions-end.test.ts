/**
 * When the session or the turn of an agent ends that says nothing: a session with the process of its client, and if its connection
 * was all the identity that it had, with that; a turn when the transcript shows that it was stopped in the terminal.
 *
 * @module-tag state-not-events
 * @module-tag mcp
 */
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Session } from '../../src/domain/sessions.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { newHive, openTestHive } from '../support/hive.ts';
import { type Client, fire } from '../support/hooks.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { tempFolder } from '../support/temp.ts';
import { recordedTail } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

afterEach(() => {
  vi.useRealTimers();
});

const QUESTION = { question: 'Go on?', urgency: 'low' };
/** So often a desk looks for processes and turns that have ended. */
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
    const { store, hive } = await newHive();
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
    const { store, hive } = await newHive();
    const agent = await connectMcp({ store, env: {} });
    const { ask_id } = await agent.call('hivemind_ask_async', QUESTION);
    expect(await asker(hive)).toMatchObject({ state: 'active' });
    await agent.close();
    await eventually(() => isEnded(hive));
    expect(await hive.prompts.get(String(ask_id))).toMatchObject({ status: 'pending', orphaned: true });
  });
});

test('a turn whose permission was refused in its terminal has ended at the next look, although no event follows', async () => {
  const hive = await openTestHive();
  const transcript_path = join(tempFolder(), 'transcript.jsonl');
  const client: Client = { env: { CLAUDE_PID: String(process.pid) }, surroundings: { machine: hostname() } };
  const prompt_id = '9a0e9700-0000-4000-8000-000000000001';
  const raw = { session_id: 'one', cwd: '/demo', transcript_path, prompt_id };
  await fire(hive, { ...raw, hook_event_name: 'UserPromptSubmit', prompt: 'go' }, client);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  hive.startSweep();
  writeFileSync(transcript_path, recordedTail('permission-terminal-no')());
  const last = () => hive.store.read((tx) => tx.turns.last('one'));
  await eventually(async () => {
    vi.advanceTimersByTime(LOOK_MS);
    return (await last())?.state === 'aborted';
  });
  expect(await last()).toMatchObject({ abort_reason: 'interrupted', by: 'terminal' });
});
