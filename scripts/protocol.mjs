// Generates docs/internals/protocol.md from the code and from golden frames: the tools' schemas, the shapes of the methods'
// params, the tables of errors and events, and the golden frames under test/wire/golden. `npm run format` writes it
// again (--print only shows it); a test fails while it differs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { methodsWith } from '../src/adapters/emacs/connection.ts';
import { initializeDesk } from '../src/adapters/emacs/desks.ts';
import { FRAME_BYTES, LONGEST_FRAME } from '../src/adapters/emacs/frames.ts';
import { RPC_CODES, toWireError } from '../src/adapters/errors.ts';
import { toolsFor } from '../src/adapters/mcp/server.ts';
import { emacsExtensions } from '../src/cli/extensions.ts';
import { ERROR_CODES, HiveError } from '../src/domain/errors.ts';
import { EVENT_TYPES } from '../src/domain/events.ts';

const METHODS = methodsWith(await emacsExtensions());
const root = join(import.meta.dirname, '..');
const golden = join(root, 'test/wire/golden');
const target = join(root, 'docs/internals/protocol.md');

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const LINE = 110;
const TOOLS = toolsFor('coordinator');
/** Ends the connection itself, so it belongs to no capability. */
const SHUTDOWN = {
  params: null,
  says: 'Replies with null. The notification `exit`, or the end of stdin, then ends the sidecar.',
};

/** JSON with line breaks only where a value does not fit on one line. */
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
  if (Array.isArray(schema.type)) return schema.type.join(' \\| ');
  if (schema.format === 'date-time') return 'time';
  if (schema.prefixItems !== undefined) return `[${schema.prefixItems.map(typeOf).join(', ')}]`;
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
    [schema.format === 'date-time' ? undefined : schema.pattern, (pattern) => `like \`${pattern}\``],
    [schema.maxLength, (n) => `at most ${n} characters`],
    [schema.minimum, (n) => (n > -(2 ** 52) ? `from ${n}` : '')],
    [schema.maximum, (n) => (n < 2 ** 52 ? `to ${n}` : '')],
    [schema.maxItems, (n) => `at most ${n}`],
  ];
  const own = bounds.filter(([value]) => value !== undefined).map(([value, say]) => say(value));
  const inner = (schema.anyOf ?? []).map(boundsOf);
  const items = eachOf(schema.items ?? schema.prefixItems?.[0]);
  return [...own, ...inner, items].filter((text) => text !== '').join(', ');
}

/** The bounds of the items of a list. */
function eachOf(items) {
  const bounds = items === undefined ? '' : boundsOf(items);
  return bounds === '' ? '' : `each ${bounds}`;
}

/** Includes the limits of texts, which the tool list leaves out. */
function toolSection({ name, title, description }) {
  const { input, shown = input } = TOOLS.find((tool) => tool.name === name);
  const schema = z.toJSONSchema(z.object(shown), { io: 'input' });
  return `### ${name}\n\n*${title}.* ${description}\n\n${fieldTable(rowsOf(schema))}`;
}

/** A row for each field; `?` after one that may be left out. The fields of an object follow below it, as `outer.inner`. */
function rowsOf({ properties = {}, required = [] }, outer = '', inObjects = false) {
  return Object.entries(properties).flatMap(([field, schema]) => {
    const bounds = boundsOf(schema);
    const words = [schema.description, bounds === '' ? '' : `(${bounds})`]
      .filter((text) => text)
      .join(' ')
      .replaceAll('|', '\\|');
    const row = `| \`${outer}${field}\`${required.includes(field) ? '' : '?'} | ${typeOf(schema)} | ${words} |`;
    const object = [schema, ...(schema.anyOf ?? [])].find((one) => one.properties !== undefined);
    return inObjects && object !== undefined ? [row, ...rowsOf(object, `${outer}${field}.`, true)] : [row];
  });
}

function fieldTable(rows) {
  return rows.length === 0 ? 'No params.' : ['| field | type | |', '|---|---|---|', ...rows].join('\n');
}

