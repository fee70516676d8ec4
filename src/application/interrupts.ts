/**
 * Interrupts: stopping a turn, and waiting until it has stopped. The request is stored first, so any number of askers in any
 * number of processes wait for the same rows, and the end of the turn answers them all in its own transaction. Codex is also
 * stopped through its socket, which is faster. The hook handlers deliver the stop: hooks.ts runs `deliverInterrupts` at the
 * agent's next tool call, and `recordTurnEnd` of turns.ts settles the request.
 */

import { type Actor, refuse } from '../domain/actors.ts';
import { collect } from '../domain/delivery.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { Verdict } from '../domain/hooks.ts';
import {
  abortNotice,
  INTERRUPT_LIMITS,
  type Interrupt,
  type InterruptOutcome,
  interruptedBy,
  outcomeOf,
  pleaseStop,
  refusalToInterrupt,
  saidToStop,
  stopLostSentence,
  stopPrinted,
  stopSentence,
  stopWasLost,
  wasInterrupted,
  withdrawInterrupt,
} from '../domain/interrupts.ts';
import { boundedOptional } from '../domain/limits.ts';
import { hostOf, runsInside, type Session, threadOf } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import { cleanOptional } from '../domain/text.ts';
import { ENDED_WITH_SESSION, type Turn } from '../domain/turns.ts';
import { beside } from './background.ts';
import { hand, hookCarrier, isCarried } from './delivery.ts';
import { cancelReturned } from './ended-dialogs.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import { runsStill } from './identity.ts';
import { giveNotice } from './notices.ts';
import type { Parts } from './parts.ts';
import type { ReadTx, WriteTx } from './ports.ts';
import { endSession, findSession, recordFoundEnd } from './sessions.ts';
import { endFromTranscript, recordTurnEnd, turnOf } from './turns.ts';
import type { Ids } from './world.ts';

/** A request to stop a turn, or the interrupt that stopped it. */
export interface StopRequest {
  /** The human or coordinator who interrupts. */
  by: string;
  /** Why; at most 2,000 characters. */
  note: string | null;
}

/** A session's handle, and its title for people. */
interface Called {
  handle: string;
  called: string;
}

/** The result for one of many sessions. */
export type OneOfAll =
  | (InterruptOutcome & Called)
  | ({ session_id: string; turn_id: string; error: HiveError } & Called);

const ALL_LIMIT = 1_000;

type InterruptParts = Pick<
  Parts,
  'store' | 'feed' | 'ids' | 'processes' | 'files' | 'codex' | 'machine' | 'seat' | 'log'
>;

