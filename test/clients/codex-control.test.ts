/** Client suite 3 for Codex: an interrupt ends its turn through its control socket, and a review replaces it. */
import { describe, expect, test } from 'vitest';
import { shell as person } from '../support/cli.ts';
import { eventually } from '../support/wait.ts';
import { codexHome } from './support/codex.ts';
import { openCodexApp } from './support/codex-app.ts';
import { openCodex } from './support/codex-terminal.ts';
import { hive as call, type Reply, shell, startResponses } from './support/responses.ts';
import { openWorld, turnsOf } from './support/world.ts';

const escalated = {
  name: 'exec_command',
  arguments: { cmd: 'true', sandbox_permissions: 'require_escalated', justification: 'to see' },
};

describe('an interrupt of Codex', () => {
  test('requested from a shell: the running tool ends at once, and the next turn knows why', async () => {
    const world = await openWorld();
    const { hive, ...rest } = world;
    const model = await startResponses((_request, step) => {
      if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Go on?' })] };
      return step === 2 ? { calls: [shell('tail -f /dev/null')] } : { text: `reply ${step}` };
    });
    const run = { ...rest, model };
    const codex = await openCodex(run);
    await codex.say('first words');
    const works = async () => (await hive.turns.running()).find(({ turn }) => turn.last_tool === 'Bash');
    await eventually(async () => (await works()) !== undefined, 20_000);
    const handle = (await works())?.session.handle ?? '';
    const { hive: say } = person(world.store, { CODEX_HOME: codexHome(run), HIVE_USER: 'ada' });
    const asked = await say('interrupt', handle, '--note', 'wrong branch', '--json');
    const [prompt] = (await hive.prompts.list({ limit: 10 })).items;
    expect(asked.json()).toMatchObject({
      outcome: 'aborted',
      abort_reason: 'interrupted',
      by: 'ada',
      cancelled_prompts: [prompt?.ask_id],
    });
    await codex.until(/Conversation interrupted/);
    expect(model.requests).toHaveLength(2);
    await codex.say('second words');
    await codex.until(/reply 3/);
    expect(model.told()).toContain('Your last turn was interrupted by ada');
    expect(model.told()).toContain('wrong branch');
  });

  test.each<[string, Reply | null, RegExp]>([
    ['thinks', null, /Working/],
    ['waits for a permission in its terminal', { calls: [escalated] }, /Would you like to run/],
    ['waits in a tool of Hive', { calls: [call('hivemind_ask', { question: 'Go on?' })] }, /Calling hive/],
  ])('ends the turn of one that %s, with its questions', async (_, reply, working) => {
    const world = await openWorld();
    const { hive, ...rest } = world;
    const over = Promise.withResolvers<Reply>();
    const asks = JSON.stringify(reply).includes('hivemind_ask');
    const model = await startResponses((_request, step) => {
      if (step === 1 && reply !== null) return reply;
      // The result of the tool may reach the model before the interrupt reaches Codex.
      return step === 1 || (step === 2 && asks) ? over.promise : { text: `reply ${step}` };
    });
    const run = { ...rest, model };
    const codex = await openCodex(run, ['-a', 'on-request', '-s', 'read-only']);
    await codex.say('first words');
    await codex.until(working, 20_000);
    await eventually(() => model.requests.length === 1);
    const pending = async () => (await hive.prompts.list({ status: 'pending', limit: 10 })).items;
    await eventually(async () => (await pending()).length === (asks ? 1 : 0), 20_000);
    const open = (await pending()).map(({ ask_id }) => ask_id);
    const handle = (await hive.turns.running())[0]?.session.handle ?? '';
    const { hive: say } = person(world.store, { CODEX_HOME: codexHome(run), HIVE_USER: 'ada' });
    const asked = await say('interrupt', handle, '--note', 'wrong branch', '--json');
    expect(asked.json()).toMatchObject({ outcome: 'aborted', by: 'ada', cancelled_prompts: open });
    await codex.until(/Conversation interrupted/);
    over.resolve({ text: 'reply 0' });
    await codex.say('second words');
    await codex.until(/second words[\s\S]*reply \d/);
    expect(model.told()).toContain('Your last turn was interrupted by ada');
  });
});

describe('a turn of Codex that another one replaces', () => {
  test('a review is requested while a tool runs: its rollout says replaced, and so does Hive', async () => {
    const { hive, ...rest } = await openWorld();
    const model = await startResponses((_request, step) =>
      step === 1 ? { calls: [shell('tail -f /dev/null')] } : { text: `reply ${step}` },
    );
    const codex = await openCodexApp({ ...rest, model });
    await codex.ask('turn/start', { input: [{ type: 'text', text: 'first words' }] });
    await eventually(
      async () => (await hive.turns.running()).some(({ turn }) => turn.last_tool === 'Bash'),
      20_000,
    );
    const target = { type: 'custom', instructions: 'look' };
    await codex.ask('review/start', { target, delivery: 'inline' });
    await eventually(async () => (await turnsOf(hive)).length > 1, 20_000);
    expect((await turnsOf(hive))[0]).toBe('aborted replaced');
  });
});
