/** Values added to JSON files of others and removed again: not one byte of theirs changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, revertEdits, type TextEdit } from '../../src/domain/text.ts';
import {
  appendJson,
  readJson,
  removeJson,
  setJson,
} from '../../src/infrastructure/installation/json-edits.ts';
import { jsonFiles } from '../support/json-arbitraries.ts';

const VALUE = { command: 'hive', args: ['mcp'] };
const PATH = ['mcpServers', 'hive'];

/** All of `text` except the insertions: the edits may only add. */
const addsOnly = (edits: readonly TextEdit[]): boolean => edits.every(({ removed }) => removed === '');

describe('setting a property', () => {
  it.each([
    ['{}', '{\n  "mcpServers": {\n    "hive": 1\n  }\n}'],
    ['{"a":1}', '{"a":1,"mcpServers":{"hive":1}}'],
    ['{ "a": 1 }', '{ "a": 1, "mcpServers": {"hive":1} }'],
    ['{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "mcpServers": {\n        "hive": 1\n    }\n}\n'],
    ['{\n\t"a": 1, // note\n}', '{\n\t"a": 1, // note\n\t"mcpServers": {\n\t\t"hive": 1\n\t},\n}'],
    ['{\n  "a": 1 // note\n}', '{\n  "a": 1, // note\n  "mcpServers": {\n    "hive": 1\n  }\n}'],
    ['{\n  "mcpServers": {}\n}', '{\n  "mcpServers": {\n    "hive": 1\n  }\n}'],
    ['{\r\n  "a": 1\r\n}', '{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "hive": 1\r\n  }\r\n}'],
    ['{"a": 1 // note\n}', '{"a": 1, // note\n  "mcpServers": {"hive":1}\n}'],
  ])('%j', (before, after) => {
    expect(applyEdits(before, setJson(before, PATH, 1))).toBe(after);
  });

  it('adds and moves nothing, in any file', () => {
    fc.assert(
      fc.property(jsonFiles(), (text) => {
        const edits = setJson(text, PATH, VALUE);
        const after = applyEdits(text, edits);
        const before = readJson(text);
        const servers = before['mcpServers'] as object | undefined;
        expect(readJson(after)).toEqual({ ...before, mcpServers: { ...servers, hive: VALUE } });
        expect(servers !== undefined && 'hive' in servers ? true : addsOnly(edits)).toBe(true);
        expect(revertEdits(after, edits)).toBe(text);
      }),
    );
  });

  it('keeps what an existing entry was', () => {
    const text = '{ "mcpServers": { "hive": { "command": "old" /* mine */ } } }';
    const edits = setJson(text, PATH, VALUE);
    expect(readJson(applyEdits(text, edits))).toEqual({ mcpServers: { hive: VALUE } });
    expect(revertEdits(applyEdits(text, edits), edits)).toBe(text);
  });

  it.each(['[]', '{', '{"mcpServers": []}', '', '{"a" 1}'])('refuses %j with a sentence', (text) => {
    expect(() => setJson(text, PATH, 1)).toThrow(/not JSON that Hive can add to/);
  });
});

it('appending to a list adds one element, in any file', () => {
  fc.assert(
    fc.property(jsonFiles(), (text) => {
      const edits = appendJson(text, ['hooks', 'Stop'], VALUE);
      const before = readJson(text);
      const hooks = before['hooks'] as Record<string, unknown[]> | undefined;
      const expected = { ...before, hooks: { ...hooks, Stop: [...(hooks?.['Stop'] ?? []), VALUE] } };
      const after = applyEdits(text, edits);
      expect(readJson(after)).toEqual(expected);
      expect(addsOnly(edits)).toBe(true);
      expect(revertEdits(after, edits)).toBe(text);
    }),
  );
});

describe('removing', () => {
  it('without a record of what was added, the content is the same as before', () => {
    fc.assert(
      fc.property(jsonFiles(), (text) => {
        const before = readJson(text);
        fc.pre(!('hive' in ((before['mcpServers'] as object | undefined) ?? {})));
        const added = applyEdits(text, setJson(text, PATH, VALUE));
        const after = readJson(applyEdits(added, removeJson(added, PATH)));
        const bare = { ...before };
        if (Object.keys((bare['mcpServers'] as object | undefined) ?? {}).length === 0) {
          delete bare['mcpServers'];
          if ('mcpServers' in after) delete after['mcpServers'];
        }
        expect(after).toEqual(bare);
      }),
    );
  });

  it.each([
    ['{}', '{}'],
    ['{\n  "a": 1\n}\n', '{\n  "a": 1\n}\n'],
    ['{\n  "mcpServers": {\n    "x": 1 // note\n  }\n}', '{\n  "mcpServers": {\n    "x": 1 // note\n  }\n}'],
    ['{"a":1}', '{"a":1}'],
    ['{ "a": 1, }', '{ "a": 1, }'],
  ])('restores %j', (text, before) => {
    const added = applyEdits(text, setJson(text, PATH, VALUE));
    expect(applyEdits(added, removeJson(added, PATH))).toBe(before);
  });
});
