/**
 * PostgreSQL with a standby that takes over, a disk that is full, and a clock that is not ours.
 *
 * @module-tag durable
 * @module-tag postgres
 * @module-tag library
 */
import pg from 'pg';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { fillDisk } from '../support/small-disk.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';
import { eventually, FOR_EVER_MS, moment } from '../support/wait.ts';

async function server(options?: Parameters<typeof startPostgres>[0]): Promise<PostgresServer> {
  const started = await startPostgres(options);
  onTestFinished(() => started.stop());
  return started;
}

async function sql(port: number, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'hive', database: 'postgres' });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const text of statements) rows = (await client.query(text)).rows as Record<string, unknown>[];
    return rows;
  } finally {
    await client.end();
  }
}

test('a standby that takes over has everything that was acknowledged, if it is synchronous; waits get the answer from it', async () => {
  const primary = await server();
  const standby = await server({ standbyOf: primary });
  await sql(
    primary.port,
    `ALTER SYSTEM SET synchronous_standby_names = 'standby'`,
    'SELECT pg_reload_conf()',
  );
  await eventually(async () => {
    const [row] = await sql(primary.port, 'SELECT sync_state FROM pg_stat_replication');
    return row?.['sync_state'] === 'sync';
  });
  const line = await tcpProxy(primary.port);
  const address = `postgres://hive@127.0.0.1:${line.port}/postgres?schema=failover`;
  const [agent, desk] = [await openTestHive(address), await openTestHive(address)];
  const { ask_id } = await ask(agent, { question: 'Waits?' });
  const waiting = agent.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS });

  const kept: string[] = [];
  let stopped = false;
  const asking = (async () => {
    while (!stopped) {
      await ask(agent).then(
        (prompt) => kept.push(prompt.ask_id),
        () => moment(20),
      );
    }
  })();
  await eventually(() => kept.length > 20, 20_000);
  await primary.crash();
  const before = kept.length;
  await standby.promote();
  // The former standby has no standby itself.
  await sql(standby.port, `ALTER SYSTEM SET synchronous_standby_names = ''`, 'SELECT pg_reload_conf()');
  line.redirect(standby.port);
  await eventually(() => kept.length > before + 20, 20_000);
  stopped = true;
  await asking;
  for (const id of kept) expect((await desk.prompts.get(id)).status).toBe('pending');

  await desk.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
  expect((await waiting)[0]?.status).toBe('responded');
});

test('a server whose disk is full says so; nothing acknowledged is lost; once there is room, everything works again', {
  tags: ['root', 'mounts'],
}, async () => {
  const tight = await server({ smallDisk: '24m', settings: ['default_tablespace=small'] });
  await sql(tight.port, `CREATE TABLESPACE small LOCATION '${tight.smallDisk}'`);
  const hive = await openTestHive(tight.address('full'));
  const kept = [(await ask(hive, { question: 'Before?' })).ask_id];
  const makeRoom = fillDisk(tight.pid, tight.smallDisk);
  let refusal: unknown = null;
  for (let n = 0; n < 200 && refusal === null; n += 1) {
    await ask(hive, { question: `Question ${n}?`, context: contextOf(n) }).then(
      (prompt) => kept.push(prompt.ask_id),
      (error: unknown) => {
        refusal = error;
      },
    );
  }
  expect(refusal).toMatchObject({ code: 'store_full', message: expect.stringMatching(/no space left/) });
  for (const ask_id of kept) expect((await hive.prompts.get(ask_id)).status).toBe('pending');
  makeRoom();
  kept.push((await ask(hive, { question: 'After?', context: contextOf(999) })).ask_id);
  expect((await hive.prompts.list({ status: 'pending', limit: 500 })).items).toHaveLength(kept.length);
});

/** Text that cannot be compressed. */
function contextOf(n: number): string {
  let seed = n + 1;
  return Array.from({ length: 30_000 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (seed % 90));
  }).join('');
}

describe('a server whose clock is not ours', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    ['behind', 3_600_000],
    ['ahead', -3_600_000],
  ])(
    'an hour %s decides all the same: what expires, what is escalated, who is at a desk',
    async (_where, ours_ms) => {
      const skewed = await server();
      const real = Date.now();
      // Only the clock is shifted; timers run as usual.
      vi.useFakeTimers({ toFake: ['Date'], now: real + ours_ms, shouldAdvanceTime: true });
      const hive: OpenedHive = await openTestHive(skewed.address('skew'));
      const desk = await hive.desks.open({
        seat: 'ada@home',
        human: 'ada',
        pid: process.pid,
        client: 'test',
      });
      hive.startExpiry();
      const short = await ask(hive, { timeout_ms: 1_500 });
      const addressed = await ask(hive, { to: 'ada', escalate_after_ms: 1_500 });
      expect(Math.abs(Date.parse(short.created_at) - real)).toBeLessThan(Math.abs(ours_ms) / 2);
      expect(await hive.desks.online()).toHaveLength(1);
      const stored = (ask_id: string) => hive.store.read((tx) => tx.prompts.get(ask_id));
      await eventually(async () => (await stored(short.ask_id))?.status === 'expired');
      await eventually(async () => (await stored(addressed.ask_id))?.escalated_at !== null);
      // By its own clock: not at once, and not an hour late.
      const [expired, escalated] = [await stored(short.ask_id), await stored(addressed.ask_id)];
      expect((expired?.settled_at ?? '') >= (expired?.expires_at ?? 'never')).toBe(true);
      expect((escalated?.escalated_at ?? '') >= (addressed.escalates_at ?? 'never')).toBe(true);
      await desk.close();
    },
  );
});
