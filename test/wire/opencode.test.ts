/**
 * A server of opencode that is attached: what its agents ask is asked at the desks as well, and the first answer wins.
 *
 * @module-tag one-winner
 * @module-tag as-displayed
 * @module-tag silence
 * @module-tag untrusted
 * @module-tag acp
 */
import { createServer } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseJson } from '../../src/domain/json-numbers.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { answerDialog } from '../support/dialogs.ts';
import {
  eventsOf,
  HUMAN,
  introduction,
  noticesOf,
  openRuledHive,
  openTestHive,
  pendingOf,
  untilPending,
  withoutQuotas,
} from '../support/hive.ts';
import { listen } from '../support/listen.ts';
import { attach, type StandIn, standIn } from '../support/opencode.ts';
import { turnsOf } from '../support/turns.ts';
import { eventually, lots, moment } from '../support/wait.ts';

let hive: OpenedHive;
let server: StandIn;
beforeEach(async () => {
  hive = await withoutQuotas(await openTestHive());
  server = await standIn();
});

const atTheDesk = (count?: number): Promise<Prompt[]> => untilPending(hive, count);

async function answer(prompt: Prompt | undefined, decision: string, comment?: string): Promise<void> {
  await answerDialog(hive, prompt?.ask_id ?? '', decision, comment);
}

/** The body that the server got for this request, once it is there. */
async function replyTo(id: string): Promise<StandIn['replies'][number]['body']> {
  await eventually(() => server.replies.some((reply) => reply.id === id));
  return server.replies.find((reply) => reply.id === id)?.body ?? null;
}

