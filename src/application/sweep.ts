/**
 * The sweep: what nobody is left to say. Sessions whose process is gone end, with all that follows from it,
 * and what was sent and never shown is unseen.
 */
import type { OutreachService } from './outreach.ts';
import type { Logger } from './ports.ts';
import type { SessionService } from './sessions.ts';

const SWEEP_EVERY_MS = 60_000;

export interface SweepParts {
  sessions: Pick<SessionService, 'sweep'>;
  outreach: Pick<OutreachService, 'settleUnshown'>;
  machine: string;
  log: Logger;
}

/** Sweeps now and each minute until the returned function is called; a failure is logged and tried again. */
export function startSweep({ sessions, outreach, machine, log }: SweepParts): () => void {
  async function sweep(): Promise<void> {
    try {
      const ended = await sessions.sweep(machine);
      if (ended.length > 0) log.info('Sessions are gone.', { handles: ended.map(({ handle }) => handle) });
      await outreach.settleUnshown();
    } catch (error) {
      log.warn('The sweep failed and will be tried again in a minute.', { error: String(error) });
    }
  }
  void sweep();
  const timer = setInterval(() => void sweep(), SWEEP_EVERY_MS);
  return () => clearInterval(timer);
}
