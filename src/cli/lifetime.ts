/** How a long-lived command ends: one abort signal for SIGINT, SIGTERM and SIGHUP, and a hard stop after 1 s. */

const GRACE_MS = 1_000;

/** Aborts at the first signal to end. A process that has not ended `GRACE_MS` later is ended. */
export function untilSignalled(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      controller.abort();
      setTimeout(() => process.exit(0), GRACE_MS).unref();
    });
  }
  return controller.signal;
}