describe('a permission', () => {
  test('shows the whole call of its tool, and what "always" would cover', async () => {
    await attach(hive, server.url);
    server.begin('ses_1');
    server.askPermission('per_1', { command: 'make all', description: 'build', workdir: '/x' });
    const [prompt] = await atTheDesk();
    expect(prompt).toMatchObject({
      kind: 'permission',
      dialog: true,
      agent: 'OpenCode-1',
      source: 'main',
      header: 'Bash',
      question: 'Run make all?',
      allow_free_text: true,
      options: [
        { label: 'Allow once' },
        { label: 'Allow always', description: 'Until opencode ends, for everything that matches: make *' },
        { label: 'Reject', refuses: true },
      ],
    });
    for (const text of [
      '    make all',
      'workdir: "/x"',
      'It asks for bash: make',
      'Directory: /demo',
      '    build',
    ])
      expect(prompt?.context).toContain(text);
  });

  test.each([
    ['Allow once', 'once'],
    ['Allow always', 'always'],
    ['Reject', 'reject'],
  ])('%s at a desk is sent to the server as %s', async (label, reply) => {
    await attach(hive, server.url);
    server.askPermission('per_1');
    const [prompt] = await atTheDesk();
    await answer(prompt, label);
    expect(await replyTo('per_1')).toEqual({ reply });
    const now = () => hive.prompts.get(prompt?.ask_id ?? '');
    expect((await now()).handed_at).not.toBeNull();
    // The server reports this reply as an event, too, which is not the answer of somebody else.
    await eventually(async () => (await now()).collected_at !== null);
    expect(await noticesOf(hive)).toEqual([]);
  });

  test('what the human writes is the reason of a refusal', async () => {
    await attach(hive, server.url);
    server.askPermission('per_1');
    const [first] = await atTheDesk();
    await answer(first, 'Use the script instead');
    expect(await replyTo('per_1')).toEqual({ reply: 'reject', message: 'Use the script instead' });
    server.askPermission('per_2');
    const [second] = await atTheDesk();
    await answer(second, 'Reject', 'Not now');
    expect(await replyTo('per_2')).toEqual({ reply: 'reject', message: 'Not now' });
  });

  test('answered in opencode, the question at the desk is withdrawn, with those that the rejection covers', async () => {
    await attach(hive, server.url);
    server.askPermission('per_1');
    server.askPermission('per_2');
    const prompts = await atTheDesk(2);
    server.answer('per_1', 'reject');
    await atTheDesk(0);
    for (const { ask_id } of prompts)
      expect(await hive.prompts.get(ask_id)).toMatchObject({
        status: 'cancelled',
        cancel_reason: 'answered_elsewhere',
      });
    expect(await noticesOf(hive)).toEqual([]);
  });

  test('an edit is shown with the path and the texts that the tool was given', async () => {
    await attach(hive, server.url);
    const input = { filePath: '/demo/a', oldString: 'one', newString: 'two', file_path: '/demo/other' };
    const metadata = { filepath: '/demo/a', diff: 'x' };
    server.askPermission('per_1', input, { permission: 'edit', patterns: ['a'], metadata }, 'edit');
    const [prompt] = await atTheDesk();
    expect(prompt).toMatchObject({ header: 'Edit', question: 'Change /demo/a?' });
    for (const text of ['- one', '+ two', 'its file_path']) expect(prompt?.context).toContain(text);
  });

  test('shows every field under its own name, whatever that is', async () => {
    await attach(hive, server.url);
    const input = JSON.parse(
      '{"command": "make", "constructor": "x", "__proto__": "y", "file_path": "z", "its file_path": "w"}',
    );
    server.askPermission('per_1', { ...input, filePath: '/demo/a' }, { permission: 'edit' }, 'write');
    server.askPermission('per_2', input, { metadata: JSON.parse('{"__proto__": {}, "toString": null}') });
    const prompts = await atTheDesk(2);
    const lines = (tool: string): string[] | undefined =>
      prompts.find(({ header }) => header === tool)?.context?.split('\n');
    for (const line of ['constructor: "x"', '__proto__: "y"'])
      for (const tool of ['Write', 'Bash']) expect(lines(tool)).toContain(line);
    for (const line of ['"its file_path": "z"', '"its its file_path": "w"'])
      expect(lines('Write')).toContain(line);
    for (const line of ['file_path: "z"', '__proto__: {}', 'toString: null'])
      expect(lines('Bash')).toContain(line);
  });

  test('characters that cannot be stored are replaced, in everything that the server says', async () => {
    await attach(hive, server.url);
    const metadata = { command: 'make\0 \ud800' };
    server.askPermission('per_\0', {}, { permission: 'sh\0', metadata, tool: undefined });
    const [prompt] = await atTheDesk();
    expect(prompt?.fingerprint).toMatch(/^sh\uFFFD /);
    expect(prompt?.context).toContain('make<U+FFFD> <U+FFFD>');
    await answer(prompt, 'Reject');
    expect(await replyTo('per_\uFFFD')).toEqual({ reply: 'reject' });
  });

  test('shows a number as the server wrote it', async () => {
    await attach(hive, server.url);
    const amount = parseJson('9007199254740993');
    server.askPermission('per_1', { amount }, { permission: 'pay' }, 'pay');
    const [prompt] = await atTheDesk();
    expect(prompt?.context).toContain('amount": 9007199254740993');
  });

  test('without its call it is shown as opencode describes it', async () => {
    await attach(hive, server.url);
    server.askPermission('per_1', {}, { tool: undefined, permission: 'doom_loop', metadata: { tool: 'x' } });
    expect(await atTheDesk()).toMatchObject([{ header: 'doom_loop', question: 'Use doom_loop?' }]);
  });
});

describe('the human’s rules', () => {
  async function withRules(...permission_rules: object[]): Promise<void> {
    hive = await openRuledHive(...permission_rules);
    await attach(hive, server.url);
  }

  test('answer for the tool that Hive knows, for this once', async () => {
    await withRules({ decision: 'allow', tool: 'Bash', input: 'make' });
    server.askPermission('per_1');
    expect(await replyTo('per_1')).toEqual({ reply: 'once' });
  });

  test('deny with their note', async () => {
    await withRules({ decision: 'deny', tool: 'Bash', input: '*make*', note: 'Use ninja' });
    server.askPermission('per_1');
    expect(await replyTo('per_1')).toEqual({ reply: 'reject', message: 'Use ninja' });
  });

  test('do not allow a call of which opencode says more than the tool was given', async () => {
    await withRules({ decision: 'allow', tool: 'Bash', input: 'make' });
    server.askPermission('per_1', { command: 'make' }, { metadata: { command: 'make', elevated: true } });
    expect((await atTheDesk())[0]?.context).toContain('elevated: true');
  });

  test('about a tool do not answer another permission that the tool needs', async () => {
    await withRules({ decision: 'allow', tool: 'Bash' }, { decision: 'allow', tool: 'Bash', input: '*' });
    server.askPermission('per_1', { command: 'cat /etc/x' }, { permission: 'external_directory' });
    expect(await atTheDesk()).toMatchObject([{ header: 'external_directory' }]);
  });
});

