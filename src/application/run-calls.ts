/**
 * Calls of runs (domain/runs.ts), for code outside of extensions/runs: an agent repeats such a call, whose question has already
 * been asked.
 */
import { RUN_VARIABLE, readStart } from '../domain/runs.ts';
import type { Environment } from '../domain/sources.ts';
import type { ReadTx, Store } from './ports.ts';

/** The prompts of calls that this agent's run repeats. Only those calls get their answers. */
export async function askIdsOfRun(tx: ReadTx, env: Environment): Promise<ReadonlySet<string>> {
  const own = readStart(env[RUN_VARIABLE]);
  const run = own === null ? undefined : await tx.runs.get(own.run_id);
  const calls = run?.calls.filter(({ call_id }) => call_id !== null) ?? [];
  return new Set(calls.map(({ ask_id }) => ask_id));
}

/** An ask over MCP: the asker, and the client's id of the call. */
export interface AskOfRun {
  env: Environment | null;
  session_id: string;
  call_id: string | null;
}

export interface RunOfAsk {
  /** The question that the hook before the call has already asked; null if none. */
  ask_id: string | null;
  /** How long a call waits for its human. */
  patience_ms: number;
}

/** The run of a call that asks; null outside of runs, and for a subagent, whose turn is not the run's. */
export async function runOfAsk(
  store: Pick<Store, 'read'>,
  { env, session_id, call_id }: AskOfRun,
): Promise<RunOfAsk | null> {
  const own = readStart(env?.[RUN_VARIABLE]);
  if (own === null) return null;
  const run = await store.read((tx) => tx.runs.get(own.run_id));
  if (run === undefined || run.start !== own.start || run.session_id !== session_id) return null;
  const asked = run.calls.find((call) => call.call_id !== null && call.call_id === call_id);
  return { ask_id: asked?.ask_id ?? null, patience_ms: run.patience_ms };
}
