/** Mention-Driven Task Interruption, requirement by requirement. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect } from 'vitest';
import { hiveCanUseTool, hiveHooks, openAgentHive } from '../../src/extensions/runs/agent-sdk/index.ts';
import { countOf, grow } from '../support/ageing.ts';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { beforeFile } from '../support/lifetime.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually, isBetween } from '../support/wait.ts';
import { type Agent, fireHook, type Loose, startAgent, told } from './support/agents.ts';
import { everyRequirementOf, requirement } from './support/requirement.ts';
import { clearMentions, post, startTeam, type Team, waiting } from './support/team.ts';

let team: Team;
let { store, abc, def, xyz, desk, emacs, human } = {} as Team;

beforeFile(async () => {
  team = await startTeam();
  ({ store, abc, def, xyz, desk, emacs, human } = team);
});

beforeEach(() => clearMentions(team));

const types = (agent: Agent, prompt: string, env = {}): Promise<Loose> =>
  agent.hook('UserPromptSubmit', { prompt, prompt_id: `prompt-${randomUUID()}` }, env);
/** The same, with the preference that refuses messages until the mentions are processed. */
async function typesWhereRefused(agent: Agent, prompt: string): Promise<Loose> {
  await human.hive('config', 'gate', 'strict');
  const printed = await types(agent, prompt);
  await human.hive('config', 'gate', 'default');
  return printed;
}

requirement(
  [
    '000-01 An unprocessed mention holds every tool call of the mentioned agent',
    '000-11 Without mentions the tool call is let through, without a word',
    '000-30 An agent in the middle of a long task is interrupted at its next tool call',
  ],
  async () => {
    await types(abc, 'A long task');
    const event = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_1' };
    expect(await abc.hook('PreToolUse', event)).toEqual({});
    await post(def, 'Need help with authentication @Claude-abc12');
    for (const tool of ['Bash', 'Read', 'Edit', 'AskUserQuestion', 'mcp__github__get'])
      expect([tool, (await abc.tries(tool)).verdict]).toEqual([tool, 'deny']);
    expect((await def.tries()).verdict).toBe('pass');
  },
);

requirement('000-02 The check before a tool runs is the primary mechanism', async () => {
  const hive = await openAgentHive({ store, env: {} });
  try {
    const session_id = 'abc12-session';
    await post(def, 'Look at this @Claude-abc12');
    const input = {
      hook_event_name: 'PreToolUse',
      session_id,
      cwd: '/',
      tool_name: 'Read',
      tool_input: {},
      tool_use_id: 'toolu_sdk',
    };
    const { signal } = new AbortController();
    const [matcher] = hiveHooks(hive)['PreToolUse'] ?? [];
    const said: Loose = await matcher?.hooks[0]?.(input, 'toolu_sdk', { signal });
    expect(said.hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('1 unprocessed mention'),
    });
    const off = hiveCanUseTool(hive, async () => ({ behavior: 'allow' }));
    const permission = off('Bash', { command: 'ls' }, { signal, toolUseID: 'toolu_sdk' });
    const { ask_id } = await told(desk, 'hivemind-ask', ({ kind }) => kind === 'permission');
    await desk.request('prompt/cancel', { ask_id, by: 'Ada' });
    const { behavior, message }: Loose = await permission;
    expect(`${behavior} ${message}`).not.toContain('mention');
  } finally {
    await hive.close();
  }
});

requirement('000-03 The human is notified that an agent is held by a mention', async () => {
  await desk.request('desk/preferences', { notify_held: 0 });
  try {
    await types(abc, 'A task');
    await post(def, 'Stop and look @Claude-abc12');
    await abc.tries();
    const title = await abc.title();
    const { text } = await told(
      desk,
      'desk/notice',
      (notice) => notice.text.includes(title) && notice.text.includes('held since'),
    );
    expect(text).toContain(await def.title());
    const { sessions } = (await human.hive('sessions', '--json')).json();
    const held = sessions.find(({ handle }: Loose) => handle === 'Claude-abc12');
    expect(held).toMatchObject({ unprocessed_mentions: 1 });
  } finally {
    await desk.request('desk/preferences', { notify_held: null });
  }
});