describe('questions', () => {
  const COLOR = {
    question: 'Which color?',
    header: 'Color',
    options: [
      { label: 'Red', description: 'r' },
      { label: 'Blue', description: 'b' },
    ],
  };

  test('are answered at the desk in their order, with several labels, or in free text', async () => {
    await attach(hive, server.url);
    const questions = [COLOR, { ...COLOR, question: 'Which ones?', multiple: true }, { question: 'Name?' }];
    server.askQuestion('que_1', questions);
    const prompts = await atTheDesk(3);
    const ask = (text: string): Prompt | undefined => prompts.find(({ question }) => question.includes(text));
    expect(ask('Which color?')).toMatchObject({ header: 'opencode asks', allow_free_text: true });
    await answer(ask('Which color?'), 'Green');
    await hive.prompts.respond({
      ask_id: ask('Which ones?')?.ask_id ?? '',
      selected: ['Red', 'Blue'],
      actor: HUMAN,
    });
    await answer(ask('Name?'), 'Ada');
    expect(await replyTo('que_1')).toEqual({ answers: [['Green'], ['Red', 'Blue'], ['Ada']] });
  });

  test('a comment with an answer goes along, and is told only there', async () => {
    await attach(hive, server.url);
    server.askQuestion('que_1', [COLOR]);
    const [prompt] = await atTheDesk();
    await answerDialog(hive, prompt?.ask_id ?? '', 'Red', 'A dark one');
    expect(await replyTo('que_1')).toEqual({ answers: [['Red', 'A dark one']] });
    await eventually(async () => (await hive.prompts.get(prompt?.ask_id ?? '')).collected_at !== null);
  });

  test('with characters that cannot be stored are answered, with what was shown', async () => {
    await attach(hive, server.url);
    const options = [{ label: 'Re\0d' }, { label: 'Blue\udfff' }];
    server.askQuestion('que_1', [{ question: 'Which\0?', options }]);
    const [prompt] = await atTheDesk();
    expect(prompt?.options).toMatchObject([{ label: 'Re\uFFFDd' }, { label: 'Blue\uFFFD' }, {}]);
    await answer(prompt, 'Re\uFFFDd');
    expect(await replyTo('que_1')).toEqual({ answers: [['Re\uFFFDd']] });
  });

  test('declined at the desk are rejected', async () => {
    await attach(hive, server.url);
    server.askQuestion('que_1', [COLOR]);
    const [prompt] = await atTheDesk();
    await answer(prompt, 'Decline');
    expect(await replyTo('que_1')).toBeNull();
    expect(server.replies).toHaveLength(1);
  });
});

describe('sessions and turns', () => {
  test('a turn begins and ends with the status of its session, and its questions end with it', async () => {
    await attach(hive, server.url);
    server.begin('ses_1');
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'in_progress');
    server.askPermission('per_1');
    await atTheDesk();
    server.end('ses_1');
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'completed');
    await atTheDesk(0);
  });

  test('an interrupt aborts the session', async () => {
    const { remarks } = await attach(hive, server.url);
    server.begin('ses_1');
    server.askPermission('per_1');
    await atTheDesk();
    const outcome = await hive.interrupts.interrupt({ session: 'editor-1', actor: HUMAN });
    expect(outcome).toMatchObject({ outcome: 'aborted' });
    expect(server.aborted).toEqual(['ses_1']);
    await atTheDesk(0);
    // opencode goes on listing what the aborted turn asked.
    server.interruptStreams();
    server.resume();
    await eventually(() => remarks.length === 2);
    server.askPermission('per_2', { command: 'make two' });
    expect(await atTheDesk()).toMatchObject([{ question: 'Run make two?' }]);
  });
});

