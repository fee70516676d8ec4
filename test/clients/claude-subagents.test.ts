/** Client suite 5: the agents that the real Claude Code runs beside its session: their permissions, their turns and their mentions. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HUMAN } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, type ModelRequest, startModel } from './support/anthropic.ts';
import { runClaude } from './support/claude.ts';
import { answer, asked, PROCEED } from './support/claude-dialogs.ts';
import { openClaude } from './support/claude-terminal.ts';
import { isSubagent, mention, openWorld, openWorldWithDesk } from './support/world.ts';

/** Which of the agents this request is of: its name, or null for the session itself. */
const agentOf = ({ messages }: ModelRequest): string | null =>
  /WRITE (\w+)/.exec(JSON.stringify(messages.filter(({ role }) => role === 'user')[0]))?.[1] ?? null;

const agent = (name: string, more: object = {}) => ({
  name: 'Agent',
  input: { description: name, prompt: `WRITE ${name}`, subagent_type: 'general-purpose', ...more },
});

test('subagents and a teammate are asked at the desk for a minute, then in the terminal, where their rows wait', async () => {
  const { hive, ...rest } = await openWorldWithDesk();
  const model = await startModel((request) => {
    const name = agentOf(request);
    const isFirst = !request.messages.some(({ role }) => role === 'assistant');
    if (!isFirst) return { text: name === null ? 'all launched' : 'written' };
    if (name !== null) return { calls: [bash(`touch ${name}.txt`)] };
    return { calls: [agent('one'), agent('two'), agent('three', { name: 'mate' })] };
  });
  const env = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' };
  const claude = await openClaude({ ...rest, model, env, allowed: null }, ['--teammate-mode', 'in-process']);
  await claude.say('please begin');
  const prompts = await asked(hive, 3);
  const of = (name: string) => prompts.find(({ question }) => question === `Run touch ${name}.txt?`);
  const made = (name: string): boolean => existsSync(join(rest.folder, `${name}.txt`));
  const now = (name: string) => hive.prompts.get(of(name)?.ask_id ?? '');
  // Named as in the terminal.
  expect((await now('two')).agent_title).toMatch(/^general-purpose of /);
  expect(await now('three')).toMatchObject({ source: 'bg', agent_title: expect.stringMatching(/^mate of /) });

  await answer(hive, of('one'), { decision: 'Allow' });
  await eventually(() => made('one'), 20_000);

  for (const name of ['two', 'three'])
    await eventually(async () => (await now(name)).terminal_since !== null, 90_000, 'the end of the hooks');
  await claude.until(PROCEED);
  expect([await now('two'), await now('three')]).toMatchObject([
    { status: 'pending' },
    { status: 'pending' },
  ]);
  const ofTwo = /from the general-purpose agent[\s\S]*proceed/;
  const ofMate = /from the mate agent[\s\S]*proceed/;
  // The terminal shows them in the order in which their hooks have ended.
  const isMateFirst = ofMate.test((await claude.screen()).join('\n'));
  if (isMateFirst) await claude.answer(ofMate, 'Escape');
  await claude.answer(ofTwo, 'Enter');
  await eventually(() => made('two'), 20_000);
  if (!isMateFirst) await claude.answer(ofMate, 'Escape');
  for (const name of ['two', 'three'])
    await eventually(async () => (await now(name)).cancel_reason === 'answered_elsewhere', 20_000);
  expect(made('three')).toBe(false);
});

test('a subagent in the background goes on there after /clear, and its permission is still answered at the desk', async () => {
  const { hive, ...rest } = await openWorldWithDesk();
  const model = await startModel((request) => {
    const name = agentOf(request);
    const steps = request.messages.filter(({ role }) => role === 'assistant').length;
    if (name !== null) return { calls: [bash(`touch ${name}-${steps}.txt`)] };
    return steps === 0 ? { calls: [agent('one', { run_in_background: true })] } : { text: 'all launched' };
  });
  const claude = await openClaude({ ...rest, model, allowed: null });
  await claude.say('please begin');
  const [before] = await asked(hive);
  await claude.until(/all launched/);
  await claude.say('/clear');
  const now = () => hive.prompts.get(before?.ask_id ?? '');
  await eventually(async () => (await now()).session_id !== before?.session_id, 20_000);
  expect(await now()).toMatchObject({ status: 'pending', source: 'bg', agent_title: before?.agent_title });
  await answer(hive, await now(), { decision: 'Allow' });
  await eventually(() => existsSync(join(rest.folder, 'one-0.txt')), 20_000);
  const after = async () => (await hive.prompts.list({ status: 'pending', limit: 1 })).items[0];
  await eventually(async () => (await after())?.question === 'Run touch one-1.txt?', 20_000);
  expect(await after()).toMatchObject({ source: 'bg', session_id: (await now()).session_id });
});

