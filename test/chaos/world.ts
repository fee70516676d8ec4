/** The world that the workers of a run share: where they live, what they know of each other, and whether they continue. */
import { attempt, Failure, sleep } from './failures.ts';
import type { History } from './history.ts';
import type { Installation } from './installation.ts';
import { type Log, openLog } from './log.ts';
import { type Random, randomOf } from './random.ts';

export interface World {
  readonly installation: Installation;
  readonly seed: number;
  readonly history: History;
  /** Handles of agents, to be mentioned and interrupted. */
  readonly handles: Set<string>;
  /** The questions that were asked last, for anybody to answer. */
  readonly asks: string[];
  /** False once the time is up; work in progress is finished. */
  working: boolean;
}

/** One that does things to the hive, and writes down what became of them. */
export interface Worker {
  readonly name: string;
  /** Does things until `world.working` is false. */
  work(): Promise<void>;
  /** Does once more what it does not know to be done; the faults are over. */
  settle(): Promise<void>;
  /** Reads what is left, when everybody has settled. */
  finish(): Promise<void>;
  /** Ends what still runs. A follower of the feed has first seen every event until `last`. */
  end(last: LastOfAll): Promise<void>;
}

/** The state of the store when everybody had finished. */
export interface LastOfAll {
  /** The seq of the last event. */
  head: number;
  /** The last message, and the seq of its event; null where nobody posted. */
  message: { message_id: string; seq: number } | null;
}

/** The tools of every worker. */
export interface Desk {
  readonly log: Log;
  readonly random: Random;
  /** A text that no other act of the run has. */
  unique(what: string): string;
}

export function deskOf({ installation, seed, history }: World, name: string): Desk {
  let count = 0;
  return {
    log: openLog(installation.logs, name, history),
    random: randomOf(seed, name),
    unique(what) {
      count += 1;
      return `${what} ${count} of ${name}`;
    },
  };
}

export function remember(world: World, ask_id: string): void {
  world.asks.push(ask_id);
  if (world.asks.length > 50) world.asks.shift();
}

/** Waits for what must come without faults. What does not come within a minute is left to the check of feeds, and noted. */
export async function untilSeen(log: Log, what: string, seen: () => boolean): Promise<void> {
  const started = performance.now();
  while (!seen()) {
    if (performance.now() - started > FINISH_MS) {
      const message = `It did not come within ${FINISH_MS / 1000} s after the last fault.`;
      log.add({ did: 'failed', what, code: 'unseen', message });
      return;
    }
    await sleep(50);
  }
}

/** How long a worker tries to finish; longer than any wait in the product. */
const FINISH_MS = 60_000;
const AGAIN_MS = 200;

/** Tries again until it is done or refused for good. @throws Failure `stuck` when it could not be done in a minute without faults. */
export async function untilDone<T>(
  log: Log,
  what: string,
  act: () => Promise<T>,
  value: Readonly<Record<string, unknown>> = {},
): Promise<T | Failure> {
  const started = performance.now();
  for (;;) {
    const result = await attempt(log, what, act, value);
    if (!(result instanceof Failure) || !result.isTransient) return result;
    if (performance.now() - started > FINISH_MS)
      throw new Failure(
        'stuck',
        `${log.worker} could not ${what} within ${FINISH_MS / 1000} s after the last fault: ${result.message}`,
      );
    await sleep(AGAIN_MS);
  }
}
