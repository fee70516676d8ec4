/** Other processes of this machine: whether one is alive, its ancestors, when it started. */
import { readFileSync, readlinkSync } from 'node:fs';
import type { Processes } from '../../application/world.ts';
import { platform, statFields } from './platform.ts';

/** The fields of proc(5) that follow the command; null for a process that is gone, and if there is no /proc. */
function statOf(pid: number): string[] | null {
  try {
    return statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null;
  }
}

/** Fields of `statOf`. */
const SESSION = 3;
const TERMINAL = 4;

/**
 * The shell of the terminal in which a process, or one of its ancestors, runs; null if none has a terminal, or if
 * that cannot be known. Agents run their commands in shells without a terminal, which end at once.
 */
export function shellOfTerminal(pid: number): number | null {
  for (const one of [pid, ...processes.ancestors(pid)]) {
    const found = statOf(one);
    if (found === null || Number(found[TERMINAL]) === 0) continue;
    const leader = Number(found[SESSION]);
    return leader > 1 ? leader : null;
  }
  return null;
}

/** The terminal on stdin (`/dev/pts/3`); null if there is none, or if its name cannot be found. */
export function terminalName(): string | null {
  if (!process.stdin.isTTY) return null;
  try {
    return readlinkSync('/proc/self/fd/0');
  } catch {
    return '/dev/tty';
  }
}

export const processes: Processes = {
  alive(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      // EPERM: it is alive and belongs to somebody else.
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  },

  ancestors(pid) {
    // A set, because a pid that was reused while this reads could lead in a circle. There is no limit on the length: an agent
    // would start as many shells in one another, to be out of sight behind them.
    const chain = new Set<number>();
    let parent = platform.parentOf(pid);
    for (; parent !== null && !chain.has(parent); parent = platform.parentOf(parent)) chain.add(parent);
    return [...chain];
  },

  environment: platform.environment,
  nameOf: platform.nameOf,
  startedAt: platform.startedAt,
  ageMs: platform.ageMs,

  interrupt(pid) {
    try {
      return process.kill(pid, 'SIGINT');
    } catch {
      return false;
    }
  },

  kill(pid) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  },
};
