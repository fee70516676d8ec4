/** A PostgreSQL server that asks for a password: it comes from PGPASSFILE, and no warning is printed on the way. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { beforeFile, whenFinished } from '../support/lifetime.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { tempFolder } from '../support/temp.ts';

const PASSWORD = 'geheim:1';
let server: PostgresServer;
let address: string;

beforeFile(async () => {
  server = await startPostgres();
  whenFinished(() => server.stop());
  const client = new pg.Client(server.address('any'));
  await client.connect();
  await client.query(
    `CREATE ROLE asked LOGIN PASSWORD '${PASSWORD}'; GRANT CREATE ON DATABASE postgres TO asked`,
  );
  await client.end();
  const rules = join(server.data, 'pg_hba.conf');
  writeFileSync(rules, `host all asked 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`);
  await server.restart();
  address = server.address('guarded').replace('hive@', 'asked@');
});

/** The environment of a person whose password file has these lines. */
function withPasswords(...lines: string[]): Record<string, string> {
  const PGPASSFILE = join(tempFolder(), 'passwords');
  writeFileSync(PGPASSFILE, lines.join('\n'), { mode: 0o600 });
  return { PGPASSFILE };
}

test('the line of the connection has it, and what is printed is the answer alone', async () => {
  const env = withPasswords('elsewhere:*:*:*:wrong', `127.0.0.1:${server.port}:postgres:asked:geheim\\:1`);
  const child = spawnHive(['status'], childEnvironment(address, env));
  child.process.stdin.end();
  expect(await child.exited).toMatchObject({ code: 0 });
  expect(child.stderr()).toBe('');
});

test('PGPASSWORD counts more than the file', async () => {
  const env = { ...withPasswords('*:*:*:*:wrong'), PGPASSWORD: PASSWORD };
  expect(await shell(address, env).hive('status')).toMatchObject({ code: 0, err: '' });
});

test('without a password that fits, a sentence says which line of the file would have it', async () => {
  for (const env of [{}, withPasswords('elsewhere:*:*:*:geheim\\:1')]) {
    const { code, err } = await shell(address, env).hive('status');
    expect(code).not.toBe(0);
    expect(err).toContain(`127.0.0.1:${server.port}:postgres:asked:PASSWORD into ~/.pgpass`);
    expect(err).not.toContain('    at ');
  }
});

test('a wrong password is refused, and a sentence says so without it', async () => {
  const { code, err } = await shell(address, withPasswords('*:*:*:*:wrong')).hive('status');
  expect(code).not.toBe(0);
  expect(err).toMatch(/The server refuses the store .*Check user, password, database and grants\./);
  expect(err).not.toContain('wrong');
});
