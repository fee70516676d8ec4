/**
 * Work on agents' text is bounded: what no desk can show is not put into words, and JSON that nests too deep or
 * has too many values is refused.
 *
 * @module-tag untrusted
 * @module-tag http
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readEvent } from '../../src/adapters/hooks/hook.ts';
import { type HookDialog, promptsOf } from '../../src/domain/dialogs.ts';
import { summarizeTool } from '../../src/domain/shown-calls.ts';
import { HOOK_PATH } from '../../src/extensions/serve/remote-hook.ts';
import { openTestHive } from '../support/hive.ts';
import { callOf } from '../support/hooks.ts';
import { type RawReply, rawRequest, serve } from '../support/serve.ts';
import { tempFolder, tempStore } from '../support/temp.ts';

const MEGABYTE = 1_000_000;

const letters = '\u1161'.repeat(MEGABYTE / 3);
const calls: [string, string, Record<string, unknown>][] = [
  ['a command', 'Bash', { command: letters }],
  ['a patch', 'apply_patch', { command: `*** Begin Patch\n${letters}` }],
  ['both texts of an edit', 'Edit', { file_path: 'a.ts', old_string: letters, new_string: letters }],
  ['an argument', 'mcp__shop__buy', { item: letters }],
  [
    'many arguments',
    'mcp__shop__buy',
    Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`item_${n}`, letters.slice(0, 8_000)])),
  ],
  ['the name of an argument', 'mcp__shop__buy', { [letters]: 1 }],
  ['its directory', 'Bash', { command: 'ls' }],
];

test.each(calls)(
  'a call of a megabyte is not put into words, and cannot be allowed at a desk: %s',
  (what, name, input) => {
    const dialog: HookDialog = { kind: 'permission', tool: callOf(name, input), suggestions: [] };
    const cwd = what === 'its directory' ? `/${letters}` : '/shop';
    const [asked] = promptsOf(dialog, { client: 'claude-code', cwd });
    // The directory is cut; the command is not, and may be allowed.
    const canBeAllowed = asked?.options?.some(
      (option) => (typeof option === 'string' ? option : option.label) === 'Allow',
    );
    expect(canBeAllowed).toBe(what === 'its directory');
    expect(asked?.question.length).toBeLessThan(1_000);
    expect(asked?.context?.length).toBeLessThan(50_000);
  },
);

test('a scope of "always" of a megabyte is not put into words', () => {
  let read = 0;
  const rule = {
    get toolName() {
      read += 1;
      return '\u00a0'.repeat(5);
    },
  };
  const rules = Array.from({ length: MEGABYTE / 10 }, () => rule);
  const dialog: HookDialog = {
    kind: 'permission',
    tool: callOf('Bash', { command: 'ls' }),
    suggestions: [{ type: 'addRules', behavior: 'allow', rules }],
  };
  const [asked] = promptsOf(dialog, { client: 'claude-code', cwd: '/shop' });
  expect(asked?.options).toMatchObject([{ label: 'Allow' }, { label: 'Deny' }, { label: 'Abort' }]);
  expect(read).toBeLessThan(rules.length);
});

/** Lists in each other, the innermost with so many items. */
function nested(levels: number, items: number, item: unknown): unknown {
  let value: unknown = Array.from({ length: items }, () => item);
  for (let n = 1; n < levels; n += 1) value = [value];
  return value;
}

test('what a few kilobytes make long by their indentation is not written out', () => {
  let written = 0;
  const counted = { toJSON: () => (written += 1) };
  const input = { counted, deep: nested(190, 13_000, 1) };
  expect(summarizeTool({ name: 'mcp__shop__buy', input }).details).toBeNull();
  expect(written).toBe(0);
});

test('what fits with its indentation is shown', () => {
  for (const [levels, items] of [
    [1, 6_000],
    [10, 1_900],
    [100, 150],
  ] as const) {
    const { details } = summarizeTool({ name: 'mcp__shop__buy', input: { list: nested(levels, items, 1) } });
    expect(details?.length, `${levels} levels`).toBeGreaterThan(45_000);
  }
});

test('a search for a longer text than a search may have is refused, and the store is not called damaged', async () => {
  const hive = await openTestHive();
  // Each of these characters is searched as eighteen.
  const query = '\ufdfa'.repeat(2_000);
  for (const search of [
    hive.history.search({ query, limit: 1 }),
    hive.messages.read({ query, limit: 1 }),
    hive.prompts.list({ query, limit: 1 }),
    hive.prompts.list({ to: '%'.repeat(25_000), limit: 1 }),
  ])
    await expect(search).rejects.toThrow('The text to search for is too long: at most 1,000 characters.');
  expect((await hive.history.search({ query: query.slice(0, 1_000), limit: 1 })).items).toEqual([]);
});

