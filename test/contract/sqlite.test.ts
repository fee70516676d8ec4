import { expect, onTestFinished, test } from 'vitest';
import { statement } from '../../src/infrastructure/store/sql.ts';
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

test('only a receipt leaves its fsync to the next write', async () => {
  const path = tempStore();
  prepareSqliteFile(path);
  const driver = openSqlite(path);
  onTestFinished(() => driver.close());
  const synchronous = async (receipt: boolean) => {
    const [row] = await driver.write((sql) => sql.all(statement('PRAGMA synchronous'), []), { receipt });
    return row?.['synchronous'];
  };
  const [FULL, NORMAL] = [2, 1];
  expect(await synchronous(false)).toBe(FULL);
  expect(await synchronous(true)).toBe(NORMAL);
  expect(await synchronous(false)).toBe(FULL);
});