requirement(
  [
    '000-05 A tool tells the agent whether it has unprocessed mentions',
    '000-06 It says whether there are any, how many, and who is asking',
    '000-12 Mentions are recorded by themselves with each message',
  ],
  async () => {
    const { tools } = await abc.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('hivemind_has_unprocessed_mentions');
    expect(names.filter((name) => name.startsWith('nvim_'))).toEqual([]);
    await post(def, 'nobody is meant by this');
    expect(await abc.use('hivemind_has_unprocessed_mentions')).toMatchObject({ has_mentions: false });
    for (const n of [1, 2])
      expect(await post(def, `@Claude-abc12 hello ${n}`)).toMatchObject({ mentioned: ['Claude-abc12'] });
    const found = await abc.use('hivemind_has_unprocessed_mentions');
    expect(found).toMatchObject({ has_mentions: true, count: 2, you: 'Claude-abc12' });
    expect(found).not.toHaveProperty('claude_id');
    expect(await def.use('hivemind_has_unprocessed_mentions')).toMatchObject({ has_mentions: false });
  },
);

requirement(
  '000-07 Another tool returns the unprocessed mentions; reading them processes nothing',
  async () => {
    const long = `@Claude-abc12 ${'read all of this '.repeat(200)}end`;
    await post(def, long);
    await post(xyz, '@Claude-abc12 now', { priority: 'urgent' });
    expect((await waiting(abc)).map(({ body }) => body)).toEqual(['@Claude-abc12 now', long]);
    expect((await abc.tries()).verdict).toBe('deny');
  },
);

requirement(
  [
    '000-08 Every mention has an id by which it can be processed',
    '000-09 A mention carries its time, author and text, and whether it is processed',
    '000-24 Each mention is shown with its author and its age',
  ],
  async () => {
    const before = new Date().toISOString();
    await Promise.all([
      post(def, '@Claude-abc12 first\n\nand more'),
      post(def, '@Claude-abc12 second\n\nand more'),
    ]);
    const found = await waiting(abc);
    expect(new Set(found.map(({ mention_id }) => mention_id)).size).toBe(2);
    expect(new Set(found.map(({ message_id }) => message_id)).size).toBe(2);
    const [own] = found;
    expect(own).toMatchObject({ from: 'Claude-def34', body: expect.stringMatching(/^@Claude-abc12 /) });
    expect(isBetween(before, own.at, new Date().toISOString())).toBe(true);
    const words = ['mentions', '--session', 'Claude-abc12'];
    const { mentions } = (await human.hive(...words, '--json')).json();
    expect(mentions).toContainEqual(
      expect.objectContaining({ mention_id: own.mention_id, at: own.at, status: 'unprocessed' }),
    );
    const { out } = await human.hive(...words);
    expect(out).toMatch(/^Claude-def34, \d+ ?s ago /m);
    expect(out).toContain('and more');
  },
);

requirement('000-10 The refusal of a tool call carries the details of the mention', async () => {
  await post(def, '@Claude-abc12 the whole text of the first');
  for (const n of [2, 3, 4, 5]) await post(xyz, `@Claude-abc12 number ${n}`);
  const [first] = await waiting(abc);
  const { text } = await abc.tries();
  expect(text).toContain('you have 5 unprocessed mentions');
  expect(text).toContain(`Claude-def34 mentioned you at ${first.at} [${first.mention_id}]`);
  expect(text).toContain('the whole text of the first');
  expect(text).toContain('+1 more');
  expect(text).toContain('hivemind_process_mentions');
});

requirement(
  [
    '000-13 One mention can be marked as processed',
    '000-36 Single mentions can be processed, not only all of them',
  ],
  async () => {
    await post(def, '@Claude-abc12 one');
    await post(def, '@Claude-abc12 two');
    const [one, two] = await waiting(abc);
    const by_mention = await abc.use('hivemind_process_mentions', { mention_ids: [one.mention_id] });
    expect(by_mention).toMatchObject({ processed: [expect.any(String)], remaining: 1 });
    expect((await abc.tries()).verdict).toBe('deny');
    const by_message = await abc.use('hivemind_process_mentions', { mention_ids: [two.message_id] });
    expect(by_message).toMatchObject({ processed: [expect.any(String)], remaining: 0 });
    expect((await abc.tries()).verdict).toBe('pass');
  },
);