export function createInterrupts(parts: InterruptParts) {
  const { store, feed } = parts;
  const turnWatch = createTurnWatch(parts);
  const closing = new AbortController();
  const push = createPush(parts, closing.signal);

  /** Closes a turn that has ended without a hook. */
  async function checkCurrentTurn(handle_or_id: string): Promise<void> {
    const current = await store.read(async (tx) => {
      const session = await findSession(tx, handle_or_id);
      return tx.turns.current(session.session_id);
    });
    if (current !== undefined) await turnWatch.check(current.turn_id);
  }

  async function wait(
    interrupt: Interrupt,
    wait_ms: number,
    asker: AbortSignal | undefined,
  ): Promise<SettledInterrupt> {
    const { interrupt_id } = interrupt;
    const signal = asker === undefined ? closing.signal : AbortSignal.any([closing.signal, asker]);
    const check = (): Promise<SettledInterrupt | undefined> =>
      store.read((tx) => readSettled(tx, interrupt_id));
    const settled = await feed.until(check, { wait_ms, signal });
    if (settled !== undefined) return settled;
    if (signal.aborted) {
      const { turn_id } = interrupt;
      const message = `This call no longer waits for the end of ${turn_id}. The interrupt stays in force.`;
      throw new HiveError('cancelled', message, { turn_id });
    }
    return store.write((tx) => giveUp(tx, interrupt_id));
  }

  const service = {
    /** @throws HiveError `session_not_found`, `turn_not_current`, `no_turn`, `not_allowed`; `cancelled` when withdrawn. */
    async interrupt(request: InterruptRequest): Promise<InterruptOutcome> {
      const started = performance.now();
      const wait_ms = checkedWait(request);
      await checkCurrentTurn(request.session);
      const { interrupt, turn, session, pushes } = await store.write(async (tx) => {
        const taken = await recordRequest(tx, request, parts);
        return { ...taken, pushes: await push.claim(tx, taken) };
      });
      const waited = (): number => performance.now() - started;
      if (interrupt === null) return outcomeOf(turn, null, waited());
      if (interrupt.state !== 'pending') return outcomeFor({ interrupt, turn }, waited());
      const pushed = pushes ? push.send(interrupt, turn, session) : undefined;
      const unwatch = turnWatch.watch(turn.turn_id);
      try {
        const settled = await wait(interrupt, wait_ms, request.signal);
        // A hook may have settled it, and the asker's process may end with this call: it must not take the push with it.
        await pushed;
        return outcomeFor(settled, waited());
      } finally {
        unwatch();
      }
    },

    /** Interrupts every running turn, except those of subagents that stop with their parent. Resolves when all have answered. */
    async interruptAll(
      request: Pick<InterruptRequest, 'note' | 'timeout_ms' | 'actor' | 'signal'>,
    ): Promise<OneOfAll[]> {
      const running = await store.read(async (tx) => {
        const turns = await tx.turns.running(ALL_LIMIT);
        const all = await Promise.all(
          turns.map(async (turn) => ({ turn, session: await tx.sessions.get(turn.session_id) })),
        );
        const busy = new Map(all.map(({ turn, session }) => [turn.session_id, session]));
        return all.filter(({ session }) => session === undefined || !stopsWithParent(session, busy));
      });
      const one = async (turn: Turn, session: Session | undefined): Promise<OneOfAll> => {
        const { session_id, turn_id } = turn;
        const handle = session?.handle ?? session_id;
        const called = session === undefined ? handle : labelled(session);
        try {
          return {
            ...(await service.interrupt({ ...request, session: session_id, turn_id })),
            handle,
            called,
          };
        } catch (error) {
          if (!(error instanceof HiveError)) throw error;
          return { session_id, turn_id, handle, called, error };
        }
      };
      return Promise.all(running.map(({ turn, session }) => one(turn, session)));
    },

    /** Withdraws pending requests: one, or all for a turn. Their askers get `cancelled`. */
    cancel: (which: Withdrawal): Promise<Interrupt[]> => store.write((tx) => withdrawRequests(tx, which)),
    /** The request to stop this turn; null when there is none. */
    stopRequestFor: (turn_id: string): Promise<StopRequest | null> =>
      store.read((tx) => readStopRequest(tx, turn_id)),

    /** Resolves when somebody wants this turn stopped; with null when it ends by itself, or `asker` fires first. */
    async untilInterrupted(turn_id: string, asker: AbortSignal): Promise<StopRequest | null> {
      const signal = AbortSignal.any([closing.signal, asker]);
      const check = (): Promise<{ request: StopRequest | null } | undefined> =>
        store.read(async (tx) => {
          const request = await readStopRequest(tx, turn_id);
          const isOver = request !== null || (await tx.turns.get(turn_id))?.state !== 'in_progress';
          return isOver ? { request } : undefined;
        });
      const found = await feed.until(check, { wait_ms: Number.POSITIVE_INFINITY, signal });
      return found?.request ?? null;
    },

    /** Ends the running turns on this machine that have ended without a hook. */
    async endUnreported(): Promise<void> {
      const running = await store.read((tx) => tx.turns.running(ALL_LIMIT));
      for (const { turn_id } of running) await turnWatch.check(turn_id);
    },

    /** Rejects all waits with `cancelled`. */
    close(): void {
      turnWatch.close();
      closing.abort();
    },
  };
  return service;
}