test('hive serve refuses JSON that nests too deep or has too many values with 400, and goes on', async () => {
  const served = await serve(tempStore());
  const post = (path: string, body: string): Promise<RawReply> =>
    rawRequest(served.url.replace('/mcp', path), {
      method: 'POST',
      headers: { Authorization: `Bearer ${served.token}`, 'Content-Type': 'application/json' },
      body,
    });
  const deep = (end: string): string => `{"event":${'{"a":'.repeat(5_000)}1${end}`;
  for (const path of ['/mcp', HOOK_PATH]) {
    for (const body of [deep('}'.repeat(5_001)), deep('')])
      expect(await post(path, body)).toMatchObject({
        status: 400,
        body: expect.stringContaining('deeper than 200 levels'),
      });
    for (const item of ['1.0', '{}', '""', '{"a":[]}', ','])
      expect(await post(path, `{"event":[${Array(20_001).fill(item).join()}]}`), item).toMatchObject({
        status: 400,
        body: expect.stringContaining('at most 20,000'),
      });
  }
  const text = ',[{"'.repeat(10_000);
  const event = { session_id: 's', cwd: '/shop', hook_event_name: 'UserPromptSubmit', prompt: text };
  expect(await post(HOOK_PATH, JSON.stringify({ client: 'claude-code', event }))).toMatchObject({
    status: 200,
  });
});

test('an id of a hook event that is longer than any is refused, and not kept', () => {
  const event = {
    session_id: 's',
    cwd: '/',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: {},
  };
  for (const field of ['session_id', 'agent_id', 'tool_use_id', 'prompt_id'])
    for (const id of ['x'.repeat(501), '中'.repeat(167)])
      expect(() => readEvent({ ...event, [field]: id }, {}, 'claude-code'), field).toThrow(
        `The ${field} of the hook event is too long: at most 500 bytes.`,
      );
});

const ROOT = join(import.meta.dirname, '../..');
const DISPLAY = { 'domain/display.ts': 'export function revealed(text: string): string { return text; }' };

function check(files: Record<string, string>): string {
  const folder = tempFolder();
  for (const [name, text] of Object.entries({ ...DISPLAY, ...files })) {
    const path = join(folder, 'src', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  // Its packages are those of the project.
  const { stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/check-write-transactions.mjs'), folder],
    { encoding: 'utf8' },
  );
  return stderr.split('\n')[0] ?? '';
}
const IMPORT = "import { revealed } from '../domain/display.ts';\n";
const way = (...steps: string[]): string => ['application/a.ts: ', ...steps].join('');

test.each<[string, Record<string, string>, string]>([
  [
    'at once',
    {
      'application/a.ts': `${IMPORT}export const a = (text) => store.write(async (tx) => tx.put(revealed(text)));`,
    },
    way('store.write → domain/display.ts: revealed'),
  ],
  [
    'in a function that takes the transaction',
    {
      'application/a.ts': `${IMPORT}async function b({ tx }: HookContext) { return [tx.text].map(revealed); }`,
    },
    way('b → domain/display.ts: revealed'),
  ],
  [
    'in a handler of hooks',
    { 'application/a.ts': `${IMPORT}export const b: HookHandler = async (hook) => revealed(hook.text);` },
    way('b → domain/display.ts: revealed'),
  ],
  [
    'in another file, over a function that is passed by name',
    {
      'domain/c.ts': "import { revealed } from './display.ts';\nexport const c = (text) => revealed(text);",
      'application/a.ts':
        "import { c } from '../domain/c.ts';\nexport function b() { const d = (tx) => c(tx.text); return hive.store.writeUnflushed(d); }",
    },
    way('b: store.write → application/a.ts: d → domain/c.ts: c → domain/display.ts: revealed'),
  ],
  [
    'in a file that is imported on demand',
    {
      'application/a.ts':
        "export async function b(tx: WriteTx) { const { revealed } = await import('../domain/display.ts'); return revealed(tx.text); }",
    },
    way('b → domain/display.ts: revealed'),
  ],
  [
    'or not at all, where it is done before',
    {
      'application/a.ts': `${IMPORT}export async function b(text) { const words = revealed(text); return store.write(async (tx) => tx.put(words)); }`,
    },
    '',
  ],
])('npm run check refuses to put a text into words in a write transaction: %s', (_how, files, found) =>
  expect(check(files)).toBe(found),
);
