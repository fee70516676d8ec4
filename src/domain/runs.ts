/**
 * The record of a run: a headless agent that Hive starts, ends while its human thinks, and starts again with the answer.
 * extensions/runs controls runs; this file has the stored record, and how an agent names the start that it belongs to.
 */

/** A question of the agent for which its run waits. A call with several questions has several of these. */
export interface RunCall {
  /**
   * The client's id of the call, until the client reports that the call is over; a call that is repeated after a resume has
   * the same id. Null: no call waits, because the agent ended its turn while the question was open.
   */
  call_id: string | null;
  ask_id: string;
  /** The number of the start whose agent made the call. */
  start: number;
  /** The client was asked to end, and to repeat this call when it is resumed. */
  deferred: boolean;
  /** Whether the answer was given to this call. If its agent died afterwards, the call may have run. */
  given: boolean;
  /** Whether the agent itself asked, so that Hive's tool returns the answer. */
  by_tool?: boolean;
  /** The client's permission mode at the time, if it said so: the mode changes when a plan is approved. */
  mode?: string;
}

/** The process that controls a run's agent. `started` distinguishes it from a later process with the same id. */
export interface RunKeeper {
  machine: string;
  pid: number;
  started: string | null;
}

export interface Run {
  run_id: string;
  /** The session of the agent, chosen before its first start. */
  session_id: string;
  status: 'working' | 'sleeping' | 'ended';
  /** The seat of its human: only processes of this person resume it. */
  seat: string;
  machine: string;
  /** The digest of the file that describes the agent to start. */
  digest: string;
  /** How long a call waits for its human before it is deferred. */
  patience_ms: number;
  /** Counts the starts of the agent. Only the agent of the last start gets an answer. */
  start: number;
  /** The last start whose agent made a call. */
  heard: number;
  /** How many starts ended without a reason, or without having read the news that they were started with. */
  crashes: number;
  keeper: RunKeeper | null;
  agent: RunKeeper | null;
  calls: readonly RunCall[];
  /** The exit code of the agent; null while the run lasts, or if nobody saw it end. */
  exit_code: number | null;
  /** Why a run ended although it could have continued. */
  problem: string | null;
  created_at: string;
  changed_at: string;
}

// ---- Which start an agent belongs to ----
// These variables are in the agent's environment, which its hooks inherit. They permit nothing.

export const RUN_VARIABLE = 'HIVE_RUN';

export interface RunStart {
  run_id: string;
  start: number;
}

export function writeStart({ run_id, start }: RunStart): string {
  return `${run_id}:${start}`;
}

/** Null if there is no run, or if its text is not in our format. */
export function readStart(text: string | undefined): RunStart | null {
  const found = /^(run-[0-9a-z]+):(\d{1,9})$/.exec(text ?? '');
  return found === null ? null : { run_id: found[1] ?? '', start: Number(found[2]) };
}
