/**
 * The differences between systems: how to look at other processes, at the boot and at the mounted file systems, where a user's
 * files are, and what shows popups. Three systems: Linux, by /proc; Darwin (macOS), by `ps`, `sysctl` and `mount`; any other
 * Unix, by what POSIX and the BSDs have in common.
 */
import { readFileSync } from 'node:fs';
import { uptime, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Processes } from '../../application/world.ts';
import type { Environment } from '../../domain/sources.ts';

/** How a platform looks at its machine; tests give recorded answers. */
export interface Machine {
  /** The bytes of a file as Latin-1; null if it cannot be read. */
  read(path: string): string | null;
  /** The output of a program, in the C locale and in UTC; null if it fails or is missing. */
  run(program: string, args: readonly string[]): string | null;
  /** This moment, and the time since the boot, in ms. */
  now(): number;
  uptime_ms(): number;
}

/** The answers of one system. */
export interface Platform extends Pick<Processes, 'environment' | 'nameOf' | 'startedAt' | 'ageMs'> {
  readonly name: 'linux' | 'darwin' | 'generic';
  /** The process that started another one, or has adopted it; null for process 1, and if that cannot be known. */
  parentOf(pid: number): number | null;
  /** Identifies the current boot of the machine; it changes with each restart. */
  boot(): string;
  /**
   * The name of the file system that a folder is on, if other machines see it too: over a network, or as the host or a guest of
   * this one. Null for a local one. `type` is the number from statfs(2).
   */
  networkFileSystem(folder: string, type: number): string | null;
  /** The processes that hold a lock on the file with this inode; none if that cannot be known. */
  lockersOf(inode: number): number[];
  /** Whether something is mounted at exactly this path. Only Linux can mount a single file, so this is not used elsewhere. */
  isMountPoint(path: string): boolean;
  /** The user's directory for state that should outlive a reboot but is not a document of theirs. */
  stateDirectory(env: Environment): string;
  /** The user's directory for configuration. */
  configDirectory(env: Environment): string;
  /** The way popups are shown: the notification server on the session bus, or the notification centre of the system. */
  readonly popups: 'session-bus' | 'notification-centre';
}

/** The platform with this name, as in `process.platform`. */
export function platformOf(system: string, machine: Machine = thisMachine): Platform {
  if (system === 'linux') return linux(machine);
  return system === 'darwin' ? darwin(machine) : generic(machine);
}

const thisMachine: Machine = {
  read(path) {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return null;
    }
  },
  run(program, args) {
    // Loading node:child_process takes 3 ms, which `hive hook` would pay at each event.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    try {
      const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC0' };
      return execFileSync(program, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return null;
    }
  },
  now: () => Date.now(),
  uptime_ms: () => uptime() * 1_000,
};

// ---- Linux ----

/** The number of a field of proc(5), counted from the one after the command. */
const PARENT = 1;
const START_TIME = 19;
/** The kernel counts in hundredths of a second on every platform that Node supports (`USER_HZ`). */
const TICK_MS = 10;

function linux(machine: Machine): Platform {
  const statOf = (pid: number): string[] | null => statFields(machine.read(`/proc/${pid}/stat`));
  const mounts = (): Mount[] => mountsOfLinux(utf8(machine.read('/proc/self/mountinfo') ?? ''));
  const boot = (): string =>
    machine.read('/proc/sys/kernel/random/boot_id')?.trim() ?? bootFromUptime(machine);
  return {
    name: 'linux',
    parentOf: (pid) => processId(statOf(pid)?.[PARENT]),
    nameOf: (pid) => machine.read(`/proc/${pid}/comm`)?.trim() ?? '',
    startedAt(pid) {
      const ticks = statOf(pid)?.[START_TIME];
      return ticks === undefined ? null : `${boot()}:${ticks}`;
    },
    // Both readings are from /proc, so no clock matters.
    ageMs(pid) {
      const ticks = Number(statOf(pid)?.[START_TIME]);
      const up_ms = Number(machine.read('/proc/uptime')?.split(' ')[0]) * 1_000;
      return ageOf(up_ms - ticks * TICK_MS);
    },
    environment: (pid) => variablesOf(machine.read(`/proc/${pid}/environ`) ?? ''),
    boot,
    networkFileSystem: (folder, type) => networkFileSystemOfLinux(type, folder, mounts),
    lockersOf: (inode) => lockers(machine.read('/proc/locks') ?? '', inode),
    isMountPoint: (path) => mounts().some(({ point }) => point === path),
    stateDirectory: (env) => below(env, 'XDG_STATE_HOME', '.local/state'),
    configDirectory: (env) => below(env, 'XDG_CONFIG_HOME', '.config'),
    popups: 'session-bus',
  };
}

