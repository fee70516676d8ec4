/** Cuts the power of a run: the recorder (test/powerloss) knows what is certainly on the disk of the store, and what is not. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { callsIn, differences, openDisk, restore, stateIn } from '../powerloss/disk.ts';
import { buildRecorder } from '../powerloss/recorder.ts';
import { randomOf } from './random.ts';

export interface Power {
  /** The variables with which each process of the run is recorded and sees that the machine has started again. */
  readonly environment: Readonly<Record<string, string>>;
  /** kill -9 to processes of the run, while none of them is between a call and its record. */
  kill(pids: readonly number[]): void;
  /**
   * Ends what is still recorded, and puts the folder of the store into a state in which a cut now may leave it. `way` chooses it.
   * False, and nothing is done, if a process that has died since the last cut left a call unrecorded.
   */
  cut(way: number): boolean;
}

export function openPower({ folder, store, seed }: { folder: string; store: string; seed: number }): Power {
  const root = dirname(store);
  const trace = join(folder, 'trace');
  const boot = join(folder, 'boot');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  writeFileSync(boot, 'start 0\n');
  // The bell carries no data, and other faults spoil it.
  let disk = openDisk(root, { foreign: true });
  let cuts = 0;

  function kill(pids: readonly number[]): void {
    // A paused one may hold the lock. Whoever else holds it is no victim of this.
    const line = 'kill -CONT "$@"; flock -w 2 "$0" kill -KILL "$@" || kill -KILL "$@"; exit 0';
    if (pids.length > 0)
      spawnSync('sh', ['-c', line, `${trace}.lock`, ...pids.map(String)], { stdio: 'ignore' });
  }

  /** A process below a client that has died is known to nobody, and would write to the disk of the next start. */
  function killRecorded(): void {
    let left: string[] = [];
    for (let tries = 0; tries < 1_000; tries += 1) {
      left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isRecorded(pid, trace));
      if (left.length === 0) return;
      kill(left.map(Number));
    }
    throw new Error(`After a thousand times kill -9 these processes of the run still run: ${left.join(' ')}`);
  }

  return {
    environment: {
      LD_PRELOAD: buildRecorder(folder),
      HIVE_RECORD_ROOT: root,
      HIVE_RECORD_TRACE: trace,
      HIVE_CHAOS_BOOT: boot,
    },
    kill,
    cut(way) {
      cuts += 1;
      killRecorded();
      for (const call of callsIn(readFileSync(trace))) disk.apply(call);
      const unrecorded = differences(disk.live(), stateIn(root)).filter((path) => !path.includes('-bell'));
      const whole = unrecorded.length === 0;

      if (whole) {
        restore(disk.draw(randomOf(seed, `power cut ${cuts}`), way % 24), root);
        writeFileSync(boot, `start ${cuts}\n`);
      }
      rmSync(trace);
      disk = openDisk(root, { foreign: true });
      return whole;
    },
  };
}

function isRecorded(pid: string, trace: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HIVE_RECORD_TRACE=${trace}`);
  } catch {
    return false; // It has ended, or is another user's.
  }
}
