/**
 * Servers of opencode that are attached, and processes that only listen where one did.
 *
 * @module-tag no-self-approval
 * @module-tag provenance
 * @module-tag untrusted
 * @module-tag acp
 */
import { createServer } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openTestHive, untilPending, withoutQuotas } from '../support/hive.ts';
import { listen } from '../support/listen.ts';
import { attach, type StandIn, standIn } from '../support/opencode.ts';
import { turnsOf } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';

let hive: OpenedHive;
let server: StandIn;
beforeEach(async () => {
  hive = await withoutQuotas(await openTestHive());
  server = await standIn();
});

const atTheDesk = (count?: number): Promise<Prompt[]> => untilPending(hive, count);

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

test('a response without an end is given up: the server is as one that cannot be reached', async () => {
  let sent = 0;
  const endless = createServer((request, response) => {
    if (request.url?.startsWith('/global/event') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
      return;
    }
    response.writeHead(200).write('[');
    const part = `"${'x'.repeat(2 ** 20)}",`;
    const more = (): void => {
      while (!response.destroyed) {
        sent += part.length;
        if (!response.write(part)) break;
      }
    };
    response.on('drain', more).on('error', () => undefined);
    more();
  });
  const url = await listen(endless);
  const { remarks, stop } = await attach(hive, url);
  expect(remarks[0]).toBe(`Cannot reach ${url} (/path: more than 32 MB); trying again until you stop this.`);
  await stop();
  // The bytes that were sent wait in the sockets at most.
  expect(sent).toBeLessThan(64 * 2 ** 20);
});

test.each([
  [1, 'Run make one?'],
  [2, 'Run make?'],
])('a call whose reading was cut off %i times is shown as: %s', async (count, question) => {
  await attach(hive, server.url);
  server.cutReads(count);
  server.askPermission('per_1', { command: 'make one' });
  expect(await atTheDesk(1)).toMatchObject([{ question }]);
});

test('of a server that names sessions and requests without an end, the newest sessions are kept', async () => {
  await attach(hive, server.url);
  for (let n = 0; n < 210; n += 1) {
    server.begin(`ses_${n}`);
    server.end(`ses_${n}`);
    if (n % 30 === 0) await eventually(async () => (await hive.sessions.find(`editor-${n}`)) !== undefined);
  }
  server.begin(`ses_${'x'.repeat(1_000)}`);
  server.askPermission('per_1', { command: 'make one' }, { sessionID: 'ses_209' });
  expect(await atTheDesk(1)).toMatchObject([{ session_id: 'editor-209', question: 'Run make one?' }]);
  await eventually(async () => (await hive.sessions.list({ state: 'alive', limit: 500 })).length === 200);
  expect((await hive.sessions.find('editor-9'))?.state).toBe('ended');
  // One that was forgotten is found again.
  server.askPermission('per_2', { command: 'make two' }, { sessionID: 'ses_0' });
  expect((await atTheDesk(2)).map(({ question }) => question).sort()).toEqual([
    'Run make one?',
    'Run make two?',
  ]);
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
