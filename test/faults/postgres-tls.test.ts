/**
 * TLS to a PostgreSQL server: the modes mean what they mean to psql, and a certificate that is not the right one is a sentence,
 * at the start and while Hive runs.
 *
 * @module-tag state-not-events
 * @module-tag postgres
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { shell } from '../support/cli.ts';
import { ask, HUMAN, openTestHive, whenWaiting } from '../support/hive.ts';
import { beforeFile, whenFinished } from '../support/lifetime.ts';
import { connectMcp, type McpCaller } from '../support/mcp-client.ts';
import { owner, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually, FOR_EVER_MS } from '../support/wait.ts';

const HERE = 'IP:127.0.0.1';
let server: PostgresServer;
let authority: Authority;
let stranger: Authority;
const certificates: Record<string, { cert: string; key: string }> = {};

beforeFile(async () => {
  server = await startPostgres();
  whenFinished(() => server.stop());
  const folder = tempFolder();
  authority = createAuthority(join(folder, 'ours'));
  stranger = createAuthority(join(folder, 'theirs'));
  certificates['right'] = authority.sign('right', HERE);
  certificates['another host'] = authority.sign('elsewhere', 'DNS:db.example');
  certificates['expired'] = authority.sign('expired', HERE, 'over');
  certificates['another authority'] = stranger.sign('stranger', HERE);
});
beforeEach(() => serveWith('right'));

/** Runs statements over the socket of the server, where TLS is no matter. */
async function admin(...texts: string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({
    host: server.folder,
    port: server.port,
    user: 'hive',
    database: 'postgres',
  });
  await client.connect();
  const results: pg.QueryResult[] = [];
  for (const text of texts) results.push(await client.query(text));
  await client.end();
  return results;
}

/** From now on new connections see this certificate. */
async function serveWith(name: string): Promise<void> {
  const { cert, key } = certificates[name] ?? { cert: '', key: '' };
  const who = owner();
  for (const [from, to] of [
    [cert, 'server.crt'],
    [key, 'server.key'],
  ] as const) {
    const file = join(server.data, to);
    copyFileSync(from, file);
    if ('uid' in who) chownSync(file, who.uid, who.gid);
    chmodSync(file, 0o600);
  }
  await admin('ALTER SYSTEM SET ssl = on', 'SELECT pg_reload_conf()');
  await eventually(() => serial() === serial(cert), 20_000, 'the certificate');
}

/** The certificate that the server shows, or that of a file. */
function serial(file?: string): string {
  const said =
    file === undefined
      ? execFileSync('sh', [
          '-c',
          `openssl s_client -starttls postgres -connect 127.0.0.1:${server.port} </dev/null 2>/dev/null | openssl x509 -noout -fingerprint 2>/dev/null || true`,
        ])
      : execFileSync('openssl', ['x509', '-noout', '-fingerprint', '-in', file]);
  return String(said);
}

/** As from now on the server takes nobody over the connections that it has. */
async function cutAll(): Promise<void> {
  await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'hive%'");
}

const address = (more: string): string => `${server.address('tls')}${more}`;
const checked = (): string => address(`&sslmode=verify-full&sslrootcert=${authority.file}`);

/** A line of `pg_hba.conf` before the others, or none. */
async function rule(line: string): Promise<void> {
  const file = join(server.data, 'pg_hba.conf');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, `${line}\n${before}`);
  await admin('SELECT pg_reload_conf()');
  whenFinished(async () => {
    writeFileSync(file, before);
    await admin('SELECT pg_reload_conf()');
  });
}

/** The first call that finds the store open again says only that. */
async function untilAsked(agent: McpCaller): Promise<void> {
  await eventually(() =>
    agent.call('hivemind_ask_async', { question: 'Go on?' }).then(
      () => true,
      () => false,
    ),
  );
}

