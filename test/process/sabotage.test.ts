/** The deliberate bugs of `npm run chaos` are in a build made for them, and leave no trace in any other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { build } from '../chaos/installation.ts';
import { SABOTAGE_NAMES } from '../chaos/sabotage.ts';
import { ROOT } from '../support/children.ts';
import { tempFolder } from '../support/temp.ts';

/** Which of the flags are in a build, or in the types that are shipped with it. */
function flagsIn(dist: string): string[] {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(?:c?js|ts)$/.test(file),
  );
  const text = files.map((file) => readFileSync(join(dist, file), 'utf8')).join('\n');
  expect(text.length).toBeGreaterThan(100_000);
  return ['SABOTAGE', ...SABOTAGE_NAMES.map((name) => `SABOTAGE?.("${name}"`)].filter((flag) =>
    text.includes(flag),
  );
}

test('the product contains none of them', () => {
  expect(flagsIn(join(ROOT, 'dist'))).toEqual([]);
});

test('a build for a sabotage contains each', () => {
  const program = tempFolder();
  build(program, 'nobody');
  expect(flagsIn(join(program, 'dist'))).toHaveLength(SABOTAGE_NAMES.length + 1);
});
