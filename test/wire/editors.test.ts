/**
 * The agents of other packages in Emacs: their dialogs are at the desks and in their buffers, and the first answer wins.
 *
 * @module-tag one-winner
 * @module-tag as-displayed
 * @module-tag silence
 * @module-tag emacs
 */
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { serveEmacs } from '../../src/adapters/emacs/connection.ts';
import { emacsExtensions } from '../../src/cli/extensions.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { EditorDialog } from '../../src/extensions/editors/dialog.ts';
import { createEditors } from '../../src/extensions/editors/dialogs.ts';
import { DialogRace } from '../../src/extensions/editors/race.ts';
import { attachAgent } from '../../src/extensions/editors/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { answerDialog } from '../support/dialogs.ts';
import {
  ask,
  eventsOf,
  HUMAN,
  introduction,
  openRuledHive,
  openTestHive,
  pendingOf,
  withoutQuotas,
} from '../support/hive.ts';
import { INITIALIZE, type Loose, type RpcClient, serveInProcess } from '../support/sidecar.ts';
import { turnsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

const SESSION = 'editor-abc';
const AGENT = { session_id: SESSION, client: 'Gemini', directory: '/demo' };

let hive: OpenedHive;
let emacs: RpcClient;
beforeEach(async () => {
  hive = await withoutQuotas(await openTestHive());
  emacs = await serveInProcess(hive);
  await emacs.request('session/introduce', AGENT);
});

const OPTIONS = [
  { id: 'always', label: 'Always', refuses: false },
  { id: 'once', label: 'Allow', refuses: false, once: true },
  { id: 'no', label: 'Reject', refuses: true, once: true },
];

function dialog(key: string, changes: object = {}): object {
  return {
    session_id: SESSION,
    key,
    kind: 'execute',
    input: { command: 'make' },
    header: 'Build the project',
    options: OPTIONS,
    takes_notes: true,
    ...changes,
  };
}

async function opened(key: string, changes: object = {}): Promise<Prompt> {
  const { prompts } = await emacs.request('dialog/open', dialog(key, changes));
  return prompts[0];
}

async function answered(key: string, client = emacs): Promise<Loose> {
  const { params } = await client.seen(
    (frame) => frame.method === 'dialog/answered' && frame.params.key === key,
  );
  return params.answer;
}

async function pending(): Promise<string[]> {
  return (await pendingOf(hive)).map(({ ask_id }) => ask_id);
}

describe('a permission', () => {
  test('shows every field, whatever its name', async () => {
    const odd = JSON.parse('{"__proto__": "a secret", "constructor": "another"}') as object;
    const { context } = await opened('k', { input: odd, rest: odd });
    expect(context).toContain('__proto__: "a secret"\nconstructor: "another"\n\n__proto__: "a secret"\n');
  });

  test('is shown with the call, the change, the options in the order of the agent, and its words last', async () => {
    const changes = [{ path: '/demo/a.txt', before: 'one', after: 'two' }];
    const prompt = await opened('k', { changes, rest: { locations: ['/demo/b'] } });
    expect(prompt).toMatchObject({
      kind: 'permission',
      dialog: true,
      agent: 'Gemini-abc',
      header: 'execute',
      question: 'Run make?',
      options: [{ label: 'Always' }, { label: 'Allow' }, { label: 'Reject', refuses: true }],
    });
    for (const text of ['    make', '- one', '+ two', '/demo/b', 'Directory: /demo'])
      expect(prompt.context).toContain(text);
    expect(prompt.context).toMatch(/own description of it:\n {4}Build the project$/);
  });

  test('answered at a desk, with a note, goes to its buffer once and cannot be amended', async () => {
    const { ask_id } = await opened('k');
    await answerDialog(hive, ask_id, 'Reject', 'Use ninja.');
    expect(await answered('k')).toEqual({ kind: 'chosen', option_id: 'no', note: 'Use ninja.' });
    const amend = { ask_id, decision: 'Reject', comment: 'Or make.', actor: HUMAN, response_id: 'r2' };
    await expect(hive.prompts.amend(amend)).rejects.toThrow(/was handed/);
    await emacs.request('dialog/handed', { key: 'k' });
    expect((await hive.prompts.get(ask_id)).collected_at).not.toBeNull();
    expect(emacs.frames.filter(({ method }) => method === 'dialog/answered')).toHaveLength(1);
  });

  test('handed over before any desk has answered is withdrawn', async () => {
    const { ask_id } = await opened('k');
    await emacs.request('dialog/handed', { key: 'k' });
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', cancel_reason: 'withdrawn' });
  });

  test('free text instead of an option is a refusal with a note', async () => {
    const { ask_id } = await opened('k');
    await answerDialog(hive, ask_id, 'Not today.');
    expect(await answered('k')).toEqual({ kind: 'chosen', option_id: 'no', note: 'Not today.' });
  });

  test('answered in its buffer just after a desk, the human is told that the desk was too late for the agent', async () => {
    const { ask_id } = await opened('k');
    await answerDialog(hive, ask_id, 'Reject');
    const close = { key: 'k', reason: 'answered_elsewhere', decision: 'Allow' };
    expect(await emacs.request('dialog/close', close)).toEqual({ accepted: false });
    const { params } = await emacs.seen(({ method }) => method === 'desk/notice');
    const { title } = await hive.sessions.resolve((await hive.prompts.get(ask_id)).session_id ?? '');
    expect(params.text).toBe(
      `The answer "Reject" to ${title} came too late. The agent was answered in its editor first: Allow.`,
    );
    expect((await hive.prompts.get(ask_id)).collected_at).toBeNull();
  });

  test('opened again under its key it is the same one, and two at once stay separate', async () => {
    const [one, two, again] = await Promise.all([opened('k'), opened('l'), opened('k')]);
    expect(again.ask_id).toBe(one.ask_id);
    expect((await pending()).sort()).toEqual([one.ask_id, two.ask_id].sort());
  });

  test('opened twice, its answer is sent once', async () => {
    const [one] = await Promise.all([opened('k'), opened('k')]);
    await answerDialog(hive, one.ask_id, 'Reject');
    await answered('k');
    // Its answer comes after those of the first.
    const last = await opened('l');
    await answerDialog(hive, last.ask_id, 'Reject');
    await answered('l');
    const sent = emacs.frames.filter(({ method }) => method === 'dialog/answered');
    expect(sent.map(({ params }) => params.key)).toEqual(['k', 'l']);
  });

  test('the key of a dialog of another session is refused', async () => {
    await opened('k');
    await emacs.request('session/introduce', { ...AGENT, session_id: 'editor-other' });
    await expect(emacs.request('dialog/open', dialog('k', { session_id: 'editor-other' }))).rejects.toThrow(
      'is that of a dialog of another session',
    );
  });

  test('one that could not be stored can be opened again', async () => {
    const write = vi.spyOn(hive.store, 'write').mockRejectedValue(new Error('no store'));
    await expect(emacs.request('dialog/open', dialog('k'))).rejects.toThrow();
    write.mockRestore();
    const { ask_id } = await opened('k');
    expect(await pending()).toEqual([ask_id]);
  });

  test('one that only its buffer can show is not at the desks', async () => {
    const twins = [OPTIONS[1], { id: 'x', label: 'Аllow', refuses: true }];
    const { prompts } = await emacs.request('dialog/open', dialog('k', { options: twins }));
    expect(prompts).toEqual([]);
    expect(await emacs.request('dialog/close', { key: 'k', reason: 'withdrawn' })).toEqual({
      accepted: true,
    });
  });
});

describe('what a desk has opened is withdrawn', () => {
  test.each([
    ['with its turn', () => emacs.request('turn/end', { session_id: SESSION, stop_reason: 'end_turn' })],
    ['with its session', () => emacs.request('session/end', { session_id: SESSION })],
  ])('%s', async (_, end) => {
    await emacs.request('turn/begin', { session_id: SESSION });
    const { ask_id } = await opened('k');
    await end();
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', decision: null });
    expect((await turnsOf(hive, SESSION))[0]?.state).not.toBe('in_progress');
  });

  test('as interrupted if its turn was cancelled', async () => {
    await emacs.request('turn/begin', { session_id: SESSION });
    const { ask_id } = await opened('k');
    await emacs.request('turn/end', { session_id: SESSION, stop_reason: 'cancelled' });
    expect(await hive.prompts.get(ask_id)).toMatchObject({
      status: 'cancelled',
      cancel_reason: 'interrupted',
    });
  });

  test.each([
    ['ends if no process is known', null, 'ended'],
    ['goes on if its process lives', process.pid, 'idle'],
  ])('with its connection, whose session %s', async (_, pid, state) => {
    const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
    const place = { seat: 'ada@test', human: 'ada', pid: process.pid, check: async () => undefined };
    const options = { ...place, input, output, stop: stop.signal, extensions: await emacsExtensions() };
    const served = serveEmacs(hive, { ...options, ending: () => undefined });
    output.resume();
    let id = 0;
    const send = (method: string, params: object): void => {
      id += 1;
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      input.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    };
    send('initialize', INITIALIZE);
    send('session/introduce', { ...AGENT, session_id: 'editor-other', pid });
    send('turn/begin', { session_id: 'editor-other' });
    send('dialog/open', dialog('k', { session_id: 'editor-other' }));
    await eventually(async () => (await pending()).length === 1);
    const [ask_id = ''] = await pending();
    input.end();
    await served;
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', decision: null });
    expect((await turnsOf(hive, 'editor-other'))[0]).toMatchObject({
      state: 'aborted',
      abort_reason: 'ended',
    });
    expect((await hive.sessions.find('editor-other'))?.state).toBe(state);
  });
});

test('requests take effect in the order in which they are sent: a turn that begins as another one ends goes on', async () => {
  await emacs.request('turn/begin', { session_id: SESSION });
  const { ask_id } = await opened('k');
  const { store } = hive;
  const write = store.write.bind(store);
  const slow = Promise.withResolvers<void>();
  const spy = vi.spyOn(store, 'write').mockImplementation(async (...given) => {
    await slow.promise;
    return write(...given);
  });
  const end = emacs.request('turn/end', { session_id: SESSION, stop_reason: 'cancelled' });
  const begin = emacs.request('turn/begin', { session_id: SESSION });
  // It is sent last and answered first: by then, the others have been received.
  await emacs.request('session/list');
  slow.resolve();
  await end;
  const { turn_id } = await begin;
  spy.mockRestore();
  expect(await hive.prompts.get(ask_id)).toMatchObject({ cancel_reason: 'interrupted' });
  expect(await turnsOf(hive, SESSION)).toMatchObject([
    { abort_reason: 'interrupted' },
    { turn_id, state: 'in_progress' },
  ]);
});

test('an answer of a desk that came first reaches the agent, although its editor was answered before it was read', async () => {
  const session_id = 'editor-race';
  const agent = { session_id, client_session_id: null, client: 'Gemini', name: null, pid: null, cwd: '/' };
  const editors = createEditors(hive);
  const actions = { interrupt: async () => undefined, wake: async () => undefined };
  const session = attachAgent(hive, editors, agent, actions);
  onTestFinished(() => session.stop());
  const permission: EditorDialog = {
    kind: 'permission',
    tool: { name: 'execute', input: { command: 'make' } },
    notes: [],
    changes: [],
    rest: {},
    options: OPTIONS.map((option) => ({ once: false, description: null, ...option })),
    cwd: '/',
    takes_notes: false,
  };
  const race = new DialogRace(editors, () => session.open(permission));
  const [ask_id = ''] = (await race.opened)?.offered.ask_ids ?? [];
  await answerDialog(hive, ask_id, 'Reject');
  expect(await race.withdraw('answered_elsewhere')).toBe(false);
  expect(await race.answer()).toMatchObject({ kind: 'chosen', option_id: 'no' });
});

test('a wake-up that an editor cannot take is made once more when the agent is introduced again', async () => {
  const session_id = 'editor-idle';
  const agent = { session_id, client_session_id: null, client: 'Gemini', name: null, pid: null, cwd: '/' };
  const wake = vi.fn(async (_text: string) => undefined);
  wake.mockRejectedValueOnce(new Error('The editor is gone.'));
  const introduceAgain = async (): Promise<void> => {
    const session = attachAgent(hive, createEditors(hive), agent, { interrupt: async () => undefined, wake });
    onTestFinished(() => session.stop());
    await session.describe(agent);
  };
  await introduceAgain();
  const { ask_id } = await ask(hive, {}, session_id);
  await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  await eventually(async () => (await eventsOf(hive, 'session/woken')).at(-1)?.data['failed'] === true);
  await introduceAgain();
  await eventually(() => wake.mock.calls.length === 2);
  expect(wake).toHaveBeenLastCalledWith(expect.stringContaining(ask_id));
});

test('a sidecar that starts again learns it again: what is pending is asked again, and an answer from between is delivered', async () => {
  const [one, two] = [await opened('k'), await opened('l', { input: { command: 'make test' } })];
  // The first sidecar was killed: its connection still waits, and nobody receives anything from it.
  await answerDialog(hive, one.ask_id, 'Reject', 'No.');
  const next = await serveInProcess(hive);
  await next.request('session/introduce', AGENT);
  expect(await hive.prompts.get(two.ask_id)).toMatchObject({ status: 'cancelled' });
  const again = await next.request('dialog/open', dialog('k'));
  expect(again).toMatchObject({ prompts: [{ ask_id: one.ask_id }] });
  expect(again.answer).toEqual({ kind: 'chosen', option_id: 'no', note: 'No.' });
  const { prompts } = await next.request('dialog/open', dialog('l', { input: { command: 'make test' } }));
  expect(prompts[0].ask_id).not.toBe(two.ask_id);
  expect(await pending()).toEqual([prompts[0].ask_id]);
});

describe('the human’s rules', () => {
  async function withRules(...permission_rules: object[]): Promise<void> {
    hive = await openRuledHive(...permission_rules);
    emacs = await serveInProcess(hive);
    await emacs.request('session/introduce', AGENT);
  }

  test('match the kind if there is no name, and answer at once', async () => {
    await withRules({ decision: 'allow', tool: 'execute', input: 'make' });
    const { answer } = await emacs.request('dialog/open', dialog('k'));
    expect(answer).toEqual({ kind: 'chosen', option_id: 'once', note: null });
  });

  test('match the name if there is one, and their note reaches the agent', async () => {
    await withRules({ decision: 'deny', tool: 'Bash', input: '*rm -rf*', note: 'Never.' });
    const call = { tool: 'Bash', input: { command: 'rm -rf build' } };
    const { answer } = await emacs.request('dialog/open', dialog('k', call));
    expect(answer).toEqual({ kind: 'chosen', option_id: 'no', note: 'Never.' });
  });

  test('never match a title or text of the agent', async () => {
    await withRules(
      { decision: 'allow', tool: 'Build the project' },
      { decision: 'allow', tool: 'execute', input: 'make' },
    );
    const words = { input: { command: 'rm -rf /' }, header: 'make', context: 'make' };
    const { answer, prompts } = await emacs.request('dialog/open', dialog('k', words));
    expect(answer).toBeNull();
    expect(prompts).toHaveLength(1);
  });
});

test('if the agent’s own hooks ask for it, nothing is asked twice', async () => {
  await hive.sessions.introduce(introduction({ session_id: 'claude-1' }));
  const known = { ...AGENT, client_session_id: 'claude-1', pid: process.pid };
  expect(await emacs.request('session/introduce', known)).toMatchObject({ hooked: false });
  await hive.store.write((tx) => tx.sessions.touchByHook('claude-1', tx.now));
  expect(await emacs.request('turn/begin', { session_id: SESSION })).toEqual({ turn_id: null });
  const reply = await emacs.request('dialog/open', dialog('k'));
  expect(reply).toEqual({ prompts: [], hooked: true, answer: null });
  expect(await pending()).toEqual([]);
  // It was introduced before the first hook ran.
  expect((await hive.sessions.list({ state: 'alive' })).map(({ session_id }) => session_id)).toEqual([
    'claude-1',
  ]);
  expect(await emacs.request('session/introduce', known)).toMatchObject({
    hooked: true,
    session: { session_id: 'claude-1' },
  });
});

test('a form is prompts, and their answers are its content', async () => {
  const schema = {
    type: 'object',
    properties: { how: { type: 'string', oneOf: [{ const: 'x', title: 'Safe' }] } },
  };
  const form = { message: 'How?', schema };
  const { prompts } = await emacs.request('dialog/open', { session_id: SESSION, key: 'f', form });
  expect(prompts).toMatchObject([{ kind: 'question', header: 'Gemini asks', question: 'How? · how' }]);
  await answerDialog(hive, prompts[0].ask_id, 'Safe');
  expect(await answered('f')).toEqual({ kind: 'form', action: 'accept', content: { how: 'x' } });
});
