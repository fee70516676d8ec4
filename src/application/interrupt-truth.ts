/**
 * The truth about a turn that somebody waits for, where no hook tells it: Esc at the terminal fires none, a
 * client that was killed fires none. The transcript and the process say so; they are looked at while anybody
 * in this process waits, once a second however many wait.
 */
import { hostOf } from '../domain/sessions.ts';
import { ENDED_WITH_SESSION } from '../domain/turns.ts';
import type { Files, Logger, Processes, Store } from './ports.ts';
import { endSession } from './session-records.ts';
import { closeTurn, toldByTranscript } from './turn-records.ts';

export interface TruthParts {
  store: Store;
  processes: Processes;
  files: Files;
  machine: string;
  log: Logger;
}

export interface Truth {
  /** Looks once, and ends a turn that has ended unheard. */
  look(turn_id: string): Promise<void>;
  /** Looks again and again until the returned function is called. */
  watch(turn_id: string): () => void;
  close(): void;
}

const LOOK_EVERY_MS = 1_000;

export function createTruth({ store, processes, files, machine, log }: TruthParts): Truth {
  const watched = new Map<string, { count: number; timer: NodeJS.Timeout }>();

  async function look(turn_id: string): Promise<void> {
    const seen = await store.read(async (tx) => {
      const turn = await tx.turns.get(turn_id);
      const session = turn === undefined ? undefined : await tx.sessions.get(turn.session_id);
      const host = session === undefined ? undefined : await tx.sessions.get(hostOf(session));
      if (turn?.state !== 'in_progress' || session?.machine !== machine) return null;
      const told = await toldByTranscript(tx, turn, files.readTail);
      const dead = host !== undefined && host.pid !== null && !processes.alive(host.pid);
      return told === null && !dead ? null : { told, host };
    });
    if (seen === null) return;
    await store.write(async (tx) => {
      const turn = await tx.turns.get(turn_id);
      if (turn === undefined) return;
      if (seen.told !== null) await closeTurn(tx, turn, seen.told);
      const host = seen.host === undefined ? undefined : await tx.sessions.get(seen.host.session_id);
      // Its number may have a new owner by now, or it was resumed by another process.
      if (host?.pid == null || host.pid !== seen.host?.pid || processes.alive(host.pid)) return;
      await closeTurn(tx, (await tx.turns.get(turn_id)) ?? turn, ENDED_WITH_SESSION);
      await endSession(tx, host);
    });
  }

  function watch(turn_id: string): () => void {
    const known = watched.get(turn_id);
    if (known === undefined) {
      const timer = setInterval(() => {
        look(turn_id).catch((error: unknown) =>
          log.warn('A turn could not be looked at, and will be again.', { turn_id, error: String(error) }),
        );
      }, LOOK_EVERY_MS);
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
    look,
    watch,
    close() {
      for (const { timer } of watched.values()) clearInterval(timer);
      watched.clear();
    },
  };
}
