/**
 * How often the inbox accepts requests before a device is identified, and calls after that. Each use has a limit of its own, so
 * that nobody uses up what somebody else needs: a stranger can delay only strangers. Only names that are known at that point
 * are counted, so there are no more names than devices.
 */
import { HiveError } from '../../domain/errors.ts';

interface Rate {
  /** Counts one more use under this name. @throws HiveError `too_many` if that is too often. */
  take(name: string): void;
}

/** The number of uses at once, and per second. */
interface Frequency {
  burst: number;
  rate: number;
}

/** Uses of pairing codes, right or wrong. */
export const PAIRINGS: Frequency = { burst: 20, rate: 5 };
/** Sign-ins in the name of devices that this process does not know: each needs a read of the store. */
export const STRANGERS: Frequency = { burst: 20, rate: 10 };
/** Sign-ins of one device, by its own signature. A phone that waits to be confirmed tries every 1.5 s. */
export const SIGN_INS: Frequency = { burst: 20, rate: 2 };
/** Calls and streams of one device. */
export const CALLS: Frequency = { burst: 60, rate: 30 };

export function createRate({ burst, rate }: Frequency): Rate {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take(name) {
      const now = performance.now();
      const bucket = buckets.get(name) ?? { left: burst, at: now };
      const left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * rate);
      buckets.set(name, { left: Math.max(0, left - 1), at: now });
      if (left < 1) throw new HiveError('too_many', 'Too many requests: try again in a few seconds.');
    },
  };
}
