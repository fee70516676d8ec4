/** The deliberate bugs of `npm run chaos` are in a build made for them, and leave no trace in any other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { build } from '../chaos/installation.ts';
import { ROOT } from '../support/children.ts';
import { tempFolder } from '../support/temp.ts';

/** Whether a build, or the types that are shipped with it, asks for deliberate bugs. */
function asksForBugs(dist: string): boolean {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(?:c?js|ts)$/.test(file),
  );
  const text = files.map((file) => readFileSync(join(dist, file), 'utf8')).join('\n');
  expect(text.length).toBeGreaterThan(100_000);
  return text.includes('SABOTAGE');
}

test('the product asks for none of them', () => {
  expect(asksForBugs(join(ROOT, 'dist'))).toBe(false);
});

test('a build for a sabotage asks for them', () => {
  const program = tempFolder();
  build(program, 'nobody');
  expect(asksForBugs(join(program, 'dist'))).toBe(true);
});
