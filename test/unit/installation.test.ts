/**
 * Hive's part of a client's file, added and removed without changing any other byte: examples. Any file is tried in
 * test/fuzz/installation.test.ts.
 */
import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { toolsFor } from '../../src/adapters/mcp/server.ts';
import { PLUGIN_SERVER, SERVER_NAME, toolRules } from '../../src/domain/installation.ts';
import {
  claudeServer,
  refusalPart,
  rulePart,
  type SettingsFile,
  toolPermission,
  whyNoHooks,
} from '../../src/infrastructure/installation/claude.ts';
import { codexConfig, trustOf } from '../../src/infrastructure/installation/codex.ts';
import { emacsPart, shellFile } from '../../src/infrastructure/installation/init-files.ts';
import { readJson } from '../../src/infrastructure/installation/json-edits.ts';
import { codexPaths, type Part, planInit, planUninit } from '../../src/infrastructure/installation/parts.ts';
import { codexSocket } from '../../src/infrastructure/platform/paths.ts';
import { expectRestored, init, OLDER, PARTS, PROGRAM } from '../support/installed-parts.ts';

const emacs = ([folder = '']: string[]): Part => emacsPart('/home/init.el', folder, 'C-c h');
const codex = (program: string[]): Part => codexConfig('/home/config.toml', program, []);
const RULES = rulePart('/home/settings.json', SERVER_NAME);

describe.each(Object.entries(PARTS))('%s', (_name, made) => {
  const part = made(PROGRAM);

  it.each([
    '{"a": 1}',
    '{\r\n\t// theirs\r\n\t"hooks": { "Stop": [] }, /* } */ "mcpServers": {},\r\n}\r\n',
    '{ "permissions": { "allow": ["Bash(ls)"], "deny": [] }, "hooks": { "PreToolUse": [{ "hooks": [] }] } }',
  ])('uninit restores each byte, also after a second init and an upgrade: %s', (text) => {
    expectRestored(made, text);
  });

  it.each(['', '\n', ' \n'])('an empty file %j is restored', (text) => {
    const done = init(part, text);
    expect(planUninit(part, done.text, done.receipt)?.after).toBe(text);
  });

  it('a file that did not exist is removed again, unless somebody else uses it now', () => {
    const done = init(part, null);
    expect(planUninit(part, done.text, done.receipt)?.after).toBeNull();
    const used = done.text.replace('{', '{ "theirs": 1,');
    expect(readJson(planUninit(part, used, done.receipt)?.after ?? '')).toEqual({ theirs: 1 });
  });

  it('uninit keeps what somebody else has added to a file of ours between two inits, as written', () => {
    const old = init(made(OLDER), null);
    const used = old.text.replace('{', '{\n  // Mine.\n  "theirs": 1,');
    const now = init(part, used, old.receipt);
    const left = planUninit(part, now.text, now.receipt)?.after;
    expect(left).toBe('{\n  // Mine.\n  "theirs": 1\n}\n');
    // Another file in the place of ours.
    const other = init(part, '{ "theirs": 1 }', old.receipt);
    expect(planUninit(part, other.text, other.receipt)?.after).toBe('{ "theirs": 1 }');
  });

  it('uninit removes a file of ours with nothing else in it, but not a comment', () => {
    const old = init(made(OLDER), null);
    const now = init(part, old.text, old.receipt);
    expect(planUninit(part, now.text, now.receipt)?.after).toBeNull();
    // Emptied by hand in the meantime.
    const again = init(part, '{}\n', old.receipt);
    expect(planUninit(part, again.text, again.receipt)?.after).toBeNull();
    const noted = now.text.replace('{', '{\n  // Mine.');
    expect(planUninit(part, noted, now.receipt)?.after).toBe('{\n  // Mine.\n}\n');
  });

  it('uninit does nothing if nothing is installed', () => {
    expect(planUninit(part, '{"a": 1}', null)).toBeNull();
    expect(planUninit(part, null, null)).toBeNull();
  });
});

