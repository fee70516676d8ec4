/** Runs for tests that look after no real agent: a row, and the service. */
import type { Store } from '../../src/application/ports.ts';
import type { Run } from '../../src/domain/runs.ts';
import type { RunFiles } from '../../src/extensions/runs/files.ts';
import { createRuns } from '../../src/extensions/runs/service.ts';
import { randomIds } from '../../src/infrastructure/platform/ids.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';

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

/** The runs of this process; `files` stand for its agents. */
export const runsWith = (
  { log }: OpenedHive,
  store: Store,
  files: RunFiles,
  differing: Partial<Parameters<typeof createRuns>[0]> = {},
): ReturnType<typeof createRuns> =>
  createRuns({
    store,
    ids: randomIds,
    processes,
    files,
    conversationId: () => 'session-2',
    seat: 'ada@here',
    machine: 'here',
    pid: process.pid,
    log,
    ...differing,
  });
