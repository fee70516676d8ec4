/**
 * Only what a human saw and meant is an answer: real keys in a real terminal, typed too early, too short or for something else.
 *
 * @module-tag as-displayed
 * @module-tag undisturbed
 * @module-tag sqlite
 * @module-tag emacs
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AskRequest } from '../../src/index.ts';
import {
  command as commandIn,
  type EmacsTerminal,
  type Home,
  leavesNothingPending,
  openHome,
} from '../support/emacs.ts';
import { PATIENCE_MS } from '../support/wait.ts';

let home: Home;
let emacs: EmacsTerminal;

beforeAll(async () => {
  home = await openHome();
  emacs = await home.emacs();
});
leavesNothingPending(() => emacs);
afterAll(() => home.close());

/** Asks them in this order, and waits until Emacs shows that they wait. */
async function asked(...requests: AskRequest[]): Promise<string[]> {
  const ids: string[] = [];
  for (const request of requests) ids.push((await home.agent.prompts.ask(request)).prompt.ask_id);
  await emacs.until(new RegExp(`hive ${requests.length}\\b`));
  return ids;
}

const command = (name: string): Promise<void> => commandIn(emacs, name);

const stored = async (ask_id: string | undefined) => home.agent.prompts.get(ask_id ?? '');

async function answerTo(ask_id: string | undefined) {
  const [answer] = await home.agent.prompts.poll([ask_id ?? ''], { wait_ms: PATIENCE_MS });
  return answer?.prompt;
}

const YES_NO = { options: [{ label: 'yes' }, { label: 'no' }] };
const PERMISSION: AskRequest = {
  kind: 'permission',
  question: 'Run rm -rf build/ ?',
  context: 'rm -rf build/\n\nTool: Bash',
  options: [{ label: 'Allow' }, { label: 'Allow always', description: 'Bash(rm *)' }, { label: 'Deny' }],
};

describe('hive-next', () => {
  test('keys typed ahead answer no question that was not seen yet, and allow nothing', async () => {
    const ids = await asked({ question: 'First?', urgency: 'critical', ...YES_NO }, PERMISSION);
    await command('hive-next');
    // Press until the first is answered; what comes with the key that answers it is typed ahead.
    await emacs.until(/First\?/);
    await emacs.answer(/First\?/, '11y');
    await emacs.until(
      /PERMISSION Run rm -rf build\/ \?\n {2}rm -rf build\/\n {2}Tool: Bash\n[\s\S]*were ignored/,
    );
    expect(await answerTo(ids[0])).toMatchObject({ decision: 'yes' });
    expect(await stored(ids[1])).toMatchObject({ status: 'pending' });
    // Once seen, it is answered, and what allows something is confirmed.
    await emacs.keys('2');
    await emacs.until(/Allow always: Bash\(rm \*\)\nRET or y gives this answer/);
    expect(await stored(ids[1])).toMatchObject({ status: 'pending' });
    await emacs.answer(/RET or y gives/, 'y');
    expect(await answerTo(ids[1])).toMatchObject({ selected: ['Allow always'], via: 'emacs' });
  });

  test('a prefix key leaves it, and its sequence does what it always does', async () => {
    const [id] = await asked({ question: 'Go on?', ...YES_NO });
    for (const [keys, effect] of [
      [['C-x', '2'], /\*scratch\*[\s\S]*\*scratch\*/],
      [['C-x', '1'], /^(?![\s\S]*\*scratch\*[\s\S]*\*scratch\*)/],
      [['M-x'], /^M-x$/m],
    ] as const) {
      await command('hive-next');
      await emacs.until(/Go on\?[\s\S]*TAB skip/);
      const [first, ...rest] = keys;
      await emacs.answer(/TAB skip/, first);
      if (rest.length > 0) await emacs.keys(...rest);
      await emacs.until(effect);
      expect(await stored(id)).toMatchObject({ status: 'pending' });
    }
  });

  test('a paste and a click leave it too, and go where they always go', async () => {
    const [id] = await asked({ question: 'Go on?', ...YES_NO });
    await command('xterm-mouse-mode');
    await emacs.said(/Xterm-Mouse mode enabled/);
    await command('hive-next');
    await emacs.answer(/Go on\?[\s\S]*TAB skip/, '\x1b[200~hello world\x1b[201~');
    const row = (await emacs.until(/^hello world$/m)).indexOf('hello world');
    await command('hive-next');
    await emacs.answer(/Go on\?[\s\S]*TAB skip/, `\x1b[<0;7;${row + 1}M\x1b[<0;7;${row + 1}m`);
    await emacs.type('W');
    await emacs.until(/^hello Wworld$/m);
    expect(await stored(id)).toMatchObject({ status: 'pending' });
  });

  test('a key that types something is typed into no buffer, whatever its command is called there', async () => {
    const [id] = await asked({ question: 'Go on?', ...YES_NO });
    await emacs.keys('C-x', 'h', 'C-w', 'M-:');
    await emacs.type('(org-mode)');
    await emacs.keys('Enter');
    await emacs.until(/\(Org/);
    await command('hive-next');
    await emacs.answer(/Go on\?[\s\S]*TAB skip/, 'Y');
    await emacs.said(/Y does nothing here; q quits/);
    await emacs.answer(/Go on\?[\s\S]*TAB skip/, 'q');
    expect((await emacs.screen()).join('\n')).not.toMatch(/^Y/m);
    expect(await stored(id)).toMatchObject({ status: 'pending' });
  });
});

describe('hive-respond', () => {
  test('a typo among several options is not sent without a question', async () => {
    const checks = ['lint', 'types', 'unit'].map((label) => ({ label }));
    const [id] = await asked({ question: 'Which?', options: checks, multi_select: true });
    await command('hive-respond');
    await emacs.until(/lint \/ types \/ unit \/ your own words; RET adds one, empty RET sends/);
    await emacs.type('lint');
    await emacs.keys('Enter');
    await emacs.until(/your own words; chosen: lint; empty RET sends/);
    await emacs.type('unti');
    await emacs.keys('Enter');
    await emacs.until(/"unti" is not an option\. {2}Send it as a comment\?/);
    await emacs.keys('n');
    // It is there again, to be corrected.
    await emacs.until(/RET sends\) unti$/m);
    await emacs.keys('BSpace', 'BSpace');
    await emacs.type('it');
    await emacs.keys('Enter');
    await emacs.until(/chosen: lint, unit; empty RET sends/);
    await emacs.keys('Enter');
    expect(await answerTo(id)).toMatchObject({ selected: ['lint', 'unit'], comment: null });
  });
});
