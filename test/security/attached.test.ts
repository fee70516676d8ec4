/**
 * Servers of opencode that are attached, and processes that only listen where one did.
 *
 * @module-tag no-self-approval
 * @module-tag provenance
 * @module-tag untrusted
 * @module-tag sqlite
 * @module-tag acp
 */
import { beforeEach, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openTestHive, withoutQuotas } from '../support/hive.ts';
import { attach, type StandIn, standIn } from '../support/opencode.ts';
import { turnsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

let hive: OpenedHive;
let server: StandIn;
beforeEach(async () => {
  hive = await withoutQuotas(await openTestHive());
  server = await standIn();
});

async function atTheDesk(count: number): Promise<Prompt[]> {
  let prompts: Prompt[] = [];
  await eventually(async () => {
    prompts = (await hive.prompts.list({ status: 'pending', limit: 50 })).items;
    return prompts.length === count;
  });
  return prompts;
}

test('a server asks nothing in the name of another server’s session, and ends none of its turns', async () => {
  const other = await standIn();
  await attach(hive, server.url);
  const attached = await attach(hive, other.url);
  server.begin('ses_1');
  server.askPermission('per_1');
  await atTheDesk(1);
  other.begin('ses_1');
  other.askPermission('per_1');
  other.askPermission('per_2', { command: 'make clean' });
  other.askPermission('per_3', { command: 'make own' }, { sessionID: 'ses_2' });
  await atTheDesk(2);
  other.answer('per_1', 'once');
  other.end('ses_1');
  await attached.stop();
  expect(await atTheDesk(1)).toMatchObject([{ session_id: 'editor-1', question: 'Run make?' }]);
  expect((await turnsOf(hive, 'editor-1')).map(({ state }) => state)).toEqual(['in_progress']);
  expect(await hive.sessions.find('editor-1')).toMatchObject({ state: 'active' });
});

test('a server at another port finds the sessions of one that has ended', async () => {
  await attach(hive, server.url);
  server.askPermission('per_1');
  await atTheDesk(1);
  await server.close();
  await eventually(async () => (await hive.sessions.find('editor-1'))?.state === 'ended');
  const next = await standIn();
  await attach(hive, next.url);
  next.askPermission('per_2', { command: 'make two' });
  expect(await atTheDesk(1)).toMatchObject([{ session_id: 'editor-1', question: 'Run make two?' }]);
});

test('sessions that a server calls each other’s parents are handled, and block nothing', async () => {
  server.parents.set('ses_1', 'ses_2').set('ses_2', 'ses_1').set('ses_3', 'ses_3');
  const attached = await attach(hive, server.url);
  for (const n of [1, 2, 3])
    server.askPermission(`per_${n}`, { command: `make ${n}` }, { sessionID: `ses_${n}` });
  await atTheDesk(3);
  await attached.stop();
  expect(await atTheDesk(0)).toEqual([]);
});
