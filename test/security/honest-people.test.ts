/**
 * People whose processes look unusual are people: only the variables of an agent, and a registered agent above, show one
 * (docs/internals/threat-model.md). Each of these was once taken for an agent that hides.
 *
 * @module-tag no-self-approval
 * @module-tag cli
 */
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, type Environment, HIVE, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { ask, newHive } from '../support/hive.ts';
import { closedAtEnd, whenFinished } from '../support/lifetime.ts';
import { tempFolder, tempHome, tempStore } from '../support/temp.ts';
import { openTerminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';

const text = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

async function run(env: Environment, ...words: string[]): Promise<{ code: number | null; err: string }> {
  const [program = '', ...args] = words;
  const child = spawnChild(program, args, env);
  child.process.stdin.end();
  const { code } = await child.exited;
  return { code, err: child.stderr() };
}

/** Acts of a person: it posts as the human, and changes a setting and a token. */
const ACTS = [
  ['post', 'It is me.'],
  ['config', 'sound', 'no'],
  ['token', 'make', 'mine'],
  ['store', 'prune'],
];

/** Whether all of it is done below these words. */
async function actsBelow(...words: string[]): Promise<void> {
  const store = tempStore();
  const env = childEnvironment(store);
  for (const act of ACTS)
    expect({ act, ...(await run(env, ...words, process.execPath, HIVE, ...act)) }).toMatchObject({ code: 0 });
  const { messages } = (await shell(store).hive('messages', '--all', '--json')).json();
  expect(messages).toEqual([expect.objectContaining({ author: 'human' })]);
}

test('in a container of their own, without an entry anywhere', () =>
  actsBelow('unshare', '-Urpf', '--mount-proc'));

test('in a container that shows the processes of another', () => actsBelow('unshare', '-Urpf'));

test('in what cron or at runs', async () => {
  const daemon = join(tempFolder(), 'atd');
  copyFileSync('/bin/sh', daemon);
  await actsBelow(daemon, '-c', '"$@"; exit $?', 'job');
});

test.each<[string, string]>([
  ['in a script whose shell has ended', 'exec "$@"'],
  ['below such a script', '"$@"; exit 0'],
])('%s', async (_where, line) => {
  const store = tempStore();
  const said = join(tempFolder(), 'said');
  const words = [process.execPath, HIVE, 'post', 'It is me.', '--json'];
  const script = `{ ${line}; } </dev/null >'${said}' 2>&1`;
  await run(childEnvironment(store), 'setsid', '--fork', 'sh', '-c', script, 'sh', ...words);
  await eventually(() => text(said) !== '', 10_000, 'what it says');
  expect(JSON.parse(text(said).slice(text(said).indexOf('{')))).toMatchObject({ from: 'Human' });
});

/** The environment of a person whose scripts may not answer, and the words that answer a question. */
async function answering(): Promise<{ env: Environment; words: string; done: () => Promise<boolean> }> {
  const { store, hive } = await newHive();
  const { ask_id } = await ask(hive);
  const env = childEnvironment(store, { TERM: 'dumb', HOME: tempHome() });
  const done = async (): Promise<boolean> => (await hive.prompts.get(ask_id)).status === 'responded';
  return { env, words: `'${process.execPath}' '${HIVE}' respond ${ask_id} yes`, done };
}

test("in the terminal of an IDE that runs on Node (code-server, Remote-SSH), an answer is the person's", async () => {
  const { env, words, done } = await answering();
  // The IDE was started by a service, and what opened the terminal is below its Node.
  const ide = `require('node:child_process').spawn('script', ['-qec', ${JSON.stringify(words)}, '/dev/null'], { stdio: 'inherit' });`;
  // The shell stays, because with it the test would close what the IDE reads.
  const line = 'setsid --fork "$@"; exec sleep 60';
  const child = spawnChild('sh', ['-c', line, 'sh', process.execPath, '-e', ide], env);
  const typing = setInterval(() => child.process.stdin.write('yes\n'), 100);
  whenFinished(() => clearInterval(typing));
  await eventually(done, 20_000, 'the answer');
});

test('in a tmux to which nobody is attached at the moment', async () => {
  const { env, words, done } = await answering();
  const folder = tempFolder();
  const terminal = closedAtEnd(await openTerminal(folder, env, ['sh', '-c', words]));
  await terminal.reply(/Type yes/, 'yes');
  await eventually(done, 20_000, 'the answer');
});

test('in a popup of tmux', async () => {
  const { env, words, done } = await answering();
  const folder = tempFolder();
  const terminal = closedAtEnd(await openTerminal(folder, env, ['cat']));
  await terminal.watch();
  const typed = `(sleep 1; while echo yes; do sleep 0.2; done) | script -qec "${words}" /dev/null`;
  const script = join(folder, 'answer');
  await run(env, 'sh', '-c', `printf '%s\\n' "$1" > '${script}'`, 'sh', typed);
  await run(env, 'tmux', '-S', join(folder, 'tmux'), 'display-popup', '-E', `sh '${script}'`);
  await eventually(done, 20_000, 'the answer');
});
