/**
 * Answers corrected with real keys in a real terminal, and where every word of them went.
 *
 * @module-tag not-consumed
 * @module-tag provenance
 * @module-tag sqlite
 * @module-tag emacs
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AskRequest } from '../../src/index.ts';
import { command as commandIn, type EmacsTerminal, type Home, openHome } from '../support/emacs.ts';
import { eventsOf, openTestHive } from '../support/hive.ts';

let home: Home;
let emacs: EmacsTerminal;

beforeAll(async () => {
  home = await openHome();
  emacs = await home.emacs();
});
afterAll(async () => home.close());

const OPTIONS = [{ label: 'Now' }, { label: 'Tonight' }, { label: 'Never' }];

const command = (name: string): Promise<void> => commandIn(emacs, name);

async function typed(at: RegExp, text: string): Promise<void> {
  await emacs.until(at);
  await emacs.type(text);
  await emacs.keys('Enter');
}

/** Free text beside chosen options, given on purpose. */
async function remarked(at: RegExp, text: string): Promise<void> {
  await typed(at, text);
  await emacs.until(/Send it as a comment\?/);
  await emacs.keys('y');
}

/** Asks, and opens the question in the minibuffer. */
async function opened(request: AskRequest): Promise<string> {
  await emacs.until(/^(?![\s\S]*hive \d+\b)/);
  const { prompt } = await home.agent.prompts.ask(request);
  await emacs.until(/hive 1\b/);
  await command('hive-respond');
  await emacs.until(/asks: /);
  return prompt.ask_id;
}

/** `M-x hive-amend` of the answer to `question`. */
async function amending(question: string): Promise<void> {
  await command('hive-amend');
  await emacs.until(/Correct which answer \(default /);
  await emacs.type(`Deployer: ${question}`);
  await emacs.keys('Tab', 'Enter');
  await emacs.until(/Correct your answer to Deployer: /);
}

test('chosen options with free text: old comment and new text are stored, and the event log keeps both answers', async () => {
  const ask_id = await opened({ question: 'When?', options: OPTIONS, multi_select: true });
  await typed(/RET adds one/, 'Now');
  await remarked(/chosen: Now;/, 'if nobody minds');
  await emacs.said(/Answered Deployer: Now \(stored\)/);

  await amending('When?');
  await typed(/RET adds one/, 'Tonight');
  await remarked(/chosen: Tonight;/, 'after eight');
  await emacs.until(/Comment \(empty for none\): if nobody minds\n.*after eight/);
  await emacs.type(' "ä 漢字"');
  await emacs.keys('Enter');
  await emacs.said(/Corrected: Tonight \(stored\)/);

  expect(await home.agent.prompts.get(ask_id)).toMatchObject({
    status: 'responded',
    decision: 'Tonight',
    selected: ['Tonight'],
    comment: 'if nobody minds\nafter eight "ä 漢字"',
    by: 'Ada',
    via: 'emacs',
    amended: true,
  });
  const trail = await eventsOf(await openTestHive(home.store), 'prompt/responded', 'prompt/amended');
  expect(trail.map(({ data }) => data['decision'])).toEqual(['Now', 'Tonight']);
  expect(home.outboxFiles()).toEqual([]);
});

test('an answer that came late is corrected like any other', async () => {
  const ask_id = await opened({ question: 'Which colour?' });
  await home.agent.prompts.cancel(ask_id);
  await emacs.until(/^(?![\s\S]*hive \d+\b)/);
  await typed(/asks: Which colour\?/, 'blue');
  await emacs.said(/came late; it is stored/);

  await amending('Which colour?');
  await emacs.type('green');
  await emacs.keys('Enter');
  await emacs.said(/Corrected: green \(stored\)/);
  expect(await home.agent.prompts.get(ask_id)).toMatchObject({
    status: 'cancelled',
    decision: null,
    late_response: { decision: 'green', by: 'Ada' },
  });
});

test('a correction of what was handed over in the meantime is refused with the reason, and every word is kept', async () => {
  const ask_id = await opened({ question: 'Delete it?' });
  await typed(/asks: Delete it\?/, 'yes');
  await emacs.said(/Answered Deployer: yes \(stored\)/);
  await amending('Delete it?');
  await emacs.type('no, wait!');
  const [polled] = await home.agent.prompts.poll([ask_id]);
  expect(polled?.prompt.decision).toBe('yes');
  await emacs.keys('Enter');
  await emacs.said(/Your answer is unchanged: .*your correction is in the kill ring/);
  expect((await home.agent.prompts.get(ask_id)).decision).toBe('yes');
  await command('hive-doctor');
  await emacs.until(/Rejected +\S+: "no, wait!"/);
  await emacs.keys('q');
  await emacs.keys('M-x');
  await emacs.until(/^M-x$/m);
  await emacs.keys('C-y');
  await emacs.answer(/M-x no, wait!/, 'C-g');
});

test('what was allowed by mistake is taken back with u, and never reaches its agent', async () => {
  await emacs.keys('M-:');
  await emacs.type('(setq hive-undo-seconds 60)');
  await emacs.keys('Enter');
  await emacs.until(/^(?![\s\S]*hive \d+)/);
  const options = ['Allow', { label: 'Deny', refuses: true }];
  const { prompt } = await home.agent.prompts.ask({ question: 'Run make?', kind: 'permission', options });
  await emacs.until(/hive 1/);
  await command('hive-next');
  await emacs.answer(/TAB skip/, '1');
  await emacs.answer(/1 answered[\s\S]*Allow will be sent to Deployer in \d+ s; u takes it back/, 'u');
  await emacs.until(/PERMISSION Run make\?[\s\S]*TAB skip/);
  await emacs.answer(/TAB skip/, '2');
  await emacs.said(/Answered Deployer: Deny \(stored\)/);
  const trail = await eventsOf(await openTestHive(home.store), 'prompt/responded', 'prompt/amended');
  const about = trail.filter(({ subject }) => subject === prompt.ask_id);
  expect(about.map(({ data }) => data['decision'])).toEqual(['Deny']);
});
