// docs/protocol.md, written from what the tests hold the wires to: the tools' schemas and the golden frames under
// test/wire/golden. `npm run format` writes it anew (--print only shows it); a test fails while it differs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const golden = join(root, 'test/wire/golden');
const target = join(root, 'docs/protocol.md');

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const LINE = 110;

/** JSON as a person would break it: on one line where it fits. */
function pretty(value, indent = '') {
  const line = JSON.stringify(value);
  if (value === null || typeof value !== 'object' || indent.length + line.length <= LINE) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => `${inner}${pretty(item, inner)}`)
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${pretty(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

const block = (...values) => `\`\`\`json\n${values.map((value) => pretty(value)).join('\n')}\n\`\`\``;

function framesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? framesIn(path) : [read(path)];
    });
}

/** `string`, `"low" | "normal"`, `array of string`: short enough for a table. */
function typeOf(schema) {
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' \\| ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' \\| ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object' && schema.properties !== undefined)
    return `{${Object.keys(schema.properties).join(', ')}}`;
  return schema.type ?? 'any';
}

function boundsOf(schema) {
  const bounds = [
    [schema.maxLength, (n) => `at most ${n} characters`],
    [schema.minimum, (n) => (n > -(2 ** 52) ? `from ${n}` : '')],
    [schema.maximum, (n) => (n < 2 ** 52 ? `to ${n}` : '')],
    [schema.maxItems, (n) => `at most ${n}`],
  ];
  return bounds
    .filter(([value]) => value !== undefined)
    .map(([value, say]) => say(value))
    .filter((text) => text !== '')
    .join(', ');
}

function toolSection({ name, title, description, inputSchema }) {
  const required = new Set(inputSchema.required ?? []);
  const rows = Object.entries(inputSchema.properties ?? {}).map(([field, schema]) => {
    const bounds = boundsOf(schema);
    const words = [schema.description, bounds === '' ? '' : `(${bounds})`]
      .filter((text) => text)
      .join(' ')
      .replaceAll('|', '\\|');
    return `| \`${field}\`${required.has(field) ? '' : '?'} | ${typeOf(schema)} | ${words} |`;
  });
  const table =
    rows.length === 0 ? 'Takes nothing.' : ['| field | type | |', '|---|---|---|', ...rows].join('\n');
  return `### ${name}\n\n*${title}.* ${description}\n\n${table}`;
}

const exampleSection = ({ arguments: given, result }) => `${block(given)}\n\nreturns\n\n${block(result)}`;

function methodSection({ request, reply }) {
  return `### ${request.method}\n\n${block(request.params ?? {})}\n\n${reply.result === undefined ? 'is refused' : 'returns'}\n\n${block(reply.result ?? reply.error ?? null)}`;
}

/** A section of another page, so that it stands in one place only. */
function quoted(page, heading) {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  const from = text.indexOf(`## ${heading}`);
  const to = text.indexOf('\n## ', from + 1);
  return text.slice(from, to === -1 ? undefined : to).trim();
}

function protocolPage() {
  const agent = read(join(golden, 'mcp/tools-agent.json'));
  const known = new Set(agent.map(({ name }) => name));
  const coordinator = read(join(golden, 'mcp/tools-coordinator.json')).filter(({ name }) => !known.has(name));
  const calls = framesIn(join(golden, 'mcp')).filter(
    (frame) => frame.tool !== undefined && frame.result !== undefined,
  );
  const exampleOf = (name) =>
    calls.find((frame) => frame.tool === name && frame.result.status !== 'cancelled') ??
    calls.find((frame) => frame.tool === name);
  const frames = framesIn(join(golden, 'sidecar'));
  const requests = frames.filter((frame) => frame.request !== undefined && frame.reply !== undefined);
  const methods = [...new Set(requests.map((frame) => frame.request.method))].sort();
  // A reply that says how it goes tells more than a refusal.
  const bestOf = (method) => {
    const own = requests.filter((frame) => frame.request.method === method);
    return own.find((frame) => frame.reply.result !== undefined) ?? own[0];
  };
  const told = frames.flatMap((frame) => frame.notification ?? []);
  const tool = (definition) => {
    const example = exampleOf(definition.name);
    return example === undefined
      ? toolSection(definition)
      : `${toolSection(definition)}\n\n${exampleSection(example)}`;
  };
  return `${[
    '# Protocol',
    'Written by `npm run format` from the schemas that every input is checked by and from the golden frames under `test/wire/golden`, which the tests compare byte for byte. Do not edit it by hand. Ids and times stand as `<ask 1>`, `<time>`.',
    '## Agents: MCP',
    'Server name `hive`, over stdio (`hive mcp`) or Streamable HTTP (`hive serve`). Results stand in `structuredContent`; the field `next` says what to do now. A refusal is a result with `isError` and a text that begins with its code.',
    ...agent.map(tool),
    '## Coordinators: MCP, with `--role coordinator`',
    ...coordinator.map(tool),
    '## Emacs: JSON-RPC over stdio',
    'JSON-RPC 2.0 with Content-Length framing, spoken by `hive sidecar`. Errors: `-32001` may help to try again later (`store_busy`, `store_unavailable`, `store_full`), `-32002` is definite, `-32602` is an input that does not fit; each message begins with the string code, which `data.code` carries too. Frames stay below 256 KB.',
    ...methods.map((method) => methodSection(bestOf(method))),
    '## What Emacs is told',
    ...told.map(({ method, params }) => `### ${method}\n\n${block(params)}`),
    quoted('turns.md', 'What an end does to the questions asked in the turn'),
  ].join('\n\n')}\n`;
}

if (process.argv.includes('--print')) process.stdout.write(protocolPage());
else writeFileSync(target, protocolPage());
