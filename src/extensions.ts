/**
 * The extensions of this build: products of their own, each in a folder of src/extensions/, which the core works without. Only this
 * file and src/cli/extensions.ts name them (`npm run check` holds that). Each is loaded when it is first used.
 */
import type { LoadRunHandler, OtherMachine } from './application/hook-context.ts';
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

/** The hooks of agents that `hive run` has started. */
export const runHandler: LoadRunHandler = async (event, settings, own) =>
  (await import('./extensions/runs/hooks.ts')).runHandler(event, settings, own);

/** Hooks with `--url`, which another machine handles. */
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
