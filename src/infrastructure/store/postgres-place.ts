/** Where a hive lies on a PostgreSQL server: which database, and which schema of it. */
import { createHash } from 'node:crypto';
import type { ClientConfig } from 'pg';
import { invalidInput } from '../../domain/errors.ts';

export interface PostgresPlace {
  config: ClientConfig;
  /** Each hive is a schema: its own tables, lock and channel. */
  schema: string;
  /** The advisory lock of its writers, a signed 64-bit number. */
  lock: string;
  channel: string;
  /** Off for a pooler that cannot carry prepared statements over its connections. */
  prepares: boolean;
  /** For LISTEN, which needs a direct connection; a transaction pooler swallows it. */
  listen: ClientConfig;
  /** For people: the address without password. */
  where: string;
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,50}$/;

/**
 * Reads `postgres://user@host/database?schema=team_a&sslmode=verify-full`. A password comes from PGPASSFILE or
 * the environment; one in the URL works and is never shown.
 * @throws HiveError `invalid_input` for an address that is none, or a schema name that needs quoting.
 */
export function postgresPlace(
  address: string,
  env: Readonly<Record<string, string | undefined>> = {},
): PostgresPlace {
  const url = parse(address, 'HIVE_STORE');
  const schema = url.searchParams.get('schema') ?? 'hive';
  if (!SCHEMA.test(schema)) {
    throw invalidInput(
      `The schema "${schema}" in HIVE_STORE is no plain name: use small letters, digits and _, at most 51.`,
    );
  }
  url.searchParams.delete('schema');
  const prepares = preparesAt(url);
  const direct = env['HIVE_LISTEN_URL'];
  const listen = direct === undefined || direct === '' ? url : parse(direct, 'HIVE_LISTEN_URL');
  listen.searchParams.delete('schema');
  listen.searchParams.delete('prepare');
  return {
    config: { connectionString: url.href },
    schema,
    lock: createHash('sha256').update(`hive:${schema}`).digest().readBigInt64BE().toString(),
    channel: `hive_${schema}`,
    prepares,
    listen: { connectionString: listen.href },
    where: `${url.host}${url.pathname}?schema=${schema}`,
  };
}

/** `prepare=off`, which is ours and no parameter of the connection. */
function preparesAt(url: URL): boolean {
  const given = url.searchParams.get('prepare') ?? 'on';
  url.searchParams.delete('prepare');
  if (given !== 'on' && given !== 'off')
    throw invalidInput(`prepare=${given} in HIVE_STORE is neither on nor off.`);
  return given === 'on';
}

function parse(address: string, name: string): URL {
  try {
    return new URL(address);
  } catch {
    throw invalidInput(
      `${name} is no postgres:// URL. It reads like postgres://user@host:5432/database?schema=hive`,
    );
  }
}
