/**
 * Interrupts between real processes: from a shell, over MCP and from Emacs, and when they race.
 *
 * @module-tag at-least-once
 * @module-tag one-winner
 * @module-tag mcp
 * @module-tag hook
 */
import { describe, expect, test } from 'vitest';
import { CANCELS } from '../../src/domain/turns.ts';
import { type Child, childEnvironment, outputOf, spawnHive, spawnScript } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { introduction, newHive, openTestHive } from '../support/hive.ts';
import { beginTurn, fireHookProcess, requestStored } from '../support/interrupts.ts';
import { callInProcess } from '../support/mcp-in-process.ts';
import { serveInProcess, startSidecar } from '../support/sidecar.ts';
import { claude, endsOf } from '../support/turns.ts';
import { eventually, within } from '../support/wait.ts';

// ---- From a shell ----
// The output of `hive interrupt`, its exit codes, and the state after kill -9.

const AGENT = 'agent-1';

describe('a shell', () => {
  const run = (store: string, ...args: string[]): Child =>
    spawnHive(args, childEnvironment(store, { HIVE_USER: 'ada' }));

  test('hive interrupt waits, prints the outcome, and exits with the matching code', async () => {
    const { store, hive } = await newHive();
    const turn = await beginTurn(hive, AGENT, 'test');
    const said = outputOf(run(store, 'interrupt', 'Agent-agent', '--note', 'stop it', '--json'));
    await requestStored(hive, turn);
    await hive.turns.end(turn.turn_id, { aborted: 'interrupted' });
    expect(JSON.parse(await said)).toMatchObject({
      outcome: 'aborted',
      by: 'ada',
      sentence: 'task interrupted by ada',
    });
  });

  test('unconfirmed is exit 3, nothing running is exit 1, no name is exit 2', async () => {
    const { store, hive } = await newHive();
    const turn = await beginTurn(hive, AGENT, 'test');
    const person = shell(store);
    expect((await person.hive('interrupt', 'Agent-agent', '--timeout', '50ms')).code).toBe(3);
    expect((await person.hive('interrupt')).code).toBe(2);
    await hive.turns.end(turn.turn_id);
    const idle = await person.hive('interrupt', 'Agent-agent');
    expect(idle).toMatchObject({ code: 1, err: expect.stringContaining('nothing to interrupt') });
  });

  test('an agent is refused', async () => {
    const { store, hive } = await newHive();
    const turn = await beginTurn(hive, AGENT, 'test');
    const refused = await shell(store, { HIVE_AGENT: 'other' }).hive('interrupt', 'Agent-agent');
    expect(refused.code).toBe(7);
    expect(await hive.interrupts.stopRequestFor(turn.turn_id)).toBeNull();
  });

  test('--all interrupts every running turn; --cancel withdraws it', async () => {
    const { store, hive } = await newHive();
    const turns = [await beginTurn(hive, 'a1', 'test'), await beginTurn(hive, 'b2', 'test')];
    const person = shell(store);
    const said = person.hive('interrupt', '--all', '--json');
    for (const turn of turns) await requestStored(hive, turn);
    for (const { turn_id } of turns) await hive.turns.end(turn_id, { aborted: 'interrupted' });
    expect((await said).json()).toMatchObject({ outcomes: [{ outcome: 'aborted' }, { outcome: 'aborted' }] });
    const turn = await beginTurn(hive, 'a1', 'test');
    await person.hive('interrupt', 'Agent-a1', '--timeout', '0ms');
    expect((await person.hive('interrupt', 'Agent-a1', '--cancel')).out).toContain('continues');
    expect(await hive.interrupts.stopRequestFor(turn.turn_id)).toBeNull();
  });

  test('--all is refused together with --cancel or --turn, and nobody is interrupted', async () => {
    const { store, hive } = await newHive();
    const turn = await beginTurn(hive, AGENT, 'test');
    for (const more of [['--cancel'], ['--turn', 'another-turn']]) {
      const refused = await shell(store).hive('interrupt', '--all', '--timeout', '0ms', ...more);
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(more[0] ?? '') });
      expect(await hive.interrupts.stopRequestFor(turn.turn_id)).toBeNull();
    }
  });

  test('kill -9 of the asker: the interrupt is in force, and the next hook delivers it', async () => {
    const { store, hive } = await newHive();
    const session_id = 'c1';
    const event = { session_id, prompt_id: 'p1', tool_name: 'Bash', tool_input: {}, tool_use_id: 't1' };
    await fireHookProcess(store, { ...event, hook_event_name: 'UserPromptSubmit', prompt: 'go' });
    const turn = await hive.turns.current(session_id);
    if (turn === undefined) throw new Error('no turn');
    const asker = run(store, 'interrupt', 'Claude-c1');
    await requestStored(hive, turn);
    await asker.kill('SIGKILL');
    expect(await fireHookProcess(store, { ...event, hook_event_name: 'PreToolUse' })).toContain(
      '"continue":false',
    );
    expect(await endsOf(hive, session_id)).toEqual([expect.stringMatching(/^interrupted by /)]);
  });

  test('kill -9 of the agent between request and abort: the asker is notified that the session ended', async () => {
    const { store, hive } = await newHive();
    const agent = spawnHive(['mcp'], childEnvironment(store, { HIVE_AGENT: 'agent-2' }));
    const { hostname } = await import('node:os');
    const place = { session_id: 'agent-2', client: 'test', machine: hostname(), pid: agent.pid };
    await hive.sessions.introduce(introduction(place));
    const turn = await hive.turns.start({ session_id: 'agent-2' });
    const said = outputOf(run(store, 'interrupt', 'Agent-agent', '--json'));
    await requestStored(hive, turn);
    await agent.kill('SIGKILL');
    expect(JSON.parse(await said)).toMatchObject({ outcome: 'aborted', abort_reason: 'ended' });
  });
});

