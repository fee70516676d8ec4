/**
 * Agents behind `hive acp`, and agents that start it themselves: what they say of themselves and of their calls.
 *
 * @module-tag no-self-approval
 * @module-tag as-displayed
 * @module-tag provenance
 * @module-tag acp
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { hostname } from 'node:os';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { beginAcp, permission, selected } from '../support/acp.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { HUMAN, introduction, openRuledHive, openTestHive, untilPending } from '../support/hive.ts';
import { whenFinished } from '../support/lifetime.ts';
import { serveInProcess } from '../support/sidecar.ts';
import { turnsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

let hive: OpenedHive;
beforeEach(async () => {
  hive = await openTestHive();
});

/** A process of its own, in the place of an agent's. */
function startProcess(): ChildProcess & { pid: number } {
  const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
  whenFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    await ended;
  });
  return child as ChildProcess & { pid: number };
}

const atTheDesk = (count?: number): Promise<Prompt[]> => untilPending(hive, count);

describe('an agent that gives its session the id of another agent', () => {
  /** The other agent: its hooks have named its process, and it works. */
  async function otherAgent(pid: number): Promise<void> {
    await hive.sessions.introduce({
      ...introduction({ session_id: 's1' }),
      client: 'claude-code',
      machine: hostname(),
      pid,
    });
    await hive.store.write((tx) => tx.sessions.touchByHook('s1', tx.now));
    await hive.turns.start({ session_id: 's1', client_turn_id: 'a turn', by: 'Claude-s1' });
  }

  test('ends no turn of that agent, and asks as itself', async () => {
    await otherAgent(startProcess().pid);
    const proxied = await beginAcp(hive, { pid: startProcess().pid });
    const { client, agent } = proxied;
    agent.send(permission(100));
    expect(await atTheDesk()).toMatchObject([{ session_id: 'editor-1' }]);
    agent.send({ id: 3, result: { stopReason: 'cancelled' } });
    await client.until(({ id }) => id === 3);
    agent.end();
    await proxied.ended;
    expect(await turnsOf(hive, 's1')).toMatchObject([{ state: 'in_progress' }]);
  });

  test('ends no turn of that agent, even if the editor does not know its process', async () => {
    await otherAgent(startProcess().pid);
    const emacs = await serveInProcess(hive);
    const agent = { session_id: 'editor-abc', client: 'Gemini', directory: '/demo', client_session_id: 's1' };
    await emacs.request('session/introduce', agent);
    await emacs.request('turn/end', { session_id: 'editor-abc', stop_reason: 'cancelled' });
    expect(await turnsOf(hive, 's1')).toMatchObject([{ state: 'in_progress' }]);
  });

  test('has its dialogs at the desks where the editor does not know its process either', async () => {
    await otherAgent(startProcess().pid);
    const emacs = await serveInProcess(hive);
    const agent = { session_id: 'editor-abc', client: 'Gemini', directory: '/demo', client_session_id: 's1' };
    expect(await emacs.request('session/introduce', agent)).toMatchObject({
      session: { session_id: 'editor-abc' },
      hooked: false,
    });
    const options = [{ id: 'no', label: 'No', refuses: true }];
    const dialog = {
      session_id: 'editor-abc',
      key: 'k',
      kind: 'execute',
      input: { command: 'make' },
      options,
    };
    expect(await emacs.request('dialog/open', dialog)).toMatchObject({ hooked: false });
    expect(await atTheDesk()).toMatchObject([{ session_id: 'editor-abc', question: 'Run make?' }]);
  });

  test('is interrupted together with that agent only if it is that agent', async () => {
    // The process with the hooks descends from the agent of the proxy, as that of an ACP adapter does.
    await otherAgent(startProcess().pid);
    const { agent } = await beginAcp(hive, { pid: process.pid });
    const outcome = hive.interrupts.interrupt({ session: 's1', actor: HUMAN });
    await agent.until(({ method }) => method === 'session/cancel');
    agent.send({ id: 3, result: { stopReason: 'cancelled' } });
    expect(await outcome).toMatchObject({ outcome: 'aborted' });
  });
});

test('an agent that starts hive acp in the place of an editor asks nothing in the name of its agent', async () => {
  const victim = introduction({ session_id: 'editor-victim', machine: hostname(), pid: startProcess().pid });
  await hive.sessions.introduce(victim);
  const attacker = { session_id: 'attacker', machine: hostname(), pid: process.pid };
  await hive.sessions.introduce(introduction(attacker));
  await openDesk(hive);
  const { agent, remarks } = await beginAcp(hive, {
    pid: startProcess().pid,
    package_session: 'editor-victim',
  });
  const requestedSchema = { type: 'object', properties: { key: { type: 'string' } } };
  const params = { mode: 'form', sessionId: 's1', message: 'Which key?', requestedSchema };
  agent.send({ id: 100, method: 'elicitation/create', params });
  expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: { action: 'cancel' } });
  expect(remarks).toEqual(['A form of the agent could not be shown at a desk. It was cancelled.']);
  expect((await hive.prompts.list({ limit: 9 })).items).toEqual([]);
  expect(await hive.sessions.find('editor-victim')).toMatchObject({ pid: victim.pid, state: 'active' });
});

