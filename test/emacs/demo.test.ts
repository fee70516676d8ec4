/** `npm run demo -- --interactive`: the person is left in an Emacs with a question, and the agent gets what they answer. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childEnvironment, ROOT } from '../support/children.ts';
import { command } from '../support/emacs.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { namesIn, tempFolder } from '../support/temp.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';

const PATIENT_MS = 90_000;

/** The demo in a terminal, once its Emacs has the question. */
async function demo(): Promise<{ terminal: Terminal; folder: string }> {
  const folder = tempFolder();
  const env = childEnvironment(join(folder, 'unused.db'), {
    HOME: folder,
    TMPDIR: folder,
    TERM: 'xterm-256color',
  });
  const command = [process.execPath, join(ROOT, 'scripts/demo.mjs'), '--interactive'];
  // Wide: the agent is called after the folder of this clone, and a line that is broken elsewhere reads otherwise.
  const terminal = closedAtEnd(await openTerminal(folder, env, command, { columns: 200, lines: 24 }));
  await terminal.until(/\*scratch\*[\s\S]*hive 1\b/, PATIENT_MS);
  return { terminal, folder };
}

/** The processes that name the folder. The demo gives its children an environment of their own. */
function runningIn(folder: string): string[] {
  const commands = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => (existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : ''));
  return commands.filter((command) => command.includes(folder));
}

test('the person answers in that Emacs, quits it, and sees what the agent got', async () => {
  const { terminal } = await demo();
  await command(terminal, 'hive-respond');
  await terminal.reply(/Drop the old sessions table[\s\S]*own words/, 'no', PATIENT_MS);
  await terminal.until(/Answered .*: no \(stored\)/, PATIENT_MS);
  await terminal.keys('C-x', 'C-c');
  const screen = await terminal.until(/polled: /, PATIENT_MS);
  expect(screen.join('\n')).toContain('polled: responded, decision "no", by Ada, via emacs');
});

test('a person who closes the terminal leaves nothing running', async () => {
  const { terminal, folder } = await demo();
  await terminal.close();
  await eventually(() => runningIn(folder).length === 0, PATIENT_MS, 'the end of its Emacs');
  await eventually(() => namesIn(folder).every((name) => !name.startsWith('hive-demo-')));
});

test('a person who quits without an answer sees that the question is still pending', async () => {
  const { terminal } = await demo();
  await terminal.keys('C-x', 'C-c');
  const screen = await terminal.until(/polled: /, PATIENT_MS);
  expect(screen.join('\n')).toContain('polled: pending; nobody has answered');
});
