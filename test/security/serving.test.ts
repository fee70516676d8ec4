/**
 * Connections to other machines: who opens them, and what is sent over them.
 *
 * @module-tag untrusted
 * @module-tag http
 */
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { childEnvironment, readOutput, spawnChild, spawnHive } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { ask, eventsOf, HUMAN, introduction, newHive } from '../support/hive.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

test.each([
  ['serve', '--port', '0'],
  ['store', 'prune', '--days', '1'],
  ['store', 'prune', '--mentions', '--days', '0', '--yes'],
])(
  'an agent opens no connection and removes no record: hive %s %s %s is refused to it, by its variables and by the process above',
  async (...words) => {
    const { store, hive } = await newHive();
    const { ask_id } = await ask(hive);
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    const byVariables = await shell(store, { CLAUDECODE: '1' }).hive(...words);
    expect(byVariables).toMatchObject({ code: 7, out: '' });
    expect(byVariables.err).toMatch(/Only a human may .*CLAUDECODE is set/);
    await hive.sessions.introduce(introduction({ machine: hostname(), pid: process.pid }));
    const byAncestor = await shell(store).hive(...words);
    expect(byAncestor).toMatchObject({ code: 7, out: '' });
    expect(byAncestor.err).toContain('it runs under Claude-sessi');
    expect(await tokensOf(hive).list()).toEqual([]);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'yes' });
  },
);

describe('no token is sent over plain HTTP to or from another machine', () => {
  test('hive serve refuses it without --insecure', async () => {
    const refused = await shell(tempStore()).hive('serve', '--host', '0.0.0.0', '--port', '0');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('can read the tokens');
    const serving = spawnHive(
      ['serve', '--host', '0.0.0.0', '--port', '0', '--insecure'],
      childEnvironment(tempStore()),
    );
    const said = readOutput(serving);
    await eventually(() => said().includes('http://0.0.0.0:'), 10_000, 'its address');
  });

  test.each([
    ['there even with --insecure', '--host 0.0.0.0 --insecure --inbox', 'a phone cannot use the inbox'],
    [
      'at an address that is plain HTTP of another machine',
      '--inbox http://hive.example.org',
      'A phone cannot use the inbox at http://hive.example.org/inbox',
    ],
  ])('hive serve refuses the inbox %s', async (_place, options, why) => {
    const refused = await shell(tempStore()).hive('serve', '--port', '0', ...options.split(' '));
    expect(refused.code).toBe(2);
    expect(refused.err).toContain(why);
  });

  test('an Emacs that serves refuses it, and keeps its desk', async () => {
    const { store, hive } = await newHive();
    await startSidecar(store, { args: ['--serve', '0.0.0.0:0'] });
    await eventually(async () => (await eventsOf(hive, 'desk/notice')).length === 1, 10_000, 'the notice');
    const [notice] = await eventsOf(hive, 'desk/notice');
    expect(notice?.data['text']).toContain('can read the tokens');
  });

  test('hive mcp and hive hook send none', async () => {
    const token = join(tempFolder(), 'token');
    writeFileSync(token, 'secret\n', { mode: 0o600 });
    const remote = ['--url', 'http://hive.example:7373', '--token-file', token];
    const person = shell(tempStore());
    const mcp = await person.hive('mcp', ...remote);
    expect(mcp.code).toBe(2);
    expect(mcp.err).toContain('can read the token');
    const hook = person.start('hook', ...remote);
    hook.child.process.stdin.end('{"hook_event_name":"Stop","session_id":"s1"}');
    expect((await hook.done).err).toContain('can read the token');
  });
});

describe('a token file', () => {
  test('is readable by its owner only, whatever was there', async () => {
    const store = tempStore();
    const file = join(dirname(store), 'token');
    writeFileSync(file, 'old\n');
    chmodSync(file, 0o666);
    const { out } = await shell(store).hive('token', 'make', 'default');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await shell(store).hive('token', 'show')).out).toBe(out);
  });

  test('that is missing is made by the command that the error names', async () => {
    const person = shell(tempStore());
    const { err } = await person.hive('token', 'show');
    const advised = /make one with: hive (.*)\n$/.exec(err)?.[1]?.split(' ') ?? [];
    const { out } = await person.hive(...advised);
    expect(await person.hive('token', 'show')).toMatchObject({ code: 0, out });
  });

  test('that is empty is an error, not an empty token', async () => {
    const store = tempStore();
    const file = join(dirname(store), 'token');
    writeFileSync(file, '\n', { mode: 0o600 });
    expect((await shell(store).hive('token', 'show')).err).toContain(`The token file ${file} is empty.`);
    const remote = ['--url', 'http://127.0.0.1:9', '--token-file', file];
    const hook = shell(store).start('hook', ...remote);
    hook.child.process.stdin.end('{"hook_event_name":"Stop","session_id":"s1"}');
    expect((await hook.done).err).toContain(`The token file ${file} is empty.`);
  });
});

test('hive init shows the name of a folder as one line, whatever is in it', async () => {
  const folder = join(tempFolder(), 'a\nSet this up? yes\n\u001b[2J');
  mkdirSync(folder);
  const env = childEnvironment(tempStore());
  const child = spawnChild(
    'sh',
    ['-c', 'cd "$1" && shift && exec "$@"', 'sh', folder, process.execPath, ...initIn()],
    env,
  );
  const said = readOutput(child);
  await child.exited;
  expect(said()).toContain('a\\nSet this up? yes\\n');
  expect(said()).not.toMatch(/^Set this up/m);
  expect(said()).not.toContain('\u001b');
});

function initIn(): string[] {
  return [join(import.meta.dirname, '../../bin/hive'), 'init', 'claude', '--project', '--print'];
}
