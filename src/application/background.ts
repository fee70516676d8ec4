/** Work in the background: its caller does not wait for it. A failure is logged, and everything else goes on. */
import type { PageAfter } from './ports.ts';
import type { Logger } from './world.ts';

/** The subject of the work, for the log. */
type About = Readonly<Record<string, unknown>>;

/** Starts work. If it fails, logs the sentence `failure` with the error and the subject. Never rejects. */
export async function beside(
  log: Logger,
  failure: string,
  work: () => unknown,
  about: About = {},
  level: 'warn' | 'error' = 'warn',
): Promise<void> {
  try {
    await work();
  } catch (error) {
    log[level](failure, { ...about, error: String(error) });
  }
}

/** Does this work now and every `ms`, until the returned function is called. */
export function repeatedly(log: Logger, failure: string, ms: number, work: () => unknown): () => void {
  const run = (): void => void beside(log, failure, work);
  run();
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
}

/** Lets the other work of this process run, such as requests of Emacs. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Everything that `read` finds, page by page, from the page after `first` on. Other work runs between two pages. */
export async function allPages<Item, After>(
  first: After,
  read: (after: After) => Promise<PageAfter<Item, After>>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let after: After | null = first; after !== null; ) {
    const page: PageAfter<Item, After> = await read(after);
    all.push(...page.items);
    after = page.next;
    await breathe();
  }
  return all;
}

/** The background work of one owner, which waits for it before closing. */
export function createBackground(log: Logger) {
  const running = new Set<Promise<void>>();
  return {
    run(failure: string, work: () => unknown, about?: About): void {
      const one: Promise<void> = beside(log, failure, work, about).finally(() => running.delete(one));
      running.add(one);
    },
    /** Resolves once all of it has ended, including further work that it has started. */
    async ended(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

// ---- Work that is tried again ----
// After store errors, with delays that grow up to a few seconds. The log gets one line when the errors begin and one when they are
// over, instead of one for each try.

const FIRST_RETRY_MS = 250;
/** The longest delay, in ms: short enough to notice a store that is back, and long enough to cost little. */
const LAST_RETRY_MS = 5_000;

export type Retries = ReturnType<typeof createRetries>;

/** `fails` and `works`: the sentences for the log, that it fails and will be tried again, and that it works again. */
export function createRetries(log: Logger, { fails, works }: { fails: string; works: string }) {
  let failures = 0;
  return {
    /** Records a failure; returns after how many milliseconds to try again. */
    failed(error: unknown): number {
      if (failures === 0) log.warn(fails, { error: String(error) });
      const wait_ms = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
      failures += 1;
      // Random, so that the processes of a machine do not all retry at the same moment.
      return wait_ms * (0.5 + Math.random());
    },
    /** Records a success. */
    worked(): void {
      if (failures > 0) log.warn(works, { failures });
      failures = 0;
    },
  };
}
