/**
 * What happens when an agent's hook fires: one transaction in which every capability has its say, in a fixed
 * order. A station sees what the ones before it said; it writes what it must and returns its opinion.
 */
import { dialogOf } from '../domain/dialogs.ts';
import {
  type HookEvent,
  type HookWait,
  isSilent,
  mergeVerdicts,
  NO_OPINION,
  type Verdict,
  type Waited,
} from '../domain/hooks.ts';
import { wasInterrupted } from '../domain/interrupts.ts';
import { isExpired, type Prompt } from '../domain/prompts.ts';
import { subagentId } from '../domain/sessions.ts';
import { deliverAnswers, hookCarrier, releaseCarried } from './delivery.ts';
import { withdrawClosed } from './dialogs.ts';
import type { Feed } from './feed.ts';
import type { HookHandler, HookSettings } from './hook-context.ts';
import { sessionOfHook, settleSession } from './hook-sessions.ts';
import { deliverInterrupts, notifyAborted, releaseAbortNotices } from './interrupts.ts';
import { gateMentions, refusePrompts } from './mention-gate.ts';
import type { Ids, Logger, Processes, ReadTx, Store, WriteTx } from './ports.ts';
import type { PromptService } from './prompts.ts';
import { deliverReports, releaseReports, remindOfReports } from './reports.ts';
import { beginTurns, endTurns, turnOf } from './turns.ts';

/** What to print, and what to say when it is printed; null when nothing depends on it. */
interface Handled extends Verdict {
  print_id: string | null;
}

export interface HookService {
  /** @throws HiveError when the store cannot be used; whether that fails open is the caller's to decide. */
  handle(event: HookEvent, settings: HookSettings): Promise<Handled>;
  /** The verdict has been printed: what it carries is on its way. */
  printed(handled: Handled): Promise<void>;
}

interface HookParts {
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
    const stations = await handlersFor(event);
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
      const { withoutTimeLimit: unhurried = (work) => work() } = settings;
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

// ---------------------------------------------------------------------------
// Who has a say when a hook fires, in this order (hooks.ts).

/** A station that few events concern: whoever starts for one event loads it for those alone. */
interface LazyHookHandler {
  concerns(event: HookEvent): boolean;
  load(): Promise<HookHandler>;
}

/** Only those that are loaded late may wait for the human (`HookParts.waiting`). */
const HOOK_HANDLERS: readonly (HookHandler | LazyHookHandler)[] = [
  refusePrompts,
  beginTurns,
  deliverInterrupts,
  notifyAborted,
  gateMentions,
  withdrawClosed,
  {
    concerns: (event) => dialogOf(event) !== null,
    load: async () => (await import('./dialogs.ts')).answerDialogs,
  },
  remindOfReports,
  {
    concerns: ({ name }) => name === 'Stop' || name === 'SubagentStop',
    load: async () => (await import('./stop-guard.ts')).guardStop,
  },
  deliverAnswers,
  deliverReports,
  endTurns,
  settleSession,
];

/** The stations that an event passes. */
async function handlersFor(event: HookEvent): Promise<HookHandler[]> {
  const stations: HookHandler[] = [];
  for (const station of HOOK_HANDLERS) {
    if (typeof station === 'function') stations.push(station);
    else if (station.concerns(event)) stations.push(await station.load());
  }
  return stations;
}

// ---------------------------------------------------------------------------
// When a hook has waited enough: looked at again and again while it waits, so it reads and writes nothing.

async function isOver(tx: ReadTx, wait: HookWait, turn_id: string | null): Promise<boolean> {
  const { ask_ids, all = false, needs_desk = false } = wait;
  const found = await Promise.all(ask_ids.map((ask_id) => tx.prompts.get(ask_id)));
  const prompts = found.filter((prompt): prompt is Prompt => prompt !== undefined);
  const isOpen = (prompt: Prompt): boolean => prompt.status === 'pending' && !isExpired(prompt, tx.now);
  const open = prompts.filter(isOpen);
  if (open.length === 0) return true;
  const settled = prompts.filter((prompt) => !isOpen(prompt));
  if (all ? settled.some(({ status }) => status !== 'responded') : settled.length > 0) return true;
  if (turn_id !== null && (await isToStop(tx, turn_id))) return true;
  return needs_desk && (await tx.desks.online(tx.now)).length === 0;
}

async function isToStop(tx: ReadTx, turn_id: string): Promise<boolean> {
  const turn = await tx.turns.get(turn_id);
  if (turn === undefined) return false;
  return wasInterrupted(turn) || (await tx.turns.pendingInterrupts(turn_id)).length > 0;
}

// ---------------------------------------------------------------------------
// Between commit and print: what a hook hands over is stamped before it is printed (invariant 1), so a hook
// that is killed in between has stamped what nobody will read. It says beforehand that it is about to print,
// and afterwards that it has. Where it never said so, nothing proves anything, and all is handed again.

/** A hook lives two seconds at most: one that has not printed by then never will. */
const LOST_AFTER_MS = 2_500;

/** Whether an event of this session proves what was handed before: not while another hook may still print it. */
async function settlePrints(tx: WriteTx, session_id: string): Promise<boolean> {
  const prints = await tx.prints.of(session_id);
  if (prints.length === 0) return true;
  const lost_before = new Date(Date.parse(tx.now) - LOST_AFTER_MS).toISOString();
  // A clock that was set back would have it wait for ever.
  const lost = prints.filter(({ at }) => at < lost_before || at > tx.now);
  if (lost.length > 0) {
    const carrier = hookCarrier(session_id);
    await releaseCarried(tx, carrier);
    await releaseReports(tx, carrier);
    await releaseAbortNotices(tx, session_id);
  }
  for (const { print_id } of lost) await tx.prints.remove(print_id);
  return lost.length === prints.length;
}

/** To be told before the transaction ends that hands something over; the id is for saying that it was printed. */
async function announcePrint(tx: WriteTx, session_id: string, ids: Ids): Promise<string> {
  const print_id = ids.make('print');
  await tx.prints.insert({ print_id, session_id, at: tx.now });
  return print_id;
}
