/** `hive init` and `hive uninit` on the files of a home: what they write, and that they remove exactly that. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type HookGroup,
  hookSettings,
  hookTable,
  PLUGIN_SERVER,
  SERVER_NAME,
  toolRules,
} from '../../src/domain/installation.ts';
import { isEmacsKey } from '../../src/infrastructure/installation/init-files.ts';
import { readJson } from '../../src/infrastructure/installation/json-edits.ts';
import { childEnvironment, HIVE, outputOf, spawnChild } from '../support/children.ts';
import { type Shell, shell } from '../support/cli.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { tempHome } from '../support/temp.ts';
import { openTerminal } from '../support/tmux.ts';

/** A separate home directory with these files. */
function home(files: Record<string, string> = {}): { folder: string; person: Shell } {
  const folder = tempHome();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: 0o640 });
  }
  return { folder, person: shell(join(folder, 'state/hive.db'), { HOME: folder }) };
}

it.each([
  [[], 'anthropic-claude'],
  [['opencode', 'acp'], 'opencode'],
  [['npx', '-y', '@google/gemini-cli', '--acp'], 'google-gemini'],
  [['my-agent'], '…'],
])('the settings for an ACP agent name the variable of agent-shell for it: %j', async (agent, variable) => {
  const { out } = await home().person.hive('init', 'acp', '--', ...agent);
  expect(out).toContain(`(setq agent-shell-${variable}-acp-command\n`);
});

/** Every file of a home that is not Hive's own. */
function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => !/^(?:\.cache|\.local|state)\//.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

const THEIRS = {
  '.claude.json': '{"numStartups":3,"mcpServers":{"github":{"command":"gh"}},"projects":{}}',
  '.claude/settings.json': `{
    // Mine.
    "model": "opus",
    "hooks": {
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }] /* loud */
    },
}
`,
  '.codex/config.toml': '# Mine.\nmodel = "gpt"\n\n[projects."/x"]\ntrust_level = "trusted" # yes',
  '.codex/hooks.json': '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}\n',
  '.emacs.d/init.el': ';; Mine.\r\n(setq inhibit-startup-screen t)\r\n',
};

const CLIENTS = [['claude', '--hooks'], ['codex'], ['emacs']] as const;

async function init(person: Shell): Promise<void> {
  for (const [client, ...more] of CLIENTS) {
    expect(await person.hive('init', client, ...more, '--yes')).toMatchObject({ code: 0 });
  }
}

async function uninit(person: Shell): Promise<void> {
  for (const [client] of CLIENTS) {
    expect(await person.hive('uninit', client, '--yes')).toMatchObject({ code: 0 });
  }
}

