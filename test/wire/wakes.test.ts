/**
 * Waking idle agents, over recorded events: who is woken, by whom, how often, and with which words.
 *
 * @module-tag at-least-once
 * @module-tag guards-end
 * @module-tag hook
 */
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as immediate } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCodexWaker, createWakes, type WakeWait } from '../../src/application/wakes.ts';
import { HiveError } from '../../src/domain/errors.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { Session } from '../../src/domain/sessions.ts';
import { settingNamed } from '../../src/domain/settings.ts';
import { MOST_WAKES, wakeLifeMs, wakeSentence } from '../../src/domain/wakes.ts';
import { randomIds } from '../../src/infrastructure/platform/ids.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { type OpenedHive, openWakes } from '../../src/open-hive.ts';
import { eventsOf, HUMAN, noticesOf, openTestHive, recordingLog, whenWaiting } from '../support/hive.ts';
import { fire, recordedEvent, recordedSequence, said } from '../support/hooks.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { actorOf, join, post } from '../support/messages.ts';
import { tempStore } from '../support/temp.ts';
import { claude, endsOf, SESSION } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

const SEAT = 'ada@test';
const LIFE = { session_id: SESSION, seat: SEAT, env: {}, wait_ms: 10_000, deliver: async () => true };
const RUNS = 'still waits';

let hive: OpenedHive;
let asked: Prompt;
beforeEach(async () => {
  hive = await openTestHive();
  await claude(hive).start();
  await claude(hive).prompt('p1');
  const session = await hive.sessions.resolve(SESSION);
  asked = (await hive.prompts.ask({ question: 'Red or blue?' }, session)).prompt;
});

const answer = () => hive.prompts.respond({ ask_id: asked.ask_id, decision: 'blue', actor: HUMAN });

/** A waiter that ends with its test. */
function wait(changes: Partial<WakeWait> = {}): Promise<string | null> {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  return hive.wakes.untilWanted({ ...LIFE, ...changes, signal: over.signal });
}

/** The outcome of a waiter once it has read the store again, as it does after any event. */
async function stateOf(waiter: Promise<string | null>): Promise<string | null> {
  const read = vi.spyOn(hive.store, 'read');
  let isOver = false;
  void waiter.finally(() => {
    isOver = true;
  });
  for (let looks = 0; looks < 3; looks += 1) {
    const before = read.mock.calls.length;
    await hive.store.write((tx) =>
      tx.events.append({ type: 'turn/changed', session_id: null, subject: null, data: {} }),
    );
    const hasLooked = (): boolean =>
      read.mock.settledResults.some(({ type }, n) => n >= before && type === 'fulfilled');
    await eventually(() => isOver || hasLooked());
  }
  read.mockRestore();
  return Promise.race([waiter, new Promise<string>((resolve) => setImmediate(resolve, RUNS))]);
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
    expect(woken?.data).toEqual({ ask_ids: [asked.ask_id], mention_ids: [] });
  });

  test('does not wake a working agent, and wakes it when it is idle', async () => {
    const waiter = wait();
    await answer();
    expect(await stateOf(waiter)).toBe(RUNS);
    // An agent that has just become idle may have got the answer with its Stop.
    await hive.store.write(async (tx) => {
      const turn = await tx.turns.current(SESSION);
      if (turn !== undefined) await tx.turns.update({ ...turn, state: 'completed', ended_at: tx.now });
      await tx.events.append({ type: 'turn/changed', session_id: SESSION, subject: null, data: {} });
    });
    expect(await waiter).toContain('is answered');
  });

  test('wakes an agent whose Stop was lost once its client says that it is idle', async () => {
    const idle = { notification_type: 'idle_prompt', message: 'Claude is waiting for your input' };
    await claude(hive).prompt('p2');
    const waiter = wait();
    await answer();
    // A notification of an earlier turn, which came late.
    await claude(hive).say('Notification', { ...idle, prompt_id: 'p1' });
    expect(await stateOf(waiter)).toBe(RUNS);
    await claude(hive).say('Notification', { ...idle, prompt_id: 'p2' });
    expect(await waiter).toContain('is answered');
    expect((await endsOf(hive)).at(-1)).toBe('unknown');
  });

  test('is silent for an answer that was handed over already', async () => {
    await answer();
    await claude(hive).stop('p1');
    await claude(hive).stop('p1', true);
    expect(await stateOf(wait())).toBe(RUNS);
  });

  test('that an agent ignored is not followed by another for the same answer', async () => {
    await claude(hive).stop('p1');
    await answer();
    expect(await wait()).toContain('is answered');
    expect(await stateOf(wait())).toBe(RUNS);
  });

  test('gives way to a later one, and both together wake once', async () => {
    await claude(hive).stop('p1');
    const first = wait();
    await whenWaiting(hive);
    const second = wait();
    await whenWaiting(hive);
    await answer();
    expect(await first).toBeNull();
    expect(await second).toContain('is answered');
  });

  test('of a session that has ended ends silently; its successor is woken', async () => {
    await claude(hive).stop('p1');
    const waiter = wait();
    await whenWaiting(hive);
    await claude(hive).say('SessionEnd', { reason: 'clear' });
    const next = claude(hive, { session_id: 'session-2' });
    await next.start('clear');
    expect(await waiter).toBeNull();
    const after = wait({ session_id: 'session-2' });
    await answer();
    expect(await after).toContain('is answered');
  });

  test('ends when its time is up', async () => {
    await claude(hive).stop('p1');
    expect(await hive.wakes.untilWanted({ ...LIFE, wait_ms: 50 })).toBeNull();
  });
});

