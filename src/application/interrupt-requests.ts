/** Requests for an interrupt, inside a transaction: taken down, answered, given up, withdrawn. */
import { type Actor, refuse } from '../domain/actors.ts';
import { boundedOptional } from '../domain/bounds.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import {
  INTERRUPT_LIMITS,
  type Interrupt,
  meetInterrupt,
  refusalToInterrupt,
  withdrawInterrupt,
} from '../domain/interrupts.ts';
import type { Session } from '../domain/sessions.ts';
import { cleanOptional } from '../domain/text.ts';
import type { Turn } from '../domain/turns.ts';
import type { Ids, ReadTx, WriteTx } from './ports.ts';
import { findSession } from './session-records.ts';

export interface InterruptRequest {
  /** Handle or id. */
  session: string;
  /** Missing: the turn that runs at that moment. */
  turn_id?: string | null | undefined;
  note?: string | null | undefined;
  /** How long to wait; then the answer is `unconfirmed`, and the request stays in force. Default 10 minutes. */
  timeout_ms?: number | null | undefined;
  /** Asked again under the same id, after a restart, it is the same request. */
  interrupt_id?: string | null | undefined;
  actor: Actor;
  /** The asker went away: withdraws the waiting, not the interrupt. */
  signal?: AbortSignal | undefined;
}

/** A request taken down, with its turn; no interrupt where that turn was interrupted already. */
export interface Taken {
  interrupt: Interrupt | null;
  turn: Turn;
  session: Session;
}

/** @throws HiveError `session_not_found`, `turn_not_current`, `no_turn`, `not_allowed`. */
export async function takeRequest(tx: WriteTx, request: InterruptRequest, ids: Ids): Promise<Taken> {
  const session = await findSession(tx, request.session);
  refuse(refusalToInterrupt(request.actor, session));
  const repeated = request.interrupt_id == null ? undefined : await tx.turns.interrupt(request.interrupt_id);
  if (repeated !== undefined) {
    const turn = await tx.turns.get(repeated.turn_id);
    if (turn === undefined || repeated.session_id !== session.session_id)
      throw invalidInput(`The interrupt_id ${repeated.interrupt_id} was used for another session before.`);
    return { interrupt: repeated, turn, session };
  }
  const turn_id = request.turn_id ?? null;
  const named = turn_id === null ? null : await turnOfSession(tx, turn_id, session);
  const current = (await tx.turns.current(session.session_id)) ?? null;
  const met = meetInterrupt(turn_id, named, current);
  if (met.kind === 'told') return { interrupt: null, turn: met.turn, session };
  if (met.kind === 'no_turn') throw noTurn(session);
  if (met.kind === 'not_current') throw notCurrent(session, turn_id, current);
  return { interrupt: await ask(tx, request, met.turn, ids), turn: met.turn, session };
}

async function ask(tx: WriteTx, request: InterruptRequest, turn: Turn, ids: Ids): Promise<Interrupt> {
  const { actor, interrupt_id } = request;
  const interrupt: Interrupt = {
    interrupt_id: interrupt_id ?? ids.make('interrupt'),
    session_id: turn.session_id,
    turn_id: turn.turn_id,
    by: actor.by,
    via: actor.via,
    note: cleanOptional(request.note),
    timeout_ms: timeoutOf(request),
    asked_at: tx.now,
    state: 'pending',
    outcome: null,
    settled_at: null,
    withdrawn_by: null,
    unconfirmed_at: null,
    pushed_at: null,
  };
  await tx.turns.insertInterrupt(interrupt);
  await append(tx, 'turn/interrupt_asked', interrupt);
  return interrupt;
}

/** The last look and the note that nobody has confirmed are one transaction: no end falls between them. */
export async function giveUp(tx: WriteTx, interrupt_id: string): Promise<Standing> {
  const interrupt = await tx.turns.interrupt(interrupt_id);
  const turn = interrupt === undefined ? undefined : await tx.turns.get(interrupt.turn_id);
  if (interrupt === undefined || turn === undefined)
    throw new HiveError('turn_not_found', `The interrupt ${interrupt_id} is gone.`);
  if (interrupt.state !== 'pending' || interrupt.unconfirmed_at !== null) return { interrupt, turn };
  const unconfirmed = { ...interrupt, unconfirmed_at: tx.now };
  await tx.turns.updateInterrupt(unconfirmed);
  await append(tx, 'turn/interrupt_unconfirmed', unconfirmed);
  return { interrupt: unconfirmed, turn };
}

