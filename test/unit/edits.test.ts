/**
 * Changes that a tool is about to make to files, as the person sees them who permits them. Nothing of the call may be hidden.
 *
 * @module-tag as-displayed
 * @module-tag untrusted
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { directoryOfPatch } from '../../src/domain/codex-patches.ts';
import { editShown, type FileState, versionInTranscript, whyUnmeasured } from '../../src/domain/edits.ts';
import { editToolsAt, unifiedDiff } from '../../src/infrastructure/platform/edits.ts';
import { tempFolder } from '../support/temp.ts';

const TEXT = Array.from({ length: 12 }, (_, n) => `line ${n + 1}\n`).join('');

function shownIn(
  state: FileState | string | null,
  name: string,
  input: Record<string, unknown>,
  room = 10_000,
): string[] {
  const read = (): FileState =>
    typeof state === 'string'
      ? { kind: 'text', text: state, link: null }
      : (state ?? { kind: 'missing', link: null });
  const tools = {
    read,
    versionIn: async (): Promise<null> => null,
    directoryOfPatch: async (): Promise<null> => null,
    realPath: (path: string): string => path,
    packed: () => null,
    unpacked: (text: string): string => text,
    compare: unifiedDiff,
    patched: () => null,
  };
  const client = name === 'apply_patch' ? 'codex' : 'claude-code';
  const version = client === 'codex' ? '0.169.0' : '2.1.330';
  return editShown({ client, version, directory: '/src', name, input }, tools, room)?.shown.split('\n') ?? [];
}

const edit = (old_string: string, new_string: string, more: object = {}): Record<string, unknown> => ({
  file_path: '/src/a.ts',
  old_string,
  new_string,
  ...more,
});

const BECOMES_B = ['--- /src/a.ts\tthis text', '+++ /src/a.ts\tbecomes this', '@@ -1,1 +1,1 @@', '-a', '+b'];

test('an edit is a diff of the file with three lines around it', () => {
  expect(shownIn(TEXT, 'Edit', edit('line 6\n', 'line six\nand a half\n'))).toEqual([
    '--- /src/a.ts',
    '+++ /src/a.ts',
    '@@ -3,7 +3,8 @@',
    ...[
      ' line 3',
      ' line 4',
      ' line 5',
      '-line 6',
      '+line six',
      '+and a half',
      ' line 7',
      ' line 8',
      ' line 9',
    ],
  ]);
});

test('a text that is part of a line changes that line', () => {
  expect(shownIn('const a = 1;\n', 'Edit', edit('1', '2'))).toEqual(
    expect.arrayContaining(['-const a = 1;', '+const a = 2;']),
  );
});

test('replace_all shows each match, and says how many there are', () => {
  const shown = shownIn('a\nb\na\n', 'Edit', edit('a', 'c', { replace_all: true }));
  expect(shown).toContain('All 2 occurrences are replaced.');
  expect(shown.filter((line) => line === '-a' || line === '+c')).toEqual(['-a', '+c', '-a', '+c']);
});

test.each<[string, FileState | string | null, object, string]>([
  ['does not occur', TEXT, {}, 'The text to replace does not occur in the file as it is now.'],
  [
    'occurs twice',
    'x\na\nb a\n',
    {},
    'The text to replace occurs 2 times (lines 2, 3), and replace_all is not set.',
  ],
  ['is in a file that is not there', null, {}, 'There is no such file.'],
  [
    'is in a binary file',
    { kind: 'unread', why: 'is binary (3 bytes)', link: null },
    {},
    'The file is binary (3 bytes), so this is not a diff of the file.',
  ],
])('if the text %s, both texts are shown, with the reason', (_, state, more, why) => {
  expect(shownIn(state, 'Edit', edit('a', 'b', more))).toEqual([
    `${why} The exact effect is decided by the client. The change, as passed to the tool:`,
    ...BECOMES_B,
  ]);
});

test('both texts are shown in full: nothing between two changes is left out', () => {
  const old = Array.from({ length: 40 }, (_, n) => `${n}`);
  const shown = shownIn('', 'Edit', edit(old.join('\n'), old.with(0, 'x').with(39, 'y').join('\n')));
  for (const line of old) expect(shown.some((one) => one.slice(1) === line)).toBe(true);
});

test('a diff that is too long is replaced by both texts', () => {
  const shown = shownIn('a\n'.repeat(500), 'Edit', edit('a', 'b', { replace_all: true }), 1_000);
  expect(shown[0]).toBe(
    'The diff of the file is too long to be shown here. The exact effect is decided by the client. The change, as passed to the tool:',
  );
  expect(shown.slice(1)).toEqual(BECOMES_B.with(0, '--- /src/a.ts\tevery occurrence of this text'));
});

test('several edits in one call, which no measured client makes, are shown one by one', () => {
  const edits = [
    { old_string: 'line 2', new_string: 'second' },
    { old_string: 'line 11', new_string: 'eleventh', replace_all: true },
  ];
  const shown = shownIn(TEXT, 'MultiEdit', { file_path: '/src/a.ts', edits });
  expect(shown[0]).toContain('The exact effect is decided by the client.');
  expect(shown.filter((line) => line.startsWith('---'))).toEqual([
    '--- /src/a.ts\tedit 1: this text',
    '--- /src/a.ts\tedit 2: every occurrence of this text',
  ]);
});

test('an edit that would make a file of a billion characters is not made', () => {
  const grow = edit('a', 'a'.repeat(1_000_000), { replace_all: true });
  const shown = shownIn('a'.repeat(1_000), 'Edit', grow);
  expect(shown[0]).toContain('The diff of the file is too long to be shown here.');
});

test('an edit with a field that Hive does not know is left to the list of arguments', () => {
  const edits = [{ old_string: 'line 2', new_string: 'x', also: 'this' }];
  expect(shownIn(TEXT, 'MultiEdit', { file_path: '/src/a.ts', edits })).toEqual([]);
});

test('a new file is all additions, and a file that is written again a diff', () => {
  const input = { file_path: '/src/a.ts', content: 'a\nb\n' };
  expect(shownIn(null, 'Write', input)).toEqual([
    ...['--- /dev/null', '+++ /src/a.ts', '@@ -0,0 +1,2 @@', '+a', '+b'],
  ]);
  expect(shownIn('a\n', 'Write', input)).toEqual([
    ...['--- /src/a.ts', '+++ /src/a.ts', '@@ -1,1 +1,2 @@', ' a', '+b'],
  ]);
  expect(shownIn('a\nb\n', 'Write', input)[0]).toBe('Nothing changes in this file.');
});

test('a file behind a link is named', () => {
  const state: FileState = { kind: 'text', text: 'a\n', link: '/home/ada/.bashrc' };
  expect(shownIn(state, 'Edit', edit('a', 'b'))[0]).toBe(
    'The path contains a link. The file is /home/ada/.bashrc',
  );
});

test('line ends are not shown where all lines have CR LF before and after, and are in the diff otherwise', () => {
  const shown = shownIn('a\r\nb\r\n', 'Edit', edit('a\nb', 'a\nc'));
  expect(shown).toEqual(expect.arrayContaining([' a', '-b', '+c']));
  expect(shown[0]).toContain('CR LF');
  // Claude Code gives every line the end that most have.
  expect(shownIn('a\r\nb\nc\n', 'Edit', edit('b', 'd'))).toEqual(
    expect.arrayContaining(['-a^M', '-b', '+a', '+d', ' c']),
  );
  // Its Write takes the text as it is.
  expect(shownIn('a\r\n', 'Write', { file_path: '/src/a.ts', content: 'a\n' })).toEqual(
    expect.arrayContaining(['-a^M', '+a']),
  );
});

test('what is invisible or looks like something else is spelled out, in the text and in the path', () => {
  const shown = shownIn('pay(a);\n', 'Edit', {
    ...edit('pay(a)', 'p\u0430y(\u202ea\u00a0)'),
    file_path: '/src/\u202e\nx',
  });
  expect(shown).toContain('+p<U+0430>y(<U+202E>a<U+00A0>);');
  expect(shown[0]).toBe('--- "/src/<U+202E>\\nx"');
});

test('a cell of a notebook is compared by itself, and no diff of the file is claimed', () => {
  const text = JSON.stringify({
    cells: [
      { id: 'x', cell_type: 'markdown', source: 'text' },
      { id: 'y', cell_type: 'code', source: ['import os\n', 'print(1)'] },
    ],
  });
  const input = { notebook_path: '/a.ipynb', new_source: 'import os\nprint(2)' };
  const shown = shownIn(text, 'NotebookEdit', { ...input, cell_id: 'y' });
  expect(shown.slice(0, 4)).toEqual([
    'This is cell 2 of 2 (code). The client writes the whole notebook again, without the results of this cell.',
    'The exact effect is decided by the client. The change, as passed to the tool:',
    '--- /a.ipynb\tthis text',
    '+++ /a.ipynb\tbecomes this',
  ]);
  expect(shownIn(text, 'NotebookEdit', { ...input, cell_id: 'cell-1' })).toContain('-print(1)');
  expect(shownIn(text, 'NotebookEdit', { ...input, cell_id: 'y', edit_mode: 'delete' })).toEqual(
    expect.arrayContaining(['-import os', '-print(1)']),
  );
  expect(shownIn(text, 'NotebookEdit', { ...input, cell_id: 'x', edit_mode: 'insert' })[0]).toContain(
    'This is a new cell after cell 1.',
  );
  expect(shownIn(text, 'NotebookEdit', { ...input, cell_id: 'gone' })[0]).toContain('has no such cell');
});

test.each([
  [null, 'Hive does not know which version of Claude Code this is.'],
  ['2.1.329', 'was measured with Claude Code 2.1.330 to 2.1.332, and this is 2.1.329.'],
  ['2.2.0', 'and this is 2.2.0.'],
  ['2.1.331-beta', 'and this is 2.1.331-beta.'],
  ['2.1.331', null],
])('of an edit by version %s a diff is claimed only if it was measured', (version, why) => {
  const found = whyUnmeasured('claude-code', version);
  if (why === null) expect(found).toBeNull();
  else expect(found).toContain(why);
});

test('the version is what the client itself wrote into its transcript', () => {
  const lines = [
    '{"type":"user","version":"2.1.330"}',
    '{"type":"assistant","message":{"content":[{"input":{"version":"9.9.9"}}]}}',
    '{"type":"assis',
  ];
  expect(versionInTranscript('claude-code', lines)).toBe('2.1.330');
  const meta = { type: 'session_meta', payload: { cli_version: '0.171.0' } };
  const said = { type: 'response_item', payload: { cli_version: '9.9.9' } };
  expect(versionInTranscript('codex', [JSON.stringify(meta), JSON.stringify(said)])).toBe('0.171.0');
  expect(versionInTranscript('codex', [])).toBeNull();
});

test('a transcript that the client has not written yet is waited for', async () => {
  const path = join(tempFolder(), 'late.jsonl');
  const found = editToolsAt('/').versionIn('claude-code', path);
  await new Promise(setImmediate);
  writeFileSync(path, '{"type":"user","version":"2.1.330"}\n');
  expect(await found).toBe('2.1.330');
});

const patch = (...lines: string[]): Record<string, unknown> => ({
  command: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
});

test('a patch of Codex is a diff of the file, its chunks found in their order', () => {
  const text = 'f:\n  a\n  b\ng:\n  a\n  b\n';
  const shown = shownIn(
    text,
    'apply_patch',
    patch('*** Update File: x', '@@ g:', '   a', '-  b', '+  c', '@@', '+h:'),
  );
  expect(shown).toEqual([
    ...['--- x', '+++ x', '@@ -3,4 +3,5 @@', '   b', ' g:', '   a', '-  b', '+  c', '+h:'],
  ]);
});

test('a patch adds, deletes and moves files', () => {
  expect(shownIn(null, 'apply_patch', patch('*** Add File: x', '+a'))).toEqual([
    ...['--- /dev/null', '+++ x', '@@ -0,0 +1,1 @@', '+a'],
  ]);
  expect(shownIn('a\n', 'apply_patch', patch('*** Delete File: x'))).toEqual([
    ...['--- x', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-a'],
  ]);
  expect(
    shownIn('a\n', 'apply_patch', patch('*** Update File: x', '*** Move to: y', '@@', '-a', '+b')).slice(
      0,
      3,
    ),
  ).toEqual(['The file y exists. All of it is replaced.', '--- x', '+++ y']);
  expect(shownIn('old\n', 'apply_patch', patch('*** Add File: x', '+a'))[0]).toBe(
    'The file exists. All of it is replaced.',
  );
});

test('the chunks of all files of a patch are looked for among so many lines, and the text is shown beyond', () => {
  const text = `${'\n'.repeat(3_000)}x\n`;
  const update = (name: string): string[] => [
    ...[`*** Update File: ${name}`, '@@'],
    ...[...' '.repeat(1_000), '-x', '+y'],
  ];
  const first = (...names: string[]): string | undefined =>
    shownIn(text, 'apply_patch', patch(...names.flatMap(update)))[0];
  expect(first('a', 'b')).toBe('--- a');
  expect(first('a', 'b', 'c')).toContain('cannot be placed exactly');
});

test('a patch that no desk could show is not placed', () => {
  const text = `${'context\n'.repeat(7_000)}a\n`;
  const input = patch(
    '*** Update File: x',
    '@@',
    ...text
      .split('\n')
      .slice(0, 7_000)
      .map((line) => ` ${line}`),
    '-a',
    '+b',
  );
  expect(shownIn(text, 'apply_patch', input)[0]).toContain('too long to be shown here');
});

test.each([
  ['lines that do not occur exactly', patch('*** Update File: x', '@@', '-  line 2', '+y')],
  ['a move of a file to its own path', patch('*** Update File: x', '*** Move to: x', '@@', '-line 2', '+y')],
  ['the same file twice', patch('*** Delete File: x', '*** Add File: x', '+a')],
  ['another format', { command: 'diff --git a/x b/x' }],
  ['an unknown part', patch('*** Rename File: x', '+a')],
])('a patch with %s is shown as it is', (_, input) => {
  const [why, ...shown] = shownIn(TEXT, 'apply_patch', input);
  expect(why).toContain('cannot be placed exactly');
  expect(shown.map((line) => line.slice(4)).join('\n')).toBe(input['command']);
});

describe('the directory of a patch of Codex', () => {
  const PATCH = '*** Begin Patch\n*** Delete File: x\n*** End Patch';
  const item = (payload: object): string => JSON.stringify({ type: 'response_item', payload });
  const STARTED = item({ type: 'task_started' });
  const own = (call_id = 'own'): string =>
    item({ type: 'custom_tool_call', call_id, name: 'apply_patch', input: PATCH });
  const command = (cmd: string, more: object = {}): string => {
    const args = JSON.stringify({ cmd, ...more });
    return item({ type: 'function_call', call_id: cmd, name: 'exec_command', arguments: args });
  };
  const here = (start = ''): string => `${start}apply_patch <<'EOF'\n${PATCH}\nEOF\n`;
  const placed = (...lines: string[]): string | null => directoryOfPatch([STARTED, ...lines], PATCH, '/shop');

  test.each<[string, string, string[]]>([
    ['that of the session, for its own tool', '/shop', [own()]],
    ['that of the session, for a command', '/shop', [command(here())]],
    ['the one that the command changes to', '/shop/a/b', [command(here('cd ./a/b/ && '))]],
    ['the one that the command changes to, in quotes', '/a b', [command(here("cd '/a b' && "))]],
    ['the one in which the command runs', '/else', [command(here(), { workdir: '/else' })]],
    ['the one that the command changes to there', '/shop/a/b', [command(here('cd b && '), { workdir: 'a' })]],
    [
      'that of the call that has not returned',
      '/shop',
      [command(here('cd a && ')), item({ type: 'function_call_output', call_id: here('cd a && ') }), own()],
    ],
    ['that of the call of this turn', '/shop', [command(here('cd a && ')), STARTED, own()]],
    ['that of the call with this patch', '/shop', [own(), command(here('cd a && ').replace('x', 'y'))]],
  ])('is %s', (_, directory, lines) => {
    expect(placed(...lines)).toBe(directory);
  });

  test.each<[string, string[]]>([
    ['no call has it', []],
    ['two calls with it work in two directories', [own(), command(here('cd a && '))]],
    ['a command does something else, too', [command(`${here('cd a && ')}ls`)]],
    ['another call that is not understood may have it', [own(), command(here('cd "$HOME" && '))]],
    ['the path goes up', [command(here('cd a/.. && '))]],
    ['the path is in a home', [command(here(), { workdir: '~/a' })]],
    [
      'another tool applies it',
      [item({ type: 'custom_tool_call', call_id: 'code', name: 'exec', input: `apply_patch(${PATCH})` })],
    ],
  ])('is not known where %s', (_, lines) => {
    expect(placed(...lines)).toBeNull();
  });

  test('is not known where the transcript does not have the beginning of the turn', () => {
    expect(directoryOfPatch([own()], PATCH, '/shop')).toBeNull();
  });
});