describe.each([
  ['init.el', emacs, '(setq my-own-setting 42)\n'],
  ['config.toml', codex, 'model = "gpt-x"\n'],
])('%s', (_name, made, theirs) => {
  it('is removed with what Hive has written, unless somebody else has written in it between two inits', () => {
    const old = init(made(OLDER), null);
    const alone = init(made(PROGRAM), old.text, old.receipt);
    expect(planUninit(made(PROGRAM), alone.text, alone.receipt)?.after).toBeNull();
    for (const text of [`${theirs}\n${old.text}`, theirs]) {
      const now = init(made(PROGRAM), text, old.receipt);
      expect(planUninit(made(PROGRAM), now.text, now.receipt)?.after).toBe(theirs);
    }
  });
});

describe('what a person has set in the entry of our server', () => {
  const claude = (program: string[], role?: 'agent' | 'coordinator'): Part =>
    claudeServer('/home/.claude.json', program, role);
  const entryOf = (text: string): Record<string, unknown> =>
    (readJson(text)['mcpServers'] as Record<string, Record<string, unknown>>)['hive'] ?? {};

  it('stays in Claude Code: a timeout, variables and options, but not alwaysLoad', () => {
    const old = init(claude(OLDER), '{ "a": 1 }');
    const set = {
      ...entryOf(old.text),
      args: ['/old/bin/hive', 'mcp', '--tool-timeout', '10m'],
      env: { HIVE_STORE: '/mine.db' },
      timeout: 600000,
      alwaysLoad: true,
    };
    const text = JSON.stringify({ a: 1, mcpServers: { hive: set } });
    const now = init(claude(PROGRAM), text, old.receipt);
    expect(entryOf(now.text)).toEqual({
      command: '/opt/node',
      args: ['/opt/hive/bin/hive', 'mcp', '--tool-timeout', '10m'],
      env: { HIVE_STORE: '/mine.db', NODE_OPTIONS: '', NODE_V8_COVERAGE: '' },
      timeout: 600000,
    });
    expect(planInit(claude(PROGRAM), now.text, now.receipt)).toBeNull();
    const coordinating = init(claude(PROGRAM, 'coordinator'), now.text, now.receipt);
    const { args } = entryOf(coordinating.text);
    expect(args).toEqual(['/opt/hive/bin/hive', 'mcp', '--role', 'coordinator', '--tool-timeout', '10m']);
    const back = init(claude(PROGRAM, 'agent'), coordinating.text, coordinating.receipt);
    expect(entryOf(back.text)).toEqual(entryOf(now.text));
    expect(planUninit(claude(PROGRAM), back.text, back.receipt)?.after).toBe('{"a":1}');
  });

  it.each(['\n', '\r\n'])('stays in Codex, as written, with the tables below: %j', (eol) => {
    const theirs = `model = "gpt-x"${eol}`;
    const old = init(codex(OLDER), theirs);
    const own = [
      'tool_timeout_sec = 600.0 # as long as a build',
      'env.HIVE_LOG = "debug"',
      '',
      '[mcp_servers.hive.tools.hivemind_post]',
      'approval_mode = "approve"',
      '',
    ].join(eol);
    const text = (old.text + own)
      .replace('"mcp"]', '"mcp", "--tool-timeout", "10m"]')
      .replace('env_vars = [', 'env_vars = [{ name = "MINE", source = "remote" }, "MY_OWN", ');
    const now = init(codex(PROGRAM), text, old.receipt);
    expect(now.text).not.toContain('/old/');
    expect(now.text).toContain(`${eol}${own}`);
    expect(now.text).toContain('args = ["/opt/hive/bin/hive", "mcp", "--tool-timeout", "10m"]');
    expect(now.text).toContain(', { "name" = "MINE", "source" = "remote" }, "MY_OWN"]');
    expect(planInit(codex(PROGRAM), now.text, now.receipt)).toBeNull();
    expect(planUninit(codex(PROGRAM), now.text, now.receipt)?.after).toBe(theirs);
    expect(planUninit(codex(PROGRAM), now.text, null)?.after).toBe(theirs);
  });
});

