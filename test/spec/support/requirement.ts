/**
 * Requirements of a source document and the test that holds Hive to them: one, or several that are parts of one scene.
 * docs/internals/specification.md says of each where the document asks for it, where Hive fulfils it, and why it differs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../support/children.ts';

const tested: string[] = [];

/** `told`: the number (`DDD-NN` for a document, `card-N` for the design card) and the requirement, in our own words. */
export function requirement(
  told: string | readonly string[],
  proof: () => Promise<void> | void,
  timeout?: number,
): void {
  const all = typeof told === 'string' ? [told] : told;
  tested.push(...all);
  it(all.join(' '), timeout === undefined ? {} : { timeout }, proof);
}

/** Each requirement of this document is on the page, in the same words and with a verdict, and has one test. */
export function everyRequirementOf(document: string, count: number): void {
  it('each is on the page of the specification', () => {
    const page = readFileSync(join(ROOT, 'docs/internals/specification.md'), 'utf8');
    const row = /^\| (\w+)-(\d+) \| (.+?) \| .+ \| (?:works|differs|differs, better) \| .*\|$/gm;
    const rows = [...page.matchAll(row)].filter(([, of]) => of === document);
    expect(rows.map(([, , number]) => Number(number))).toEqual(
      Array.from({ length: count }, (_, n) => n + 1),
    );
    const own = tested.filter((words) => words.startsWith(`${document}-`));
    expect(own.sort()).toEqual(rows.map(([, of, number, words]) => `${of}-${number} ${words}`).sort());
  });
}
