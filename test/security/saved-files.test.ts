/** Files with text from agents that a person saves: opening one in an unconfigured Emacs does nothing. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseShared } from '../../src/domain/messages.ts';
import { childEnvironment, outputOf, ROOT, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { lispFolder } from '../support/lisp.ts';
import { tempFolder, tempStore } from '../support/temp.ts';

/** The output of a real Emacs for a form, with the attacks of hive-files-test.el. */
async function emacs(form: string): Promise<string> {
  const folders = [lispFolder(), join(ROOT, 'test/emacs')].flatMap((folder) => ['-L', folder]);
  const args = ['-Q', '--batch', ...folders, '-l', 'hive-files-test', '--eval', `(princ ${form})`];
  return outputOf(spawnChild('emacs', args, childEnvironment(tempStore())));
}

const opened = (file: string): Promise<string> =>
  emacs(
    `(progn (hive-files-test-open ${JSON.stringify(file)}) (mapconcat #'identity hive-files-test-ran " "))`,
  );

test('the buffer that hive messages prints as a file does nothing when it is opened, and reads back', async () => {
  const hostile = await emacs('(hive-files-test-hostile)');
  const person = shell(tempStore());
  await person.hive('post', '--', hostile);
  const { out: text } = await person.hive('messages', '--format', 'shared');
  const file = join(tempFolder(), 'shared.md');
  writeFileSync(file, text);
  expect(parseShared(text).blocks.map(({ body }) => body)).toEqual([hostile]);
  expect(await opened(file)).toBe('');
});
