/** The service of runs, for tests that look after no real agent. */
import type { Store } from '../../src/application/ports.ts';
import type { RunFiles } from '../../src/extensions/runs/files.ts';
import { createRuns } from '../../src/extensions/runs/service.ts';
import { randomIds } from '../../src/infrastructure/platform/ids.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';

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
