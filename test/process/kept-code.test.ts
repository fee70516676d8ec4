/**
 * The compiled code that is kept between starts: it makes them faster, and changes no behaviour.
 *
 * @module-tag no-authority
 * @module-tag cheap-hooks
 * @module-tag hook
 */
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stateDirectory } from '../../src/infrastructure/platform/paths.ts';
import { childEnvironment, type Environment, spawnHive, watchesBell } from '../support/children.ts';
import { openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { copyFolder, tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const SESSION = '5e551000-0000-4000-8000-000000000001';

interface Place {
  store: string;
  home: string;
}

function place(): Place {
  return { store: tempStore(), home: tempFolder() };
}

/** Where hooks have made the store and kept their code. */
let used: Place;
beforeFile(async () => {
  used = place();
  await fire(used, 'PreToolUse');
  await fire(used, 'PreToolUse');
});

/** A copy of it. */
function usedPlace(): Place {
  const here = place();
  copyFolder(used.home, here.home);
  copyFolder(dirname(used.store), dirname(here.store));
  return here;
}

async function fire({ store, home }: Place, name: string, env: Environment = {}): Promise<number | null> {
  const child = spawnHive(['hook'], childEnvironment(store, { HOME: home, ...env }));
  const tool = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: `t-${name}` };
  const event = { session_id: SESSION, cwd: '/home/user/project', hook_event_name: name, ...tool };
  child.process.stdin.end(JSON.stringify(event));
  const { code } = await child.exited;
  expect(child.stderr()).toBe('');
  return code;
}

/** The files of kept code, with the event or command they are for, oldest first. */
function kept({ home }: Place): { kind: string; file: string }[] {
  const folder = join(home, '.local/state/hive/code');
  return readdirSync(folder)
    .map((name) => ({ kind: name.split('-').at(-1) ?? '', file: join(folder, name) }))
    .sort((a, b) => statSync(a.file).mtimeMs - statSync(b.file).mtimeMs);
}

async function turnsOf({ store }: Place): Promise<readonly string[]> {
  const hive = await openTestHive(store);
  const turns = await hive.turns.newestOf([SESSION]);
  await hive.close();
  return turns.map(({ turn }) => turn.state);
}

test('a hook that has to create the store handles its event once', async () => {
  const here = place();
  expect(await fire(here, 'PreToolUse')).toBe(0);
  const hive = await openTestHive(here.store);
  const events = await hive.store.read((tx) => tx.events.after(0, 100));
  await hive.close();
  expect(events.map(({ type }) => type)).toEqual(['session/started', 'turn/changed']);
});

test("a hook's compiled code is kept for the next one of its event, and a Stop still ends the turn", async () => {
  const here = place();
  await fire(here, 'PreToolUse');
  await fire(here, 'PreToolUse');
  // Of the program that has everything, which created the store, and of the small one.
  expect(kept(here).map(({ kind }) => kind)).toEqual(['PreToolUse', 'PreToolUse']);
  const before = kept(here).map(({ file }) => readFileSync(file));
  await fire(here, 'PreToolUse');
  expect(kept(here).map(({ file }) => readFileSync(file))).toEqual(before);
  await fire(here, 'PostToolUse');
  expect(await turnsOf(here)).toEqual(['in_progress']);
  await fire(here, 'Stop');
  await fire(here, 'Stop');
  expect(await turnsOf(here)).toEqual(['completed']);
  expect(kept(here).map(({ kind }) => kind)).toEqual(['PreToolUse', 'PreToolUse', 'PostToolUse', 'Stop']);
});

const DAMAGES: [string, (code: Buffer) => Buffer][] = [
  ['a bit flips', (code) => Buffer.from(code.map((byte, at) => (at === 50_000 ? byte ^ 1 : byte)))],
  ['the end is missing', (code) => code.subarray(0, 50_000)],
  ['nothing is left of it', () => Buffer.alloc(0)],
  ['it is of another engine', () => Buffer.alloc(80_000, 7)],
];

test.each(DAMAGES)('damaged code is compiled again: %s', async (_what, damage) => {
  const here = usedPlace();
  const file = kept(here).at(-1)?.file ?? '';
  const before = readFileSync(file);
  writeFileSync(file, damage(before));
  expect(await fire(here, 'PreToolUse')).toBe(0);
  const after = readFileSync(file);
  expect(after.length).toBeGreaterThan(50_000);
  // Twice, then the key and the name.
  const half = (after.length - 32 - basename(file).length) / 2;
  expect(after.subarray(0, half).equals(after.subarray(half, 2 * half))).toBe(true);
});

const LOSSES: [string, (key: string) => void][] = [
  ['is gone', (key) => unlinkSync(key)],
  ['is empty', (key) => writeFileSync(key, '')],
];

test.each(LOSSES)('a key that %s is created again, and so is the code', async (_what, lose) => {
  const here = usedPlace();
  const [{ file } = { file: '' }] = kept(here).slice(-1);
  const key = join(here.home, '.local/state/hive/code.key');
  const before = readFileSync(key);
  expect(before).toHaveLength(32);
  lose(key);
  await fire(here, 'PreToolUse');
  expect(readFileSync(key)).toHaveLength(32);
  expect(readFileSync(key)).not.toEqual(before);
  expect(readFileSync(file).includes(readFileSync(key))).toBe(true);
});

test('code is kept in the state directory, wherever the store is', async () => {
  const here = place();
  const env = { XDG_STATE_HOME: tempFolder() };
  await fire(here, 'PreToolUse', env);
  const state = stateDirectory({ HOME: here.home, ...env });
  expect(readdirSync(state).sort()).toEqual(['code', 'code.key']);
});

test('a command keeps its code, one that fails does not', async () => {
  const here = place();
  const env = childEnvironment(here.store, { HOME: here.home });
  const run = async (...args: string[]) => spawnHive(args, env).exited;
  expect(await run('poll', 'ask-0000000000000000')).not.toMatchObject({ code: 0 });
  expect(readdirSync(here.home)).toEqual([]);
  expect(await run('status')).toMatchObject({ code: 0 });
  expect(await run('status')).toMatchObject({ code: 0 });
  expect(kept(here).map(({ kind }) => kind)).toEqual(['status']);
});

test('a long-running program keeps its code in the form that its next start will take', async () => {
  const here = place();
  const env = childEnvironment(here.store, { HOME: here.home });
  const stay = async () => {
    const child = spawnHive(['mcp'], env);
    // Wait until it has set the flags of a long-running program; a start does not accept code that was compiled with them.
    await eventually(() => watchesBell(child.pid, here.store));
    child.process.stdin.end();
    expect(await child.exited).toMatchObject({ code: 0 });
    return kept(here).map(({ file }) => statSync(file).ino);
  };
  const first = await stay();
  expect(first).toHaveLength(1);
  // Code that is not accepted would be compiled again.
  expect(await stay()).toEqual(first);
});

test('nothing is kept if the person turned it off', async () => {
  const here = place();
  const env = { NODE_DISABLE_COMPILE_CACHE: '1' };
  await fire(here, 'PreToolUse', env);
  await fire(here, 'PreToolUse', env);
  expect(readdirSync(here.home)).toEqual([]);
});

describe('what nobody needs any more is removed when code is kept', () => {
  test('code that is older than a month, and no other', async () => {
    const here = usedPlace();
    const [{ file } = { file: '' }] = kept(here);
    const [old, young] = ['old', 'young'].map((name) => join(dirname(file), `code-${name}`));
    for (const name of [old, young]) writeFileSync(String(name), 'code', { mode: 0o600 });
    const before = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
    utimesSync(String(old), before, before);
    await fire(here, 'Stop');
    expect(existsSync(String(old))).toBe(false);
    expect(existsSync(String(young))).toBe(true);
    expect(existsSync(file)).toBe(true);
  });

  test('a folder that others can open: a new one takes its place', async () => {
    const here = usedPlace();
    const folder = join(here.home, '.local/state/hive/code');
    writeFileSync(join(folder, 'planted'), 'code');
    chmodSync(folder, 0o755);
    await fire(here, 'PreToolUse');
    expect(kept(here).map(({ kind }) => kind)).toEqual(['PreToolUse']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});
