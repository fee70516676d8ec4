/** Client suite 12: the real Claude Code under `hive run`: its process ends while the human thinks, and nothing is lost. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { permissionDigest } from '../../src/domain/permissions.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { Run } from '../../src/domain/runs.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { grow } from '../support/ageing.ts';
import { type Child, spawnHive } from '../support/children.ts';
import { HUMAN } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { bash, type ModelRequest, type Reply, startModel } from './support/anthropic.ts';
import { type ClaudeRun, claudeArguments, claudeEnvironment } from './support/claude.ts';
import { openWorld } from './support/world.ts';

const LINE = 'echo one >> effects.txt';

/** One call, and the end once its result is there. */
function untilDone({ messages }: ModelRequest): Reply {
  const results = JSON.stringify(messages).match(/"type":"tool_result"/g) ?? [];
  return results.length === 0 ? { calls: [bash(LINE)] } : { text: 'all done' };
}

interface Started {
  hive: OpenedHive;
  folder: string;
  run: ClaudeRun;
  model: Awaited<ReturnType<typeof startModel>>;
  child: Child;
  output: () => string;
}

async function start(script = untilDone, patience = '1s'): Promise<Started> {
  const world = await openWorld();
  const model = await startModel(script);
  const { hive, ...rest } = world;
  const run: ClaudeRun = { ...rest, model, allowed: 'mcp__hive' };
  const options = ['--output-format', 'json', ...claudeArguments(run)];
  const command = [run.clients.claude, '-p', 'go', ...options];
  const child = spawnHive(['run', '--patience', patience, '--', ...command], claudeEnvironment(run));
  let said = '';
  child.process.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return { hive, folder: world.folder, run, model, child, output: () => said };
}

const watching = ({ run }: Started): Child => spawnHive(['run', '--watch'], claudeEnvironment(run));

async function runOf(hive: OpenedHive): Promise<Run> {
  const [run] = await hive.runs.list({ all: true });
  if (run === undefined) throw new Error('There is no run.');
  return run;
}

async function pending(hive: OpenedHive): Promise<Prompt> {
  let found: Prompt | undefined;
  await eventually(async () => {
    [found] = (await hive.prompts.list({ status: 'pending', limit: 10 })).items;
    return found !== undefined;
  }, 20_000);
  return found as Prompt;
}

const answer = (hive: OpenedHive, prompt: Prompt, decision: string) =>
  hive.prompts.respond({
    ask_id: prompt.ask_id,
    decision,
    displayed_digest: permissionDigest(prompt),
    actor: HUMAN,
  });

const ended = (hive: OpenedHive): Promise<void> =>
  eventually(async () => (await runOf(hive)).status === 'ended', 90_000);

const effects = (folder: string): string =>
  existsSync(join(folder, 'effects.txt')) ? readFileSync(join(folder, 'effects.txt'), 'utf8') : '';

describe('a run of Claude Code', () => {
  test('ends while the human thinks, and goes on with the answer', async () => {
    const started = await start();
    const { hive, child, folder, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    expect(child.stderr()).toContain('sleeps until you answer ask-');
    expect(await runOf(hive)).toMatchObject({ status: 'sleeping', start: 1 });
    expect(effects(folder)).toBe('');
    watching(started);
    await answer(hive, await pending(hive), 'Allow');
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
  });

  test('that is answered in time never ends, and prints what Claude Code prints', async () => {
    const { hive, child, folder, output } = await start(untilDone, '60s');
    await answer(hive, await pending(hive), 'Allow');
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(JSON.parse(output())).toMatchObject({ result: 'all done', is_error: false });
    expect(await runOf(hive)).toMatchObject({ status: 'ended', start: 1 });
    expect(effects(folder)).toBe('one\n');
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

  test('waits instead where one step has several calls, and says so', async () => {
    const { hive, child, folder } = await start(({ messages }) =>
      JSON.stringify(messages).includes('"type":"tool_result"')
        ? { text: 'all done' }
        : { calls: [bash(LINE), bash('echo two >> effects.txt')] },
    );
    await eventually(async () => (await hive.notices.list(10)).length > 0, 30_000);
    expect(JSON.stringify(await hive.notices.list(10))).toContain('makes several calls at once');
    for (const n of [1, 2]) {
      await answer(hive, await pending(hive), 'Allow');
      await eventually(() => effects(folder).split('\n').length > n, 20_000);
    }
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(effects(folder).split('\n').sort()).toEqual(['', 'one', 'two']);
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

  // HIVE_RUNS=200 for the long proof.
  test.each(Array.from({ length: Number(process.env['HIVE_RUNS'] ?? 20) }, (_, n) => n + 1))(
    'that is killed at random has each effect once, and none without its answer (%i)',
    async () => {
      const lines = ['one', 'two', 'three'];
      const started = await start((request) => nextLine(request, lines), '300ms');
      const { hive, folder, child, run } = started;
      let watcher = watching(started);
      const allowed = new Set<string>();
      let isOver = false;
      const human = (async () => {
        while (!isOver) {
          for (const prompt of (await hive.prompts.list({ status: 'pending', limit: 10 })).items) {
            const line = lines.find((one) => prompt.question.includes(one)) ?? '';
            await sleep(Math.random() * 1_500);
            // A week passes, and what is old is removed.
            if (Math.random() < 0.3) {
              grow(run.store, 7);
              await hive.retention.sweep(1);
            }
            const isThere = effects(folder).includes(line);
            if (!isThere) allowed.add(line);
            const { status } = await hive.prompts.get(prompt.ask_id);
            if (status === 'pending') await answer(hive, prompt, isThere ? 'Deny' : 'Allow');
          }
          // What happened without an answer would be seen here.
          for (const line of lines)
            if (effects(folder).includes(line) && !allowed.has(line)) throw new Error(`${line} came unasked`);
          await sleep(50);
        }
      })();
      await eventually(async () => (await hive.runs.list({ all: true })).length > 0, 20_000);
      for (let kills = 0; kills < 4; kills += 1) {
        await sleep(Math.random() * 3_000);
        const now = await hive.runs.list({ all: true });
        const victim = Math.random();
        if (victim < 0.4) {
          await watcher.kill('SIGKILL');
          watcher = watching(started);
        } else if (victim < 0.6) await child.kill('SIGKILL');
        else if (now[0]?.agent != null) kill(now[0].agent.pid);
      }
      await ended(hive).finally(() => {
        isOver = true;
      });
      await human;
      expect(await runOf(hive)).toMatchObject({ problem: null, exit_code: 0 });
      expect(effects(folder)).toBe('one\ntwo\nthree\n');
    },
    150_000,
  );
});

/** The first line that the conversation does not show as written or refused. */
function nextLine({ messages }: ModelRequest, lines: readonly string[]): Reply {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []) as Part[]);
  const isSettled = (line: string): boolean =>
    parts.some(
      ({ type, id, input }) =>
        type === 'tool_use' &&
        JSON.stringify(input).includes(line) &&
        parts.some(
          (result) =>
            result.type === 'tool_result' &&
            result.tool_use_id === id &&
            (result.is_error !== true || JSON.stringify(result.content).includes('ada denied')),
        ),
    );
  const next = lines.find((line) => !isSettled(line));
  return next === undefined ? { text: 'all done' } : { calls: [bash(`echo ${next} >> effects.txt`)] };
}

interface Part {
  type?: string;
  id?: string;
  input?: unknown;
  tool_use_id?: string;
  is_error?: boolean;
  content?: unknown;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
