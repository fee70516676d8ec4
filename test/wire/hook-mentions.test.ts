/**
 * Mentions as the recorded clients meet them: exactly what is printed, and the seed's scenarios.
 *
 * @module-tag at-least-once
 * @module-tag hook
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from '../support/children.ts';
import { GATED_SESSION, gatedBash, gatedEvent, gatedWorld } from '../support/gate.ts';
import { noticesOf, prefer } from '../support/hive.ts';
import { fire, said } from '../support/hooks.ts';

const codexBash = {
  session_id: GATED_SESSION,
  turn_id: 't1',
  transcript_path: '/x/rollout-1.jsonl',
  cwd: '/p',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 'call_1',
};

const clear = (hive: OpenedHive): Promise<unknown> =>
  hive.mentions.process({
    session_id: GATED_SESSION,
    all: true,
    actor: { kind: 'agent', by: 'x', via: 'mcp', session_id: GATED_SESSION, ancestors: [] },
  });

test('without anything to say nothing is printed, not even a newline', async () => {
  const { hive } = await gatedWorld();
  expect(await fire(hive, gatedBash())).toBe('');
  expect(await fire(hive, codexBash, { client: 'codex' })).toBe('');
});

describe('the Quick Test of the seed: a mention, then a tool', () => {
  test('Claude Code: exactly a denial with its reason', async () => {
    const { hive, mention } = await gatedWorld();
    await mention('Need help with authentication @me');
    const printed = said(await fire(hive, gatedBash()));
    expect(Object.keys(printed ?? {})).toEqual(['hookSpecificOutput']);
    const { permissionDecisionReason, ...rest } = printed?.hookSpecificOutput ?? {};
    expect(rest).toEqual({ hookEventName: 'PreToolUse', permissionDecision: 'deny' });
    expect(permissionDecisionReason).toContain('Need help with authentication');
    expect(permissionDecisionReason).toContain('hivemind_process_mentions');
  });

  test('Codex: exactly the three fields it accepts, and no more', async () => {
    const { hive, mention } = await gatedWorld();
    // Its hooks do not name the client's process: the MCP child and the hook descend from the same one.
    await hive.callers.openConnection({
      connection_id: 'connection-2',
      machine: 'test',
      pid: process.pid,
      parent_pid: process.ppid,
    });
    await mention('Need help @me');
    const printed = said(await fire(hive, codexBash, { client: 'codex' }));
    expect(Object.keys(printed ?? {})).toEqual(['hookSpecificOutput']);
    expect(Object.keys(printed?.hookSpecificOutput ?? {}).sort()).toEqual([
      'hookEventName',
      'permissionDecision',
      'permissionDecisionReason',
    ]);
  });

  test('once it is processed the next call passes, with one message about it, and nothing has to be sent again', async () => {
    const { hive, mention } = await gatedWorld();
    await mention('Need help @me');
    await fire(hive, gatedBash());
    await clear(hive);
    expect(said(await fire(hive, gatedBash()))?.hookSpecificOutput).toEqual({
      hookEventName: 'PreToolUse',
      additionalContext:
        'Your mentions are processed, so your tool calls are allowed again. Continue where you stopped.',
    });
    expect(await fire(hive, gatedBash())).toBe('');
  });
});

describe('a prompt typed to the agent', () => {
  const prompt = gatedEvent('UserPromptSubmit', { prompt: 'go on' });

  test('carries the pending mentions', async () => {
    const { hive, mention } = await gatedWorld();
    await mention('hello @me');
    const printed = said(await fire(hive, prompt));
    expect(printed?.hookSpecificOutput?.['additionalContext']).toContain('hello');
    // The person at the terminal sees that the agent read more than they typed.
    expect(printed?.['systemMessage']).toBe(
      'Hive: your message carried 1 mention to the agent, from Claude-def34.',
    );
    await mention('again @me');
    expect(said(await fire(hive, prompt))?.['systemMessage']).toContain('carried 2 mentions');
    const wake = gatedEvent('UserPromptSubmit', { prompt: '<task-notification>done</task-notification>' });
    expect(said(await fire(hive, wake))?.['systemMessage']).toBeUndefined();
  });

  test('is refused with the list if the gate is strict; a wake-up of the client is not', async () => {
    const { hive, mention } = await gatedWorld();
    await prefer(hive, { gate: 'strict' });
    await mention('hello @me');
    expect(said(await fire(hive, prompt))).toMatchObject({
      decision: 'block',
      reason: expect.stringMatching(
        /^You have 1 unprocessed mention.*hive mentions --session Claude-\w{5}\n[^/]*process --all/,
      ),
    });
    const wake = gatedEvent('UserPromptSubmit', { prompt: '<task-notification>done</task-notification>' });
    expect(said(await fire(hive, wake))?.['decision']).toBeUndefined();
  });
});

describe('with a strict gate', () => {
  const typed = (prompt: string) =>
    gatedEvent('UserPromptSubmit', { prompt, prompt_id: `id of ${prompt}`.slice(0, 80) });
  const send = async (hive: OpenedHive, prompt: string, client: 'claude-code' | 'codex' = 'claude-code') => {
    await prefer(hive, { gate: 'strict' });
    const printed = said(await fire(hive, typed(prompt), { client }));
    return {
      refused: printed?.['decision'] === 'block',
      context: printed?.hookSpecificOutput?.['additionalContext'] ?? '',
      reason: String(printed?.['reason'] ?? ''),
    };
  };
  /** The text that a client without commands sends to the model when the human types one. */
  const expansionOf = (command: string, args = ''): string =>
    readFileSync(join(ROOT, 'plugin/commands', `${command}.md`), 'utf8')
      .replace(/^---\n[\s\S]*?\n---\n/, '')
      .replace('$ARGUMENTS', args);

  test('the three quick tests of the source: a message is refused with a warning, /check-mentions clears, the message passes', async () => {
    const { hive, mention } = await gatedWorld();
    await mention('Test mention @me');
    const refused = await send(hive, 'Any message here');
    expect(refused).toMatchObject({ refused: true, context: '' });
    expect(refused.reason).toMatch(/^You have 1 unprocessed mention/);
    expect(refused.reason).toContain('send: Deal with your mentions and call hivemind_process_mentions.');
    expect(await send(hive, '/check-mentions')).toMatchObject({
      refused: false,
      context: expect.stringContaining('Test mention'),
    });
    await clear(hive);
    expect(await send(hive, 'Any message here')).toEqual({ refused: false, context: '', reason: '' });
  });

  test.each([
    ['/hive:post I can help with that @All'],
    [expansionOf('check-mentions')],
    [expansionOf('post', 'hello @All')],
  ])('a prompt that clears mentions passes, together with the mention: %j', async (prompt) => {
    const { hive, mention } = await gatedWorld();
    await mention('hello @me');
    for (const client of ['claude-code', 'codex'] as const)
      expect(await send(hive, prompt, client)).toMatchObject({
        refused: false,
        context: expect.stringContaining('hello'),
      });
  });

  test('five prompts in a row are refused; then they pass, and the human is notified once', async () => {
    const { hive, mention } = await gatedWorld();
    await mention('hello @me');
    const refused: boolean[] = [];
    for (let n = 0; n < 9; n += 1) refused.push((await send(hive, `try ${n}`)).refused);
    expect(refused).toEqual([true, true, true, true, true, false, false, false, false]);
    expect(await noticesOf(hive)).toEqual([
      expect.stringMatching(/reach demo again, although 1 mention.* first from demo 2/),
    ]);
    expect((await send(hive, 'once more')).context).toContain('hello');
    // Progress restarts the count.
    await clear(hive);
    await mention('and again @me');
    expect((await send(hive, 'go on')).refused).toBe(true);
  });

  test('prompts are counted separately from tool calls', async () => {
    const { hive, mention } = await gatedWorld();
    await mention('hello @me');
    for (let n = 0; n < 7; n += 1) await send(hive, `try ${n}`);
    expect(await fire(hive, gatedBash())).toContain('"deny"');
  });

  test('a refused prompt begins no turn and hands nothing over', async () => {
    const { hive, mention } = await gatedWorld();
    await fire(hive, gatedEvent('Stop', { background_tasks: [] }));
    await mention('hello @me');
    expect((await send(hive, 'go on')).refused).toBe(true);
    expect(await hive.store.read((tx) => tx.turns.current(GATED_SESSION))).toBeUndefined();
    expect(await hive.sessions.find(GATED_SESSION)).toMatchObject({ state: 'idle' });
    expect(await hive.mentions.unprocessed(GATED_SESSION, null)).toMatchObject([{ delivered_at: null }]);
  });
});

