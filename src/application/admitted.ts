/** Who may still come in: whoever serves tokens and devices ends at once what one that was revoked had opened. */
import type { ReadTx, Store } from './ports.ts';

/**
 * Calls `listener` with all who are admitted when something may have changed, until the returned function is called. Changes
 * that come during a look are one more look.
 */
export function watchAdmitted(
  store: Store,
  admitted: (tx: ReadTx) => Promise<readonly string[]>,
  listener: (admitted: ReadonlySet<string>) => void,
): () => void {
  let reading = false;
  let again = false;
  async function check(): Promise<void> {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    try {
      do {
        again = false;
        listener(new Set(await store.read(admitted)));
      } while (again);
    } catch {
      // A store that cannot be read now admits nothing either; the next change is another chance.
    } finally {
      reading = false;
    }
  }
  return store.watch(() => void check());
}
