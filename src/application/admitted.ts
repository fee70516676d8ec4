/** Admission: when a token or a device is revoked, its server ends at once the connections that it had opened. */
import type { ReadTx, Store } from './ports.ts';

/** How long to wait before a look is tried again, in ms: each time twice as long. */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

/**
 * Calls `listener` with what `read` finds now, and again when something may have changed, until the returned function is
 * called. Changes that come during a look are one more look. A look that fails is tried again: what was revoked must end, also
 * where the store could not be read at that moment.
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