describe('the permission rules', () => {
  const settings = (permissions: object): string => JSON.stringify({ permissions });
  const allowed = (text: string): string[] =>
    (readJson(text)['permissions'] as { allow: string[] } | undefined)?.allow ?? [];

  it('name each tool that every agent has, and none of a coordinator', () => {
    const named = (role: 'agent' | 'coordinator'): string[] =>
      toolsFor(role).map(({ name }) => `mcp__hive__${name}`);
    expect(toolRules(SERVER_NAME).sort()).toEqual(named('agent').sort());
    const own = named('coordinator').filter((name) => !named('agent').includes(name));
    expect(own).toHaveLength(3);
    for (const rule of own) expect(toolRules(SERVER_NAME)).not.toContain(rule);
  });

  it.each([['mcp__hive'], ['mcp__hive__*']])('are not added where the person allows %s', (rule) => {
    expect(planInit(RULES, settings({ allow: [rule] }), null)).toBeNull();
  });

  it('are added without one that is there, and that one stays', () => {
    const theirs = settings({ allow: ['Bash(ls)', 'mcp__hive__hivemind_post'], deny: ['mcp__hive__x'] });
    const done = init(RULES, theirs);
    expect(new Set(allowed(done.text))).toEqual(new Set(['Bash(ls)', ...toolRules(SERVER_NAME)]));
    expect(allowed(done.text)).toHaveLength(1 + toolRules(SERVER_NAME).length);
    // The client has written to the file in the meantime.
    const now = done.text.replace('{', '{"model":"opus",');
    const left = planUninit(RULES, now, done.receipt)?.after ?? '';
    expect(readJson(left)).toEqual({ model: 'opus', ...readJson(theirs) });
  });

  it('are removed for the plugin, too', () => {
    const done = init(rulePart('/home/settings.json', PLUGIN_SERVER), '{"a":1}');
    expect(allowed(done.text)).toEqual(toolRules(PLUGIN_SERVER));
    expect(planUninit(rulePart('/home/settings.json', null), done.text, null)?.after).toBe('{"a":1}');
  });

  it('leave some that a person has written, where there is no record of ours', () => {
    const theirs = settings({ allow: ['mcp__hive__hivemind_post', 'mcp__hive__hivemind_poll'] });
    expect(planUninit(RULES, theirs, null)).toBeNull();
  });

  it('a person who wants none gets none, and keeps what is there', () => {
    const none = rulePart('/home/settings.json', null);
    expect(planInit(none, settings({ allow: ['Bash'] }), null)).toBeNull();
  });
});

describe('the servers that Claude Code takes from no project', () => {
  const part = refusalPart('/home/settings.json');
  const refused = (text: string): unknown => readJson(text)['disabledMcpjsonServers'];

  it('are added to those that the person refuses, and removed alone', () => {
    const done = init(part, '{"disabledMcpjsonServers":["theirs"]}');
    const plugin = ['plugin:hive:hive', 'plugin:hive_hive', 'plugin_hive:hive', 'plugin_hive_hive'];
    expect(refused(done.text)).toEqual(['theirs', 'hive', ...plugin]);
    const now = done.text.replace('{', '{"model":"opus",');
    expect(refused(planUninit(part, now, done.receipt)?.after ?? '')).toEqual(['theirs']);
  });

  it('stay as the person wrote them, where some of ours are missing', () => {
    expect(planUninit(part, '{"disabledMcpjsonServers":["hive"]}', null)).toBeNull();
  });
});