describe('a certificate that is not the right one', () => {
  test.each([
    ['another authority', 'signed by no authority that Hive may trust'],
    ['another host', 'belongs to another host'],
    ['expired', 'has expired'],
  ])('%s: a sentence, a failed check, and an agent keeps its tools', async (name, words) => {
    await serveWith(name);
    const asked = await shell(checked()).hive('ask', 'Go on?', '--json');
    expect(asked.code).not.toBe(0);
    expect(asked.json()).toMatchObject({
      error: { code: 'store_unavailable', message: expect.stringContaining(words) },
    });
    expect(asked.err).not.toContain('    at ');
    const { checks } = (await shell(checked()).hive('doctor', '--json')).json();
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'Store', state: 'broken', text: expect.stringContaining(words) }),
    );
    const agent = await connectMcp({ store: checked() });
    await expect(agent.call('hivemind_ask_async', { question: 'Go on?' })).rejects.toThrow(words);
    await serveWith('right');
    await untilAsked(agent);
  });

  test('that comes while Hive runs: each call says so, a wait goes on, and the right one is enough', async () => {
    const hive = await openTestHive(checked());
    const { ask_id } = await ask(hive);
    const waiting = hive.prompts.wait([ask_id], { wait_ms: FOR_EVER_MS });
    await whenWaiting(hive);
    await serveWith('expired');
    await cutAll();
    await expect(ask(hive)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('has expired'),
    });
    await serveWith('right');
    const desk = await openTestHive(checked());
    await desk.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    expect((await waiting)[0]).toMatchObject({ status: 'responded', decision: 'yes' });
  });

  test('the file of the authority is missing, and is put there while Hive runs', async () => {
    const file = join(tempFolder(), 'ca.pem');
    const store = address(`&sslmode=verify-full&sslrootcert=${file}`);
    const agent = await connectMcp({ store });
    await expect(agent.call('hivemind_ask_async', { question: 'Go on?' })).rejects.toThrow(
      /The file that sslrootcert of the store names cannot be read/,
    );
    copyFileSync(authority.file, file);
    await untilAsked(agent);
  });
});

/** Whether psql and Hive connect with this mode, and whether that is encrypted. */
async function tryMode(mode: string): Promise<{ psql: boolean; hive: boolean; encrypted: boolean | null }> {
  const url = address(`&sslmode=${mode}&sslrootcert=${mode.startsWith('verify') ? authority.file : ''}`);
  const forPsql = url.replace('schema=tls&', '').replace(/&sslrootcert=$/, '');
  let psql = true;
  try {
    execFileSync('psql', ['-tAqc', 'SELECT 1', forPsql], {
      env: { PATH: '/usr/bin:/bin', HOME: '/nowhere' },
      stdio: 'pipe',
    });
  } catch {
    psql = false;
  }
  const { code, err } = await shell(url).hive('ask', 'Go on?');
  expect(err).not.toMatch(/\(node:|\n\s+at /);
  let encrypted: boolean | null = null;
  if (code === 0) {
    const hive = await openTestHive(url);
    const found = await admin(
      "SELECT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'hive'",
    );
    await hive.close();
    encrypted = found[0]?.rows.every(({ ssl }) => ssl === true) ?? null;
  }
  return { psql, hive: code === 0, encrypted };
}

describe('a mode means what it means to psql', () => {
  const yes = (encrypted: boolean) => ({ psql: true, hive: true, encrypted });
  const NO = { psql: false, hive: false, encrypted: null };

  test.each([
    ['disable', yes(false)],
    ['allow', yes(false)],
    ['prefer', yes(true)],
    ['require', yes(true)],
    ['verify-ca', yes(true)],
    ['verify-full', NO],
  ])('%s, where the certificate is for another host', async (mode, outcome) => {
    await serveWith('another host');
    expect(await tryMode(mode)).toEqual(outcome);
  });

  test.each([
    ['prefer', yes(true)],
    ['require', yes(true)],
    ['verify-ca', NO],
  ])('%s, where another authority has signed it', async (mode, outcome) => {
    await serveWith('another authority');
    expect(await tryMode(mode)).toEqual(outcome);
  });

  test.each([
    ['disable', NO],
    ['allow', yes(true)],
    ['prefer', yes(true)],
  ])('%s, where the server takes encrypted connections only', async (mode, outcome) => {
    await rule('hostnossl all all 127.0.0.1/32 reject');
    expect(await tryMode(mode)).toEqual(outcome);
  });

  test.each([
    ['prefer', yes(false)],
    ['require', NO],
  ])('%s, where the server takes unencrypted connections only', async (mode, outcome) => {
    await rule('hostssl all all 127.0.0.1/32 reject');
    expect(await tryMode(mode)).toEqual(outcome);
  });

  test.each([
    ['allow', yes(false)],
    ['prefer', yes(false)],
    ['require', NO],
  ])('%s, where the server offers no TLS', async (mode, outcome) => {
    await admin('ALTER SYSTEM SET ssl = off', 'SELECT pg_reload_conf()');
    await eventually(() => serial() === '', 20_000, 'the end of TLS');
    expect(await tryMode(mode)).toEqual(outcome);
  });

  test('a server that wants TLS is named as the reason', async () => {
    await rule('hostnossl all all 127.0.0.1/32 reject');
    const { err } = await shell(address('')).hive('ask', 'Go on?');
    expect(err).toContain('and sslmode: the server requires TLS');
  });
});