const exampleSection = ({ arguments: given, result }) => `${block(given)}\n\nreturns\n\n${block(result)}`;

function methodSection(name, { params, says: does }, { request, reply }) {
  const shape = params === null ? {} : z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' });
  return [
    `### ${name}`,
    does,
    fieldTable(rowsOf(shape, '', true)),
    block(request.params ?? {}),
    reply.error === undefined ? 'returns' : 'is refused',
    block(reply.error ?? reply.result ?? null),
  ].join('\n\n');
}

/** The string codes for each JSON-RPC code. */
function errorTable() {
  const codes = Map.groupBy(ERROR_CODES, (code) => toWireError(new HiveError(code, '')).code);
  const rows = [
    [RPC_CODES.transient, 'trying again later may help', codes.get(RPC_CODES.transient)],
    [RPC_CODES.definite, 'it will not get better', codes.get(RPC_CODES.definite)],
    [RPC_CODES.invalidParams, 'an input does not fit', codes.get(RPC_CODES.invalidParams)],
    [RPC_CODES.methodNotFound, 'there is no such method', ['invalid_input']],
    [RPC_CODES.invalidRequest, 'it is not a request', ['invalid_input']],
    [RPC_CODES.parse, 'a frame could not be read; the id is null', ['invalid_input']],
    [RPC_CODES.internal, 'Hive failed; nothing was acknowledged', ['internal']],
  ];
  const lines = rows.map(
    ([code, means, names]) => `| ${code} | ${means} | ${names.map((name) => `\`${name}\``).join(', ')} |`,
  );
  return ['| code | | string codes |', '|---|---|---|', ...lines].join('\n');
}

/** Event types that are neither methods nor notifications. */
function eventsOnly(told) {
  const names = EVENT_TYPES.filter((name) => METHODS[name] === undefined && !told.has(name));
  return names.map((name) => `\`${name}\``).join(', ');
}

