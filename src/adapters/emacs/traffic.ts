/** What is on its way through a connection, so that an end of input does not cut off what came before it. */
export interface Traffic {
  /** A message has come in. */
  came(): void;
  /** It has been dealt with, reply and all. */
  done(): void;
  /** Counts this until it is done; it never fails. */
  follow(work: Promise<void>): void;
  /** Resolves when everything that came is done. */
  settled(): Promise<void>;
}

export function createTraffic(): Traffic {
  let open = 0;
  let wake: (() => void) | null = null;
  const traffic: Traffic = {
    came() {
      open += 1;
    },
    done() {
      open -= 1;
      if (open === 0) wake?.();
    },
    follow(work) {
      traffic.came();
      void work.finally(() => traffic.done());
    },
    async settled() {
      if (open === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
  };
  return traffic;
}

/** Resolves with `work`, or after `limit_ms` without it; what fails then is nobody's business any more. */
export async function within(limit_ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit_ms);
  });
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
}
