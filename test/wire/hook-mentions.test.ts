/** The mention gate as the recorded clients meet it: exactly what is printed, and the seed's scenarios. */
import { describe, expect, test } from 'vitest';
import type { Hive } from '../../src/application/hive.ts';
import type { Author } from '../../src/domain/messages.ts';
import { humanAuthor } from '../../src/domain/messages.ts';
import { introduce, openTestHive } from '../support/hive.ts';
import { type Client, fire, said } from '../support/hooks.ts';

const SESSION = '5e551000-0000-4000-8000-000000000001';
const event = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  session_id: SESSION,
  transcript_path: `/home/user/.claude/projects/p/${SESSION}.jsonl`,
  cwd: '/home/user/project',
  prompt_id: 'prompt-1',
  hook_event_name: name,
  ...more,
});
const bash = (command = 'ls', more = {}): Record<string, unknown> =>
  event('PreToolUse', { tool_name: 'Bash', tool_input: { command }, tool_use_id: 'toolu_1', ...more });
const codexBash = {
  session_id: SESSION,
  turn_id: 't1',
  transcript_path: '/x/rollout-1.jsonl',
  cwd: '/p',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 'call_1',
};

async function other(hive: Hive, session_id = 'def34-other'): Promise<Author> {
  const { handle, project, project_dir } = await introduce(hive, session_id);
  return { kind: 'agent', session_id, handle, project, project_dir, via: 'mcp' };
}

/** A hive with one recorded session that has a live connection, and its handle. */
async function world(): Promise<{
  hive: Hive;
  handle: string;
  mention(body: string, more?: object): Promise<void>;
}> {
  const hive = await openTestHive();
  await fire(hive, event('SessionStart', { source: 'startup' }));
  await hive.sessions.openConnection({
    connection_id: 'connection-1',
    machine: 'test',
    pid: process.pid,
    parent_pid: 4242,
  });
  const handle = (await hive.sessions.get(SESSION))?.handle ?? '';
  const author = await other(hive);
  return {
    hive,
    handle,
    async mention(body, more = {}) {
      await hive.messages.post({ body: body.replace('@me', `@${handle}`), scope: 'all', author, ...more });
    },
  };
}

const clear = (hive: Hive): Promise<unknown> =>
  hive.mentions.process({
    session_id: SESSION,
    all: true,
    actor: { kind: 'agent', by: 'x', via: 'mcp', session_id: SESSION, ancestors: [] },
  });

test('with nothing to say nothing is printed, not even a newline', async () => {
  const { hive } = await world();
  expect(await fire(hive, bash())).toBe('');
  expect(await fire(hive, codexBash, { client: 'codex' })).toBe('');
});

