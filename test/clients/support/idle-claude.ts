/** Claude Code that idles in its terminal, and proof that nothing has woken it since. */
import { expect } from 'vitest';
import { eventually } from '../../support/wait.ts';
import { hive as call, type Reply, startModel } from './anthropic.ts';
import type { ChatTerminal } from './chat-terminal.ts';
import { openClaude, startInBackground } from './claude-terminal.ts';
import { askIdIn, openWorld, type World } from './world.ts';

const ask: Reply = { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };

interface Run extends World {
  model: Awaited<ReturnType<typeof startModel>>;
  claude: ChatTerminal;
  ask_id: string;
}

/** A session that has asked and idles. */
export async function idle(settings: Readonly<Record<string, unknown>> = {}): Promise<Run> {
  const world = await openWorld(settings);
  const { hive, ...rest } = world;
  const model = await askingModel();
  const claude = await openClaude({ ...rest, model });
  await claude.say('first words');
  await claude.until(/reply 2/);
  return { ...world, model, claude, ask_id: await askedWhenIdle(hive) };
}

/** The same with `claude --bg`: no terminal shows it. */
export async function idleInBackground(): Promise<Omit<Run, 'claude'>> {
  const world = await openWorld();
  const { hive, ...rest } = world;
  const model = await askingModel();
  await startInBackground({ ...rest, model }, 'first words');
  await eventually(() => model.requests.length === 2, 20_000);
  return { ...world, model, ask_id: await askedWhenIdle(hive) };
}

/** A model that asks, and polls when it is told to. */
async function askingModel(): Promise<Run['model']> {
  const model: Run['model'] = await startModel(({ messages }, step) => {
    if (step === 1) return ask;
    if (!model.told().includes('call hivemind_poll')) return { text: `reply ${step}` };
    return { calls: [call('hivemind_poll', { ask_id: askIdIn(messages) })] };
  });
  return model;
}

async function askedWhenIdle(hive: World['hive']): Promise<string> {
  const [prompt] = (await hive.prompts.list({ limit: 1 })).items;
  const session_id = prompt?.session_id ?? '';
  await eventually(async () => (await hive.store.read((tx) => tx.turns.current(session_id))) === undefined);
  return prompt?.ask_id ?? '';
}

/** The client has had no turn since reply `count`: the next reply answers what the human says now. */
export async function expectNoFurtherTurn(claude: ChatTerminal, count: number): Promise<void> {
  await claude.say('further words');
  const screen = await claude.until(new RegExp(`reply ${count + 1}\\b`));
  expect(screen.join('\n')).not.toMatch(new RegExp(`reply ${count + 2}\\b`));
}
