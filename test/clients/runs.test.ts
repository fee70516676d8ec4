/** Client suite 12: the real Claude Code under `hive run`: its process ends while the human thinks, and nothing is lost. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HookWay } from '../../src/domain/installation.ts';
import { permissionDigest } from '../../src/domain/permissions.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { Run } from '../../src/domain/runs.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { randomOf } from '../chaos/random.ts';
import { grow } from '../support/ageing.ts';
import { type Child, outputOf, spawnHive } from '../support/children.ts';
import { HUMAN } from '../support/hive.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually, moment } from '../support/wait.ts';
import {
  bash,
  hive as call,
  type ModelRequest,
  type Reply,
  type Script,
  startModel,
  type ToolUse,
} from './support/anthropic.ts';
import { type ClaudeRun, claudeArguments, claudeEnvironment, HOOK_WAY } from './support/claude.ts';
import { codexEnvironment, configureCodex } from './support/codex.ts';
import { hive as codexCall, startResponses } from './support/responses.ts';
import { openWorld } from './support/world.ts';

/** HIVE_RUNS=200 is the long proof. */
const RUNS = Number(process.env['HIVE_RUNS'] ?? 20);
/** HIVE_SEED repeats the plan of a run: its seed is in the title of the test. How the machine schedules is not repeated. */
const SEED = Number(process.env['HIVE_SEED'] ?? 20_261_123);
/** Of each pair. They run both ways, so they are left out where the suite runs once more with a process for each hook. */
const SEEDS =
  HOOK_WAY === 'process' ? [] : Array.from({ length: Math.ceil(RUNS / 2) }, (_, n) => SEED + 2 * n);

/** What looks after runs: a desk's sidecar, a server, and the command that does nothing else. */
const KEEPERS = [['sidecar'], ['serve', '--port', '0'], ['run', '--watch']];

const LINE = 'echo one >> effects.txt';

/** One call, and the end once its result is there. */
function untilDone({ messages }: ModelRequest): Reply {
  const results = JSON.stringify(messages).match(/"type":"tool_result"/g) ?? [];
  return results.length === 0 ? { calls: [bash(LINE)] } : { text: 'all done' };
}

/** These calls in one step, and the end once their results are there. */
const thenDone =
  (...calls: readonly ToolUse[]): Script =>
  ({ messages }) =>
    JSON.stringify(messages).includes('"type":"tool_result"') ? { text: 'all done' } : { calls };

interface Started {
  hive: OpenedHive;
  folder: string;
  run: ClaudeRun;
  model: Awaited<ReturnType<typeof startModel>>;
  child: Child;
  output: () => string;
}

interface StartOptions {
  script?: Script;
  /** Null: the default. */
  patience?: string | null;
  /** More options of `claude`. */
  more?: readonly string[];
  /** More options of `hive run`. */
  flags?: readonly string[];
  /** More variables, for the first start only. */
  env?: Record<string, string>;
  /** How its hooks reach Hive. */
  way?: HookWay;
}

async function start({ script = untilDone, way = HOOK_WAY, ...rest }: StartOptions = {}): Promise<Started> {
  const world = await openWorld();
  const model = await startModel(script);
  const { hive, ...place } = world;
  const run: ClaudeRun = { ...place, model, allowed: 'mcp__hive', way };
  return { hive, folder: world.folder, run, model, ...startAgain(run, rest) };
}

/** One more run in the same place. */
function startAgain(
  run: ClaudeRun,
  { patience = '1s', more = [], flags = [], env = {} }: Omit<StartOptions, 'script' | 'way'> = {},
): Pick<Started, 'child' | 'output'> {
  const options = ['--output-format', 'json', ...more, ...claudeArguments(run)];
  const command = [run.clients.claude, '-p', 'go', ...options];
  const own = [...flags, ...(patience === null ? [] : ['--patience', patience])];
  const child = spawnHive(['run', ...own, '--', ...command], { ...claudeEnvironment(run), ...env });
  let said = '';
  child.process.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return { child, output: () => said };
}

