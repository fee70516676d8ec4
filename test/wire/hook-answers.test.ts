/**
 * Answers arrive by themselves: which hook carries them in, and what proves that they were read.
 *
 * @module-tag at-least-once
 * @module-tag late
 * @module-tag hook
 */
import { describe, expect, test } from 'vitest';
import { mcpCarrier } from '../../src/application/delivery.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ENDED } from '../support/ended-process.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { fire, heldWith, said } from '../support/hooks.ts';

const SESSION = '5e551000-0000-4000-8000-000000000001';
const event = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  session_id: SESSION,
  cwd: '/home/user/project',
  prompt_id: 'prompt-1',
  hook_event_name: name,
  ...more,
});
const bashDone = event('PostToolUse', {
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_response: { stdout: '' },
  tool_use_id: 't1',
});
const stop = event('Stop', { stop_hook_active: false });

/** A session that has asked and was answered. */
async function answered(hive: OpenedHive, request: Parameters<typeof ask>[1] = {}): Promise<Prompt> {
  await fire(hive, event('SessionStart', { source: 'startup' }));
  const { ask_id } = await ask(hive, request, SESSION);
  return (await hive.prompts.respond({ ask_id, decision: 'blue', comment: 'like the sky', actor: HUMAN }))
    .prompt;
}

const context = async (hive: OpenedHive, raw: Record<string, unknown>): Promise<string> =>
  String(said(await fire(hive, raw))?.hookSpecificOutput?.['additionalContext'] ?? '');

describe('an answer', () => {
  test.each([
    ['a tool that is done', bashDone],
    [
      'a tool that failed',
      event('PostToolUseFailure', { tool_name: 'Bash', tool_input: {}, tool_use_id: 't1', error: 'exit 3' }),
    ],
    ['a prompt typed by the human', event('UserPromptSubmit', { prompt: 'go on' })],
    ['a session that is resumed', event('SessionStart', { source: 'resume' })],
  ])('is carried in with %s', async (_what, raw) => {
    const hive = await openTestHive();
    const { ask_id } = await answered(hive, { question: 'Red or blue?' });
    const text = await context(hive, raw);
    for (const part of [ask_id, 'Red or blue?', 'blue', 'like the sky', 'By ada via emacs'])
      expect(text).toContain(part);
  });

  test('is carried in exactly once where nothing is disturbed', async () => {
    const hive = await openTestHive();
    const { ask_id } = await answered(hive);
    expect(await context(hive, bashDone)).toContain(ask_id);
    expect((await hive.prompts.get(ask_id)).handed_at).toEqual(expect.any(String));
    expect(await fire(hive, bashDone)).toBe('');
    expect(await fire(hive, stop)).toBe('');
    expect((await hive.prompts.get(ask_id)).collected_at).toEqual(expect.any(String));
    expect(await fire(hive, event('UserPromptSubmit', { prompt: 'more' }))).toBe('');
  });

  test('holds a Stop, which only says what to call; it comes with the next message all the same', async () => {
    const hive = await openTestHive();
    const { ask_id } = await answered(hive);
    const held = await fire(hive, stop);
    expect(heldWith(held)).toContain(`hivemind_poll {"ask_id": "${ask_id}"}`);
    expect(held).not.toContain('blue');
    expect((await hive.prompts.get(ask_id)).handed_at).toBeNull();
    expect(await context(hive, event('UserPromptSubmit', { prompt: 'go on' }))).toContain('blue');
  });

  test('that was not proved read before the session was resumed comes again, and says so', async () => {
    const hive = await openTestHive();
    const { ask_id } = await answered(hive);
    await fire(hive, bashDone);
    const again = await context(hive, event('SessionStart', { source: 'resume' }));
    expect(again).toContain(ask_id);
    expect(again).toContain('This may have reached you before.');
  });

  test('that is late says so, and comes after the expiry was delivered', async () => {
    const hive = await openTestHive();
    await fire(hive, event('SessionStart', { source: 'startup' }));
    const { ask_id } = await ask(hive, {}, SESSION);
    await hive.prompts.cancel(ask_id, HUMAN, 'human');
    expect(await context(hive, bashDone)).toContain('That is no decision');
    await fire(hive, stop);
    await hive.prompts.respond({ ask_id, decision: 'after all', actor: HUMAN });
    expect(await context(hive, bashDone)).toMatch(/A late answer to .*after all/s);
  });

  test('of another session is not carried in', async () => {
    const hive = await openTestHive();
    await answered(hive);
    expect(await fire(hive, { ...bashDone, session_id: 'another' })).toBe('');
  });

  test('that is too long for a context is cut, and says where all of it is', async () => {
    const hive = await openTestHive();
    await fire(hive, event('SessionStart', { source: 'startup' }));
    const { ask_id } = await ask(hive, {}, SESSION);
    await hive.prompts.respond({ ask_id, decision: 'x'.repeat(30_000), actor: HUMAN });
    const text = await context(hive, bashDone);
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain('hivemind_poll returns it in full');
  });
});