export type Withdrawal = Pick<InterruptRequest, 'session' | 'turn_id' | 'interrupt_id' | 'actor'>;

/** Withdraws one request, or all for a turn; returns those that were pending. */
export async function withdrawRequests(tx: WriteTx, which: Withdrawal): Promise<Interrupt[]> {
  const session = await findSession(tx, which.session);
  refuse(refusalToInterrupt(which.actor, session));
  const { interrupt_id, actor } = which;
  const turn_id = which.turn_id ?? (await tx.turns.current(session.session_id))?.turn_id;
  const pending = turn_id === undefined ? [] : await tx.turns.pendingInterrupts(turn_id);
  const withdrawn = pending
    .filter((interrupt) => interrupt.session_id === session.session_id)
    .filter((interrupt) => interrupt_id == null || interrupt.interrupt_id === interrupt_id)
    .map((interrupt) => withdrawInterrupt(interrupt, actor.by, tx.now));
  for (const interrupt of withdrawn) {
    await tx.turns.updateInterrupt(interrupt);
    await append(tx, 'turn/interrupt_withdrawn', interrupt);
  }
  return withdrawn;
}

/** A request and the turn that it is for. */
export interface Standing {
  interrupt: Interrupt;
  turn: Turn;
}

/** The row once it is settled; undefined while it is pending. */
export async function readSettled(tx: ReadTx, interrupt_id: string): Promise<Standing | undefined> {
  const interrupt = await tx.turns.interrupt(interrupt_id);
  if (interrupt === undefined || interrupt.state === 'pending') return undefined;
  const turn = await tx.turns.get(interrupt.turn_id);
  return turn === undefined ? undefined : { interrupt, turn };
}

async function turnOfSession(tx: ReadTx, turn_id: string, { session_id }: Session): Promise<Turn | null> {
  const turn = await tx.turns.get(turn_id);
  return turn?.session_id === session_id ? turn : null;
}

type InterruptEvent = 'turn/interrupt_asked' | 'turn/interrupt_unconfirmed' | 'turn/interrupt_withdrawn';

async function append(tx: WriteTx, type: InterruptEvent, interrupt: Interrupt): Promise<void> {
  const { session_id, turn_id: subject, interrupt_id, by, via, note, withdrawn_by } = interrupt;
  const data = { interrupt_id, by, via, note, ...(withdrawn_by === null ? {} : { withdrawn_by }) };
  await tx.events.append({ type, session_id, subject, data });
}

function timeoutOf({ timeout_ms }: InterruptRequest): number {
  return timeout_ms ?? INTERRUPT_LIMITS.defaultTimeoutMs;
}

/** How long the asker waits. @throws HiveError `invalid_input`. */
export function checkedWait(request: InterruptRequest): number {
  const { minTimeoutMs, maxTimeoutMs, note } = INTERRUPT_LIMITS;
  const wait_ms = timeoutOf(request);
  if (!Number.isFinite(wait_ms) || wait_ms < minTimeoutMs || wait_ms > maxTimeoutMs)
    throw invalidInput(`timeout_ms is ${wait_ms}: it must lie between 0 and ${maxTimeoutMs} (24 hours).`);
  boundedOptional('note', request.note, note);
  return wait_ms;
}

function noTurn({ session_id, handle }: Session): HiveError {
  return new HiveError('no_turn', `${handle} runs no turn now: there is nothing to interrupt.`, {
    session_id,
  });
}

function notCurrent(
  { session_id, handle }: Session,
  turn_id: string | null,
  current: Turn | null,
): HiveError {
  const runs = current === null ? 'nothing runs there now' : `the turn that runs there is ${current.turn_id}`;
  return new HiveError(
    'turn_not_current',
    `${turn_id} is not the turn of ${handle}: ${runs}. Nothing was interrupted.`,
    {
      session_id,
      turn_id,
      current: current?.turn_id ?? null,
    },
  );
}
