/** Tables added to a TOML file of others and removed again: nothing of theirs changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, revertEdits } from '../../src/domain/text.ts';
import {
  appendToml,
  markedTables,
  readToml,
  removeToml,
} from '../../src/infrastructure/installation/toml-edits.ts';

const SERVER = {
  path: ['mcp_servers', 'hive'],
  values: { command: '/opt/a "b"\\node', args: ['x y', 'mcp'], env_vars: ['HIVE_STORE'] },
};
const TRUST = {
  path: ['hooks', 'state', '/home/a b/hooks.json:stop:0:0'],
  values: { trusted_hash: 'sha256:00' },
};
const add = (text: string, ...tables: (typeof SERVER | typeof TRUST)[]): string =>
  applyEdits(text, appendToml(text, tables));
const cut = (text: string): string => applyEdits(text, removeToml(text));

/** Lines that people write, in any order: a key of the root must come first, so the tables come after. */
const root = fc.constantFrom(
  'model = "gpt"',
  '# a comment',
  '',
  'list = [\n  1, # one\n  2,\n]',
  'text = """\n[mcp_servers.hive]\n"""',
  'when = 2026-01-01T00:00:00Z',
  'big = 9007199254740993',
);
const table = fc.constantFrom(
  '[analytics]\nenabled = false',
  '[mcp_servers.other]\ncommand = "x" # mine',
  '[hooks.state."/other:stop:0:0"]\ntrusted_hash = "sha256:11"',
  '[[profile]]\nname = "a"',
  '# the end\n',
  '[projects."/x"]\ntrust_level = "trusted"\n',
);
const files = fc
  .tuple(
    fc.uniqueArray(root, { maxLength: 4 }),
    fc.uniqueArray(table, { maxLength: 4 }),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  )
  .map(([roots, tables, eol, ends]) =>
    ([...roots, ...tables].join('\n') + (ends ? '\n' : '')).replaceAll('\n', eol),
  );

describe('tables of ours', () => {
  it('are added to any file, and removed without a trace', () => {
    fc.assert(
      fc.property(files, (text) => {
        const edits = appendToml(text, [SERVER, TRUST]);
        const after = applyEdits(text, edits);
        expect(after.startsWith(text)).toBe(true);
        expect(markedTables(after)).toEqual([SERVER.path, TRUST.path]);
        expect(readToml(after)).toMatchObject({ mcp_servers: { hive: SERVER.values } });
        expect(revertEdits(after, edits)).toBe(text);
        expect([text, `${text}\n`, `${text}\r\n`]).toContain(cut(after));
      }),
    );
  });

  it('are found again in a file that Codex has rewritten', () => {
    const text = add('model = "x"\n', SERVER).replace(
      '[mcp_servers.hive]',
      '[mcp_servers.hive]\nenabled = true',
    );
    const since = `${text}\n[mcp_servers.hive.tools.hivemind_post]\napproval_mode = "approve"\n\n[projects."/x"]\ntrust_level = "trusted"\n`;
    expect(cut(since)).toBe('model = "x"\n\n[projects."/x"]\ntrust_level = "trusted"\n');
  });

  it('does not change a server of the same name that somebody else wrote', () => {
    const text = '[mcp_servers.hive]\ncommand = "hive"\n';
    expect(removeToml(text)).toEqual([]);
    expect(() => add(text, SERVER)).toThrow(/TOML/);
  });

  it.each(['hooks = { state = {} }\n', 'mcp_servers = {}\n', 'a = \n'])(
    'refuses %j with a sentence',
    (text) => {
      expect(() => add(text, SERVER, TRUST)).toThrow(/TOML/);
    },
  );

  it('refuses to remove what only looks like its own', () => {
    for (const end of ['"""\n', '\n"""\n']) {
      const text = `notes = """\n${add('', SERVER)}${end}`.replaceAll('\\', '/');
      expect(() => removeToml(text)).toThrow(/without touching what is yours/);
    }
  });

  it('refuses to remove more than its own', () => {
    const text = add('', SERVER).replace('[mcp_servers.hive]', '[mcp_servers.hive]\nlist = [\n  1,\n]');
    expect(() => removeToml(text)).toThrow(/TOML/);
  });
});