/** A plausible age, or null. A container may show an uptime of its own, and a clock may have been set back. */
function ageOf(ms: number): number | null {
  return ms >= 0 ? ms : null;
}

/**
 * The fields of /proc/PID/stat that follow the command's last parenthesis, because a command may contain anything; null for
 * a null text.
 */
export function statFields(stat: string | null): string[] | null {
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** proc_locks(5): `1: POSIX  ADVISORY  READ 1234 08:01:5678 0 EOF`. */
function lockers(locks: string, inode: number): number[] {
  const pids = locks.split('\n').flatMap((line) => {
    const [, pid, number] = /\s(\d+) [0-9a-f]+:[0-9a-f]+:(\d+) /.exec(line) ?? [];
    return pid !== undefined && Number(number) === inode ? [Number(pid)] : [];
  });
  return [...new Set(pids)];
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}

function variablesOf(environ: string): Record<string, string> {
  const entries = utf8(environ)
    .split('\0')
    .filter((entry) => entry.includes('='));
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}

/** XDG Base Directory Specification: a relative path must be ignored. */
function below(env: Environment, variable: string, usual: string): string {
  const given = env[variable];
  return join(given?.startsWith('/') === true ? given : join(homeOf(env), usual), 'hive');
}

/**
 * The person's home. An empty or relative HOME would mean another folder, and another store, for each process, so it is replaced
 * by the home that the system reports.
 */
export function homeOf(env: Environment): string {
  const home = env['HOME'];
  return home?.startsWith('/') === true ? home : userInfo().homedir;
}

/**
 * The types of file systems that several machines see, by their numbers from statfs(2). The last ones share a folder of the host
 * with a virtual machine: each side has its own memory, so neither sees what the other writes into the index of the log.
 */
const SHARED_TYPES: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB2',
  0x01021997: '9P',
  0x5346414f: 'AFS',
  0x00c36400: 'Ceph',
  0x0bd00bd0: 'Lustre',
  0x01161970: 'GFS2',
  0x7461636f: 'OCFS2',
  0x786f4256: 'vboxsf',
  0x7c7c6673: 'prl_fs',
  0xbacbacbc: 'vmhgfs',
};
const FUSE = 0x65735546;
/** virtiofs and fakeowner also have the number of FUSE. Some drivers name themselves with `fuse.` in front and some without. */
const SHARED_FUSE =
  /^(fuse\.)?(sshfs|s3fs|rclone|glusterfs|gcsfuse|goofys|davfs|curlftpfs|cephfs|juicefs|virtiofs|grpcfuse|osxfs|fakeowner|vboxsf|vmhgfs|prl_fs)/;

/** By the type of statfs(2). FUSE can be either, so its mount entry decides. */
function networkFileSystemOfLinux(type: number, folder: string, mounts: () => Mount[]): string | null {
  const unsigned = type >>> 0;
  if (unsigned !== FUSE) return SHARED_TYPES[unsigned] ?? null;
  const kind = mountAbove(folder, mounts())?.kind ?? '';
  return SHARED_FUSE.test(kind) ? kind : null;
}

interface Mount {
  point: string;
  kind: string;
  options: readonly string[];
}

/** The lines of proc(5), mountinfo. */
function mountsOfLinux(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [left, right] = line.split(' - ');
    const point = left
      ?.split(' ')[4]
      ?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const kind = right?.split(' ')[0];
    return point === undefined || kind === undefined ? [] : [{ point, kind, options: [] }];
  });
}

/** The longest mount point that a folder lies under. */
function mountAbove(folder: string, mounts: readonly Mount[]): Mount | null {
  let best: Mount | null = null;
  for (const mount of mounts) {
    const { point } = mount;
    const under = folder === point || point === '/' || folder.startsWith(`${point}/`);
    if (under && (best === null || point.length >= best.point.length)) best = mount;
  }
  return best;
}

// ---- Darwin ----

function darwin(machine: Machine): Platform {
  return {
    ...generic(machine),
    name: 'darwin',
    // Both follow Apple's File System Programming Guide.
    stateDirectory: (env) => join(homeOf(env), 'Library', 'Application Support', 'hive'),
    configDirectory: (env) => join(homeOf(env), 'Library', 'Application Support', 'hive'),
    popups: 'notification-centre',
  };
}

// ---- Any other Unix ----

/** `ps` does not report the start here, so a process cannot be distinguished from a later one with its id. */
const UNKNOWN_START = 'unknown';

