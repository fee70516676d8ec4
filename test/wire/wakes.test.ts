/** Waking idle agents, over recorded events: who is woken, by whom, how often, and with which words. */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCodexWaker, createWakes } from '../../src/application/wakes.ts';
import { wakeLifeMs, wakeSentence } from '../../src/domain/hooks.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN, openTestHive, recordingLog } from '../support/hive.ts';
import { fire, recordedEvent, recordedSequence, said } from '../support/hooks.ts';
import { claude, SESSION } from '../support/turns.ts';
import { eventually, sleep } from '../support/wait.ts';

const LIFE = { session_id: SESSION, life_ms: 10_000 };
const RUNS = 'still waits';

let hive: OpenedHive;
let asked: Prompt;
beforeEach(async () => {
  hive = await openTestHive();
  await claude(hive).start();
  await claude(hive).prompt('p1');
  const session = await hive.sessions.find(SESSION);
  asked = (await hive.prompts.ask({ question: 'Red or blue?' }, session)).prompt;
});

const answer = () => hive.prompts.respond({ ask_id: asked.ask_id, decision: 'blue', actor: HUMAN });

/** A waiter that ends with its test. */
function wait(): Promise<string | null> {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  return hive.wakes.untilWanted({ ...LIFE, signal: over.signal });
}

/** What a waiter has come to by now. */
async function stateOf(waiter: Promise<string | null>): Promise<string | null> {
  return Promise.race([waiter, sleep(150).then(() => RUNS)]);
}

describe('a waiter', () => {
  test('says which question is answered, and never how', async () => {
    await claude(hive).stop('p1');
    const waiter = wait();
    await answer();
    expect(await waiter).toBe(
      `${asked.ask_id} is answered: call hivemind_poll {"ask_id": "${asked.ask_id}"}.`,
    );
    const [woken] = await hive.store
      .read((tx) => tx.events.of(SESSION, 50))
      .then((all) => all.filter(({ type }) => type === 'session/woken'));
    expect(woken?.data).toEqual({ ask_ids: [asked.ask_id] });
  });

  test('wakes nobody who is at work, and the same one when it idles', async () => {
    const waiter = wait();
    await answer();
    expect(await stateOf(waiter)).toBe(RUNS);
    // Who has just idled may also have been handed the answer with its Stop.
    await hive.store.write(async (tx) => {
      const turn = await tx.turns.current(SESSION);
      if (turn !== undefined) await tx.turns.update({ ...turn, state: 'completed', ended_at: tx.now });
      await tx.events.append({ type: 'turn/changed', session_id: SESSION, subject: null, data: {} });
    });
    expect(await waiter).toContain('is answered');
  });

  test('is silent for an answer that was handed already', async () => {
    await answer();
    await claude(hive).stop('p1');
    await claude(hive).stop('p1', true);
    expect(await stateOf(wait())).toBe(RUNS);
  });

  test('that an agent did not heed is not followed by another for the same answer', async () => {
    await claude(hive).stop('p1');
    await answer();
    expect(await wait()).toContain('is answered');
    expect(await stateOf(wait())).toBe(RUNS);
  });

  test('gives way to a later one, and both together wake once', async () => {
    await claude(hive).stop('p1');
    const first = wait();
    await sleep(20);
    const second = wait();
    await sleep(20);
    await answer();
    expect(await first).toBeNull();
    expect(await second).toContain('is answered');
  });

  test('of a session that has ended goes without a word; the one that goes on is woken', async () => {
    await claude(hive).stop('p1');
    const waiter = wait();
    await sleep(20);
    await claude(hive).say('SessionEnd', { reason: 'clear' });
    const next = claude(hive, { session_id: 'session-2' });
    await next.start('clear');
    expect(await waiter).toBeNull();
    const after = hive.wakes.untilWanted({ session_id: 'session-2', life_ms: 10_000 });
    await answer();
    expect(await after).toContain('is answered');
  });

  test('ends when its time is up', async () => {
    await claude(hive).stop('p1');
    expect(await hive.wakes.untilWanted({ session_id: SESSION, life_ms: 50 })).toBeNull();
  });
});

test('a wake-up carries no answer beside it: its client says that no human spoke', async () => {
  const woken = recordedEvent('claude-code/UserPromptSubmit-wake-asyncRewake-idle.json');
  const [start] = recordedSequence('claude-code/rewake-idle.jsonl');
  await fire(hive, start ?? {});
  const session = await hive.sessions.find(String(woken['session_id']));
  const { prompt } = await hive.prompts.ask({ question: 'Red?' }, session);
  await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'blue', actor: HUMAN });
  expect(await fire(hive, woken)).toBe('');
  const typed = { ...woken, prompt: 'go on', prompt_id: 'another' };
  expect(said(await fire(hive, typed))?.hookSpecificOutput?.['additionalContext']).toContain('blue');
});

describe('an idle Codex', () => {
  test('gets a message that our hooks know to be none of the human’s', async () => {
    const queued: { thread_id: string; message: string }[] = [];
    const { store, feed } = hive;
    const ids = { make: (prefix: string) => `${prefix}-${Math.random()}` };
    const codex = {
      interrupt: async () => false,
      answer: async () => false,
      queue: async (message: { thread_id: string; message: string }) => {
        queued.push(message);
        return true;
      },
    };
    const waker = createCodexWaker(
      { wakes: createWakes({ store, feed, ids }), codex, log: recordingLog() },
      {},
    );
    onTestFinished(() => waker.close());
    const session = { ...(await hive.sessions.find(SESSION)), client: 'codex-mcp-client' };
    waker.note(session);
    waker.note(session);
    await claude(hive).stop('p1');
    await answer();
    await eventually(() => queued.length === 1);
    expect(queued).toEqual([
      {
        thread_id: SESSION,
        message: `<task-notification>Hive: ${wakeSentence([asked.ask_id])}</task-notification>`,
      },
    ]);
  });
});

test('HIVE_WAKE: off, hours, eight by default', () => {
  const hours = (given: string | undefined) => (wakeLifeMs(given) ?? 0) / 3_600_000;
  expect([undefined, '', '2', '0.5', 'nonsense', '1000', 'off'].map(hours)).toEqual([8, 8, 2, 0.5, 8, 24, 0]);
});

test('several answers are named, many are counted', () => {
  expect(wakeSentence(['ask-1', 'ask-2'])).toBe('ask-1, ask-2 are answered: call hivemind_poll.');
  expect(wakeSentence(['1', '2', '3', '4', '5', '6', '7'])).toBe(
    '1, 2, 3, 4, 5 and 2 more are answered: call hivemind_poll.',
  );
});
