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
