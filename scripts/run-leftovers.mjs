// Starts long-running programs, and ends everything that they started. Nothing is left, however their starter ends: it ends
// their process groups, and if it was killed, the next starter ends what is left.
//
// A run of the suite is also identified by the process id of vitest in the name of its folder (test/support/run.ts). Everything
// that the tests start has that name in its environment, even a detached server.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NOTES = 'runs.json';

/** Ends what earlier processes with this `prefix` have left, and makes a folder for this process, which is removed at its end. */
export function openRuns(prefix) {
  for (const name of entries(tmpdir()).filter((entry) => entry.startsWith(prefix)))
    removeLeft(join(tmpdir(), name));
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const running = new Map();
  /** Records the start time as well: a process id alone may be that of a later process. */
  const note = () =>
    writeFileSync(
      join(folder, NOTES),
      JSON.stringify({ own: [process.pid, startedAt(process.pid)], runs: [...running] }),
    );
  note();
  process.once('exit', () => {
    for (const pid of running.keys()) endRun(pid);
    rmSync(folder, { recursive: true, force: true });
  });
  process.once('SIGTERM', () => process.exit(143));
  process.once('SIGINT', () => process.exit(130));
  return {
    folder,
    /** Resolves to the exit code, once the program and everything that it started have ended. */
    async run(program, words, options) {
      // A process group of its own, so that all of it can be ended. C-c in a terminal reaches only us.
      const child = spawn(program, words, { ...options, detached: true });
      const { pid } = child;
      const ended = new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (code) => resolve(code ?? 1));
      });
      if (pid === undefined) return ended;
      running.set(pid, startedAt(pid));
      note();
      const code = await ended;
      endRun(pid);
      running.delete(pid);
      note();
      return code;
    },
  };
}

/** Ends what a killed process has left, and removes its folder. */
function removeLeft(folder) {
  let noted;
  try {
    noted = JSON.parse(readFileSync(join(folder, NOTES), 'utf8'));
  } catch {
    // The folder is being made right now.
    return;
  }
  const lives = ([pid, started]) => startedAt(pid) === started;
  if (lives(noted.own)) return;
  for (const run of noted.runs) if (lives(run)) endRun(run[0]);
  rmSync(folder, { recursive: true, force: true });
}

/** Kills the group of `pid` and the processes with the name of its run, until none is left; then removes its folders. */
function endRun(pid) {
  const name = `hive-${String(pid).padStart(7, '0')}-${processSpace()}`;
  for (;;) {
    const alive = entries('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number)
      .filter((one) => isOf(one, pid, name));
    if (alive.length === 0) break;
    for (const one of alive) kill(one);
  }
  for (const place of new Set(['/dev/shm', tmpdir()]))
    rmSync(join(place, name), { recursive: true, force: true, maxRetries: 3 });
}

/** Whether a process belongs to the run. One that is dead but not yet reaped cannot be killed, and holds nothing. */
function isOf(pid, group, name) {
  const stat = statOf(pid);
  if (stat === null || stat[0] === 'Z' || pid === process.pid) return false;
  return Number(stat[2]) === group || read(pid, 'environ').includes(`/${name}/`);
}

/** A container that shares a folder with us numbers its own processes. */
function processSpace() {
  const id = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  return Number(id).toString(36).padStart(7, '0');
}

/** When a process was started, in ticks since the boot; null if there is none with this id. */
function startedAt(pid) {
  return statOf(pid)?.[19] ?? null;
}

/** The fields of proc(5) after the command. */
function statOf(pid) {
  const stat = read(pid, 'stat');
  return stat === '' ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function entries(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
