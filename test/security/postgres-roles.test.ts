/**
 * A role of the same PostgreSQL database that was granted nothing: it may connect, and that is all.
 *
 * @module-tag no-authority
 * @module-tag postgres
 * @module-tag library
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { introduce, openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { eventually } from '../support/wait.ts';

let server: SharedPostgres;
beforeFile(async () => {
  server = await sharedPostgres();
  await as('hive', (client) => client.query('CREATE ROLE stranger LOGIN'));
});

async function as<T>(user: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(`postgres://${user}@127.0.0.1:${server.port}/${server.database}`);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A write: it asks something. */
async function ask(hive: OpenedHive): Promise<string> {
  const { prompt } = await hive.prompts.ask({ question: 'Go?' }, await introduce(hive, 'session-1'));
  return prompt.status;
}

describe('a database role without grants', () => {
  test('cannot hold up a write with any lock that it can take', async () => {
    const hive = await openTestHive(server.address('held'));
    await as('stranger', async (client) => {
      await client.query('BEGIN');
      // The number that a writer locked before, which anybody can compute from the name of the schema.
      const number = createHash('sha256').update('hive:held').digest().readBigInt64BE().toString();
      await client.query(`SELECT pg_advisory_lock(${number})`);
      for (const lock of [
        'SELECT 1 FROM held.write_lock FOR UPDATE',
        'LOCK TABLE held.write_lock IN ACCESS SHARE MODE',
        'LOCK TABLE held.events IN ACCESS EXCLUSIVE MODE',
      ]) {
        await client.query('SAVEPOINT before');
        await expect(client.query(lock)).rejects.toThrow(/permission denied/);
        await client.query('ROLLBACK TO before');
      }
      expect(await ask(hive)).toBe('pending');
    });
  });

  test('reads no table and writes none', async () => {
    const hive = await openTestHive(server.address('kept'));
    await ask(hive);
    const tables = await as('hive', async (client) => {
      const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'kept'");
      return rows.map(({ tablename }) => String(tablename));
    });
    expect(tables).toContain('prompts');
    await as('stranger', async (client) => {
      for (const table of tables)
        for (const what of [`SELECT 1 FROM kept.${table}`, `DELETE FROM kept.${table}`])
          await expect(client.query(what), what).rejects.toThrow(/permission denied/);
      await expect(client.query('CREATE TABLE kept.mine (n int)')).rejects.toThrow(/permission denied/);
    });
  });

  test('cannot listen: the channel has a name that it can neither guess nor read', async () => {
    const hive = await openTestHive(server.address('heard'));
    const channel = async (): Promise<string> =>
      as(
        'hive',
        async (client) => (await client.query('SELECT channel FROM heard.write_lock')).rows[0].channel,
      );
    expect(await channel()).toMatch(/^hive_[0-9a-f]{32}$/);
    const own = new pg.Client(`postgres://hive@127.0.0.1:${server.port}/${server.database}`);
    await own.connect();
    let rung = 0;
    own.on('notification', () => {
      rung += 1;
    });
    await own.query(`LISTEN "${await channel()}"`);
    await as('stranger', async (client) => {
      let heard = 0;
      client.on('notification', () => {
        heard += 1;
      });
      await client.query('LISTEN "hive_heard"');
      await expect(client.query('SELECT channel FROM heard.write_lock')).rejects.toThrow(/permission denied/);
      const { rows } = await client.query("SELECT query FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
      expect(JSON.stringify(rows)).not.toContain(await channel());
      await ask(hive);
      // Anybody who knows the name can listen; notifications come in the order of their commits.
      await eventually(() => rung > 0);
      await client.query('SELECT 1');
      expect(heard).toBe(0);
    });
    await own.end();
  });
});