describe('hive init', () => {
  it('and uninit leave the files of others byte-identical', async () => {
    const { folder, person } = home(THEIRS);
    await init(person);
    const written = filesIn(folder);
    for (const name of Object.keys(THEIRS))
      expect(written[name]).not.toBe(THEIRS[name as keyof typeof THEIRS]);
    await uninit(person);
    expect(filesIn(folder)).toEqual(THEIRS);
    expect(statSync(join(folder, '.claude.json')).mode & 0o777).toBe(0o640);
  });

  it('that nobody agrees to prints JSON, too: no file is changed', async () => {
    const { folder, person } = home();
    const refused = await person.hive('init', 'emacs', '--json');
    expect(refused).toMatchObject({ code: 6, err: expect.stringContaining('Nothing was written.') });
    expect(refused.json()).toEqual({ changed: [] });
    expect(filesIn(folder)).toEqual({});
  });

  it('and uninit leave nothing where there was nothing before', async () => {
    const { folder, person } = home();
    await init(person);
    expect(Object.keys(filesIn(folder))).toEqual([
      '.claude.json',
      '.claude/commands/check-mentions.md',
      '.claude/commands/post.md',
      '.claude/settings.json',
      '.codex/config.toml',
      '.codex/hooks.json',
      '.emacs.d/init.el',
    ]);
    await uninit(person);
    expect(readdirSync(folder).sort()).toEqual(['.local']);
    // Compiled code, which every program of Hive keeps there.
    expect(readdirSync(join(folder, '.local/state/hive'))).toEqual(['code', 'code.key']);
  });

  it('breaks no word at the edge of a terminal, in its sentences and in its question', async () => {
    const { folder } = home();
    const env = childEnvironment(join(folder, 'state/hive.db'), { HOME: folder, TERM: 'xterm' });
    const command = [process.execPath, HIVE, 'init', 'claude', '--hooks'];
    const terminal = closedAtEnd(await openTerminal(folder, env, command, { columns: 80, lines: 60 }));
    const screen = await terminal.until(/every line\]/);
    const text = screen.map((line) => line.trim()).join(' ');
    for (const sentence of [
      'Your answers, mentions and interrupts reach it by themselves',
      'which can stop a step, add text to it, or answer its dialog:',
      'PostToolUse, PostToolUseFailure, PermissionRequest, Elicitation, PermissionDenied, ElicitationResult,',
      'asking each time? [Y/n, a: set it up, but ask each time, d shows every line]',
    ])
      expect(text).toContain(sentence);
    // A line that continues another begins below its text.
    expect(screen).toContainEqual(expect.stringMatching(/^ {4}\w+, /));
    await terminal.keys('n', 'Enter');
    await terminal.until(/Nothing was written\./);
  });

  it("writes only into Claude Code's settings while Hive's plugin is enabled there", async () => {
    const files = { '.claude/settings.json': '{ "enabledPlugins": { "hive@hive": true } }\n' };
    const { folder, person } = home(files);
    const { code, err } = await person.hive('init', 'claude', '--hooks', '--yes');
    expect(code).toBe(0);
    expect(err).toContain("Claude Code has Hive's plugin");
    const written = filesIn(folder);
    expect(readJson(written['.claude/settings.json'] ?? '')).toEqual({
      enabledPlugins: { 'hive@hive': true },
      permissions: { allow: toolRules(PLUGIN_SERVER) },
      disabledMcpjsonServers: [
        'hive',
        ...['plugin:hive:hive', 'plugin:hive_hive', 'plugin_hive:hive', 'plugin_hive_hive'],
      ],
    });
    expect(Object.keys(written)).toEqual(['.claude/settings.json']);
    const removed = await person.hive('uninit', 'claude', '--yes');
    expect(removed.err).toContain('To remove it, run: claude plugin uninstall hive@hive\n');
    expect(removed.out).not.toContain('will not use Hive');
    expect(filesIn(folder)).toEqual(files);
  });

  it('asks whether agents may use its tools unasked: yes is the default, and a writes everything but the rules', async () => {
    const { folder, person } = home();
    const allowed = (): unknown => readJson(filesIn(folder)['.claude/settings.json'] ?? '{}')['permissions'];
    const tools = 'without asking each time?';
    const refused = await person.terminal(['init', 'claude', '--hooks'], tools, 'a');
    expect(refused.out).toContain('Claude Code will ask you before each call');
    expect(refused.code).toBe(0);
    expect(allowed()).toBeUndefined();
    // After a word that is no answer it asks again.
    const again = await person.terminal(['init', 'claude'], tools, 'perhaps', [tools, '']);
    expect(again.out).toContain("agents use Hive's own tools without asking you");
    expect(allowed()).toEqual({ allow: toolRules(SERVER_NAME) });
    expect(filesIn(folder)['.claude/settings.json']).toContain('"hooks"');
    const third = await person.terminal(['init', 'claude', '--hooks'], tools, 'n');
    expect(third.out).toContain('Nothing to do.');
    await person.hive('uninit', 'claude', '--yes');
    expect(filesIn(folder)).toEqual({});
  });

  it("adds its commands, never in the place of a person's own, and uninit takes back only what is as written", async () => {
    const own = '.claude/commands/post.md';
    const { folder, person } = home({ [own]: 'Post to my blog: $ARGUMENTS\n' });
    const done = await person.hive('init', 'claude', '--hooks', '--yes');
    expect(done.out).toContain('Adds the command /check-mentions.');
    const command = '.claude/commands/check-mentions.md';
    expect(filesIn(folder)[command]).toContain('`hivemind_get_unprocessed_mentions`');
    expect(filesIn(folder)[own]).toBe('Post to my blog: $ARGUMENTS\n');
    await person.hive('uninit', 'claude', '--yes');
    expect(filesIn(folder)).toEqual({ [own]: 'Post to my blog: $ARGUMENTS\n' });

    await person.hive('init', 'claude', '--hooks', '--yes');
    writeFileSync(join(folder, command), 'Mine now.\n');
    const again = await person.hive('init', 'claude', '--hooks', '--yes');
    expect(again).toMatchObject({ code: 0, out: 'Nothing to do.\n' });
    await person.hive('uninit', 'claude', '--yes');
    expect(filesIn(folder)).toEqual({ [own]: 'Post to my blog: $ARGUMENTS\n', [command]: 'Mine now.\n' });
  });

  it('promises only what the client then does', async () => {
    const { person } = home();
    const promised = async (...args: string[]): Promise<string> =>
      (await person.hive('init', ...args, '--yes')).out.split('\n')[0] ?? '';
    expect(await promised('claude')).toMatch(/gets your answers when it polls\. With --hooks/);
    expect(await promised('claude', '--hooks')).toMatch(
      /by themselves, and its permission dialogs can be answered in Emacs/,
    );
    expect(await promised('codex')).toMatch(
      /can be answered at your desk\. Its other permissions stay in its terminal, unless you set dialog_wait/,
    );
  });

  it('does nothing the second time', async () => {
    const { folder, person } = home(THEIRS);
    await init(person);
    const once = filesIn(folder);
    const again = await person.hive('init', 'claude', '--hooks', '--yes');
    expect(again).toMatchObject({ code: 0, out: 'Nothing to do.\n' });
    await init(person);
    expect(filesIn(folder)).toEqual(once);
  });

  it('keeps what others write afterwards, and uninit removes only its own lines', async () => {
    const { folder, person } = home({ '.claude.json': '{}' });
    await init(person);
    const path = join(folder, '.claude.json');
    const now = readJson(readFileSync(path, 'utf8'));
    // Rewrites the whole file, as Claude Code does.
    writeFileSync(path, JSON.stringify({ ...now, numStartups: 4 }, null, 2));
    const settings = join(folder, '.claude/settings.json');
    writeFileSync(settings, readFileSync(settings, 'utf8').replace('{', '{\n  "model": "opus",'));
    await uninit(person);
    expect(filesIn(folder)).toEqual({
      '.claude.json': '{\n  "numStartups": 4\n}',
      '.claude/settings.json': '{\n  "model": "opus"\n}\n',
    });
  });

  it('makes coordinators, keeps them until changed, and uninit removes everything', async () => {
    const { folder, person } = home(THEIRS);
    const clients = [
      ['claude', '.claude.json', '"--role"'],
      ['codex', '.codex/config.toml', '"--role", "coordinator"'],
    ] as const;
    for (const [client, file, role] of clients) {
      const init = (...more: string[]) => person.hive('init', client, '--yes', ...more);
      await init();
      expect(filesIn(folder)[file]).not.toContain(role);
      await init('--role', 'coordinator');
      const coordinating = filesIn(folder)[file];
      expect(coordinating).toContain(role);
      expect(coordinating?.match(/coordinator/g)).toHaveLength(1);
      expect(await init()).toMatchObject({ out: 'Nothing to do.\n' });
      await init('--role', 'agent');
      expect(filesIn(folder)[file]).not.toContain(role);
      await init('--role', 'coordinator');
      expect(await person.hive('uninit', client, '--yes')).toMatchObject({ code: 0 });
    }
    expect(filesIn(folder)).toEqual(THEIRS);
  });

  it('lets no agent make itself a coordinator', async () => {
    const { folder, person } = home();
    const agent = person.as({ CLAUDECODE: '1' });
    for (const client of ['claude', 'codex']) {
      const refused = await agent.hive('init', client, '--role', 'coordinator', '--yes');
      expect(refused.code).toBe(7);
      expect(refused.err).toContain('Only a human may make an agent a coordinator');
    }
    expect(filesIn(folder)).toEqual({});
    expect(await agent.hive('init', 'claude', '--role', 'coordinator', '--print')).toMatchObject({
      code: 0,
      out: expect.stringContaining('coordinator'),
    });
  });

  it('does not change the role in a server that codex mcp add has written, and says where to set it', async () => {
    const theirs = '[mcp_servers.hive]\ncommand = "hive"\nargs = ["mcp"]\n';
    const { folder, person } = home({ '.codex/config.toml': theirs });
    const refused = await person.hive('init', 'codex', '--role', 'coordinator', '--yes');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('args = ["mcp", "--role", "coordinator"]');
    expect(filesIn(folder)).toEqual({ '.codex/config.toml': theirs });
    const given = theirs.replace('["mcp"]', '["mcp", "--role=coordinator"]');
    writeFileSync(join(folder, '.codex/config.toml'), given);
    expect(await person.hive('init', 'codex', '--role', 'coordinator', '--yes')).toMatchObject({ code: 0 });
    expect(filesIn(folder)['.codex/config.toml']).toBe(given);
  });

  it('replaces the hooks of an older Hive', async () => {
    const old = {
      type: 'command',
      command: `'/old/node' '/old/bin/hive' hook --client claude-code`,
      timeout: 10,
    };
    const other = { type: 'command', command: 'say done' };
    const hooks = { PreToolUse: [{ matcher: '', hooks: [old] }], Stop: [{ hooks: [old, other] }] };
    const { folder, person } = home({ '.claude/settings.json': JSON.stringify({ hooks }, null, 2) });
    await init(person);
    const now = readJson(filesIn(folder)['.claude/settings.json'] ?? '');
    const groups = Object.values(now['hooks'] as Record<string, { hooks: object[] }[]>).flat();
    const hooks_now = groups.flatMap((group) => group.hooks.map((hook) => JSON.stringify(hook)));
    const program = [process.execPath, HIVE];
    const ours = Object.values(hookTable('claude-code', { program })).flat();
    const wanted = ours.flatMap((group) => group.hooks.map((hook) => JSON.stringify(hook)));
    expect(hooks_now.sort()).toEqual([...wanted, JSON.stringify(other)].sort());
  });

  it('writes processes for the hooks that guard, and only for those, where guards fail closed', async () => {
    /** The events whose hook is a process, of what `hive init` writes. */
    const processes = async (variables: Record<string, string>): Promise<Record<string, string[]>> => {
      const { folder, person } = home();
      await init(person.as(variables));
      const of = (file: string): string[] =>
        Object.entries(readJson(filesIn(folder)[file] ?? '')['hooks'] as Record<string, HookGroup[]>)
          .filter(([, groups]) => groups[0]?.hooks[0]?.type === 'command')
          .map(([event]) => event);
      return { claude: of('.claude/settings.json'), codex: of('.codex/hooks.json') };
    };
    const [open, closed] = [await processes({}), await processes({ HIVE_GATE_FAIL: 'closed' })];
    const added = (client: string): string[] =>
      (closed[client] ?? []).filter((event) => open[client]?.includes(event) !== true);
    expect(open['claude']).not.toContain('PreToolUse');
    expect(added('claude').sort()).toEqual(['PreToolUse', 'UserPromptSubmit']);
    // With Codex, the beginning of a turn is a process in any case.
    expect(open['codex']).toContain('UserPromptSubmit');
    expect(added('codex')).toEqual(['PreToolUse']);
  });

  it('shows what it would do, and writes nothing without the option', async () => {
    const { folder, person } = home(THEIRS);
    const said = await person.hive('init', 'claude', '--hooks');
    expect(said.code).toBe(6);
    expect(said.out).toMatch(/\.claude\/settings\.json \(\d+ lines? added, 1 removed\)\n/);
    // Nobody can ask for every line here, as a person at a terminal can.
    expect(said.out).toContain(`\n${join(folder, '.claude/settings.json')}\n`);
    expect(said.out).toMatch(/^ {2}\+.*"SessionStart"/m);
    expect(said.err).toContain('--yes');
    const refused = await person.terminal(['init', 'claude'], 'Set this up, and let', 'n');
    expect(refused.code).toBe(6);
    const printed = await person.hive('init', 'codex', '--print');
    expect(printed.out).toContain('[mcp_servers.hive]');
    expect(filesIn(folder)).toEqual(THEIRS);
    expect((await person.terminal(['init', 'claude'], 'Set this up, and let', 'y')).code).toBe(0);
    expect(filesIn(folder)['.claude.json']).toMatch(
      /"hive":\{"command":"[^"]+","args":\[[^\]]*"mcp"\],"env":/,
    );
  });

  it.each([
    ['claude', ['--hooks'], '.claude/settings.json'],
    ['codex', [], '.codex/hooks.json'],
  ])(
    'says of %s in a few lines what it writes, and what it replaces and removes',
    async (client, more, file) => {
      const { folder, person } = home();
      const said = async (...args: string[]): Promise<string> => (await person.hive(...args, '--yes')).out;
      const first = await said('init', client, ...more);
      const text = filesIn(folder)[file] ?? '';
      const count = (of: string, pattern: RegExp): number => of.match(pattern)?.length ?? 0;
      const hooks = count(text, /"type":/g);
      expect(first.trim().split('\n').length).toBeLessThan(22);
      expect(first).toContain(`${file} (new file, ${count(text, /\n/g)} lines)\n  Adds ${hooks} hooks. `);
      expect(first).toContain(`- ${count(text, /"mcp_tool"/g)} use the connection to the MCP server: `);
      // The line of the server says which program that is.
      expect(first).toContain(`- ${count(text, /"command":/g)} start "hive hook": `);
      const events = Object.keys(readJson(text)['hooks'] as object);
      for (const event of events) expect(first).toMatch(new RegExp(`^ {2}- .*: .*\\b${event}\\b`, 'm'));
      expect(first).toMatch(/Adds the MCP server "hive", which runs: \S+ \S+\/bin\/hive mcp\n/);

      // As an older Hive wrote them: one hook less, and another path.
      const { hooks: table } = readJson(text) as { hooks: Record<string, unknown> };
      delete table[events.find((event) => JSON.stringify(table[event]).split('"type":').length === 2) ?? ''];
      writeFileSync(
        join(folder, file),
        JSON.stringify({ hooks: table }, null, 2).replaceAll(HIVE, '/old/hive'),
      );
      const again = await said('init', client, ...more);
      expect(again).toContain(`Replaces Hive's ${hooks - 1} hooks with ${hooks}. `);
      expect(again).not.toContain('MCP server "hive"');
      const removed = await said('uninit', client);
      expect(removed).toContain(`Removes Hive's ${hooks} hooks, and no others.`);
      expect(removed).toContain('Removes the MCP server "hive".');
      expect(removed).not.toMatch(/\b0 lines/);
      expect(removed.includes("Removes Hive's 15 permission rules.")).toBe(client === 'claude');
    },
  );

  it('writes plain "hive" into what a project shares', async () => {
    const { folder, person } = home();
    // Where there is no hive: this machine may have one.
    const without = person.as({ PATH: folder });
    expect((await without.hive('init', 'claude', '--project')).err).not.toContain('PATH');
    const done = await without.hive('init', 'claude', '--project', '--hooks', '--yes');
    expect(done.err).toContain('from PATH, and it is not on yours');
    const files = filesIn(folder);
    expect(readJson(files['.mcp.json'] ?? '')).toEqual({
      mcpServers: {
        hive: { command: 'hive', args: ['mcp'], env: { NODE_OPTIONS: '', NODE_V8_COVERAGE: '' } },
      },
    });
    expect(files['.claude/settings.json']).toContain(
      '"env -u NODE_OPTIONS -u NODE_V8_COVERAGE hive hook --client claude-code --protocol 1"',
    );
    await person.hive('uninit', 'claude', '--project', '--yes');
    expect(filesIn(folder)).toEqual({});
  });

  it('keeps a symbolic link', async () => {
    const { folder, person } = home({ 'dotfiles/claude.json': '{"a": 1}\n' });
    const link = join(folder, '.claude.json');
    symlinkSync(join(folder, 'dotfiles/claude.json'), link);
    await init(person);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(filesIn(folder)['dotfiles/claude.json']).toContain('"hive"');
    await uninit(person);
    expect(filesIn(folder)['dotfiles/claude.json']).toBe('{"a": 1}\n');
  });

  it('refuses a link to nothing: the file that it is for may be there later', async () => {
    const { folder, person } = home();
    const link = join(folder, '.claude.json');
    symlinkSync('dotfiles/claude.json', link);
    const { code, err } = await person.hive('init', 'claude', '--yes');
    expect(code).toBe(2);
    expect(err).toContain(`${link}, a link to nothing, cannot be written (no such file or directory).`);
    expect(readlinkSync(link)).toBe('dotfiles/claude.json');
    expect(readdirSync(folder)).not.toContain('dotfiles');
  });

  it('removes a file of its own behind a link that was made since, and leaves the link', async () => {
    const { folder, person } = home();
    const link = join(folder, '.claude.json');
    await init(person);
    mkdirSync(join(folder, 'dotfiles'));
    renameSync(link, join(folder, 'dotfiles/claude.json'));
    symlinkSync('dotfiles/claude.json', link);
    await uninit(person);
    expect(readdirSync(join(folder, 'dotfiles'))).toEqual([]);
    expect(readlinkSync(link)).toBe('dotfiles/claude.json');
  });

  it.each([
    ['claude', '.claude.json', '{"mcpServers": {"hive": {"command": "beehive"}}}', /rename it first/],
    ['claude', '.claude.json', '{"mcpServers": ', /not JSON that Hive can add to/],
    ['codex', '.codex/config.toml', 'model = ', /not TOML that Hive can add to/],
    ['codex', '.codex/config.toml', 'mcp_servers = {}\n', /change it by hand/],
  ])('%s refuses %s with %s', async (client, name, text, sentence) => {
    const { folder, person } = home({ [name]: text });
    const { code, err } = await person.hive('init', client, '--yes');
    expect(code).toBe(2);
    expect(err).toMatch(sentence);
    expect(err).toContain(name);
    expect(filesIn(folder)).toEqual({ [name]: text });
  });
});

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const EVENT = {
  session_id: 's-1',
  transcript_path: '/dev/null',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 't1',
};

