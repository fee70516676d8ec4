/**
 * The state of each session in `hive sessions`: what it waits for, or what it runs, and since when.
 *
 * @module-tag cli
 */
import { hostname } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import { childEnvironment, HIVE } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { ask, introduce, introduction, newHive, openTestHive } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { openTerminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';

/** No process has this id. */
const GONE = 2 ** 31 - 1;

test('a session that a shell began ends with its shell, and is listed as ended', async () => {
  const store = tempStore();
  const folder = tempFolder();
  const person = shell(store);
  const env = childEnvironment(store, { HIVE_AGENT: 'reviewer', TERM: 'xterm', PS1: '$ ' });
  const terminal = closedAtEnd(await openTerminal(folder, env, ['sh']));
  await terminal.enter(`'${process.execPath}' '${HIVE}' ask 'Go on?'; echo "asked: $?"`);
  await terminal.until(/^asked: 0/m);
  const hive = await openTestHive(store);
  const sh = await terminal.pid();
  expect(await hive.sessions.find('reviewer')).toMatchObject({ pid: null, shell_pid: sh });
  expect((await person.hive('sessions')).out).toMatch(/^reviewer +reviewer +active/m);
  await terminal.close();
  await eventually(() => !processes.alive(sh), 10_000, 'the end of the shell');
  expect((await person.hive('sessions')).out).not.toContain('reviewer');
  expect((await person.hive('sessions', '--ended')).out).toMatch(/^reviewer +reviewer +ended/m);
  // Its question can still be answered.
  const [asked] = (await hive.prompts.list({ status: 'pending', limit: 10 })).items;
  expect(asked).toMatchObject({ agent: 'reviewer', orphaned: true });
});

test('a session lives as long as the shell that used it last', async () => {
  const hive = await openTestHive();
  await hive.sessions.introduce(
    introduction({ session_id: 'cli-1', client: 'cli', machine: hostname(), shell_pid: GONE }),
  );
  expect(await hive.sessions.returning('cli-1', process.pid)).toMatchObject({ shell_pid: process.pid });
  expect(await hive.sessions.sweep(hostname())).toEqual([]);
  await hive.sessions.returning('cli-1', GONE);
  expect(await hive.sessions.sweep(hostname())).toMatchObject([{ session_id: 'cli-1', state: 'ended' }]);
});

test('an agent without hooks is seen with each call, and a call a moment later writes nothing', async () => {
  const hive = await openTestHive();
  const call = () =>
    hive.callers.resolve({
      env: { HIVE_AGENT: 'reviewer' },
      meta: {},
      client: 'gemini-cli',
      connection_id: 'conn-1',
      project: { project: 'demo', project_dir: '/demo', branch: null },
      machine: hostname(),
      parent_pid: process.pid,
    });
  const { session_id } = (await call()).session;
  const { last_seen_at } = (await hive.sessions.find(session_id)) ?? {};
  await call();
  expect(await hive.sessions.find(session_id)).toMatchObject({ last_seen_at });
  const earlier = new Date(Date.now() - 120_000).toISOString();
  await hive.store.write((tx) => tx.sessions.touch(session_id, earlier));
  await call();
  expect((await hive.sessions.find(session_id))?.last_seen_at).toSatisfy((at: string) => at > earlier);
});

test('a blocked session is shown with its question, one at work with its turn, an idle one with neither', async () => {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive, { question: 'May I?' }, 'blocked-1');
  const cut = new AbortController();
  const waiting = hive.prompts.wait([ask_id], { wait_ms: 60_000, signal: cut.signal, waiter: 'blocked-1' });
  onTestFinished(async () => {
    cut.abort();
    await waiting;
  });
  await eventually(async () => (await hive.prompts.get(ask_id)).blocked_since !== null);
  await introduce(hive, 'works-1');
  await hive.turns.start({ session_id: 'works-1' });
  await introduce(hive, 'idle-1');
  const { out } = await shell(store).hive('sessions');
  const last = (handle: string) => out.split('\n').find((line) => line.includes(handle));
  expect(last('Claude-block')).toMatch(/demo +blocked for \d+ s: May I\?$/);
  expect(last('Claude-works')).toMatch(/demo +works, \d+ s$/);
  expect(last('Claude-idle')).toMatch(/main +0 +- +demo$/);
  const { sessions } = (await shell(store).hive('sessions', '--json')).json();
  const of = (session_id: string) =>
    sessions.find((one: { session_id: string }) => one.session_id === session_id);
  expect(of('blocked-1').blocked_by).toMatchObject({
    ask_id,
    question: 'May I?',
    blocked_since: expect.any(String),
  });
  expect(of('works-1')).toMatchObject({ blocked_by: null, turn: { state: 'in_progress' } });
});
