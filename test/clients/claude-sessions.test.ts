/** Client suite 6: steering, Esc, /clear, /compact and --resume with a question open: who it is, which turn, where the answer goes. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventsOf, HUMAN } from '../support/hive.ts';
import { NO_STORE, tokenFileOf } from '../support/remote.ts';
import { serve } from '../support/serve.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, type Reply, type Script, startModel } from './support/anthropic.ts';
import type { ChatTerminal } from './support/chat-terminal.ts';
import { runClaude, transcriptsOf } from './support/claude.ts';
import { openClaude } from './support/claude-terminal.ts';
import { isMain, mention, openWorld, turnsOf, type World } from './support/world.ts';

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

const never = (): Promise<never> => new Promise(() => undefined);

describe('the interactive Claude Code', () => {
  test('steers a turn, replaces one, and interrupts one with its question, as its person types', async () => {
    const typed = join(tempFolder(), 'typed');
    let begun = '';
    const run: Promise<Run> = open(async (_request, step) => {
      const told = (await run).model.told();
      // Until there is a reply, it is told the message before as well.
      const words = told.match(/(?:steer|think|more|stop) \w+ please/g)?.at(-1) ?? begun;
      const isNew = words !== begun;
      begun = words;
      if (isNew && words === 'steer first please')
        return { calls: [bash(`until [ -e '${typed}' ]; do sleep 0.1; done`)] };
      if (isNew && (words === 'think first please' || words === 'think third please')) return never();
      if (isNew && words === 'stop first please') return ask;
      if (words === 'stop first please') return { calls: [bash('tail -f /dev/null')] };
      return { text: `reply to ${words}, step ${step}` };
    });
    const { hive, model, claude } = await run;
    await claude.say('steer first please');
    await toolRuns(await run, 'Bash');
    await claude.say('second words');
    await claude.until(/Queued/);
    writeFileSync(typed, '');
    await claude.until(/reply to steer first/);
    expect(model.everything()).toContain('second words');
    await eventually(async () => (await turnsOf(hive)).join() === 'completed');
    expect(await eventsOf(hive, 'turn/steered')).toHaveLength(1);

    // A prompt that is sent now replaces the turn in which the model thinks.
    const settled = async (...more: string[]): Promise<void> => {
      await eventually(async () => !(await turnsOf(hive)).includes('in_progress'));
      expect((await turnsOf(hive)).slice(-more.length)).toEqual(more);
    };
    const thinks = async (words: string): Promise<void> => {
      const steps = model.requests.length;
      await claude.say(words);
      await eventually(() => model.requests.length > steps, 10_000);
    };
    await thinks('think first please');
    await claude.type('more second please');
    await claude.until(/more second please/);
    await claude.keys('C-x', 'C-s');
    await claude.until(/reply to more second/);
    await settled('aborted replaced', 'completed');

    // So does one in place of a prompt that was taken back before its first token: it is in the input line again.
    await thinks('think third please');
    await claude.until(/esc to interrupt/);
    await claude.keys('Escape');
    await claude.until(/❯\sthink third please\s*\n─/);
    await claude.say(', and more third please');
    await claude.until(/reply to more third/);
    await settled('aborted replaced', 'completed');

    // Esc while a tool runs cancels the question, and the next turn is told once.
    await claude.say('stop first please');
    await toolRuns(await run, 'Bash');
    await claude.keys('Escape');
    await claude.until(/Interrupted[\s\S]*\? for shortcuts/);
    await claude.say('more fourth please');
    await claude.until(/reply to more fourth/);
    await settled('aborted interrupted terminal', 'completed');
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted' });
    expect(model.told()).toMatch(/interrupted/i);
    expect(model.told()).toContain(`${prompt?.ask_id} (asked`);
    await claude.say('more fifth please');
    await claude.until(/reply to more fifth/);
    expect(model.everything().split(`${prompt?.ask_id} (asked`)).toHaveLength(2);
  });

  test('Esc takes a prompt back with the answer that came with it: the prompt that follows carries it again', async () => {
    const run: Promise<Run> = open(async (_request, step) => {
      const told = (await run).model.told();
      if (told.includes('ask please')) return ask;
      return told.includes('think please') && !told.includes('and reply')
        ? never()
        : { text: `reply ${step}` };
    });
    const { hive, model, claude } = await run;
    await claude.say('ask please');
    await claude.until(/reply 2[\s\S]*\? for shortcuts/);
    const [prompt = expect.fail()] = (await hive.prompts.list({ limit: 1 })).items;
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'blue', actor: HUMAN });
    await claude.say('think please');
    await eventually(() => model.requests.length === 3, 10_000);
    expect(model.told()).toContain(`Answer to ${prompt.ask_id}`);
    await claude.keys('Escape');
    await claude.until(/❯\sthink please\s*\n─/);
    await claude.say(' and reply');
    await claude.until(/reply 4[\s\S]*\? for shortcuts/);
    expect(model.everything().match(/Answer to ask-.*?blue/g)).toHaveLength(1);
    await claude.say('further words');
    await claude.until(/reply 5/);
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    expect((await hive.prompts.get(prompt.ask_id)).collected_at).toEqual(expect.any(String));
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

  test('/compact and /clear with a question open: the answer reaches the session that goes on', async () => {
    let asked = 0;
    const run: Promise<Run> = open(async (_request, step) => {
      if (!(await run).model.told().includes(`question ${asked + 1} please`))
        return { text: `reply ${step}` };
      asked += 1;
      return ask;
    });
    const { hive, claude, model } = await run;
    const respond = (ask_id: string) => hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    const pending = async () => {
      await eventually(
        async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items.length > 0,
      );
      const [prompt = expect.fail()] = (await hive.prompts.list({ status: 'pending', limit: 1 })).items;
      return prompt;
    };
    await claude.say('question 1 please');
    const { ask_id } = await pending();
    await claude.until(/reply 2/);
    await claude.say('/compact');
    await claude.until(/Compacted/, 60_000);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending', orphaned: false });
    await respond(ask_id);
    await claude.say('second words');
    // The summary was a step, or several.
    await claude.until(/second words[\s\S]*reply \d/);
    expect(model.everything().match(/Answer to ask-.*?blue/g)).toHaveLength(1);
    await eventually(async () => (await hive.prompts.get(ask_id)).collected_at !== null);
    expect(await hive.sessions.list({ state: 'alive' })).toHaveLength(1);

    await claude.say('question 2 please');
    const before = await pending();
    await claude.until(/question 2 please[\s\S]*reply \d/);
    await claude.say('/clear');
    // In the same process.
    await eventually(
      async () => (await hive.sessions.list({ state: 'alive' })).some((s) => s.continues !== null),
      10_000,
    );
    await respond(before.ask_id);
    await claude.until(/❯/);
    await claude.say('third words');
    await claude.until(/third words[\s\S]*reply \d/);
    expect(model.told()).toMatch(/Answer to ask-.*blue/);
    const after = await hive.prompts.get(before.ask_id);
    expect(await hive.sessions.find(after.session_id)).toMatchObject({
      continues: before.session_id,
      state: expect.not.stringMatching('ended'),
    });
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

test('Esc in a Claude Code whose hooks go to hive serve ends its turn as interrupted at the terminal', async () => {
  const { hive, ...world } = await openWorld();
  const served = await serve(world.store);
  const remote = { ...served, token_file: tokenFileOf(served) };
  const model = await startModel(() => ({ calls: [bash('tail -f /dev/null')] }));
  const claude = await openClaude({ ...world, model, env: { HIVE_STORE: NO_STORE }, remote });
  // The hooks of a message that is typed before the client has connected to the server are lost.
  await claude.say('/mcp');
  await claude.until(/✔ hive/, 30_000);
  await claude.keys('Escape');
  await claude.until(/❯\s*$/m);
  await claude.say('please begin');
  await toolRuns({ ...world, hive }, 'Bash');
  await claude.keys('Escape');
  const running = () => hive.store.read((tx) => tx.turns.running(10));
  await eventually(async () => (await running()).length === 0, 20_000, 'the end of its turn');
  const [session] = (await hive.sessions.list()).filter(({ machine }) => machine === 'token:default');
  const turn = await hive.store.read((tx) => tx.turns.last(session?.session_id ?? ''));
  expect(turn).toMatchObject({ abort_reason: 'interrupted', by: 'terminal' });
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

  test('gets a mention that it has not read once, with its prompt', async () => {
    const world = await openWorld();
    const model = await startModel(async (_request, step) => {
      if (step === 1) await mention(world.hive, isMain);
      return { text: 'done' };
    });
    const { session_id } = await runClaude({ ...world, model }, 'go');
    expect(model.everything()).not.toContain('Please review auth');
    await runClaude({ ...world, model }, 'go on', ['--resume', session_id]);
    expect(model.everything().match(/Please review auth/g)).toHaveLength(1);
  });
});
