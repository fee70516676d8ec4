/** docs/protocol.md says what the wires do: it is written from the golden frames, and every method stands in it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { METHODS } from '../../src/adapters/emacs/connection.ts';
import { ROOT } from '../support/children.ts';

const page = readFileSync(join(ROOT, 'docs/protocol.md'), 'utf8');

test('the page is up to date (npm run format writes it anew)', () => {
  const script = join(ROOT, 'scripts/protocol.mjs');
  expect(page).toBe(execFileSync(process.execPath, [script, '--print'], { encoding: 'utf8' }));
});

test('every method that Emacs may call stands there', () => {
  expect(Object.keys(METHODS).filter((method) => !page.includes(`### ${method}\n`))).toEqual([]);
});
