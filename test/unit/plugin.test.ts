/** The plugin of Claude Code and `hive init` install the same: there is one description of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  HOOK_PROTOCOL,
  hookTable,
  isHiveServer,
  readHook,
  readHookCommand,
  serverSetting,
} from '../../src/domain/installation.ts';
import { shellLine, shellWords } from '../../src/domain/shell-words.ts';
import { ROOT } from '../support/children.ts';

const read = (...path: string[]): Record<string, unknown> =>
  JSON.parse(readFileSync(join(ROOT, ...path), 'utf8')) as Record<string, unknown>;

const file = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

describe('the plugin', () => {
  // `vitest -u` writes it again from the description.
  it('has the hooks that hive init writes', async () => {
    const description = 'Reports each step to Hive, and delivers answers, mentions and interrupts.';
    const hooks = {
      description,
      hooks: hookTable('claude-code', { program: ['hive'], server: 'plugin:hive:hive' }),
    };
    await expect(file(hooks)).toMatchFileSnapshot(join(ROOT, 'plugin/hooks/hooks.json'));
  });

  it('has the server that hive init writes', async () => {
    const servers = { mcpServers: { hive: serverSetting('claude-code', ['hive']) } };
    await expect(file(servers)).toMatchFileSnapshot(join(ROOT, 'plugin/.mcp.json'));
  });

  it('has the version of the package, and ships with it', () => {
    const { version, files } = read('package.json');
    expect(read('plugin/.claude-plugin/plugin.json')).toMatchObject({ name: 'hive', version });
    expect(files).toContain('plugin');
  });
});

describe('a hook command', () => {
  it.each([['hive'], ['/opt/node v24/bin/node', "/home/o'neil/bin/hive"], ['/usr/bin/hive']])(
    'is read back as it was written: %j %j',
    (...program) => {
      const entry = hookTable('codex', { program, way: 'process' })['Stop']?.[0]?.hooks[0];
      expect(readHook(entry)).toEqual({ client: 'codex', program, protocol: HOOK_PROTOCOL });
    },
  );

  it('of an older Hive has no protocol number', () => {
    expect(readHookCommand("'/n' '/b/hive' hook --client claude-code")?.protocol).toBeNull();
  });

  it.each([
    'beehive hook --client codex',
    'hive hook',
    'hive hook --client other',
    'rm -rf / ; hive hook --client codex',
    'hive hook --client codex | tee x',
    'hive hook --client $(evil) --client codex',
    'hive mcp',
    '',
    7,
    null,
  ])('is nothing else: %j', (command) => expect(readHookCommand(command)).toBeNull());

  it('survives the shell', () => {
    const words = ['a b', "it's", '"x"', 'plain', '$HOME', '`x`', 'ü'];
    expect(shellWords(shellLine(words))).toEqual(words);
  });
});

it.each([
  [{ command: 'hive', args: ['mcp'] }, true],
  [{ command: '/n/node', args: ['/p/bin/hive', 'mcp', '--role', 'coordinator'] }, true],
  [{ command: 'npx', args: ['-y', 'hive-sidecar', 'mcp'] }, true],
  [{ command: 'beehive', args: ['mcp'] }, false],
  [{ command: 'hive' }, false],
  [{ url: 'https://example.org/hive/mcp' }, false],
  [null, false],
])('the server entry %j starts Hive: %j', (entry, expected) => expect(isHiveServer(entry)).toBe(expected));
