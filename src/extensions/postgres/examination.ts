/** The doctor's checks of a PostgreSQL server: its version, its latency, and whether LISTEN works. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Check } from '../../application/world.ts';
import {
  connectPostgres,
  type PostgresAddress,
  type PostgresServer,
  postgresAddress,
  refuseEncoding,
  translatePostgresError,
} from './pool.ts';

const LIMIT_MS = 3_000;
const ROUNDS = 5;
/** Each commit is one round trip and each write three; with a longer round trip an agent's hooks become noticeable. */
const FAR_MS = 50;
/** PostgreSQL 13 was the oldest version with support when this was written. */
const OLDEST = 13;

export async function examinePostgres(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Check[]> {
  const place = postgresAddress(address, env);
  return [await server(place), await doorbell(place)];
}

async function server(place: PostgresAddress): Promise<Check> {
  return withClient(place, place.where, async (client) => {
    const { rows } = await client.query(
      "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding",
    );
    refuseEncoding(String(rows[0]?.encoding), place.where);
    const version = Math.floor(Number(rows[0]?.version) / 10_000);
    const trips: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = performance.now();
      await client.query('SELECT 1');
      trips.push(performance.now() - started);
    }
    const trip = trips.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    return {
      name: 'Store',
      state: version >= OLDEST && trip < FAR_MS ? 'ok' : 'broken',
      text: `PostgreSQL ${version} at ${place.where}, ${trip.toFixed(1)} ms a round trip`,
      advice:
        version < OLDEST
          ? `update the server to PostgreSQL ${OLDEST} or newer`
          : 'it is far away: run hive serve next to the server, and let agents connect over HTTP',
    };
  });
}

async function doorbell(place: PostgresAddress): Promise<Check> {
  return withClient(place.listen, place.where, async (client) => {
    const channel = `hive_doctor_${randomUUID()}`;
    const started = performance.now();
    const arrival = new Promise<boolean>((resolve) => {
      client.once('notification', () => resolve(true));
      setTimeout(() => resolve(false), LIMIT_MS).unref();
    });
    await client.query(`LISTEN "${channel}"`);
    await withClient(place, place.where, (other) => other.query(`SELECT pg_notify('${channel}', '')`));
    const works = await arrival;
    return {
      name: 'Doorbell',
      state: works ? 'ok' : 'broken',
      text: works
        ? `LISTEN works, ${(performance.now() - started).toFixed(0)} ms with connecting`
        : 'LISTEN receives no notification',
      advice:
        'a transaction pooler passes no notifications on: set HIVE_LISTEN_URL to the server itself; until then answers come by polling, up to 0.5 s late',
    };
  });
}

async function withClient<T>(
  address: PostgresServer,
  where: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const limits = {
    application_name: 'hive-doctor',
    connectionTimeoutMillis: LIMIT_MS,
    query_timeout: LIMIT_MS,
  };
  try {
    const client = await connectPostgres(address, limits);
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  } catch (error) {
    throw translatePostgresError(error, where);
  }
}