/** Whether interrupting another of the busy sessions stops this one: it is a subagent that works for its running parent. */
function stopsWithParent(session: Session, busy: ReadonlyMap<string, Session | undefined>): boolean {
  const host = busy.get(hostOf(session));
  return host !== undefined && runsInside(session, host);
}

function outcomeFor({ interrupt, turn }: SettledInterrupt, waited_ms: number): InterruptOutcome {
  if (interrupt.state === 'withdrawn')
    throw new HiveError('cancelled', `The interrupt was withdrawn by ${interrupt.withdrawn_by}.`, {
      turn_id: turn.turn_id,
    });
  return outcomeOf(turn, interrupt.interrupt_id, waited_ms);
}

// ---- Requests, inside a transaction ----

export interface InterruptRequest {
  /** The handle or id of the session. */
  session: string;
  /** Missing: the turn that is running now. */
  turn_id?: string | null | undefined;
  note?: string | null | undefined;
  /** How long to wait, in ms; then the answer is `unconfirmed`, and the request stays in force. Default 10 minutes. */
  timeout_ms?: number | null | undefined;
  /** A request with the same id, as after a restart, is the same request. */
  interrupt_id?: string | null | undefined;
  actor: Actor;
  /** Aborted when the asker goes away; this ends the wait, not the interrupt. */
  signal?: AbortSignal | undefined;
}

/** A stored request with its turn; without an interrupt if that turn was already interrupted. */
interface Taken {
  interrupt: Interrupt | null;
  turn: Turn;
  session: Session;
}

/** Stores a request. @throws HiveError `session_not_found`, `turn_not_current`, `no_turn`, `not_allowed`. */
async function recordRequest(
  tx: WriteTx,
  request: InterruptRequest,
  { ids, seat }: Pick<InterruptParts, 'ids' | 'seat'>,
): Promise<Taken> {
  const session = await findSession(tx, request.session);
  refuse(refusalToInterrupt(request.actor, session));
  const repeated = request.interrupt_id == null ? undefined : await tx.turns.interrupt(request.interrupt_id);
  if (repeated !== undefined) {
    const turn = await tx.turns.get(repeated.turn_id);
    if (turn === undefined || repeated.session_id !== session.session_id)
      throw invalidInput(`The interrupt_id ${repeated.interrupt_id} was already used for another session.`);
    return { interrupt: repeated, turn, session };
  }
  const current = await tx.turns.current(session.session_id);
  const turn = request.turn_id == null ? current : await tx.turns.get(request.turn_id);
  if (turn === undefined && request.turn_id == null) throw await noTurn(tx, session, seat);
  const isOwn = turn?.session_id === session.session_id;
  if (isOwn && wasInterrupted(turn)) return { interrupt: null, turn, session };
  if (!isOwn || turn.state !== 'in_progress') throw notCurrent(session, request.turn_id ?? null, current);
  return { interrupt: await storeRequest(tx, request, turn, ids), turn, session };
}

async function storeRequest(
  tx: WriteTx,
  request: InterruptRequest,
  turn: Turn,
  ids: Ids,
): Promise<Interrupt> {
  const { actor, interrupt_id } = request;
  const interrupt: Interrupt = {
    interrupt_id: interrupt_id ?? ids.make('interrupt'),
    session_id: turn.session_id,
    turn_id: turn.turn_id,
    by: actor.by,
    via: actor.via,
    note: cleanOptional(request.note),
    asked_at: tx.now,
    state: 'pending',
    outcome: null,
    settled_at: null,
    withdrawn_by: null,
    unconfirmed_at: null,
    pushed_at: null,
  };
  await tx.turns.insertInterrupt(interrupt);
  await append(tx, 'asked', interrupt);
  return interrupt;
}

