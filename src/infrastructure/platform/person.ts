/**
 * What shows that a person started a process: its ancestors, its terminal and its namespaces. Any process can take any name,
 * and an agent can start whatever a person can. So this shows mistakes and simple tricks, and proves nothing.
 */
import { lstatSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { release } from 'node:os';
import type { StartUnknown } from '../../domain/actors.ts';
import { MAX_GENERATIONS, parentOf, processes, statOf } from './processes.ts';

/** Fields of `statOf`. */
const SESSION = 3;
const TERMINAL = 4;

/**
 * Why nothing shows that a person started a process of these namespaces; null where nothing speaks against it. Other programs
 * than shells and interpreters live without a parent as a rule: the servers of terminals and desktops, sshd, an Emacs. Below
 * them, and in their terminals, a person is at work. `container_id_map` identifies the container in which this person works.
 */
export function startUnknown(pid: number, container_id_map: string | null): StartUnknown | null {
  const hidden = hiddenAncestors();
  if (hidden !== null && (hidden === 'proc' || hidden.id_map !== container_id_map)) return hidden;
  if (isOrphan(pid)) return 'itself';
  for (const above of processes.ancestors(pid)) {
    const name = processes.nameOf(above);
    if (/emacs/i.test(name)) return null;
    const isScheduler = SCHEDULERS.test(name);
    if (!isScheduler && !isOrphan(above)) continue;
    const isOfPerson = process.platform === 'linux' && terminalProgram(pid) !== null;
    if (isOfPerson) return null;
    if (isScheduler) return 'scheduled';
    return RELAYS.test(name) || TMUX.test(name) ? 'above' : null;
  }
  return null;
}

const SCHEDULERS = /^(cron|crond|CRON|fcron|anacron|atd|atrun)$/;

/**
 * Whether whoever started a process is gone, so that nothing shows who that was. Process 1, or the init of a user, has
 * adopted it then. A container may run a shell or an Emacs as its process 1: their own children are no orphans.
 */
function isOrphan(pid: number): boolean {
  const parent = parentOf(pid);
  if (parent === null) return false;
  if (process.platform !== 'linux') return parent === 1;
  const name = processes.nameOf(parent);
  if (parent !== 1) return name === 'systemd';
  return statOf(pid)?.[SESSION] !== statOf(1)?.[SESSION] && !/emacs/i.test(name);
}

// ---- Namespaces ----

/** The map of a machine's own user ids, and of containers that the system runs. */
const WHOLE_MAP = '0 0 4294967295';
/** The first namespaces of a machine have these numbers (include/linux/proc_ns.h of the kernel). */
const FIRST = { user: 'user:[4026531837]', pid: 'pid:[4026531836]', cgroup: 'cgroup:[4026531835]' } as const;
const PROC_MAGIC = 0x9f_a0;

/** The namespaces of a process, as /proc names them; null where it does not. */
type Namespaces = Readonly<Record<keyof typeof FIRST, string | null>>;

/**
 * Whether anybody could have made the namespaces of a process, and with them hidden its ancestors. Everybody may make a user
 * namespace and within it one of processes, in which the ancestors outside have no ids. Some programs make the latter for
 * everybody (firejail). The containers of a system service have a namespace of control groups as well; only root starts them.
 * Each system of WSL (`kernel` is its release) has its own processes and shares the rest.
 */
export function mayHideAncestors({ user, pid, cgroup }: Namespaces, id_map: string, kernel: string): boolean {
  if (user !== FIRST.user && id_map !== WHOLE_MAP) return true;
  return pid !== null && pid !== FIRST.pid && cgroup === FIRST.cgroup && !/microsoft/i.test(kernel);
}

/** What hides the ancestors of this process; null where nothing does. */
function hiddenAncestors(): 'proc' | { id_map: string } | null {
  if (process.platform !== 'linux') return null;
  if (!isOwnProc()) return 'proc';
  const id_map = idMap();
  if (id_map === null) return 'proc';
  const own = { user: namespace('user'), pid: namespace('pid'), cgroup: namespace('cgroup') };
  return mayHideAncestors(own, id_map, release()) ? { id_map } : null;
}

/** Whether /proc is a real one, of the namespace of this process. */
function isOwnProc(): boolean {
  try {
    return statfsSync('/proc').type === PROC_MAGIC && readlinkSync('/proc/self') === String(process.pid);
  } catch {
    return false;
  }
}

/** The map of this process' user ids, without line ends: `0 1000 1, 1 100000 65536`; null where something else hides it. */
function idMap(): string | null {
  const file = '/proc/self/uid_map';
  try {
    // In a mount namespace of its own, a process can put another file there.
    if (lstatSync(file).dev !== statSync('/proc').dev) return null;
    const lines = readFileSync(file, 'latin1').trim().split('\n');
    return lines.map((line) => line.trim().replace(/\s+/g, ' ')).join(', ');
  } catch {
    // A kernel without user namespaces.
    return WHOLE_MAP;
  }
}

function namespace(kind: keyof typeof FIRST): string | null {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`);
  } catch {
    return null;
  }
}

// ---- Who types at a terminal ----

/** Programs that can open a terminal for another program and type there themselves. A person has one above these. */
const RELAYS =
  /^(script|expect|unbuffer|socat|setsid|env|nohup|timeout|xargs|sudo|su|doas|busybox|(ba|da|z|k|c|tc|fi)?sh|node|MainThread|deno|bun|python[\d.]*|perl[\d.]*|ruby[\d.]*|php[\d.]*|tclsh[\d.]*|java)$/;
const TMUX = /^tmux/;

/** The kernel's numbers of terminals that programs open for each other. */
function isOpenedByProgram(device: number): boolean {
  const major = (device >> 8) & 0xfff;
  return major >= 136 && major <= 143;
}

/**
 * The name of the program in whose terminal a process runs, such as `sshd`, `xterm` or `tmux: server`; null where nothing shows
 * one: the process has no terminal, a program opened it that types there itself, whoever opened it is gone, or nobody is
 * attached to its tmux. Other systems than Linux show too little: there every terminal counts.
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
    const name = processes.nameOf(opener);
    if (/emacs/i.test(name)) return name;
    if (opener === 1 || name === 'systemd') return null;
    if (TMUX.test(name)) return isWatched(opener, device, Number(found[SESSION])) ? name : null;
    if (!RELAYS.test(name)) return name;
    at = opener;
  }
  return null;
}

/**
 * The shell of the terminal in which a process runs, or in which one above it does; null where none has a terminal, and where
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

/**
 * Whether a person is attached to the session of tmux that has this terminal. Agents open windows in the tmux of their
 * humans, and in sessions that nobody looks at they can type themselves.
 */
function isWatched(server: number, device: number, leader: number): boolean {
  const [socket = '', pid] = (processes.environment(leader)['TMUX'] ?? '').split(',');
  if (socket === '' || Number(pid) !== server) return false;
  const terminal = `/dev/pts/${(device & 0xff) | ((device >> 12) & 0xfff00)}`;
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  const ask = ['list-panes', '-a', '-F', 'pane #{session_id} #{pane_tty} #{pid}', ';'];
  const clients = ['list-clients', '-F', 'client #{session_id} #{client_pid} #{pid}'];
  try {
    // The program of the server itself, because PATH may name another one.
    const said = execFileSync(`/proc/${server}/exe`, ['-S', socket, ...ask, ...clients], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5_000,
    });
    const lines = said.split('\n').map((line) => line.split(' '));
    const of = (kind: string): string[][] =>
      lines.filter(([first, , , by]) => first === kind && Number(by) === server);
    const sessions = of('pane').flatMap(([, session, tty]) => (tty === terminal ? [session] : []));
    return of('client').some(
      ([, session, client]) => sessions.includes(session) && terminalProgram(Number(client)) !== null,
    );
  } catch {
    return false;
  }
}
