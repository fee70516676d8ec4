/**
 * The pixels of test/emacs/drawn.test.ts, of each block of Unicode.
 *
 * @module-tag as-displayed
 * @module-tag untrusted
 * @module-tag emacs
 */
import { expect, test } from 'vitest';
import { withoutPixels } from '../support/drawn.ts';

test('what a permission shows as it is takes pixels in a graphical frame; a mark changes its letter', async () => {
  expect(await withoutPixels(1)).toEqual([]);
});
