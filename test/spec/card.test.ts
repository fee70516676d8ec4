/** The design card, requirement by requirement. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect } from 'vitest';
import { ROOT } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { type Desktop, startDesktop } from '../support/desktop.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { INITIALIZE, type Sidecar, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { type Agent, type Loose, startAgent, told } from './support/agents.ts';
import { type Editor, startEditor } from './support/editor.ts';
import { everyRequirementOf, requirement } from './support/requirement.ts';

let emacs: Editor;
let desktop: Desktop;
let agent: Agent;
let desk: Sidecar;

beforeFile(async () => {
  emacs = await startEditor();
  desktop = closedAtEnd(await startDesktop());
  agent = await startAgent(emacs.store, 'abc12-session');
  desk = await startSidecar(emacs.store);
});

/** Nothing waits, not even in Emacs' mode line. */
beforeEach(async () => {
  const { prompts } = await desk.request('prompt/list', { status: 'pending' });
  for (const { ask_id } of prompts) await desk.request('prompt/cancel', { ask_id, by: 'Ada' });
  await emacs.until(/^(?![\s\S]*hive \d+\b)/);
});

const ask = (question: string, more: object = {}): Promise<Loose> =>
  agent.use('hivemind_ask_async', { question, urgency: 'low', ...more });

requirement(
  'card-1 It is built on vscode-jsonrpc, the MCP SDK, node-notifier and zod, and tested with vitest',
  () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const built = ['vscode-jsonrpc', '@modelcontextprotocol/sdk', 'node-notifier', 'zod'];
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(built));
    expect(Object.keys(devDependencies)).toContain('vitest');
    for (const name of [...built, 'vitest'])
      expect(existsSync(join(ROOT, 'node_modules', name, 'package.json'))).toBe(true);
  },
);

requirement(
  'card-2 The repository has its package file, its sources, the Emacs package, tests and a README at the top',
  () => {
    for (const folder of ['src', 'elisp', 'test'])
      expect([folder, statSync(join(ROOT, folder)).isDirectory()]).toEqual([folder, true]);
    for (const file of ['package.json', 'tsconfig.json', 'README.md'])
      expect([file, statSync(join(ROOT, file)).isFile()]).toEqual([file, true]);
  },
);

requirement('card-3 The sidecar speaks JSON-RPC with Emacs over stdio', async () => {
  const own = await startSidecar(tempStore(), { handshake: false });
  expect(await own.request('initialize', INITIALIZE)).toMatchObject({ protocol_version: 1 });
  expect(own.frames[0]).toMatchObject({ jsonrpc: '2.0', id: 1 });
  await expect(own.request('no/such_method')).rejects.toMatchObject({ code: -32601 });
  expect(await own.request('shutdown')).toBeNull();
  own.notify('exit');
  expect(await own.child.exited).toMatchObject({ code: 0 });
});

requirement('card-4 Every answer of Emacs is routed, and none is lost', async () => {
  const [request, notification] = [await ask('By a request?'), await ask('By a notification?')];
  const bare = { decision: 'yes', by: 'Ada' };
  expect(await desk.request('hivemind-response', { ask_id: request.ask_id, ...bare })).toMatchObject({
    accepted: true,
  });
  desk.notify('hivemind-response', { ask_id: notification.ask_id, ...bare });
  for (const { ask_id } of [request, notification])
    expect(await agent.use('hivemind_poll', { ask_id, wait_ms: 5_000 })).toMatchObject({ decision: 'yes' });
  desk.notify('hivemind-response', { something: 'else', decision: 'not understood by anybody' });
  const isKept = ({ notice, sent }: Loose): boolean =>
    notice === 'unread_answer' && sent.includes('not understood by anybody');
  await told(desk, 'desk/notice', isKept);
  const { out } = await shell(emacs.store).hive('doctor');
  expect(out).toContain('not understood by anybody');
});

requirement('card-5 Questions pop up on the desktop', async () => {
  const own = tempStore();
  await startSidecar(own, { env: desktop.env });
  const asker = await startAgent(own, 'asker-session');
  const options = ['SQLite', 'PostgreSQL'];
  const { ask_id } = await asker.use('hivemind_ask_async', { question: 'Which database?', options });
  await eventually(() => desktop.sent.length === 1, 8_000, 'a popup');
  expect(desktop.sent[0]).toMatchObject({ app: 'Hive', body: 'Which database?' });
  await eventually(async () => (await desktop.displayed()) === 1, 5_000, 'the popup on the screen');
  await desktop.press('PostgreSQL');
  expect(await asker.use('hivemind_poll', { ask_id, wait_ms: 10_000 })).toMatchObject({
    decision: 'PostgreSQL',
    via: 'notification',
  });
});

requirement('card-6 Agents ask and poll without blocking', async () => {
  const { ask_id, status } = await ask('Blocking?');
  expect(status).toBe('pending');
  expect((await agent.use('hivemind_poll', { ask_id })).status).toBe('pending');
  await desk.request('hivemind-response', { ask_id, decision: 'no', by: 'Ada', response_id: 'card-6' });
  expect(await agent.use('hivemind_poll', { ask_id })).toMatchObject({ status: 'responded', decision: 'no' });
});

requirement('card-7 The human answers in the minibuffer, and every command begins with hive', async () => {
  const { ask_id } = await ask('In the minibuffer?');
  await emacs.until(/hive 1\b/);
  await emacs.command('hive-respond');
  await emacs.reply(/asks: In the minibuffer\?/, 'there');
  expect(await agent.use('hivemind_poll', { ask_id, wait_ms: 10_000 })).toMatchObject({
    decision: 'there',
    via: 'emacs',
  });
  await emacs.calm();
  await emacs.command('hive');
  await emacs.press(/Claude-abc12|Idle and done|Needs you/, 'h');
  await emacs.press(/correct an answer/, 'q', 'q');
  const foreign = await emacs.evaluate(
    `(let (found) (mapatoms (lambda (s) (when (and (commandp s) (symbol-file s 'defun)
         (string-match-p "/elisp/" (symbol-file s 'defun))
         (not (string-prefix-p "hive" (symbol-name s)))) (push s found)))) found)`,
  );
  expect(foreign).toBe('nil');
});

requirement('card-8 Agents reach it through MCP', async () => {
  expect(agent.client.getServerVersion()).toMatchObject({ name: 'hive' });
  const { tools } = await agent.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['hivemind_ask_async', 'hivemind_poll', 'hivemind_post', 'hivemind_read']),
  );
  expect((await agent.use('hivemind_status')).you).toBe('Claude-abc12');
});

everyRequirementOf('card', 8);
