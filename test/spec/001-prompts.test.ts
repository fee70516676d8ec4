/** ADR-003, non-blocking prompt forwarding, requirement by requirement. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect } from 'vitest';
import { isExpired, type Prompt, respondPrompt } from '../../src/domain/prompts.ts';
import { openHive } from '../../src/index.ts';
import { countOf, grow } from '../support/ageing.ts';
import { type Environment, ROOT } from '../support/children.ts';
import { type Shell, shell } from '../support/cli.ts';
import { type Desktop, startDesktop } from '../support/desktop.ts';
import { clientAt, clientSocket, FAKE_CLIENT } from '../support/fake-client.ts';
import { openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import type { McpCaller } from '../support/mcp-client.ts';
import { type Sidecar, serveInProcess, startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually, isBetween, textOf } from '../support/wait.ts';
import { type Agent, type Loose, startAgent, startNamed, told } from './support/agents.ts';
import { type Editor, startEditor } from './support/editor.ts';
import { everyRequirementOf, requirement } from './support/requirement.ts';

let store: string;
let emacs: Editor;
let abc: Agent;
let coordinator: Agent;
let desk: Sidecar;
let human: Shell;
let desktop: Desktop;

beforeFile(async () => {
  emacs = await startEditor();
  store = emacs.store;
  human = shell(store);
  desktop = closedAtEnd(await startDesktop());
  desk = await startSidecar(store);
  [abc, coordinator] = await Promise.all([
    startAgent(store, 'abc12-session'),
    startAgent(store, 'coord-session', { coordinates: true }),
  ]);
});

/** Nothing waits, not even in Emacs' mode line, and the agent has read what became of all it asked. */
beforeEach(async () => {
  const { prompts } = await desk.request('prompt/list', { status: 'pending' });
  for (const { ask_id } of prompts) await desk.request('prompt/cancel', { ask_id, by: 'Ada' });
  await emacs.until(/^(?![\s\S]*hive \d+\b)/);
  await abc.use('hivemind_poll');
});

/** An agent whose questions pop up, on a separate store: several popups in a row would become one. */
async function startShown(env: Environment = desktop.env): Promise<Agent> {
  await desktop.forget();
  const own = tempStore();
  await startSidecar(own, { env });
  return startAgent(own, 'asker-session');
}

const ask = async (question: string, more: object = {}, agent: McpCaller = abc): Promise<Loose> =>
  agent.call('hivemind_ask_async', { question, urgency: 'low', ...more });
const poll = async (ask_id: string, wait_ms = 0): Promise<Loose> =>
  abc.use('hivemind_poll', { ask_id, wait_ms });
let answers = 0;
const answer = (ask_id: string, decision: string): Promise<Loose> => {
  answers += 1;
  return desk.request('hivemind-response', {
    ask_id,
    decision,
    by: 'Ada',
    response_id: `response-${answers}`,
  });
};
/** An agent that is known by a name, as `HIVE_AGENT` gives it. */
const named = (name: string): Promise<McpCaller> => startNamed(store, name);

requirement(
  [
    '001-01 An agent asks, gets the id of its question at once and goes on with its work',
    '001-02 What comes back is the id and that the question is pending',
  ],
  async () => {
    // Nobody answers them, and yet the calls return.
    const [one, other] = [await ask('Which port?'), await ask('Another?')];
    expect(one).toMatchObject({ ask_id: expect.stringMatching(/^ask-/), status: 'pending' });
    expect(other.status).toBe('pending');
    expect(one.ask_id).not.toBe(other.ask_id);
    expect((await poll(one.ask_id)).status).toBe('pending');
  },
);

requirement(
  [
    '001-03 A question has a text and options to choose from',
    '001-18 Emacs receives an event with each new question',
  ],
  async () => {
    const options = ['yes', { label: 'no', description: 'keeps the files' }];
    const { ask_id } = await ask('Delete files?', { options, context: 'It **burns**.' });
    const params = await told(desk, 'hivemind-ask', (prompt) => prompt.ask_id === ask_id);
    expect(params).toMatchObject({
      agent: 'Claude-abc12',
      question: 'Delete files?',
      context: 'It **burns**.',
      status: 'pending',
      options: [
        { label: 'yes', description: null },
        { label: 'no', description: 'keeps the files' },
      ],
    });
  },
);

