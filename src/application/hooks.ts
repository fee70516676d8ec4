/**
 * The handling of an agent's hook: one transaction that passes the event through every handler, in a fixed order.
 * A handler sees what the earlier ones returned, writes its changes and returns its verdict.
 */

import { dialogOf, endsEdit } from '../domain/dialogs.ts';
import {
  acceptsContext,
  endedBy,
  type HookEvent,
  type HookWait,
  isHumanPrompt,
  isSilent,
  mergeVerdicts,
  NO_OPINION,
  sessionOf,
  type Verdict,
  type Waited,
} from '../domain/hooks.ts';
import type { Preferences } from '../domain/preferences.ts';
import { isExpired, type Prompt } from '../domain/prompts.ts';
import { RUN_VARIABLE, readStart } from '../domain/runs.ts';
import { DISPLACED_TAIL_BYTES, type TranscriptCalls, transcriptNames } from '../domain/transcripts.ts';
import { beside } from './background.ts';
import { announceOutput, deliverAnswers, END_OF_TIME, hookCarrier, reconcileDeliveries } from './delivery.ts';
import { cancelEndedDialogs, withCalls } from './ended-dialogs.ts';
import type { Feed } from './feed.ts';
import type { HookContext, HookHandler, HookSurroundings, LoadRunHandler } from './hook-context.ts';
import { provenEvent, recordSessionState, sessionOfHook, speakerOf, titlesIn } from './hook-sessions.ts';
import type { Speaker } from './identity.ts';
import { deliverInterrupts, notifyAborted, readStopRequest } from './interrupts.ts';
import { noticeLostServer } from './lost-servers.ts';
import { gateMentions, refuseHumanPrompts } from './mention-gate.ts';
import { NoticedRefusal, noticingRefusals } from './notices.ts';
import type { Parts } from './parts.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import type { PromptService } from './prompts.ts';
import { noticeRefusedCalls } from './refused-calls.ts';
import { deliverReports, remindOfReports } from './reports.ts';
import { noticeRoom } from './room.ts';
import type { TitleReport } from './sessions.ts';
import { preferencesAt } from './settings.ts';
import { beginTurns, endFromTranscript, endTurns, isOfTurn, turnOf, whereNow } from './turns.ts';
import { markedAsBlocking } from './waits.ts';

/** The verdict, and the id to report once it is printed; null if nothing depends on that. */
export interface Handled extends Verdict {
  output_id: string | null;
}

interface HookParts extends Pick<Parts, 'store' | 'ids' | 'processes' | 'log'> {
  /** Handles the hooks of a run's agent; null in a build without runs. */
  runHandler: LoadRunHandler | null;
  /** The parts with which a hook waits for the human; loaded only by the few hooks that wait. */
  waiting: () => Promise<{ feed: Pick<Feed, 'until'>; prompts: Pick<PromptService, 'expireDue'> }>;
}

/**
 * In ms: how long a client may take to write how a turn ended, once its next prompt has arrived. The prompt waits for that long
 * if the transcript does not show the end, so it is short.
 */
const PROMPT_LAG_MS = 500;
/**
 * In ms: the same once another event of the next turn has arrived, until that turn's prompt is in the transcript, which a busy
 * machine writes late. Shorter than the time limit of a hook.
 */
const TRANSCRIPT_LAG_MS = 1_200;
/** In ms: how long a conversation that is opened waits for the client in which it is just ending. Shorter than that limit, too. */
const HANDOVER_MS = 1_000;
const RETRY_MS = 20;
const READ_AGAIN = Symbol('the transcript is behind, or another client is ending');

/** Whether the first attempt was less than this many ms ago. */
type IsWithin = (ms: number) => boolean;

