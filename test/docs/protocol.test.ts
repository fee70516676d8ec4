/** docs/internals/protocol.md says what the wires do: it is written from the schemas and the golden frames, and nothing is missing. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { methodsWith } from '../../src/adapters/emacs/connection.ts';
import { type DeskConnection, NOTIFICATIONS } from '../../src/adapters/emacs/method.ts';
import { emacsExtensions } from '../../src/cli/extensions.ts';
import { ROOT } from '../support/children.ts';
import { askEmacs } from '../support/emacs-batch.ts';

const METHODS = methodsWith(await emacsExtensions());
const page = readFileSync(join(ROOT, 'docs/internals/protocol.md'), 'utf8');

test('the page is up to date (npm run format writes it again)', () => {
  const script = join(ROOT, 'scripts/protocol.mjs');
  expect(page).toBe(execFileSync(process.execPath, [script, '--print'], { encoding: 'utf8' }));
});

/** The sections below a heading, by their own. */
function sectionsUnder(heading: string): Map<string, string> {
  const from = page.indexOf(`\n## ${heading}\n`);
  const [, ...sections] = page.slice(from, page.indexOf('\n## ', from + 1)).split('\n### ');
  return new Map(sections.map((text) => [text.slice(0, text.indexOf('\n')), text]));
}

test('every method that Emacs may call is there, and no other', () => {
  const own = [...sectionsUnder('Emacs: JSON-RPC over stdio').keys()];
  expect(own.sort()).toEqual([...Object.keys(METHODS), 'initialize', 'shutdown'].sort());
});

test('every notification that the sidecar sends is there, and no other', () => {
  expect([...sectionsUnder('Notifications to Emacs').keys()].sort()).toEqual([...NOTIFICATIONS].sort());
});

test('Emacs takes every notification that the sidecar sends, and waits for no other', async () => {
  const taken = await askEmacs(`(delete-dups (delq nil (mapcar
    (lambda (method) (pcase (car (cl--generic-method-specializers method)) (\`(eql ,name) (symbol-name (eval name t)))))
    (cl--generic-method-table (cl--generic 'hive-rpc-handle)))))`);
  expect((taken as string[]).sort()).toEqual([...NOTIFICATIONS].sort());
});

test('a name that is only an event is marked as one', () => {
  const from = page.indexOf('\n## Events\n');
  const events = page.slice(from, page.indexOf('\n## ', from + 1));
  for (const name of ['prompt/created', 'prompt/offered', 'prompt/popup', 'outreach/sent'])
    expect(events).toContain(`\`${name}\``);
  expect(Object.keys(METHODS).filter((method) => events.includes(`\`${method}\``))).toEqual([]);
});

/** A desk that has every part, and none of them does anything: parameters are checked before it is used. */
const nowhere: DeskConnection = new Proxy(Function as unknown as DeskConnection, {
  get: (_target, name) => (name === 'then' ? undefined : nowhere),
  apply: () => nowhere,
});

/** The fields in the table of a section, without those of the objects in them. */
function fieldsIn(section: string): string[] {
  return [...section.matchAll(/^\| `(\w+)`/gm)].map(([, field]) => field ?? '');
}

test('the fields of each method are those that its code checks', async () => {
  const sections = sectionsUnder('Emacs: JSON-RPC over stdio');
  const all = [...new Set([...sections.values()].flatMap(fieldsIn))];
  // A function is valid nowhere, so each field that is read is refused.
  const wrong = Object.fromEntries(all.map((field) => [field, () => null]));
  for (const [name, method] of Object.entries(METHODS)) {
    const fields = fieldsIn(sections.get(name) ?? '').sort();
    if (fields.length === 0) continue;
    const error = await method(wrong, nowhere).catch((reason: unknown) => reason);
    const issues = error instanceof z.ZodError ? error.issues : [];
    const refused = new Set(
      issues.map(({ path }) => String(path[0])).filter((field) => field !== 'undefined'),
    );
    expect([name, ...[...refused].sort()]).toEqual([name, ...fields]);
  }
});

test('what a method needs is not called optional, and the other way round', async () => {
  for (const [name, section] of sectionsUnder('Emacs: JSON-RPC over stdio')) {
    const needed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field);
    const method = METHODS[name];
    if (method === undefined || needed.length === 0) continue;
    const error = await method({}, nowhere).catch((reason: unknown) => reason);
    const issues = error instanceof z.ZodError ? error.issues : [];
    expect([name, ...issues.map(({ path }) => path[0]).sort()]).toEqual([name, ...needed.sort()]);
  }
});