test('a wake-up whose waiter dies before it has delivered it is made by the next one', async () => {
  await claude(hive).stop('p1');
  await answer();
  const delivered = vi.fn((_text: string) => new Promise<boolean>(() => undefined));
  void wait({ deliver: delivered });
  await eventually(() => delivered.mock.calls.length === 1);
  expect(await wait()).toContain('is answered');
  expect(await eventsOf(hive, 'session/woken')).toHaveLength(1);
});

test('a wake-up that is being delivered while the next waiter begins is made once', async () => {
  await claude(hive).stop('p1');
  await answer();
  const delivering = Promise.withResolvers<boolean>();
  const deliver = vi.fn((_text: string) => delivering.promise);
  const first = wait({ deliver });
  await eventually(() => deliver.mock.calls.length === 1);
  const next = wait();
  await whenWaiting(hive);
  delivering.resolve(true);
  expect(await first).toContain('is answered');
  expect(await stateOf(next)).toBe(RUNS);
  expect(await eventsOf(hive, 'session/woken')).toHaveLength(1);
});

test('a waiter whose finding is no longer due goes on waiting', async () => {
  await claude(hive).stop('p1');
  const waiter = wait();
  await whenWaiting(hive);
  const { write } = hive.store;
  const writes = vi.spyOn(hive.store, 'write').mockImplementationOnce(write);
  writes.mockImplementationOnce(async (work) => {
    await claude(hive).prompt('p2');
    return write(work);
  });
  onTestFinished(() => writes.mockRestore());
  await answer();
  await eventually(() => writes.mock.calls.length === 2);
  expect(await stateOf(waiter)).toBe(RUNS);
});

test('a waiter outlives a store that is locked when the answer comes', async () => {
  await claude(hive).stop('p1');
  const waiter = wait();
  await whenWaiting(hive);
  const { write } = hive.store;
  const writes = vi.spyOn(hive.store, 'write').mockImplementationOnce(write);
  writes.mockRejectedValueOnce(new HiveError('store_busy', 'The store is locked.'));
  onTestFinished(() => writes.mockRestore());
  await answer();
  expect(await waiter).toContain('is answered');
});

test('a waiter that begins while the store is locked or unavailable begins when it is back', async () => {
  await claude(hive).stop('p1');
  await answer();
  const reads = vi.spyOn(hive.store, 'read');
  reads.mockRejectedValueOnce(new HiveError('store_unavailable', 'The store is unavailable.'));
  const writes = vi.spyOn(hive.store, 'write');
  writes.mockRejectedValueOnce(new HiveError('store_busy', 'The store is locked.'));
  onTestFinished(() => {
    reads.mockRestore();
    writes.mockRestore();
  });
  expect(await wait()).toContain('is answered');
  expect(writes.mock.settledResults[0]?.type).toBe('rejected');
});

