/**
 * The mention gate as the recorded clients meet it: which calls it holds, in which mode, and for how long.
 *
 * @module-tag guards-end
 * @module-tag hook
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { GATED_SESSION, gatedBash, gatedEvent, gatedWorld } from '../support/gate.ts';
import { introduction, noticesOf, prefer } from '../support/hive.ts';
import { fire, said } from '../support/hooks.ts';

describe('which calls are gated', () => {
  test.each([
    [
      'an allowed, read-only tool',
      gatedEvent('PreToolUse', { tool_name: 'Read', tool_input: {}, tool_use_id: 't' }),
      true,
    ],
    [
      'a tool of ours',
      gatedEvent('PreToolUse', {
        tool_name: 'mcp__hive__hivemind_process_mentions',
        tool_input: {},
        tool_use_id: 't',
      }),
      false,
    ],
    [
      'a tool of ours, through the plugin',
      gatedEvent('PreToolUse', {
        tool_name: 'mcp__plugin_hive_hive__hivemind_poll',
        tool_input: {},
        tool_use_id: 't',
      }),
      false,
    ],
    [
      'a tool that only looks like ours',
      gatedEvent('PreToolUse', {
        tool_name: 'mcp__evil_hive__hivemind_poll',
        tool_input: {},
        tool_use_id: 't',
      }),
      true,
    ],
    ['the clearing command', gatedBash('hive mentions process --all'), false],
    ['a subagent, by a mention of its parent', gatedBash('ls', { agent_id: 'a1', agent_type: 'x' }), false],
  ])('%s', async (_what, raw, held) => {
    const { hive, mention } = await gatedWorld();
    await mention('hello @me');
    expect((await fire(hive, raw)).includes('"deny"')).toBe(held);
  });

  test('a client is held like any other when a shell stays between it and hive mcp, and another client there is not', async () => {
    const { hive, mention } = await gatedWorld();
    await hive.callers.closeConnections(['connection-1']);
    // It says its process id, and its shell waits for it, as for a wrapper that does not exec.
    const shell = spawn('sh', [
      '-c',
      `${process.execPath} -e 'console.log(process.pid); process.stdin.resume()'; true`,
    ]);
    onTestFinished(async () => {
      shell.stdin.end();
      await once(shell, 'exit');
    });
    const [line] = await once(shell.stdout, 'data');
    const pid = Number(String(line));
    const parent_pid = shell.pid ?? 0;
    await hive.callers.openConnection({ connection_id: 'connection-2', machine: 'test', pid, parent_pid });
    await mention('hello @me');
    const held = async (): Promise<boolean> =>
      (await fire(hive, gatedBash(), { env: { CLAUDE_PID: String(process.pid) } })).includes('"deny"');
    expect(await held()).toBe(true);
    await hive.sessions.introduce(introduction({ session_id: 'inner-client', pid: parent_pid }));
    expect(await held()).toBe(false);
  });

  test('a session without a live connection is reminded, not held', async () => {
    const { hive, mention } = await gatedWorld();
    await hive.callers.closeConnections(['connection-1']);
    await mention('hello @me');
    const printed = said(await fire(hive, gatedBash()));
    expect(printed?.hookSpecificOutput?.['permissionDecision']).toBeUndefined();
    expect(printed?.hookSpecificOutput?.['additionalContext']).toContain('hello');
  });
});

test('reminders show four mentions at a time, each once, and say how many are left; a prompt repeats them', async () => {
  const { hive, mention } = await gatedWorld();
  await prefer(hive, { gate: 'remind' });
  for (let n = 1; n <= 10; n += 1) await mention(`number ${n}. @me`);
  const shown = async (event: Record<string, unknown>): Promise<string[]> =>
    (await fire(hive, event)).match(/number \d+|\+\d+ more/g) ?? [];
  const numbers = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, n) => `number ${from + n}`);
  expect(await shown(gatedBash())).toEqual([...numbers(1, 4), '+6 more']);
  expect(await shown(gatedBash())).toEqual([...numbers(5, 8), '+2 more']);
  const prompt = gatedEvent('UserPromptSubmit', { prompt: 'go on', prompt_id: 'prompt-2' });
  expect(await shown(prompt)).toEqual([...numbers(1, 4), '+6 more']);
  expect(await shown(gatedBash())).toEqual(numbers(9, 10));
  expect(await shown(gatedBash())).toEqual([]);
});

test('after five steps without progress the gate only reminds, and the human is notified once', async () => {
  const { hive, mention } = await gatedWorld();
  await mention('hello @me');
  const denied: boolean[] = [];
  for (let step = 0; step < 8; step += 1) {
    denied.push((await fire(hive, gatedBash())).includes('"deny"'));
    await fire(hive, gatedEvent('PostToolBatch', { tool_calls: [] }));
  }
  expect(denied).toEqual([true, true, true, true, true, false, false, false]);
  const notices = await noticesOf(hive);
  expect(notices).toHaveLength(1);
  expect(notices[0]).toContain('went on without processing 1 mention(s)');
});

test('when the mention that held it expires, its calls pass, and it reads that none was processed', async () => {
  const { hive, mention } = await gatedWorld();
  await mention('hello @me');
  expect(await fire(hive, gatedBash())).toContain('"deny"');
  await hive.store.write(async (tx) => {
    const [open] = await tx.mentions.unprocessedOf(GATED_SESSION);
    if (open !== undefined) await tx.mentions.update({ ...open, expires_at: '2020-01-01T00:00:00.000Z' });
  });
  expect(said(await fire(hive, gatedBash()))?.hookSpecificOutput).toEqual({
    hookEventName: 'PreToolUse',
    additionalContext:
      'The mentions that held you have expired, so your tool calls are allowed again. Continue where you stopped.',
  });
});
