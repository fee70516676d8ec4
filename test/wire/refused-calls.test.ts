/**
 * Calls of Hive's own tools that Claude Code refuses, or about which it asks: what they would have said reaches the human.
 *
 * @module-tag hook
 */
import { beforeEach, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openDesk } from '../support/dialogs.ts';
import { HUMAN, noticesOf, openTestHive } from '../support/hive.ts';
import { fire, recordedEvent } from '../support/hooks.ts';
import { eventually } from '../support/wait.ts';

const ASKED = recordedEvent('claude-code/PermissionRequest-mcp.json');
const { session_id, transcript_path, cwd, prompt_id } = ASKED;
const of = (hook_event_name: string, more: object = {}): Record<string, unknown> => ({
  ...{ hook_event_name, session_id, transcript_path, cwd, prompt_id },
  ...more,
});
const call = (name: string, tool: string, tool_input: object, id = 'toolu_1'): Record<string, unknown> =>
  of(name, { tool_name: `mcp__hive__${tool}`, tool_input, tool_use_id: id });
const QUESTION = { question: 'Which colour?\nRed or blue?' };
const REFUSED =
  "demo could not ask:\n> Which colour?\n> Red or blue?\nClaude Code refused the call. To let agents use Hive's own tools without asking, run: hive init claude";

let hive: OpenedHive;
beforeEach(async () => {
  hive = await openTestHive();
  await openDesk(hive);
  await fire(hive, of('UserPromptSubmit', { prompt: 'go' }));
});

test('a question that is refused without an event is a notice at the end of the turn', async () => {
  await fire(hive, call('PreToolUse', 'hivemind_ask_async', QUESTION));
  await fire(hive, of('Stop', { stop_hook_active: false }));
  expect(await noticesOf(hive)).toEqual([REFUSED]);
  // The next turn has nothing of it.
  await fire(hive, of('UserPromptSubmit', { prompt: 'go on', prompt_id: 'next' }));
  await fire(hive, of('Stop', { prompt_id: 'next' }));
  expect(await noticesOf(hive)).toHaveLength(1);
});

test('one that the classifier of the auto mode denies is a notice at once, and only once', async () => {
  await fire(hive, call('PreToolUse', 'hivemind_ask_async', QUESTION));
  await fire(hive, call('PermissionDenied', 'hivemind_ask_async', QUESTION));
  expect(await noticesOf(hive)).toEqual([REFUSED]);
  await fire(hive, of('Stop'));
  expect(await noticesOf(hive)).toHaveLength(1);
});

test('a call that ran is none, nor is one that says nothing', async () => {
  await fire(hive, call('PreToolUse', 'hivemind_ask_async', QUESTION));
  await fire(hive, call('PostToolUse', 'hivemind_ask_async', QUESTION));
  await fire(hive, call('PreToolUse', 'hivemind_poll', {}, 'toolu_2'));
  await fire(hive, of('Stop'));
  expect(await noticesOf(hive)).toEqual([]);
});

test.each([
  ['hivemind_post', { body: 'On it' }, 'post: On it'],
  ['hivemind_report_updates', { message: 'All done' }, 'report: All done'],
  ['hivemind_ping_user', { message: 'Look' }, 'tell you: Look'],
  ['hivemind_send_card', { title: 'Tests' }, 'show you: Tests'],
  ['hivemind_note', { ask_id: 'ask-1', note: 'Green' }, 'add to its question: Green'],
])('%s is named by what it would have said', async (tool, input, words) => {
  await fire(hive, call('PreToolUse', tool, input));
  await fire(hive, of('Stop'));
  expect((await noticesOf(hive))[0]).toContain(`demo could not ${words}\n`);
});

test('a dialog about one of them is in the terminal only, and a notice says so', async () => {
  const printed = await fire(hive, ASKED, { env: { CLAUDE_CODE_SESSION_ATTENDED: '1' } });
  expect(printed).toBe('');
  expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
  expect(await noticesOf(hive)).toEqual([
    "demo waits in its terminal, where Claude Code asks whether it may ask: q\nTo let agents use Hive's own tools without asking, run: hive init claude",
  ]);
});

const WAITS =
  "demo waits in its terminal, where Claude Code asks whether it may ask:\n> Which colour?\n> Red or blue?\nTo let agents use Hive's own tools without asking, run: hive init claude";
const WAITING = of('Notification', { notification_type: 'permission_prompt', message: 'Claude needs you' });

test('a dialog that is no event, as in plan mode, is a notice when Claude Code says that it waits', async () => {
  await fire(hive, call('PreToolUse', 'hivemind_ask_async', QUESTION));
  await fire(hive, WAITING);
  expect(await noticesOf(hive)).toEqual([WAITS]);
});

test('one call is one notice, however many events its dialog has and however it ends', async () => {
  await fire(hive, call('PreToolUse', 'hivemind_ask_async', QUESTION));
  await fire(hive, call('PermissionRequest', 'hivemind_ask_async', QUESTION), {
    env: { CLAUDE_CODE_SESSION_ATTENDED: '1' },
  });
  await fire(hive, WAITING);
  await fire(hive, of('Stop'));
  expect(await noticesOf(hive)).toEqual([WAITS]);
});

test('what waits beside other calls may be one of those', async () => {
  await fire(hive, call('PreToolUse', 'hivemind_ask_async', QUESTION));
  await fire(hive, of('PreToolUse', { tool_name: 'Bash', tool_input: {}, tool_use_id: 'toolu_2' }));
  await fire(hive, WAITING);
  expect(await noticesOf(hive)).toEqual([]);
});

test("a coordinator's tool decides for others, so a desk is asked", async () => {
  const asked = { ...ASKED, tool_name: 'mcp__hive__hivemind_respond', tool_input: { ask_id: 'ask-1' } };
  const printed = fire(hive, asked, { env: { CLAUDE_CODE_SESSION_ATTENDED: '1' } });
  let prompt: Prompt | undefined;
  await eventually(async () => {
    [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    return prompt !== undefined;
  });
  expect(prompt).toMatchObject({ kind: 'permission', question: 'Call hivemind_respond of hive?' });
  await hive.prompts.cancel(prompt?.ask_id ?? '', HUMAN, 'human');
  await printed;
});
