/** The findings of `hive doctor` in the agents' configuration, on real files and by running what they name. */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hookTable } from '../../src/domain/installation.ts';
import { HIVE } from '../support/children.ts';
import { type Shell, shell } from '../support/cli.ts';
import { tempHome } from '../support/temp.ts';

interface Found {
  state: string;
  text: string;
  advice: string | null;
}

interface Home {
  folder: string;
  person: Shell;
  /** The doctor's findings about the agents, by name. */
  doctor(): Promise<Record<string, Found>>;
}

/** `claude`: the version that the client on PATH reports. */
function home({ claude }: { claude?: string } = {}): Home {
  const folder = tempHome();
  const bin = join(folder, 'programs');
  if (claude !== undefined) {
    mkdirSync(bin);
    writeFileSync(join(bin, 'claude'), `#!/bin/sh\necho '${claude} (Claude Code)'\n`, { mode: 0o755 });
  }
  const path = claude === undefined ? {} : { PATH: [bin, process.env['PATH']].join(delimiter) };
  const env = { HOME: folder, TMPDIR: folder, ...path };
  const person = shell(join(folder, 'state/hive.db'), env);
  return {
    folder,
    person,
    async doctor() {
      const { checks } = (await person.hive('doctor', '--json')).json() as {
        checks: (Found & { name: string })[];
      };
      const ours = checks.filter(({ name }) => /^(?:Claude Code|Codex)/.test(name));
      return Object.fromEntries(ours.map(({ name, state, text, advice }) => [name, { state, text, advice }]));
    },
  };
}

/** Changes the content of a file in the home. */
function change({ folder }: Home, name: string, edit: (text: string) => string): void {
  const path = join(folder, name);
  writeFileSync(path, edit(readFileSync(path, 'utf8')));
}