test('a mention of the session before /clear holds the one that continues it', async () => {
  const { hive, mention } = await gatedWorld();
  await mention('hello @me');
  await fire(hive, gatedEvent('SessionEnd', { reason: 'clear' }));
  const next = { session_id: 'next-session', hook_event_name: 'SessionStart', source: 'clear', cwd: '/p' };
  await fire(hive, next);
  expect(await fire(hive, { ...gatedBash(), session_id: 'next-session' })).toContain('"deny"');
});

test.each([
  ['a compaction', { hook_event_name: 'SessionStart', source: 'compact' }],
  ['a start for a reason that nobody knows yet', { hook_event_name: 'SessionStart', source: 'renewed' }],
  ['a message of the human, without a start', { hook_event_name: 'UserPromptSubmit', prompt: 'Go on.' }],
])('so does one that goes on under a new id after %s', async (_what, next) => {
  const { hive, mention } = await gatedWorld();
  await mention('hello @me');
  await fire(hive, gatedEvent('Stop', {}));
  await fire(hive, { ...next, session_id: 'next-session', cwd: '/p' });
  expect(await fire(hive, { ...gatedBash(), session_id: 'next-session' })).toContain('"deny"');
});

test.each(['claude-code', 'codex'] as const)(
  '%s, whose session starts with a prompt, reads a mention once, with that prompt',
  async (client) => {
    const { hive, mention } = await gatedWorld();
    await mention('Need help with authentication @me');
    const start = { session_id: GATED_SESSION, cwd: '/p', hook_event_name: 'SessionStart' };
    const prompt = { ...start, turn_id: 't1', hook_event_name: 'UserPromptSubmit', prompt: 'Go on.' };
    expect(await fire(hive, { ...start, source: 'resume' }, { client })).toBe('');
    expect(await fire(hive, prompt, { client })).toContain('Need help with authentication');
    await mention('And with the tests @me');
    expect(await fire(hive, { ...start, source: 'compact' }, { client })).toContain('with the tests');
  },
);

test.each(['startup', 'resume', 'fork'])(
  'one of its own in the same client (%s) is not held',
  async (source) => {
    const { hive, mention } = await gatedWorld();
    await mention('hello @me');
    await fire(hive, gatedEvent('Stop', {}));
    await fire(hive, { session_id: 'next-session', hook_event_name: 'SessionStart', source, cwd: '/p' });
    expect(await fire(hive, { ...gatedBash(), session_id: 'next-session' })).not.toContain('"deny"');
  },
);
