/**
 * The record of a run: a headless agent that Hive starts, ends while its human thinks, and starts again with the answer. What
 * happens to one is decided in extensions/runs; here is what the store keeps of it, and which start of it an agent belongs to.
 */

/** A question of the agent's that its run waits for. A call with several questions has several of these. */
export interface RunCall {
  /**
   * The client's id of the call, until the client reports that the call is over; a call that is repeated after a resume has
   * the same id. Null: no call waits, because the agent ended its turn while the question was open.
   */
  call_id: string | null;
  ask_id: string;
  /** The start of the run whose agent made it. */
  start: number;
  /** The client was asked to end, and to repeat this call when it is resumed. */
  deferred: boolean;
  /** The answer was given to this call. If its agent died after that, the call may have run. */
  given: boolean;
  /** It is an ask of the agent's own, whose tool returns the answer. */
  by_tool?: boolean;
  /** The client's permission mode at the time, if it said so: the mode changes when a plan is approved. */
  mode?: string;
}

export type RunStatus = 'working' | 'sleeping' | 'ended';

/** Which process looks after a run's agent. With `started`, the process cannot be confused with a later one. */
export interface RunKeeper {
  machine: string;
  pid: number;
  started: string | null;
}

export interface Run {
  run_id: string;
  /** The session of the agent, chosen before its first start. */
  session_id: string;
  status: RunStatus;
  /** Whose run it is: only this person's processes resume it. */
  seat: string;
  machine: string;
  /** The digest of the file that says what to start. */
  digest: string;
  /** How long a call waits for its human before it is deferred. */
  patience_ms: number;
  /** Counts the starts of the agent. Only the agent of the last start gets an answer. */
  start: number;
  /** The last start whose agent made a call. */
  heard: number;
  /** How many starts ended without saying why, or without having taken the news that they were started with. */
  crashes: number;
  keeper: RunKeeper | null;
  agent: RunKeeper | null;
  calls: readonly RunCall[];
  /** How the agent ended; null while the run lasts, or if nobody saw it. */
  exit_code: number | null;
  /** Why a run ended although it could have continued. */
  problem: string | null;
  created_at: string;
  changed_at: string;
}

// ---- Which start an agent belongs to ----
// These are in the agent's environment, which its hooks inherit. They permit nothing.

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
