/** The requests with which Codex shows the permission of a command or an edit: read strictly, because an allow goes to what was displayed. */
import { describe, expect, test } from 'vitest';
import { directoryOfChanges } from '../../src/domain/codex-patches.ts';
import { commandAsked, editAsked } from '../../src/domain/codex-requests.ts';
import { areClaimed, type ClaimedFile, type FileChange } from '../../src/domain/edits.ts';
import { editToolsAt } from '../../src/infrastructure/platform/edits.ts';
import { PATCH, RECORDED } from '../support/codex-app-server.ts';

const { params } = RECORDED.permission;

test('a recorded one is the call of its hook, and its directory', () => {
  expect(commandAsked(params)).toEqual({
    dialog: {
      kind: 'permission',
      tool: {
        name: 'Bash',
        input: { command: 'echo esc', description: 'need it' },
        use_id: null,
        response: null,
        own: null,
      },
      suggestions: [],
    },
    cwd: '/home/user/project',
  });
});

// As Codex 0.169 quotes them.
test.each([
  [`/bin/bash -lc "touch 'x y' && echo "'$HOME'`, "touch 'x y' && echo $HOME"],
  ["/usr/bin/zsh -lc 'a | b > c'", 'a | b > c'],
  [`bash -lc "it's \\"so\\" \\\\ "'\`x\`'`, 'it\'s "so" \\ `x`'],
  ["sh -c 'line 1\nline 2'", 'line 1\nline 2'],
  ['/bin/bash -lc ls', 'ls'],
])('the words of %s are what its shell runs', (command, script) => {
  expect(commandAsked({ ...params, command })?.dialog).toMatchObject({
    tool: { input: { command: script } },
  });
});

test.each<[string, Record<string, unknown>]>([
  ['a field that Hive does not know', { sandboxOverride: 'none' }],
  ['another machine', { environmentId: 'remote' }],
  ['a host of the network', { networkApprovalContext: { host: 'example.org', protocol: 'https' } }],
  ['a part of a command', { approvalId: 'part-1' }],
  ['typing into a command', { kind: 'writeStdin' }],
  ['another program than a shell', { command: "python3 -c 'echo esc'" }],
  ['a shell with other options', { command: "/bin/bash --rcfile x -lc 'echo esc'" }],
  ['words after the script', { command: "/bin/bash -lc 'echo esc' more" }],
  ['a line that a shell would expand', { command: '/bin/bash -lc "echo $HOME"' }],
  ['no command', { command: null }],
  ['no directory', { cwd: null }],
])('one about %s is left to the terminal', (_, facts) => {
  expect(commandAsked({ ...params, ...facts })).toBeNull();
});

test('more permissions are part of the call, so that a prompt without them does not match', () => {
  const network = { network: { enabled: true } };
  const asked = commandAsked({ ...params, additionalPermissions: network });
  expect(asked?.dialog).toMatchObject({ tool: { input: { additional_permissions: network } } });
});

describe('the permission of an edit', () => {
  const { request, item } = RECORDED.edit;
  const recorded = editAsked(request.params, item) ?? [];
  const tools = editToolsAt('/home/user/project');
  /** As the diffs of the patch show them. */
  const CLAIMED: readonly ClaimedFile[] = [
    { path: 'made.txt', before: null, after: 'one\n\n' },
    { path: 'known.txt', before: 'a\nb\nc\n', after: 'a\nB\nc\n' },
    { path: 'gone.txt', before: 'gone\n', after: null },
    { path: 'old.txt', before: 'x\n', after: null },
    { path: 'sub/new.txt', before: 'x\n', after: 'y\n' },
  ];

  test('a recorded one makes what its patch claims, in the directory in which Codex applies it', () => {
    expect(recorded).toHaveLength(4);
    expect(directoryOfChanges(PATCH, recorded)).toBe('/home/user/project');
    expect(areClaimed(recorded, CLAIMED, tools)).toBe(true);
  });

  test.each<[string, object, object]>([
    ['a field that Hive does not know', { environmentId: 'remote' }, {}],
    ['writing more than the files', { grantRoot: '/home/user' }, {}],
    ['a reason that was not displayed', { reason: 'again, without the sandbox' }, {}],
    ['another item', { itemId: 'exec-2' }, {}],
    ['a field of its item that Hive does not know', {}, { mode: 'all' }],
    ['an edit that has ended', {}, { status: 'completed' }],
    ['another item than an edit', {}, { type: 'commandExecution' }],
    ['no changes', {}, { changes: [] }],
    ['a change that is no object', {}, { changes: [...item.changes, 'all'] }],
    ['a change with another field', {}, { changes: [{ ...item.changes[0], mode: '0755' }] }],
    ['a change of another kind', {}, { changes: [{ ...item.changes[0], kind: { type: 'link' } }] }],
    [
      'a kind with another field',
      {},
      { changes: [{ ...item.changes[0], kind: { type: 'delete', all: true } }] },
    ],
    [
      'a move that its diff does not name',
      {},
      { changes: [{ ...item.changes[3], diff: '@@ -1 +1 @@\n-x\n+y\n' }] },
    ],
  ])('about %s is left to the terminal', (_, facts, more) => {
    expect(editAsked({ ...request.params, ...facts }, { ...item, ...more })).toBeNull();
  });

  const changed = (path: string, more: Partial<FileChange>): FileChange[] =>
    recorded.map((change) => (change.path.endsWith(path) ? { ...change, ...more } : change));

  test.each<[string, readonly FileChange[]]>([
    ['a file less', recorded.slice(1)],
    [
      'a file more',
      [...recorded, { type: 'add', path: '/home/user/project/more', to: null, diff: 'more\n' }],
    ],
    [
      'a file more that it cannot place',
      [...recorded, { type: 'update', path: '/etc/hosts', to: null, diff: '' }],
    ],
    ['the same file twice', [...recorded.slice(1), ...recorded.slice(1, 2)]],
    ['another file', changed('made.txt', { path: '/home/user/made.txt' })],
    ['another text', changed('made.txt', { diff: 'one\n' })],
    ['another change', changed('known.txt', { diff: '@@ -1,3 +1,3 @@\n a\n-b\n+C\n c\n' })],
    ['a change of another file', changed('known.txt', { diff: '@@ -1,3 +1,3 @@\n z\n-b\n+B\n c\n' })],
    ['something that is no diff', changed('known.txt', { diff: '@@ all of it' })],
    ['the end of another text', changed('gone.txt', { diff: 'more\n' })],
    ['a move elsewhere', changed('old.txt', { to: '/home/user/new.txt' })],
    ['a move that leaves the file', changed('old.txt', { to: null })],
  ])('that would make %s is not what its patch claims', (_, changes) => {
    expect(areClaimed(changes, CLAIMED, tools)).toBe(false);
  });

  test.each([
    ['fewer files', PATCH, recorded.slice(1)],
    ['other files', PATCH.replace('known.txt', 'other.txt'), recorded],
    ['files that Codex may read in another way', `${PATCH} `.replace('+one', 'one'), recorded],
  ])('with %s does not tell the directory', (_, patch, changes) => {
    expect(directoryOfChanges(patch, changes)).toBeNull();
  });
});

test('one about a tool of an MCP server cannot be told from a form of that server, so none is read', () => {
  const { permission, form_of_its_server } = RECORDED.tool;
  expect(form_of_its_server).toEqual({ ...permission, id: form_of_its_server.id });
});