// ---- Over MCP ----
// The reply of each of our tools to an interrupted agent, and a coordinator that stops another agent.

describe('an agent over MCP', () => {
  test('any of our tools in a turn that must stop says so at once', async () => {
    const { store, hive } = await newHive();
    const agent = await callInProcess(await openTestHive(store));
    await agent.call('hivemind_status');
    const turn = await hive.turns.start({ session_id: AGENT });
    await hive.interrupts
      .interrupt({ session: AGENT, note: 'enough', timeout_ms: 0, actor: human() })
      .catch(() => undefined);
    const result = await agent.call('hivemind_ask_async', { question: 'May I?' });
    expect(result).toEqual({
      status: 'interrupted',
      interrupted_by: 'ada',
      note: 'enough',
      next: expect.stringMatching(/^Interrupted by ada\. Note: enough\. Stop now/),
    });
    expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
    expect(turn.state).toBe('in_progress');
  });

  test.each([
    ['a long poll', 'hivemind_poll', { wait_ms: 25_000 }],
    ['a blocking question', 'hivemind_ask', { question: 'Well?' }],
  ])('%s returns at once when its turn is to stop', async (_name, tool, args) => {
    const { store, hive } = await newHive();
    const agent = await callInProcess(await openTestHive(store));
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'First?' });
    const turn = await hive.turns.start({ session_id: AGENT });
    const call = agent.call(tool, tool === 'hivemind_poll' ? { ...args, ask_id } : args);
    // Answered in order: the call waits by now.
    await agent.client.ping();
    void hive.interrupts.interrupt({ session: AGENT, timeout_ms: 0, actor: human() });
    expect(await call).toMatchObject({ status: 'interrupted', interrupted_by: 'ada' });
    await hive.turns.end(turn.turn_id);
  });
});

function human() {
  return { kind: 'human', by: 'ada', via: 'emacs', confirmed: true } as const;
}

// ---- From Emacs ----
// Between real processes: a sidecar and the hooks of an agent; and the state after kill -9.

