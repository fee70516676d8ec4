/**
 * `hive hook` with invalid input: it prints nothing to the client, in time, and fails open or closed as configured.
 *
 * @module-tag untrusted
 * @module-tag guards-end
 * @module-tag hook
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { parseEvent } from '../../src/adapters/hooks/hook.ts';
import { RUN_VARIABLE } from '../../src/domain/runs.ts';
import {
  type Child,
  childEnvironment,
  type Environment,
  readOutput,
  spawnChild,
  spawnHive,
} from '../support/children.ts';
import { HUMAN, newHive, openTestHive } from '../support/hive.ts';
import { sleepingRun } from '../support/run-rows.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const ROOT = join(import.meta.dirname, '../..');
const SESSION = '5e551000-0000-4000-8000-000000000001';
const EVENT = {
  session_id: SESSION,
  cwd: '/home/user/project',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 't1',
};

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

async function hook(
  store: string,
  stdin: string,
  env: Environment = {},
  args: readonly string[] = ['--client', 'claude-code'],
): Promise<Ran> {
  const child: Child = spawnHive(['hook', ...args], childEnvironment(store, env));
  const out = readOutput(child);
  child.process.stdin.end(stdin);
  const { code } = await child.exited;
  return { code, out: out(), err: child.stderr() };
}

const CLOSED = { HIVE_GATE_FAIL: 'closed' };
const DEEP = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;

describe('an invalid event', () => {
  test('the tool runs, and stderr says why', async () => {
    const ran = await hook(tempStore(), '{"session_id":');
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(ran.err).toMatch(/^hive hook: .+\.\n$/);
  });

  test.each([
    ['nothing at all', ''],
    ['no JSON', 'hello'],
    ['JSON that is no object', '[1,2]'],
    ['no name', JSON.stringify({ session_id: SESSION })],
    ['no session', JSON.stringify({ hook_event_name: 'PreToolUse' })],
    ['a session that is no text', JSON.stringify({ ...EVENT, session_id: 5 })],
  ])('%s is refused with a sentence', (_what, stdin) => {
    expect(() => parseEvent(stdin, {}, 'claude-code')).toThrow(/^.+\.$/);
  });

  test('wakes no session, and stderr says why', async () => {
    const ran = await hook(tempStore(), 'hello', CLOSED, ['--wake']);
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(ran.err).toMatch(/^hive hook: idle agents will not be woken: .+\.\n$/);
  });

  test('is a denial if the hook is to fail closed', async () => {
    expect(await hook(tempStore(), 'hello', CLOSED)).toMatchObject({ code: 2, out: '' });
  });

  const STOP = '"hook_event_name": "Stop"';
  test.each([
    ['half a Stop', `{"session_id":"${SESSION}",${STOP},`, 0],
    ['half a SubagentStop', '{"hook_event_name":"SubagentStop",', 0],
    ['a Stop without a session', `{${STOP}}`, 0],
    ['a Stop that is too deep', `{${STOP},"x":${DEEP}}`, 0],
    ['half another event', '{"hook_event_name":"PreToolUse",', 2],
    // An agent's own text decides nothing, whichever order the client gives to the fields.
    [
      'a Stop in the input of a tool',
      `{"tool_input":{${STOP},"x":${DEEP}},"hook_event_name":"PreToolUse"}`,
      2,
    ],
    ['a Stop in a text', `{"tool_input":${JSON.stringify(`{${STOP}}`)},`, 2],
  ])('%s, failing closed: exit code', async (_what, stdin, code) => {
    expect(await hook(tempStore(), stdin, CLOSED)).toMatchObject({ code, out: '' });
  });
});

describe('a call whose input nests too deep', () => {
  const called = (name: string): string =>
    JSON.stringify({ ...EVENT, hook_event_name: name, tool_input: 'HERE' }).replace('"HERE"', DEEP);

  test('is interrupted like any other', async () => {
    const { store, hive } = await newHive();
    await hook(store, JSON.stringify({ ...EVENT, hook_event_name: 'UserPromptSubmit', prompt: 'Go.' }));
    const asked = hive.interrupts.interrupt({ session: SESSION, note: 'wrong branch', actor: HUMAN });
    await eventually(async () => (await hive.turns.newestOf([SESSION]))[0]?.interrupts.length === 1);
    const ran = await hook(store, called('PreToolUse'));
    expect(ran.out).toContain('wrong branch');
    await hook(store, called('PostToolUse'));
    await hook(store, JSON.stringify({ ...EVENT, hook_event_name: 'Stop' }));
    await asked;
  });

  test('is denied in a run, where its client would not ask', async () => {
    const { store, hive } = await newHive();
    await hive.store.write((tx) => tx.runs.put(sleepingRun({ session_id: SESSION, status: 'working' })));
    const { out } = await hook(store, called('PreToolUse'), { [RUN_VARIABLE]: 'run-1:1' });
    expect(JSON.parse(out)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
    expect(out).toContain('nested too deep');
    expect((await hive.prompts.list({ limit: 10 })).items).toEqual([]);
  });

  test('is allowed by its client alone', async () => {
    const ran = await hook(tempStore(), called('PermissionRequest'));
    expect(ran).toMatchObject({ code: 0, out: '', err: expect.stringContaining('deeper than 200 levels') });
  });
});

test('an unknown event gets no verdict', async () => {
  const ran = await hook(tempStore(), JSON.stringify({ ...EVENT, hook_event_name: 'SomethingNew' }));
  expect(ran).toEqual({ code: 0, out: '', err: '' });
});

test('an event of five megabytes is read like any other', async () => {
  const store = tempStore();
  const input = { command: `echo ${'x'.repeat(5 * 1024 * 1024)}` };
  expect(await hook(store, JSON.stringify({ ...EVENT, tool_input: input }))).toEqual({
    code: 0,
    out: '',
    err: '',
  });
  const hive = await openTestHive(store);
  expect((await hive.sessions.find(SESSION))?.state).toBe('active');
});

test('text with NUL and lone surrogates is stored with replacement characters', async () => {
  const store = tempStore();
  const stdin = `{"hook_event_name":"SessionStart","source":"startup","session_id":"a\\u0000b\\ud800c","cwd":"/x"}`;
  expect((await hook(store, stdin)).code).toBe(0);
  const hive = await openTestHive(store);
  expect((await hive.sessions.list()).map(({ session_id }) => session_id)).toEqual(['a\uFFFDb\uFFFDc']);
});

describe('a store that cannot be used', () => {
  test('locked by another process: given up within 2 s, open or closed as configured', async () => {
    const store = tempStore();
    await openTestHive(store);
    const holder = new DatabaseSync(store);
    holder.exec('BEGIN IMMEDIATE');
    // The lock lasts until it is released below.
    const open = await hook(store, JSON.stringify(EVENT));
    expect(open).toMatchObject({ code: 0, out: '' });
    expect(open.err).toContain('locked');
    expect((await hook(store, JSON.stringify(EVENT), CLOSED)).code).toBe(2);
    holder.exec('ROLLBACK');
    holder.close();
  });

  test('a file that is not a store: the tool runs, and the file is not changed', async () => {
    const store = tempStore();
    writeFileSync(store, 'my notes');
    const ran = await hook(store, JSON.stringify(EVENT));
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(ran.err).toContain('is not a Hive store');
  });

  test('a folder in its place: the tool runs', async () => {
    const store = join(dirname(tempStore()), 'folder.db');
    mkdirSync(store);
    expect(await hook(store, JSON.stringify(EVENT))).toMatchObject({ code: 0, out: '' });
  });
});

test('fails as configured if it needs the program that has everything, and that is missing', async () => {
  const root = tempFolder();
  for (const name of ['bin', 'dist/hook-small.cjs'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  // Its store must be made first, which the small program cannot do.
  const fire = async (env: Environment): Promise<{ code: number | null; err: string }> => {
    const child = spawnChild(
      process.execPath,
      [join(root, 'bin/hive'), 'hook'],
      childEnvironment(tempStore(), env),
    );
    child.process.stdin.end(JSON.stringify(EVENT));
    return { code: (await child.exited).code, err: child.stderr() };
  };
  expect(await fire(CLOSED)).toMatchObject({ code: 2, err: expect.stringContaining('hook.cjs') });
  expect(await fire({})).toMatchObject({ code: 0 });
});
