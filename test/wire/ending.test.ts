/**
 * How a sidecar ends: whatever holds it, and leaving nothing behind.
 *
 * @module-tag durable
 * @module-tag emacs
 * @module-tag mcp
 */
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type EmacsOptions, serveEmacs } from '../../src/adapters/emacs/connection.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, newHive, openTestHive } from '../support/hive.ts';
import { INITIALIZE, startSidecar } from '../support/sidecar.ts';
import { namesIn, tempStore } from '../support/temp.ts';
import { eventually, FOR_EVER_MS, moment } from '../support/wait.ts';

const ENDINGS: [string, (sidecar: Awaited<ReturnType<typeof startSidecar>>) => void][] = [
  ['the end of its input', (sidecar) => void sidecar.end()],
  ['SIGTERM', (sidecar) => void sidecar.child.kill('SIGTERM')],
  ['exit', (sidecar) => sidecar.notify('exit')],
];

describe.each(ENDINGS)('%s', (_how, end) => {
  test('ends it and leaves nothing', async () => {
    const store = tempStore();
    const sidecar = await startSidecar(store);
    end(sidecar);
    expect(await sidecar.child.exited).toEqual({ code: 0, signal: null });
    expect(namesIn(dirname(store))).toEqual(['hive.db', 'hive.db-bell']);
    const hive = await openTestHive(store);
    expect(await hive.desks.online()).toEqual([]);
    expect(sidecar.child.stderr()).toBe('');
  });
});

test('it ends while another process holds the store', async () => {
  const store = tempStore();
  const sidecar = await startSidecar(store);
  const blocker = new DatabaseSync(store);
  blocker.exec('BEGIN IMMEDIATE');
  sidecar.notify('exit');
  // The lock is held until it has ended.
  await sidecar.child.exited;
  blocker.exec('ROLLBACK');
  blocker.close();
});

test('it ends while Emacs reads no more bytes', async () => {
  const { store, hive } = await newHive();
  const sidecar = await startSidecar(store);
  sidecar.child.process.stdout.pause();
  for (let n = 0; n < 40; n += 1) await ask(hive, { question: 'x'.repeat(8_000), urgency: 'low' });
  await moment(100);
  const exited = new Promise<void>((resolve) => sidecar.child.process.once('exit', () => resolve()));
  void sidecar.end();
  await exited;
});

const HELLO = { id: 1, method: 'initialize', params: INITIALIZE };

function frameOf(message: object): string {
  const content = JSON.stringify({ jsonrpc: '2.0', ...message });
  return `Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`;
}

/** A sidecar without a process of its own; what it writes never goes out, unless there is another `output`. */
function serve(hive: OpenedHive, differing: Partial<EmacsOptions> = {}) {
  const [input, stop] = [new PassThrough(), new AbortController()];
  const output = new Writable({ write: () => undefined });
  const place = { seat: 'ada@test', human: 'ada', pid: process.pid, check: async () => undefined };
  const ways = { input, output, stop: stop.signal, extensions: [], ending: () => undefined };
  const options = { ...place, ...ways, ...differing };
  return { input, stop, served: serveEmacs(hive, options) };
}

test('what was sent before the end of input is still handled', async () => {
  const hive = await openTestHive();
  const asked = await Promise.all(Array.from({ length: 5 }, () => ask(hive, { urgency: 'low' })));
  const { input, served } = serve(hive, {
    output: new Writable({ write: (_chunk, _encoding, done) => done() }),
    last_messages_ms: FOR_EVER_MS,
  });
  const notify = (method: string, params?: object): void => void input.write(frameOf({ method, params }));
  input.write(frameOf(HELLO));
  notify('initialized');
  for (const { ask_id } of asked)
    notify('hivemind-response', { ask_id, decision: 'yes', by: 'ada', response_id: `to ${ask_id}` });
  input.end();
  await served;
  const settled = await Promise.all(asked.map(({ ask_id }) => hive.prompts.get(ask_id)));
  expect(settled.map(({ status }) => status)).toEqual(asked.map(() => 'responded'));
});

test('a sidecar without a handshake ends as well', async () => {
  const sidecar = await startSidecar(tempStore(), { handshake: false });
  sidecar.notify('initialized');
  expect(await sidecar.end()).toEqual({ code: 0, signal: null });
});

test('initialize sent twice at once opens one desk', async () => {
  const store = tempStore();
  const sidecar = await startSidecar(store, { handshake: false });
  const params = { protocol_version: 1, client: { name: 'test', version: '1' } };
  const both = await Promise.allSettled([
    sidecar.request('initialize', params),
    sidecar.request('initialize', params),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const hive = await openTestHive(store);
  expect(await hive.desks.online()).toHaveLength(1);
});

test('serving ends although no output can be written any more', async () => {
  const hive = await openTestHive();
  const { input, stop, served } = serve(hive);
  input.write(frameOf(HELLO));
  input.write(frameOf({ method: 'initialized' }));
  await eventually(async () => (await hive.desks.online()).length === 1);
  await ask(hive);
  await moment(50);
  stop.abort();
  await served;
  expect(await hive.desks.online()).toEqual([]);
});
