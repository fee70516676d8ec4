/** Client suite 6 for Codex: steering, Esc and resume with a question open: which turn, and where the answer goes. */
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventsOf, HUMAN } from '../support/hive.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import type { ChatTerminal } from './support/chat-terminal.ts';
import { codexHome, runCodex, startCodex } from './support/codex.ts';
import { openCodex } from './support/codex-terminal.ts';
import { hive as call, type Reply, type Script, shell, startResponses } from './support/responses.ts';
import { isMain, mention, openWorld, turnsOf, type World } from './support/world.ts';

const ask: Reply = { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };

interface Run extends World {
  model: Awaited<ReturnType<typeof startResponses>>;
  codex: ChatTerminal;
}

async function open(script: Script): Promise<Run> {
  const world = await openWorld({ wake: 'off' });
  const { hive: _, ...rest } = world;
  const model = await startResponses(script);
  return { ...world, model, codex: await openCodex({ ...rest, model }) };
}

/** Its PreToolUse hook has ended, and it is under way. */
async function toolRuns({ hive }: World): Promise<void> {
  const running = async () => (await hive.turns.running()).some(({ turn }) => turn.last_tool === 'Bash');
  await eventually(running, 20_000, 'the tool');
}

describe('the interactive Codex', () => {
  test('steers a turn with what is typed while a tool runs; Esc interrupts one with its question, the next is told once', async () => {
    const typed = join(tempFolder(), 'typed');
    let [waits, replies] = [false, 0];
    const run: Promise<Run> = open(async () => {
      const told = (await run).model.told();
      if (told.includes('first words'))
        return { calls: [shell(`until [ -e '${typed}' ]; do sleep 0.1; done`)] };
      if (waits) {
        waits = false;
        return { calls: [shell('tail -f /dev/null')] };
      }
      waits = told.includes('third words');
      if (waits) return ask;
      replies += 1;
      return { text: `reply ${replies}` };
    });
    const { hive, model, codex } = await run;
    await codex.say('first words');
    await toolRuns(await run);
    await codex.say('second words');
    await codex.until(/to be submitted after next tool call/);
    writeFileSync(typed, '');
    await codex.until(/reply 1[\s\S]*Worked for/);
    expect(model.everything()).toContain('second words');
    await eventually(async () => (await turnsOf(hive)).join() === 'completed');
    expect(await eventsOf(hive, 'turn/steered')).toHaveLength(1);

    await codex.say('third words');
    await toolRuns(await run);
    await codex.keys('Escape');
    await codex.until(/Conversation interrupted/);
    await eventually(async () => (await turnsOf(hive)).join() === 'completed,aborted interrupted terminal');
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted' });
    await codex.say('fourth words');
    await codex.until(/reply 2[\s\S]*Worked for/);
    expect(model.told()).toContain('Your last turn was interrupted at the terminal');
    expect(model.told()).toContain(`${prompt?.ask_id} (asked`);
    await codex.say('fifth words');
    await codex.until(/reply 3[\s\S]*Worked for/);
    expect(model.everything().split(`${prompt?.ask_id} (asked`)).toHaveLength(2);
    await eventually(async () => !(await turnsOf(hive)).includes('in_progress'));
    expect((await turnsOf(hive)).slice(2)).toEqual(['completed', 'completed']);
  });
});

