/**
 * A permission to edit a file, read with real keys in a real terminal: its diff, hunk by hunk, the file, and Ediff.
 *
 * @module-tag as-displayed
 * @module-tag emacs
 * @module-tag hook
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { type FiredDialog, fireDialog } from '../support/dialogs.ts';
import { measuredEditTools } from '../support/edit-tools.ts';
import { type EmacsTerminal, openEmptyHome } from '../support/emacs.ts';
import { openTestHive } from '../support/hive.ts';
import { recordedEvent } from '../support/hooks.ts';
import { beforeFile, whenFinished } from '../support/lifetime.ts';

const LINES = Array.from({ length: 60 }, (_, n) => `const value${n + 1} = ${n + 1};`);

let hive: OpenedHive;
let emacs: EmacsTerminal;
let file: string;
let asked: FiredDialog;

beforeFile(async () => {
  const home = await openEmptyHome();
  emacs = await home.emacs();
  hive = await openTestHive(home.store);
  mkdirSync(join(home.folder, 'src'));
  file = join(home.folder, 'src', 'values.ts');
  writeFileSync(file, `${LINES.join('\n')}\n`);
  const content = `${LINES.join('\n')}\n`
    .replace('value5 = 5;', 'value5 = five;')
    .replace('value40 = 40;\n', 'value40 = 40;\nexport const forty = value40;\n');
  const { permission_suggestions: _, ...raw } = recordedEvent(
    'claude-code/PermissionRequest-Bash-addRules.json',
  );
  asked = await fireDialog(
    hive,
    { ...raw, tool_name: 'Write', tool_input: { file_path: file, content } },
    {
      env: { CLAUDE_PID: String(process.pid) },
      surroundings: { machine: hostname(), editTools: async (cwd) => measuredEditTools(cwd) },
    },
  );
  whenFinished(() => asked.answer('Deny'));
  await emacs.until(/hive 1\b/);
});

test('the diff is read hunk by hunk, visited, compared, and said to be old when the file changes', async () => {
  await emacs.command('hive-next');
  await emacs.answer(/TAB skip/, 'o');
  await emacs.press(/^@@ -2,7 /m, 'C-x', '1');
  await emacs.until(/^ +5 +-const value5 = 5;\n +5 \+const value5 = five;$/m);

  await emacs.keys('n');
  await emacs.keys('n');
  await emacs.press(/^ +41 \+export const forty/m, 'C-n');
  await emacs.keys('C-n');
  await emacs.keys('C-n');
  await emacs.keys('C-n');
  await emacs.keys('Enter');
  await emacs.press(/values\.ts .*\(41,0\)|values\.ts +.*L41/, 'C-x', '1');
  await emacs.press(/values\.ts/, 'C-x', 'k', 'Enter');
  await emacs.until(/From the same agent|What happened|Options/);

  await emacs.keys('p');
  await emacs.keys('E');
  await emacs.press(/\*hive before: values\.ts\*[\s\S]*\*hive after: values\.ts\*/, 'n');
  // Ediff goes to the line that differs, and sees how.
  await emacs.until(
    /before: values\.ts\* +\S+ L5 [\s\S]*after: values\.ts\* +\S+ L5 [\s\S]*diff 1 of 2(?![\s\S]*white-space)/,
  );
  await emacs.keys('q');
  await emacs.press(/Quit this Ediff session/, 'y');
  await emacs.until(/^(?![\s\S]*hive after)[\s\S]*export const forty/);

  writeFileSync(file, 'all new\n');
  await emacs.keys('g');
  await emacs.keys('M-<');
  // Where the lines of the screen break depends on how long the name of the folder is.
  await emacs.until(/values\.ts\s+was\s+written\s+after\s+the\s+agent\s+asked/);
  expect(await hive.prompts.get(asked.prompts[0]?.ask_id ?? '')).toMatchObject({ status: 'pending' });
});