describe('what Claude Code does with the tools', () => {
  const file = (path: string, content: object): SettingsFile => ({ path, content: { ...content } });
  const NONE = file('m', {});
  const yes = file('user', { permissions: { allow: toolRules(SERVER_NAME) } });
  const only = { allowManagedPermissionRulesOnly: true };

  it.each([
    ['asks without rules', [file('user', {})], null, { kind: 'asks' }],
    [
      'asks with some of them',
      [file('user', { permissions: { allow: ['mcp__hive__hivemind_post'] } })],
      null,
      { kind: 'asks' },
    ],
    ['runs them with the rules', [yes], null, { kind: 'allows' }],
    [
      'runs them with rules of two files',
      [
        file('a', { permissions: { allow: toolRules(SERVER_NAME).slice(0, 9) } }),
        file('b', { permissions: { allow: toolRules(SERVER_NAME).slice(9) } }),
      ],
      null,
      { kind: 'allows' },
    ],
    [
      'does what a rule that asks says',
      [yes, file('p', { permissions: { ask: ['mcp__hive'] } })],
      null,
      { kind: 'overruled', path: 'p' },
    ],
    [
      'does what a rule that denies says',
      [yes],
      file('m', { permissions: { deny: ['mcp__hive__hivemind_post'] } }),
      { kind: 'overruled', path: 'm' },
    ],
    ['asks where only the rules of an administrator count', [yes], file('m', only), { kind: 'managed' }],
    [
      'runs them where an administrator allows them',
      [],
      file('m', { ...only, permissions: { allow: ['mcp__hive'] } }),
      { kind: 'allows' },
    ],
    [
      'does not take the rules for another server',
      [file('user', { permissions: { allow: toolRules(PLUGIN_SERVER) } })],
      null,
      { kind: 'asks' },
    ],
  ] as const)('%s', (_name, own, managed, expected) => {
    expect(toolPermission({ own, managed: managed ?? NONE }, SERVER_NAME)).toEqual(expected);
  });

  it.each([
    ['runs the hooks', [yes], NONE, null],
    ['runs them with a no', [file('u', { disableAllHooks: false })], NONE, null],
    [
      'runs none where a file says so',
      [yes, file('p', { disableAllHooks: true })],
      NONE,
      'p has "disableAllHooks"',
    ],
    [
      'runs them where a file that counts more says no',
      [file('u', { disableAllHooks: true }), file('p', { disableAllHooks: false }), file('l', {})],
      NONE,
      null,
    ],
    [
      'runs none where a file that counts more says so',
      [file('u', { disableAllHooks: false }), file('l', { disableAllHooks: true })],
      NONE,
      'l has "disableAllHooks"',
    ],
    [
      'runs none where only those of an administrator count',
      [yes],
      file('m', { allowManagedHooksOnly: true }),
      'm has "allowManagedHooksOnly"',
    ],
  ])('%s', (_name, own, managed, expected) => {
    expect(whyNoHooks({ own, managed })).toBe(expected);
  });
});

it('the trust of Codex is the hash that Codex (0.169) computes, at the place of the hook', () => {
  const command = '/usr/bin/hive hook --client codex';
  const text = JSON.stringify({
    hooks: {
      PreToolUse: [
        { hooks: [{ type: 'command', command: 'other' }] },
        { hooks: [{ type: 'command', command, timeout: 10 }] },
      ],
      SessionStart: [{ matcher: '', hooks: [{ type: 'command', command, timeout: 10 }] }],
    },
  });
  expect(trustOf('/home/hooks.json', text)).toEqual([
    {
      path: ['hooks', 'state', '/home/hooks.json:pre_tool_use:1:0'],
      values: { trusted_hash: 'sha256:837c7413b0eee8990aef36dada0b8aa68e85091eb3c487d9d75ba5460e7be37f' },
    },
    {
      path: ['hooks', 'state', '/home/hooks.json:session_start:0:0'],
      values: { trusted_hash: 'sha256:1e7a7c9fd48ac7f5ded38f9496360a3f957ec407b20b16f3428b2a6010e0fc68' },
    },
  ]);
});

const home = { HOME: '/home/ada' };

it.each([
  [codexPaths({ ...home, CODEX_HOME: '' }).config, '/home/ada/.codex/config.toml'],
  [codexSocket({ ...home, CODEX_HOME: '' }), '/home/ada/.codex/app-server-control/app-server-control.sock'],
  [codexSocket({ HOME: '' }), `${userInfo().homedir}/.codex/app-server-control/app-server-control.sock`],
  [shellFile({ ...home, SHELL: '/bin/zsh', ZDOTDIR: '' }), '/home/ada/.zshrc'],
  [shellFile({ ...home, SHELL: '/bin/fish', XDG_CONFIG_HOME: '' }), '/home/ada/.config/fish/config.fish'],
])('a variable that is empty counts as not set: %s', (path, expected) => {
  expect(path).toBe(expected);
});