requirement('000-14 All mentions can be marked as processed at once', async () => {
  const two = async (): Promise<void> => {
    await post(def, '@Claude-abc12 one');
    await post(def, '@Claude-abc12 two');
  };
  await two();
  await waiting(abc);
  expect(await abc.use('hivemind_process_mentions', { all: true })).toMatchObject({
    processed: [expect.any(String), expect.any(String)],
  });
  await two();
  await human.hive('mentions', 'process', '--all', '--session', 'Claude-abc12');
  expect(await waiting(abc)).toEqual([]);
});

requirement(
  [
    '000-15 There is a summary of a session’s mentions: total, processed, unprocessed',
    '000-16 The history of a session’s mentions can be looked at',
  ],
  async () => {
    const fresh = await startAgent(store, 'sum01-session');
    for (const n of [1, 2, 3]) await post(def, `@Claude-sum01 ${n}`);
    const [first] = await waiting(fresh);
    await fresh.use('hivemind_process_mentions', { mention_ids: [first.mention_id], note: 'it was easy' });
    const { summary } = await desk.request('mention/list', { session: 'Claude-sum01' });
    expect(summary).toMatchObject({ total: 3, processed: 1, unprocessed: 2, gating: 2 });
    const told = (await human.hive('mentions', '--session', 'Claude-sum01', '--json')).json();
    expect(told.summary).toEqual(summary);
    await emacs.show('(hive-check-mentions-of "Claude-sum01")');
    await emacs.until(/Mentions of .*: 3 in total, 1 done, 2 open[\s\S]*hive-mentions: Claude-su/);
    const { out } = await human.hive('mentions', '--session', 'Claude-sum01', '--status', 'processed');
    for (const text of ['@Claude-sum01 1', 'it was easy', 'Claude-def34']) expect(out).toContain(text);
    await emacs.evaluate(
      '(with-current-buffer "*hive-mentions: Claude-sum01*" (hive-check-mentions-toggle-history))',
    );
    await emacs.until(/done by Claude-sum01: it was easy/);
  },
);

requirement('000-18 A message of the human to a mentioned agent is held', async () => {
  await post(def, '@Claude-abc12 read me');
  const reminded = await types(abc, 'Any message here');
  expect(reminded).not.toHaveProperty('decision');
  expect(reminded.hookSpecificOutput.additionalContext).toContain('@Claude-abc12 read me');
  expect(await typesWhereRefused(abc, 'Any message here')).toMatchObject({ decision: 'block' });
});

requirement(
  [
    '000-19 The document’s quick test: the message is held with a warning, and passes once the mention is processed',
    '000-22 The warning counts the mentions, lists each with time and author, and names what shows them',
  ],
  async () => {
    await post(def, 'Test mention @Claude-abc12');
    await post(xyz, '@Claude-abc12 another');
    const held = await typesWhereRefused(abc, 'Any message here');
    expect(held).toMatchObject({ decision: 'block' });
    expect(held.reason).toMatch(/^You have 2 unprocessed mention\(s\)\./);
    expect(held.reason).toContain('See them with: hive mentions --session Claude-abc12');
    expect(held.reason).toContain('call hivemind_process_mentions');
    for (const author of ['Claude-def34', 'Claude-xyz56'])
      expect(held.reason).toMatch(new RegExp(`^ {2}- \\d{4}-\\d\\d-\\d\\d\\S* from ${author}$`, 'm'));
    await waiting(abc);
    await abc.use('hivemind_process_mentions', { all: true });
    expect(await typesWhereRefused(abc, 'Any message here')).not.toHaveProperty('decision');
  },
);

requirement(
  [
    '000-20 The command that clears the mentions passes while messages are held',
    '000-21 So does the command that answers a mention',
  ],
  async () => {
    await post(def, '@Claude-abc12 read me');
    const reply = 'I can help with that. Let me review the code. @Claude-def34';
    for (const command of [
      '/hive:check-mentions',
      '/check-mentions',
      `/hive:post ${reply}`,
      `/post ${reply}`,
    ])
      expect(await typesWhereRefused(abc, command)).not.toHaveProperty('decision');
    for (const prompt of ['what is /check-mentions?', reply])
      expect(await typesWhereRefused(abc, prompt)).toMatchObject({ decision: 'block' });
  },
);

