/** Client suite: what a session is called follows the real Claude Code, within one event. */
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/wait.ts';
import { startModel } from './support/anthropic.ts';
import { transcriptsOf } from './support/claude.ts';
import { openClaude } from './support/claude-terminal.ts';
import { openWorld } from './support/world.ts';

describe('the interactive Claude Code', () => {
  test('its session is called as the client has named it, and then as /rename says, with the next event', async () => {
    const { hive, ...world } = await openWorld({ wake: 'off' });
    const generated = { text: JSON.stringify({ title: 'Delivery date' }) };
    const model = await startModel((_request, step) => ({ text: `reply ${step}` }), generated);
    // The variable that turns off everything that is not essential would turn off titles, too.
    const quiet = { DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', DISABLE_BUG_COMMAND: '1' };
    const env = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '', ...quiet };
    const claude = await openClaude({ ...world, model, env });
    const isCalled = (name: string): Promise<void> =>
      eventually(async () => (await hive.sessions.list()).some(({ title }) => title === name));
    await claude.say('The delivery date on the page of an order is wrong');
    await claude.until(/reply 1/);
    await eventually(() => transcriptsOf(world).includes('"ai-title"'), 20_000, 'the title');
    await claude.say('second words');
    await claude.until(/reply 2/);
    await isCalled('Delivery date');

    await claude.say('/rename delivery-fix');
    await claude.until(/delivery-fix/);
    await claude.say('third words');
    await claude.until(/reply 3/);
    await isCalled('delivery-fix');
    expect((await hive.sessions.resolve('delivery-fix')).client_title).toBe('delivery-fix');
  });
});
