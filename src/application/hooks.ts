/**
 * What happens when an agent's hook fires: one transaction in which every capability has its say, in a fixed
 * order. A station sees what the ones before it said; it writes what it must and returns its opinion.
 */
import { type HookEvent, mergeVerdicts, NO_OPINION, type Verdict } from '../domain/hooks.ts';
import type { Session } from '../domain/sessions.ts';
import { type Place, sessionOfHook } from './hook-sessions.ts';
import type { Ids, Logger, Processes, Store, WriteTx } from './ports.ts';

/** What the person configured for all hooks, by environment (docs/mentions.md, docs/operations.md). */
export interface HookSettings {
  env: Readonly<Record<string, string | undefined>>;
  machine: string;
  /** The hook's own process: its ancestors lead to the client. */
  pid: number;
  place: () => Place;
  /** The last `bytes` of a file, or null where it cannot be read. */
  readTail: (path: string, bytes: number) => string | null;
}

/** One event at one station. */
export interface Visit {
  tx: WriteTx;
  event: HookEvent;
  session: Session;
  settings: HookSettings;
  ids: Ids;
  processes: Processes;
  log: Logger;
  /** What the stations before this one said. */
  verdict: Verdict;
}

export type Station = (visit: Visit) => Promise<Partial<Verdict> | null>;

export interface HookService {
  /** @throws HiveError when the store cannot be used; whether that fails open is the caller's to decide. */
  handle(event: HookEvent, settings: HookSettings): Promise<Verdict>;
}

export interface HookParts {
  store: Store;
  ids: Ids;
  processes: Processes;
  log: Logger;
  stations: readonly Station[];
}

export function createHooks({ store, ids, processes, log, stations }: HookParts): HookService {
  return {
    handle: (event, settings) =>
      store.write(async (tx) => {
        const session = await sessionOfHook(tx, event, { ...settings, processes });
        let verdict = NO_OPINION;
        for (const station of stations) {
          verdict = mergeVerdicts(
            verdict,
            await station({ tx, event, session, settings, ids, processes, log, verdict }),
          );
        }
        return verdict;
      }),
  };
}
