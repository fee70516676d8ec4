/** Work in the background: whoever starts it does not wait for it. If it fails, that is logged, and everything else goes on. */
import type { Logger } from './world.ts';

/** The subject of the work, for the log. */
export type About = Readonly<Record<string, unknown>>;

/** Starts work. If it fails, the sentence `failure` is logged, with the error and what the work was about. Never rejects. */
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

/** Work of one owner, which waits for it before it closes. */
export interface Background {
  run(failure: string, work: () => unknown, about?: About): void;
  /** Resolves once all of it has ended, and what it has started in turn. */
  ended(): Promise<void>;
}

export function createBackground(log: Logger): Background {
  const running = new Set<Promise<void>>();
  return {
    run(failure, work, about) {
      const one: Promise<void> = beside(log, failure, work, about).finally(() => running.delete(one));
      running.add(one);
    },
    async ended() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