requirement(
  ['001-04 Options and a time limit may be nil', '001-08 The time limit is given in milliseconds'],
  async () => {
    const { ask_id } = await ask('Question?', { options: null, timeout_ms: null, context: null });
    const { prompt } = await desk.request('prompt/get', { ask_id });
    expect(prompt).toMatchObject({ options: [], expires_at: null, context: null });
    const library = closedAtEnd(await openHive({ agent: 'nil-asker', store: tempStore(), env: {} }));
    const request: Loose = { question: 'Question?', options: null, timeout_ms: null };
    expect((await library.prompts.ask(request)).prompt.status).toBe('pending');
    const limited = await ask('Delete files?', { options: ['yes', 'no'], timeout_ms: 5_000 });
    const { created_at, expires_at } = (await desk.request('prompt/get', { ask_id: limited.ask_id })).prompt;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(5_000);
    await expect(ask('Too short?', { timeout_ms: 500 })).rejects.toThrow(/timeout_ms/);
  },
);

requirement(
  [
    '001-05 A question carries the agent that asked it',
    '001-06 The name of the agent is shown with its question, as it was given',
  ],
  async () => {
    const asked = await ask('Who am I?', { agent_id: 'agent-1' });
    expect(asked).toMatchObject({ agent: 'Claude-abc12', ignored_arguments: ['agent_id'] });
    const [tests, worker] = [await named('frontend-tests'), await named('frontend-worker')];
    const { ask_id } = await ask('Which browser?', {}, tests);
    await ask('Which framework?', {}, worker);
    const params = await told(desk, 'hivemind-ask', (prompt) => prompt.ask_id === ask_id);
    expect(params.agent).toBe('frontend-tests');
    const { out } = await human.hive('list');
    expect(out).toContain('frontend-tests');
    const { prompts } = (await human.hive('list', '--agent', 'frontend-tests', '--json')).json();
    expect(prompts.map((prompt: Loose) => prompt.question)).toEqual(['Which browser?']);
    expect((await abc.use('hivemind_post', { body: '@frontend-tests hello' })).mentioned).toEqual([
      'frontend-tests',
    ]);
  },
);

requirement(
  '001-07 A question that is not answered in time expires, by default after five minutes for the blocking ask',
  async () => {
    expect(await ask('For ever?')).not.toHaveProperty('expires_at');
    const { tools } = await abc.client.listTools();
    const blocking: Loose = tools.find(({ name }) => name === 'hivemind_ask')?.inputSchema;
    expect(blocking.properties.timeout_ms.description).toContain('Default 300000');
    const { ask_id } = await abc.use('hivemind_ask', {
      question: 'And this?',
      timeout_ms: 1_000,
      urgency: 'low',
    });
    const open = await poll(ask_id);
    expect(open).toMatchObject({ status: 'pending' });
    expect(open).not.toHaveProperty('expires_at');
  },
);

requirement(
  ['001-09 The agent looks for the answer by the id', '001-19 Keys are written with dashes'],
  async () => {
    const [one, other] = [await ask('One?'), await ask('Other?')];
    for (const key of ['ask-id', 'askId', 'ask_id'])
      expect(await abc.use('hivemind_poll', { [key]: one.ask_id })).toMatchObject({
        ask_id: one.ask_id,
        question: 'One?',
      });
    await expect(abc.use('hivemind_poll', { 'ask-it': one.ask_id })).rejects.toThrow(/ask_id/);
    const several = await abc.use('hivemind_poll', { ask_ids: [one.ask_id, other.ask_id] });
    expect(several.prompts.map((prompt: Loose) => prompt.question)).toEqual(['One?', 'Other?']);
  },
);

