/**
 * `hive attach opencode` as a person starts it, and as a sidecar does.
 *
 * @module-tag one-winner
 * @module-tag silence
 * @module-tag acp
 */
import { expect, test } from 'vitest';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { type Child, childEnvironment, spawnHive } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { answerDialog } from '../support/dialogs.ts';
import { newHive, SEAT, untilPending } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { standIn } from '../support/opencode.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

function attach(store: string, ...urls: string[]): Child {
  return spawnHive(['attach', 'opencode', ...urls], childEnvironment(store, trusting({ seats: [SEAT] })));
}

test('it brings the questions of several servers to the desk, and the answers back, until it is stopped', async () => {
  const { store, hive } = await newHive();
  const servers = [await standIn(), await standIn()];
  const child = attach(store, ...servers.map(({ url }) => url));
  await eventually(() => servers.every(({ url }) => child.stderr().includes(`Attached to ${url}.`)));
  for (const [n, server] of servers.entries()) {
    server.begin(`ses_${n}`);
    server.askPermission(`per_${n}`, { command: `make ${n}` }, { sessionID: `ses_${n}` });
    const [{ ask_id } = expect.fail()] = await untilPending(hive);
    await answerDialog(hive, ask_id, 'Allow once');
    await eventually(() => server.replies.length === 1);
    expect(server.replies).toMatchObject([{ body: { reply: 'once' }, counted: true }]);
  }
  servers[0]?.askPermission('per_9', { command: 'make 9' }, { sessionID: 'ses_0' });
  await untilPending(hive);
  expect(await child.kill('SIGTERM')).toMatchObject({ code: 0 });
  await untilPending(hive, 0);
});

test('killed, it allows nothing: its questions are withdrawn with its sessions', async () => {
  const { store, hive } = await newHive();
  const server = await standIn();
  const child = attach(store, server.url);
  await eventually(() => child.stderr().includes('Attached'));
  server.begin('ses_1');
  server.askPermission('per_1');
  await untilPending(hive);
  const [session] = await hive.sessions.list({ state: 'alive' });
  await child.kill('SIGKILL');
  await hive.sessions.sweep(session?.machine ?? '');
  await untilPending(hive, 0);
  expect(server.replies).toEqual([]);
});

test('a sidecar starts it when it is asked to, and it ends with a sidecar that is killed', async () => {
  const { store, hive } = await newHive();
  const server = await standIn();
  const env = trusting({ seats: [SEAT] });
  const sidecar = await startSidecar(store, { env, args: ['--opencode', server.url] });
  server.begin('ses_1');
  server.askPermission('per_1');
  const [{ ask_id } = expect.fail()] = await untilPending(hive);
  // The sidecar is not taken for the agent, whose process is below it.
  const answer = { ask_id, decision: 'Reject', by: 'Ada', response_id: 'response-1' };
  expect(await sidecar.request('hivemind-response', answer)).toMatchObject({ accepted: true });
  await eventually(() => server.replies.length === 1);
  expect(server.replies).toMatchObject([{ body: { reply: 'reject' } }]);
  const [session] = await hive.sessions.list({ state: 'alive' });
  await sidecar.child.kill('SIGKILL');
  await eventually(() => !processes.alive(session?.pid ?? 0));
});

test.each([
  [['attach', 'gemini'], 'knows only opencode'],
  [['attach', 'opencode', 'here'], 'is not the address of a server'],
  [['attach', 'opencode', 'http://example.org:4096'], 'is not on this machine'],
])('hive %j is refused', async (args, why) => {
  const { code, err } = await shell(tempStore()).hive(...args);
  expect(code).toBe(2);
  expect(err).toContain(why);
});
