/** Interrupts from a shell: what `hive interrupt` prints, its exit codes, and what kill -9 leaves. */
import { describe, expect, test } from 'vitest';
import { type Child, childEnvironment, outputOf, spawnHive } from '../support/children.ts';
import { introduction, openTestHive } from '../support/hive.ts';
import { beginTurn, fireHookProcess, requestStored } from '../support/interrupts.ts';
import { tempStore } from '../support/temp.ts';
import { endsOf } from '../support/turns.ts';

const AGENT = 'agent-1';

describe('a shell', () => {
  const run = (store: string, ...args: string[]): Child => spawnHive(args, childEnvironment(store));

  test('hive interrupt waits, prints what came of it, and says so by its exit', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const turn = await beginTurn(hive, AGENT, 'test');
    const said = outputOf(
      run(store, 'interrupt', 'Agent-agent', '--note', 'stop it', '--json', '--by', 'ada'),
    );
    await requestStored(hive, turn);
    await hive.turns.end(turn.turn_id, { aborted: 'interrupted' });
    expect(JSON.parse(await said)).toMatchObject({
      outcome: 'aborted',
      by: 'ada',
      sentence: 'task interrupted by ada',
    });
  });

  test('unconfirmed is exit 3, nothing running is exit 1, no name is exit 2', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const turn = await beginTurn(hive, AGENT, 'test');
    expect((await run(store, 'interrupt', 'Agent-agent', '--timeout', '50ms').exited).code).toBe(3);
    expect((await run(store, 'interrupt').exited).code).toBe(2);
    await hive.turns.end(turn.turn_id);
    const idle = run(store, 'interrupt', 'Agent-agent');
    expect((await idle.exited).code).toBe(1);
    expect(idle.stderr()).toContain('nothing to interrupt');
  });

  test('an agent is refused unless it says that it is one', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const turn = await beginTurn(hive, AGENT, 'test');
    const env = childEnvironment(store, { HIVE_AGENT: 'other' });
    const refused = spawnHive(['interrupt', 'Agent-agent'], env);
    expect((await refused.exited).code).toBe(7);
    expect(await hive.interrupts.orderFor(turn.turn_id)).toBeNull();
    const declared = spawnHive(['interrupt', 'Agent-agent', '--as-agent', '--timeout', '0ms'], env);
    expect((await declared.exited).code).toBe(3);
    expect(await hive.interrupts.orderFor(turn.turn_id)).toMatchObject({ by: 'other' });
  });

  test('--all asks everybody who is at work; --cancel takes it back', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const turns = [await beginTurn(hive, 'a1', 'test'), await beginTurn(hive, 'b2', 'test')];
    const said = outputOf(run(store, 'interrupt', '--all', '--json'));
    for (const turn of turns) await requestStored(hive, turn);
    for (const { turn_id } of turns) await hive.turns.end(turn_id, { aborted: 'interrupted' });
    expect(JSON.parse(await said).outcomes.map((one: { outcome: string }) => one.outcome)).toEqual([
      'aborted',
      'aborted',
    ]);
    const turn = await beginTurn(hive, 'a1', 'test');
    await run(store, 'interrupt', 'Agent-a1', '--timeout', '0ms').exited;
    expect(await outputOf(run(store, 'interrupt', 'Agent-a1', '--cancel'))).toContain('goes on');
    expect(await hive.interrupts.orderFor(turn.turn_id)).toBeNull();
  });

  test('kill -9 of the asker: the interrupt is in force, and the next hook delivers it', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
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

  test('kill -9 of the agent between request and abort: the asker is told that its session ended', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
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