describe('an answer that a poll has returned', () => {
  /** As `hive mcp` returns it, over a connection that lives unless said otherwise. */
  async function polled(hive: OpenedHive, pid = process.pid): Promise<Prompt> {
    const prompt = await answered(hive);
    await hive.callers.openConnection({
      connection_id: 'connection-1',
      machine: 'test',
      pid,
      parent_pid: ENDED,
    });
    await hive.delivery.hand([prompt.ask_id], mcpCarrier('connection-1'), SESSION);
    return prompt;
  }
  const pollDone = (response: unknown): Record<string, unknown> =>
    event('PostToolUse', {
      tool_name: 'mcp__hive__hivemind_poll',
      tool_input: {},
      tool_response: response,
      tool_use_id: 't2',
    });

  test('is not carried in again while the connection lives', async () => {
    const hive = await openTestHive();
    await polled(hive);
    expect(await fire(hive, bashDone)).toBe('');
  });

  test('is proved read by the hook that brings the poll back', async () => {
    const hive = await openTestHive();
    const { ask_id } = await polled(hive);
    await fire(hive, pollDone([{ type: 'text', text: `{"ask_id":"${ask_id}"}` }]));
    expect((await hive.prompts.get(ask_id)).collected_at).toEqual(expect.any(String));
  });

  test('is not proved read by a poll for another question', async () => {
    const hive = await openTestHive();
    const { ask_id } = await polled(hive);
    await fire(hive, pollDone([{ type: 'text', text: '{"ask_id":"ask-another"}' }]));
    expect((await hive.prompts.get(ask_id)).collected_at).toBeNull();
  });

  test('is carried in if the connection died with it, and says that it may have arrived before', async () => {
    const hive = await openTestHive();
    const { ask_id } = await polled(hive, ENDED);
    const text = await context(hive, bashDone);
    expect(text).toContain(ask_id);
    expect(text).toContain('This may have reached you before.');
  });
});

test('one hook carries as many answers as fit by size, and the next one the rest', async () => {
  const hive = await openTestHive();
  await fire(hive, event('SessionStart', { source: 'startup' }));
  const answer = async (question: string, decision: string): Promise<string> => {
    const { ask_id } = await ask(hive, { question }, SESSION);
    await hive.prompts.respond({ ask_id, decision, actor: HUMAN });
    return ask_id;
  };
  const short: string[] = [];
  for (let count = 0; count < 12; count += 1) short.push(await answer(`Short ${count}?`, 'yes'));
  const first = await context(hive, bashDone);
  expect(short.filter((ask_id) => first.includes(ask_id))).toEqual(short);
  const long: string[] = [];
  for (let count = 0; count < 10; count += 1) long.push(await answer(`Long ${count}?`, 'long '.repeat(700)));
  const arrived: string[] = [];
  let hooks = 0;
  for (; arrived.length < long.length && hooks < long.length; hooks += 1) {
    const carried = await context(hive, bashDone);
    expect(carried.length).toBeLessThan(10_000);
    arrived.push(...long.filter((ask_id) => carried.includes(ask_id)));
  }
  // Each once, in the order of the questions.
  expect(arrived).toEqual(long);
  expect(hooks).toBeGreaterThan(1);
});