function generic(machine: Machine): Platform {
  const read = (pid: number): SeenProcess | null => {
    const known = machine.run('ps', ['-o', 'ppid=,lstart=,comm=', '-p', String(pid)]);
    if (known !== null) return processFromPs(known);
    // POSIX has no lstart, and neither do illumos, AIX and busybox.
    const seen = machine.run('ps', ['-o', 'ppid=,etime=,comm=', '-p', String(pid)]);
    return seen === null ? null : processFromPosixPs(seen, machine.now());
  };
  return {
    name: 'generic',
    parentOf: (pid) => read(pid)?.parent ?? null,
    nameOf: (pid) => read(pid)?.name ?? '',
    startedAt: (pid) => read(pid)?.started_at ?? null,
    ageMs: (pid) => ageOf(machine.now() - (read(pid)?.started_ms ?? Number.NaN)),
    environment: () => ({}),
    // Setting the clock may change this, which only skips some event numbers (events.ts).
    boot: () =>
      bootFromSysctl(machine.run('sysctl', ['-n', 'kern.boottime']) ?? '') ?? bootFromUptime(machine),
    lockersOf: () => [],
    isMountPoint: () => false,
    networkFileSystem: (folder) => networkFileSystemOfMount(folder, machine.run('mount', []) ?? ''),
    stateDirectory: (env) => below(env, 'XDG_STATE_HOME', '.local/state'),
    configDirectory: (env) => below(env, 'XDG_CONFIG_HOME', '.config'),
    popups: 'session-bus',
  };
}

/** A process as `ps` prints it. */
export interface SeenProcess {
  parent: number | null;
  started_at: string;
  started_ms: number | null;
  name: string;
}

/** `ps -o ppid=,lstart=,comm=`: `lstart` is 24 characters in the C locale, `comm` may be a path with blanks. */
export function processFromPs(line: string): SeenProcess | null {
  const found = /^\s*(\d+)\s+(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\s+(.*\S)\s*$/.exec(line);
  if (found === null) return null;
  const [, parent, started_at = '', path = ''] = found;
  const at = Date.parse(`${started_at} UTC`);
  return {
    parent: processId(parent),
    started_at,
    started_ms: Number.isNaN(at) ? null : at,
    name: baseName(path),
  };
}

/** `ps -o ppid=,etime=,comm=` of POSIX: `etime` is `[[dd-]hh:]mm:ss`, to the second. */
export function processFromPosixPs(line: string, now: number): SeenProcess | null {
  const found = /^\s*(\d+)\s+(?:(?:(\d+)-)?(\d+):)?(\d+):(\d\d)\s+(.*\S)\s*$/.exec(line);
  if (found === null) return null;
  const [, parent, days = 0, hours = 0, minutes, seconds, path = ''] = found;
  const elapsed_s = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  return {
    parent: processId(parent),
    started_at: UNKNOWN_START,
    started_ms: now - elapsed_s * 1_000,
    name: baseName(path),
  };
}

function processId(text: string | undefined): number | null {
  const pid = Number(text);
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

/** A login shell has a dash before its name. */
function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/^-/, '');
}

/**
 * `sysctl -n kern.boottime`: `{ sec = 1700000000, usec = 0 } Tue …` on Darwin and FreeBSD, a date or a number of seconds on the
 * other BSDs. Null if it prints nothing.
 */
export function bootFromSysctl(output: string): string | null {
  const seconds = /\bsec = (\d+)/.exec(output)?.[1] ?? output.trim();
  return seconds === '' ? null : `at-${seconds}`;
}

const BOOT_ROUNDED_MS = 10_000;

function bootFromUptime(machine: Machine): string {
  return `at-${Math.round((machine.now() - machine.uptime_ms()) / BOOT_ROUNDED_MS)}`;
}

/**
 * By the output of `mount`: `DEVICE on POINT (KIND, OPTION…)` on Darwin and FreeBSD, `DEVICE on POINT type KIND (OPTION…)` on the
 * other BSDs. They mark each local file system as `local` (MNT_LOCAL). Null also if no line can be read.
 */
export function networkFileSystemOfMount(folder: string, output: string): string | null {
  const mount = mountAbove(folder, mountsOfBsd(output));
  return mount === null || mount.options.includes('local') ? null : mount.kind;
}

function mountsOfBsd(output: string): Mount[] {
  return output.split('\n').flatMap((line) => {
    const found = /^.*? on (\/.*?)(?: type (\S+))? \(([^()]*)\)$/.exec(line);
    if (found === null) return [];
    const [, point = '', type, inside = ''] = found;
    const words = inside.split(',').map((word) => word.trim());
    const [kind = '', ...options] = type === undefined ? words : [type, ...words];
    return [{ point, kind, options }];
  });
}

/** This system. */
export const platform: Platform = platformOf(process.platform);
