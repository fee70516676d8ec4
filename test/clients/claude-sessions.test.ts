/** Client suite 6: steering, Esc, /clear, /compact and --resume with a question open: who it is, which turn, where the answer goes. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventsOf, HUMAN } from '../support/hive.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, type Reply, type Script, startModel } from './support/anthropic.ts';
import type { ChatTerminal } from './support/chat-terminal.ts';
import { runClaude, transcriptsOf } from './support/claude.ts';
import { openClaude } from './support/claude-terminal.ts';
import { openWorld, turnsOf, type World } from './support/world.ts';

const ask: Reply = { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };

interface Run extends World {
  model: Awaited<ReturnType<typeof startModel>>;
  claude: ChatTerminal;
}

async function open(script: Script, allowed?: string): Promise<Run> {
  const world = await openWorld({ wake: 'off' });
  const { hive: _, ...rest } = world;
  const model = await startModel(script);
  return {
    ...world,
    model,
    claude: await openClaude({ ...rest, model, ...(allowed === undefined ? {} : { allowed }) }),
  };
}

/** Its PreToolUse hook has ended, and it is under way. */
async function toolRuns({ hive }: World, name: string): Promise<void> {
  await eventually(async () => {
    const running = await hive.store.read((tx) => tx.turns.running(10));
    return running.some(({ open_tools }) => open_tools.some((tool) => tool.name === name));
  }, 10_000);
}

