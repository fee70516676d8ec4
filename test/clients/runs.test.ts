/** Client suite 12: the real Claude Code under `hive run`: its process ends while the human thinks, and nothing is lost. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../../src/extensions/runs/service.ts';
import { spawnHive } from '../support/children.ts';
import { HUMAN } from '../support/hive.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { bash, type Script } from './support/anthropic.ts';
import { claudeEnvironment, transcriptsOf } from './support/claude.ts';
import { codexEnvironment, configureCodex } from './support/codex.ts';
import { hive as codexCall, startResponses } from './support/responses.ts';
import {
  answer,
  effects,
  ended,
  KEEPERS,
  kill,
  LINE,
  listed,
  nextLine,
  pending,
  runOf,
  start,
  startAgain,
  thenDone,
  watching,
} from './support/runs.ts';
import { openWorld } from './support/world.ts';

describe('a run of Claude Code', () => {
  test.each(KEEPERS)(
    'ends while the human thinks, and goes on with the answer: hive %s',
    async (...keeper) => {
      const started = await start();
      const { hive, child, folder, model, run } = started;
      expect(await child.exited).toMatchObject({ code: 3 });
      expect(child.stderr()).toContain('sleeps until you answer ask-');
      expect(await runOf(hive)).toMatchObject({ status: 'sleeping', start: 1 });
      expect(effects(folder)).toBe('');
      const prompt = await pending(hive);
      const { run_id } = await runOf(hive);
      expect(await listed(started)).toMatch(new RegExp(`${run_id} +sleeping +${prompt.ask_id}`));
      spawnHive(keeper, claudeEnvironment(run));
      await answer(hive, prompt, 'Allow');
      await ended(hive);
      expect(await runOf(hive)).toMatchObject({
        status: 'ended',
        exit_code: 0,
        start: 2,
        calls: [],
        problem: null,
      });
      expect(effects(folder)).toBe('one\n');
      expect(model.requests).toHaveLength(2);
      expect(await listed(started)).not.toContain(run_id);
      expect(await listed(started, '--all')).toMatch(new RegExp(`${run_id} +ended with exit code 0`));
    },
  );

  test('goes on once, whoever sees the answer first', async () => {
    const started = await start();
    const { hive, child, folder, model, run } = started;
    await child.exited;
    for (const keeper of [...KEEPERS, ...KEEPERS]) spawnHive(keeper, claudeEnvironment(run));
    await answer(hive, await pending(hive), 'Allow');
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 2, crashes: 0 });
    expect(effects(folder)).toBe('one\n');
    expect(model.requests).toHaveLength(2);
  });

  test('keeps its directory and its environment, but of the variables that look like secrets only those that were named', async () => {
    const script = thenDone(bash('echo "$FLAVOUR,$MY_TOKEN,$KEPT_TOKEN" >> effects.txt'));
    const world = await start({
      script,
      flags: ['--keep-env', 'KEPT_TOKEN', '--dir', tempFolder()],
      env: { FLAVOUR: 'mint', MY_TOKEN: 'hidden', KEPT_TOKEN: 'kept' },
    });
    const { hive, child, folder } = world;
    await child.exited;
    const record = readFileSync(
      join(folder, '.local/state/hive/runs', `${(await runOf(hive)).run_id}.json`),
      'utf8',
    );
    expect(record).not.toContain('"hidden"');
    const { dir } = JSON.parse(record.slice(0, record.lastIndexOf('}') + 1)) as { dir: string };
    expect(dir).not.toBe(folder);
    watching(world);
    await answer(hive, await pending(hive), 'Allow');
    await ended(hive);
    expect(effects(dir)).toBe('mint,,kept\n');
  });

  test('waits for its turn where only one agent may run at a time (--jobs)', async () => {
    let most = 0;
    const started = await start({
      script: async ({ messages }) => {
        if (!JSON.stringify(messages).includes('"type":"tool_result"')) return { calls: [bash(LINE)] };
        const working = (await runsOf(started.hive).list({ all: false })).filter(
          ({ status }) => status === 'working',
        );
        most = Math.max(most, working.length);
        return { text: 'all done' };
      },
    });
    const { hive, run, folder } = started;
    const second = await startAgain(run);
    await Promise.all([started.child.exited, second.child.exited]);
    for (const prompt of (await hive.prompts.list({ status: 'pending', limit: 10 })).items)
      await answer(hive, prompt, 'Allow');
    spawnHive(['run', '--watch', '--jobs', '1'], claudeEnvironment(run));
    await eventually(
      async () => (await runsOf(hive).list({ all: true })).every(({ status }) => status === 'ended'),
      90_000,
    );
    expect(effects(folder)).toBe('one\none\n');
    expect(most).toBe(1);
  });

  test('outlives a restart of the machine: the first process of Hive that starts continues it', async () => {
    const script: Script = (request) => nextLine(request, ['one']);
    const started = await start({ script, patience: '60s' });
    const { hive, child, folder } = started;
    await pending(hive);
    // The client writes it a moment after its hook; without it, nothing can be continued.
    await eventually(() => transcriptsOf({ folder }).includes('"tool_use"'), 20_000, 'the transcript');
    await child.kill('SIGKILL');
    kill((await runOf(hive)).agent?.pid ?? 0);
    watching(started);
    let isOver = false;
    const done = ended(hive).finally(() => {
      isOver = true;
    });
    await eventually(async () => {
      for (const prompt of (await hive.prompts.list({ status: 'pending', limit: 1 })).items)
        await answer(hive, prompt, 'Allow');
      return isOver;
    }, 90_000);
    await done;
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, crashes: 1, problem: null });
    expect(effects(folder)).toBe('one\n');
  });

  test('is stopped by its human while it sleeps (hive runs --stop)', async () => {
    const started = await start();
    const { hive, child, folder } = started;
    await child.exited;
    const { run_id } = await runOf(hive);
    const { ask_id } = await pending(hive);
    await listed(started, '--stop', run_id);
    expect(await runOf(hive)).toMatchObject({ status: 'ended', problem: 'It was stopped.' });
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'cancelled', cancel_reason: 'withdrawn' });
    expect(existsSync(join(folder, '.local/state/hive/runs', `${run_id}.json`))).toBe(false);
  });

  test('that is interrupted did not succeed, and says why', async () => {
    const { hive, child } = await start({ patience: '60s' });
    const { session_id: session } = await pending(hive);
    await hive.interrupts.interrupt({ session, actor: HUMAN });
    expect(await child.exited).toMatchObject({ code: 1 });
    expect(child.stderr()).toMatch(/^hive: run-\w+ has ended: Its turn was interrupted\.$/m);
  });

  test('is denied while it sleeps: the model reads why', async () => {
    const started = await start();
    const { hive, child, folder, model } = started;
    await child.exited;
    await answer(hive, await pending(hive), 'not on a Friday');
    watching(started);
    await ended(hive);
    expect(effects(folder)).toBe('');
    expect(model.told()).toContain('ada says: not on a Friday');
  });

  test('whose record was changed is not resumed', async () => {
    const started = await start();
    const { hive, child, folder } = started;
    await child.exited;
    const record = join(folder, '.local/state/hive/runs', `${(await runOf(hive)).run_id}.json`);
    expect(statSync(record).mode & 0o777).toBe(0o600);
    const text = readFileSync(record, 'utf8');
    expect(text).not.toContain('ANTHROPIC_API_KEY": "fake');
    writeFileSync(record, text.replace('"go"', '"went"'));
    await answer(hive, await pending(hive), 'Allow');
    watching(started);
    await ended(hive);
    expect((await runOf(hive)).problem).toContain('was changed after the run had begun');
    expect(effects(folder)).toBe('');
  });
});

describe('a run of Codex', () => {
  test('ends its turn with a question open, and is continued with the answer (codex exec resume)', async () => {
    const world = await openWorld();
    const { hive } = world;
    const model = await startResponses(({ input }) =>
      input.some(({ type }) => type === 'function_call_output')
        ? { text: 'all done' }
        : { calls: [codexCall('hivemind_ask', { question: 'Red or blue?' })] },
    );
    const run = { ...world, model };
    configureCodex(run);
    const options = ['--json', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', '-s', 'read-only'];
    const command = [run.clients.codex, 'exec', 'go', ...options];
    const child = spawnHive(['run', '--patience', '1s', '--', ...command], codexEnvironment(run));
    expect(await child.exited).toMatchObject({ code: 3 });
    expect(model.told()).toContain('end your turn: you are started again');
    const { session_id } = await runOf(hive);
    expect(await runOf(hive)).toMatchObject({ status: 'sleeping', start: 1, calls: [{ call_id: null }] });
    spawnHive(['run', '--watch'], codexEnvironment(run));
    const { ask_id } = await pending(hive);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await ended(hive);
    const over = { status: 'ended', session_id, exit_code: 0, start: 2, calls: [], problem: null };
    expect(await runOf(hive)).toMatchObject(over);
    expect(model.everything()).toContain(`You stopped while ${ask_id} was open`);
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    expect(model.everything()).toContain('blue');
    expect((await hive.prompts.list({ limit: 10 })).items).toHaveLength(1);
  });
});