describe('/review of the interactive Codex', () => {
  test('is an agent of its own: it gets no answer of its session, which gets those to the review once that is over', async () => {
    const begun: Promise<Run> = open(async () => {
      const { model } = await begun;
      const told = model.told();
      if (told.includes('first words')) return ask;
      if (told.includes('look at it')) return { calls: [call('hivemind_ask_async', { question: 'Why?' })] };
      return { text: `reply ${model.requests.length}` };
    });
    const { hive, model, codex, store, folder } = await begun;
    const desk = await startSidecar(store, { env: { CODEX_HOME: codexHome({ folder }) } });
    onTestFinished(async () => void (await desk.end()));
    const askedAs = async (question: string) =>
      (await hive.prompts.list({ limit: 10 })).items.find((prompt) => prompt.question === question) ??
      expect.fail();
    await codex.say('first words');
    await codex.until(/reply 2[\s\S]*Worked for/);
    const { ask_id, session_id } = await askedAs('Red or blue?');
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    await eventually(async () => (await turnsOf(hive)).join() === 'completed');
    await codex.say('/review look at it');
    await codex.until(/Code review finished/);
    expect(model.everything()).not.toContain('Answer to ask-');
    await eventually(async () => (await askedAs('Why?')).session_id === session_id);
    expect(await turnsOf(hive)).toEqual(['completed', 'completed']);
    expect(await hive.sessions.list({ state: 'alive' })).toMatchObject([{ session_id, state: 'idle' }]);
    await hive.prompts.respond({ ask_id: (await askedAs('Why?')).ask_id, decision: 'so', actor: HUMAN });
    await codex.say('go on');
    await codex.until(/reply 5/);
    expect(model.told()).toMatch(/Answer to ask-.*blue/);
    expect(model.told()).toMatch(/Answer to ask-.*Why\?.*so/);
  });

  test('that Esc ends is over, and its questions are cancelled', async () => {
    const begun: Promise<Run> = open(async () => {
      const { model } = await begun;
      if (model.told().includes('look at it')) return ask;
      return { calls: [shell('tail -f /dev/null')] };
    });
    const { hive, codex, store, folder } = await begun;
    const desk = await startSidecar(store, { env: { CODEX_HOME: codexHome({ folder }) } });
    onTestFinished(async () => void (await desk.end()));
    await codex.say('/review look at it');
    await toolRuns(await begun);
    await codex.keys('Escape');
    await codex.until(/Review was interrupted/);
    await eventually(async () => (await turnsOf(hive)).join() === 'aborted interrupted terminal');
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(prompt).toMatchObject({ status: 'cancelled', cancel_reason: 'interrupted' });
    expect(
      (await hive.sessions.list({ state: 'alive' })).map(({ session_id }) => isMain(session_id)),
    ).toEqual([true]);
  });
});

test('codex exec that is killed has ended, although it has called no tool of Hive', async () => {
  const world = await openWorld();
  const go = join(tempFolder(), 'go');
  const model = await startResponses(() => ({ calls: [shell(`until [ -e '${go}' ]; do sleep 0.1; done`)] }));
  // The other one is a script that starts it.
  const clients = { ...world.clients, codex: world.clients.codexProgram };
  const { child, done } = startCodex({ ...world, clients, model }, 'go');
  done.catch(() => undefined);
  await toolRuns(world);
  expect(await world.hive.sessions.sweep(hostname())).toEqual([]);
  await child.kill('SIGKILL');
  writeFileSync(go, '');
  expect(await world.hive.sessions.sweep(hostname())).toMatchObject([{ client: 'codex', state: 'ended' }]);
});

describe('codex exec resume', () => {
  test('gets at its start what was answered while it was gone, under its old id', async () => {
    const world = await openWorld();
    const { hive } = world;
    const model = await startResponses((_request, step) => (step === 1 ? ask : { text: 'done' }));
    const first = await runCodex({ ...world, model }, 'go');
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    const ask_id = prompt?.ask_id ?? '';
    expect(prompt).toMatchObject({ session_id: first.thread_id, status: 'pending', orphaned: true });
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    const again = await runCodex({ ...world, model }, 'go on', ['resume', first.thread_id]);
    expect(again.thread_id).toBe(first.thread_id);
    expect(model.everything().match(/Answer to ask-/g)).toHaveLength(1);
    expect(model.told()).toMatch(/Answer to ask-.*blue/);
    expect((await hive.prompts.get(ask_id)).collected_at).toEqual(expect.any(String));
  });

  test('gets a mention that it has not read once, with its prompt', async () => {
    const world = await openWorld();
    const model = await startResponses(async (_request, step) => {
      if (step === 1) await mention(world.hive, isMain);
      return { text: 'done' };
    });
    const { thread_id } = await runCodex({ ...world, model }, 'go');
    expect(model.everything()).not.toContain('Please review auth');
    await runCodex({ ...world, model }, 'go on', ['resume', thread_id]);
    expect(model.everything().match(/Please review auth/g)).toHaveLength(1);
  });
});
