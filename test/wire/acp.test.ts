/**
 * The ACP proxy between an editor and its agent: what the agent asks is asked at the desks as well, the first answer wins,
 * and everything else is passed on as it is.
 *
 * @module-tag one-winner
 * @module-tag as-displayed
 * @module-tag silence
 * @module-tag acp
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { HiveError } from '../../src/domain/errors.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { beginAcp, loadAcp, openProxy, type Proxied, permission, selected, updated } from '../support/acp.ts';
import { RACES, raceDeskAndEditor } from '../support/acp-races.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { ENDED } from '../support/ended-process.ts';
import {
  HUMAN,
  introduction,
  openRuledHive,
  openTestHive,
  pendingOf,
  untilPending,
  withoutQuotas,
} from '../support/hive.ts';
import { tempFolder } from '../support/temp.ts';
import { turnsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

let hive: OpenedHive;
beforeEach(async () => {
  hive = await withoutQuotas(await openTestHive());
});

const pending = (): Promise<Prompt[]> => pendingOf(hive);
const atTheDesk = (count?: number): Promise<Prompt[]> => untilPending(hive, count);

const FORM = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    sessionId: 's1',
    message: 'How?',
    requestedSchema: {
      type: 'object',
      properties: { how: { type: 'string', oneOf: [{ const: 'x', title: 'Safe' }] } },
    },
  },
};

describe('a permission', () => {
  test('is shown in both places, with everything that came with it', async () => {
    const { client, agent } = await beginAcp(hive);
    const content = [
      { type: 'content', content: { type: 'text', text: 'Build the project' } },
      { type: 'diff', path: '/demo/a.txt', oldText: 'one', newText: 'two' },
    ];
    agent.send(
      permission(100, { command: 'make', env: { A: '1' } }, { content, locations: [{ path: '/demo/b' }] }),
    );
    expect(await client.until(({ id }) => id === 100)).toMatchObject({
      method: 'session/request_permission',
    });
    const [prompt] = await atTheDesk();
    expect(prompt).toMatchObject({
      kind: 'permission',
      dialog: true,
      agent: 'Agent-1',
      source: 'main',
      header: 'execute',
      question: 'Run make?',
      allow_free_text: false,
      blocked_since: expect.any(String),
      options: [
        { label: 'Always Allow', description: 'From now on; the agent decides what this covers' },
        { label: 'Allow', description: 'This once' },
        { label: 'Reject', description: 'Refuse this once', refuses: true },
      ],
    });
    for (const text of [
      '    make',
      'env: {',
      '- one',
      '+ two',
      '/demo/a.txt',
      '/demo/b',
      'Directory: /demo',
      '    Build the project',
    ])
      expect(prompt?.context).toContain(text);
  });

  test('a call that an earlier update described is shown as it was described', async () => {
    const { client, agent } = await beginAcp(hive);
    const update = {
      sessionUpdate: 'tool_call',
      toolCallId: 'call-100',
      title: 'Edit',
      kind: 'edit',
      rawInput: { file_path: '/demo/x', content: 'new' },
    };
    agent.send(updated(update));
    await client.until(({ method }) => method === 'session/update');
    const bare = permission(100) as { params: { toolCall: object } };
    bare.params.toolCall = { toolCallId: 'call-100' };
    agent.send(bare);
    const [prompt] = await atTheDesk();
    expect(prompt?.question).toBe('Change /demo/x?');
    expect(prompt?.context).toContain('+ new');
  });

  test('whose call the agent describes anew is asked again: no answer to what was shown before reaches the agent', async () => {
    const { client, agent } = await beginAcp(hive);
    const describe = (update: object): void =>
      agent.send(updated({ sessionUpdate: 'tool_call_update', toolCallId: 'call-100', ...update }));
    agent.send(permission(100));
    const [before] = await atTheDesk();
    // The status changes nothing that the desks show.
    describe({ status: 'in_progress' });
    describe({ rawInput: { command: 'rm -rf /' } });
    await eventually(async () => (await pending())[0]?.question === 'Run rm -rf /?');
    const [now] = await atTheDesk();
    expect(await hive.prompts.list({ limit: 10 })).toMatchObject({ items: [{}, {}] });
    expect(await hive.prompts.get(before?.ask_id ?? '')).toMatchObject({ status: 'cancelled' });
    expect(agent.got.filter(({ id }) => id === 100)).toEqual([]);
    await answerDialog(hive, now?.ask_id ?? '', 'Reject');
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('no') });
    expect(await client.until(({ method }) => method === '$/cancel_request')).toBeDefined();
  });

  test('for a file that changes before it is answered allows nothing: its diff was of another file', async () => {
    const path = join(tempFolder(), 'file');
    const text = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('');
    writeFileSync(path, text);
    const { client, agent } = await beginAcp(hive);
    const change = { type: 'diff', path, oldText: text, newText: `${text}more\n` };
    const ask = (id: number) =>
      agent.send(permission(id, { file_path: path }, { kind: 'edit', content: [change] }));
    ask(100);
    const [first] = await atTheDesk();
    expect(first?.context).toContain('compared with the file as it is now');
    await answerDialog(hive, first?.ask_id ?? '', 'Allow');
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('once') });
    ask(101);
    const [second] = await atTheDesk();
    writeFileSync(path, text.replace('line 3\n', ''));
    await answerDialog(hive, second?.ask_id ?? '', 'Allow');
    expect(await agent.until(({ id }) => id === 101)).toMatchObject({ result: selected('no') });
    await client.until(({ method }) => method === '$/cancel_request');
  });

  test('that says less of its call than was reported before shows that, too', async () => {
    const { agent } = await beginAcp(hive);
    const rawInput = { command: 'make', workdir: '/elsewhere' };
    const update = {
      sessionUpdate: 'tool_call',
      toolCallId: 'call-100',
      rawInput,
      locations: [{ path: '/x' }],
    };
    agent.send(updated(update));
    agent.send(permission(100, { command: 'make' }, { locations: [] }));
    const [prompt] = await atTheDesk();
    for (const text of ['/elsewhere', '/x']) expect(prompt?.context).toContain(text);
  });

  test('whose call the agent describes in full a moment later is asked once', async () => {
    const { agent } = await beginAcp(hive);
    const rawInput = { command: 'make', description: 'Build it' };
    agent.send(permission(100, { command: 'make' }));
    agent.send(updated({ sessionUpdate: 'tool_call_update', toolCallId: 'call-100', rawInput }));
    const [prompt] = await atTheDesk();
    expect(prompt?.context).toContain('Build it');
    expect((await hive.prompts.list({ limit: 10 })).items).toHaveLength(1);
  });

  test('whose call is described anew while a desk answers takes the answer of the editor', async () => {
    const { client, agent } = await beginAcp(hive);
    agent.send(permission(100));
    const [before] = await atTheDesk();
    const update = { sessionUpdate: 'tool_call_update', toolCallId: 'call-100', rawInput: { command: 'ls' } };
    const answered = answerDialog(hive, before?.ask_id ?? '', 'Allow');
    agent.send(updated(update));
    client.send({ id: 100, result: selected('no') });
    await answered.catch(() => undefined);
    await agent.until(({ id }) => id === 100);
    await atTheDesk(0);
    client.send({ id: 4, method: 'x' });
    await agent.until(({ id }) => id === 4);
    expect(agent.got.filter(({ id }) => id === 100)).toHaveLength(1);
  });

  test('what the agent withdraws is withdrawn at the desk too', async () => {
    const { client, agent } = await beginAcp(hive);
    agent.send(permission(100));
    await atTheDesk();
    agent.send({ method: '$/cancel_request', params: { requestId: 100 } });
    await client.until(({ method }) => method === '$/cancel_request');
    await atTheDesk(0);
  });

  test('of a call without input says what the agent calls it, because nothing else tells it from others', async () => {
    const { agent } = await beginAcp(hive);
    agent.send(permission(100, {}, { title: 'echo one', locations: [] }));
    const [prompt] = await atTheDesk();
    expect(prompt?.question).toBe('Use execute (the agent calls it: echo one)?');
    expect(prompt?.context).not.toContain('locations');
  });

  test('characters that cannot be stored are replaced, and the agent gets the id of its option as it was', async () => {
    const { agent } = await beginAcp(hive);
    const options = [{ optionId: 'n\0o', name: 'N\0o', kind: 'reject_once' }];
    agent.send(permission(100, { command: 'make\0 \ud800' }, { name: 'sh\0' }, options));
    const [prompt] = await atTheDesk();
    expect(prompt).toMatchObject({
      question: 'Run make<U+FFFD> <U+FFFD>?',
      options: [{ label: 'N\uFFFDo' }],
    });
    expect(prompt?.fingerprint).toMatch(/^sh\uFFFD /);
    await answerDialog(hive, prompt?.ask_id ?? '', 'N\uFFFDo');
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('n\0o') });
  });

  test('a kind of option that every object has a field for is an unknown one', async () => {
    const { agent } = await beginAcp(hive);
    const options = [
      { optionId: 'a', name: 'Do', kind: 'constructor' },
      { optionId: 'b', name: 'Not', kind: '__proto__' },
    ];
    agent.send(permission(100, undefined, {}, options));
    const [prompt] = await atTheDesk();
    const description = 'The agent does not say what this means';
    expect(prompt?.options).toMatchObject([{ description }, { description }]);
  });

  test('options that look alike are left to the editor', async () => {
    const { client, agent } = await beginAcp(hive);
    const twins = [
      { optionId: 'a', name: 'Allow', kind: 'allow_once' },
      { optionId: 'b', name: 'Аllow', kind: 'reject_once' },
    ];
    agent.send(permission(100, undefined, {}, twins));
    await client.until(({ id }) => id === 100);
    agent.send(permission(101));
    expect(await atTheDesk()).toMatchObject([{ question: 'Run make?' }]);
  });
});

describe('the human’s rules', () => {
  test('match the kind of a call if the agent names no tool, and choose the option for this once', async () => {
    hive = await openRuledHive({ decision: 'allow', tool: 'execute', input: 'make' });
    const { client, agent } = await beginAcp(hive);
    agent.send(permission(100));
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('once') });
    expect(await client.until(({ method }) => method === '$/cancel_request')).toBeDefined();
  });

  test('are not put off by what only repeats the directory, or by where the output will be shown', async () => {
    hive = await openRuledHive({ decision: 'allow', tool: 'execute', input: 'make' });
    const { agent } = await beginAcp(hive);
    const content = [{ type: 'terminal', terminalId: 'call-100' }];
    agent.send(permission(100, { command: 'make', cwd: '/demo' }, { content, locations: [] }));
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('once') });
    agent.send(permission(101, { command: 'make', cwd: '/elsewhere' }, { content }));
    expect(await atTheDesk()).toMatchObject([{ question: 'Run make?' }]);
  });

  test('match a tool that the agent names', async () => {
    hive = await openRuledHive({ decision: 'deny', tool: 'Bash', input: '*rm -rf*' });
    const { agent } = await beginAcp(hive);
    agent.send(permission(100, { command: 'rm -rf build' }, { name: 'Bash' }));
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('no') });
  });

  test('deny what an editor allows by itself in the same moment', async () => {
    hive = await openRuledHive({ decision: 'deny', tool: 'execute', input: 'make' });
    const { client, agent } = await beginAcp(hive);
    agent.send(permission(100));
    // Sooner than the store can say what the rule decides.
    while (!client.got.some(({ id }) => id === 100)) await setImmediate();
    client.send({ id: 100, result: selected('once') });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('no') });
    client.send({ id: 4, method: 'x' });
    await agent.until(({ id }) => id === 4);
    expect(agent.got.filter(({ id }) => id === 100)).toHaveLength(1);
  });

  test('never match a title', async () => {
    hive = await openRuledHive(
      { decision: 'allow', tool: 'execute', input: 'make' },
      { decision: 'allow', tool: '`make`' },
    );
    const { agent } = await beginAcp(hive);
    agent.send(permission(100, { command: 'rm -rf /' }));
    expect(await atTheDesk()).toMatchObject([{ question: 'Run rm -rf /?' }]);
  });

  test('a rule never chooses an option that covers more than this once', async () => {
    hive = await openRuledHive({ decision: 'allow', tool: 'execute', input: 'make' });
    const { agent } = await beginAcp(hive);
    const options = [
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ];
    agent.send(permission(100, undefined, {}, options));
    await atTheDesk();
  });
});

describe('a form', () => {
  test('if the editor shows none, only the desk does, and the agent gets its answer', async () => {
    await openDesk(hive);
    const { client, agent } = await beginAcp(hive);
    expect(agent.got[0].params.clientCapabilities).toEqual({ elicitation: { form: {} } });
    agent.send({ id: 100, ...FORM });
    const [prompt] = await atTheDesk();
    expect(prompt).toMatchObject({ header: 'Fake Agent asks', question: 'How? · how' });
    await answerDialog(hive, prompt?.ask_id ?? '', 'Safe');
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({
      result: { action: 'accept', content: { how: 'x' } },
    });
    expect(client.got.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  test('without a desk it is declined at the time limit, and the person is told', async () => {
    const { agent, remarks } = await beginAcp(hive, { patience_ms: 1 });
    agent.send({ id: 100, ...FORM });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: { action: 'decline' } });
    await eventually(() => remarks.length === 1);
    expect(remarks).toEqual(['No desk is open, so a form of the agent was declined.']);
    expect(await pending()).toEqual([]);
  });

  test('that only the desk shows is cancelled when the editor cancels the turn, and when the turn ends', async () => {
    await openDesk(hive);
    const { client, agent } = await beginAcp(hive);
    agent.send({ id: 100, ...FORM });
    await atTheDesk();
    client.send({ method: 'session/cancel', params: { sessionId: 's1' } });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: { action: 'cancel' } });
    await atTheDesk(0);
    agent.send({ id: 101, ...FORM });
    await atTheDesk();
    agent.send({ id: 3, result: { stopReason: 'cancelled' } });
    expect(await agent.until(({ id }) => id === 101)).toMatchObject({ result: { action: 'cancel' } });
    await atTheDesk(0);
  });

  test('if the editor shows forms, both do', async () => {
    const { client, agent } = await beginAcp(hive, { capabilities: { elicitation: { form: {} } } });
    agent.send({ id: 100, ...FORM });
    await client.until(({ id }) => id === 100);
    await atTheDesk();
    client.send({ id: 100, result: { action: 'decline' } });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: { action: 'decline' } });
    await atTheDesk(0);
  });

  test('a page is shown in an editor that shows pages, although it shows no forms', async () => {
    const { client, agent } = await beginAcp(hive, { capabilities: { elicitation: { url: {} } } });
    const page = { mode: 'url', url: 'https://example.org/', elicitationId: 'e1' };
    agent.send({ id: 100, ...FORM, params: { sessionId: 's1', message: 'Log in', ...page } });
    await client.until(({ id }) => id === 100);
    await atTheDesk();
    client.send({ id: 100, result: { action: 'accept' } });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: { action: 'accept' } });
    await atTheDesk(0);
  });

  test('of no open session is cancelled at once where the editor, which shows no forms, would not know it', async () => {
    const { client, agent } = await beginAcp(hive);
    agent.send({ id: 100, ...FORM, params: { ...FORM.params, sessionId: undefined, requestId: 2 } });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: { action: 'cancel' } });
    agent.send({ id: 3, result: { stopReason: 'end_turn' } });
    await client.until(({ id }) => id === 3);
    expect(client.got.map(({ id }) => id)).not.toContain(100);
  });

  test('one that the human cancels at the desk is cancelled for the agent', async () => {
    await openDesk(hive);
    const { agent } = await beginAcp(hive);
    agent.send({ id: 100, ...FORM });
    const [prompt] = await atTheDesk();
    await hive.prompts.cancel(prompt?.ask_id ?? '', HUMAN, 'human');
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: { action: 'cancel' } });
  });
});

describe('sessions and turns', () => {
  test('a prompt begins a turn, and its response ends it', async () => {
    const { client, agent } = await beginAcp(hive);
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'in_progress');
    agent.send({ id: 3, result: { stopReason: 'end_turn' } });
    await client.until(({ id }) => id === 3);
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'completed');
  });

  test('a prompt that is sent while the agent works belongs to the same turn, which ends with the last response', async () => {
    const { client, agent } = await beginAcp(hive);
    agent.send(permission(100));
    await atTheDesk();
    client.send({ id: 4, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } });
    await agent.until(({ id }) => id === 4);
    agent.send({ id: 3, result: { stopReason: 'end_turn' } });
    await client.until(({ id }) => id === 3);
    agent.send(permission(101));
    expect(await atTheDesk(2)).toHaveLength(2);
    expect(await turnsOf(hive, 'editor-1')).toMatchObject([{ state: 'in_progress' }]);
    agent.send({ id: 4, result: { stopReason: 'end_turn' } });
    await atTheDesk(0);
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'completed');
  });

  test('a turn that is cancelled ends with its own response, and the prompt that waited begins another one', async () => {
    const { client, agent } = await beginAcp(hive);
    await eventually(async () => (await turnsOf(hive, 'editor-1')).length === 1);
    client.send({ id: 4, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } });
    await agent.until(({ id }) => id === 4);
    const outcome = hive.interrupts.interrupt({ session: 'editor-1', actor: HUMAN });
    await agent.until(({ method }) => method === 'session/cancel');
    agent.send({ id: 3, result: { stopReason: 'cancelled' } });
    expect(await outcome).toMatchObject({ outcome: 'aborted' });
    await eventually(async () => (await turnsOf(hive, 'editor-1')).length === 2);
    const states = (await turnsOf(hive, 'editor-1')).map(({ state }) => state);
    expect(states.sort()).toEqual(['aborted', 'in_progress']);
  });

  test('a turn ends although the agent never answers a prompt that was cancelled in it', async () => {
    const { client, agent } = await beginAcp(hive);
    await eventually(async () => (await turnsOf(hive, 'editor-1')).length === 1);
    client.send({ id: 4, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } });
    client.send({ method: 'session/cancel', params: { sessionId: 's1' } });
    await agent.until(({ method }) => method === 'session/cancel');
    agent.send({ id: 4, result: { stopReason: 'end_turn' } });
    await client.until(({ id }) => id === 4);
    await eventually(async () =>
      (await turnsOf(hive, 'editor-1')).every(({ state }) => state === 'completed'),
    );
  });

  test('a prompt after a cancelled one begins another turn, which can be interrupted, whenever the agent answers', async () => {
    const { client, agent } = await beginAcp(hive);
    await eventually(async () => (await turnsOf(hive, 'editor-1')).length === 1);
    const interrupt = () => hive.interrupts.interrupt({ session: 'editor-1', actor: HUMAN });
    const states = async () => (await turnsOf(hive, 'editor-1')).map(({ state }) => state).sort();
    const cancelled = (count: number) =>
      eventually(() => agent.got.filter(({ method }) => method === 'session/cancel').length === count);
    const outcome = interrupt();
    await cancelled(1);
    client.send({ id: 4, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } });
    expect(await outcome).toMatchObject({ outcome: 'aborted' });
    await eventually(async () => (await states()).join() === 'aborted,in_progress');
    agent.send({ id: 3, result: { stopReason: 'cancelled' } });
    await client.until(({ id }) => id === 3);
    const second = interrupt();
    await cancelled(2);
    agent.send({ id: 4, result: { stopReason: 'cancelled' } });
    expect(await second).toMatchObject({ outcome: 'aborted' });
    expect(await states()).toEqual(['aborted', 'aborted']);
  });

  test('an interrupt cancels the agent’s turn and what it asks', async () => {
    const { client, agent } = await beginAcp(hive);
    agent.send(permission(100));
    await atTheDesk();
    const outcome = hive.interrupts.interrupt({ session: 'editor-1', actor: HUMAN });
    expect(await agent.until(({ method }) => method === 'session/cancel')).toMatchObject({
      params: { sessionId: 's1' },
    });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({
      result: { outcome: { outcome: 'cancelled' } },
    });
    await client.until(({ method }) => method === '$/cancel_request');
    agent.send({ id: 3, result: { stopReason: 'cancelled' } });
    expect(await outcome).toMatchObject({ outcome: 'aborted' });
  });

  test('a prompt that the editor cancels as a request ends its turn as interrupted', async () => {
    const { client, agent } = await beginAcp(hive);
    await eventually(async () => (await turnsOf(hive, 'editor-1')).length === 1);
    client.send({ method: '$/cancel_request', params: { requestId: 3 } });
    await agent.until(({ method }) => method === '$/cancel_request');
    agent.send({ id: 3, error: { code: -32800, message: 'cancelled' } });
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'aborted');
  });

  test('the end of a turn closes what was asked in it', async () => {
    const { agent } = await beginAcp(hive);
    agent.send(permission(100));
    await atTheDesk();
    agent.send({ id: 3, result: { stopReason: 'end_turn' } });
    await atTheDesk(0);
  });

  test('so does the end of the agent, and of the editor', async () => {
    for (const side of ['agent', 'client'] as const) {
      const proxied = await beginAcp(hive);
      proxied.agent.send(permission(100));
      await atTheDesk();
      proxied[side].end();
      await proxied.ended;
      expect(await pending()).toEqual([]);
    }
  });

  test('a prompt that is sent when the agent has ended begins no turn', async () => {
    const { client, agent, ended } = await beginAcp(hive);
    agent.send({ id: 3, result: { stopReason: 'end_turn' } });
    agent.end();
    await ended;
    client.send({ id: 4, method: 'session/prompt', params: { sessionId: 's1', prompt: [] } });
    await agent.until(({ id }) => id === 4);
    // The store writes in order.
    const { session_id } = await hive.sessions.introduce(introduction());
    await hive.turns.start({ session_id });
    expect(await turnsOf(hive, 'editor-1')).toMatchObject([{ state: 'completed' }]);
  });

  test('a session that is loaded again stays the same one, and its turn goes on', async () => {
    const { client, agent } = await beginAcp(hive);
    await eventually(async () => (await turnsOf(hive, 'editor-1')).length === 1);
    const load = { sessionId: 's1', cwd: '/demo', mcpServers: [] };
    client.send({ id: 5, method: 'session/load', params: load });
    expect((await agent.until(({ id }) => id === 5)).params.mcpServers).toMatchObject([
      { env: [{ name: 'HIVE_SESSION', value: 'editor-1' }] },
    ]);
    agent.send({ id: 5, result: {} });
    await client.until(({ id }) => id === 5);
    agent.send(permission(100));
    expect(await atTheDesk()).toMatchObject([{ session_id: 'editor-1' }]);
    agent.send({ id: 3, result: { stopReason: 'end_turn' } });
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'completed');
    expect(await hive.sessions.list()).toHaveLength(1);
  });

  describe('a session that is loaded after a restart of the editor', () => {
    const sessionOf = ({ agent }: Proxied): string =>
      agent.got.find(({ id }) => id === 2).params.mcpServers[0].env.at(-1).value;

    /** The agent has asked in its session, and the editor has ended. */
    async function ended(): Promise<void> {
      const { client, agent, ended } = await beginAcp(hive);
      agent.send({ id: 3, result: { stopReason: 'end_turn' } });
      await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'completed');
      client.end();
      await ended;
    }

    test('is the same one', async () => {
      await ended();
      const again = await loadAcp(hive, { earlier: 1 });
      expect(sessionOf(again)).toBe('editor-1');
      again.agent.send(permission(100));
      expect(await atTheDesk()).toMatchObject([{ session_id: 'editor-1' }]);
      expect(await hive.sessions.list()).toMatchObject([{ session_id: 'editor-1', state: 'active' }]);
    });

    test('also if its editor crashed, so that nobody recorded its end', async () => {
      await beginAcp(hive, { pid: ENDED });
      await eventually(async () => (await turnsOf(hive, 'editor-1')).length === 1);
      expect(await hive.sessions.find('editor-1')).toMatchObject({ state: 'active' });
      expect(sessionOf(await loadAcp(hive, { earlier: 1 }))).toBe('editor-1');
    });

    test('is another one while the first still serves it', async () => {
      await beginAcp(hive, { pid: process.pid });
      await eventually(async () => (await turnsOf(hive, 'editor-1')).length === 1);
      expect(sessionOf(await loadAcp(hive, { earlier: 1 }))).toBe('editor-2');
    });

    test('is another one for another program, and in another directory', async () => {
      await ended();
      expect(sessionOf(await loadAcp(hive, { earlier: 1, program: ['fake-agent', '--other'] }))).toBe(
        'editor-2',
      );
      expect(sessionOf(await loadAcp(hive, { earlier: 2 }, '/other'))).toBe('editor-3');
    });

    test('is another one below an agent that did not start the first', async () => {
      await ended();
      await hive.sessions.introduce(
        introduction({ session_id: 'above', pid: process.ppid, machine: hostname() }),
      );
      expect(sessionOf(await loadAcp(hive, { earlier: 1, pid: process.pid }))).toBe('editor-2');
    });

    test('is another one if the agent gives the id to several', async () => {
      await ended();
      const { client } = await beginAcp(hive, { earlier: 1 });
      await eventually(async () => (await turnsOf(hive, 'editor-2')).length === 1);
      client.end();
      await eventually(async () => (await hive.sessions.find('editor-2'))?.state === 'ended');
      expect(sessionOf(await loadAcp(hive, { earlier: 2 }))).toBe('editor-3');
    });
  });

  test('a session that the editor closes is over, with its turn and what it asks; the others stay', async () => {
    const { client, agent } = await beginAcp(hive);
    agent.send(permission(100));
    await atTheDesk();
    client.send({ id: 5, method: 'session/close', params: { sessionId: 's1' } });
    await agent.until(({ id }) => id === 5);
    agent.send({ id: 5, result: {} });
    await atTheDesk(0);
    await eventually(async () => (await hive.sessions.find('editor-1'))?.state === 'ended');
    expect(await turnsOf(hive, 'editor-1')).toMatchObject([{ state: 'aborted', abort_reason: 'ended' }]);
    client.send({ id: 6, method: 'session/new', params: { cwd: '/demo', mcpServers: [] } });
    await agent.until(({ id }) => id === 6);
    agent.send({ id: 6, result: { sessionId: 's1' } });
    await client.until(({ id }) => id === 6);
    agent.send(permission(101));
    expect(await atTheDesk()).toMatchObject([{ session_id: 'editor-2' }]);
  });

  test('an editor that ends takes its questions with it, also while its agent still runs', async () => {
    const { client, agent, ended } = await beginAcp(hive, { onClientGone: () => undefined });
    agent.send(permission(100));
    const [prompt] = await atTheDesk();
    client.end();
    await atTheDesk(0);
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({ cancel_reason: 'withdrawn' });
    agent.send(permission(101));
    agent.end();
    await ended;
    expect(await hive.prompts.list({ limit: 5 })).toMatchObject({ items: [{ status: 'cancelled' }] });
  });

  test('each session gets the MCP server of Hive, with its own identity, unless it has one of that name', async () => {
    const { client, agent } = await beginAcp(hive);
    expect(agent.got[1].params.mcpServers).toEqual([
      {
        name: 'hive',
        command: '/bin/node',
        args: ['/bin/hive', 'mcp'],
        env: [{ name: 'HIVE_SESSION', value: 'editor-1' }],
      },
    ]);
    const own = [{ name: 'hive', command: 'mine', args: [], env: [] }];
    client.send({
      id: 5,
      method: 'session/load',
      params: { sessionId: 's9', cwd: '/demo', mcpServers: own },
    });
    expect((await agent.until(({ id }) => id === 5)).params.mcpServers).toEqual(own);
  });

  describe('an agent that refuses the MCP server of Hive', () => {
    const HTTP = { agentCapabilities: { mcpCapabilities: { http: true } } };
    const serversOf = ({ params }: { params: { mcpServers: { type?: string }[] } }) =>
      params.mcpServers.map(({ type = 'stdio' }) => type);
    /** The requests of the session that the agent has had, each of which it refuses like this. */
    async function refusedSession(agent_says: object, error: object) {
      const proxied = await beginAcp(hive, { agent_says });
      const { client, agent } = proxied;
      client.send({ id: 5, method: 'session/new', params: { cwd: '/demo', mcpServers: [] } });
      await agent.until(({ id }) => id === 5);
      const requests = () => agent.got.filter(({ id }) => id === 5);
      return {
        ...proxied,
        requests,
        refuse: () => agent.send({ id: 5, error }),
        more: (count: number) => eventually(() => requests().length === count),
      };
    }
    const INVALID = { code: -32602, message: 'no stdio\u001b[2J' };

    test('is offered it over HTTP, if it takes that', async () => {
      const { client, agent, requests, refuse, more, remarks } = await refusedSession(HTTP, INVALID);
      refuse();
      await more(2);
      expect(requests().map(serversOf)).toEqual([['stdio'], ['http']]);
      expect(requests()[1].params.mcpServers[0]).toEqual({
        type: 'http',
        name: 'hive',
        url: 'http://127.0.0.1:1/editor-2',
        headers: [],
      });
      agent.send({ id: 5, result: { sessionId: 's5' } });
      await client.until(({ id }) => id === 5);
      expect(remarks).toEqual([]);
    });

    test('begins the session without it, and its person reads why in one line', async () => {
      const { client, agent, requests, refuse, more, remarks } = await refusedSession({}, INVALID);
      refuse();
      await more(2);
      expect(requests().map(serversOf)).toEqual([['stdio'], []]);
      agent.send({ id: 5, result: { sessionId: 's5' } });
      expect(await client.until(({ id }) => id === 5)).toMatchObject({ result: { sessionId: 's5' } });
      expect(remarks).toEqual([
        'Fake Agent refused the MCP server of Hive ("no stdio\\u001b[2J"), so it runs without the tools of Hive.',
      ]);
    });

    test('and also the session without it has refused something else: the editor gets the error', async () => {
      const { client, requests, refuse, more, remarks } = await refusedSession(HTTP, INVALID);
      for (const count of [2, 3]) {
        refuse();
        await more(count);
      }
      refuse();
      expect(await client.until(({ id }) => id === 5)).toMatchObject({ error: INVALID });
      expect(requests()).toHaveLength(3);
      expect(remarks).toEqual([]);
    });

    test('is not asked again if its person must log in first', async () => {
      const error = { code: -32_000, message: 'Authentication required' };
      const { client, requests, refuse } = await refusedSession(HTTP, error);
      refuse();
      expect(await client.until(({ id }) => id === 5)).toMatchObject({ error });
      expect(requests()).toHaveLength(1);
    });

    test('without a word, as Copilot does with every server on stdio, gets it over HTTP at once', async () => {
      const { agent } = await beginAcp(hive, { agent_says: { ...HTTP, agentInfo: { name: 'Copilot' } } });
      expect(serversOf(agent.got[1])).toEqual(['http']);
    });
  });

  test.each([
    ['on stdio', { stdio: {}, http: {} }, ['stdio']],
    ['over HTTP where it takes nothing else', { http: {} }, ['http']],
    ['not at all where it takes none', null, undefined],
  ])(
    'in version 2, where an editor leaves the list out, the agent gets the server %s',
    async (_how, mcp, given) => {
      const agent_says = { capabilities: { session: { mcp } } };
      const { client, agent, remarks } = await beginAcp(hive, { version: 2, agent_says });
      client.send({ id: 5, method: 'session/new', params: { cwd: '/demo' } });
      const { params } = await agent.until(({ id }) => id === 5);
      expect(params.mcpServers?.map(({ type }: { type: string }) => type)).toEqual(given);
      const said = 'Fake Agent takes no MCP servers, so it has no tools of Hive.';
      expect(remarks).toEqual(given === undefined ? [said, said] : []);
    },
  );

  test('if hooks of Hive serve the session, its permissions are left to them', async () => {
    await hive.sessions.introduce(introduction({ session_id: 's1' }));
    await hive.store.write((tx) => tx.sessions.touchByHook('s1', tx.now));
    const { client, agent } = await beginAcp(hive, { pid: process.pid });
    agent.send(permission(100));
    await client.until(({ id }) => id === 100);
    client.send({ id: 100, result: selected('once') });
    await agent.until(({ id }) => id === 100);
    expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
    expect((await hive.sessions.list()).map(({ session_id }) => session_id)).toEqual(['s1']);
  });

  test('if the package of the editor talks to Hive itself, the proxy handles only forms', async () => {
    await openDesk(hive);
    const { client, agent } = await beginAcp(hive, { package_session: 'editor-package' });
    agent.send(permission(100));
    await client.until(({ id }) => id === 100);
    agent.send({ id: 101, ...FORM });
    expect(await atTheDesk()).toMatchObject([{ kind: 'question', session_id: 'editor-package' }]);
    expect(await turnsOf(hive, 'editor-package')).toEqual([]);
  });

  test('in version 2 a turn begins and ends by its state, and a permission has a subject', async () => {
    const { agent } = await beginAcp(hive, { version: 2 });
    const state = (update: object): void => agent.send(updated({ sessionUpdate: 'state_update', ...update }));
    state({ state: 'running' });
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'in_progress');
    const { params } = permission(100) as { params: { options: object[] } };
    const subject = { type: 'command', command: 'make all', cwd: '/demo/sub' };
    agent.send({
      ...permission(100),
      params: { sessionId: 's1', title: 'Build?', description: 'To test', subject, options: params.options },
    });
    const [prompt] = await atTheDesk();
    expect(prompt?.question).toBe('Run make all?');
    for (const text of ['cwd: "/demo/sub"', '    Build?', '    To test'])
      expect(prompt?.context).toContain(text);
    state({ state: 'idle', stopReason: 'end_turn' });
    await atTheDesk(0);
    await eventually(async () => (await turnsOf(hive, 'editor-1'))[0]?.state === 'completed');
  });
});

