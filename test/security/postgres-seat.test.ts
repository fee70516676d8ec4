/**
 * A signed seat, where the rows are in PostgreSQL.
 *
 * @module-tag as-displayed
 * @module-tag provenance
 * @module-tag no-authority
 */
import { afterAll, beforeAll } from 'vitest';
import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { describeSeatContract } from './seat-contract.ts';

let server: SharedPostgres;
let stores = 0;
beforeAll(async () => {
  server = await sharedPostgres();
});
afterAll(() => server.stop());

describeSeatContract('PostgreSQL', ['postgres', 'hook'], {
  async freshAddress() {
    stores += 1;
    return server.address(`seat_${stores}`);
  },
  openDriver: (address) => openPostgresAt(address, {}),
});