/** Reads once more and records `unconfirmed` in one transaction, so that the turn cannot end in between. */
async function giveUp(tx: WriteTx, interrupt_id: string): Promise<SettledInterrupt> {
  const interrupt = await tx.turns.interrupt(interrupt_id);
  const turn = interrupt === undefined ? undefined : await tx.turns.get(interrupt.turn_id);
  if (interrupt === undefined || turn === undefined)
    throw new HiveError('turn_not_found', `The interrupt ${interrupt_id} is gone.`);
  if (interrupt.state !== 'pending' || interrupt.unconfirmed_at !== null) return { interrupt, turn };
  const unconfirmed = { ...interrupt, unconfirmed_at: tx.now };
  await update(tx, 'unconfirmed', unconfirmed);
  return { interrupt: unconfirmed, turn };
}

type Withdrawal = Pick<InterruptRequest, 'session' | 'turn_id' | 'interrupt_id' | 'actor'>;

/** Withdraws one request, or all for a turn; returns those that were pending. */
async function withdrawRequests(tx: WriteTx, which: Withdrawal): Promise<Interrupt[]> {
  const session = await findSession(tx, which.session);
  refuse(refusalToInterrupt(which.actor, session));
  const { interrupt_id, actor } = which;
  const turn_id = which.turn_id ?? (await tx.turns.current(session.session_id))?.turn_id;
  const pending = turn_id === undefined ? [] : await tx.turns.pendingInterrupts(turn_id);
  const withdrawn = pending
    .filter((interrupt) => interrupt.session_id === session.session_id)
    .filter((interrupt) => interrupt_id == null || interrupt.interrupt_id === interrupt_id)
    .map((interrupt) => withdrawInterrupt(interrupt, actor.by, tx.now));
  for (const interrupt of withdrawn) await update(tx, 'withdrawn', interrupt);
  return withdrawn;
}

/** A request and its turn. */
interface SettledInterrupt {
  interrupt: Interrupt;
  turn: Turn;
}

/** The request once it is settled; undefined while it is pending. */
async function readSettled(tx: ReadTx, interrupt_id: string): Promise<SettledInterrupt | undefined> {
  const interrupt = await tx.turns.interrupt(interrupt_id);
  if (interrupt === undefined || interrupt.state === 'pending') return undefined;
  const turn = await tx.turns.get(interrupt.turn_id);
  return turn === undefined ? undefined : { interrupt, turn };
}

/** The request to stop this turn, or the interrupt that stopped it; null if there is none. */
export async function readStopRequest(tx: ReadTx, turn_id: string): Promise<StopRequest | null> {
  const turn = await tx.turns.get(turn_id);
  if (turn === undefined) return null;
  if (wasInterrupted(turn)) return { by: turn.by ?? 'client', note: turn.note };
  const session = turn.state === 'in_progress' ? await tx.sessions.get(turn.session_id) : undefined;
  const asked = session === undefined ? null : await pendingRequestFor(tx, turn, session);
  return asked === null ? null : { by: asked.by, note: asked.note };
}

/** The first request to stop this running turn of the session, or the turn that the subagent works for. */
export async function pendingRequestFor(
  tx: ReadTx,
  { turn_id }: Turn,
  session: Session,
): Promise<Interrupt | null> {
  const [own] = await tx.turns.pendingInterrupts(turn_id);
  if (own !== undefined) return own;
  const host_id = hostOf(session);
  const host = host_id === session.session_id ? undefined : await tx.sessions.get(host_id);
  if (host === undefined || !runsInside(session, host)) return null;
  const parent = await tx.turns.current(host_id);
  const [above] = parent === undefined ? [] : await tx.turns.pendingInterrupts(parent.turn_id);
  return above ?? null;
}

type Change = 'asked' | 'unconfirmed' | 'withdrawn' | 'pushed';

async function update(tx: WriteTx, change: Change, interrupt: Interrupt): Promise<void> {
  await tx.turns.updateInterrupt(interrupt);
  await append(tx, change, interrupt);
}

async function append(tx: WriteTx, change: Change, interrupt: Interrupt): Promise<void> {
  const { session_id, turn_id: subject, interrupt_id, by, via, note, withdrawn_by } = interrupt;
  const data = { change, interrupt_id, by, via, note, ...(withdrawn_by === null ? {} : { withdrawn_by }) };
  await tx.events.append({ type: 'turn/interrupt', session_id, subject, data });
}

