/**
 * Schemas of a tool that clients and the models behind them refuse. One of these in one tool, and Gemini, OpenAI or a
 * gateway between refuses the whole request, so every tool is held to all of them.
 *
 * @module-tag mcp
 */
import { expect, test } from 'vitest';
import { toolsFor } from '../../src/adapters/mcp/server.ts';
import { listed } from '../../src/adapters/mcp/tool.ts';

type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Every schema within a schema, with its place and how deep it is. */
function* within(schema: unknown, at: string, depth = 0): Generator<[string, unknown, number]> {
  yield [at, schema, depth];
  if (!isSchema(schema)) return;
  for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as Schema))
    yield* within(inner, `${at}.${name}`, depth + 1);
  if ('items' in schema) yield* within(schema['items'], `${at}[]`, depth + 1);
  for (const inner of (schema['anyOf'] ?? []) as unknown[]) yield* within(inner, `${at}|`, depth);
}

const has =
  (...names: readonly string[]) =>
  (schema: Schema): boolean =>
    names.some((name) => name in schema);

/** Constructs that are refused in any schema, and an example of each. */
const REFUSED: Readonly<Record<string, [isWrong: (schema: Schema) => boolean, example: Schema]>> = {
  'a list of types': [({ type }) => Array.isArray(type), { type: ['string', 'null'] }],
  'no type': [(schema) => !has('type', 'anyOf')(schema), { description: 'x' }],
  'a type beside anyOf': [
    (schema) => has('type')(schema) && has('anyOf')(schema),
    { type: 'string', anyOf: [] },
  ],
  'a null type': [({ type }) => type === 'null', { type: 'null' }],
  nullable: [has('nullable'), { type: 'string', nullable: true }],
  'references and definitions': [has('$ref', '$defs', 'definitions', '$id'), { $ref: '#/$defs/a' }],
  'the name of a dialect': [has('$schema'), { type: 'object', $schema: 'x' }],
  oneOf: [has('oneOf'), { oneOf: [] }],
  allOf: [has('allOf'), { allOf: [] }],
  not: [has('not'), { not: {} }],
  'if, then and else': [has('if', 'then', 'else', 'dependentRequired'), { if: {} }],
  const: [has('const'), { const: 'a' }],
  'an enum of other than texts': [
    ({ enum: values }) =>
      Array.isArray(values) && values.some((one) => typeof one !== 'string' || one === ''),
    { type: 'number', enum: [1] },
  ],
  format: [has('format'), { type: 'string', format: 'date-time' }],
  'a pattern': [has('pattern', 'patternProperties', 'propertyNames'), { type: 'string', pattern: 'a' }],
  'the length of a text': [has('minLength', 'maxLength'), { type: 'string', maxLength: 5 }],
  'an exclusive limit': [has('exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'), { exclusiveMinimum: 0 }],
  'a limit that no whole number of 64 bits has': [
    ({ minimum, maximum }) => [minimum, maximum].some((one) => Math.abs(Number(one ?? 0)) >= 2 ** 53 - 1),
    { type: 'integer', maximum: Number.MAX_SAFE_INTEGER },
  ],
  'a list without items': [
    (schema) => schema['type'] === 'array' && !isSchema(schema['items']),
    { type: 'array' },
  ],
  'a tuple': [has('prefixItems', 'additionalItems', 'contains', 'uniqueItems'), { prefixItems: [] }],
  'additional properties': [
    has('additionalProperties', 'unevaluatedProperties'),
    { additionalProperties: {} },
  ],
  'an object without properties': [
    (schema) => schema['type'] === 'object' && !isSchema(schema['properties']),
    { type: 'object' },
  ],
  'a required property that is not there': [
    ({ required, properties }) =>
      Array.isArray(required) && required.some((name) => !(String(name) in ((properties ?? {}) as Schema))),
    { type: 'object', properties: {}, required: ['a'] },
  ],
  'a default, examples or a title': [has('default', 'examples', 'example', 'title'), { default: 1 }],
  'an odd name of a property': [
    ({ properties }) =>
      Object.keys((properties ?? {}) as Schema).some((name) => !/^[a-z][a-z0-9_]{0,63}$/.test(name)),
    { type: 'object', properties: { 'a.b': {} } },
  ],
};

const tools = (['agent', 'coordinator'] as const).flatMap((role) => toolsFor(role)).map(listed);

test.each(Object.entries(REFUSED))('no tool has %s', (_what, [isWrong, example]) => {
  expect(isWrong(example)).toBe(true);
  const wrong = tools.flatMap(({ name, inputSchema }) =>
    [...within(inputSchema, name)].filter(([, schema]) => !isSchema(schema) || isWrong(schema)),
  );
  expect(wrong.map(([at]) => at)).toEqual([]);
});

test('the top of each schema is an object with properties and nothing that combines', () => {
  for (const { inputSchema } of tools) {
    expect(inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) });
    expect(has('anyOf', 'enum')(inputSchema)).toBe(false);
  }
});

test('each schema is flat and small enough for every client', () => {
  for (const { name, inputSchema } of tools) {
    const schemas = [...within(inputSchema, name)];
    expect(Math.max(...schemas.map(([, , depth]) => depth))).toBeLessThanOrEqual(4);
    expect(schemas.length).toBeLessThanOrEqual(100);
  }
});

test('each name fits with the prefixes of clients, and each tool is described within their limits', () => {
  for (const { name, description, title } of tools) {
    expect(name).toMatch(/^[a-z_][a-z0-9_]*$/);
    expect(`mcp__plugin_hive_hive__${name}`.length).toBeLessThanOrEqual(64);
    expect(description?.length).toBeGreaterThan(10);
    expect(description?.length).toBeLessThanOrEqual(1_024);
    expect(title?.length).toBeLessThanOrEqual(64);
  }
});

test('what is left of JSON Schema is what every client knows', () => {
  const used = tools.flatMap(({ name, inputSchema }) =>
    [...within(inputSchema, name)].flatMap(([, schema]) => Object.keys(schema as Schema)),
  );
  expect([...new Set(used)].toSorted()).toEqual([
    ...['anyOf', 'description', 'enum', 'items', 'maxItems', 'maximum', 'minItems', 'minimum'],
    ...['properties', 'required', 'type'],
  ]);
});