requirement('000-23 A command shows all unprocessed mentions and marks them', async () => {
  await post(def, '@Claude-abc12 the first of two');
  await post(xyz, '@Claude-abc12 the second of two');
  await emacs.show('(hive-check-mentions-of "Claude-abc12")');
  await emacs.until(/the first of two/);
  await emacs.until(/the second of two/);
  expect((await abc.use('hivemind_has_unprocessed_mentions')).count).toBe(2);
  await emacs.keys('M-<', 'd');
  await emacs.press(/1 open/, 'D');
  await emacs.press(/mark all 1 done/, 'y');
  await emacs.until(/0 open/);
  expect((await abc.use('hivemind_has_unprocessed_mentions')).count).toBe(0);
});

requirement('000-25 Agent and human mention an agent in a message', async () => {
  const body = 'Need help with authentication @Claude-abc12';
  expect(await post(def, body)).toMatchObject({ mentioned: ['Claude-abc12'] });
  const { err } = await human.hive('post', body, '--scope', 'all');
  expect(err).toContain('Claude-abc12');
  await emacs.calm();
  await emacs.command('hive-post');
  await emacs.reply(/Post to /, body);
  await eventually(async () => (await waiting(abc)).length === 3);
  expect((await waiting(abc)).map(({ from }) => from)).toEqual(['Claude-def34', 'Human', 'Human']);
});

requirement(
  [
    '000-26 Example: two agents work together; one asks for a review, the other is held, answers and goes on',
    '000-04 A reply to the mention lets the agent go on',
  ],
  async () => {
    await post(def, 'Review the security of my login function @Claude-abc12');
    expect((await def.tries()).verdict).toBe('pass');
    expect((await abc.tries()).verdict).toBe('deny');
    const [asked] = await waiting(abc);
    expect(asked.body).toBe('Review the security of my login function @Claude-abc12');
    const body = "I'll review it right after finishing mine. @Claude-def34";
    await post(abc, body, { reply_to: asked.message_id });
    const goesOn = await abc.tries();
    expect(goesOn.verdict).toBe('pass');
    expect(goesOn.text).toContain('tool calls are allowed again');
    const { verdict, text } = await def.tries();
    expect(verdict).toBe('deny');
    expect(text).toContain(body);
    await def.use('hivemind_process_mentions', { all: true });
    expect((await def.tries()).verdict).toBe('pass');
  },
);

requirement('000-27 Example: a message to everyone holds every other agent, and not its author', async () => {
  const { mentioned } = await post(abc, 'Emergency: Found security vulnerability in auth module @All');
  expect(mentioned).toEqual(expect.arrayContaining(['Claude-def34', 'Claude-xyz56']));
  expect(mentioned).not.toContain('Claude-abc12');
  expect((await def.tries()).verdict).toBe('deny');
  expect((await xyz.tries()).verdict).toBe('deny');
  expect((await abc.tries()).verdict).toBe('pass');
});

requirement(
  [
    '000-28 Nothing has to be configured for an agent to be mentioned',
    '000-29 Sharing is switched for each session',
  ],
  async () => {
    await startAgent(store, 'new99-session');
    const { sessions } = await def.use('hivemind_sessions');
    expect(sessions.find((one: Loose) => one.handle === 'Claude-new99')).toMatchObject({
      takes_mentions: true,
    });
    expect(await post(def, '@Claude-new99 welcome')).toMatchObject({ mentioned: ['Claude-new99'] });
    await human.hive('sessions', 'set', 'Claude-xyz56', 'shared=off');
    expect(await post(def, '@Claude-xyz56 are you there?')).toMatchObject({
      mentioned: [],
      unresolved: [{ handle: 'Claude-xyz56', reason: 'not_shared' }],
    });
    await human.hive('sessions', 'set', 'Claude-xyz56', 'shared=on');
    expect(await post(def, '@Claude-xyz56 and now?')).toMatchObject({ mentioned: ['Claude-xyz56'] });
  },
);