describe('the connection', () => {
  test('what is pending in the server when it is attached is asked, and running turns are known', async () => {
    server.begin('ses_1');
    server.askPermission('per_1');
    await attach(hive, server.url);
    await atTheDesk();
    expect((await turnsOf(hive, 'editor-1'))[0]?.state).toBe('in_progress');
  });

  test('after it was lost, what happened in the meantime is read', async () => {
    await attach(hive, server.url);
    server.begin('ses_1');
    server.askPermission('per_1');
    const [first] = await atTheDesk();
    server.interruptStreams();
    server.answer('per_1', 'once');
    server.askPermission('per_2', { command: 'make two' });
    server.resume();
    await eventually(
      async () => (await hive.prompts.get(first?.ask_id ?? '')).cancel_reason === 'answered_elsewhere',
    );
    expect(await atTheDesk()).toMatchObject([{ question: 'Run make two?' }]);
  });

  test('after it was lost, a turn that ended in the meantime is over', async () => {
    await attach(hive, server.url);
    server.begin('ses_1');
    const state = async () => (await turnsOf(hive, 'editor-1'))[0]?.state;
    await eventually(async () => (await state()) === 'in_progress');
    server.interruptStreams();
    server.end('ses_1');
    server.resume();
    await eventually(async () => (await state()) === 'completed');
  });

  test('a server that has ended loses what it asked: nothing is pending, nothing is allowed, and its successor is found', async () => {
    const { remarks } = await attach(hive, server.url);
    server.begin('ses_1');
    server.askPermission('per_1');
    await atTheDesk();
    await server.close();
    await atTheDesk(0);
    await eventually(async () => (await hive.sessions.list({ state: 'alive' })).length === 0);
    const next = await standIn(Number(new URL(server.url).port));
    await eventually(() => remarks.length === 3);
    next.begin('ses_1');
    next.askPermission('per_9', { command: 'make nine' });
    expect(await atTheDesk()).toMatchObject([{ question: 'Run make nine?', agent: 'OpenCode-1' }]);
    expect(server.replies).toEqual([]);
  });

  test('two servers are attached at once', async () => {
    const other = await standIn();
    await attach(hive, server.url);
    await attach(hive, other.url);
    server.askPermission('per_1', { command: 'make one' });
    other.askPermission('per_2', { command: 'make two' }, { sessionID: 'ses_2' });
    const prompts = await atTheDesk(2);
    await answer(
      prompts.find(({ question }) => question === 'Run make two?'),
      'Allow once',
    );
    await eventually(() => other.replies.length === 1);
    expect(server.replies).toEqual([]);
  });

  test('a session for which another process speaks is left to it', async () => {
    await hive.sessions.introduce(introduction({ session_id: 'editor-1', pid: process.ppid }));
    await attach(hive, server.url);
    server.askPermission('per_1', { command: 'make one' });
    server.askPermission('per_2', { command: 'make two' }, { sessionID: 'ses_2' });
    expect(await atTheDesk()).toMatchObject([{ question: 'Run make two?' }]);
  });

  test('once the process that spoke for a session has ended, another one that is attached does, in the same turn', async () => {
    const first = await attach(hive, server.url);
    server.begin('ses_1');
    server.askPermission('per_1');
    const [before] = await atTheDesk();
    await attach(hive, server.url, process.ppid);
    await first.stop();
    await eventually(async () => (await hive.prompts.get(before?.ask_id ?? '')).status === 'cancelled');
    const [prompt] = await atTheDesk();
    expect(await turnsOf(hive, 'editor-1')).toMatchObject([{ state: 'aborted' }, { state: 'in_progress' }]);
    await answer(prompt, 'Allow once');
    expect(await replyTo('per_1')).toEqual({ reply: 'once' });
  });

  test('to a server that wants a password is refused with the variable that has it', async () => {
    const guarded = createServer((_request, response) => void response.writeHead(401).end());
    const { remarks, stop } = await attach(hive, await listen(guarded));
    await stop();
    expect(remarks).toEqual([expect.stringContaining('put that into OPENCODE_SERVER_PASSWORD')]);
  });

  test('attached twice, it asks once', async () => {
    await attach(hive, server.url);
    await attach(hive, server.url);
    server.begin('ses_1');
    server.askPermission('per_1');
    const [prompt] = await atTheDesk();
    await answer(prompt, 'Allow once');
    await eventually(() => server.replies.some(({ counted }) => counted));
    expect((await hive.prompts.list({ limit: 10 })).items).toHaveLength(1);
  });

  test('when the attachment ends, nothing is pending at the desk', async () => {
    const attached = await attach(hive, server.url);
    server.begin('ses_1');
    server.askPermission('per_1');
    await atTheDesk();
    await attached.stop();
    expect(await atTheDesk(0)).toEqual([]);
    expect(await hive.sessions.list({ state: 'alive' })).toEqual([]);
    expect(server.replies).toEqual([]);
  });

  test('invalid events are ignored', async () => {
    await attach(hive, server.url);
    for (const properties of [{}, { id: 7 }, { id: 'per_x', sessionID: ['a'] }])
      server.askPermission('per_x', {}, properties);
    server.askQuestion('que_x', []);
    server.askPermission('per_1', { command: 'make one' });
    await eventually(async () =>
      (await pendingOf(hive)).some(({ question }) => question === 'Run make one?'),
    );
  });
});