/** A section quoted from another page, so that it is written in only one place. */
function quoted(page, heading) {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  const from = text.indexOf(`## ${heading}\n`);
  if (from === -1) throw new Error(`docs/${page} has no heading "${heading}".`);
  const to = text.indexOf('\n## ', from + 1);
  const section = text.slice(from, to === -1 ? undefined : to).trim();
  return section.replace(/\]\((?!https?:|#)([^)]+)\)/g, '](../$1)');
}

/** The meaning of a notification, where its frames do not show it. */
const NOTIFIED = {
  'outreach/changed': 'A change of state, or an item that a rule suppressed.',
  'outreach/received':
    'A new ping, card or report; after the handshake, everything `unseen`. It counts as shown then. A button of a card is answered by `hivemind-response` for its `ask_id`.',
  'turn/changed':
    '`tool` is the call that runs now. `interrupts` has every request, with its `state` (`pending`, `answered`, `withdrawn`), its `outcome` and the `sentence` for its caller. `last_words` is there if the transcript of the client says what the agent said last (untrusted, at most 2,000 characters); it is sent again when the agent asks something.',
};

function protocolPage() {
  const agent = read(join(golden, 'mcp/tools-agent.json'));
  const known = new Set(agent.map(({ name }) => name));
  const coordinator = read(join(golden, 'mcp/tools-coordinator.json')).filter(({ name }) => !known.has(name));
  const calls = framesIn(join(golden, 'mcp')).filter(
    (frame) => frame.tool !== undefined && frame.result !== undefined,
  );
  // The call that is recorded under the tool's own name is the usual one.
  const exampleOf = (name) => {
    const usual = join(golden, 'mcp', `${name.replaceAll('_', '-')}.json`);
    return existsSync(usual) ? read(usual) : calls.find((frame) => frame.tool === name);
  };
  const frames = framesIn(join(golden, 'sidecar'));
  const requests = frames.filter((frame) => frame.request !== undefined && frame.reply !== undefined);
  const methods = [
    ['initialize', initializeDesk],
    ['shutdown', SHUTDOWN],
    ...Object.entries(METHODS).sort(([one], [other]) => (one < other ? -1 : 1)),
  ];
  // A successful reply shows more than a refusal.
  const bestOf = (method) => {
    const own = requests.filter((frame) => frame.request.method === method);
    const best = own.find((frame) => frame.reply.result !== undefined) ?? own[0];
    if (best === undefined) throw new Error(`No golden frame shows ${method}: record one (CONTRIBUTING.md).`);
    return best;
  };
  const refused = requests.filter(
    (frame) => frame.reply.error !== undefined && bestOf(frame.request.method) !== frame,
  );
  const told = Map.groupBy(
    frames.flatMap((frame) => frame.notification ?? []),
    ({ method }) => method,
  );
  const tool = (definition) => {
    const example = exampleOf(definition.name);
    return example === undefined
      ? toolSection(definition)
      : `${toolSection(definition)}\n\n${exampleSection(example)}`;
  };
  return `${[
    '# Protocol',
    '`npm run format` generates this page from the schemas that check every input, the tables of errors and events, and the golden frames under `test/wire/golden`, which the tests compare byte for byte. Do not edit it by hand. Ids and times are written as `<ask 1>` and `<time>`. A question is shown in full once on each wire; elsewhere `"…"` names that frame, and only what differs from it follows.',
    '## Agents: MCP',
    'Server name `hive`, over stdio (`hive mcp`) or Streamable HTTP (`hive serve`), in the revisions of MCP up to 2025-11-25 and in 2026-07-28, whose requests need no handshake. Results are in `structuredContent`; the field `next` says what to do now. A refusal is a result with `isError` and a text that begins with its code. Arguments are accepted in any spelling (`ask_id`, `ask-id`, `askId`), and null means the same as leaving an argument out. An argument that a tool does not have is refused if that would change what the call means, and otherwise listed in `ignored_arguments` ([agents.md](../agents.md)).',
    ...agent.map(tool),
    '## Coordinators: MCP, with `--role coordinator`',
    ...coordinator.map(tool),
    '## Emacs: JSON-RPC over stdio',
    `JSON-RPC 2.0 with Content-Length framing, implemented by \`hive sidecar\`. A frame to Emacs has at most ${FRAME_BYTES / 1024} KiB: a page contains fewer items if more would not fit, and a single text that is longer is cut. A frame to the sidecar may have ${LONGEST_FRAME / 2 ** 20} MiB. \`?\` marks a field that may be left out. Times are ISO-8601; ids and cursors are opaque. Names are accepted in any spelling (\`ask_id\`, \`ask-id\`, \`askId\`), and null means the same as leaving a field out, unless the description gives null a meaning. An unknown name is not an error, because Emacs may be newer than the sidecar: the reply lists it in \`ignored_params\`. Each page of a list has a \`next_cursor\`, which is null on the last page.`,
    ...methods.map(([name, method]) => methodSection(name, method, bestOf(name))),
    '## Refusals',
    'Each message begins with the string code, because Emacs drops `data`, which contains it too.',
    errorTable(),
    ...refused.map(({ request, reply }) => `\`${request.method}\`\n\n${block(request.params, reply.error)}`),
    '## Notifications to Emacs',
    'From `initialized` on, the sidecar sends a notification for each thing that changed. Several changes at once make one notification. Its params are the thing in its current state.',
    ...[...told].map(([method, all]) =>
      [`### ${method}`, NOTIFIED[method] ?? [], block(...all.map(({ params }) => params))]
        .flat()
        .join('\n\n'),
    ),
    '## Events',
    `The log (\`hive store log\`) has more detailed names than the wire. The following are events only, not methods; the notifications above report what they changed: ${eventsOnly(told)}.`,
    quoted('turns.md', 'What happens to the questions of a turn that ends'),
  ].join('\n\n')}\n`;
}

if (process.argv.includes('--print')) process.stdout.write(protocolPage());
else writeFileSync(target, protocolPage());