/** Repeats what has to be read again. */
async function untilRead<T>(attempt: (isWithin: IsWithin) => Promise<T | typeof READ_AGAIN>): Promise<T> {
  /** The clock is not read earlier than needed, because its first use takes 1.5 ms to load. */
  let began: number | null = null;
  const isWithin: IsWithin = (ms) => {
    began ??= performance.now();
    return performance.now() - began < ms;
  };
  for (;;) {
    const found = await attempt(isWithin);
    if (found !== READ_AGAIN) return found;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/**
 * How long to wait for the client's transcript, in ms. 0 unless an event shows that the running turn was displaced and the
 * transcript does not yet show how. A hook over the connection can be faster than the client's writing, and the recorded end of a
 * turn is final.
 */
async function transcriptLag(tx: ReadTx, event: HookEvent, { readTail }: HookSurroundings): Promise<number> {
  const { session_id, agent_id, client_turn_id } = event;
  if (agent_id !== null || client_turn_id === null || !isOfTurn(event)) return 0;
  const running = await tx.turns.current(session_id);
  const turn = running === undefined ? undefined : whereNow(running, event);
  if (turn === undefined || turn.client_turn_id === null || turn.client_turn_id === client_turn_id) return 0;
  if (turn.transcript_path === null) return 0;
  const prompted = isHumanPrompt(event);
  if ((await endFromTranscript(tx, turn, readTail, { client_turn_id, prompted })) !== null) return 0;
  if (prompted) return PROMPT_LAG_MS;
  const tail = readTail(turn.transcript_path, DISPLACED_TAIL_BYTES);
  return tail !== null && transcriptNames(tail, client_turn_id) ? 0 : TRANSCRIPT_LAG_MS;
}

export type HookService = ReturnType<typeof createHooks>;

export function createHooks({ store, waiting, runHandler, ...parts }: HookParts) {
  const { processes, log, ids } = parts;
  const silences = createSilences(store);

  /** Registers or updates the session of the event, and returns both as the handlers get them. */
  async function contextOf(
    tx: WriteTx,
    reported: HookEvent,
    surroundings: HookSurroundings,
    speaker: Speaker,
    titles: TitleReport,
    waited: Waited | null,
  ): Promise<Omit<HookContext, 'verdict' | 'waited'>> {
    const event = await provenEvent(tx, { event: reported, speaker, processes });
    const hook = { event, surroundings, speaker, processes, waited };
    const session = await sessionOfHook(tx, hook, titles);
    let read: Promise<Preferences> | null = null;
    const preferences = (): Promise<Preferences> => {
      read ??= preferencesAt(tx, surroundings.seat);
      return read;
    };
    return { tx, event, session, surroundings, preferences, store, ...parts };
  }

  /** Runs the handlers in one transaction. A handler that wants to wait ends the round; the next handlers run after the wait. */
  async function runHandlers(
    reported: HookEvent,
    surroundings: HookSurroundings,
    speaker: Speaker,
    waited: Waited | null,
  ): Promise<Handled> {
    const handlers = await handlersFor(reported, surroundings, { store, runHandler });
    const titles = titlesIn(reported, surroundings);
    const round = async (
      tx: WriteTx,
      calls: TranscriptCalls | undefined,
      isWithin: IsWithin,
    ): Promise<Handled | typeof READ_AGAIN> => {
      const context = await contextOf(tx, reported, surroundings, speaker, titles, waited);
      const { event, session } = context;
      if (isTooLate(context, waited)) return { ...NO_OPINION, output_id: null };
      const lag_ms = await transcriptLag(tx, event, surroundings);
      if (lag_ms > 0 && isWithin(lag_ms)) return READ_AGAIN;
      await reconcileDeliveries(tx, event, session.session_id);
      let verdict = NO_OPINION;
      for (const handler of handlers) {
        verdict = mergeVerdicts(verdict, await handler({ ...context, verdict, waited, calls }));
        if (verdict.wait !== null) break;
      }
      const prints = verdict.carries && verdict.wait === null;
      return {
        ...verdict,
        output_id: prints ? await announceOutput(tx, session.session_id, ids) : null,
      };
    };
    // Most hooks only record that a tool runs. They acknowledge nothing and so need not wait for the disk.
    const acknowledges = (handled: Handled | typeof READ_AGAIN, announced: boolean): boolean =>
      announced || (handled !== READ_AGAIN && !isSilent(handled));
    return untilRead((isWithin) =>
      withCalls(reported, surroundings, (calls) =>
        store.writeUnflushed((tx) => round(tx, calls, isWithin), acknowledges),
      ).catch((error: unknown): typeof READ_AGAIN => {
        const isOthers = error instanceof NoticedRefusal && error.code === 'not_allowed';
        if (isOthers && reported.name === 'SessionStart' && isWithin(HANDOVER_MS)) return READ_AGAIN;
        throw error;
      }),
    );
  }

  /** Records an event that was already answered with an empty verdict. */
  async function recordOnly(reported: HookEvent, surroundings: HookSurroundings): Promise<void> {
    const speaker = speakerOf(surroundings, processes);
    const titles = titlesIn(reported, surroundings);
    await withCalls(reported, surroundings, (calls) =>
      store.writeUnflushed(async (tx) => {
        const context = await contextOf(tx, reported, surroundings, speaker, titles, null);
        if (isTooLate(context, null)) return;
        for (const handler of RECORDERS)
          await handler({ ...context, verdict: NO_OPINION, waited: null, calls });
      }),
    );
  }

  /** Runs `work` once the answer was sent. */
  function later(work: () => Promise<void>): void {
    setImmediate(() => void beside(log, 'A hook was not recorded.', work));
  }

  /**
   * Waits outside the transaction, so that others can use the store, and then runs the handlers once more. An interrupted turn
   * stops waiting. A locked or unavailable store does not end the hook while it may wait, because the human may have answered and
   * the client does not ask again.
   */
  async function waitOut(
    event: HookEvent,
    wait: HookWait,
    signal: AbortSignal | undefined,
    pid: number,
    run: (waited: Waited) => Promise<Handled>,
  ): Promise<Handled> {
    const { feed, prompts } = await waiting();
    const end = performance.now() + wait.wait_ms;
    const persist = <T>(work: () => Promise<T | undefined>): Promise<T | undefined> =>
      feed.until(work, { wait_ms: end - performance.now(), signal });
    const own = sessionOf(event);
    const found = await persist(() =>
      store.read(async (tx) => ({ turn: await turnOf(tx, own, event.client_turn_id) })),
    );
    const turn_id = found?.turn?.turn_id ?? null;
    const check = (): Promise<true | undefined> =>
      store.read(async (tx) => ((await isOver(tx, wait, turn_id)) ? true : undefined));
    const { ask_ids, wait_ms, in_terminal } = wait;
    const hook_pid = in_terminal === true ? pid : undefined;
    const waiter = { session_id: own, ask_ids, wait_ms, signal, hook_pid };
    await markedAsBlocking({ store, ids }, waiter, () => persist(check));
    const conclude = async (): Promise<Handled> => {
      await prompts.expireDue();
      return run({ ...wait, ...endedBy(signal) });
    };
    return (await persist(conclude)) ?? conclude();
  }

  return {
    /** @throws HiveError if the store cannot be used; the caller decides whether that fails open. */
    async handle(event: HookEvent, surroundings: HookSurroundings): Promise<Handled> {
      const silence = await silences.of(event, surroundings);
      if (silence?.lasts === true) {
        later(() => noticingRefusals(store, () => recordOnly(event, surroundings)));
        return { ...NO_OPINION, output_id: null };
      }
      // Determined before waiting: a client that stops waiting may first end the shell above the hook.
      const speaker = speakerOf(surroundings, processes);
      const verdict = await noticingRefusals(store, () => runHandlers(event, surroundings, speaker, null));
      if (silence !== null && isSilent(verdict)) later(() => silences.note(silence, event));
      const { wait } = verdict;
      if (wait === null) return verdict;
      const { withoutTimeLimit = (work) => work() } = surroundings;
      return withoutTimeLimit((signal) =>
        waitOut(event, wait, signal, surroundings.pid, (waited) =>
          runHandlers(event, surroundings, speaker, waited),
        ),
      );
    },

    /** Records that the verdict was printed. A report from another machine counts only for sessions whose ids begin with `ids`. */
    async printed({ output_id }: Pick<Handled, 'output_id'>, ids?: string): Promise<void> {
      if (output_id !== null) await store.writeUnflushed((tx) => tx.hookOutputs.remove(output_id, ids));
    },
  };
}

/** Whether the session of an event has ended. Only its end, and a dialog that has waited, still have something to conclude. */
function isTooLate(
  { event, session }: Pick<HookContext, 'event' | 'session'>,
  waited: Waited | null,
): boolean {
  return session.state === 'ended' && waited === null && event.name !== 'SessionEnd';
}

// ---- The handlers, in their order ----

/** A handler for a few events only; a process that handles one event loads it only for these. */
interface LazyHookHandler {
  concerns(event: HookEvent, surroundings: HookSurroundings): boolean;
  /** Called before the transaction, so that slow work does not block others. */
  load(event: HookEvent, surroundings: HookSurroundings, parts: LoadParts): Promise<HookHandler>;
}

type LoadParts = Pick<HookParts, 'store' | 'runHandler'>;

/** Only lazy handlers may wait for the human (`HookParts.waiting`). */
const HOOK_HANDLERS: readonly (HookHandler | LazyHookHandler)[] = [
  noticeLostServer,
  refuseHumanPrompts,
  beginTurns,
  deliverInterrupts,
  notifyAborted,
  gateMentions,
  cancelEndedDialogs,
  {
    concerns: (event, surroundings) => isOfRun(surroundings) || dialogOf(event) !== null,
    async load(event, surroundings, { runHandler }) {
      const own = readStart(surroundings.env[RUN_VARIABLE]);
      if (own !== null && runHandler !== null) return runHandler(event, surroundings, own);
      return (await import('./hook-dialogs.ts')).dialogHandler(event, surroundings);
    },
  },
  {
    concerns: (event, { editTools }) => editTools !== undefined && endsEdit(event),
    load: async (event, surroundings, { store }) =>
      (await import('./edits.ts')).editHandler(event, surroundings, store),
  },
  remindOfReports,
  {
    concerns: ({ name }) => name === 'Stop' || name === 'SubagentStop',
    load: async () => (await import('./stop-guard.ts')).guardStop,
  },
  deliverAnswers,
  deliverReports,
  noticeRoom,
  noticeRefusedCalls,
  endTurns,
  recordSessionState,
];

/** The handlers that record something. If the event was already answered, only these run. */
const RECORDERS: readonly HookHandler[] = [beginTurns, cancelEndedDialogs, endTurns, recordSessionState];

/** Whether a run's agent has this hook. Its handler sees every event. */
const isOfRun = ({ env }: HookSurroundings): boolean => readStart(env[RUN_VARIABLE]) !== null;

/** The handlers of an event, in order. */
async function handlersFor(
  event: HookEvent,
  surroundings: HookSurroundings,
  parts: LoadParts,
): Promise<HookHandler[]> {
  const handlers: HookHandler[] = [];
  for (const handler of HOOK_HANDLERS) {
    if (typeof handler === 'function') handlers.push(handler);
    else if (handler.concerns(event, surroundings))
      handlers.push(await handler.load(event, surroundings, parts));
  }
  return handlers;
}

// ---- Answering before recording ----
// Nearly all hooks of a working agent return an empty verdict and record that a tool runs, which the agent need not wait for.
// Everything that can reach an agent is an event in the log. So if a kind of hook had an empty verdict, it still has one while
// the log has not grown, unless something is under way that depends on the time or on other processes.

/** More than any client has agents at once; at this number the memory is cleared. */
const MOST_SILENCES = 1_000;

interface Silence {
  /** The kind of event. */
  key: string;
  /** The number of the newest event, read before the handlers run: an event of their own ends the silence. */
  head: number;
  lasts: boolean;
}

function createSilences(store: Store) {
  /** By key: the number of the newest event. */
  const heads = new Map<string, number>();

  return {
    /** Whether this kind of event in this session still has an empty verdict; null if it must be recorded before it is answered. */
    async of(event: HookEvent, surroundings: HookSurroundings): Promise<Silence | null> {
      if (surroundings.answers_first !== true || !isPlain(event) || isOfRun(surroundings)) return null;
      const { session_id, agent_id, client_turn_id, name, pid } = event;
      const key = JSON.stringify([session_id, agent_id, client_turn_id, name, pid, acceptsContext(event)]);
      const head = await store.read((tx) => tx.events.head());
      return { key, head, lasts: heads.get(key) === head };
    },

    /** Remembers that the verdict was empty, unless the log has grown since. */
    async note({ key, head }: Silence, event: HookEvent): Promise<void> {
      const holds = await store.read(
        async (tx) => head === (await tx.events.head()) && (await isNothingUnderWay(tx, sessionOf(event))),
      );
      if (heads.size >= MOST_SILENCES) heads.clear();
      if (holds) heads.set(key, head);
      else heads.delete(key);
    },
  };
}

/** Whether the event's tool is neither ours nor a dialog, starts no agent in the background, and has edited no file. */
function isPlain(event: HookEvent): boolean {
  const { name, tool, background_agents } = event;
  if (name !== 'PreToolUse' && name !== 'PostToolUse' && name !== 'PostToolUseFailure') return false;
  // The call itself follows at once and is identified by the record of its hook.
  if (tool === null || tool.own !== null) return false;
  return background_agents.length === 0 && dialogOf(event) === null && !endsEdit(event);
}

/** Whether the session has no mentions and no unproved deliveries, which also depend on time and on other processes. */
async function isNothingUnderWay(tx: ReadTx, session_id: string): Promise<boolean> {
  return (
    (await tx.mentions.countUnprocessed(session_id)).count === 0 &&
    (await tx.deliveries.carriedBy(hookCarrier(session_id), END_OF_TIME)).length === 0 &&
    (await tx.prompts.uncollectedOf(session_id, 1)).length === 0
  );
}

// ---- When a hook has waited long enough ----
// These checks run repeatedly during the wait, so they read little and write nothing.

async function isOver(tx: ReadTx, wait: HookWait, turn_id: string | null): Promise<boolean> {
  const { ask_ids, all = false, needs_desk = false } = wait;
  const found = await Promise.all(ask_ids.map((ask_id) => tx.prompts.get(ask_id)));
  const prompts = found.filter((prompt): prompt is Prompt => prompt !== undefined);
  const isOpen = (prompt: Prompt): boolean => prompt.status === 'pending' && !isExpired(prompt, tx.now);
  const open = prompts.filter(isOpen);
  if (open.length === 0) return true;
  const settled = prompts.filter((prompt) => !isOpen(prompt));
  if (all ? settled.some(({ status }) => status !== 'responded') : settled.length > 0) return true;
  if (turn_id !== null && (await readStopRequest(tx, turn_id)) !== null) return true;
  return needs_desk && (await tx.desks.online(tx.now)).length === 0;
}
