/** A worker's log: what it calls acknowledged is on disk before the worker continues. */
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import type { Fact, WorkerLog } from './facts.ts';

export interface Log {
  readonly worker: string;
  add(fact: Fact): void;
  close(): void;
}

/** Too many to wait for the disk each time, and nothing was acknowledged by them. */
const UNSYNCED: ReadonlySet<Fact['did']> = new Set(['tried', 'saw', 'heard', 'failed', 'hooked']);

export function openLog(folder: string, worker: string): Log {
  const file = openSync(`${folder}/${worker}.log`, 'a', 0o600);
  return {
    worker,
    add(fact) {
      writeSync(file, `${JSON.stringify(fact)}\n`);
      if (!UNSYNCED.has(fact.did)) fdatasyncSync(file);
    },
    close: () => closeSync(file),
  };
}

export function readLog(path: string): WorkerLog {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return { worker: basename(path, '.log'), facts: lines.map((line) => JSON.parse(line) as Fact) };
}
