/**
 * A long question, read with real keys in a real terminal: its sections, its table and its addresses.
 *
 * @module-tag emacs
 * @module-tag untrusted
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type EmacsTerminal, lisp, openHome } from '../support/emacs.ts';
import { beforeFile } from '../support/lifetime.ts';
import { textOf } from '../support/wait.ts';

const PLAN = [
  '# Why',
  ...Array.from({ length: 60 }, (_, n) => `Reason ${n + 1}.`),
  '# What it costs',
  '|n|what|',
  '|-:|---|',
  '|1|ab|',
  '|22|日本語|',
  '# Where',
  'See [https://bank.example](https://evil.example/100%25?a=b) and https://p\u0430ypal.example.',
  ...Array.from({ length: 60 }, (_, n) => `Place ${n + 1}.`),
].join('\n');

let emacs: EmacsTerminal;
let visited: string;

beforeFile(async () => {
  const home = await openHome();
  visited = join(home.folder, 'visited');
  const visit = `(lambda (address &rest _) (write-region address nil ${lisp(visited)} nil 0))`;
  emacs = await home.emacs(`(setq browse-url-browser-function ${visit} browse-url-mailto-function ${visit})`);
  await home.asked(emacs, { question: 'Shall I follow this plan?', context: PLAN });
});

test('a long context opens with its headings, a table is aligned, an address says where it leads', async () => {
  await emacs.command('hive-list');
  await emacs.until(/Shall I follow/);
  // The preview, in a window that is not selected.
  await emacs.keys('F');
  await emacs.until(/^Deployer · .*\n\nShall I follow this plan\?\n\nContext\n# Why … 60 lines$/m);
  await emacs.keys('F', 'Enter');
  await emacs.press(/^# Why … 60 lines\n# What it costs … 4 lines\n# Where … 61 lines$/m, 'C-x', '1');

  // TAB on a heading; it goes to the next button elsewhere.
  await emacs.keys('M-<', 'C-s');
  await emacs.type('costs');
  await emacs.keys('Enter', 'Tab');
  await emacs.press(
    /^\| +n \| what +\|\n\|-+\|-+\|\n\| +1 \| ab +\|\n\| +22 \| 日本語 +\|\n# Where … 61 lines$/m,
    'Tab',
  );
  await emacs.until(/^# What it costs … 4 lines$/m);

  await emacs.keys('C-n', 'Tab');
  await emacs.press(
    /\(https:\/\/evil\.example\/100%25\?a=b\) → evil\.example and\nhttps:\/\/p<U\+0430>ypal\.example → xn--pypal-4ve\.example\.$/m,
    'C-n',
    'Tab',
    'Tab',
  );
  await emacs.press(/^Visit https:\/\/xn--pypal-4ve\.example$/m, 'BTab');
  await emacs.press(/^Visit https:\/\/evil\.example\/100%25\?a=b$/m, 'Enter');
  await emacs.press(/^Visit evil\.example\? {2}https:\/\/evil\.example\/100%25\?a=b \(y or n\)/m, 'n');
  await emacs.until(/\(y or n\) n$/m);
  expect(existsSync(visited)).toBe(false);
  await emacs.keys('Enter');
  await emacs.press(/\(y or n\)$/m, 'y');
  expect(await textOf(visited, 'the visit')).toBe('https://evil.example/100%25?a=b');
});
