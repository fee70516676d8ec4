/**
 * PostgreSQL in trouble: acknowledged writes are kept, everything else is a clear error, and waits survive.
 *
 * @module-tag durable
 * @module-tag state-not-events
 * @module-tag postgres
 * @module-tag library
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import type { Driver } from '../../src/infrastructure/store/sql.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive, whenWaiting } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';
import { clockPasses, eventually, FOR_EVER_MS, moment } from '../support/wait.ts';

let server: PostgresServer;
let hives = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

function fresh(): string {
  hives += 1;
  return server.address(`faults_${hives}`);
}

/** The same hive, reached over another port. */
function through(address: string, port: number): string {
  const url = new URL(address);
  url.port = String(port);
  return url.href;
}

async function terminateAll(): Promise<void> {
  const client = new pg.Client({ connectionString: server.address('public').replace(/\?.*/, '') });
  await client.connect();
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
  await client.end();
}

/** A wait that only the answer ends. */
async function polled(hive: OpenedHive, ask_id: string): Promise<string | undefined> {
  const [prompt] = await hive.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS });
  return prompt?.status;
}

/** The same, once it sleeps. */
async function asleep(hive: OpenedHive, ask_id: string): Promise<{ woken: Promise<string | undefined> }> {
  const woken = polled(hive, ask_id);
  await whenWaiting(hive);
  return { woken };
}

/** A server that is there again takes a moment to take writes. */
async function respondAtLast(hive: OpenedHive, ask_id: string): Promise<void> {
  await eventually(() =>
    respond(hive, ask_id).then(
      () => true,
      () => false,
    ),
  );
}

function respond(hive: OpenedHive, ask_id: string): ReturnType<OpenedHive['prompts']['respond']> {
  return hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
}

describe('a server that crashes and comes back', () => {
  test('keeps every wait, and answers it once it has recovered', async () => {
    const address = fresh();
    const [agent, desk] = [await openTestHive(address), await openTestHive(address)];
    const asked = await Promise.all(Array.from({ length: 20 }, () => ask(agent)));
    const read = vi.spyOn(agent.store, 'read');
    const waits = asked.map(({ ask_id }) => polled(agent, ask_id));
    // A wait reads twice before it sleeps, and once more then. Only a sleeping one outlives its server.
    const haveRead = (): boolean => read.mock.settledResults.every(({ type }) => type === 'fulfilled');
    await eventually(() => read.mock.calls.length >= 3 * asked.length && haveRead());
    read.mockRestore();
    await server.restart();
    for (const { ask_id } of asked) await respondAtLast(desk, ask_id);
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['responded']));
  });

  test('keeps what it acknowledged, and reports that the rest may be lost', async () => {
    const hive = await openTestHive(fresh());
    const [kept, refused]: [string[], string[]] = [[], []];
    let stopped = false;
    const asking = (async () => {
      for (let n = 0; !stopped; n += 1) {
        try {
          kept.push((await ask(hive, { question: `Question ${n}?` })).ask_id);
        } catch (error) {
          refused.push(String((error as { code?: unknown }).code));
          await moment(20);
        }
      }
    })();
    await eventually(() => kept.length > 20);
    await server.restart();
    const before = kept.length;
    await eventually(() => kept.length > before + 20);
    stopped = true;
    await asking;
    expect(new Set(refused)).toEqual(new Set(['store_unavailable']));
    for (const ask_id of kept) expect((await hive.prompts.get(ask_id)).status).toBe('pending');
  });
});

describe('connections that are dropped', () => {
  test('while they idle: nobody notices', async () => {
    const address = fresh();
    const [agent, desk] = [await openTestHive(address), await openTestHive(address)];
    const { ask_id } = await ask(agent);
    const { woken } = await asleep(agent, ask_id);
    await terminateAll();
    await respond(desk, ask_id);
    expect(await woken).toBe('responded');
  });

  test('while they write: this write is an error, the next one works', async () => {
    const hive = await openTestHive(fresh());
    await expect(
      hive.store.write(async (tx) => {
        await tx.desks.setPreferences('seat', { n: 1 });
        await terminateAll();
        await tx.desks.setPreferences('seat', { n: 2 });
      }),
    ).rejects.toMatchObject({ code: 'store_unavailable' });
    await hive.store.write((tx) => tx.desks.setPreferences('other', { n: 3 }));
    expect(await hive.store.read((tx) => tx.desks.preferences('seat'))).toEqual({});
  });
});

