import { afterAll, beforeAll } from 'vitest';
import { openPostgresAt } from '../../src/infrastructure/store/postgres.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { describeStoreContract } from './store-contract.ts';

let server: PostgresServer;
let hives = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeStoreContract('PostgreSQL', {
  async freshAddress() {
    hives += 1;
    return server.address(`hive_${hives}`);
  },
  openDriver: async (address) => openPostgresAt(address, {}),
});