requirement('000-31 A failure of the check itself does not stop the agent’s work', async () => {
  const tried = async (env: Record<string, string>): Promise<number | null> => {
    const child = spawnHive(['hook', '--client', 'claude-code'], childEnvironment(tempFolder(), env));
    child.process.stdin.end(
      JSON.stringify({ session_id: 's', cwd: '/', hook_event_name: 'PreToolUse', tool_name: 'Bash' }),
    );
    return (await child.exited).code;
  };
  expect(await tried({})).toBe(0);
  expect(await tried({ HIVE_GATE_FAIL: 'closed' })).toBe(2);
});

requirement('000-32 An agent that has no way to clear its mentions is not held', async () => {
  const session_id = 'alone-session';
  await fireHook(store, { session_id, hook_event_name: 'SessionStart', source: 'startup' });
  await human.hive('post', 'hello @Claude-alone', '--scope', 'all');
  const event = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_1' };
  const said = await fireHook(store, { session_id, hook_event_name: 'PreToolUse', ...event });
  expect(said.hookSpecificOutput.additionalContext).toContain('hello @Claude-alone');
  expect(said.hookSpecificOutput).not.toHaveProperty('permissionDecision');
});

requirement('000-33 The mentions are those of the session that asks', async () => {
  await post(xyz, '@Claude-abc12 for a');
  await post(xyz, '@Claude-def34 for d');
  const [a, d] = await Promise.all([waiting(abc), waiting(def)]);
  expect(a.map(({ body }) => body)).toEqual(['@Claude-abc12 for a']);
  expect(d.map(({ body }) => body)).toEqual(['@Claude-def34 for d']);
  expect((await abc.tries()).text).toContain('for a');
  expect((await def.tries()).text).toContain('for d');
});

requirement('000-34 Tool calls are held until the mention is acknowledged', async () => {
  await post(def, '@Claude-abc12 never answered');
  for (let step = 1; step <= 5; step += 1) {
    expect([step, (await abc.tries()).verdict]).toEqual([step, 'deny']);
    await abc.hook('PostToolBatch', { tool_calls: [] });
  }
  expect((await abc.tries()).verdict).toBe('pass');
  const wentOn = `${await abc.title()} went on`;
  const { text } = await told(desk, 'desk/notice', (notice) => notice.text.includes(wentOn));
  expect(text).toContain(await def.title());
});

requirement('000-35 What was held goes on after the mention was processed', async () => {
  await post(def, '@Claude-abc12 stop');
  expect((await abc.tries()).text).toContain('you can repeat this one');
  expect((await typesWhereRefused(abc, 'Go on')).reason).toContain('Send it again');
  await waiting(abc);
  await abc.use('hivemind_process_mentions', { all: true });
  expect((await abc.tries()).text).toContain('Continue where you stopped');
});

requirement('000-37 Urgent mentions force attention', async () => {
  await human.hive('config', 'gate', 'remind');
  await post(def, '@Claude-abc12 when you have time');
  expect((await abc.tries()).verdict).toBe('pass');
  await post(xyz, '@Claude-abc12 now', { priority: 'urgent' });
  expect((await abc.tries()).verdict).toBe('deny');
  await human.hive('config', 'gate', 'default');
  expect((await waiting(abc)).map(({ priority }) => priority ?? 'normal')).toEqual(['urgent', 'normal']);
  await types(abc, 'A task');
  const stop = await abc.hook('Stop', { stop_hook_active: false, background_tasks: [] });
  expect(stop.hookSpecificOutput.additionalContext).toContain('urgent');
});

requirement('000-38 A mention that nobody deals with ends at some time, or never', async () => {
  const last = async (): Promise<Loose> => {
    const words = ['mentions', '--session', 'Claude-abc12', '--status', 'any', '--limit', '1', '--json'];
    return (await human.hive(...words)).json().mentions[0];
  };
  await post(def, '@Claude-abc12 for a day');
  const { at, expires_at } = await last();
  expect(Date.parse(expires_at) - Date.parse(at)).toBe(24 * 3_600_000);
  await human.hive('config', 'mention_ttl', 'never');
  await post(def, '@Claude-abc12 for ever');
  await human.hive('config', 'mention_ttl', 'default');
  expect(await last()).toMatchObject({ body: '@Claude-abc12 for ever', expires_at: null });
});