it.each([
  ['a preload that prints', { NODE_OPTIONS: '--require HOME/boot.cjs' }],
  ['the measuring of tests', { NODE_V8_COVERAGE: 'HOME/coverage' }],
])(
  'what a project or an editor sets for its own Node: %s reaches neither the hooks nor the server that init writes',
  async (_what, variables) => {
    const { folder, person } = home({ 'boot.cjs': 'console.log("noise");' });
    await person.hive('init', 'claude', '--hooks', 'process', '--yes');
    const set = Object.entries(variables).map(([name, value]) => [name, value.replaceAll('HOME', folder)]);
    const env = childEnvironment(join(folder, 'state/hive.db'), { HOME: folder, ...Object.fromEntries(set) });
    const settings = JSON.parse(readFileSync(join(folder, '.claude/settings.json'), 'utf8'));
    const { command } = settings.hooks.PreToolUse[0].hooks[0];
    const event = JSON.stringify({ ...EVENT, cwd: folder });
    const hook = spawnSync('sh', ['-c', command], { env, input: event, encoding: 'utf8' });
    expect(hook).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const { hive } = JSON.parse(readFileSync(join(folder, '.claude.json'), 'utf8')).mcpServers;
    const server = spawnSync(hive.command, hive.args, {
      env: { ...env, ...hive.env },
      input: `${JSON.stringify(HELLO)}\n`,
      encoding: 'utf8',
    });
    expect(server.stdout).toMatch(/^\{.*"serverInfo"/);
    expect(existsSync(join(folder, 'coverage'))).toBe(false);
  },
);

it('hive init emacs writes lines that start Hive in a real Emacs', async () => {
  const { folder, person } = home();
  await person.hive('init', 'emacs', '--yes');
  const look = `(progn (load "${folder}/.emacs.d/init.el" nil t) (princ (format "%S" hive-mode)))`;
  const emacs = spawnChild(
    'emacs',
    ['-Q', '--batch', '--eval', look],
    childEnvironment(join(folder, 'state/hive.db'), { HOME: folder }),
  );
  expect(await outputOf(emacs)).toBe('t');
});

it('says that an init file which Emacs reads compiled must be compiled again', async () => {
  const { folder, person } = home({ '.emacs.d/init.el': ';; Mine.\n', '.emacs.d/init.elc': '' });
  const init = join(folder, '.emacs.d/init.el');
  const said = `Emacs reads ${init}c, which was compiled before: compile ${init} again with M-x byte-compile-file.`;
  expect((await person.hive('init', 'emacs', '--yes')).out).toContain(said);
  expect((await person.hive('uninit', 'emacs', '--yes')).out).toContain(said);
});

describe('the prefix of the keys in Emacs', () => {
  const INIT = '.emacs.d/init.el';
  const bound = (folder: string): string | undefined =>
    /\(kbd "([^"]+)"\) 'hive-prefix-map/.exec(filesIn(folder)[INIT] ?? '')?.[1];

  it('is C-c h, or another that the init file does not mention', async () => {
    const { folder, person } = home();
    await person.hive('init', 'emacs', '--yes');
    expect(bound(folder)).toBe('C-c h');
    const other = home({ [INIT]: '(global-set-key (kbd "C-c h") #\'mine)\n' });
    await other.person.hive('init', 'emacs', '--yes');
    expect(bound(other.folder)).toBe('C-c H');
  });

  it('is what the person types, and stays so', async () => {
    const { folder, person } = home();
    await person.terminal(['init', 'emacs'], 'Set this up?', 's-h');
    expect(bound(folder)).toBe('s-h');
    expect(await person.hive('init', 'emacs', '--yes')).toMatchObject({ out: 'Nothing to do.\n' });
    await person.hive('uninit', 'emacs', '--yes');
    expect(filesIn(folder)).toEqual({});
  });

  it.each([
    ['C-c h', true],
    ['<f5>', true],
    ['M-<f5> h', true],
    ['s-;', true],
    ['C-c C-h', true],
    // Words and letters, of which one may be meant as an answer.
    ['h', false],
    ['yes', false],
    ['C-c', false],
    ['C-x', false],
    // Nothing may end the string in the init file.
    ['C-c "', false],
    ['C-c \\', false],
  ])('%s may be one: %s', (text, is) => {
    expect(isEmacsKey(text)).toBe(is);
  });
});

