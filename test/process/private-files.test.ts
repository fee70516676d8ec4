/**
 * The files and the output of Hive are for its user alone: modes of files, passwords, tokens.
 *
 * @module-tag no-authority
 * @module-tag cli
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Child,
  childEnvironment,
  type Environment,
  HIVE,
  outputOf,
  spawnChild,
} from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { recordedEvent } from '../support/hooks.ts';
import { serve } from '../support/serve.ts';
import { INITIALIZE } from '../support/sidecar.ts';
import { tempFolder, tempHome, tempStore } from '../support/temp.ts';

/** `hive ARGS…` under a umask that gives everything to everybody. */
function careless(env: Environment, ...args: string[]): Child {
  return spawnChild('sh', ['-c', 'umask 000; exec "$@"', 'sh', process.execPath, HIVE, ...args], env);
}

/** Everything below a folder, with the rights that it gives to users other than its owner. */
function openToOthers(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const mode = lstatSync(path).mode & 0o777;
    return (mode & 0o077) === 0 ? [] : [`${mode.toString(8)} ${path.slice(folder.length + 1)}`];
  });
}

async function rpc(child: Child, ...messages: object[]): Promise<void> {
  for (const message of messages) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  await new Promise((resolve) => child.process.stdout.once('data', resolve));
}

test('only the owner can read any file of the store, its bell, logs and token, whatever the umask', async () => {
  const home = tempFolder();
  const state = join(home, 'state');
  const env = childEnvironment(join(state, 'deep', 'hive.db'), { HOME: home, XDG_STATE_HOME: state });
  // A desk and a server run during the check, so that their logs, shared memory and bell exist.
  const desk = careless(env, 'sidecar');
  await rpc(desk, { id: 1, method: 'initialize', params: INITIALIZE });
  const server = careless(env, 'serve', '--port', '0');
  await new Promise((resolve) => server.process.stdout.once('data', resolve));
  for (const args of [['ask', 'Go on?'], ['post', 'Hello @All'], ['doctor']]) {
    const child = careless(env, ...args);
    child.process.stdin.end();
    await child.exited;
  }
  const hook = careless(env, 'hook', '--client', 'claude-code');
  hook.process.stdin.end(JSON.stringify(recordedEvent('claude-code/SessionStart-startup-headless.json')));
  await outputOf(hook);
  const names = readdirSync(join(state, 'deep'));
  expect(names).toEqual(
    expect.arrayContaining(['hive.db', 'hive.db-wal', 'hive.db-shm', 'hive.db-bell', 'token']),
  );
  expect(openToOthers(state)).toEqual([]);
  // Among them compiled code, which the next start runs.
  expect(readdirSync(join(state, 'hive'))).toEqual(expect.arrayContaining(['code', 'code.key']));
});

test('only the owner can read the files that hive init creates', async () => {
  const home = tempHome();
  const env = childEnvironment(join(home, 'hive.db'), { HOME: home });
  mkdirSync(join(home, '.claude'));
  chmodSync(join(home, '.claude'), 0o700);
  const child = careless(env, 'init', 'claude', '--hooks', '--yes');
  child.process.stdin.end();
  await outputOf(child);
  for (const file of ['.claude.json', '.claude/settings.json'])
    expect([file, lstatSync(join(home, file)).mode & 0o777]).toEqual([file, 0o600]);
});

describe('what is secret', () => {
  const SECRET = 'geheim-4711';

  test('the password of a database is in no output and no log', async () => {
    // Nothing listens there: the message is about the address.
    const store = `postgres://ada:${SECRET}@127.0.0.1:1/hive?schema=team`;
    const env = { HIVE_LOG: 'info', HIVE_LISTEN_URL: store };
    for (const args of [
      ['status'],
      ['doctor'],
      ['ask', 'Q?'],
      ['store', 'log'],
      ['store', 'migrate', '--to', `${tempStore()}`],
      ['mcp'],
      ['sidecar'],
    ]) {
      const ran = await shell(store, env).hive(...args);
      expect(ran.code).not.toBe(0);
      expect(ran.out + ran.err, args.join(' ')).toContain('127.0.0.1');
      expect(ran.out + ran.err, args.join(' ')).not.toContain(SECRET);
    }
    const hook = spawnChild(
      process.execPath,
      [HIVE, 'hook', '--client', 'claude-code'],
      childEnvironment(store, env),
    );
    hook.process.stdin.end(JSON.stringify(recordedEvent('claude-code/SessionStart-startup-headless.json')));
    expect(await outputOf(hook)).not.toContain(SECRET);
    expect(hook.stderr()).not.toBe('');
    expect(hook.stderr()).not.toContain(SECRET);
    const nonsense = await shell(`postgres://ada:${SECRET}@[nowhere`, env).hive('status');
    expect(nonsense.err).not.toContain(SECRET);
  });

  test("a token is in no log: neither the server's nor a refused client's", async () => {
    const served = await serve(tempStore());
    const person = shell(served.store);
    const { secret } = (await person.hive('token', 'make', 'other', '--json')).json();
    const call = (token: string): Promise<Response> =>
      fetch(served.url, { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body: '{' });
    for (const token of [served.token, secret, `${secret}x`]) await (await call(token)).text();
    const said = [
      served.child.stderr(),
      (await person.hive('token', 'list', '--json')).out,
      (await person.hive('store', 'log', '--json')).out,
    ];
    expect(said[1]).toContain('other');
    for (const text of said) {
      expect(text).not.toContain(served.token);
      expect(text).not.toContain(secret);
    }
  });
});
