/** `hive run` without a client: what it refuses, what it prints, and the server that it adds to Claude Code. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test } from 'vitest';
import { childEnvironment, HIVE, ROOT, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { openTestHive } from '../support/hive.ts';
import { tempFolder, tempHome, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const CLAUDE = ['--', 'claude', '-p', 'go'];

test.each([
  [['run', '--patience', '1h', ...CLAUDE], /give 9m or less/],
  [['run', '--keep-env', 'NOT_SET_HERE', ...CLAUDE], /NOT_SET_HERE, which is not set/],
  [['run', '--', 'gemini', '-p', 'go'], /starts Claude Code and Codex/],
  [['run', ...CLAUDE, '--resume', 'x'], /leave --resume out/],
  [['run', '--watch', ...CLAUDE], /leave the command out/],
  [['run', '--watch', '--jobs', '0'], /a whole number, 1 or more/],
  [['run', '--watch', '--dir', '/'], /leave --dir out/],
  [['run', '--watch', '--keep-env', 'HOME'], /leave --keep-env out/],
  [['run', '--jobs', '2', ...CLAUDE], /--jobs is for --watch/],
])('hive %j is refused, and starts nothing', async (args, sentence) => {
  const { hive } = shell(tempStore());
  const refused = await hive(...args);
  expect(refused.err).toMatch(sentence);
  expect(refused.code).not.toBe(0);
  expect(JSON.parse((await hive('runs', '--all', '--json')).out)).toEqual({ runs: [] });
});

test('a run that does not exist is not stopped, which is no mistake of the command line', async () => {
  expect(await shell(tempStore()).hive('runs', '--stop', 'nope')).toMatchObject({
    code: 1,
    err: 'hive: You have no run nope. See them with: hive runs\n',
  });
});

/** A program with the name of Claude Code that does this; and the folder with what Hive keeps of runs, once they are over. */
function claude(does: string, store = tempStore()) {
  const [home, folder] = [tempHome(), tempFolder()];
  const program = join(folder, 'claude');
  if (does !== '') writeFileSync(program, `#!/bin/sh\n${does}\n`, { mode: 0o700 });
  const kept = () => readdirSync(join(home, '.local/state/hive/runs')).map((name) => name.split('.')[1]);
  return { program, home, kept, ...shell(store, { HOME: home }) };
}

test('what an agent says on stderr is printed there when its run has ended', async () => {
  const { program, hive } = claude('echo "some words"; echo "Please run /login" >&2; exit 1');
  expect(await hive('run', '--', program, '-p', 'go')).toMatchObject({
    code: 1,
    out: 'some words\n',
    err: expect.stringContaining('Please run /login'),
  });
});

test('a run whose program is missing says what to check, and leaves nothing but its output', async () => {
  const { program, hive, kept } = claude('');
  const { code, err } = await hive('run', '--', program, '-p', 'go');
  expect(code).toBe(1);
  expect(err).toMatch(/^hive: run-\w+ has ended: .* Check that it is installed, or give its path\.\n$/);
  expect(kept().sort()).toEqual(['err', 'out']);
});

test('a run that ends before its agent is started says why', async () => {
  const store = tempStore();
  const { program, home, start } = claude('exec sleep 60', store);
  const locked = await openTestHive(store);
  const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>();
  const writing = locked.store.write(() => unlocked);
  const running = start('run', '--', program, '-p', 'go');
  // It has written what it starts, and waits for the store.
  const folder = join(home, '.local/state/hive/runs');
  const written = () => (existsSync(folder) ? readdirSync(folder).filter((name) => /json$/.test(name)) : []);
  await eventually(async () => written().length === 1);
  rmSync(join(folder, written()[0] ?? ''));
  unlock();
  await writing;
  const { code, err } = await running.done;
  expect(code).toBe(1);
  expect(err).toMatch(/^hive: run-\w+ has ended: .*\n$/);
});

test('a run that is stopped says so', async () => {
  const { program, hive, start } = claude('exec sleep 60');
  const running = start('run', '--', program, '-p', 'go');
  const runs = async () => (await hive('runs', '--json')).json().runs;
  await eventually(async () => (await runs()).length === 1);
  const [{ run_id }] = await runs();
  expect(await hive('runs', '--stop', run_id)).toMatchObject({
    code: 0,
    out: '',
    err: expect.stringContaining(`${run_id}: It was stopped.`),
  });
  expect((await running.done).err).toContain('has ended: It was stopped.');
  expect((await hive('runs', '--stop', run_id)).err).toContain(`${run_id}: It was stopped.`);
});

test('a stopped agent that ignores SIGINT is killed, with what it has started', async () => {
  const store = tempStore();
  const { program, home, hive, start } = claude(`trap '' INT; touch "$HOME/ignores"; sleep 600`, store);
  const running = start('run', '--', program, '-p', 'go');
  await eventually(async () => existsSync(join(home, 'ignores')));
  const [{ run_id }] = (await hive('runs', '--json')).json().runs;
  const stored = await openTestHive(store);
  // Before that, the process that starts the agent would end it.
  await eventually(async () => (await stored.store.read((tx) => tx.runs.get(run_id)))?.agent != null);
  expect(await hive('runs', '--stop', run_id)).toMatchObject({
    code: 0,
    err: `hive: ${run_id}: It was stopped. Its agent ignored the interrupt and was killed.\n`,
  });
  // It ends only when the agent has, and the agent waits for its child.
  expect((await running.done).err).toContain('has ended: It was stopped.');
});

test('the agent of a program uses the store that the program named', async () => {
  const { program, home } = claude('echo "$HIVE_STORE"');
  const store = tempStore();
  const script = join(home, 'headless.ts');
  const source = JSON.stringify(join(ROOT, 'src/extensions/runs/agent-sdk/index.ts'));
  writeFileSync(
    script,
    `import { openAgentHive, runHeadless } from ${source};
const hive = await openAgentHive({ store: ${JSON.stringify(store)} });
await runHeadless(hive, { prompt: 'go', pathToClaudeCodeExecutable: ${JSON.stringify(program)} });
await hive.close();
`,
  );
  const args = ['--import', join(ROOT, 'test/support/sql-loader.mjs'), script];
  const child = spawnChild(process.execPath, args, childEnvironment(tempStore(), { HOME: home }));
  expect(await child.exited, child.stderr()).toMatchObject({ code: 0 });
  const runs = join(home, '.local/state/hive/runs');
  const [out = ''] = readdirSync(runs).filter((name) => name.endsWith('.out'));
  expect(readFileSync(join(runs, out), 'utf8')).toBe(`${store}\n`);
});

test('an agent starts no run, and stops none', async () => {
  const { hive } = shell(tempStore(), { CLAUDECODE: '1' });
  for (const args of [
    ['run', ...CLAUDE],
    ['run', '--watch'],
    ['runs', '--stop', 'run-0000'],
  ])
    expect((await hive(...args)).code).toBe(7);
});

test('a model cannot call the tool that a run uses for permissions', async () => {
  const env = childEnvironment(tempStore());
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [HIVE, 'mcp', '--deny'],
    env,
  });
  const client = new Client({ name: 'claude-code', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['deny']);
  const refused = await client.callTool({ name: 'deny', arguments: {} });
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.stringify(refused.content)).toContain('Not for you');
});