describe('a half-open connection', () => {
  test('is detected, and a wait over it gets the answer', async () => {
    const address = fresh();
    const proxy = await tcpProxy(server.port);
    const agent = await openTestHive(through(address, proxy.port));
    const desk = await openTestHive(address);
    const { ask_id } = await ask(agent);
    const { woken } = await asleep(agent, ask_id);
    proxy.swallow();
    await respond(desk, ask_id);
    await eventually(() => proxy.swallowed() > 0, undefined, 'something that was lost');
    proxy.recover();
    expect(await woken).toBe('responded');
  });

  test('delays the next write for a moment, and does not fail it', async () => {
    const proxy = await tcpProxy(server.port);
    const hive = await openTestHive(through(fresh(), proxy.port));
    await ask(hive);
    // A connection that was used just now is trusted.
    await clockPasses(2_100);
    proxy.swallow();
    const asking = ask(hive);
    await eventually(() => proxy.swallowed() > 0, undefined, 'something that was lost');
    proxy.recover();
    expect((await asking).status).toBe('pending');
  });

  test('is an error while it lasts, and does not keep the hive from closing', async () => {
    const proxy = await tcpProxy(server.port);
    const hive = await openTestHive(through(fresh(), proxy.port));
    const { ask_id } = await ask(hive);
    const wait = hive.prompts.wait([ask_id], { wait_ms: 1_000 }).catch(() => undefined);
    await whenWaiting(hive);
    proxy.swallow();
    await expect(hive.prompts.get(ask_id)).rejects.toMatchObject({ code: 'store_unavailable' });
    await wait;
    await hive.close();
  });

  test('is an error of all reads, and not the sign of a busy process', async () => {
    const proxy = await tcpProxy(server.port);
    const driver = closedAtEnd(openPostgresAt(through(fresh(), proxy.port), {}, { busy_ms: 4_000 }));
    await driver.inspect(async () => undefined);
    proxy.swallow();
    const reads = Array.from({ length: 30 }, () => driver.read(async () => undefined));
    const outcomes = await Promise.allSettled(reads);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual(
      reads.map(() => 'store_unavailable'),
    );
  });

  test('is an error of all writes that waited for it together', async () => {
    const address = fresh();
    const proxy = await tcpProxy(server.port);
    const open = (): Driver => openPostgresAt(through(address, proxy.port), {}, { busy_ms: 500 });
    const [waiting, later] = [open(), open()];
    onTestFinished(async () => {
      await Promise.all([waiting.close(), later.close()]);
    });
    for (const driver of [waiting, later]) await driver.inspect(async () => undefined);
    for (const driver of [waiting, later]) await driver.write(async () => undefined);
    proxy.swallow();
    const order: string[] = [];
    const write = (driver: Driver, name: string): Promise<unknown> =>
      driver
        .write(async () => undefined)
        .catch(({ code }: { code?: unknown }) => order.push(`${name}: ${code}`));
    const first = write(waiting, 'first').then(() => write(later, 'later'));
    await Promise.all([first, write(waiting, 'second'), write(waiting, 'third')]);
    expect(order).toEqual(['first', 'second', 'third', 'later'].map((name) => `${name}: store_unavailable`));
  });

  test('with a writer at its other end does not block the others', async () => {
    const address = fresh();
    const proxy = await tcpProxy(server.port);
    const lost = await openTestHive(through(address, proxy.port));
    const other = await openTestHive(address);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let swallowing = false;
    const writing = lost.store
      .write(async (tx) => {
        await tx.desks.setPreferences('seat', { n: 1 });
        proxy.swallow();
        swallowing = true;
        await released;
      })
      .catch((error: unknown) => error);
    await eventually(() => swallowing);
    // Refused as busy, if the server did not let go of the lock.
    await other.store.write((tx) => tx.desks.setPreferences('other', { n: 1 }));
    release();
    expect(await writing).toMatchObject({ code: 'store_unavailable' });
    expect(await other.store.read((tx) => tx.desks.preferences('seat'))).toEqual({});
  });
});

test('a server that is slow costs time and nothing else', async () => {
  const address = fresh();
  const proxy = await tcpProxy(server.port);
  const agent = await openTestHive(through(address, proxy.port));
  const desk = await openTestHive(address);
  proxy.delay(100);
  const { ask_id } = await ask(agent);
  const { woken } = await asleep(agent, ask_id);
  await respond(desk, ask_id);
  expect(await woken).toBe('responded');
});

test('a writer that commits late is waited for: no cursor passes it, and nobody decides at the same time', async () => {
  const address = fresh();
  const [slow, quick, reader] = [
    await openTestHive(address),
    await openTestHive(address),
    await openTestHive(address),
  ];
  const told: (string | null)[] = [];
  onTestFinished(
    reader.feed.follow({
      cursor: 0,
      onEvents: async (events) => void told.push(...events.map(({ subject }) => subject)),
      onResync: async () => undefined,
    }),
  );
  const begun: string[] = [];
  const add = (hive: OpenedHive, subject: string, pause_ms: number): Promise<void> =>
    hive.store.write(async (tx) => {
      const { n = 0 } = (await tx.desks.preferences('seat')) as { n?: number };
      begun.push(subject);
      if (pause_ms > 0) await moment(pause_ms);
      await tx.events.append({ type: 'desk/notice', session_id: null, subject, data: {} });
      await tx.desks.setPreferences('seat', { n: n + 1 });
    });
  const late = add(slow, 'late', 400);
  await eventually(() => begun.includes('late'));
  await Promise.all([late, add(quick, 'quick', 0)]);
  await eventually(() => told.length === 2);
  expect(told).toEqual(['late', 'quick']);
  // Without the lock both would have read 0.
  expect(await reader.store.read((tx) => tx.desks.preferences('seat'))).toEqual({ n: 2 });
});
