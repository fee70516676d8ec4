import { afterAll, beforeAll } from 'vitest';
import { openPostgresAt } from '../../src/infrastructure/store/postgres.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import { describeStoreContract } from './store-contract.ts';

let server: SharedPostgres;
let hives = 0;
beforeAll(async () => {
  server = await sharedPostgres();
});
afterAll(() => server.stop());

describeStoreContract('PostgreSQL', {
  freshAddress: () => server.freshStore(),
  async missingAddress() {
    hives += 1;
    return server.address(`hive_${hives}`);
  },
  openDriver: async (address) => openPostgresAt(address, {}),
});
