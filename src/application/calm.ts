/** For work that nobody waits for: commits come in flocks, and one look is enough for all that come close together. */

/** How long the housekeepers of a process let pass after a ring; whoever waits for an answer goes first. */
export const CALM_MS = 25;

export interface Calmed {
  /** Has `act` run `ms` after the first of several calls. */
  call(): void;
  stop(): void;
}

export function calmed(act: () => void, ms: number = CALM_MS): Calmed {
  let timer: NodeJS.Timeout | null = null;
  return {
    call() {
      timer ??= setTimeout(() => {
        timer = null;
        act();
      }, ms);
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