/** How long the asker waits, in ms. @throws HiveError `invalid_input`. */
function checkedWait(request: InterruptRequest): number {
  const { minTimeoutMs, defaultTimeoutMs, maxTimeoutMs, note } = INTERRUPT_LIMITS;
  const wait_ms = request.timeout_ms ?? defaultTimeoutMs;
  if (!Number.isFinite(wait_ms) || wait_ms < minTimeoutMs || wait_ms > maxTimeoutMs)
    throw invalidInput(`timeout_ms is ${wait_ms}: it must be between 0 and ${maxTimeoutMs} (24 hours).`);
  boundedOptional('note', request.note, note);
  return wait_ms;
}

async function noTurn(tx: ReadTx, session: Session, seat: string): Promise<HiveError> {
  const { session_id } = session;
  const runs = await tx.runs.open(seat);
  const run = runs.find((one) => one.session_id === session_id && one.status === 'sleeping');
  const state =
    run === undefined
      ? 'is idle; nothing to interrupt.'
      : `sleeps; nothing to interrupt. To end its run: hive runs --stop ${run.run_id}`;
  return new HiveError('no_turn', `${labelled(session)} ${state}`, { session_id });
}

function notCurrent(session: Session, turn_id: string | null, current: Turn | undefined): HiveError {
  const { session_id } = session;
  const runs = current === undefined ? 'nothing is running there' : `the running turn is ${current.turn_id}`;
  return new HiveError(
    'turn_not_current',
    `${turn_id} is not the current turn of ${labelled(session)}: ${runs}. Nothing was interrupted.`,
    {
      session_id,
      turn_id,
      current: current?.turn_id ?? null,
    },
  );
}

// ---- Watching a turn that no hook reports on ----
// Esc at the terminal fires no hook, and neither does a killed client. The transcript and the process reveal both, so they are
// checked once a second while anybody in this process waits, with one check for all waits, and by the sweep of a sidecar.

const CHECK_EVERY_MS = 1_000;

function createTurnWatch({ store, processes, files, machine, log }: InterruptParts) {
  const watched = new Map<string, { count: number; timer: NodeJS.Timeout }>();

  /** Checks once, and ends a turn that has ended without a hook. */
  async function check(turn_id: string): Promise<void> {
    const seen = await store.read(async (tx) => {
      const turn = await tx.turns.get(turn_id);
      const session = turn === undefined ? undefined : await tx.sessions.get(turn.session_id);
      const host = session === undefined ? undefined : await tx.sessions.get(hostOf(session));
      if (turn?.state !== 'in_progress' || session?.machine !== machine) return null;
      const end = await endFromTranscript(tx, turn, files.readTail);
      const dead = host !== undefined && host.pid !== null && !(await runsStill(tx, host, processes));
      return end === null && !dead ? { turn } : { turn, end, host };
    });
    if (seen === null) return;
    if (seen.end === undefined) return cancelReturned(store, files, seen.turn);
    await store.write(async (tx) => {
      const turn = await tx.turns.get(turn_id);
      if (turn === undefined) return;
      if (seen.end !== null) await recordFoundEnd(tx, turn, seen.end);
      const host = seen.host === undefined ? undefined : await tx.sessions.get(seen.host.session_id);
      // Another process may have resumed it since then.
      if (host?.pid == null || (await runsStill(tx, host, processes))) return;
      await recordTurnEnd(tx, (await tx.turns.get(turn_id)) ?? turn, ENDED_WITH_SESSION);
      await endSession(tx, host);
    });
  }

  /** Checks repeatedly until the returned function is called. */
  function watch(turn_id: string): () => void {
    const known = watched.get(turn_id);
    if (known === undefined) {
      const failure = 'A turn could not be checked; trying again.';
      const timer = setInterval(
        () => void beside(log, failure, () => check(turn_id), { turn_id }),
        CHECK_EVERY_MS,
      );
      watched.set(turn_id, { count: 1, timer });
    } else known.count += 1;
    let watching = true;
    return () => {
      const entry = watched.get(turn_id);
      if (!watching || entry === undefined) return;
      watching = false;
      entry.count -= 1;
      if (entry.count > 0) return;
      clearInterval(entry.timer);
      watched.delete(turn_id);
    };
  }

  return {
    check,
    watch,
    close(): void {
      for (const { timer } of watched.values()) clearInterval(timer);
      watched.clear();
    },
  };
}

