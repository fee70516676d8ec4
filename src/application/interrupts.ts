/**
 * Interrupts: the reply waits until the turn is over. The request is on disk before anything else happens, so
 * any number of askers in any number of processes wait for the same rows, and the turn's end answers them all
 * in its own transaction.
 */
import { HiveError } from '../domain/errors.ts';
import { type Interrupt, type InterruptOutcome, outcomeOf } from '../domain/interrupts.ts';
import { hostOf, type Session } from '../domain/sessions.ts';
import type { Turn } from '../domain/turns.ts';
import type { Feed } from './feed.ts';
import { createPush, type PushParts } from './interrupt-push.ts';
import {
  checkedWait,
  giveUp,
  type InterruptRequest,
  readSettled,
  type Standing,
  takeRequest,
  type Withdrawal,
  withdrawRequests,
} from './interrupt-requests.ts';
import { createTruth, type TruthParts } from './interrupt-truth.ts';
import type { Ids } from './ports.ts';
import { findSession } from './session-records.ts';
import { readOrder, type StopOrder } from './turn-records.ts';

/** What one of many sessions answered. */
export type OneOfAll =
  | (InterruptOutcome & { handle: string })
  | { session_id: string; turn_id: string; handle: string; error: HiveError };

export interface InterruptService {
  /** @throws HiveError `session_not_found`, `turn_not_current`, `no_turn`, `not_allowed`; `cancelled` when withdrawn. */
  interrupt(request: InterruptRequest): Promise<InterruptOutcome>;
  /** Every turn that runs; a subagent's is its parent's business. Answers when all have. */
  interruptAll(
    request: Pick<InterruptRequest, 'note' | 'timeout_ms' | 'actor' | 'signal'>,
  ): Promise<OneOfAll[]>;
  /** Withdraws what is pending: one request, or all for a turn. Their askers are told `cancelled`. */
  cancel(which: Withdrawal): Promise<Interrupt[]>;
  /** Why a turn is to stop, or was stopped; null when nobody wants it to. */
  orderFor(turn_id: string): Promise<StopOrder | null>;
  /** Resolves when somebody wants this turn stopped; with null when `signal` fires before. */
  untilInterrupted(turn_id: string, signal: AbortSignal): Promise<StopOrder | null>;
  /** Nobody waits any more: what waits is rejected with `cancelled`. */
  close(): void;
}

export interface InterruptParts extends TruthParts, PushParts {
  feed: Feed;
  ids: Ids;
}

const ALL_LIMIT = 1_000;
/** A timer of Node's knows no more than 24 days; whoever waits longer looks again. */
const STRETCH_MS = 24 * 60 * 60 * 1000;

export function createInterrupts(parts: InterruptParts): InterruptService {
  const { store, feed, ids } = parts;
  const truth = createTruth(parts);
  const closing = new AbortController();
  const push = createPush(parts, closing.signal);

  /** A turn that has ended unheard is no current one. */
  async function lookAtCurrent(handle_or_id: string): Promise<void> {
    const current = await store.read(async (tx) => {
      const session = await findSession(tx, handle_or_id);
      return tx.turns.current(session.session_id);
    });
    if (current !== undefined) await truth.look(current.turn_id);
  }

  async function wait(
    interrupt: Interrupt,
    wait_ms: number,
    asker: AbortSignal | undefined,
  ): Promise<Standing> {
    const { interrupt_id } = interrupt;
    const signal = asker === undefined ? closing.signal : AbortSignal.any([closing.signal, asker]);
    const check = (): Promise<Standing | undefined> => store.read((tx) => readSettled(tx, interrupt_id));
    const standing = await feed.until(check, { wait_ms, signal });
    if (standing !== undefined) return standing;
    if (signal.aborted) throw nobodyWaits(interrupt);
    return store.write((tx) => giveUp(tx, interrupt_id));
  }

  const service: InterruptService = {
    async interrupt(request) {
      const started = performance.now();
      const wait_ms = checkedWait(request);
      await lookAtCurrent(request.session);
      const { interrupt, turn, session } = await store.write((tx) => takeRequest(tx, request, ids));
      const waited = (): number => performance.now() - started;
      if (interrupt === null) return outcomeOf(turn, null, waited());
      if (interrupt.state !== 'pending') return answer({ interrupt, turn }, waited());
      const stopPush = push(interrupt, turn, session);
      const stopLooking = truth.watch(turn.turn_id);
      try {
        return answer(await wait(interrupt, wait_ms, request.signal), waited());
      } finally {
        stopPush();
        stopLooking();
      }
    },

    async interruptAll(request) {
      const running = await store.read(async (tx) => {
        const turns = await tx.turns.running(ALL_LIMIT);
        const busy = new Set(turns.map(({ session_id }) => session_id));
        const all = await Promise.all(
          turns.map(async (turn) => ({ turn, session: await tx.sessions.get(turn.session_id) })),
        );
        return all.filter(({ session }) => session === undefined || isOwnBusiness(session, busy));
      });
      const one = async (turn: Turn, handle: string): Promise<OneOfAll> => {
        const { session_id, turn_id } = turn;
        try {
          return { ...(await service.interrupt({ ...request, session: session_id, turn_id })), handle };
        } catch (error) {
          if (!(error instanceof HiveError)) throw error;
          return { session_id, turn_id, handle, error };
        }
      };
      return Promise.all(running.map(({ turn, session }) => one(turn, session?.handle ?? turn.session_id)));
    },

    cancel: (which) => store.write((tx) => withdrawRequests(tx, which)),
    orderFor: (turn_id) => store.read((tx) => readOrder(tx, turn_id)),

    async untilInterrupted(turn_id, asker) {
      const signal = AbortSignal.any([closing.signal, asker]);
      const check = async (): Promise<StopOrder | undefined> =>
        (await service.orderFor(turn_id)) ?? undefined;
      for (;;) {
        const order = await feed.until(check, { wait_ms: STRETCH_MS, signal });
        if (order !== undefined || signal.aborted) return order ?? null;
      }
    },

    close() {
      truth.close();
      closing.abort();
    },
  };
  return service;
}

/** A subagent is stopped with its parent, while that one runs. */
function isOwnBusiness(session: Session, busy: ReadonlySet<string>): boolean {
  const host = hostOf(session);
  return host === session.session_id || !busy.has(host);
}

function answer({ interrupt, turn }: Standing, waited_ms: number): InterruptOutcome {
  if (interrupt.state === 'withdrawn')
    throw new HiveError('cancelled', `The interrupt was withdrawn by ${interrupt.withdrawn_by}.`, {
      turn_id: turn.turn_id,
    });
  return outcomeOf(turn, interrupt.interrupt_id, waited_ms);
}

function nobodyWaits({ turn_id }: Interrupt): HiveError {
  return new HiveError(
    'cancelled',
    `Nobody waits any more for the end of ${turn_id}; the interrupt stays in force.`,
    {
      turn_id,
    },
  );
}