describe('the interactive Claude Code', () => {
  test('a message typed while a tool runs steers the turn that runs', async () => {
    const typed = join(tempFolder(), 'typed');
    const run = await open((_request, step) =>
      step === 1 ? { calls: [bash(`until [ -e '${typed}' ]; do sleep 0.1; done`)] } : { text: 'all done' },
    );
    await run.claude.say('first words');
    await toolRuns(run, 'Bash');
    await run.claude.say('second words');
    await run.claude.until(/Queued/);
    writeFileSync(typed, '');
    await run.claude.until(/all done/);
    expect(run.model.everything()).toContain('second words');
    await eventually(async () => (await turnsOf(run.hive)).join() === 'completed');
    expect(await eventsOf(run.hive, 'turn/steered')).toHaveLength(1);
  });

  test('Esc while a tool runs: the turn is interrupted, its question is cancelled, the next turn is told once', async () => {
    const run = await open((_request, step) => {
      if (step === 1) return ask;
      return step === 2 ? { calls: [bash('tail -f /dev/null')] } : { text: `reply ${step}` };
    });
    await run.claude.say('first words');
    await toolRuns(run, 'Bash');
    await run.claude.keys('Escape');
    await run.claude.until(/Interrupted[\s\S]*\? for shortcuts/);
    await run.claude.say('second words');
    await run.claude.until(/reply 3/);
    await eventually(async () => !(await turnsOf(run.hive)).includes('in_progress'));
    expect(await turnsOf(run.hive)).toEqual(['aborted interrupted terminal', 'completed']);
    const [prompt] = (await run.hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted' });
    expect(run.model.told()).toMatch(/interrupted/i);
    expect(run.model.told()).toContain(`${prompt?.ask_id} (asked`);
    await run.claude.say('third words');
    await run.claude.until(/reply 4/);
    expect(run.model.everything().split(`${prompt?.ask_id} (asked`)).toHaveLength(2);
  });

  test('Esc in a worktree that the turn has entered, which moves the transcript: the turn is interrupted', async () => {
    const run = await open((_request, step) => {
      if (step === 1) return { calls: [{ name: 'EnterWorktree', input: { name: 'other' } }] };
      return step === 2 ? { calls: [bash('tail -f /dev/null')] } : { text: `reply ${step}` };
    }, 'Bash EnterWorktree');
    for (const args of [
      ['init'],
      ['-c', 'user.name=a', '-c', 'user.email=a', 'commit', '--allow-empty', '-m', 'a'],
    ])
      execFileSync('git', args, { cwd: run.folder, stdio: 'ignore' });
    await run.claude.say('first words');
    await toolRuns(run, 'Bash');
    await run.claude.keys('Escape');
    await run.claude.until(/Interrupted[\s\S]*\? for shortcuts/);
    await run.claude.say('second words');
    await run.claude.until(/reply 3/);
    await eventually(async () => !(await turnsOf(run.hive)).includes('in_progress'));
    expect(await turnsOf(run.hive)).toEqual(['aborted interrupted terminal', 'completed']);
  });

  test('a prompt sent now while the model thinks: the running turn is replaced, and the model is told that', async () => {
    const run = await open((_request, step) =>
      step === 1 ? new Promise<never>(() => undefined) : { text: `reply ${step}` },
    );
    await run.claude.say('first words');
    await eventually(() => run.model.requests.length === 1, 10_000);
    await run.claude.type('second words');
    await run.claude.until(/second words/);
    await run.claude.keys('C-x', 'C-s');
    await run.claude.until(/reply 2/);
    await eventually(async () => !(await turnsOf(run.hive)).includes('in_progress'));
    expect(await turnsOf(run.hive)).toEqual(['aborted replaced', 'completed']);
  });

  test('Esc before the first token, and another prompt in its place', async () => {
    const run = await open((_request, step) =>
      step === 1 ? new Promise<never>(() => undefined) : { text: `reply ${step}` },
    );
    await run.claude.say('first words');
    await eventually(() => run.model.requests.length === 1, 10_000);
    await run.claude.until(/esc to interrupt/);
    await run.claude.keys('Escape');
    // The prompt is back in the input line.
    await run.claude.until(/❯\sfirst words\s*\n─/);
    await run.claude.say(' and more');
    await run.claude.until(/reply 2/);
    await eventually(async () => !(await turnsOf(run.hive)).includes('in_progress'));
    expect(await turnsOf(run.hive)).toEqual(['aborted replaced', 'completed']);
  });

  test('/clear with a question open: the answer reaches the session that goes on, in the same process', async () => {
    const run = await open((_request, step) => (step === 1 ? ask : { text: `reply ${step}` }));
    const { hive, claude, model } = run;
    await claude.say('first words');
    await claude.until(/reply 2/);
    const [before] = (await hive.prompts.list({ limit: 10 })).items;
    await claude.say('/clear');
    await eventually(
      async () => (await hive.sessions.list({ state: 'alive' })).some((s) => s.continues !== null),
      10_000,
    );
    await hive.prompts.respond({ ask_id: before?.ask_id ?? '', decision: 'blue', actor: HUMAN });
    await claude.until(/❯/);
    await claude.say('second words');
    await claude.until(/reply 3/);
    expect(model.told()).toMatch(/Answer to ask-.*blue/);
    const after = await hive.prompts.get(before?.ask_id ?? '');
    const session = await hive.sessions.find(after.session_id);
    expect(session).toMatchObject({
      continues: before?.session_id,
      state: expect.not.stringMatching('ended'),
    });
  });

  test('/compact with a question open: the answer reaches the session that goes on', async () => {
    const run = await open((_request, step) => (step === 1 ? ask : { text: `reply ${step}` }));
    const { hive, claude, model } = run;
    await claude.say('first words');
    await claude.until(/reply 2/);
    const [before] = (await hive.prompts.list({ limit: 10 })).items;
    await claude.say('/compact');
    await claude.until(/Compacted/, 60_000);
    expect(await hive.prompts.get(before?.ask_id ?? '')).toMatchObject({
      status: 'pending',
      orphaned: false,
    });
    await hive.prompts.respond({ ask_id: before?.ask_id ?? '', decision: 'blue', actor: HUMAN });
    await claude.say('second words');
    // The summary was a step, or several.
    await claude.until(/second words[\s\S]*reply \d/);
    expect(model.everything().match(/Answer to ask-.*?blue/g)).toHaveLength(1);
    await eventually(async () => (await hive.prompts.get(before?.ask_id ?? '')).collected_at !== null);
    expect(await hive.sessions.list({ state: 'alive' })).toHaveLength(1);
  });
});

describe('claude --continue in a second terminal', () => {
  test('is not followed while the first runs, and its human is told so; as a fork it is a session of its own', async () => {
    const { hive, claude, ...rest } = await open(() => ({ text: 'all done' }));
    await claude.say('first words');
    await claude.until(/all done/);
    // The client writes its transcript after it has drawn the reply.
    await eventually(() => transcriptsOf(rest).includes('all done'), 20_000, 'the transcript');
    await openClaude(rest, ['--continue']);
    const refused = async () =>
      (await hive.notices.list(5)).filter(({ data }) => data['notice'] === 'other_process');
    await eventually(async () => (await refused()).length > 0, 20_000);
    const fork = await openClaude(rest, ['--continue', '--fork-session']);
    await fork.say('words of the fork');
    await eventually(async () => (await hive.sessions.list({ state: 'alive' })).length === 2, 20_000);
    expect(await refused()).toHaveLength(1);
  });
});

describe('claude -p --resume', () => {
  test('gets at its start what was answered while it was gone, under its old id', async () => {
    const world = await openWorld();
    const { hive } = world;
    const model = await startModel((_request, step) => (step === 1 ? ask : { text: 'done' }));
    const first = await runClaude({ ...world, model }, 'go');
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ session_id: first.session_id, status: 'pending', orphaned: true });
    await hive.prompts.respond({ ask_id: prompt?.ask_id ?? '', decision: 'blue', actor: HUMAN });
    const again = await runClaude({ ...world, model }, 'go on', ['--resume', first.session_id]);
    expect(again.session_id).toBe(first.session_id);
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    expect(model.told()).toMatch(/Answer to ask-.*blue/);
    expect((await hive.prompts.get(prompt?.ask_id ?? '')).collected_at).toEqual(expect.any(String));
  });
});
