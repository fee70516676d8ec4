/** The requests with which Codex shows the permission of a command: read strictly, because an allow goes to what was displayed. */
import { expect, test } from 'vitest';
import { commandAsked } from '../../src/domain/codex-requests.ts';
import { RECORDED } from '../support/codex-app-server.ts';

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
