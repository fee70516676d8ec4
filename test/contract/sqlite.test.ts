import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { prepareSqliteFile } from '../../src/infrastructure/store/sqlite-file.ts';
import { expectNothingLeft } from '../support/leaks.ts';
import { tempStore } from '../support/temp.ts';
import { describeStoreContract } from './store-contract.ts';

expectNothingLeft();

describeStoreContract('SQLite', {
  freshAddress: async () => tempStore(),
  async openDriver(address) {
    prepareSqliteFile(address);
    return openSqlite(address);
  },
});
