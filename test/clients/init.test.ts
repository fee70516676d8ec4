/** The real programs read what `hive init` and the plugin install: the hooks fire, the server is there. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hookTable } from '../../src/domain/installation.ts';
import { outputOf, ROOT, spawnChild } from '../support/children.ts';
import { type Shell, shell } from '../support/cli.ts';
import { eventually, within } from '../support/wait.ts';
import { bash, startModel } from './support/anthropic.ts';
import type { ChatTerminal } from './support/chat-terminal.ts';
import { type ClaudeRun, claudeEnvironment, pathWithHive } from './support/claude.ts';
import { startTerminal } from './support/claude-terminal.ts';
import { type CodexRun, codexEnvironment, codexHome } from './support/codex.ts';
import { shell as codexShell, hive as codexTool, startResponses } from './support/responses.ts';
import { openWorld, type World } from './support/world.ts';

const run = promisify(execFile);

/** A model that asks the human by `tool`, works, and stops. */
async function claudeModel(tool: string) {
  return startModel((_request, step) => {
    if (step === 1) return { calls: [{ name: tool, input: { question: 'Which colour?' } }] };
    return step === 2 ? { calls: [bash('echo worked')] } : { text: 'done' };
  });
}

async function claude({ folder, ...rest }: ClaudeRun, ...more: string[]): Promise<void> {
  const args = [
    '-p',
    'Work.',
    '--output-format',
    'json',
    ...more,
    '--allowedTools',
    'Bash mcp__hive mcp__plugin_hive_hive',
  ];
  const child = spawnChild(rest.clients.claude, args, claudeEnvironment({ folder, ...rest }));
  child.process.stdin.end();
  await outputOf(child);
}

/** The question came over MCP; only the hooks report that the turn has ended. */
async function expectHeard({ hive }: World, client: string): Promise<void> {
  const [asked] = (await hive.prompts.list({ limit: 10 })).items;
  expect(asked).toMatchObject({ question: 'Which colour?' });
  const session_id = asked?.session_id ?? '';
  expect(await hive.sessions.find(session_id)).toMatchObject({ client });
  const last = () => hive.store.read((tx) => tx.turns.last(session_id));
  await eventually(async () => (await last())?.state === 'completed', 5_000, 'the end of its turn');
}

function personOf({ store, folder }: World, env: Record<string, string> = {}): Shell {
  return shell(store, { HOME: folder, ...env });
}

/** It proposes to go on without; drawn again while the client starts, it is back at that. */
async function approveServer(claude: ChatTerminal): Promise<void> {
  const wanted = async () => /❯ Use this MCP server/.test((await claude.screen()).join('\n'));
  await eventually(
    async () => {
      if (!(await wanted())) await claude.keys('Up');
      return within(wanted, 1_000);
    },
    20_000,
    'the choice',
  );
  await claude.answer(/New MCP server/, 'Enter');
}