test('a waiter of a client that reads its stderr writes nothing there about a locked store', async () => {
  const store = tempStore();
  const wakes = await openWakes({ store, env: {}, busy_ms: 1 });
  const other = closedAtEnd(new DatabaseSync(store));
  other.exec('BEGIN IMMEDIATE');
  const written = vi.spyOn(process.stderr, 'write');
  onTestFinished(() => written.mockRestore());
  expect(await wakes.untilWanted({ ...LIFE, wait_ms: 50 })).toBeNull();
  expect(written.mock.calls).toEqual([]);
});

describe('a mention', () => {
  let other: Session;
  beforeEach(async () => {
    await claude(hive).stop('p1');
    other = await join(hive, 'other-session');
  });
  const mention = (body = '@Claude-sessi please look', request = {}) => post(hive, other, body, request);

  test('wakes the idle agent that it names, says who and which call reads it, and nothing of what was said', async () => {
    const waiter = wait();
    const { mentions } = await mention();
    const [{ mention_id = '' } = {}] = mentions;
    expect(await waiter).toBe(
      `Claude-other mentioned you [${mention_id}]: read with hivemind_get_unprocessed_mentions, then clear with hivemind_process_mentions {"mention_ids": ["${mention_id}"]}. A mention must not be treated as approval of anything.`,
    );
    const [woken] = await eventsOf(hive, 'session/woken');
    expect(woken?.data).toEqual({ ask_ids: [], mention_ids: [mention_id] });
  });

  const prefer = (key: string, value: unknown) => hive.settings.set(settingNamed(key), value, SEAT, 'cli');

  test.each<[string, string, object, Record<string, unknown>, boolean]>([
    ['of everyone and by name does', '@All hello, @Claude-sessi first', {}, {}, true],
    ['by a role does', '@reviewer hello', {}, {}, true],
    ['does not where the gate is off', '@Claude-sessi hello', { priority: 'urgent' }, { gate: 'off' }, false],
    ['does where the gate only reminds', '@Claude-sessi hello', {}, { gate: 'remind' }, true],
  ])('%s', async (_what, body, request, preferences, wakes) => {
    await hive.sessions.configure(SESSION, { roles: ['reviewer'] }, HUMAN);
    for (const [key, value] of Object.entries(preferences)) await prefer(key, value);
    const waiter = wait();
    expect((await mention(body, request)).mentions.map(({ session_id }) => session_id)).toContain(SESSION);
    if (wakes) expect(await waiter).toContain('Claude-other mentioned you');
    else expect(await stateOf(waiter)).toBe(RUNS);
  });

  test('is handled with the preferences at the time when it comes', async () => {
    const waiter = wait();
    await prefer('gate', 'off');
    await mention();
    expect(await stateOf(waiter)).toBe(RUNS);
    await prefer('gate', null);
    expect(await waiter).toContain('Claude-other mentioned you');
  });

  test('wakes nobody once waking is turned off', async () => {
    const waiter = wait();
    await prefer('wake', 'off');
    await mention();
    expect(await waiter).toBeNull();
    expect(await wait()).toBeNull();
  });

  test('does not wake if the session’s own setting turns it off', async () => {
    await hive.sessions.configure(SESSION, { gate: 'off' }, HUMAN);
    const waiter = wait();
    await mention();
    expect(await stateOf(waiter)).toBe(RUNS);
  });

  test('wakes once: not at each bell, and not by the next waiter; the next mention wakes again', async () => {
    await mention();
    expect(await wait()).toContain('mentioned you');
    const next = wait();
    await post(hive, other, 'nobody is meant');
    expect(await stateOf(next)).toBe(RUNS);
    await mention('@Claude-sessi and this');
    expect(await next).toContain('mentioned you');
    expect(await eventsOf(hive, 'session/woken')).toHaveLength(2);
  });

  test('of the human wakes as well, and reports an answer that has come', async () => {
    await answer();
    await post(hive, 'human', '@Claude-sessi see there');
    expect(await wait()).toMatch(/^ask-\w+ is answered: .* Human mentioned you \[mention-/);
  });

  test('many are named up to five, and counted', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
      await post(hive, await join(hive, `${id.repeat(5)}-session`), '@Claude-sessi hello');
    const text = await wait();
    expect(text).toContain('Claude-eeeee mentioned you');
    expect(text).not.toContain('Claude-fffff');
    expect(text).toContain('; 2 more wait: read with');
  });

  test('two idle agents that answer each other are woken a limited number of times', async () => {
    const [me, you] = [await hive.sessions.resolve(SESSION), other];
    let turns = 0;
    /** Idles until it is woken, answers, and idles again; false when nothing wakes it. */
    async function liveOn(self: Session, peer: Session): Promise<boolean> {
      const woken = await stateOf(wait({ session_id: self.session_id }));
      if (woken === RUNS) return false;
      turns += 1;
      const client = claude(hive, { session_id: self.session_id });
      await client.prompt(`turn ${turns}`, `<task-notification>${woken}</task-notification>`);
      await hive.mentions.process({ session_id: self.session_id, all: true, actor: actorOf(self) });
      await post(hive, self, `@${peer.handle} and you?`);
      await client.stop(`turn ${turns}`);
      return true;
    }
    await post(hive, you, `@${me.handle} how are you?`);
    while (turns < 50 && ((await liveOn(me, you)) || (await liveOn(you, me))));
    expect(turns).toBe(6);
    const last = (await hive.mentions.unprocessed(me.session_id, null)).concat(
      await hive.mentions.unprocessed(you.session_id, null),
    );
    expect(last).toMatchObject([{ gates: false, delivered_at: null }]);
    expect(await noticesOf(hive)).toEqual([
      expect.stringMatching(/keep replying to each other.* or wake them/),
    ]);
    // A message of the human lets them go on.
    await claude(hive).prompt('typed', 'go on');
    await claude(hive).stop('typed');
    await post(hive, you, `@${me.handle} again`);
    expect(await liveOn(me, you)).toBe(true);
  });

  test('does not wake for ever, however slowly they talk and whoever they are: the human is notified', async () => {
    for (let n = 0; n < MOST_WAKES; n += 1) {
      const author = await join(hive, `${String(n).padStart(5, '0')}-session`);
      const { mentions } = await post(hive, author, '@Claude-sessi your turn');
      expect(mentions[0]?.gates).toBe(true);
      expect(await wait()).toContain('mentioned you');
    }
    await mention();
    const waiter = wait();
    expect(await stateOf(waiter)).toBe(RUNS);
    expect(await noticesOf(hive)).toEqual([
      expect.stringContaining(`have woken demo ${MOST_WAKES} times since you last wrote`),
    ]);
    // The human's own mention always does, and begins the count again.
    await post(hive, 'human', '@Claude-sessi go on');
    expect(await waiter).toContain('Human mentioned you');
  });
});