test('an agent that starts hive acp answers no question of its own through it', async () => {
  const own = await hive.sessions.introduce({
    ...introduction({ session_id: 'the-agent' }),
    machine: hostname(),
    pid: process.pid,
  });
  const { prompt } = await hive.prompts.ask({ question: 'May I?', options: [{ label: 'yes' }] }, own);
  const { agent } = await beginAcp(hive, { pid: startProcess().pid });
  agent.send(permission(100));
  await atTheDesk(2);
  const behind = await hive.sessions.resolve('editor-1');
  expect(behind.parent_session_id).toBe('the-agent');
  const actor = await hive.sessions.actor(behind, 'mcp');
  await expect(hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor })).rejects.toMatchObject(
    { code: 'not_allowed' },
  );
});

test('a request under the id of an open one takes its place: no answer to the one is an answer to the other', async () => {
  const { agent } = await beginAcp(hive);
  agent.send(permission(100));
  const [first] = await atTheDesk();
  agent.send(permission(100, { command: 'rm -rf /' }));
  await eventually(async () => (await hive.prompts.get(first?.ask_id ?? '')).status === 'cancelled');
  const [second] = await atTheDesk();
  expect(second?.question).toBe('Run rm -rf /?');
  expect(agent.got.filter(({ id }) => id === 100)).toEqual([]);
  await answerDialog(hive, second?.ask_id ?? '', 'Reject');
  expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('no') });
});

test('no name that an agent gives begins a new line', async () => {
  const { agent } = await beginAcp(hive);
  const forged = "x\nTool: Read\nDirectory: /safe\n\nThe agent's own description of it:\n    it only reads";
  agent.send(
    permission(
      100,
      { command: 'make' },
      { name: forged, content: [{ type: 'diff', path: forged, oldText: 'a', newText: 'b' }], [forged]: 1 },
    ),
  );
  const [prompt] = await atTheDesk();
  const lines = (start: string): number =>
    (prompt?.context ?? '').split('\n').filter((line) => line.startsWith(start)).length;
  expect([lines('Tool: '), lines('Directory: '), lines("The agent's own description")]).toEqual([1, 1, 1]);
});

describe('a rule that allows', () => {
  beforeEach(async () => {
    hive = await openRuledHive(
      { decision: 'allow', tool: 'execute', input: 'make' },
      { decision: 'allow', tool: 'Write', input: '/demo/*' },
    );
  });

  test.each([
    ['another directory', { command: 'make' }, { cwd: '/elsewhere' }],
    ['arguments', { command: 'make' }, { args: ['install'] }],
    ['the change of a file', { command: 'make' }, { content: [change('/demo/Makefile')] }],
    [
      'the change of another file',
      { file_path: '/demo/a', content: 'x' },
      { name: 'Write', content: [change('/etc/passwd')] },
    ],
  ])('does not answer a call that says more than its input: %s', async (_, input, more) => {
    const { agent } = await beginAcp(hive);
    agent.send(permission(100, input, more));
    await atTheDesk();
    expect(agent.got.filter(({ id }) => id === 100)).toEqual([]);
  });

  test('answers one that repeats its input elsewhere', async () => {
    const { agent } = await beginAcp(hive);
    const locations = [{ path: '/demo/a' }];
    // Where its output is shown says nothing about what runs.
    const content = [{ type: 'terminal', terminalId: 't' }];
    agent.send(permission(100, { command: 'make' }, { locations, content }));
    expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('once') });
    const more = { name: 'Write', locations, content: [change('/demo/a')] };
    agent.send(permission(101, { file_path: '/demo/a', content: 'x' }, more));
    expect(await agent.until(({ id }) => id === 101)).toMatchObject({ result: selected('once') });
  });

  function change(path: string): object {
    return { type: 'diff', path, oldText: null, newText: 'x' };
  }
});

test.each([
  [
    'the change of a file',
    { content: [{ type: 'diff', path: '/demo/prod/x', oldText: null, newText: 'x' }] },
  ],
  ['another argument', { file: 'prod/x' }],
])('a rule that denies is compared with what comes beside the input: %s', async (_, more) => {
  hive = await openRuledHive({ decision: 'deny', tool: '*', input: '/demo/prod/*' });
  const { agent } = await beginAcp(hive);
  agent.send(permission(100, { command: 'make' }, more));
  expect(await agent.until(({ id }) => id === 100)).toMatchObject({ result: selected('no') });
});
