/**
 * JSON is read as it was written: no number is another one, as JavaScript's would be, and no name.
 *
 * @module-tag as-displayed
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSource, parseJson } from '../../src/domain/json-numbers.ts';

/** JSON texts, with what makes reading them hard: blanks, escapes, the same name twice, names that are numbers or `__proto__`. */
const blank = fc.constantFrom('', '', ' ', '\n', '\r\n\t ');
const text = fc.oneof(
  fc.constantFrom(
    '""',
    '"\\""',
    '"\\\\"',
    '"a,b:1.0}]"',
    '"\\u0031.0"',
    '"\\/\\ud83d\\ude00"',
    '"-0"',
    '"😀"',
  ),
  fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
);
const name = fc.oneof(fc.constantFrom('"__proto__"', '"1"', '"0"', '"a"', '"a"', '"\\u0061"'), text);
/** Marked, so that a test can tell where each one is: no text has such characters as they are. */
const number = fc
  .oneof(
    fc.constantFrom(
      '0',
      '-0',
      '1.0',
      '1e400',
      '-1E-7',
      '0.10',
      '9007199254740993',
      '1e+2',
      '100',
      '1.5',
      '-3',
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt().map(String),
  )
  .map((source) => `\x01${source}\x02`);
const json = fc.letrec<{ value: string }>((tie) => {
  const separated = (items: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.array(items, { maxLength: 4 }).map((all) => all.join(','));
  const padded = (item: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.tuple(blank, item, blank).map((parts) => parts.join(''));
  return {
    value: padded(
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(fc.constantFrom('true', 'false', 'null'), number, text),
        separated(tie('value')).map((items) => `[${items}]`),
        fc.tuple(blank).map(([inside]) => `{${inside}}`),
        separated(fc.tuple(padded(name), tie('value')).map((pair) => pair.join(':'))).map(
          (fields) => `{${fields}}`,
        ),
      ),
    ),
  };
}).value;

const MARKED = /\x01([^\x02]*)\x02/g;

/** A value with the order of its fields, and each number by its source. */
function described(value: unknown): unknown {
  if (isSource(value) || typeof value === 'number') return `number ${JSON.stringify(value)}`;
  if (Array.isArray(value)) return value.map(described);
  if (value === null || typeof value !== 'object') return value;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  return Object.entries(value).map(([key, field]) => [key, described(field)]);
}

test('every JSON is read as it was written', () => {
  fc.assert(
    fc.property(json, (marked) => {
      const source = marked.replace(MARKED, '$1');
      expect(described(parseJson(source))).toEqual(described(read(marked.replace(MARKED, '"number $1"'))));
    }),
    { numRuns: 500 },
  );
});

/**
 * JSON.parse, with no escape in a name: after it has read {"\\":1} a few times, that of Node 24.21 reads {"\"":1} as the
 * same. So names are read first, one by one.
 */
function read(source: string): unknown {
  const names: string[] = [];
  const plain = source.replace(/("(?:[^"\\]|\\.)*")(\s*:)?/g, (whole, text: string, colon?: string) =>
    colon === undefined ? whole : `"${names.push(JSON.parse(text)) - 1} name"${colon}`,
  );
  return named(JSON.parse(plain));

  function named(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(named);
    if (value === null || typeof value !== 'object') return value;
    const fields = Object.entries(value).map(([key, field]) => [
      names[Number.parseInt(key, 10)],
      named(field),
    ]);
    return Object.fromEntries(fields);
  }
}

test('a name is read as it was written, also after others that begin like it', () => {
  for (let n = 0; n < 10; n += 1) {
    expect(parseJson('{"command":"ls","\\\\":1,"x":2}')).toEqual({ command: 'ls', '\\': 1, x: 2 });
    expect(parseJson('{"command":"ls","\\"":1,"x":2}')).toEqual({ command: 'ls', '"': 1, x: 2 });
  }
});

test('JSON that nests for thousands of levels is refused', () => {
  expect(() => parseJson('['.repeat(200_000) + ']'.repeat(200_000))).toThrow(RangeError);
});

test('what is no JSON is refused as JSON.parse refuses it', () => {
  for (const source of ['', '[1.0', '{"a":1.0}x', '[1.0,]', '[01.0]', '"\n1.0"', '[1.0 2.0]', '{1.0:1}'])
    expect(() => parseJson(source), source).toThrow(SyntaxError);
});
