/** A store whose clock differs from this machine's. */
import type { Store } from '../../src/application/ports.ts';
import type { Driver } from '../../src/infrastructure/store/sql.ts';
import { openSqlite } from '../../src/infrastructure/store/sqlite.ts';
import { prepareSqliteFile } from '../../src/infrastructure/store/sqlite-file.ts';
import { openStore } from '../../src/infrastructure/store/store.ts';
import { closedAtEnd } from './lifetime.ts';

/** The store at `path`, with a clock that differs this much from this machine's. */
export async function openWithClock(path: string, ahead_ms: number): Promise<Store> {
  await prepareSqliteFile(path);
  const driver = openSqlite(path);
  const shifted = (now: string): string => new Date(Date.parse(now) + ahead_ms).toISOString();
  const other: Driver = {
    ...driver,
    write: (work, options) => driver.write((sql, now) => work(sql, shifted(now)), options),
    read: (work) => driver.read((sql, now) => work(sql, shifted(now))),
  };
  return closedAtEnd(await openStore(other, path));
}