// ---- Pushing an interrupt ----
// In addition to waiting for the next hook, the asking process stops Codex through its control socket, once per turn. If it fails
// or dies, the hooks still deliver the interrupt.

/** After `closing` the store is closed, so a late answer from Codex is left to the hooks. */
function createPush({ store, codex, machine, log }: InterruptParts, closing: AbortSignal) {
  async function release({ interrupt_id }: Interrupt): Promise<void> {
    await store.write(async (tx) => {
      const own = await tx.turns.interrupt(interrupt_id);
      if (own?.state === 'pending') await tx.turns.updateInterrupt({ ...own, pushed_at: null });
    });
  }

  async function interruptCodex(
    interrupt: Interrupt,
    { turn_id, client_turn_id }: Turn,
    session: Session,
  ): Promise<void> {
    if (client_turn_id === null) return;
    const thread_id = threadOf(session);
    const stopped = await (await codex()).interrupt({ thread_id, client_turn_id });
    // Without an answer, the push may still end the turn: a tool that is slow to stop delays the answer.
    if (closing.aborted || stopped === null) return;
    if (!stopped) return release(interrupt);
    // Its Interrupt hook may have reported the end already; then there is nothing left to do.
    await store.write(async (tx) => {
      const turn = await tx.turns.get(turn_id);
      if (turn !== undefined) await recordTurnEnd(tx, turn, interruptedBy(interrupt));
    });
  }

  return {
    /**
     * Records the push before it happens, for one process only: if the turn ends after that, this interrupt ended it, not the
     * terminal. False if there is nothing to push, or another process does it.
     */
    async claim(tx: WriteTx, { interrupt, turn, session }: Taken): Promise<boolean> {
      const { client_turn_id, turn_id } = turn;
      if (session.machine !== machine || session.client !== 'codex' || client_turn_id === null) return false;
      if (interrupt?.state !== 'pending') return false;
      const pending = await tx.turns.pendingInterrupts(turn_id);
      if (pending.some(({ pushed_at }) => pushed_at !== null)) return false;
      await update(tx, 'pushed', { ...interrupt, pushed_at: tx.now });
      return true;
    },

    /** Sends what was claimed. Resolves when Codex has answered, or will not; never rejects. */
    send(interrupt: Interrupt, turn: Turn, session: Session): Promise<void> {
      return beside(log, 'An interrupt could not be pushed; the next hook delivers it.', () =>
        interruptCodex(interrupt, turn, session),
      );
    },
  };
}

// ---- Hook handlers ----
// How an interrupt reaches a client through its hooks, and how the session is notified afterwards. docs/turns.md
// describes what each client accepts, and how it reacts.

/** Runs before the gates, because nothing else matters for a turn that must stop. */
export const deliverInterrupts: HookHandler = async (context) => {
  const { tx, event, session } = context;
  const turn = await turnOf(tx, session.session_id, event.client_turn_id);
  if (turn === undefined) return null;
  const asked = turn.state === 'in_progress' ? await pendingRequestFor(tx, turn, session) : null;
  const stopped = wasInterrupted(turn) && turn.stopped_at !== null;
  if (asked === null && !stopped) return null;
  if (ENDS.has(event.name)) {
    // The interrupt has stopped its subagents, so it has not ended by itself.
    const isStopped = event.client === 'claude-code' && asked?.turn_id === turn.turn_id;
    if (isStopped && asked.pushed_at !== null) await recordTurnEnd(tx, turn, interruptedBy(asked));
    return { no_hold: true };
  }
  if (!canStop(context)) return null;
  if (asked !== null) await recordStop(tx, turn, asked);
  else if (event.name === 'PreToolUse') await stopAgain(context, turn);
  return stopVerdict(event.name, asked ?? { by: turn.by ?? 'client', note: turn.note });
};

