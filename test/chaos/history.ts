/**
 * The history of a run, for checkers that are not ours: one operation a line of JSON, with the fields and the words of
 * Jepsen's histories (docs/internals/faults.md). All workers live in one process, so that the times are of one clock.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import type { Failure } from './failures.ts';

export interface Operation {
  index: number;
  /** Nanoseconds since the history began. */
  time: number;
  /** A worker; another number after an operation whose outcome nobody knows, because it may still take effect. */
  process: number;
  /** `fail`: it did not happen. `info`: nobody knows. */
  type: 'invoke' | 'ok' | 'fail' | 'info';
  f: string;
  value: Readonly<Record<string, unknown>>;
  /** The name of the worker. */
  worker: string;
  error?: readonly [code: string, message: string];
}

export interface History {
  /** Begins an operation of a worker, which has one at a time; the returned function ends it. */
  invoke(
    worker: string,
    f: string,
    value: Readonly<Record<string, unknown>>,
  ): (outcome: { got: readonly unknown[] } | Failure) => void;
}

export function openHistory(file: string): History {
  const began = process.hrtime.bigint();
  const processes = new Map<string, number>();
  let count = 0;
  let index = 0;
  const numberOf = (worker: string): number => {
    const known = processes.get(worker);
    if (known !== undefined) return known;
    processes.set(worker, count);
    count += 1;
    return count - 1;
  };
  const write = (operation: Omit<Operation, 'index' | 'time'>): void => {
    const time = Number(process.hrtime.bigint() - began);
    appendFileSync(file, `${JSON.stringify({ index, time, ...operation })}\n`);
    index += 1;
  };
  return {
    invoke(worker, f, value) {
      const operation = { process: numberOf(worker), f, value, worker };
      write({ ...operation, type: 'invoke' });
      return (outcome) => {
        if ('got' in outcome)
          return write({ ...operation, type: 'ok', value: { ...value, got: outcome.got } });
        const error = [outcome.code, outcome.message] as const;
        write({ ...operation, type: outcome.isTransient ? 'info' : 'fail', error });
        if (outcome.isTransient) processes.delete(worker);
      };
    },
  };
}

export function readHistory(file: string): Operation[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Operation);
}
