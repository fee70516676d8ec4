/**
 * A full disk and a read-only store: an error the asker sees; the process continues and works again.
 *
 * @module-tag durable
 * @module-tag mcp
 */
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, HIVE, spawnChild } from '../support/children.ts';
import { openTestHive } from '../support/hive.ts';
import { connectMcp, type McpCaller } from '../support/mcp-client.ts';
import { fillDisk, smallDisk } from '../support/small-disk.ts';
import { tempFolder } from '../support/temp.ts';

const NOBODY = 65_534;

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it worked',
    (error: unknown) => (error as Error).message,
  );
}

function ask(agent: McpCaller, question = 'Go on?'): Promise<Record<string, unknown>> {
  return agent.call('hivemind_ask_async', { question });
}

test('a full disk is an error the asker sees; nothing asked before is lost; once there is room, everything works again', {
  tags: ['mounts'],
}, async () => {
  const folder = tempFolder();
  const disk = smallDisk(folder, '1m');
  const agent = await connectMcp({
    store: disk.path('hive.db'),
    env: { HIVE_AGENT: 'agent-1', ...disk.env },
    wrap: disk.command,
  });
  const before = await ask(agent);
  const makeRoom = fillDisk(agent.pid, folder);
  const said: string[] = [];
  // There is some room in the log's existing files; then it is full.
  for (let n = 0; n < 50; n += 1) said.push(await failure(ask(agent, 'x'.repeat(8_000))));
  expect(said.at(-1)).toMatch(/^store_full: The disk of the store .* is full\. .* free some space there/);
  expect(await agent.call('hivemind_poll', { ask_id: before['ask_id'] })).toMatchObject({
    status: 'pending',
  });
  makeRoom();
  const after = await ask(agent, 'After?');
  expect(await agent.call('hivemind_poll', { ask_id: after['ask_id'] })).toMatchObject({ status: 'pending' });
  const { pending_total } = await agent.call('hivemind_status');
  const stored = said.filter((text) => text === 'it worked').length;
  expect(pending_total).toBe(stored + 2);
});

test('a command that begins on a full disk says so', { tags: ['mounts'] }, async () => {
  const folder = tempFolder();
  const disk = smallDisk(folder, '3m');
  const script = '"$@" ask One; cat /dev/zero > "$DISK/filler"; exec "$@" list';
  const { program, args } = disk.command('sh', ['-c', script, 'sh', process.execPath, HIVE]);
  const child = spawnChild(program, args, childEnvironment(disk.path('hive.db'), disk.env));
  expect(await child.exited).toMatchObject({ code: 1 });
  expect(child.stderr()).toMatch(
    /hive: The disk of the store .* is full\. Nothing was written; free some space/,
  );
});

test('a read-only store is an error the asker sees; once it is writable, everything works again', {
  tags: ['root'],
}, async () => {
  const folder = join(tempFolder(), 'store');
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(dirname(folder), 0o755);
  const store = join(folder, 'hive.db');
  await (await openTestHive(store)).close();
  for (const path of [folder, store]) chownSync(path, NOBODY, NOBODY);
  chmodSync(store, 0o400);
  const agent = await connectMcp({ store, wrap: asNobody });
  expect(await failure(ask(agent))).toMatch(/^store_unavailable: The store .* cannot be written/);
  expect(await failure(ask(agent))).toMatch(/^store_unavailable/);
  // Its helper files were created in the same way.
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
  expect(await ask(agent)).toMatchObject({ status: 'pending' });
});

test('a store whose folder becomes inaccessible is an error the asker sees; once it is accessible, everything works again', {
  tags: ['root'],
}, async () => {
  const folder = join(tempFolder(), 'store');
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(dirname(folder), 0o755);
  chownSync(folder, NOBODY, NOBODY);
  const agent = await connectMcp({ store: join(folder, 'hive.db'), wrap: asNobody });
  expect(await ask(agent)).toMatchObject({ status: 'pending' });
  chmodSync(folder, 0);
  const shut = /^store_unavailable: The store \S+ cannot be reached \(EACCES/;
  expect(await failure(ask(agent))).toMatch(shut);
  expect(await failure(agent.call('hivemind_poll'))).toMatch(shut);
  chmodSync(folder, 0o700);
  expect(await ask(agent, 'And now?')).toMatchObject({ status: 'pending' });
  expect(await agent.call('hivemind_status')).toMatchObject({ pending_total: 2 });
});

function asNobody(program: string, args: readonly string[]): { program: string; args: string[] } {
  const { uid, gid } = { uid: String(NOBODY), gid: String(NOBODY) };
  expect(args[0]).toBe(HIVE);
  return { program: 'setpriv', args: ['--reuid', uid, '--regid', gid, '--clear-groups', program, ...args] };
}
