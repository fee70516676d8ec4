/**
 * Interrupts through hooks: what reaches Claude Code and Codex, in which order, and what happens when a stop is lost.
 *
 * @module-tag at-least-once
 * @module-tag guards-end
 * @module-tag hook
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseEvent } from '../../src/adapters/hooks/hook.ts';
import type { InterruptOutcome } from '../../src/domain/interrupts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { outputsAge } from '../support/ageing.ts';
import { ROOT } from '../support/children.ts';
import { fireDialog, openDesk, permissionDecision } from '../support/dialogs.ts';
import { ENDED } from '../support/ended-process.ts';
import { HUMAN, noticesOf, openTestHive, prefer, whenWaiting } from '../support/hive.ts';
import { fire, recordedSequence, said } from '../support/hooks.ts';
import { interruptStored, PLEASE_STOP, STOP } from '../support/interrupts.ts';
import { claude, endsOf, recordedTail, SESSION, turnsOf } from '../support/turns.ts';

// ---- Claude Code ----
// Exactly what its hooks print, and what is on disk by then.

const CONVERSATION = '5e551000-0000-4000-8000-000000000001';

describe('Claude Code', () => {
  test('the next tool does not run, and the turn ends there', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    const { reply } = await interruptStored(hive, { note: 'wrong branch' });
    expect(JSON.parse(await client.pre('p1', 't1'))).toEqual({
      continue: false,
      stopReason: STOP,
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: PLEASE_STOP,
      },
    });
    const [turn] = await turnsOf(hive);
    expect(await reply).toEqual({
      interrupt_id: expect.stringMatching(/^interrupt-/),
      session_id: SESSION,
      turn_id: turn?.turn_id,
      outcome: 'aborted',
      abort_reason: 'interrupted',
      by: 'ada',
      waited_ms: expect.any(Number),
      cancelled_prompts: [],
      last_tool: null,
      last_tool_ms: null,
    });
  });

  test('the session and its subagents are idle from there on, until its next prompt', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    const states = async () => (await hive.sessions.list()).map(({ state }) => state);
    await client.prompt('p1');
    const inside = { prompt_id: 'p1', agent_id: 'a1', tool_name: 'Bash', tool_input: {}, tool_use_id: 't1' };
    await client.say('PreToolUse', inside);
    expect(await states()).toEqual(['active', 'active']);
    const { reply } = await interruptStored(hive);
    await client.pre('p1', 't2');
    await reply;
    expect(await states()).toEqual(['idle', 'idle']);
    // The rest of the batch is denied, and begins nothing.
    await client.pre('p1', 't3');
    expect(await states()).toEqual(['idle', 'idle']);
    await client.prompt('p2');
    expect((await hive.sessions.find(SESSION))?.state).toBe('active');
  });

  test('a tool under way: its PostToolUse ends the turn, and the rest of the batch is denied', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await client.pre('p1', 't1');
    const { reply } = await interruptStored(hive);
    expect(JSON.parse(await client.post('p1', 't1'))).toEqual({
      continue: false,
      stopReason: 'Interrupted by ada.',
    });
    expect((await reply).outcome).toBe('aborted');
    for (const id of ['t2', 't3']) {
      const said = JSON.parse(await client.pre('p1', id));
      expect(said).toMatchObject({ continue: false, hookSpecificOutput: { permissionDecision: 'deny' } });
    }
  });

  test('a PostToolBatch ends the turn as well; after a failed tool it does', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await client.pre('p1', 't1');
    const { reply } = await interruptStored(hive);
    const failure = { prompt_id: 'p1', tool_use_id: 't1', tool_name: 'Bash', tool_input: {} };
    expect(await client.say('PostToolUseFailure', failure)).toBe('');
    expect(JSON.parse(await client.batch('p1', 't1'))).toEqual({
      continue: false,
      stopReason: 'Interrupted by ada.',
    });
    expect((await reply).outcome).toBe('aborted');
  });

  test('the recorded batch: stopped at the first result, the two other calls are denied', async () => {
    const hive = await openTestHive();
    const events = recordedSequence('claude-code/posttooluse-stop-batch.jsonl');
    const printed: string[] = [];
    let reply: Promise<InterruptOutcome> | null = null;
    for (const event of events) {
      if (event['hook_event_name'] === 'PostToolUse' && reply === null)
        ({ reply } = await interruptStored(hive, { session: CONVERSATION }));
      printed.push(await fire(hive, event));
    }
    expect((await reply)?.outcome).toBe('aborted');
    const denials = printed.filter((text) => text.includes('"permissionDecision":"deny"'));
    expect(denials).toHaveLength(2);
    expect(await endsOf(hive, CONVERSATION)).toEqual(['interrupted by ada']);
    expect(await noticesOf(hive)).toEqual([]);
  });

  test('the next prompt tells the session once: who, when, with which note', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    const { reply } = await interruptStored(hive, { note: 'wrong branch' });
    await client.pre('p1', 't1');
    await reply;
    const { hookSpecificOutput } = JSON.parse(await client.prompt('p2'));
    expect(hookSpecificOutput.additionalContext).toMatch(
      /^Your last turn was interrupted by ada \(\d{4}-.*Z\)\. Note: wrong branch\. Work in progress may be half done/,
    );
    expect(await client.pre('p2', 't2')).toBe('');
    await client.stop('p2');
    expect(await client.prompt('p3')).toBe('');
  });

  test('what was printed and not proved read is repeated at the next start', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await interruptStored(hive);
    await client.pre('p1', 't1');
    expect(await client.start('resume')).toContain('was interrupted by ada');
    expect(await client.start('resume')).toContain('This may have reached you before');
    expect(await client.prompt('p2')).toBe('');
  });
});

describe('subagents of Claude Code', () => {
  test('an interrupt of the conversation stops the subagent that works for it', async () => {
    const hive = await openTestHive();
    const events = recordedSequence('claude-code/subagent-foreground.jsonl');
    const inside = events.findIndex(
      (event) => event['agent_id'] !== undefined && event['tool_name'] === 'Bash',
    );
    for (const event of events.slice(0, inside)) await fire(hive, event);
    const { reply } = await interruptStored(hive, { session: CONVERSATION });
    expect(await fire(hive, events[inside] ?? {})).toContain('"permissionDecision":"deny"');
    const [child] = (await hive.sessions.list()).filter(
      ({ parent_session_id }) => parent_session_id !== null,
    );
    expect(await endsOf(hive, child?.session_id)).toEqual(['interrupted by ada']);
    const back = events.find(
      (event) => event['hook_event_name'] === 'PostToolUse' && event['tool_name'] === 'Agent',
    );
    expect(JSON.parse(await fire(hive, back ?? {}))).toMatchObject({ continue: false });
    expect((await reply).outcome).toBe('aborted');
  });

  test('… and its permission that waits at a desk is denied at once, and the interrupt ends the parent, not its terminal', async () => {
    const hive = await openTestHive();
    await openDesk(hive);
    let tail = '';
    const client = claude(hive, { surroundings: { readTail: () => tail } });
    const id = '9a0e9700-0000-4000-8000-000000000001';
    await client.prompt(id);
    const permission = {
      session_id: SESSION,
      cwd: '/demo',
      transcript_path: '/demo/transcript.jsonl',
      hook_event_name: 'PermissionRequest',
      prompt_id: id,
      agent_id: 'a1',
      tool_name: 'Bash',
      tool_input: { command: 'npm test' },
    };
    const { prompts, printed } = await fireDialog(hive, permission);
    const { reply } = await interruptStored(hive, { note: 'wrong branch' });
    expect(said(await printed)?.hookSpecificOutput).toEqual(
      permissionDecision({ behavior: 'deny', message: PLEASE_STOP, interrupt: true }),
    );
    expect(await hive.prompts.get(prompts[0]?.ask_id ?? '')).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'interrupted',
    });
    expect(await endsOf(hive, `${SESSION}:a1`)).toEqual(['interrupted by ada']);
    tail = recordedTail('permission-hook-interrupt')();
    await client.prompt('p2');
    expect(await reply).toMatchObject({ outcome: 'aborted', by: 'ada' });
  });

  test.each([
    ['stopped before a call', false],
    ['denied what it asks', true],
  ])(
    '… and its session, whose model then only writes text, was interrupted: a subagent was %s',
    async (_, asks) => {
      const hive = await openTestHive();
      await openDesk(hive);
      const client = claude(hive);
      await client.prompt('p1');
      await client.pre('p1', 't0', 'Agent');
      const inside = {
        prompt_id: 'p1',
        agent_id: 'a1',
        tool_name: 'Bash',
        tool_input: { command: 'npm test' },
      };
      const call = { ...inside, tool_use_id: 't1' };
      await client.say('PreToolUse', call);
      const request = { session_id: SESSION, cwd: '/demo', hook_event_name: 'PermissionRequest', ...inside };
      const dialog = asks ? await fireDialog(hive, request) : null;
      const { reply } = await interruptStored(hive);
      if (dialog === null) await client.say('PreToolUse', { ...call, tool_use_id: 't2' });
      else await dialog.printed;
      // A failed call cannot stop the turn.
      await client.say('PostToolUseFailure', { prompt_id: 'p1', tool_use_id: 't0', tool_name: 'Agent' });
      await client.stop('p1');
      expect(await reply).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted', by: 'ada' });
    },
  );

  test('… and a call of ours that waits in its turn; a subagent in the background goes on', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    const call = { prompt_id: 'p1', tool_name: 'Bash', tool_input: {} };
    await client.say('PreToolUse', { ...call, agent_id: 'a1', tool_use_id: 't1' });
    await client.say('PreToolUse', { ...call, agent_id: 'b1', tool_use_id: 't2' });
    await client.say('PostToolUse', {
      prompt_id: 'p1',
      tool_name: 'Agent',
      tool_use_id: 't0',
      tool_input: {},
      tool_response: { isAsync: true, agentId: 'b1' },
    });
    const turnOf = async (agent: string) => (await hive.turns.current(`${SESSION}:${agent}`))?.turn_id ?? '';
    const { signal } = new AbortController();
    const waiting = hive.interrupts.untilInterrupted(await turnOf('a1'), signal);
    await interruptStored(hive);
    expect(await waiting).toEqual({ by: 'ada', note: null });
    expect(await hive.interrupts.stopRequestFor(await turnOf('b1'))).toBeNull();
  });

  test('in the background are stopped after the next prompt of their session, which their events name, and can be continued', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    const work = (name: string, prompt_id: string, tool_use_id: string) =>
      client.say(name, { prompt_id, agent_id: 'b1', tool_name: 'Bash', tool_input: {}, tool_use_id });
    await client.prompt('p1');
    await client.say('SubagentStart', { prompt_id: 'p1', agent_id: 'b1' });
    await work('PreToolUse', 'p1', 't1');
    await client.say('Stop', { prompt_id: 'p1', background_tasks: [{ id: 'b1', type: 'subagent' }] });
    await client.prompt('p2');
    const { reply } = await interruptStored(hive, { session: `${SESSION}:b1` });
    expect(said(await work('PostToolUse', 'p2', 't1'))).toMatchObject({ continue: false });
    expect(await reply).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted', by: 'ada' });
    expect(await work('PreToolUse', 'p2', 't2')).toContain('"permissionDecision":"deny"');
    await client.say('SubagentStart', { prompt_id: 'p2', agent_id: 'b1' });
    expect(await work('PreToolUse', 'p2', 't3')).toBe('');
    await client.say('SubagentStop', { prompt_id: 'p3', agent_id: 'b1' });
    expect(await endsOf(hive, `${SESSION}:b1`)).toEqual(['interrupted by ada', 'completed']);
  });
});

test('a Stop that waits for the human ends at once when somebody interrupts the agent', async () => {
  const hive = await openTestHive();
  const env = { CLAUDE_CODE_SESSION_ATTENDED: '0', CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' };
  await prefer(hive, { stop_wait: 590 });
  const client = claude(hive, { env });
  await client.prompt('p1');
  await hive.prompts.ask({ question: 'Which branch?' }, await hive.sessions.resolve(SESSION));
  const stopping = client.stop('p1');
  await whenWaiting(hive);
  const reply = hive.interrupts.interrupt({ session: SESSION, actor: HUMAN });
  expect(await stopping).toBe('');
  expect((await reply).outcome).toBe('completed');
});

test('what a hook should have printed is printed with the next prompt', async () => {
  const hive = await openTestHive();
  const client = claude(hive);
  await client.prompt('p1');
  const { reply } = await interruptStored(hive);
  await client.pre('p1', 't1');
  await reply;
  const unprinted = {
    session_id: SESSION,
    hook_event_name: 'UserPromptSubmit',
    prompt_id: 'p2',
    prompt: 'go',
  };
  const event = parseEvent(JSON.stringify(unprinted), { CLAUDE_PID: String(ENDED) }, 'claude-code');
  const settings = { env: {}, machine: 'test', pid: process.pid, readTail: () => null };
  const place = () => ({ project: 'demo', project_dir: '/demo/.git', branch: null });
  // The hook is killed here: nothing reached the client.
  await hive.hooks.handle(event, { ...settings, findProject: place });
  await outputsAge(hive, SESSION);
  expect(await client.prompt('p3')).toContain('was interrupted by ada');
});

// ---- A stop that the client did not obey ----
// It is stopped again, and the human is notified.

describe('a stop whose output was lost', () => {
  test('a tool that starts after its batch has closed is stopped again, and the human is notified', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await client.pre('p1', 't1');
    const { reply } = await interruptStored(hive);
    await client.post('p1', 't1');
    await reply;
    await client.batch('p1', 't1');
    const said = JSON.parse(await client.pre('p1', 't2'));
    expect(said).toMatchObject({ continue: false, hookSpecificOutput: { permissionDecision: 'deny' } });
    expect(await noticesOf(hive)).toEqual([
      expect.stringMatching(/^demo started another tool after it was asked to stop/),
    ]);
    const [turn] = await turnsOf(hive);
    expect(turn).toMatchObject({ state: 'aborted', stops: 2 });
  });

  test('a late call of the batch in flight is denied, without a notice', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await client.pre('p1', 't1');
    await client.pre('p1', 't2');
    await interruptStored(hive);
    await client.post('p1', 't1');
    expect(await client.pre('p1', 't3')).toContain('"deny"');
    expect(await noticesOf(hive)).toEqual([]);
  });

  test('the next turn is not affected', async () => {
    const hive = await openTestHive();
    const client = claude(hive);
    await client.prompt('p1');
    await interruptStored(hive);
    await client.pre('p1', 't1');
    await client.prompt('p2');
    // A hook of the stopped turn comes late: it is denied, and the new turn continues.
    expect(await client.pre('p1', 't9')).toContain('"deny"');
    expect(await client.pre('p2', 't2')).toBe('');
    expect(await endsOf(hive)).toEqual(['interrupted by ada', 'in_progress']);
  });
});

// ---- Codex ----
// Exactly what its hooks print, and what is on disk by then.

describe('Codex', () => {
  const recorded = (name: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(ROOT, 'test/wire/fixtures/codex', `${name}.json`), 'utf8'));
  const say = (hive: OpenedHive, name: string, changes: Record<string, unknown> = {}): Promise<string> =>
    fire(hive, { ...recorded(name), ...changes }, { client: 'codex' });
  const session = String(recorded('UserPromptSubmit-prompt')['session_id']);

  test('a plain denial that asks it to stop, and the same for every further tool of that turn', async () => {
    const hive = await openTestHive();
    await say(hive, 'UserPromptSubmit-prompt');
    const { reply } = await interruptStored(hive, { note: 'wrong branch', session });
    const denial = {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: PLEASE_STOP,
      },
    };
    expect(JSON.parse(await say(hive, 'PreToolUse-Bash'))).toEqual(denial);
    expect((await reply).outcome).toBe('aborted');
    expect(JSON.parse(await say(hive, 'PreToolUse-Bash', { tool_use_id: 'call_2' }))).toEqual(denial);
    expect(await say(hive, 'Stop-first')).toBe('');
    expect(await endsOf(hive, session)).toEqual(['interrupted by ada']);
  });

  test('a subagent continues when its parent is to stop', async () => {
    const hive = await openTestHive();
    await say(hive, 'UserPromptSubmit-prompt');
    const call = { turn_id: 'turn-9', agent_id: 'thread-2' };
    await say(hive, 'PreToolUse-Bash', call);
    await interruptStored(hive, { session });
    expect(await say(hive, 'PreToolUse-Bash', { ...call, tool_use_id: 'call_2' })).toBe('');
    expect(await endsOf(hive, `${session}:thread-2`)).toEqual(['in_progress']);
    expect(await endsOf(hive, session)).toEqual(['in_progress']);
  });

  test('the result of a tool cannot stop a turn there: nothing is printed, and the interrupt stays pending', async () => {
    const hive = await openTestHive();
    await say(hive, 'UserPromptSubmit-prompt');
    await say(hive, 'PreToolUse-Bash');
    await interruptStored(hive, { session });
    expect(await say(hive, 'PostToolUse-Bash')).toBe('');
    expect(await endsOf(hive, session)).toEqual(['in_progress']);
  });

  test.each(['Interrupt-appserver', 'Interrupt-tui-esc', 'Interrupt-exec-sigint'])(
    '%s ends the turn as interrupted at the terminal, and prints nothing',
    async (name) => {
      const hive = await openTestHive();
      await say(hive, 'UserPromptSubmit-prompt');
      const { reply } = await interruptStored(hive, { session });
      expect(await say(hive, name)).toBe('');
      expect(await reply).toMatchObject({ outcome: 'aborted', by: 'terminal' });
    },
  );

  test('a late Interrupt hook does not affect the next turn', async () => {
    const hive = await openTestHive();
    await say(hive, 'UserPromptSubmit-prompt');
    await say(hive, 'UserPromptSubmit-prompt', { turn_id: 'next' });
    await say(hive, 'Interrupt-tui-esc');
    expect(await endsOf(hive, session)).toEqual(['unknown', 'in_progress']);
  });

  test('/review replaces the running turn: the rollout says so, no hook does', async () => {
    const hive = await openTestHive();
    const rollout = readFileSync(join(ROOT, 'test/wire/fixtures/codex/rollout-replaced.jsonl'), 'utf8');
    const submit = (changes: Record<string, unknown>) =>
      fire(
        hive,
        { ...recorded('UserPromptSubmit-prompt'), ...changes },
        { client: 'codex', surroundings: { readTail: () => rollout } },
      );
    await submit({});
    await submit({ turn_id: '00000000-0000-7000-8000-000000000003' });
    expect(await endsOf(hive, session)).toEqual(['replaced', 'in_progress']);
  });

  test.each(['UserPromptSubmit-steer', 'UserPromptSubmit-typed-while-running'])(
    '%s steers the turn, without a transition',
    async (name) => {
      const hive = await openTestHive();
      await say(hive, 'UserPromptSubmit-prompt');
      await say(hive, name, { turn_id: recorded('UserPromptSubmit-prompt')['turn_id'] });
      expect(await endsOf(hive, session)).toEqual(['in_progress']);
    },
  );
});
