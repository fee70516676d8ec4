/**
 * Habits in the shared buffer, with real keys in a real terminal: keys that save, kill and end do what they do elsewhere and lose
 * nothing.
 *
 * @module-tag durable
 * @module-tag emacs
 */
import { readFileSync } from 'node:fs';
import * as place from 'node:path';
import { expect, test } from 'vitest';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { demoProject, type EmacsTerminal, type Home, lisp, openHome } from '../support/emacs.ts';
import { openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { join, post } from '../support/messages.ts';
import { eventually } from '../support/wait.ts';

let home: Home;
let hive: OpenedHive;
let emacs: EmacsTerminal;
let setup: string;

beforeFile(async () => {
  home = await openHome();
  hive = await openTestHive(home.store);
  const { where, notes } = demoProject(home);
  await post(hive, await join(hive, 'abc12-session', where), 'The table is ready.');
  const drafts = lisp(`${place.join(home.folder, 'drafts')}/`);
  setup = `(progn (setq hive-shared-position 'current hive-drafts-directory ${drafts})
    (find-file ${lisp(notes)}))`;
  emacs = await home.emacs(setup);
});

test('C-x C-s writes the messages, and C-x k and C-x C-c keep what is not posted', async () => {
  await emacs.command('hive-shared');
  await emacs.press(/The table is ready/, 'M->');
  await emacs.type('half a thought');
  await emacs.keys('C-x', 'C-s');
  await emacs.press(/Save messages to: .*shared-\d{8}\.md/, 'C-a', 'C-k');
  await emacs.enter(place.join(home.folder, 'room.md'));
  await emacs.said(/Wrote 1 message to .*room\.md/);
  expect(readFileSync(place.join(home.folder, 'room.md'), 'utf8')).toMatch(/The table is ready\.\n/);
  // The buffer is what it was.
  await emacs.until(/^half a thought[\s\S]*\*hive-shared: demo\*/m);

  await emacs.keys('C-x', 'k', 'Enter');
  await emacs.until(/^(?![\s\S]*half a thought)/);
  await emacs.command('hive-shared');
  await emacs.until(/^half a thought/m);

  // The last words before the end, without a pause.
  const sidecar = await home.sidecarPid();
  await emacs.type(' and the rest');
  await emacs.keys('C-x', 'C-c');
  await eventually(() => !processes.alive(sidecar), 60_000, 'the end of Emacs and its sidecar');
  emacs = await home.emacs(setup);
  await emacs.command('hive-shared');
  await emacs.press(/^half a thought and the rest/m, 'C-c', 'C-c');
  await eventually(
    async () => (await hive.messages.read({ limit: 10 })).items.length === 2,
    20_000,
    'the message',
  );
});