/** Ends the turn whose client is asked to stop by this hook, for a request to stop it or the turn that the subagent works for. */
export async function recordStop(tx: WriteTx, turn: Turn, asked: Interrupt): Promise<void> {
  if (asked.turn_id !== turn.turn_id) await tx.turns.updateInterrupt({ ...asked, pushed_at: tx.now });
  await recordTurnEnd(tx, stopPrinted(turn, tx.now), interruptedBy(asked));
}

/** Events at which the agent is about to end its turn by itself: there is nothing to stop, but nothing may hold it either. */
const ENDS: ReadonlySet<string> = new Set(['Stop', 'SubagentStop', 'StopFailure']);

/**
 * Whether the client stops at this event. Claude Code obeys all of them. Codex ignores a stop at PostToolUse, where its model may
 * have read one already.
 */
function canStop({ event }: HookContext): boolean {
  const { name, client, tool } = event;
  if (name === 'PreToolUse') return true;
  if (client === 'codex') return name === 'PostToolUse' && tool !== null && saidToStop(tool);
  return name === 'PostToolUse' || name === 'PostToolBatch';
}

/** The verdict that stops the client. It also denies the call, because `continue:false` alone lets a tool run. */
function stopVerdict(name: string, asked: Pick<Interrupt, 'by' | 'note'>): Partial<Verdict> {
  const end_turn = stopSentence(asked);
  return name === 'PreToolUse' ? { deny: pleaseStop(asked), end_turn } : { end_turn };
}

/**
 * A denial does not stop Codex, but only asks it to stop. The human is notified when it has called this many tools after the
 * stop.
 */
const CODEX_STOPS = 10;

/** Handles a tool of a stopped turn: one more of the running batch, or proof that the client never read the stop. */
async function stopAgain({ tx, event, session }: HookContext, turn: Turn): Promise<void> {
  const lost = event.client === 'claude-code' && stopWasLost(turn, tx.now);
  const again =
    event.client === 'codex' || lost ? stopPrinted(turn, tx.now) : { ...turn, stops: turn.stops + 1 };
  await tx.turns.update(again);
  if (!lost && !(event.client === 'codex' && again.stops === CODEX_STOPS)) return;
  const { session_id } = session;
  const { turn_id, stops } = again;
  await tx.events.append({ type: 'turn/stopped_again', session_id, subject: turn_id, data: { stops } });
  await giveNotice(tx, {
    severity: 'warning',
    text: stopLostSentence(labelled(session), stops),
    session_id,
    data: { turn_id, stops },
  });
}

const NOTICES_AT_ONCE = 5;

/** At the next prompt or start, the session is notified once of what happened to its last turn. */
export const notifyAborted: HookHandler = async (hook) => {
  const { tx, event, session, verdict } = hook;
  if (event.name !== 'SessionStart' && event.name !== 'UserPromptSubmit') return null;
  if (event.agent_id !== null || verdict.block !== null) return null;
  const { session_id } = session;
  const context: string[] = [];
  for (const { turn, delivery } of await tx.turns.unreadAborts(session_id, NOTICES_AT_ONCE)) {
    if (!isWorthANotice(turn)) await tx.deliveries.put(collect(delivery, tx.now));
    else if (!(await isCarried(hook, delivery))) {
      const { repeated } = await hand(tx, delivery, hookCarrier(session_id));
      await tx.events.append({
        type: 'turn/abort_handed',
        session_id,
        subject: turn.turn_id,
        data: { repeated },
      });
      context.push(abortNotice(turn, repeated));
    }
  }
  return { context, carries: context.length > 0 };
};

/** Whether the session is notified. A turn that did nothing and was not interrupted left nothing unfinished. */
function isWorthANotice({ abort_reason, steps }: Turn): boolean {
  return (abort_reason !== 'unknown' && abort_reason !== 'replaced') || steps > 0;
}
