/** Client suite: what a session is called follows the names that the real Codex gives its thread, within one event. */
import { describe, test } from 'vitest';
import { eventually } from '../support/wait.ts';
import { openCodex } from './support/codex-terminal.ts';
import { startResponses } from './support/responses.ts';
import { openWorld } from './support/world.ts';

describe('the terminal of Codex', () => {
  test('its session is called as Codex has named the thread, and then as /rename says', async () => {
    const { hive, ...world } = await openWorld({ wake: 'off' });
    const generated = { text: JSON.stringify({ title: 'Delivery date' }) };
    const model = await startResponses((_request, step) => ({ text: `reply ${step}` }), generated);
    const codex = await openCodex({ ...world, model });
    const called = async (name: string): Promise<boolean> =>
      (await hive.sessions.list()).some(({ title }) => title === name);
    await codex.say('The delivery date on the page of an order is wrong');
    await codex.until(/reply 1/);
    // It shows the name below the line that one types in.
    await codex.until(/~ · Delivery date/);
    await codex.say('second words');
    await codex.until(/reply 2/);
    await eventually(() => called('Delivery date'));
    await codex.say('/rename delivery-fix');
    await codex.until(/~ · delivery-fix/);
    await codex.say('third words');
    await codex.until(/reply 3/);
    await eventually(() => called('delivery-fix'));
  });
});
