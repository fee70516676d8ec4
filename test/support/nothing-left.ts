/**
 * Runs before each test file (vitest.config.ts), also where files share a process: checks that the file leaves no process,
 * watcher or file behind.
 */
import { afterAll, expect } from 'vitest';
import { endProcess, remainingProcesses, removeHome } from './children.ts';
import { endBusyHost } from './command-host.ts';
import { removeAgain, removeRemaining } from './temp.ts';
import { within } from './wait.ts';

/** Resources that keep a process from ending, by the names of `process.getActiveResourcesInfo`. */
const HELD = new Set(['FSEventWrap', 'ProcessWrap']);

const before = held().length;
// Registered before the file's own hooks, so that it runs last.
afterAll(async () => {
  await endBusyHost();
  // A killed process stays in /proc until it has been reaped.
  const gone = (): boolean => remainingProcesses().length === 0 && held().length <= before;
  await within(gone, 10_000);
  const left = remainingProcesses();
  // A process that is left fails this file, and disturbs no other: a detached agent of a test that failed would run for hours.
  for (const line of left) endProcess(Number.parseInt(line, 10));
  removeHome();
  await removeAgain();
  const folders = await removeRemaining();
  expect(left, 'processes left behind').toEqual([]);
  expect(held().slice(before), 'watchers and child handles left behind').toEqual([]);
  expect(folders, 'folders left behind').toEqual([]);
});

function held(): string[] {
  return process.getActiveResourcesInfo().filter((name) => HELD.has(name));
}