test('a desk that comes too late is told what was answered', async () => {
  await attach(hive, server.url);
  server.askPermission('per_1');
  const [prompt] = await atTheDesk();
  // As if the event of the other answer were still under way.
  server.answerUnheard('per_1');
  await answer(prompt, 'Allow once');
  await eventually(async () => (await noticesOf(hive)).length === 1);
  const { title } = await hive.sessions.resolve(prompt?.session_id ?? '');
  expect(await noticesOf(hive)).toEqual([
    `The answer "Allow once" to ${title} came too late. The agent was answered in its editor first.`,
  ]);
});

test('if a desk and another client answer at once, one wins, and a desk that loses is told', async () => {
  const RACES = 60;
  await attach(hive, server.url);
  const draw = lots(20);
  const late: string[] = [];
  for (let n = 0; n < RACES; n += 1) {
    const id = `per_${n}`;
    server.askPermission(id);
    const [prompt] = await atTheDesk();
    const [first, second, reply] = [draw() * 10, draw() * 10, draw() < 0.5 ? 'reject' : 'once'];
    const desk = moment(first).then(() => answer(prompt, 'Allow always'));
    await moment(second);
    server.answer(id, reply);
    await desk;
    await eventually(async () => {
      const { status } = await hive.prompts.get(prompt?.ask_id ?? '');
      const own = server.replies.find((reply) => reply.id === id && reply.body?.reply === 'always');
      return status === 'cancelled' || own !== undefined;
    });
    const counted = server.replies.filter((reply) => reply.id === id && reply.counted);
    expect(counted).toHaveLength(1);
    const { status } = await hive.prompts.get(prompt?.ask_id ?? '');
    if (status === 'cancelled') expect(counted[0]?.body?.reply).not.toBe('always');
    else if (counted[0]?.body?.reply !== 'always') late.push(prompt?.ask_id ?? '');
  }
  const told = async (): Promise<unknown[]> =>
    (await eventsOf(hive, 'desk/notice'))
      .filter(({ data }) => String(data['text']).includes('came too late'))
      .map(({ data }) => data['ask_id']);
  await eventually(async () => (await told()).length === late.length);
  expect(await told()).toEqual(late);
  // Both sides have won some.
  const { items } = await hive.prompts.list({ limit: 500 });
  expect(new Set(items.map(({ status }) => status)).size).toBe(2);
});