describe('the Quick Test of the seed: a mention, then a tool', () => {
  test('Claude Code: exactly a denial with its reason', async () => {
    const { hive, mention } = await world();
    await mention('Need help with authentication @me');
    const printed = said(await fire(hive, bash()));
    expect(Object.keys(printed ?? {})).toEqual(['hookSpecificOutput']);
    const { permissionDecisionReason, ...rest } = printed?.hookSpecificOutput ?? {};
    expect(rest).toEqual({ hookEventName: 'PreToolUse', permissionDecision: 'deny' });
    expect(permissionDecisionReason).toContain('Need help with authentication');
    expect(permissionDecisionReason).toContain('hivemind_process_mentions');
  });

  test('Codex: exactly the three fields it takes, none more', async () => {
    const { hive, mention } = await world();
    // Its hooks tell no process of the client: the MCP child and the hook descend from the same one.
    await hive.sessions.openConnection({
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

  test('once it is processed the next call passes, told so once, and nothing has to be sent again', async () => {
    const { hive, mention } = await world();
    await mention('Need help @me');
    await fire(hive, bash());
    await clear(hive);
    expect(said(await fire(hive, bash()))?.hookSpecificOutput).toEqual({
      hookEventName: 'PreToolUse',
      additionalContext: 'Your mentions are processed: tool calls pass again. Go on where you were held.',
    });
    expect(await fire(hive, bash())).toBe('');
  });
});

test('a broadcast reaches every session of the project but its author', async () => {
  const { hive } = await world();
  const author = await other(hive);
  await hive.messages.post({ body: '@All found a vulnerability', author });
  expect(await fire(hive, bash())).toContain('found a vulnerability');
  expect(await hive.mentions.get(author.session_id ?? '', null)).toEqual([]);
});

describe('which calls are gated', () => {
  test.each([
    [
      'an allowed, read-only tool',
      event('PreToolUse', { tool_name: 'Read', tool_input: {}, tool_use_id: 't' }),
      true,
    ],
    [
      'a tool of ours',
      event('PreToolUse', {
        tool_name: 'mcp__hive__hivemind_process_mentions',
        tool_input: {},
        tool_use_id: 't',
      }),
      false,
    ],
    [
      'a tool of ours, through the plugin',
      event('PreToolUse', {
        tool_name: 'mcp__plugin_hive_hive__hivemind_poll',
        tool_input: {},
        tool_use_id: 't',
      }),
      false,
    ],
    [
      'a tool that only looks like ours',
      event('PreToolUse', { tool_name: 'mcp__evil_hive__hivemind_poll', tool_input: {}, tool_use_id: 't' }),
      true,
    ],
    ['the clearing command', bash('hive mentions process --all'), false],
    ['a subagent, by a mention of its parent', bash('ls', { agent_id: 'a1', agent_type: 'x' }), false],
  ])('%s', async (_what, raw, held) => {
    const { hive, mention } = await world();
    await mention('hello @me');
    expect((await fire(hive, raw)).includes('"deny"')).toBe(held);
  });

  test('a session without a live connection is reminded, not held', async () => {
    const { hive, mention } = await world();
    await hive.sessions.closeConnections(['connection-1']);
    await mention('hello @me');
    const printed = said(await fire(hive, bash()));
    expect(printed?.hookSpecificOutput?.['permissionDecision']).toBeUndefined();
    expect(printed?.hookSpecificOutput?.['additionalContext']).toContain('hello');
  });
});

describe('modes', () => {
  const held = async (hive: Hive, client: Client = {}): Promise<boolean> =>
    (await fire(hive, bash(), client)).includes('"deny"');

  test('HIVE_GATE=remind says it once and holds nothing, but for an urgent mention', async () => {
    const { hive, mention } = await world();
    const remind = { env: { HIVE_GATE: 'remind' } };
    await mention('hello @me');
    expect(await fire(hive, bash(), remind)).toContain('hello');
    expect(await fire(hive, bash(), remind)).toBe('');
    await mention('now @me', { priority: 'urgent' });
    expect(await held(hive, remind)).toBe(true);
  });

  test('the setting of the session wins over the global one', async () => {
    const { hive, handle, mention } = await world();
    await mention('hello @me');
    await hive.sessions.configure(handle, { gate: 'off' });
    expect(await fire(hive, bash())).toBe('');
    await hive.sessions.configure(handle, { gate: 'block' });
    expect(await held(hive, { env: { HIVE_GATE: 'off' } })).toBe(true);
  });
});

test('a batch of parallel calls is denied call by call and counted as one step', async () => {
  const { hive, mention } = await world();
  await mention('hello @me');
  const printed = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((n) => fire(hive, bash(`echo ${n}`, { tool_use_id: `t${n}` }))),
  );
  expect(printed.every((one) => one.includes('"deny"'))).toBe(true);
  expect(await hive.store.read((tx) => tx.gates.get(SESSION))).toMatchObject({ steps: 1, denials: 6 });
});

test('after five steps without progress the gate only reminds, and the human is told once', async () => {
  const { hive, mention } = await world();
  await mention('hello @me');
  const denied: boolean[] = [];
  for (let step = 0; step < 8; step += 1) {
    denied.push((await fire(hive, bash())).includes('"deny"'));
    await fire(hive, event('PostToolBatch', { tool_calls: [] }));
  }
  expect(denied).toEqual([true, true, true, true, true, false, false, false]);
  const notices = (await hive.store.read((tx) => tx.events.after(0, 500))).filter(
    (one) => one.type === 'desk/notice',
  );
  expect(notices).toHaveLength(1);
  expect(notices[0]?.data['text']).toContain('went on without processing 1 mention(s)');
});

describe('a prompt typed to the agent', () => {
  const prompt = event('UserPromptSubmit', { prompt: 'go on' });

  test('carries what waits', async () => {
    const { hive, mention } = await world();
    await mention('hello @me');
    expect(said(await fire(hive, prompt))?.hookSpecificOutput?.['additionalContext']).toContain('hello');
  });

  test('is refused with the list where HIVE_GATE_PROMPT=block; a wake-up of the client is not', async () => {
    const { hive, mention } = await world();
    const env = { HIVE_GATE_PROMPT: 'block' };
    await mention('hello @me');
    expect(said(await fire(hive, prompt, { env }))).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining('1 unprocessed mention'),
    });
    const wake = event('UserPromptSubmit', { prompt: '<task-notification>done</task-notification>' });
    expect(said(await fire(hive, wake, { env }))?.['decision']).toBeUndefined();
  });
});

test('two agents collaborating: the reply processes the mention it answers, and mentions back', async () => {
  const { hive, handle, mention } = await world();
  await mention('Review the security of my login function @me', { expects_reply: true });
  expect(await fire(hive, bash())).toContain('Review the security');
  const [asked] = await hive.mentions.get(SESSION, null);
  const me: Author = {
    kind: 'agent',
    session_id: SESSION,
    handle,
    project: 'demo',
    project_dir: '/demo/.git',
    via: 'mcp',
  };
  const author = await other(hive);
  await hive.messages.post({
    body: `I will, right after mine. @${author.handle}`,
    reply_to: asked?.message_id,
    author: me,
  });
  expect(await fire(hive, bash())).not.toContain('"deny"');
  expect(await hive.mentions.get(author.session_id ?? '', null)).toMatchObject([{ from_handle: handle }]);
});

test('a mention of the session before /clear holds the one that continues it', async () => {
  const { hive, mention } = await world();
  await mention('hello @me');
  await fire(hive, event('SessionEnd', { reason: 'clear' }));
  const next = { session_id: 'next-session', hook_event_name: 'SessionStart', source: 'clear', cwd: '/p' };
  await fire(hive, next);
  expect(await fire(hive, { ...bash(), session_id: 'next-session' })).toContain('"deny"');
});

test("a human's message is a mention like any other", async () => {
  const { hive, handle } = await world();
  await hive.messages.post({
    body: `@${handle} stop and look`,
    author: humanAuthor('emacs', null),
    scope: 'all',
  });
  expect(await fire(hive, bash())).toContain('stop and look');
});
