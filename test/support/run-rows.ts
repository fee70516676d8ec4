/** The row of a run. */
import type { Run } from '../../src/domain/runs.ts';

const NOW = '2026-11-22T12:00:00.000Z';

/** A run that sleeps and waits for nothing: whoever looks at runs resumes it. */
export const sleepingRun = (differing: Partial<Run> = {}): Run => ({
  run_id: 'run-1',
  session_id: '5e551000-0000-4000-8000-000000000001',
  status: 'sleeping',
  seat: 'ada@here',
  machine: 'here',
  digest: 'd',
  patience_ms: 1_000,
  start: 1,
  heard: 1,
  crashes: 0,
  keeper: null,
  agent: null,
  calls: [],
  exit_code: null,
  problem: null,
  created_at: NOW,
  changed_at: NOW,
  ...differing,
});
