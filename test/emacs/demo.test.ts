/** `npm run demo -- --interactive`: the person is left in an Emacs with a question, and the agent gets what they answer. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, ROOT } from '../support/children.ts';
import { whenFinished } from '../support/lifetime.ts';
import { tempFolder } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';

const PATIENT_MS = 90_000;

/** The demo in a terminal, once its Emacs has the question. */
async function demo(): Promise<Terminal> {
  const folder = tempFolder();
  const env = childEnvironment(join(folder, 'unused.db'), {
    HOME: folder,
    TMPDIR: folder,
    TERM: 'xterm-256color',
  });
  const command = [process.execPath, join(ROOT, 'scripts/demo.mjs'), '--interactive'];
  const terminal = await openTerminal(folder, env, command);
  whenFinished(() => terminal.close());
  await terminal.until(/\*scratch\*[\s\S]*hive 1!/, PATIENT_MS);
  return terminal;
}

test('the person answers in that Emacs, quits it, and sees what the agent got', async () => {
  const terminal = await demo();
  await terminal.keys('M-x');
  await terminal.type('hive-respond');
  await terminal.keys('Enter');
  await terminal.until(/Drop the old sessions table[\s\S]*own words\)/, PATIENT_MS);
  await terminal.type('no');
  await terminal.keys('Enter');
  await terminal.until(/Answered .*: no \(stored\)/, PATIENT_MS);
  await terminal.keys('C-x', 'C-c');
  const screen = await terminal.until(/polled: /, PATIENT_MS);
  expect(screen.join('\n')).toContain('polled: responded, decision "no", by Ada, via emacs');
});

test('a person who quits without an answer sees that the question is still pending', async () => {
  const terminal = await demo();
  await terminal.keys('C-x', 'C-c');
  const screen = await terminal.until(/polled: /, PATIENT_MS);
  expect(screen.join('\n')).toContain('polled: pending; nobody has answered');
});