requirement(
  [
    '001-10 A poll returns the status, the decision and who decided',
    '001-11 The answer says that a human gave it',
    '001-48 An answer has a decision, an author and a time',
  ],
  async () => {
    const [at_desk, in_shell] = [await ask('Desk?', { options: ['yes', 'no'] }), await ask('Shell?')];
    const before = new Date().toISOString();
    await answer(at_desk.ask_id, 'yes');
    await human.as({ HIVE_USER: 'Grace' }).hive('respond', in_shell.ask_id, 'no');
    const polled = await poll(at_desk.ask_id);
    expect(polled).toMatchObject({ status: 'responded', decision: 'yes', by: 'Ada', via: 'emacs' });
    expect(isBetween(before, polled.responded_at, new Date().toISOString())).toBe(true);
    expect(await poll(in_shell.ask_id)).toMatchObject({ by: 'Grace', via: 'cli' });
  },
);

requirement(
  ['001-12 A question is pending, responded, expired or cancelled', '001-13 A question is answered once'],
  async () => {
    const [pending, responded, expired, cancelled] = [
      await ask('1?'),
      await ask('2?'),
      await ask('3?', { timeout_ms: 1_000 }),
      await ask('4?'),
    ];
    expect(await answer(responded.ask_id, 'yes')).toMatchObject({ accepted: true });
    expect(await answer(responded.ask_id, 'no')).toMatchObject({
      accepted: false,
      decision: 'yes',
      by: 'Ada',
    });
    await abc.use('hivemind_cancel', { ask_id: cancelled.ask_id });
    await poll(expired.ask_id, 5_000);
    const ids = [pending, responded, expired, cancelled].map(({ ask_id }) => ask_id);
    const { prompts } = await abc.use('hivemind_poll', { ask_ids: ids });
    expect(prompts.map(({ status }: Loose) => status)).toEqual([
      'pending',
      'responded',
      'expired',
      'cancelled',
    ]);
    expect(await answer(expired.ask_id, 'sorry')).toMatchObject({ late: true });
    expect(await poll(expired.ask_id)).toMatchObject({
      status: 'expired',
      late_response: { decision: 'sorry', by: 'Ada' },
    });
  },
);

requirement(
  ['001-14 A question whose time is up expires', '001-15 Expired questions are cleaned up by themselves'],
  async () => {
    const { ask_id } = await ask('Quick?', { timeout_ms: 1_000 });
    const params = await told(
      desk,
      'prompt/changed',
      (prompt) => prompt.ask_id === ask_id && prompt.status === 'expired',
    );
    expect(params).toMatchObject({ decision: null });
    expect(await poll(ask_id)).toMatchObject({ status: 'expired' });
    expect(await poll(ask_id)).not.toHaveProperty('decision');
  },
);

requirement(
  [
    '001-16 Emacs answers with an id, a decision and a name, and nothing else',
    '001-23 An unknown id is refused in words',
  ],
  async () => {
    const [asked, noted, camel] = [await ask('Request?'), await ask('Notification?'), await ask('Camel?')];
    const reply = await desk.request('hivemind-response', {
      'ask-id': asked.ask_id,
      decision: 'yes',
      by: 'human',
    });
    expect(reply).toMatchObject({ accepted: true, status: 'responded' });
    desk.notify('hivemind-response', { 'ask-id': noted.ask_id, decision: 'no', by: 'human' });
    expect(await poll(noted.ask_id, 5_000)).toMatchObject({
      status: 'responded',
      decision: 'no',
      by: 'human',
    });
    await desk.request('hivemind-response', { askId: camel.ask_id, decision: 'maybe', by: 'human' });
    expect(await poll(camel.ask_id)).toMatchObject({ decision: 'maybe' });
    desk.notify('hivemind-response', { 'ask-id': 'ask-nobody', decision: 'kept all the same', by: 'human' });
    const isKept = ({ notice, sent }: Loose): boolean =>
      notice === 'unread_answer' && sent.includes('kept all the same');
    await told(desk, 'desk/notice', isKept);
    await expect(poll('ask-none')).rejects.toThrow(/prompt_not_found: .*ask-none/);
    await expect(answer('ask-none', 'yes')).rejects.toThrow(/prompt_not_found/);
  },
);

requirement('001-17 The answer is routed to its question and not lost', async () => {
  const other = await startSidecar(store);
  const { ask_id } = await ask('Safe?');
  await other.request('hivemind-response', { ask_id, decision: 'yes', by: 'Ada', response_id: 'killed-1' });
  await other.child.kill('SIGKILL');
  expect(await poll(ask_id)).toMatchObject({ status: 'responded', decision: 'yes' });
});