describe('Claude Code', () => {
  it('runs with what hive init wrote into its home, and hive uninit takes that back', async () => {
    const world = await openWorld();
    const person = personOf(world);
    expect((await person.hive('init', 'claude', '--user', '--hooks', '--yes')).code).toBe(0);
    const model = await claudeModel('mcp__hive__hivemind_ask_async');
    await claude({ ...world, model });
    expect(model.requests[0]?.tools.map(({ name }) => name)).toContain('mcp__hive__hivemind_ask_async');
    await expectHeard(world, 'claude-code');
    // The client has rewritten its own file in the meantime.
    const { checks } = (await person.hive('doctor', '--json')).json();
    expect(
      checks.filter(({ name, ok }: { name: string; ok: boolean }) => /^Claude/.test(name) && ok),
      JSON.stringify(checks),
    ).toHaveLength(2);
    expect((await person.hive('uninit', 'claude', '--yes')).code).toBe(0);
    const left = JSON.parse(readFileSync(join(world.folder, '.claude.json'), 'utf8'));
    expect(left).not.toHaveProperty('mcpServers');
    expect(readdirSync(join(world.folder, '.claude'))).not.toContain('settings.json');
  });

  it('starts what hive init wrote for a project, once its person has approved the server', async () => {
    const world = await openWorld();
    const { folder } = world;
    const model = await claudeModel('mcp__hive__hivemind_ask_async');
    const runs: ClaudeRun = { ...world, model, env: { PATH: pathWithHive(folder) } };
    await personOf(world).hive('init', 'claude', '--project', '--hooks', '--yes');
    const claude = await startTerminal(runs, ['--allowedTools', 'Bash mcp__hive']);
    await claude.until(/New MCP server found in this project: hive/, 30_000);
    await approveServer(claude);
    await claude.until(/❯[\s\S]*for shortcuts/, 30_000);
    await claude.say('please begin');
    await claude.until(/done/);
    await expectHeard(world, 'claude-code');
    const approved = JSON.parse(readFileSync(join(folder, '.claude/settings.local.json'), 'utf8'));
    expect(approved).toMatchObject({ enabledMcpjsonServers: ['hive'] });
  });

  it('takes the plugin: valid, with its hooks, its server and its commands', async () => {
    const world = await openWorld();
    const model = await claudeModel('mcp__plugin_hive_hive__hivemind_ask_async');
    const runs: ClaudeRun = { ...world, model, env: { PATH: pathWithHive(world.folder) } };
    const env = claudeEnvironment(runs);
    const plugin = join(ROOT, 'plugin');
    const valid = await run(world.clients.claude, ['plugin', 'validate', '--strict', plugin], { env });
    expect(valid.stdout).toContain('Validation passed');
    for (const command of ['ask-human', 'check-mentions', 'post', 'session'])
      expect(valid.stdout).toContain(`hive:${command}`);

    await claude(runs, '--plugin-dir', plugin);
    await expectHeard(world, 'claude-code');
  });

  it('installs the plugin from the folder that the package brings', async () => {
    const world = await openWorld();
    const env = claudeEnvironment({ ...world, model: { url: 'http://127.0.0.1:9' } });
    const plugins = (...args: string[]) => run(world.clients.claude, ['plugin', ...args], { env });
    await plugins('marketplace', 'add', join(ROOT, 'plugin'));
    await plugins('install', 'hive@hive');
    expect((await plugins('list')).stdout).toMatch(/hive@hive[\s\S]*enabled/);
    const { checks } = (await personOf(world).hive('doctor', '--json')).json();
    expect(checks).toContainEqual({ name: 'Claude Code', ok: true, text: 'by the plugin', advice: null });
  });
});

describe('Codex', () => {
  it('runs the hooks that a person has trusted, sees the server, and is left as it was', async () => {
    const world = await openWorld();
    const model = await startResponses((_request, step) => {
      if (step === 1) return { calls: [codexTool('hivemind_ask_async', { question: 'Which colour?' })] };
      return step === 2 ? { calls: [codexShell('echo worked')] } : { text: 'done' };
    });
    const runs: CodexRun = { ...world, model };
    const home = codexHome(runs);
    const config = join(home, 'config.toml');
    const theirs = `# Mine.\nmodel = "gpt-fake"\nmodel_provider = "fake"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n[model_providers.fake]\nname = "fake"\nbase_url = "${model.url}"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\nsupports_websockets = false\n`;
    mkdirSync(home, { recursive: true });
    writeFileSync(config, theirs);

    const path = [dirname(world.clients.codex), dirname(process.execPath), process.env['PATH']].join(':');
    const person = personOf(world, { CODEX_HOME: home, PATH: path });
    const trustOf = async (): Promise<{ ok: boolean; text: string }> =>
      (await person.hive('doctor', '--json'))
        .json()
        .checks.find(({ name }: { name: string }) => name === 'Codex trust');
    await person.hive('init', 'codex', '--yes');
    const untrusted = await trustOf();
    expect(untrusted).toMatchObject({ ok: false });
    for (const event of Object.keys(hookTable('codex', { program: ['hive'] })))
      expect(untrusted.text).toContain(event.charAt(0).toLowerCase() + event.slice(1));
    await person.terminal(['init', 'codex', '--yes'], 'Trust them?', 'yes');
    expect(await trustOf()).toMatchObject({ ok: true, text: 'Codex runs all of them' });

    const args = ['exec', '--json', '--skip-git-repo-check', 'Work.'];
    const child = spawnChild(world.clients.codex, args, codexEnvironment(runs));
    child.process.stdin.end();
    await outputOf(child);
    await expectHeard(world, 'codex');

    await person.hive('uninit', 'codex', '--yes');
    expect(readFileSync(config, 'utf8')).toBe(theirs);
    expect(readdirSync(home)).not.toContain('hooks.json');
  });
});
