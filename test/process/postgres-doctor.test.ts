/** What `hive doctor` says about a PostgreSQL store. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shell } from '../support/cli.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharedPostgres();
});
afterAll(() => server.stop());

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

test('a missing server is reported in a sentence', async () => {
  const address = server.address('doctor').replace(/:\d+\//, ':1/');
  const ran = await shell(address).hive('doctor');
  expect(ran.code).toBe(1);
  expect(ran.err).toMatch(/cannot be reached/);
});