requirement('001-20 The human sees the question and answers with a command of Emacs', async () => {
  await emacs.calm();
  const { ask_id } = await ask('Shall I go on?', { options: ['yes', 'no'] });
  await emacs.until(/hive 1\b/);
  await emacs.command('hive-next');
  await emacs.until(/Shall I go on\?/);
  await eventually(async () => {
    await emacs.keys('1');
    return (await poll(ask_id, 300)).status === 'responded';
  });
  expect(await poll(ask_id)).toMatchObject({ decision: 'yes', by: 'Ada', via: 'emacs' });
});

requirement('001-21 The human answers in the minibuffer', async () => {
  await emacs.calm();
  const { ask_id } = await ask('How shall I name it?');
  await emacs.until(/hive 1\b/);
  await emacs.command('hive-respond');
  await emacs.reply(/asks: How shall I name it\?/, 'the bee');
  expect(await poll(ask_id, 10_000)).toMatchObject({ decision: 'the bee', by: 'Ada', via: 'emacs' });
});

requirement('001-22 Emacs goes on while an agent waits for an answer', async () => {
  await emacs.calm();
  await emacs.keys('M-x', 'find-f');
  await emacs.until(/M-x find-f/);
  const blocked = abc.use('hivemind_ask', { question: 'Blocked?', timeout_ms: 60_000 });
  const params = await told(desk, 'hivemind-ask', ({ question }) => question === 'Blocked?');
  await emacs.press(/hive 1\b/, 'ile');
  await emacs.press(/M-x find-file/, 'C-g');
  await answer(params.ask_id, 'no longer');
  expect(await blocked).toMatchObject({ decision: 'no longer' });
});

requirement(
  [
    '001-24 Response path 1: the agent polls',
    '001-52 An answer reaches an agent that waits for it without delay',
  ],
  async () => {
    // How soon is measured by the bench. Here: the wait ends with the answer, and has it.
    const { ask_id } = await ask('Now?');
    const waiting = poll(ask_id, 20_000);
    // Answered in order: the poll waits by now.
    await abc.client.ping();
    await answer(ask_id, 'now');
    expect(await waiting).toMatchObject({ status: 'responded', decision: 'now' });
    expect(await poll(ask_id)).toMatchObject({ status: 'responded', decision: 'now' });
  },
);

requirement('001-25 Response path 2: a callback is called with the answer', async () => {
  const own = tempStore();
  // In this process, which the library makes an agent's: a sidecar below it would be one.
  const other = await serveInProcess(await openTestHive(own));
  const library = closedAtEnd(await openHive({ agent: 'callback-asker', store: own, env: {} }));
  const { promise, resolve } = Promise.withResolvers<Prompt>();
  const { prompt } = await library.prompts.ask({ question: 'Called back?' }, { onResponse: resolve });
  const { ask_id } = prompt;
  await other.request('hivemind-response', { ask_id, decision: 'yes', by: 'Ada', response_id: 'back-1' });
  expect(await promise).toMatchObject({
    status: 'responded',
    decision: 'yes',
    by: 'Ada',
    responded_at: expect.any(String),
  });
});

requirement('001-26 An agent that called a tool is called back as well', async () => {
  const { ask_id } = await ask('Pushed?');
  await answer(ask_id, 'yes, pushed');
  const event = { tool_name: 'Bash', tool_input: {}, tool_response: {}, tool_use_id: 'toolu_1' };
  const { hookSpecificOutput } = await abc.hook('PostToolUse', event);
  expect(hookSpecificOutput.additionalContext).toContain('yes, pushed');
  expect(hookSpecificOutput.additionalContext).toContain(ask_id);
});

requirement('001-27 Response path 3: Emacs learns of the answer over its channel', async () => {
  await emacs.calm();
  const { ask_id } = await ask('Everywhere?');
  await emacs.until(/hive 1\b/);
  await human.hive('respond', ask_id, 'yes');
  await told(desk, 'prompt/changed', (prompt) => prompt.ask_id === ask_id && prompt.decision === 'yes');
  await emacs.until(/^(?![\s\S]*hive \d+\b)/);
});

