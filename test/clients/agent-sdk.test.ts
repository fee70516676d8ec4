/** The Claude Agent SDK with Hive in its own process: the examples, unchanged, against a scripted model. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../../src/extensions/runs/service.ts';
import { type Child, outputOf, ROOT, spawnChild } from '../support/children.ts';
import { answerDialog, openDesk } from '../support/dialogs.ts';
import { HUMAN, untilPending } from '../support/hive.ts';
import { eventually, FOR_EVER_MS } from '../support/wait.ts';
import { bash, hive as call, startModel } from './support/anthropic.ts';
import { type ClaudeRun, claudeEnvironment } from './support/claude.ts';
import { askIdIn, isMain, mention, openWorld } from './support/world.ts';

/** Runs an example where both packages are installed, as a person would. */
function startExample(
  run: ClaudeRun,
  name: string,
  args: readonly string[] = ['go'],
): { child: Child; done: Promise<string> } {
  const { folder } = run;
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) {
    mkdirSync(join(modules, '@anthropic-ai'), { recursive: true });
    symlinkSync(ROOT, join(modules, 'hive-sidecar'));
    const sdk = '@anthropic-ai/claude-agent-sdk';
    symlinkSync(join(run.clients.modules, sdk), join(modules, sdk));
    copyFileSync(join(ROOT, 'examples', name), join(folder, name));
  }
  const child = spawnChild(process.execPath, [join(folder, name), ...args], claudeEnvironment(run));
  child.process.stdin.end();
  return { child, done: outputOf(child) };
}

describe('an agent of the Agent SDK', () => {
  test('asks, is held by a mention, and has its answer carried in (hiveHooks)', async () => {
    const world = await openWorld();
    const { hive } = world;
    const told: string[] = [];
    const model = await startModel(async ({ messages }, step) => {
      told.push(model.told());
      switch (step) {
        case 1:
          return { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };
        case 2:
          await mention(hive, isMain);
          await hive.prompts.respond({ ask_id: askIdIn(messages), decision: 'blue', actor: HUMAN });
          return { calls: [bash('echo ran-$((1+1))')] };
        case 3:
          return { calls: [call('hivemind_process_mentions', { all: true })] };
        case 4:
          return { calls: [bash('echo ran-$((2+1))')] };
        default:
          return { text: 'all done' };
      }
    });
    expect(await startExample({ ...world, model }, 'agent-sdk-hooks.mjs').done).toContain('all done');
    expect(told[2]).toContain('Please review auth');
    expect(told[2]).not.toMatch(/ran-\d/);
    expect(told[4]).toContain('ran-3');
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    const [prompt] = (await hive.prompts.list({ limit: 1 })).items;
    expect(prompt?.collected_at).toEqual(expect.any(String));
    expect(await hive.sessions.find(prompt?.session_id ?? '')).toMatchObject({
      client: 'claude-code',
      source: 'bg',
    });
  });

  test('has its permissions asked at the desk (hiveCanUseTool), and denied where nobody is', async () => {
    for (const desk of [true, false]) {
      const world = await openWorld();
      if (desk) await openDesk(world.hive);
      const model = await startModel((_request, step) =>
        step === 1 ? { calls: [bash('echo one > made.txt')] } : { text: 'all done' },
      );
      const { done } = startExample({ ...world, model }, 'agent-sdk-permissions.mjs');
      if (desk) {
        const [{ ask_id } = expect.fail()] = await untilPending(world.hive);
        await answerDialog(world.hive, ask_id, 'Allow');
      }
      expect(await done).toContain('all done');
      expect(existsSync(join(world.folder, 'made.txt'))).toBe(desk);
      if (!desk) expect(model.told()).toContain('Nobody was there');
    }
  });

  test('is stopped in the middle of a tool (onInterrupt)', async () => {
    const world = await openWorld();
    const { hive } = world;
    const model = await startModel(() => ({ calls: [bash('tail -f /dev/null')] }));
    const { done } = startExample({ ...world, model }, 'agent-sdk-interrupt.mjs');
    const running = async () => (await hive.turns.running()).find(({ turn }) => turn.open_tools.length > 0);
    await eventually(async () => (await running()) !== undefined, 20_000);
    const session = (await running())?.session.session_id ?? '';
    const outcome = await hive.interrupts.interrupt({
      session,
      note: 'enough',
      actor: HUMAN,
      timeout_ms: FOR_EVER_MS,
    });
    expect(outcome).toMatchObject({ outcome: 'aborted', abort_reason: 'interrupted', by: 'ada' });
    expect(await done).toContain('Stopped by ada: enough');
    expect(model.requests).toHaveLength(1);
  });

  test('need not live while its human thinks, nor need its program (runHeadless, untilEnded)', async () => {
    const world = await openWorld();
    const { hive } = world;
    const model = await startModel(({ messages }) =>
      JSON.stringify(messages).includes('"type":"tool_result"')
        ? { text: 'all done' }
        : { calls: [bash('echo one >> made.txt')] },
    );
    const env = { CLAUDE: world.clients.claude, PATIENCE_MS: '1000' };
    const run = { ...world, model, env };
    const first = startExample(run, 'agent-sdk-headless.mjs');
    first.done.catch(() => undefined);
    const asleep = async () =>
      (await runsOf(hive).list({ all: true })).find(({ status }) => status === 'sleeping');
    await eventually(async () => (await asleep()) !== undefined, 30_000);
    await first.child.kill('SIGKILL');
    const { run_id } = (await asleep()) ?? { run_id: '' };
    const [prompt] = (await hive.prompts.list({ status: 'pending', limit: 1 })).items;
    await answerDialog(hive, prompt?.ask_id ?? '', 'Allow');
    const again = startExample(run, 'agent-sdk-headless.mjs', ['--run', run_id]);
    expect(await again.done).toBe('all done\n');
    expect(readFileSync(join(world.folder, 'made.txt'), 'utf8')).toBe('one\n');
    expect(await runsOf(hive).list({ all: true })).toMatchObject([
      { status: 'ended', start: 2, exit_code: 0 },
    ]);
  });

  test('starts no run from a process of an agent', async () => {
    const world = await openWorld();
    const model = await startModel(() => ({ text: 'never' }));
    const env = { CLAUDE: world.clients.claude, CLAUDECODE: '1' };
    const { child, done } = startExample({ ...world, model, env }, 'agent-sdk-headless.mjs');
    done.catch(() => undefined);
    expect(await child.exited).toMatchObject({ code: 1 });
    expect(child.stderr()).toContain('Only a human starts headless runs');
    expect(await runsOf(world.hive).list({ all: true })).toEqual([]);
  });
});
