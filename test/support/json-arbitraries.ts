/** JSON files as people write them: indented or not, with comments and trailing commas wherever they are allowed. */
import fc from 'fast-check';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const blank = fc.constantFrom('', ' ', '\n', '\n  ', '\r\n\t', ' /* a, } */ ', ' // b: {\n', '\n// "c"\n  ');
const keys = fc.constantFrom('a', 'env', 'model', 'statusLine', 'x y', 'ü', '');

const leaf: fc.Arbitrary<Json> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.constantFrom('', 'text', 'a "quote"', '// no comment', '{', 'päth\\to'),
);
const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 3 }),
  ),
})).value;

const settings: fc.Arbitrary<Json> = fc
  .record(
    {
      mcpServers: fc.dictionary(fc.constantFrom('hive', 'other', 'github'), values, { maxKeys: 2 }),
      hooks: fc.dictionary(fc.constantFrom('Stop', 'PreToolUse'), fc.array(values, { maxLength: 2 })),
      permissions: fc.dictionary(fc.constantFrom('allow', 'deny'), fc.array(values, { maxLength: 2 })),
      rest: fc.dictionary(keys, values, { maxKeys: 3 }),
    },
    { requiredKeys: [] },
  )
  .map(({ rest, ...ours }) => ({ ...rest, ...ours }));

/** The text of a file whose "mcpServers" is an object and whose "hooks" and "permissions" hold lists, if they exist. */
export function jsonFiles(): fc.Arbitrary<string> {
  const messy = fc
    .tuple(settings, fc.array(blank, { minLength: 1, maxLength: 12 }), fc.boolean())
    .map(([value, blanks, trailing]) => {
      let at = 0;
      const gap = (): string => blanks[at++ % blanks.length] ?? '';
      return write(value, gap, trailing);
    });
  const neat = fc
    .tuple(settings, fc.constantFrom(0, 2, 4, '\t'), fc.constantFrom('', '\n'), fc.constantFrom('', '\uFEFF'))
    .map(([value, indent, end, mark]) => mark + JSON.stringify(value, null, indent) + end);
  return fc.oneof(messy, neat);
}

function write(value: Json, gap: () => string, trailing: boolean): string {
  if (value === null || typeof value !== 'object') return gap() + JSON.stringify(value) + gap();
  const parts = Array.isArray(value)
    ? value.map((item) => write(item, gap, trailing))
    : Object.entries(value).map(
        ([key, item]) => `${gap()}${JSON.stringify(key)}${gap()}:${write(item, gap, trailing)}`,
      );
  const comma = trailing && parts.length > 0 ? `,${gap()}` : '';
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${gap()}${open}${parts.join(',')}${comma}${gap()}${close}${gap()}`;
}
