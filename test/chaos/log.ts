/** A worker's log: what it calls acknowledged is on disk before the worker continues. */
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import type { Fact, WorkerLog } from './facts.ts';
import type { Failure } from './failures.ts';
import type { History } from './history.ts';

export interface Log {
  readonly worker: string;
  add(fact: Fact): void;
  /** Begins an operation for the history; the returned function ends it, with what was acknowledged since. */
  begin(what: string, value: Readonly<Record<string, unknown>>): (failure: Failure | null) => void;
  close(): void;
}

/** Too many to wait for the disk each time, and nothing was acknowledged by them. */
const UNSYNCED: ReadonlySet<Fact['did']> = new Set([
  'tried',
  'saw',
  'heard',
  'failed',
  'hooked',
  'unsettled',
]);
/** Facts that are no result of the operation in which they were written down. */
const APART: ReadonlySet<Fact['did']> = new Set(['tried', 'saw', 'heard', 'opened', 'failed']);

export function openLog(folder: string, worker: string, history: History): Log {
  const file = openSync(`${folder}/${worker}.log`, 'a', 0o600);
  let got: Fact[] = [];
  return {
    worker,
    add(fact) {
      if (!APART.has(fact.did)) got.push(fact);
      writeSync(file, `${JSON.stringify(fact)}\n`);
      if (!UNSYNCED.has(fact.did)) fdatasyncSync(file);
    },
    begin(what, value) {
      const end = history.invoke(worker, what, value);
      got = [];
      return (failure) => end(failure ?? { got });
    },
    close: () => closeSync(file),
  };
}

export function readLog(path: string): WorkerLog {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return { worker: basename(path, '.log'), facts: lines.map((line) => JSON.parse(line) as Fact) };
}