requirement('001-28 Urgent questions pop up on the desktop', async () => {
  const asker = await startShown();
  for (const urgency of ['low', 'normal', 'critical']) await ask(`Is it ${urgency}?`, { urgency }, asker);
  await eventually(() => desktop.sent.length === 2, 8_000, 'two popups');
  // Two popups may overtake each other.
  expect(desktop.sent.map(({ body, urgency }) => `${urgency} ${body}`).sort()).toEqual([
    '1 Is it normal?',
    '2 Is it critical?',
  ]);
});

requirement(
  [
    '001-29 Notifications go through the desktop’s D-Bus',
    '001-30 A popup works whether or not somebody waits for the answer',
  ],
  async () => {
    const asker = await startShown();
    const question = { urgency: 'normal', options: ['red', 'blue'] };
    const { ask_id } = await ask('Which colour?', question, asker);
    await eventually(() => desktop.sent.length === 1, 8_000, 'a popup');
    expect(desktop.sent[0]).toMatchObject({
      title: expect.stringContaining(await asker.title()),
      body: 'Which colour?',
    });
    expect(desktop.sent[0]?.actions).toEqual(expect.arrayContaining(['red', 'blue']));
    await eventually(async () => (await desktop.displayed()) >= 1, 8_000, 'the popup on the screen');
    await desktop.press('blue');
    const polled = await asker.use('hivemind_poll', { ask_id, wait_ms: 10_000 });
    expect(polled).toMatchObject({ decision: 'blue', via: 'notification' });
    const file = join(tempFolder(), 'notified');
    const command = `cat > '${file}.part' && mv '${file}.part' '${file}'`;
    const other = await startShown(trusting({ notify_command: command }));
    await ask('By a command?', { urgency: 'normal' }, other);
    expect(JSON.parse(await textOf(file))).toMatchObject({ body: 'By a command?' });
  },
);

requirement(
  [
    '001-31 A coordinator sees every question that waits',
    '001-32 There is a list of the questions that wait',
  ],
  async () => {
    const one = await ask('One of all?');
    const other = await ask('Another of all?', {}, await named('somebody'));
    const answered = await ask('Answered?');
    await answer(answered.ask_id, 'yes');
    const listed = (await desk.request('prompt/list', { status: 'pending' })).prompts;
    expect(listed.map(({ ask_id }: Loose) => ask_id)).toEqual([one.ask_id, other.ask_id]);
    const seen = ({ pending }: Loose): string[] => pending.map(({ question }: Loose) => question).sort();
    expect(seen(await coordinator.use('hivemind_status'))).toEqual(['Another of all?', 'One of all?']);
    const { prompts } = await coordinator.use('hivemind_await_ask', {});
    expect(prompts.map(({ question }: Loose) => question).sort()).toEqual(['Another of all?', 'One of all?']);
    const { out } = await human.hive('list');
    expect(out).toContain('One of all?');
    expect(out).toContain('Another of all?');
  },
);

requirement(
  [
    '001-34 The blocking ask returns after its time, with the id',
    '001-35 Whoever uses the blocking ask is warned',
    '001-33 The blocking ask is kept, and says that it blocks',
  ],
  async () => {
    const { tools } = await abc.client.listTools();
    const { description } = tools.find(({ name }) => name === 'hivemind_ask') ?? {};
    expect(description).toMatch(/You can do nothing else until then: .*hivemind_ask_async/);
    const asked = abc.use('hivemind_ask', { question: 'Still there?', options: ['yes'], urgency: 'low' });
    const params = await told(desk, 'hivemind-ask', ({ question }) => question === 'Still there?');
    await answer(params.ask_id, 'yes');
    expect(await asked).toMatchObject({ status: 'responded', decision: 'yes', by: 'Ada' });
    const result = await abc.use('hivemind_ask', { question: 'Anybody?', timeout_ms: 1_000, urgency: 'low' });
    expect(result).toMatchObject({ timed_out: true, ask_id: expect.any(String), status: 'pending' });
    expect(result.next).toMatch(/stays open: check with hivemind_poll/);
    await answer(result.ask_id, 'here I am');
    expect(await poll(result.ask_id)).toMatchObject({ decision: 'here I am' });
  },
);

