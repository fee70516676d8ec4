/** A real PgBouncer in transaction mode in front of our PostgreSQL. */
import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort, owner } from './postgres.ts';
import { paddedPid } from './run-folder.ts';
import type { SharedPostgres } from './shared-postgres.ts';
import { eventually } from './wait.ts';

/** Debian puts it where only root looks. */
const PATH = `${process.env['PATH']}:/usr/sbin`;

/** Returns its port. */
export async function startPgbouncer({
  port: server_port,
  database,
}: Pick<SharedPostgres, 'port' | 'database'>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${paddedPid()}-pgbouncer-`));
  const port = await freePort();
  const config = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  writeFileSync(users, '"hive" ""\n');
  writeFileSync(
    config,
    [
      '[databases]',
      `postgres = host=127.0.0.1 port=${server_port} dbname=${database}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      'default_pool_size = 4',
    ].join('\n'),
  );
  const who = owner();
  if ('uid' in who) for (const path of [folder, config, users]) chownSync(path, who.uid, who.gid);
  const child = spawn('pgbouncer', [config], {
    ...who,
    env: { ...process.env, PATH },
    cwd: folder,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await eventually(() => isOpen(port), 10_000, 'PgBouncer');
  return port;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
