/** Admission: revoking a token or a device closes its connections at once. */
import type { ReadTx, Store } from './ports.ts';

/** The first delay before a failed read is repeated, in ms; it doubles each time. */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

/**
 * Calls `listener` with what `read` finds now, and again when something may have changed, until the returned function is
 * called. Changes during a read cause one more read. A read that fails is repeated, because revoked connections must end even
 * if the store could not be read at that moment.
 */
export function watchAdmitted<Found>(
  store: Pick<Store, 'read' | 'watch'>,
  read: (tx: ReadTx) => Promise<Found>,
  listener: (found: Found) => void,
): () => void {
  let reading = false;
  let again = false;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;
  let retry_ms = FIRST_RETRY_MS;

  async function check(): Promise<void> {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    clearTimeout(retry);
    try {
      do {
        again = false;
        listener(await store.read(read));
      } while (again);
      retry_ms = FIRST_RETRY_MS;
    } catch {
      if (!stopped) retry = setTimeout(() => void check(), retry_ms).unref();
      retry_ms = Math.min(LONGEST_RETRY_MS, retry_ms * 2);
    } finally {
      reading = false;
    }
  }

  const unwatch = store.watch(() => void check());
  void check();
  return () => {
    stopped = true;
    clearTimeout(retry);
    unwatch();
  };
}
