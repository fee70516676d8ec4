/** Processes that do not exist: a test that needs one starts it and ends it, because any id may be that of a living process. */
import { spawnSync } from 'node:child_process';

/**
 * The id of a process that was started here, has ended and has been reaped. No other process gets this id while the tests
 * run: what it has left behind keeps its process group, and Linux gives the id of a process group to nobody else.
 */
export function endedProcess(): number {
  const script = `tail -f /dev/null --pid=${process.pid} >/dev/null 2>&1 &`;
  return spawnSync('setsid', ['sh', '-c', script], { stdio: 'ignore' }).pid;
}

/** One that all tests of this process share. */
export const ENDED: number = endedProcess();