requirement(
  [
    '001-36 A tool waits for somebody to ask, a minute unless told otherwise',
    '001-38 It returns the question and its options',
    '001-37 It waits as long as it was asked to, and says when nobody asked',
    '001-39 The coordinator answers with a tool',
  ],
  async () => {
    const { tools } = await coordinator.client.listTools();
    const { description } = tools.find(({ name }) => name === 'hivemind_await_ask') ?? {};
    expect(description).toContain('60000');
    const nothing = await coordinator.use('hivemind_await_ask', { timeout_ms: 1_200 });
    expect(nothing).toMatchObject({ prompts: [], timed_out: true });
    const waiting = coordinator.use('hivemind_await_ask', {});
    const { ask_id } = await ask('Which?', { options: ['a', 'b'], context: 'Because of c.' });
    const { prompts, timed_out } = await waiting;
    expect(prompts).toMatchObject([
      { question: 'Which?', context: 'Because of c.', options: [{ label: 'a' }, { label: 'b' }] },
    ]);
    expect(timed_out).not.toBe(true);
    expect(await coordinator.use('hivemind_respond', { ask_id, decision: 'b' })).toMatchObject({
      accepted: true,
    });
    expect(await poll(ask_id)).toMatchObject({ decision: 'b', by: 'Claude-coord', via: 'mcp' });
  },
);

requirement('001-40 The agent in the human’s terminal can be the coordinator', async () => {
  for (const client of ['claude', 'codex']) {
    const { code, out } = await human.hive('init', client, '--role', 'coordinator', '--print');
    expect([client, code]).toEqual([client, 0]);
    expect(out).toMatch(/--role\W+coordinator/);
  }
  await expect(abc.use('hivemind_await_ask')).rejects.toThrow(/hive init claude --role coordinator/);
});

requirement('001-41 What happens can be followed as a log', async () => {
  const log = human.start('store', 'log', '--after', '0', '--follow');
  const { ask_id } = await ask('Logged?');
  await eventually(() => log.out().includes(ask_id), 5_000, 'the event');
  expect(log.out()).toMatch(new RegExp(`prompt/\\w+ .*${ask_id}`));
  await log.child.kill('SIGTERM');
});

requirement('001-42 An answer reaches Claude Code by its own means', async () => {
  const idle = await startAgent(store, 'idle1-session');
  await idle.hook('SessionStart', { source: 'startup' }, { CLAUDE_CODE_SESSION_ATTENDED: '1' });
  await idle.hook('UserPromptSubmit', { prompt: 'go' }, { CLAUDE_CODE_SESSION_ATTENDED: '1' });
  const { ask_id } = await ask('Wake me?', {}, idle);
  await idle.hook('Stop', { stop_hook_active: false, background_tasks: [] });
  const waiter = idle.waiter();
  await answer(ask_id, 'good morning');
  const { code, said } = await waiter.ended;
  expect(code).toBe(2);
  expect(said).toContain(`hivemind_poll {"ask_id": "${ask_id}"}`);
});

requirement('001-43 The code has layers: domain, application, infrastructure', async () => {
  const rules = join(ROOT, '.dependency-cruiser.mjs');
  const check = [join(ROOT, 'node_modules/.bin/depcruise'), 'src', '--config', rules];
  const { stdout } = await promisify(execFile)(process.execPath, check, { cwd: ROOT });
  expect(stdout).toContain('no dependency violations found');
  for (const layer of ['domain', 'application', 'infrastructure'])
    expect(existsSync(join(ROOT, 'src', layer))).toBe(true);
});

