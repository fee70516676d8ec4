/**
 * The extensions of this build: products of their own, each in a folder of src/extensions/, which the core works without. Only this
 * file and src/cli/extensions.ts name them (`npm run check` holds that). Each is loaded when it is first used.
 */
import type { StoreServer } from './infrastructure/store/sql.ts';

/** The engine of stores that are on a server. */
export const storeServer: StoreServer = {
  async open(address, env, options) {
    const { openPostgresAt } = await import('./extensions/postgres/driver.ts');
    return openPostgresAt(address, env, options);
  },
  async examine(address, env) {
    const { examinePostgres } = await import('./extensions/postgres/examination.ts');
    return examinePostgres(address, env);
  },
};