describe('hive doctor', () => {
  it('gives no advice on what is as it should be', async () => {
    const { folder, person } = home();
    const permissions = async (): Promise<Found | undefined> =>
      (await person.hive('doctor', '--json'))
        .json()
        .checks.find(({ name }: { name: string }) => name === 'Permissions');
    expect(await permissions()).toMatchObject({ state: 'ok', advice: null });
    chmodSync(join(folder, 'state/hive.db'), 0o644);
    expect(await permissions()).toMatchObject({
      state: 'broken',
      advice: expect.stringContaining('run: chmod 700'),
    });
  });

  it('says how to set up agents that are not set up', async () => {
    const { 'Claude Code': claude, Codex: codex } = await home().doctor();
    expect(claude).toEqual({
      state: 'not_set_up',
      text: 'it cannot ask you through Hive yet',
      advice: 'run: hive init claude --hooks',
    });
    expect(codex).toEqual({
      state: 'not_set_up',
      text: 'it cannot ask you through Hive yet',
      advice: 'run: hive init codex',
    });
  });

  it.each([
    ['2.1.332', 'ok', /; version 2\.1\.332$/, null],
    ['9.0.0', 'ok', /; version 9\.0\.0; Hive was tried only with 2\.1\.330 and 2\.1\.332$/, null],
    [
      '2.1.162',
      'broken',
      /^Claude Code 2\.1\.162 cannot be held when it stops: that needs 2\.1\.163$/,
      'update Claude Code: claude update',
    ],
  ])('says of Claude Code %s whether Hive was tried with it', async (claude, state, text, advice) => {
    const at = home({ claude });
    await at.person.hive('init', 'claude', '--hooks', '--yes');
    const { 'Claude Code hooks': hooks } = await at.doctor();
    expect(hooks).toEqual({ state, text: expect.stringMatching(text), advice });
  });

  it('finds nothing wrong with what hive init has written, after running it', async () => {
    const at = home();
    await at.person.hive('init', 'claude', '--hooks', '--yes');
    await at.person.terminal(['init', 'codex', '--yes'], 'Trust them?', 'y');
    const found = await at.doctor();
    expect(Object.keys(found).sort()).toEqual([
      'Claude Code',
      'Claude Code hooks',
      'Claude Code tools',
      'Codex',
      'Codex hooks',
      'Codex trust',
    ]);
    for (const check of Object.values(found)) expect(check).toMatchObject({ state: 'ok', advice: null });
  });

  it('says which role agents have, and starts their server with it', async () => {
    const at = home();
    for (const client of ['claude', 'codex'])
      await at.person.hive('init', client, '--role', 'coordinator', '--yes');
    const { 'Claude Code': claude, Codex: codex } = await at.doctor();
    for (const check of [claude, codex])
      expect(check).toEqual({
        state: 'ok',
        text: expect.stringMatching(/^server in .*, with the role coordinator$/),
        advice: null,
      });
    change(at, '.claude.json', (text) => text.replace('coordinator', 'captain'));
    expect((await at.doctor())['Claude Code']).toMatchObject({ state: 'broken' });
  });

  it("says when Claude Code asks before each call of Hive's tools, and what mends that", async () => {
    const at = home();
    await at.person.hive('init', 'claude', '--yes');
    const tools = async () => (await at.doctor())['Claude Code tools'];
    change(at, '.claude/settings.json', (text) => text.replace('hivemind_post', 'hivemind_pots'));
    expect(await tools()).toEqual({
      state: 'not_set_up',
      text: "Claude Code asks you before each call of Hive's tools, and refuses it where it cannot ask",
      advice: 'run: hive init claude',
    });
    await at.person.hive('init', 'claude', '--yes');
    change(at, '.claude/settings.json', (text) => text.replace('"allow"', '"ask": ["mcp__hive"], "allow"'));
    expect(await tools()).toEqual({
      state: 'ok',
      text: `a rule in ${join(at.folder, '.claude/settings.json')} makes Claude Code ask or refuse`,
      advice: null,
    });
  });

  it("says when a project can put a server in the place of the person's own", async () => {
    const at = home();
    await at.person.hive('init', 'claude', '--hooks', '--yes');
    change(at, '.claude/settings.json', (text) => text.replace('"disabledMcpjsonServers"', '"others"'));
    expect((await at.doctor())['Claude Code projects']).toEqual({
      state: 'not_set_up',
      text: 'a server called "hive" in the .mcp.json of a project takes the place of yours',
      advice: 'run: hive init claude',
    });
    await at.person.hive('init', 'claude', '--yes');
    expect(await at.doctor()).not.toHaveProperty('Claude Code projects');
  });

  it('says when the configuration of a project has a server that Codex may use instead', async () => {
    const { folder } = home();
    const person = shell(join(folder, 'state/hive.db'), { HOME: folder, CODEX_HOME: join(folder, 'own') });
    mkdirSync(join(folder, '.codex'));
    const config = join(folder, '.codex/config.toml');
    writeFileSync(config, '[mcp_servers.hive]\ncommand = "evil"\n');
    const found = async (where = folder): Promise<Found | undefined> =>
      (await person.as({ HOME: where }).hive('doctor', '--json'))
        .json()
        .checks.find(({ name }: { name: string }) => name === 'Codex projects');
    expect(await found()).toMatchObject({ state: 'not_set_up', text: expect.stringContaining(config) });
    const inside = join(folder, 'packages/one');
    mkdirSync(inside, { recursive: true });
    expect(await found(inside)).toBeUndefined();
    mkdirSync(join(folder, '.git'));
    expect(await found(inside)).toMatchObject({ text: expect.stringContaining(config) });
    writeFileSync(config, '[mcp_servers.other]\ncommand = "other"\n');
    expect(await found()).toBeUndefined();
  });

  it('says what a client has turned off', async () => {
    const at = home();
    await at.person.hive('init', 'claude', '--hooks', '--yes');
    await at.person.hive('init', 'codex', '--yes');
    change(at, '.claude/settings.json', (text) => text.replace('{', '{ "disableAllHooks": true,'));
    const off = JSON.stringify({ [at.folder]: { disabledMcpServers: ['hive'] } });
    change(at, '.claude.json', (text) => text.replace('{', `{ "projects": ${off},`));
    change(at, '.codex/config.toml', (text) => text.replace('command =', 'enabled = false\ncommand ='));
    const found = await at.doctor();
    expect(found).toMatchObject({
      'Claude Code': { state: 'not_set_up', text: expect.stringContaining(join(at.folder, '.claude.json')) },
      'Claude Code hooks': {
        state: 'not_set_up',
        text: `they do not run: ${join(at.folder, '.claude/settings.json')} has "disableAllHooks"`,
      },
      Codex: { state: 'not_set_up', text: expect.stringContaining('"enabled = false"') },
    });
  });

  it('names the file that it cannot read, and the line', async () => {
    const at = home();
    for (const client of ['claude', 'codex']) await at.person.hive('init', client, '--yes');
    const settings = join(at.folder, '.claude/settings.json');
    writeFileSync(settings, '{\n  "model": opus\n}\n');
    writeFileSync(join(at.folder, '.codex/config.toml'), 'model = "a"\nmodel =\n');
    expect(await at.doctor()).toMatchObject({
      'Claude Code': { state: 'broken', text: expect.stringMatching(`^${settings}: .* in line 2`) },
      Codex: { state: 'broken', text: expect.stringMatching(/\.codex\/config\.toml: .* in line 2: /) },
    });
    // An empty file is as good as none.
    writeFileSync(settings, '');
    expect((await at.doctor())['Claude Code']).toMatchObject({ state: 'ok' });
  });

  it('says what is missing where the program of a server or a hook is gone', async () => {
    const at = home();
    await at.person.hive('init', 'claude', '--hooks', '--yes');
    for (const file of ['.claude.json', '.claude/settings.json'])
      change(at, file, (text) => text.replaceAll('/bin/hive', '/gone/hive'));
    const found = await at.doctor();
    for (const name of ['Claude Code', 'Claude Code hooks'])
      expect(found[name]).toMatchObject({
        state: 'broken',
        text: expect.stringMatching(/Cannot find module .*\/gone\/hive/),
      });
  });

  it('finds hooks that are of another version, missing, duplicated, or name a program that is gone', async () => {
    const at = home();
    await at.person.hive('init', 'claude', '--hooks', '--yes');
    change(at, '.claude/settings.json', (text) => text.replaceAll('--protocol 1', '--protocol 0'));
    expect((await at.doctor())['Claude Code hooks']).toMatchObject({
      state: 'broken',
      text: 'written by another version of Hive',
      advice: 'run again: hive init claude --hooks',
    });
    await at.person.hive('init', 'claude', '--hooks', '--yes');
    change(at, '.claude/settings.json', (text) => text.replace('"PreToolUse"', '"PreToolUsed"'));
    expect((await at.doctor())['Claude Code hooks']).toMatchObject({
      state: 'broken',
      text: 'not once each: PreToolUse',
    });

    change(at, '.claude/settings.json', (text) =>
      text.replace('"PreToolUsed"', '"PreToolUse"').replaceAll(process.execPath, '/gone/node'),
    );
    change(at, '.claude.json', (text) => text.replaceAll(process.execPath, '/gone/node'));
    const found = await at.doctor();
    expect(found['Claude Code hooks']).toMatchObject({
      state: 'broken',
      text: 'does not run: there is no /gone/node',
    });
    expect(found['Claude Code']).toMatchObject({ state: 'broken' });

    await at.person.hive('init', 'claude', '--hooks', '--yes');
    mkdirSync(join(at.folder, '.claude'), { recursive: true });
    change(at, '.claude/settings.json', (text) =>
      text.replace('{', '{ "enabledPlugins": {"hive@hive": true},'),
    );
    expect((await at.doctor())['Claude Code']).toMatchObject({
      state: 'broken',
      text: 'hooks in the plugin and the settings: each event would come twice',
    });
  });

  it('finds that Codex does not trust the hooks', async () => {
    const at = home();
    await at.person.hive('init', 'codex', '--yes');
    expect((await at.doctor())['Codex trust']).toMatchObject({
      state: 'not_set_up',
      text: "Codex skips Hive's 10 hooks, because they are not trusted or turned off",
    });
  });

  it("says that a project's server waits until its person has approved it, or that they have rejected it", async () => {
    const folder = tempHome();
    const [bin, settings] = [join(tempHome(), 'programs'), join(folder, '.claude/settings.local.json')];
    for (const each of [bin, join(folder, '.claude')]) mkdirSync(each);
    symlinkSync(HIVE, join(bin, 'hive'));
    const PATH = [bin, process.env['PATH']].join(delimiter);
    const own = { HOME: folder, CLAUDE_CONFIG_DIR: join(folder, 'own'), PATH };
    const person = shell(join(folder, 'state/hive.db'), own);
    const server = { mcpServers: { hive: { command: 'hive', args: ['mcp'] } } };
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify(server));
    const check = async (): Promise<Found | undefined> =>
      (await person.hive('doctor', '--json'))
        .json()
        .checks.find(({ name }: { name: string }) => name === 'Claude Code');
    expect(await check()).toMatchObject({
      state: 'not_set_up',
      text: `server in ${folder}, which you have not approved yet`,
      advice: `start claude in ${folder} and choose "Use this MCP server"`,
    });
    writeFileSync(settings, JSON.stringify({ enabledMcpjsonServers: ['hive'] }));
    expect(await check()).toMatchObject({ state: 'ok' });
    writeFileSync(settings, JSON.stringify({ disabledMcpjsonServers: ['hive'] }));
    expect(await check()).toMatchObject({
      state: 'not_set_up',
      text: expect.stringContaining('"disabledMcpjsonServers"'),
    });
  });

  it("runs no program that only a project's configuration names", async () => {
    const at = home();
    const program = join(at.folder, 'evil/hive');
    mkdirSync(join(at.folder, 'evil'));
    writeFileSync(program, `#!/bin/sh\ntouch ${at.folder}/ran\n`);
    chmodSync(program, 0o755);
    const project = shell(join(at.folder, 'state/hive.db'), {
      HOME: at.folder,
      CLAUDE_CONFIG_DIR: join(at.folder, 'own'),
    });
    mkdirSync(join(at.folder, '.claude'));
    writeFileSync(
      join(at.folder, '.claude/settings.json'),
      JSON.stringify({ hooks: hookTable('claude-code', { program: [program] }) }),
    );
    writeFileSync(
      join(at.folder, '.mcp.json'),
      JSON.stringify({ mcpServers: { hive: { command: program, args: ['mcp'] } } }),
    );
    const { out } = await project.hive('doctor');
    expect(out.match(/\(not tried: the project starts /g)).toHaveLength(2);
    expect(existsSync(join(at.folder, 'ran'))).toBe(false);
  });
});
