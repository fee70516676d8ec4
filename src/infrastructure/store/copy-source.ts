/** What has to hold of a store before it is copied: it is there, of this version, and nobody works with it. */
import { HiveError } from '../../domain/errors.ts';
import { isRemote } from '../../domain/sessions.ts';
import { processes } from '../platform/processes.ts';
import { SCHEMA_VERSION, tooNew } from './schema-version.ts';
import { type Sql, statement } from './sql.ts';
import { identify } from './store.ts';

const DESKS = statement('SELECT seat, client FROM desks WHERE lease_until > $1');
const CONNECTIONS = statement('SELECT machine, pid FROM connections');

/** @throws HiveError `store_foreign`, `store_too_new`, `invalid_input`. */
export async function checkVersion(sql: Sql, where: string): Promise<void> {
  const { version: found } = await identify(sql);
  if (found > SCHEMA_VERSION) throw tooNew(where, found);
  if (found === 0) throw new HiveError('store_foreign', `There is no store of Hive at ${where} to copy.`);
  if (found < SCHEMA_VERSION)
    throw new HiveError(
      'invalid_input',
      `The store ${where} was last used by an older Hive. Open it once with this one, for example: hive status`,
    );
}

/** @throws HiveError `store_busy` that names who works with it. */
export async function refuseInUse(sql: Sql, now: string, machine: string): Promise<void> {
  const desks = await sql.all(DESKS, [now]);
  const connections = (await sql.all(CONNECTIONS, [])).filter(
    // A connection of `hive serve` bears the machine of its agent; the process is that of the server.
    (connection) =>
      (connection['machine'] !== machine && !isRemote(String(connection['machine']))) ||
      processes.alive(Number(connection['pid'])),
  );
  const users = [
    ...desks.map(({ seat, client }) => `${client} of ${seat}`),
    ...connections.map((connection) => `process ${connection['pid']} on ${connection['machine']}`),
  ];
  if (users.length === 0) return;
  throw new HiveError(
    'store_busy',
    `The store is in use: ${users.slice(0, 5).join(', ')}${users.length > 5 ? ' and others' : ''}. End them first, or say --in-use if they are gone for good. Nothing was copied.`,
  );
}
