/** Turns, and the requests to end one. */
import type { Delivery } from '../../domain/delivery.ts';
import type { Interrupt } from '../../domain/interrupts.ts';
import type { Turn } from '../../domain/turns.ts';
import type { Prunable, PrunableReads } from './records.ts';

export interface TurnReads extends PrunableReads {
  get(turn_id: string): Promise<Turn | undefined>;
  /** The running turn; a session has one at a time. */
  current(session_id: string): Promise<Turn | undefined>;
  /** The newest. */
  last(session_id: string): Promise<Turn | undefined>;
  /** The newest under the client's own id. */
  byClientTurn(session_id: string, client_turn_id: string): Promise<Turn | undefined>;
  /** Every turn that runs, the oldest first. */
  running(limit: number): Promise<Turn[]>;
  /** Aborted turns without proof that the session was notified, the oldest first. */
  unreadAborts(session_id: string, limit: number): Promise<{ turn: Turn; delivery: Delivery }[]>;
  interrupt(interrupt_id: string): Promise<Interrupt | undefined>;
  /** Every request for a turn, oldest first. */
  interruptsOf(turn_id: string): Promise<Interrupt[]>;
  pendingInterrupts(turn_id: string): Promise<Interrupt[]>;
}

export interface TurnRecords extends TurnReads, Prunable {
  insert(turn: Turn): Promise<void>;
  update(turn: Turn): Promise<void>;
  insertInterrupt(interrupt: Interrupt): Promise<void>;
  updateInterrupt(interrupt: Interrupt): Promise<void>;
}
