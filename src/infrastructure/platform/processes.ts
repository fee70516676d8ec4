/** Other processes of this machine: whether one is alive, its ancestors, when it started. */
import { readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import type { Processes } from '../../application/world.ts';

/** A longer chain of ancestors is an error. */
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

function splitAt(text: string, at: number): [string, string] {
  return [text.slice(0, at), text.slice(at + 1)];
}

function parentFromProc(pid: number): number | null {
  const parent = Number(statOf(pid)?.[1]);
  return Number.isInteger(parent) && parent > 0 ? parent : null;
}

/** proc(5): the fields follow the command's last parenthesis, because a command may contain anything. */
function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** Ticks since boot, and which boot: together they distinguish a process from any later one with the same pid. */
function startFromProc(pid: number): string | null {
  const ticks = statOf(pid)?.[START_TIME];
  if (ticks === undefined) return null;
  return `${bootOf()}:${ticks}`;
}

/**
 * Identifies the current boot of the machine; it changes with each restart. Where the system has no id for it, the time of
 * the boot is used. Setting the clock may then change the id, which only skips some event numbers (events.ts).
 */
export function bootOf(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return `at-${Math.round((Date.now() - uptime() * 1_000) / BOOT_ROUNDED_MS)}`;
  }
}
const BOOT_ROUNDED_MS = 10_000;
const START_TIME = 19;
const SESSION = 3;
const TERMINAL = 4;

/**
 * Whether whoever started a process is gone, so that nothing shows who that was. Process 1, or the init of a user, has
 * adopted it then. A container may run a shell or an Emacs as its process 1: their own children are no orphans.
 */
export function isOrphan(pid: number): boolean {
  const parent = parentOf(pid);
  if (parent === null) return false;
  if (process.platform !== 'linux') return parent === 1;
  const name = commandOf(parent);
  if (parent !== 1) return name === 'systemd';
  return statOf(pid)?.[SESSION] !== statOf(1)?.[SESSION] && !/emacs/i.test(name);
}

// ---- Who types at a terminal ----

/** Programs that can open a terminal for another program and type there themselves. A person has one above these. */
const RELAYS =
  /^(script|expect|unbuffer|socat|setsid|env|nohup|timeout|xargs|sudo|su|doas|busybox|(ba|da|z|k|c|tc|fi)?sh|node|MainThread|deno|bun|python[\d.]*|perl[\d.]*|ruby[\d.]*|php[\d.]*|tclsh[\d.]*|java)$/;
/** The kernel's numbers of terminals that programs open for each other. */
const isOpenedByProgram = (device: number): boolean => {
  const major = (device >> 8) & 0xfff;
  return major >= 136 && major <= 143;
};

/**
 * The name of the program in whose terminal a process runs, such as `sshd`, `xterm` or `tmux: server`; null where nothing shows
 * one: the process has no terminal, a program opened it that types there itself, or whoever opened it is gone. Any process can
 * take any name, so this shows mistakes and simple tricks, and proves nothing. Other systems than Linux show too little: there
 * every terminal counts.
 */
export function terminalProgram(pid: number): string | null {
  if (process.platform !== 'linux') return 'terminal';
  let at = pid;
  for (let generation = 0; generation < MAX_GENERATIONS; generation += 1) {
    const found = statOf(at);
    const device = Number(found?.[TERMINAL] ?? 0);
    if (found === null || device === 0) return null;
    if (!isOpenedByProgram(device)) return 'console';
    const opener = processes.ancestors(at).find((above) => statOf(above)?.[SESSION] !== found[SESSION]);
    // The first process of a container has none above it, and the terminal of whoever started the container.
    if (opener === undefined) return 'container';
    const name = commandOf(opener);
    if (/emacs/i.test(name)) return name;
    if (opener === 1 || name === 'systemd') return null;
    if (!RELAYS.test(name)) return name;
    at = opener;
  }
  return null;
}

/**
 * Whether nothing shows who started a process: `itself` where its own parent is gone, `above` where that holds for a shell or
 * an interpreter above it, as a detached script leaves one behind; else null. Other programs live without a parent as a rule:
 * the servers of terminals and of tmux, sshd, cron, an Emacs. Below them, and in their terminals, a person is at work.
 */
export function startUnknown(pid: number): 'itself' | 'above' | null {
  if (isOrphan(pid)) return 'itself';
  for (const above of processes.ancestors(pid)) {
    const name = commandOf(above);
    if (/emacs/i.test(name)) return null;
    if (!isOrphan(above)) continue;
    const isOfPerson = process.platform === 'linux' && terminalProgram(pid) !== null;
    return RELAYS.test(name) && !isOfPerson ? 'above' : null;
  }
  return null;
}

/** The terminal on stdin (`/dev/pts/3`); null where there is none, or its name cannot be found out. */
export function terminalName(): string | null {
  if (!process.stdin.isTTY) return null;
  try {
    return readlinkSync('/proc/self/fd/0');
  } catch {
    return '/dev/tty';
  }
}

function commandOf(pid: number): string {
  if (process.platform !== 'linux') return commandFromPs(pid);
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').trim();
  } catch {
    return '';
  }
}

function commandFromPs(pid: number): string {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  try {
    const path = execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return path.slice(path.lastIndexOf('/') + 1);
  } catch {
    return '';
  }
}

/** The kernel counts in hundredths of a second on every platform that Node supports (`USER_HZ`). */
const TICK_MS = 10;

/** When a process began, counted from the boot. Both readings are from /proc, so no clock of another machine matters. */
function startedMsFromProc(pid: number): number | null {
  const ticks = Number(statOf(pid)?.[START_TIME]);
  if (!Number.isFinite(ticks)) return null;
  const up_ms = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000;
  return Date.now() - up_ms + ticks * TICK_MS;
}

/** When a process began, as `ps` prints it; null for one that is gone. */
function startFromPs(pid: number): string | null {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  try {
    const said = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return said === '' ? null : said;
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
      // EPERM: it is alive and belongs to somebody else.
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

  environment(pid) {
    try {
      const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      return Object.fromEntries(
        entries.filter((entry) => entry.includes('=')).map((entry) => splitAt(entry, entry.indexOf('='))),
      );
    } catch {
      return {};
    }
  },

  nameOf: commandOf,

  startedAt(pid) {
    return process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  },

  startedMs(pid) {
    if (process.platform === 'linux') return startedMsFromProc(pid);
    const at = Date.parse(startFromPs(pid) ?? '');
    return Number.isNaN(at) ? null : at;
  },

  interrupt(pid) {
    try {
      return process.kill(pid, 'SIGINT');
    } catch {
      return false;
    }
  },
};