describe('everything else', () => {
  test('is passed on byte by byte, in order, in both directions', async () => {
    const { client, agent } = openProxy(hive);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.json(), fc.string()), { minLength: 1, maxLength: 8 }),
        async (texts) => {
          const sent = texts
            .map((text) => text.replace(/[\r\n]/g, ' '))
            .map((text) => Buffer.from(text).toString());
          const [toAgent, toClient] = [agent.lines.length, client.lines.length];
          for (const text of sent) client.sendLine(text);
          for (const text of sent) agent.sendLine(text);
          await eventually(
            () =>
              agent.lines.length === toAgent + sent.length && client.lines.length === toClient + sent.length,
          );
          expect(agent.lines.slice(toAgent)).toEqual(sent);
          expect(client.lines.slice(toClient)).toEqual(sent);
        },
      ),
      { numRuns: 60, seed: 20 },
    );
  });

  test('a message of 10 MB is passed on', async () => {
    const { client, agent } = openProxy(hive);
    const text = 'x'.repeat(10 * 1024 * 1024);
    agent.send({ method: 'session/update', params: { text } });
    expect((await client.until(({ method }) => method === 'session/update')).params.text).toHaveLength(
      text.length,
    );
  });

  test('answered in the editor while the store is locked, a question is withdrawn once it no longer is', async () => {
    const { client, agent } = await beginAcp(hive);
    agent.send(permission(100));
    const [prompt] = await atTheDesk();
    const write = vi
      .spyOn(hive.parts.store, 'write')
      .mockRejectedValue(new HiveError('store_busy', 'Locked.'));
    client.send({ id: 100, result: selected('once') });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('once') });
    expect(await pending()).toHaveLength(1);
    write.mockRestore();
    await atTheDesk(0);
    expect(await hive.prompts.get(prompt?.ask_id ?? '')).toMatchObject({
      cancel_reason: 'answered_elsewhere',
    });
  });

  test('without a writable store, the two talk as if there were no proxy', async () => {
    const { client, agent } = await beginAcp(hive);
    await hive.store.close();
    agent.send(permission(100));
    await client.until(({ id }) => id === 100);
    client.send({ id: 100, result: selected('once') });
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('once') });
  });
});

test(`if a desk and an editor answer at once, exactly one wins, and the other is told: ${RACES} races`, async () => {
  await raceDeskAndEditor(hive, 20);
});

const folder = join(import.meta.dirname, 'fixtures/acp');

/** Replays what each side sent, in its order. What must have been passed on, unchanged, is compared. */
test.each(readdirSync(folder))('recorded traffic %s is passed on unchanged', async (name) => {
  const { client, agent } = openProxy(hive);
  const messages = readFileSync(join(folder, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { dir: string; method?: string } & Record<string, unknown>);
  for (const { dir, ...message } of messages) {
    const [from, to] = dir === 'client>agent' ? [client, agent] : [agent, client];
    const before = to.got.length;
    from.send(message);
    await eventually(() => to.got.length > before);
    const changed = message.method === 'session/new' || message.method === 'initialize';
    if (!changed) expect(to.got.at(before)).toEqual(message);
  }
  client.end();
});