describe('Emacs', () => {
  test('turn/interrupt_all sums up; turn/cancel_interrupt withdraws; refusals have the error code', async () => {
    const { store, hive } = await newHive();
    const sidecar = await serveInProcess(await openTestHive(store));
    const turn = await beginTurn(hive, AGENT, 'test');
    const all = sidecar.request('turn/interrupt_all', {});
    await requestStored(hive, turn);
    await hive.turns.end(turn.turn_id, { aborted: 'interrupted' });
    expect((await all).outcomes).toMatchObject([{ handle: 'Agent-agent', outcome: 'aborted' }]);

    const next = await beginTurn(hive, AGENT, 'test');
    const waiting = sidecar.request('turn/interrupt', { session_id: AGENT });
    waiting.catch(() => undefined);
    await requestStored(hive, next);
    const { withdrawn } = await sidecar.request('turn/cancel_interrupt', { session_id: AGENT });
    expect(withdrawn).toHaveLength(1);
    await expect(waiting).rejects.toMatchObject({ data: { code: 'cancelled' } });
    await expect(
      sidecar.request('turn/interrupt', { session_id: AGENT, turn_id: 'turn-other' }),
    ).rejects.toMatchObject({ data: { code: 'turn_not_current', current: next.turn_id } });
  });

  test('the wait of a killed sidecar ends; the next one continues to wait for the same request', async () => {
    const { store, hive } = await newHive();
    const turn = await beginTurn(hive, AGENT, 'test');
    const first = await startSidecar(store);
    first
      .request('turn/interrupt', { session_id: AGENT, interrupt_id: 'interrupt-1' })
      .catch(() => undefined);
    await requestStored(hive, turn);
    await first.child.kill('SIGKILL');
    const second = await startSidecar(store);
    const reply = second.request('turn/interrupt', { session_id: AGENT, interrupt_id: 'interrupt-1' });
    await hive.turns.end(turn.turn_id, { aborted: 'interrupted' });
    expect(await reply).toMatchObject({ interrupt_id: 'interrupt-1', outcome: 'aborted' });
    // A sidecar that asks only later still gets the outcome.
    const { sessions } = await second.request('session/list', {});
    expect(sessions[0].turn.interrupts).toMatchObject([{ interrupt_id: 'interrupt-1', outcome: 'aborted' }]);
    await second.end();
  });

  test('a sidecar that ends while somebody waits ends at once and cleanly', async () => {
    const { store, hive } = await newHive();
    const turn = await beginTurn(hive, AGENT, 'test');
    const sidecar = await startSidecar(store);
    sidecar.request('turn/interrupt', { session_id: AGENT }).catch(() => undefined);
    await requestStored(hive, turn);
    expect(await sidecar.end()).toEqual({ code: 0, signal: null });
    expect(sidecar.child.stderr()).toBe('');
  });
});

// ---- Four processes on one store ----
// One runs turns and is killed in between, while three ask for interrupts.

const PLAYER = 'test/process/children/interrupt-player.ts';
const STEPS = 40;

interface Answer {
  n: number;
  asked: string | null;
  timeout_ms: number;
  error?: string;
  turn_id?: string;
  outcome?: 'aborted' | 'completed' | 'unconfirmed';
  abort_reason?: string | null;
  by?: string | null;
}

test('each request is answered once, by its own turn; questions end as the table says; even with kill -9', async () => {
  const { store, hive } = await newHive();
  const play = (role: string, seed: number): Child =>
    spawnScript(PLAYER, [role, String(seed), String(STEPS)], childEnvironment(store));
  for (const session_id of ['one', 'two']) await claude(hive, { session_id }).start();

  const askers = [1, 2, 3].map((seed) => outputOf(play('asker', seed)));
  const first = play('agent', 4);
  // In the middle of its steps.
  await eventually(async () => (await hive.prompts.list({ limit: 3 })).items.length === 3);
  await first.kill('SIGKILL');
  expect((await play('agent', 5).exited).code).toBe(0);
  let answered = 0;
  for (const asker of askers) void asker.then(() => (answered += 1));
  // Askers that still wait are answered when the sessions end.
  for (let ended = false; !ended; ) {
    for (const session_id of ['one', 'two']) await claude(hive, { session_id }).end(undefined);
    ended = await within(() => answered === askers.length, 200);
  }

  for (const said of await Promise.all(askers)) {
    const answers = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer);
    expect(answers.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: STEPS }, (_, n) => n),
    );
    for (const answer of answers) {
      if (answer.error !== undefined) {
        expect(['no_turn', 'turn_not_current']).toContain(answer.error);
        continue;
      }
      if (answer.asked !== null) expect(answer.turn_id).toBe(answer.asked);
      if (answer.outcome === 'unconfirmed') {
        expect(answer.timeout_ms).toBeLessThan(60_000);
        continue;
      }
      const { state, abort_reason, by } = await hive.turns.get(answer.turn_id ?? '');
      expect({ state, abort_reason, by }).toEqual({
        state: answer.outcome,
        abort_reason: answer.abort_reason,
        by: answer.by,
      });
    }
  }

  const { items } = await hive.prompts.list({ limit: 500 });
  expect(items.length).toBeGreaterThan(0);
  for (const prompt of items) {
    const turn = prompt.turn_id === null ? null : await hive.turns.get(prompt.turn_id);
    const kind = turn === null || turn.state === 'in_progress' ? null : (turn.abort_reason ?? 'completed');
    const falls = kind !== null && CANCELS[kind](prompt);
    expect([prompt.status, prompt.cancel_reason]).toEqual(falls ? ['cancelled', kind] : ['pending', null]);
  }
});
