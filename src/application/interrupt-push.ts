/**
 * What an asker can do beyond waiting for the next hook: tell Codex through its control socket, and, where the
 * person has turned that on, send a signal to a run that nobody attends. Done by the process that asks, once a
 * turn; when it fails, or dies, the hooks still deliver.
 */
import { type Interrupt, interruptedBy } from '../domain/interrupts.ts';
import { type Session, threadOf } from '../domain/sessions.ts';
import type { Turn } from '../domain/turns.ts';
import type { CodexControl, Logger, Processes, Store } from './ports.ts';
import { closeTurn } from './turn-records.ts';

export interface PushParts {
  store: Store;
  processes: Processes;
  codex: CodexControl;
  machine: string;
  /** How long the hooks have before a signal is sent; null: none ever is. */
  escalate_ms: number | null;
  log: Logger;
}

/** Pushes until the returned function is called. */
export type Push = (interrupt: Interrupt, turn: Turn, session: Session) => () => void;

/** `closing`: what comes back after it finds no store any more, and is left to the hooks. */
export function createPush(
  { store, processes, codex, machine, escalate_ms, log }: PushParts,
  closing: AbortSignal,
): Push {
  /** The first who does it says so beforehand: what ends the turn from here on is this interrupt, not the terminal. */
  async function claim({ interrupt_id, turn_id }: Interrupt, through: string): Promise<boolean> {
    return store.write(async (tx) => {
      const pending = await tx.turns.pendingInterrupts(turn_id);
      const own = pending.find((interrupt) => interrupt.interrupt_id === interrupt_id);
      if (own === undefined || pending.some(({ pushed_at }) => pushed_at !== null)) return false;
      await tx.turns.updateInterrupt({ ...own, pushed_at: tx.now });
      const { session_id, by } = own;
      const data = { interrupt_id, by, through };
      await tx.events.append({ type: 'turn/interrupt_pushed', session_id, subject: turn_id, data });
      return true;
    });
  }

  async function release({ interrupt_id }: Interrupt): Promise<void> {
    await store.write(async (tx) => {
      const own = await tx.turns.interrupt(interrupt_id);
      if (own?.state === 'pending') await tx.turns.updateInterrupt({ ...own, pushed_at: null });
    });
  }

  async function tellCodex(
    interrupt: Interrupt,
    { turn_id, client_turn_id }: Turn,
    session: Session,
  ): Promise<void> {
    if (client_turn_id === null || !(await claim(interrupt, 'codex'))) return;
    const thread_id = threadOf(session);
    const stopped = await codex.interrupt({ thread_id, client_turn_id });
    if (closing.aborted) return;
    if (!stopped) return release(interrupt);
    // Its Interrupt hook may have said so before us: then there is nothing left to end.
    await store.write(async (tx) => {
      const turn = await tx.turns.get(turn_id);
      if (turn !== undefined) await closeTurn(tx, turn, interruptedBy(interrupt));
    });
  }

  async function signal(interrupt: Interrupt, { client_pid, client_started_at }: Turn): Promise<void> {
    if (client_pid === null || client_started_at === null) return;
    // A pid alone may have a new owner.
    if (processes.startedAt(client_pid) !== client_started_at || !(await claim(interrupt, 'signal'))) return;
    if (!processes.interrupt(client_pid)) await release(interrupt);
  }

  return (interrupt, turn, session) => {
    if (session.machine !== machine) return () => undefined;
    const failed = (error: unknown): void =>
      log.warn('An interrupt could not be pushed; the next hook delivers it.', { error: String(error) });
    if (session.client === 'codex') tellCodex(interrupt, turn, session).catch(failed);
    if (escalate_ms === null || turn.client_pid === null) return () => undefined;
    const timer = setTimeout(() => void signal(interrupt, turn).catch(failed), escalate_ms);
    return () => clearTimeout(timer);
  };
}
