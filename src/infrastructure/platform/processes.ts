/** Other processes of this machine: whether one lives, and who started whom. */
import { readFileSync } from 'node:fs';
import type { Processes } from '../../application/ports.ts';

/** A chain longer than this is a mistake, not a family. */
const MAX_GENERATIONS = 64;

function parentOf(pid: number): number | null {
  if (process.platform === 'linux') return parentFromProc(pid);
  // Loading node:child_process takes 3 ms, which `hive hook` would pay at each event.
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  try {
    const parent = Number(
      execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).trim(),
    );
    return Number.isInteger(parent) && parent > 0 ? parent : null;
  } catch {
    return null;
  }
}

/** proc(5): the fields follow the command's last parenthesis, because a command may contain anything. */
function parentFromProc(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return Number.isInteger(parent) && parent > 0 ? parent : null;
  } catch {
    return null;
  }
}

export const processes: Processes = {
  alive(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      // EPERM: it lives and belongs to somebody else.
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  },

  ancestors(pid) {
    const chain: number[] = [];
    for (
      let parent = parentOf(pid);
      parent !== null && chain.length < MAX_GENERATIONS;
      parent = parentOf(parent)
    ) {
      chain.push(parent);
    }
    return chain;
  },
};
