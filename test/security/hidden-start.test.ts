/**
 * An agent that hides who started its process: in namespaces of its own, behind a scheduler, and in a tmux that nobody
 * looks at (docs/threat-model.md).
 *
 * @module-tag no-self-approval
 * @module-tag sqlite
 * @module-tag cli
 */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, type Environment, HIVE, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { ask, eventsOf, introduction, openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { whenFinished } from '../support/lifetime.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { openTerminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';

/** A store of which this test process, and with it all that it starts, is a registered agent. */
async function agentsStore(): Promise<string> {
  const store = tempStore();
  const hive = await openTestHive(store);
  await hive.sessions.introduce(introduction({ machine: hostname(), pid: process.pid }));
  return store;
}

interface Ran {
  code: number | null;
  err: string;
}

async function run(env: Environment, ...words: string[]): Promise<Ran> {
  const [program = '', ...args] = words;
  const child = spawnChild(program, args, env);
  child.process.stdin.end();
  const { code } = await child.exited;
  return { code, err: child.stderr() };
}

const OWN_PROCESSES = ['unshare', '-Urpf', '--mount-proc'];
const ACTS = [['post', 'I am the human.'], ['token', 'make', 'evil'], ['config', 'sound', 'no'], ['sidecar']];

test('a namespace of processes in which nobody sees the agent does not make it a person', async () => {
  const store = await agentsStore();
  const env = childEnvironment(store);
  for (const act of ACTS) {
    const { code, err } = await run(env, ...OWN_PROCESSES, process.execPath, HIVE, ...act);
    expect({ act, code, err }).toMatchObject({
      code: 7,
      err: expect.stringContaining('container or sandbox that anybody can make'),
    });
    expect(err).toContain(`add "container_id_map": "0 ${process.getuid?.()} 1" to`);
  }
  expect(await eventsOf(await openTestHive(store), 'desk/opened', 'token/changed')).toEqual([]);
});

test('nor does one with the /proc of another namespace, or with another map of ids', async () => {
  const env = childEnvironment(await agentsStore());
  const act = [process.execPath, HIVE, 'post', 'I am the human.'];
  const other = await run(env, 'unshare', '-Urpf', ...act);
  expect(other).toMatchObject({
    code: 7,
    err: expect.stringContaining('/proc here does not show this process'),
  });
  const map = join(tempFolder(), 'map');
  writeFileSync(map, '         0          0 4294967295\n');
  const faked = `mount --bind '${map}' /proc/$$/uid_map; exec "$@"`;
  const { code, err } = await run(env, ...OWN_PROCESSES, '-m', 'sh', '-c', faked, 'sh', ...act);
  expect([code, err]).toEqual([7, expect.stringContaining('Only a human may post as the human')]);
});

test('a person who works in such a container says so in their file, and a further one within it does not count', async () => {
  const store = tempStore();
  const id = process.getuid?.() ?? 0;
  const container = ['unshare', '-Upf', '--mount-proc', '--map-user=7', '--map-group=7'];
  const inside = childEnvironment(store, trusting({ container_id_map: `7 ${id} 1` }));
  const post = [process.execPath, HIVE, 'post', 'It is me.'];
  expect(await run(inside, ...container, ...post)).toMatchObject({ code: 0 });
  expect(await run(inside, ...container, ...OWN_PROCESSES, ...post)).toMatchObject({
    code: 7,
    err: expect.stringContaining('"0 7 1"'),
  });
});

test('a program that cron or at runs is not a person, but may prune', async () => {
  const store = tempStore();
  const daemon = join(tempFolder(), 'atd');
  copyFileSync('/bin/sh', daemon);
  const env = childEnvironment(store);
  const below = (...act: string[]): Promise<Ran> =>
    run(env, daemon, '-c', '"$@"; exit $?', 'job', process.execPath, HIVE, ...act);
  for (const act of ACTS)
    expect(await below(...act)).toMatchObject({
      code: 7,
      err: expect.stringContaining('cron or at has started it'),
    });
  expect(await below('store', 'prune')).toMatchObject({ code: 0 });
});

test('admitted: an agent that starts a terminal program of its own, out of its own process tree, answers a question', async () => {
  const store = tempStore();
  const { ask_id } = await ask(await openTestHive(store));
  const folder = tempFolder();
  copyFileSync('/usr/bin/script', join(folder, 'xterm'));
  const respond = `'${process.execPath}' '${HIVE}' respond ${ask_id} yes`;
  const typing = `while echo yes; do sleep 0.1; done | '${folder}/xterm' -qec "${respond}" /dev/null`;
  const env = childEnvironment(store, { TERM: 'dumb', HOME: tempFolder() });
  await run(env, 'setsid', '--fork', 'sh', '-c', `exec sh -c "${typing.replaceAll('"', '\\"')}"`);
  const hive = await openTestHive(store);
  await eventually(async () => (await hive.prompts.get(ask_id)).status === 'responded', 20_000);
});

/** Runs a command in a tmux, where something types yes, and returns what it said. */
async function inTmux(store: string, act: string[], watched: 'nobody' | 'another session'): Promise<string> {
  const folder = tempFolder();
  const said = join(folder, 'said');
  const words = [process.execPath, HIVE, ...act].map((word) => `'${word}'`).join(' ');
  const env = childEnvironment(store, { TERM: 'dumb', HOME: tempFolder() });
  const line = `script -qec "${words}; echo over" '${said}'`;
  const first = watched === 'nobody' ? ['sh', '-c', line] : ['cat'];
  const terminal = await openTerminal(folder, env, first);
  whenFinished(() => terminal.close());
  if (watched === 'another session') {
    await terminal.watch();
    const socket = join(folder, 'tmux');
    await run(
      env,
      'tmux',
      '-S',
      socket,
      'new-session',
      '-d',
      '-s',
      'agents',
      `while echo yes; do sleep 0.1; done | ${line}`,
    );
  }
  const text = (): string => (existsSync(said) ? readFileSync(said, 'utf8') : '');
  await eventually(() => /over\r?\n/.test(text()), 30_000, 'the end of the command');
  return text();
}

test.each(['nobody', 'another session'] as const)(
  "a tmux session is a person's terminal only while that person is attached: %s is",
  async (watched) => {
    const store = tempStore();
    const { ask_id } = await ask(await openTestHive(store));
    for (const act of [
      ['respond', ask_id, 'yes'],
      ['token', 'make', 'evil'],
    ])
      expect(await inTmux(store, act, watched)).toContain('while you are attached to it');
    expect((await shell(store).hive('poll', ask_id)).code).toBe(3);
  },
);
