/** A private PostgreSQL server on loopback, in a temporary directory, run by a user that PostgreSQL allows. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { paddedPid } from './run-folder.ts';
import { eventually } from './wait.ts';

export interface PostgresServer {
  readonly port: number;
  /** The folder of its data. */
  readonly data: string;
  /** The server's process; another one after a restart. */
  readonly pid: number;
  /** All that it has on disk. */
  readonly folder: string;
  /** The address of a new hive, in its own schema. */
  address(schema: string): string;
  stop(): Promise<void>;
  /** Stops at once, like a crash, and starts again. */
  restart(): Promise<void>;
  /** The path of its disk, as the server sees it. */
  readonly smallDisk: string;
  /** Stops at once and does not start again; `stop` must still be called. */
  crash(): Promise<void>;
  /** A standby takes over. */
  promote(): Promise<void>;
}

export interface PostgresOptions {
  /** Beside ours, `name=value`. */
  settings?: readonly string[];
  /** Follows this server, as its only standby. */
  standbyOf?: PostgresServer;
  /** A disk of this size (`64m`) at `folder/small` that only the server sees. Needs root. */
  smallDisk?: string;
  /** Goes on when the process that started it has ended, and its folder is not among those of a test file. */
  outlivesFile?: boolean;
}

/** Debian keeps the server's programs out of PATH. */
export function program(name: string): string {
  const versions = '/usr/lib/postgresql';
  const [newest = ''] = readdirSync(versions).sort((a, b) => Number(b) - Number(a));
  return join(versions, newest, 'bin', name);
}

/** PostgreSQL refuses to run as root, so it then runs as Debian's postgres user. */
export function owner(): { uid: number; gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(
    join(tmpdir(), options.outlivesFile === true ? 'hive-postgres-' : `hive-test-${paddedPid()}-postgres-`),
  );
  const who = owner();
  if ('uid' in who) chownSync(folder, who.uid, who.gid);
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: folder };
  const run = (name: string, ...args: string[]): void => {
    execFileSync(program(name), args, { ...who, env, cwd: folder, stdio: 'ignore' });
  };
  const { standbyOf: primary } = options;
  if (primary === undefined)
    run('initdb', '-D', data, '-U', 'hive', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8');
  else
    run(
      'pg_basebackup',
      ...['-D', data, '-d', `host=127.0.0.1 port=${primary.port} user=hive application_name=standby`],
      ...['-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
    );
  const port = await freePort();
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=200',
    'shared_buffers=32MB',
    ...(options.settings ?? []),
  ];
  const small = join(folder, 'small');
  if (options.smallDisk !== undefined) {
    mkdirSync(small, { mode: 0o700 });
    if ('uid' in who) chownSync(small, who.uid, who.gid);
  }

  let server = launch();
  function launch() {
    const words = [program('postgres'), '-D', data, ...settings.flatMap((setting) => ['-c', setting])];
    const [command = '', ...args] = options.smallDisk === undefined ? words : onSmallDisk(words);
    const as = options.smallDisk === undefined ? who : {};
    const detached = options.outlivesFile === true;
    const child = spawn(command, args, { ...as, env, cwd: folder, stdio: 'ignore', detached });
    if (detached) child.unref();
    return { child, ended: new Promise<void>((resolve) => child.once('exit', () => resolve())) };
  }
  /** The disk is mounted by root, in a namespace that ends with the server; what follows is the server's own user. */
  function onSmallDisk(words: readonly string[]): string[] {
    const { uid, gid } = who as { uid: number; gid: number };
    const mount = `mount -t tmpfs -o size=${options.smallDisk},mode=0700,uid=${uid},gid=${gid} none "${small}"`;
    const become = `exec setpriv --reuid=${uid} --regid=${gid} --clear-groups "$@"`;
    return ['/usr/bin/unshare', '-m', 'sh', '-c', `${mount} && ${become}`, 'sh', ...words];
  }
  async function ready(): Promise<void> {
    await eventually(
      () => {
        try {
          execFileSync(program('pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)], { env });
          return true;
        } catch {
          return false;
        }
      },
      20_000,
      'PostgreSQL',
    );
  }
  await ready();

  return {
    port,
    data,
    get pid() {
      return server.child.pid ?? 0;
    },
    folder,
    smallDisk: small,
    address: (schema) => `postgres://hive@127.0.0.1:${port}/postgres?schema=${schema}`,
    async stop() {
      server.child.kill('SIGQUIT');
      await server.ended;
      rmSync(folder, { recursive: true, force: true });
    },
    async crash() {
      server.child.kill('SIGQUIT');
      await server.ended;
    },
    async promote() {
      run('pg_ctl', 'promote', '-w', '-D', data);
    },
    async restart() {
      server.child.kill('SIGQUIT');
      await server.ended;
      server = launch();
      await ready();
    },
  };
}