test('a subagent is interrupted although its session has gone on with another message, and does nothing more', async () => {
  const { hive, ...rest } = await openWorldWithDesk();
  const go = join(rest.folder, 'go');
  const model = await startModel((request, step) => {
    const isFirst = !request.messages.some(({ role }) => role === 'assistant');
    if (agentOf(request) === null) return isFirst ? { calls: [agent('one')] } : { text: `reply ${step}` };
    return { calls: [bash(isFirst ? `until [ -e '${go}' ]; do sleep 0.1; done` : 'touch more.txt')] };
  });
  const claude = await openClaude({ ...rest, model });
  await claude.say('please begin');
  const turn = async () => {
    const child = (await hive.sessions.list()).find(({ session_id }) => isSubagent(session_id));
    return child === undefined ? undefined : hive.store.read((tx) => tx.turns.last(child.session_id));
  };
  await eventually(async () => (await turn())?.open_tools.length === 1, 20_000, 'its command');
  await claude.until(/reply \d/);
  const steps = model.requests.length;
  await claude.say('second words');
  await eventually(() => model.requests.length > steps, 20_000, 'the second message');
  const { session_id = '', turn_id } = (await turn()) ?? {};
  const outcome = hive.interrupts.interrupt({ session: session_id, actor: HUMAN });
  await eventually(async () =>
    hive.store.read(async (tx) => (await tx.turns.pendingInterrupts(turn_id ?? '')).length === 1),
  );
  writeFileSync(go, '');
  expect(await outcome).toMatchObject({ turn_id, outcome: 'aborted', abort_reason: 'interrupted' });
  await claude.until(/Agent "one" (?:finished|stopped)/);
  expect(existsSync(join(rest.folder, 'more.txt'))).toBe(false);
});

test('a mention holds the subagent that it addresses, and not its parent', async () => {
  const world = await openWorld();
  const steps: string[] = [];
  const model = await startModel(async ({ messages }) => {
    const isSub = JSON.stringify(messages[0]).includes('SUBTASK');
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    steps.push(
      `${isSub ? 'sub' : 'main'} ${turn}: ${JSON.stringify(messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1))}`,
    );
    if (!isSub) {
      const input = {
        description: 'd',
        prompt: 'SUBTASK',
        subagent_type: 'general-purpose',
        run_in_background: false,
      };
      return turn === 0
        ? { calls: [{ name: 'Agent', input }] }
        : turn === 1
          ? { calls: [bash('echo main-$((1+1))')] }
          : { text: 'done' };
    }
    switch (turn) {
      case 0:
        return { calls: [call('hivemind_status')] };
      case 1:
        await mention(world.hive, isSubagent);
        return { calls: [bash('echo sub-$((1+1))')] };
      case 2:
        return { calls: [call('hivemind_process_mentions', { all: true })] };
      case 3:
        return { calls: [bash('echo sub-$((2+1))')] };
      default:
        return { text: 'sub done' };
    }
  });
  await runClaude({ ...world, model }, 'go');
  const sub = steps.filter((step) => step.startsWith('sub'));
  expect(sub[2]).toContain('Please review auth');
  expect(sub[2]).not.toMatch(/sub-\d/);
  expect(sub[4]).toContain('sub-3');
  expect(steps.find((step) => step.startsWith('main 2'))).toContain('main-2');
  expect(steps.filter((step) => step.startsWith('main')).join()).not.toContain('Please review auth');
  const { items } = await world.hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
  expect(items).toMatchObject([{ status: 'processed' }]);
  expect(items[0]?.session_id).toMatch(/:/);
});
