/** Headless agents that end while their human thinks: their records, and what starts them. */
import type { Run, RunCommand } from '../../domain/runs.ts';
import type { Prunable, PrunableReads } from './records.ts';

export interface RunReads extends PrunableReads {
  get(run_id: string): Promise<Run | undefined>;
  /** Those of a seat that are not over, the oldest first. */
  open(seat: string): Promise<Run[]>;
  /** All of a seat. */
  list(seat: string): Promise<Run[]>;
}

export interface RunRecords extends RunReads, Prunable {
  put(run: Run): Promise<void>;
}

/** What a run starts, exactly as its human first started it. */
export interface StartRecord extends RunCommand {
  run_id: string;
  /** The directory in which the agent works. */
  dir: string;
  env: Readonly<Record<string, string>>;
  /** Variables that look like secrets: each start takes them from the process that starts it. */
  left_out: readonly string[];
}

/** An agent that was started. */
export interface StartedAgent {
  pid: number;
  /** Its exit code; null if a signal ended it. */
  ended: Promise<number | null>;
}

/** The files of a person's runs, which nobody else can write, and the processes that they start. */
export interface RunFiles {
  /** Stores what a run starts; returns the digest of the file. */
  keep(record: StartRecord): string;
  /** What a run starts. @throws HiveError `store_unsafe` if the file is missing, changed, or open to others. */
  read(run_id: string, digest: string): StartRecord;
  /** Starts it. Its output goes to a file, so it outlives the process that started it. */
  start(
    record: StartRecord,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<StartedAgent>;
  /** Removes that file once the run is over; the output stays. */
  forget(run_id: string): void;
  /** The path of a run's output. */
  output(run_id: string): string;
}