requirement(
  [
    '000-39 The text of mentions is shown in a window of its own',
    '000-40 Quick responses for common scenarios are offered when a mention is answered',
  ],
  async () => {
    await emacs.evaluate('(setq hive-reply-templates \'(("mention" nil "I will look into it today.")))');
    await post(def, '@Human which colour?\n\n- red\n- blue');
    await emacs.calm();
    await emacs.command('hive-check-mentions');
    const screen = (await emacs.until(/- blue/)).join('\n');
    expect(screen).toMatch(/Mentions of you: \d+ in total/);
    expect(screen).toContain('which colour?');
    expect(await emacs.evaluate('(buffer-name (window-buffer))')).toBe('"*hive-mentions: Human*"');
    await emacs.keys('M-<', 't');
    await emacs.until(new RegExp(`Reply to ${await def.title()}:`));
    await emacs.type('I will');
    await emacs.keys('Tab');
    await emacs.press(/I will look into it today\./, 'Enter');
    await eventually(async () => (await waiting(def)).length === 1);
    const [reply] = await waiting(def);
    expect(reply.body).toContain('I will look into it today.');
    await desk.request('mention/process', { all: true, by: 'Ada' });
  },
);

requirement('000-41 Mentions survive the processes that recorded them', async () => {
  const own = tempStore();
  const first = await startAgent(own, 'one11-session');
  const second = await startAgent(own, 'two22-session');
  await post(first, '@Claude-two22 remember this');
  await Promise.all([first.crash(), second.crash()]);
  const later = await startAgent(own, 'two22-session');
  expect((await waiting(later)).map(({ body }) => body)).toEqual(['@Claude-two22 remember this']);
  expect((await later.tries()).verdict).toBe('deny');
});

requirement(
  [
    '000-42 The history of mentions does not grow without bounds',
    '000-17 The history of a test store can be cleared',
  ],
  async () => {
    const own = tempStore();
    const [one, two] = await Promise.all([
      startAgent(own, 'one11-session'),
      startAgent(own, 'two22-session'),
    ]);
    await post(one, '@Claude-two22 long ago');
    await waiting(two);
    await two.use('hivemind_process_mentions', { all: true });
    await Promise.all([one.crash(), two.crash()]);
    expect(countOf(own, 'mentions')).toBe(1);
    await shell(own).hive('store', 'prune');
    expect(countOf(own, 'mentions')).toBe(1);
    grow(own, 100);
    expect((await shell(own).hive('store', 'prune')).code).toBe(0);
    expect([countOf(own, 'mentions'), countOf(own, 'messages')]).toEqual([0, 0]);
    const three = await startAgent(own, 'three-session');
    await startAgent(own, 'four4-session');
    await post(three, '@Claude-four4 to be forgotten');
    expect(countOf(own, 'mentions')).toBe(1);
    const everything = ['store', 'prune', '--days', '0', '--mentions'];
    expect((await shell(own).terminal(everything, 'Type yes', 'yes')).code).toBe(0);
    expect(countOf(own, 'mentions')).toBe(0);
  },
);

requirement('000-43 Every editor, shell and agent sees the same mentions', async () => {
  const body = '@Claude-abc12 seen by all';
  await post(def, body);
  const { mention_id } = await told(desk, 'mention/changed', (changed) => changed.body === body);
  expect((await waiting(abc)).map((one) => one.mention_id)).toEqual([mention_id]);
  const { out } = await human.hive('mentions', '--session', 'Claude-abc12');
  expect(out).toContain(mention_id);
  await emacs.show('(hive-check-mentions-of "Claude-abc12")');
  await emacs.until(/seen by all/);
  await human.hive('mentions', 'process', mention_id, '--session', 'Claude-abc12');
  await emacs.until(/0 open/);
  expect(await waiting(abc)).toEqual([]);
});

everyRequirementOf('000', 43);
