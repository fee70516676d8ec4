/**
 * A signed seat, where the rows are in PostgreSQL.
 *
 * @module-tag as-displayed
 * @module-tag provenance
 * @module-tag no-authority
 */

import { openPostgresAt } from '../../src/extensions/postgres/driver.ts';
import { beforeFile } from '../support/lifetime.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { describeSeatContract } from './seat-contract.ts';

let server: SharedPostgres;
beforeFile(async () => {
  server = await sharedPostgres();
});

describeSeatContract('PostgreSQL', ['postgres', 'hook'], {
  freshAddress: async () => server.address(),
  openDriver: (address) => openPostgresAt(address, {}),
});
