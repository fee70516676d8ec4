/** How an act ended that failed, and what a worker does then. */
import type { Log } from './log.ts';

/** The store cannot be had now, or nobody knows whether the act was stored: it may be tried again. */
const TRANSIENT: ReadonlySet<string> = new Set(['store_busy', 'store_full', 'store_unavailable', 'lost']);

export class Failure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }

  get isTransient(): boolean {
    return TRANSIENT.has(this.code);
  }
}

/** The process went away, or was silent for too long, in the middle of an act. */
export function lost(message: string): Failure {
  return new Failure('lost', message);
}

/** The error that `hive` prints as "CODE: sentence". */
export function failureOf(text: string): Failure {
  const code = /^(?:hive: )?([a-z_]+): /.exec(text)?.[1];
  return new Failure(code ?? 'unknown', text);
}

/** The result of an act, or the failure, which is written down. Any other error is a bug of ours and thrown. */
export async function attempt<T>(
  log: Log,
  what: string,
  act: () => Promise<T>,
  /** The attempt's values, for the history. */
  value: Readonly<Record<string, unknown>> = {},
): Promise<T | Failure> {
  const end = log.begin(what, value);
  try {
    const result = await act();
    end(null);
    return result;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    end(error);
    log.add({ did: 'failed', what, code: error.code, message: error.message.slice(0, 300) });
    return error;
  }
}

/** Rejects with `lost` when `work` takes longer. */
export async function within<T>(limit_ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lost(`${what}: no answer within ${limit_ms / 1000} s`)), limit_ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