test('a wake-up carries no answer: its client says that no human wrote it', async () => {
  const woken = recordedEvent('claude-code/UserPromptSubmit-wake-asyncRewake-idle.json');
  const [start] = recordedSequence('claude-code/rewake-idle.jsonl');
  await fire(hive, start ?? {});
  const session = await hive.sessions.resolve(String(woken['session_id']));
  const { prompt } = await hive.prompts.ask({ question: 'Red?' }, session);
  await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'blue', actor: HUMAN });
  expect(await fire(hive, woken)).toBe('');
  const typed = { ...woken, prompt: 'go on', prompt_id: 'another' };
  expect(said(await fire(hive, typed))?.hookSpecificOutput?.['additionalContext']).toContain('blue');
});

describe('an idle Codex', () => {
  /** More than any test expects: a waker that never finds an end is cut off, and the test fails instead of hanging. */
  const FAR_TOO_MANY = 20;

  interface Queued {
    thread_id: string;
    message: string;
  }

  /** The part of `hive mcp` that wakes one process of Codex, and the messages that it queues there, in order. */
  function codexWaker(queued: Queued[] = [], reaches = true) {
    const { store, feed } = hive;
    const codex = {
      queue: async (message: { thread_id: string; message: string }) => {
        await immediate();
        if (!reaches) return false;
        queued.push(message);
        return queued.length < FAR_TOO_MANY;
      },
    };
    const wakes = createWakes({ store, feed, ids: randomIds, processes });
    const waker = closedAtEnd(
      createCodexWaker(
        { store, feed, wakes, codex: async () => codex, machine: 'test', log: recordingLog() },
        { seat: SEAT },
      ),
    );
    return { waker, queued };
  }

  test('that has never called a tool of ours is woken by a mention, once, whichever process of Codex does it', async () => {
    const queued: Queued[] = [];
    for (const { waker } of [codexWaker(queued), codexWaker(queued)]) waker.onClient('codex-mcp-client');
    const session_id = '019c-codex-session';
    const raw = { session_id, cwd: '/demo', transcript_path: null, turn_id: 't1' };
    await fire(hive, { ...raw, hook_event_name: 'UserPromptSubmit', prompt: 'go' }, { client: 'codex' });
    await fire(hive, { ...raw, hook_event_name: 'Stop' }, { client: 'codex' });
    const { handle } = await hive.sessions.resolve(session_id);
    const { mentions } = await post(hive, await join(hive, 'other-session'), `@${handle} please look`);
    await eventually(() => queued.length > 0);
    await post(hive, 'human', `@${handle} now you`);
    await eventually(() => queued.length > 1);
    await post(hive, 'human', `@${handle} and once more`);
    await eventually(() => queued.length > 2);
    expect(queued.map(({ thread_id }) => thread_id)).toEqual([session_id, session_id, session_id]);
    expect(queued[0]?.message).toMatch(/^<task-notification>Hive: Claude-other mentioned you \[mention-/);
    expect(queued[0]?.message).toContain(mentions[0]?.mention_id);
    expect(queued[1]?.message).toContain('Human mentioned you');
  });

  test('is woken by the process that can reach it, whichever other one tries first', async () => {
    const queued: Queued[] = [];
    const session = await join(hive, '019c-codex-session', { machine: 'test', client: 'codex' });
    const wakers = [codexWaker([], false), codexWaker(queued), codexWaker([], false)];
    for (const { waker } of wakers) {
      waker.onClient('codex-mcp-client');
      waker.onSession(session);
      await whenWaiting(hive);
    }
    await post(hive, 'human', `@${session.handle} please look`);
    await eventually(() => queued.length > 0);
    await post(hive, 'human', `@${session.handle} now again`);
    await eventually(() => queued.length > 1);
    expect(queued.every(({ message }) => message.includes('Human mentioned you'))).toBe(true);
  });

  test('that nobody can reach is tried once by each process, and by the next one that waits', async () => {
    const session = await join(hive, '019c-codex-session', { machine: 'test', client: 'codex' });
    const { waker } = codexWaker([], false);
    waker.onSession(session);
    await whenWaiting(hive);
    const { mentions } = await post(hive, 'human', `@${session.handle} please look`);
    await eventually(async () => (await eventsOf(hive, 'session/woken')).length === 1);
    const mention_ids = mentions.map(({ mention_id }) => mention_id);
    const [failed] = await eventsOf(hive, 'session/woken');
    expect(failed?.data).toEqual({ ask_ids: [], mention_ids, failed: true });
    const { waker: another, queued } = codexWaker();
    another.onSession(session);
    await eventually(() => queued.length === 1);
  });

  test.each([
    ['of another machine', { machine: 'elsewhere', client: 'codex' }],
    ['that is no Codex', { machine: 'test', client: 'claude-code' }],
  ])('none is taken %s', async (_what, changes) => {
    const { waker, queued } = codexWaker();
    waker.onClient('codex-mcp-client');
    const session = await join(hive, '019c-codex-session', changes);
    await post(hive, await join(hive, 'other-session'), `@${session.handle} please look`);
    // A session that comes after it is taken.
    const own = await join(hive, '019c-own-session', { machine: 'test', client: 'codex' });
    await post(hive, 'human', `@${own.handle} please look`);
    await eventually(() => queued.length > 0);
    expect(queued.map(({ thread_id }) => thread_id)).toEqual(['019c-own-session']);
    expect(await hive.store.read((tx) => tx.wakers.get(session.session_id))).toBeUndefined();
  });

  test('gets a message that the hooks of Hive recognize as not from the human', async () => {
    const { waker, queued } = codexWaker();
    const session = { ...(await hive.sessions.resolve(SESSION)), client: 'codex-mcp-client' };
    waker.onSession(session);
    waker.onSession(session);
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

test('the time in which an agent can be woken: off, or hours', () => {
  const hours = (wake: number | 'off') => (wakeLifeMs({ wake }) ?? 0) / 3_600_000;
  expect([hours(2), hours(0.5), hours('off')]).toEqual([2, 0.5, 0]);
});

test('several answers are named, many are counted', () => {
  expect(wakeSentence(['ask-1', 'ask-2'])).toBe('ask-1, ask-2 are answered: call hivemind_poll.');
  expect(wakeSentence(['1', '2', '3', '4', '5', '6', '7'])).toBe(
    '1, 2, 3, 4, 5 and 2 more are answered: call hivemind_poll.',
  );
});
