/**
 * One winner (invariant 2) among real processes over PostgreSQL.
 *
 * @module-tag one-winner
 * @module-tag library
 * @module-tag postgres
 */
import { test } from 'vitest';
import { race, SHORT } from '../support/race.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

test(`${SHORT.processes} processes ask and answer at once: each of ${SHORT.asks} questions is answered once, none is lost`, async () => {
  const server = await sharedPostgres();
  await race(server.address('race'), SHORT);
});