requirement('001-44 The life of a question is decided by pure functions', async () => {
  const { ask_id } = await ask('Pure?', { timeout_ms: 5_000 });
  const prompt: Prompt = Object.freeze((await desk.request('prompt/get', { ask_id })).prompt);
  const given = Object.freeze({
    decision: 'yes',
    selected: [],
    comment: null,
    by: 'Ada',
    via: 'emacs' as const,
    attested: true,
    response_id: 'pure-1',
    responded_at: prompt.created_at,
  });
  const once = respondPrompt(prompt, given);
  expect(once).toMatchObject({ outcome: 'accepted', prompt: { status: 'responded', decision: 'yes' } });
  expect(respondPrompt(prompt, given)).toEqual(once);
  expect(respondPrompt(once.prompt, { ...given, response_id: 'pure-2' }).outcome).toBe('lost');
  expect(isExpired(prompt, prompt.created_at)).toBe(false);
  expect(isExpired(prompt, prompt.expires_at ?? '')).toBe(true);
  expect(await poll(ask_id)).toMatchObject({ status: 'pending' });
});

requirement('001-45 Questions are stored', async () => {
  const own = tempStore();
  const asker = await startAgent(own, 'asker-session');
  const { ask_id } = await ask('Do you remember?', {}, asker);
  await asker.crash();
  await shell(own, { HIVE_USER: 'Ada' }).hive('respond', ask_id, 'yes');
  const again = await startAgent(own, 'asker-session');
  expect(await again.use('hivemind_poll', { ask_id })).toMatchObject({
    status: 'responded',
    decision: 'yes',
  });
});

requirement('001-46 Answers are listened for from the start', async () => {
  const { ask_id } = await ask('At once?');
  const early = await startSidecar(store, { handshake: false });
  const reply = await early.request('hivemind-response', {
    ask_id,
    decision: 'yes',
    by: 'Ada',
    response_id: 'early-1',
  });
  expect(reply).toMatchObject({ accepted: true });
  expect(await poll(ask_id)).toMatchObject({ decision: 'yes' });
});

requirement('001-47 Agents are told to ask without blocking', () => {
  const instructions = abc.client.getInstructions() ?? '';
  expect(instructions).toMatch(/Ask with hivemind_ask_async, go on with work that does not depend on it/);
  expect(instructions).toContain('hivemind_poll');
  expect(instructions).not.toMatch(/hivemind_ask\b(?!_)/);
});

requirement('001-49 The human may answer in their own words where there are options', async () => {
  const free = await ask('Yes or no?', { options: ['yes', 'no'] });
  expect(await answer(free.ask_id, 'maybe')).toMatchObject({ accepted: true });
  expect(await poll(free.ask_id)).toMatchObject({ decision: 'maybe', selected: [] });
  const strict = await ask('Yes or no!', { options: ['yes', 'no'], allow_free_text: false });
  await expect(answer(strict.ask_id, 'maybe')).rejects.toThrow(/invalid_answer: .*yes.*no/);
});

requirement('001-50 Stored questions do not pile up', async () => {
  const own = tempStore();
  const asker = await startAgent(own, 'asker-session');
  const { ask_id } = await ask('Old?', {}, asker);
  await ask('Old and still open?', {}, asker);
  await shell(own).hive('respond', ask_id, 'yes');
  await asker.use('hivemind_poll', { ask_id });
  await asker.crash();
  grow(own, 100);
  await shell(own).hive('store', 'prune');
  expect(countOf(own, 'prompts')).toBe(1);
});

requirement('001-51 Claude may run inside Emacs, where its questions appear', async () => {
  const socket = clientSocket();
  const command = [process.execPath, FAKE_CLIENT, socket].map((word) => JSON.stringify(word)).join(' ');
  const process_id = await emacs.evaluate(
    `(process-id (make-process :name "agent" :buffer "*agent*" :noquery t :command '(${command})))`,
  );
  const client = clientAt(store, socket, Number(process_id));
  await eventually(() => existsSync(socket), 15_000, 'the client');
  await client.hook({ session_id: 'inner-session', hook_event_name: 'SessionStart', source: 'startup' });
  await client.hive(['ask', 'From inside?'], { env: { CLAUDE_CODE_SESSION_ID: 'inner-session' } });
  await emacs.calm();
  await emacs.command('hive-list');
  await emacs.press(/From inside\?/, 'j');
  await eventually(async () => (await emacs.evaluate('(buffer-name (window-buffer))')) === '"*agent*"');
  await emacs.evaluate('(kill-process "agent")');
});

everyRequirementOf('001', 52);
