/** A real PostgreSQL of one's own, on loopback, in a temporary directory, run by a user that may run it. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './wait.ts';

export interface PostgresServer {
  readonly port: number;
  /** The address of a hive, each in a schema of its own. */
  address(schema: string): string;
  stop(): Promise<void>;
  /** Ends at once, as a crash would, and starts again. */
  restart(): Promise<void>;
}

/** Debian keeps the server's programs out of PATH. */
function program(name: string): string {
  const versions = '/usr/lib/postgresql';
  const [newest = ''] = readdirSync(versions).sort((a, b) => Number(b) - Number(a));
  return join(versions, newest, 'bin', name);
}

/** PostgreSQL refuses root: then it runs as Debian's own user for it. */
function owner(): { uid: number; gid: number } | Record<string, never> {
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

export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${process.pid}-postgres-`));
  const who = owner();
  if ('uid' in who) chownSync(folder, who.uid, who.gid);
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: folder };
  execFileSync(
    program('initdb'),
    ['-D', data, '-U', 'hive', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8'],
    { ...who, env, cwd: folder, stdio: 'ignore' },
  );
  const port = await freePort();
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=200',
    'shared_buffers=32MB',
  ];

  let server = launch();
  function launch() {
    const child = spawn(
      program('postgres'),
      ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      { ...who, env, cwd: folder, stdio: 'ignore' },
    );
    return { child, ended: new Promise<void>((resolve) => child.once('exit', () => resolve())) };
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
    address: (schema) => `postgres://hive@127.0.0.1:${port}/postgres?schema=${schema}`,
    async stop() {
      server.child.kill('SIGQUIT');
      await server.ended;
      rmSync(folder, { recursive: true, force: true });
    },
    async restart() {
      server.child.kill('SIGQUIT');
      await server.ended;
      server = launch();
      await ready();
    },
  };
}
