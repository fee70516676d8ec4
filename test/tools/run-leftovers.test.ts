/**
 * `npm run test:steady` leaves nothing behind, however it is ended: what it started is ended with it, and after a kill -9 by
 * the next one. A program stands in for vitest; scripts/run-leftovers.mjs does the rest.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { type Child, childEnvironment, ROOT, spawnChild } from '../support/children.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

/** Starts a process of its group, and one that is detached and knows only the folder of the run. */
const SUITE = `
import { spawn } from 'node:child_process';
import { mkdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
const space = Number(/\\d+/.exec(readlinkSync('/proc/self/ns/pid'))[0]).toString(36).padStart(7, '0');
const shared = process.env.TMPDIR + '/hive-' + String(process.pid).padStart(7, '0') + '-' + space;
mkdirSync(shared);
const env = { PATH: process.env.PATH, HOME: shared + '/home' };
const start = (detached) => spawn('tail', ['-f', '/dev/null'], { env, detached, stdio: 'ignore' }).pid;
const begun = process.argv[2];
writeFileSync(begun + '.new', JSON.stringify([process.pid, start(false), start(true)]));
renameSync(begun + '.new', begun);
`;
const STARTER = `
import { openRuns } from ${JSON.stringify(join(ROOT, 'scripts/run-leftovers.mjs'))};
const { run } = openRuns('hive-steady-');
await run(process.execPath, process.argv.slice(1), { stdio: 'ignore' });
`;

let folder: string;

/** Starts what stands in for the suite; returns its processes, once all run. */
async function begin(name: string): Promise<{ starter: Child; pids: number[] }> {
  const suite = join(folder, 'suite.mjs');
  const begun = join(folder, name);
  writeFileSync(suite, SUITE);
  const words = ['--input-type=module', '-e', STARTER, suite, begun];
  const starter = spawnChild(process.execPath, words, childEnvironment('none', { TMPDIR: temporary() }));
  await eventually(() => existsSync(begun));
  const pids = JSON.parse(readFileSync(begun, 'utf8')) as number[];
  onTestFinished(() => {
    for (const pid of pids) if (processes.alive(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(pids.every((pid) => processes.alive(pid))).toBe(true);
  return { starter, pids };
}

function temporary(): string {
  const path = join(folder, 'tmp');
  mkdirSync(path, { recursive: true });
  return path;
}

const areGone = (pids: readonly number[]): boolean => pids.every((pid) => !processes.alive(pid));

test.each(['SIGTERM', 'SIGINT'] as const)('ended by %s, it ends all that it started', async (signal) => {
  folder = tempFolder();
  const { starter, pids } = await begin('first');
  expect(readdirSync(temporary())).toHaveLength(2);
  await starter.kill(signal);
  await eventually(() => areGone(pids));
  expect(readdirSync(temporary())).toEqual([]);
});

test('after a kill -9 the next one ends what was left, and not what belongs to a third', async () => {
  folder = tempFolder();
  const other = await begin('other');
  const first = await begin('first');
  process.kill(first.starter.pid, 'SIGKILL');
  await once(first.starter.process, 'exit');
  expect(areGone(first.pids)).toBe(false);
  const next = await begin('next');
  await eventually(() => areGone(first.pids));
  expect(other.pids.every((pid) => processes.alive(pid))).toBe(true);
  for (const { starter } of [next, other]) await starter.kill('SIGTERM');
  await eventually(() => areGone([...next.pids, ...other.pids]));
  expect(readdirSync(temporary())).toEqual([]);
});
