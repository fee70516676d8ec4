/** Client suite: what a session is called follows the real Claude Code, within one event. */
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/wait.ts';
import { startModel } from './support/anthropic.ts';
import { openClaude } from './support/claude-terminal.ts';
import { openWorld } from './support/world.ts';

describe('the interactive Claude Code', () => {
  test('its session is called as /rename says, with the next event', async () => {
    const { hive, ...world } = await openWorld();
    const model = await startModel((_request, step) => ({ text: `reply ${step}` }));
    const claude = await openClaude({ ...world, model, env: { HIVE_WAKE: 'off' } });
    await claude.say('first words');
    await claude.until(/reply 1/);
    await claude.say('/rename delivery-fix');
    await claude.until(/delivery-fix/);
    await claude.say('second words');
    await claude.until(/reply 2/);
    await eventually(async () => (await hive.sessions.list()).some(({ title }) => title === 'delivery-fix'));
    expect((await hive.sessions.resolve('delivery-fix')).client_title).toBe('delivery-fix');
  });
});
