/** The findings of `hive doctor` about a PostgreSQL store. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { beforeFile, whenFinished } from '../support/lifetime.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { tempStore } from '../support/temp.ts';

let server: SharedPostgres;
beforeFile(async () => {
  server = await sharedPostgres();
});

interface Said {
  name: string;
  state: string;
  text: string;
}

test('the doctor reports version and latency, never the password, and receives notifications', async () => {
  const address = server.address('doctor').replace('hive@', 'hive:geheim@');
  const ran = await shell(address).hive('doctor', '--json');
  const checks = ran.json().checks as Said[];
  const store = checks.find(({ name }) => name === 'Store');
  const [, trip] =
    /^PostgreSQL \d+ at 127\.0\.0\.1:\d+.*, (\d+\.\d) ms a round trip$/.exec(store?.text ?? '') ?? [];
  // A busy machine may take longer than the 50 ms from which a server counts as far away.
  expect(store?.state === 'ok' ? Number(trip) <= 50 : Number(trip) >= 50).toBe(true);
  expect(checks.find(({ name }) => name === 'Doorbell')).toMatchObject({ state: 'ok' });
  expect(ran.out + ran.err).not.toContain('geheim');
});

test('a missing server is a failed check, with a sentence, and hides no other check', async () => {
  const address = server.address('doctor').replace(/:\d+\//, ':1/');
  const ran = await shell(address).hive('doctor');
  expect(ran.code).toBe(1);
  expect(ran.out).toMatch(/^\S+ +Store +.*cannot be reached/m);
  expect(ran.out).toMatch(/^ok +Node /m);
  expect(ran.err).toBe('');
});

test.each(['LATIN1', 'SQL_ASCII'])(
  'a database with the encoding %s is refused, before anything is made',
  async (encoding) => {
    const database = `${server.database}_${encoding.toLowerCase()}`;
    const admin = new pg.Client(server.address('any').replace(/\?.*/, ''));
    await admin.connect();
    whenFinished(async () => {
      await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await admin.end();
    });
    await admin.query(`CREATE DATABASE ${database} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`);
    const address = server.address('team').replace(server.database, database);
    const person = shell(address);
    const sentence = `has the encoding ${encoding}`;
    const asked = await person.hive('ask', 'Plain?');
    expect(asked).toMatchObject({ out: '', err: expect.stringContaining(sentence) });
    expect(asked.code).not.toBe(0);
    const checks = (await person.hive('doctor', '--json')).json().checks as Said[];
    expect(checks.find(({ name }) => name === 'Store')).toMatchObject({
      state: 'broken',
      text: expect.stringMatching(new RegExp(`${sentence}.*CREATE DATABASE`)),
    });
    const copied = await shell(tempStore()).hive('store', 'migrate', '--to', address);
    expect(copied).toMatchObject({ code: 1 });
    const there = new pg.Client(address.replace(/\?.*/, ''));
    await there.connect();
    const { rows } = await there.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'team%'");
    await there.end();
    expect(rows).toEqual([]);
  },
);