describe('the trust of Codex', () => {
  it('is part of the one question that a person at a terminal is asked', async () => {
    const { folder, person } = home();
    const asked = await person.terminal(['init', 'codex'], 'Set this up?', 'y');
    const count = hookSettings('codex').length;
    expect(asked.out).toContain(`Lets Codex run ${count} hooks`);
    expect(filesIn(folder)['.codex/config.toml']?.match(/trusted_hash/g)).toHaveLength(count);
  });

  it('is written only when a person at a terminal has agreed', async () => {
    const { folder, person } = home(THEIRS);
    const config = (): string => filesIn(folder)['.codex/config.toml'] ?? '';
    const piped = await person.hive('init', 'codex', '--yes');
    expect(piped.err).toContain('silently skips these hooks');
    expect(config()).not.toContain('trusted_hash');
    await person.terminal(['init', 'codex', '--yes'], 'Trust them?', 'n');
    expect(config()).not.toContain('trusted_hash');
    const agent = person.as({ CLAUDECODE: '1' });
    const refused = await agent.terminal(['init', 'codex', '--yes'], 'Trust them?', 'yes');
    expect(refused.out).toContain('CLAUDECODE is set');
    expect(config()).not.toContain('trusted_hash');

    await person.terminal(['init', 'codex', '--yes'], 'Trust them?', 'y');
    expect(config().match(/trusted_hash/g)).toHaveLength(hookSettings('codex').length);
    const removing = await person.hive('uninit', 'codex');
    expect(removing.out).toContain(`Removes your trust in Hive's ${hookSettings('codex').length} hooks`);
    const again = await person.hive('init', 'codex', '--yes');
    expect(again).toMatchObject({ out: 'Nothing to do.\n', err: '' });
    await uninit(person);
    expect(filesIn(folder)).toEqual(THEIRS);
  });
});

it('hive init emacs --print prints where the package is, as lines for an init file', async () => {
  const { person, folder } = home();
  const elisp = join(dirname(dirname(HIVE)), 'elisp');
  const printed = await person.hive('init', 'emacs', '--print');
  expect(printed.out).toContain(`(add-to-list 'load-path "${elisp}")\n(require 'hive-mode)\n(global-set-key`);
  const { parts } = (await person.hive('init', 'emacs', '--print', '--json')).json();
  expect(parts).toHaveLength(1);
  expect(printed.out).toBe(`# ${parts[0].path}\n${parts[0].fragment}\n\n`);
  expect(filesIn(folder)).toEqual({});
});
