/**
 * The extensions of this build: separate products, each in a folder of src/extensions/, without which the core works. Only this
 * file and src/cli/extensions.ts name them, which `npm run check` enforces. Each is loaded when it is first used.
 */
import type { LoadRunHandler, OtherMachine } from './application/hook-context.ts';
import type { StoreServer } from './infrastructure/store/sql.ts';

/** The engine for stores on a server. */
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

/** Handles the hooks of agents that `hive run` has started. */
export const runHandler: LoadRunHandler = async (event, settings, own) =>
  (await import('./extensions/runs/hooks.ts')).runHandler(event, settings, own);

/** Passes hooks with `--url` to the other machine. */
export const otherMachine: OtherMachine = {
  async send(args, hook, onWait) {
    const { remoteOf, sendHook } = await import('./extensions/serve/sending.ts');
    return sendHook(remoteOf(args), hook, onWait);
  },
  async awaitWake(args, event, signal) {
    const { awaitWake, remoteOf } = await import('./extensions/serve/sending.ts');
    return awaitWake(remoteOf(args), event, signal);
  },
};