/** What `hive runs` prints. */
const listed = ({ run }: Started, ...options: string[]): Promise<string> =>
  outputOf(spawnHive(['runs', ...options], claudeEnvironment(run)));

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

  test('that is answered in time never ends, and prints what Claude Code prints', async () => {
    const { hive, child, folder, output } = await start({ patience: null });
    const prompt = await pending(hive);
    expect(await runOf(hive)).toMatchObject({ patience_ms: 60_000 });
    await answer(hive, prompt, 'Allow');
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(JSON.parse(output())).toMatchObject({ result: 'all done', is_error: false });
    expect(await runOf(hive)).toMatchObject({ status: 'ended', start: 1 });
    expect(effects(folder)).toBe('one\n');
  });

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

  test('keeps its directory and its environment, and of what looks like a secret only what was named', async () => {
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
        const working = (await started.hive.runs.list({ all: false })).filter(
          ({ status }) => status === 'working',
        );
        most = Math.max(most, working.length);
        return { text: 'all done' };
      },
    });
    const { hive, run, folder } = started;
    const second = startAgain(run);
    await Promise.all([started.child.exited, second.child.exited]);
    for (const prompt of (await hive.prompts.list({ status: 'pending', limit: 10 })).items)
      await answer(hive, prompt, 'Allow');
    spawnHive(['run', '--watch', '--jobs', '1'], claudeEnvironment(run));
    await eventually(
      async () => (await hive.runs.list({ all: true })).every(({ status }) => status === 'ended'),
      90_000,
    );
    expect(effects(folder)).toBe('one\none\n');
    expect(most).toBe(1);
  });

  test('outlives the machine: nobody is left, and the first process that starts again goes on', async () => {
    const script: Script = (request) => nextLine(request, ['one']);
    const started = await start({ script, patience: '60s' });
    const { hive, child, folder } = started;
    await pending(hive);
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
    const { hive, child, folder } = await start({
      script: thenDone(bash(LINE), bash('echo two >> effects.txt')),
    });
    await eventually(async () => (await hive.notices.list(10)).length > 0, 30_000);
    expect(JSON.stringify(await hive.notices.list(10))).toContain('makes several calls at once');
    for (const n of [1, 2]) {
      await answer(hive, await pending(hive), 'Allow');
      await eventually(() => effects(folder).split('\n').length > n, 20_000);
    }
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(effects(folder).split('\n').sort()).toEqual(['', 'one', 'two']);
  });

  test('asks and waits (hivemind_ask): it ends, and its tool returns the answer when it has been resumed', async () => {
    const started = await start({ script: thenDone(call('hivemind_ask', { question: 'Red or blue?' })) });
    const { hive, child, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    const asked = await pending(hive);
    expect(asked).toMatchObject({ question: 'Red or blue?', kind: 'question', dialog: false });
    watching(started);
    await hive.prompts.respond({ ask_id: asked.ask_id, decision: 'blue', actor: HUMAN });
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 2, calls: [], problem: null });
    expect(model.told()).toContain('\\"decision\\":\\"blue\\"');
    expect(model.everything().match(/blue\\/g)).toHaveLength(1);
    const { items } = await hive.prompts.list({ limit: 10 });
    expect(items).toHaveLength(1);
    expect(items[0]?.handed_at).toEqual(expect.any(String));
  });

  test('asks in a step with several calls: each waits in its process, and a notice says so', async () => {
    const asks = ['Red or blue?', 'Big or small?'].map((question) => call('hivemind_ask', { question }));
    const { hive, child, model } = await start({ script: thenDone(...asks) });
    await eventually(async () => (await hive.notices.list(10)).length > 0, 30_000);
    expect(JSON.stringify(await hive.notices.list(10))).toContain('makes several calls at once');
    // The client runs one after the other.
    for (const decision of ['Red', 'Big']) {
      const { ask_id, question } = await pending(hive);
      expect(question).toContain(decision);
      await hive.prompts.respond({ ask_id, decision, actor: HUMAN });
    }
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(await runOf(hive)).toMatchObject({ status: 'ended', start: 1 });
    for (const word of ['Red', 'Big']) expect(model.told()).toContain(`\\"decision\\":\\"${word}\\"`);
  });

  test('uses the question dialog of its client (AskUserQuestion), which it lacks elsewhere without a terminal', async () => {
    const questions = [
      {
        question: 'Which colour?',
        header: 'Colour',
        multiSelect: false,
        options: [
          { label: 'Red', description: 'warm' },
          { label: 'Blue', description: 'cold' },
        ],
      },
      {
        question: 'Which size?',
        header: 'Size',
        multiSelect: false,
        options: [
          { label: 'Small', description: 's' },
          { label: 'Large', description: 'l' },
        ],
      },
    ];
    const started = await start({ script: thenDone({ name: 'AskUserQuestion', input: { questions } }) });
    const { hive, child, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    const { items } = await hive.prompts.list({ status: 'pending', limit: 10 });
    expect(items.map(({ question }) => question).sort()).toEqual(['Which colour?', 'Which size?']);
    watching(started);
    for (const { ask_id, options } of items)
      await hive.prompts.respond({ ask_id, decision: options[1]?.label ?? '', actor: HUMAN });
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 2, calls: [], problem: null });
    expect(model.told()).toContain('\\"Which colour?\\"=\\"Blue\\"');
    expect(model.told()).toContain('\\"Which size?\\"=\\"Large\\"');
  });

  test('has its plan approved while it sleeps, and is asked for what it does then', async () => {
    const script: Script = ({ messages }) => {
      const said = JSON.stringify(messages);
      const results = said.match(/"type":"tool_result"/g)?.length ?? 0;
      // The client names the file in which it wants the plan.
      const [file_path = ''] = /\/[^"\s`]*\.claude\/plans\/[^"\s`]*\.md/.exec(said) ?? [];
      const write = { name: 'Write', input: { file_path, content: 'First this, then that.' } };
      const calls = [write, { name: 'ExitPlanMode', input: {} }, bash(LINE)];
      const next = calls[results];
      return next === undefined ? { text: 'all done' } : { calls: [next] };
    };
    const started = await start({ script, more: ['--permission-mode', 'plan'] });
    const { hive, child, folder, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    const asked = await pending(hive);
    expect(asked).toMatchObject({ question: 'Approve this plan?', kind: 'permission' });
    expect(asked.context).toContain('First this, then that.');
    watching(started);
    await answer(hive, asked, 'Approve');
    await eventually(async () => (await runOf(hive)).start === 2, 30_000);
    await eventually(async () => (await runOf(hive)).status === 'sleeping', 30_000);
    const work = await pending(hive);
    expect(work.question).toContain(LINE);
    await answer(hive, work, 'Allow');
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 3, calls: [], problem: null });
    expect(model.everything()).toContain('Exited Plan Mode');
    expect(effects(folder)).toBe('one\n');
  });

  test('that ends its turn with a question open is continued with the answer', async () => {
    const started = await start({
      script: thenDone(call('hivemind_ask_async', { question: 'Red or blue?' })),
    });
    const { hive, child, model } = started;
    expect(await child.exited).toMatchObject({ code: 3 });
    expect(await runOf(hive)).toMatchObject({ status: 'sleeping', calls: [{ call_id: null }] });
    expect(model.requests).toHaveLength(2);
    watching(started);
    const { ask_id } = await pending(hive);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await ended(hive);
    expect(await runOf(hive)).toMatchObject({ exit_code: 0, start: 2, calls: [], problem: null });
    expect(model.everything()).toContain(`You stopped while ${ask_id} was open`);
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    expect(model.everything()).toContain('blue');
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

  test.each(SEEDS)(
    'that is killed at random has each effect once, and none without its answer (seed %i, and the next)',
    async (seed) => {
      // Such a run mostly waits for its human, so two of them take hardly longer than one.
      const two = await Promise.allSettled([
        killAtRandom(seed, 'connection'),
        killAtRandom(seed + 1, 'process'),
      ]);
      for (const one of two) if (one.status === 'rejected') throw one.reason;
    },
    150_000,
  );
});

async function killAtRandom(seed: number, way: HookWay): Promise<void> {
  const random = randomOf(seed, 'runs');
  const lines = ['one', 'two', 'three'];
  const started = await start({ script: (request) => nextLine(request, lines), patience: '300ms', way });
  const { hive, folder, child, run } = started;
  // Any process of the person's may look after the run.
  const startKeeper = (): Child => spawnHive(random.pick(KEEPERS), claudeEnvironment(run));
  let keeper = startKeeper();
  const allowed = new Set<string>();
  let isOver = false;
  const human = (async () => {
    const random = randomOf(seed, 'human');
    while (!isOver) {
      for (const prompt of (await hive.prompts.list({ status: 'pending', limit: 10 })).items) {
        const line = lines.find((one) => prompt.question.includes(one)) ?? '';
        await moment(random.between(0, 1_500));
        // A week passes, and old records are removed.
        if (random.chance(0.3)) {
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
      await moment(50);
    }
  })();
  await eventually(async () => (await hive.runs.list({ all: true })).length > 0, 20_000);
  for (let kills = 0; kills < 4; kills += 1) {
    await moment(random.between(0, 3_000));
    const [now] = await hive.runs.list({ all: true });
    const victim = random.next();
    if (victim < 0.4) {
      await keeper.kill('SIGKILL');
      keeper = startKeeper();
    } else if (victim < 0.6) await child.kill('SIGKILL');
    else if (now?.agent != null) kill(now.agent.pid);
  }
  // A human that fails answers nothing more, and the run would never end.
  const problem = await Promise.race([ended(hive), human]).then(
    () => null,
    async (error: unknown) =>
      `${String(error)} ${JSON.stringify(await runOf(hive))} ${keeper.process.spawnargs.at(2)}: ${keeper.stderr()}`,
  );
  isOver = true;
  if (problem === null) await human;
  const plan = `seed ${seed}, hooks by ${way}`;
  expect(problem, plan).toBeNull();
  expect(await runOf(hive), plan).toMatchObject({ problem: null, exit_code: 0 });
  expect(effects(folder), plan).toBe('one\ntwo\nthree\n');
}

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
