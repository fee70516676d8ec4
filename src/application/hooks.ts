/**
 * What happens when an agent's hook fires: one transaction in which every capability has its say, in a fixed
 * order. A station sees what the ones before it said; it writes what it must and returns its opinion.
 */
import {
  type HookEvent,
  type HookWait,
  isSilent,
  mergeVerdicts,
  NO_OPINION,
  type Verdict,
  type Waited,
} from '../domain/hooks.ts';
import { subagentId } from '../domain/sessions.ts';
import type { Feed } from './feed.ts';
import { sessionOfHook } from './hook-sessions.ts';
import { isOver } from './hook-waits.ts';
import type { Ids, Logger, Processes, Store, WriteTx } from './ports.ts';
import { announcePrint, settlePrints } from './printing.ts';
import type { PromptService } from './prompts.ts';
import type { HookSettings } from './station.ts';
import { stationsFor } from './stations.ts';
import { turnOf } from './turn-records.ts';

/** What to print, and what to say when it is printed; null when nothing depends on it. */
export interface Handled extends Verdict {
  print_id: string | null;
}

export interface HookService {
  /** @throws HiveError when the store cannot be used; whether that fails open is the caller's to decide. */
  handle(event: HookEvent, settings: HookSettings): Promise<Handled>;
  /** The verdict has been printed: what it carries is on its way. */
  printed(handled: Handled): Promise<void>;
}

export interface HookParts {
  store: Store;
  ids: Ids;
  processes: Processes;
  log: Logger;
  /** What a hook needs that waits for the human: asked for by those alone, which are few and in no hurry. */
  waiting: () => Promise<{ feed: Pick<Feed, 'until'>; prompts: Pick<PromptService, 'expireDue'> }>;
}

export function createHooks({ store, waiting, ...parts }: HookParts): HookService {
  /** One round past the stations. The one that wants to wait ends it: those after it have their say when it has waited. */
  async function visitAll(event: HookEvent, settings: HookSettings, waited: Waited | null): Promise<Handled> {
    const stations = await stationsFor(event);
    const round = async (tx: WriteTx): Promise<Handled> => {
      const session = await sessionOfHook(tx, event, settings, parts.processes);
      const proves = await settlePrints(tx, session.session_id);
      let verdict = NO_OPINION;
      for (const station of stations) {
        const visit = { tx, event, session, settings, verdict, waited, proves, ...parts };
        verdict = mergeVerdicts(verdict, await station(visit));
        if (verdict.wait !== null) break;
      }
      const prints = verdict.carries && verdict.wait === null;
      return { ...verdict, print_id: prints ? await announcePrint(tx, session.session_id, parts.ids) : null };
    };
    // Most hooks only note that a tool runs: nobody is told anything by them, so nobody waits for the disk.
    return store.writeReceipt(round, (handled, announced) => announced || !isSilent(handled));
  }

  /** Outside the transaction: the store is everybody's meanwhile. Who is to stop meanwhile waits for nothing. */
  async function waitOut(
    { session_id, agent_id, client_turn_id }: HookEvent,
    wait: HookWait,
    feed: Pick<Feed, 'until'>,
    signal: AbortSignal | undefined,
  ): Promise<Waited> {
    const own = agent_id === null ? session_id : subagentId(session_id, agent_id);
    const turn = await store.read((tx) => turnOf(tx, own, client_turn_id));
    const check = (): Promise<true | undefined> =>
      store.read(async (tx) => ((await isOver(tx, wait, turn?.turn_id ?? null)) ? true : undefined));
    await feed.until(check, { wait_ms: wait.wait_ms, signal });
    return { ...wait, abandoned: signal?.aborted === true };
  }

  return {
    async handle(event, settings) {
      const verdict = await visitAll(event, settings, null);
      const { wait } = verdict;
      if (wait === null) return verdict;
      const { unhurried = (work) => work() } = settings;
      const { feed, prompts } = await waiting();
      const waited = await unhurried((signal) => waitOut(event, wait, feed, signal));
      await prompts.expireDue();
      return visitAll(event, settings, waited);
    },

    async printed({ print_id }) {
      if (print_id !== null) await store.writeReceipt((tx) => tx.prints.remove(print_id));
    },
  };
}
