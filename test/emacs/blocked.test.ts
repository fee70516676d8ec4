/** Real keys in a real terminal: a question that blocks an agent is counted separately, listed first, and offered first. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command, type Home, openHome } from '../support/emacs.ts';

let home: Home;
beforeAll(async () => {
  home = await openHome();
});
afterAll(async () => home.close());

test('an agent that waits comes before an urgent one that works', async () => {
  const emacs = await home.emacs('(setq hive-undo-seconds nil)');
  const { prompts } = home.agent;
  await prompts.ask({ question: 'Urgent, but I go on?', urgency: 'critical' });
  await prompts.ask({ question: 'No hurry?' });
  const { prompt } = await prompts.ask({ question: 'Shall I go on?', options: ['yes', 'no'] });
  await emacs.until(/hive 3\b/);
  const answer = prompts.poll([prompt.ask_id], { wait_ms: 60_000 });
  await emacs.until(/hive 1‖2/);
  await command(emacs, 'hive-list');
  await emacs.until(/blocked for \d+s +Shall I go on\?[\s\S]*Urgent, but[\s\S]*No hurry\?/);
  await command(emacs, 'hive-next');
  await emacs.answer(/Shall I go on\?[\s\S]*1 {2}yes[\s\S]*TAB skip/, '1');
  expect((await answer)[0]?.prompt).toMatchObject({ status: 'responded', decision: 'yes' });
  await emacs.keys('q');
  await emacs.until(/hive 2\b/);
});
