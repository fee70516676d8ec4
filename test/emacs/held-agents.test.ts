/**
 * An agent is held by a mention, and a real Emacs says so: as its option says, and without interrupting the human.
 *
 * @module-tag guards-end
 * @module-tag sqlite
 * @module-tag emacs
 */
import { expect, onTestFinished, test } from 'vitest';
import { command, openHome } from '../support/emacs.ts';
import { gatedBash, gatedWorld } from '../support/gate.ts';
import { fire } from '../support/hooks.ts';
import { eventually } from '../support/wait.ts';

test('names the agent, who mentioned it and since when, once, and shows it again', async () => {
  const home = await openHome();
  onTestFinished(() => home.close());
  const emacs = await home.emacs("(setq hive-settings '((notify_held . 0)))");
  const { hive, mention } = await gatedWorld(home.store);
  const [desk] = await hive.desks.online();
  await eventually(async () => (await hive.desks.preferences(desk?.seat ?? '')).notify_held === 0);
  const cursor = await emacs.cursor();
  await mention('hello @me');
  await fire(hive, gatedBash());
  const text = async () => (await emacs.screen()).map((line) => line.replace(/\\$/, '')).join('');
  const said = /Hive: demo has been held since \d\d:\d\d by a mention from demo 2/;
  await eventually(async () => said.test(await text()), 10_000, 'the line in the echo area');
  expect(await emacs.cursor()).toEqual(cursor);
  await fire(hive, gatedBash());
  await command(emacs, 'hive-notices');
  await emacs.until(/ago {2}demo/);
  // The line in the echo area may stay for a moment.
  await emacs.until(/^(?!.*has been held.*has been held).*has been held/s);
});
