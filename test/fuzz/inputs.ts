/** Values that nobody sends on purpose: odd texts, odd JSON, and good JSON with a change in it. */
import fc from 'fast-check';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Texts that have broken a parser somewhere. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      '\0',
      '\ud800',
      '\udfff x',
      '\u202eabc',
      '\u200b',
      '🐝',
      'x'.repeat(9_000),
      '-',
      '--',
      '%s%n',
    ],
    ...[
      '../../etc/passwd',
      "'; DROP TABLE prompts; --",
      '$(touch x)',
      '`x`',
      '<b>&amp;',
      '__proto__',
      'null',
    ],
    ...[
      '@All @Human',
      '```',
      '## 2026-01-11 18:00:00 Human',
      'Content-Length: 5\r\n\r\n',
      '1e999',
      'NaN',
      '-1',
    ],
  ),
  fc.string({ maxLength: 30 }),
  fc.string({ maxLength: 30, unit: 'binary' }),
  // Half of a pair, and what no encoding knows.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units)),
);

const oddNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, -0, -1, 1, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 0.5, 1e-7),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Any JSON, small. */
export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    oddNumber,
    oddText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(oddText, tie('value'), { maxKeys: 4 }),
  ),
})).value;

/** A place in a JSON value and what becomes of it there. */
interface Change {
  at: number;
  how: 'replace' | 'remove' | 'add' | 'nest';
  with: Json;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(200),
  how: fc.constantFrom('replace', 'replace', 'remove', 'add', 'nest'),
  with: anyJson,
});

/** A valid value with up to four changes. */
export function changed(good: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc
    .tuple(good, fc.array(change, { maxLength: 4 }))
    .map(([value, changes]) => changes.reduce(applyChange, value));
}

function applyChange(value: Json, { at, how, with: other }: Change): Json {
  let left = at % countOf(value);
  function walk(here: Json): Json {
    if (left-- === 0) {
      if (how === 'nest') return [here];
      if (how === 'add' && here !== null && typeof here === 'object' && !Array.isArray(here))
        return { ...here, [typeof other === 'string' ? other : 'extra']: other };
      return other;
    }
    if (Array.isArray(here)) {
      const removes = how === 'remove';
      return here.flatMap((item) => {
        if (removes && left === 0) {
          left -= 1;
          return [];
        }
        return [walk(item)];
      });
    }
    if (here === null || typeof here !== 'object') return here;
    return Object.fromEntries(
      Object.entries(here).flatMap(([key, item]) => {
        if (how === 'remove' && left === 0) {
          left -= 1;
          return [];
        }
        return [[key, walk(item)]];
      }),
    );
  }
  return walk(value);
}

function countOf(value: Json): number {
  if (value === null || typeof value !== 'object') return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + countOf(item), 1);
}
