/** How a long-lived command ends: one abort signal for SIGINT, SIGTERM and SIGHUP, and a hard stop within 1 s. */

const GRACE_MS = 900;

/** Aborts at the first signal to end. A process that has not ended `GRACE_MS` later is ended. */
export function untilSignalled(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      controller.abort();
      endSoon();
    });
  }
  return controller.signal;
}

/** Call it when the end has begun: what still holds then, a locked store or a client that hangs, holds no longer. */
export function endSoon(): void {
  setTimeout(() => process.exit(0), GRACE_MS).unref();
}
