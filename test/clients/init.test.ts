/** The real programs read what `hive init codex` and the plugin install: the hooks fire, the server is there. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hookSettings } from '../../src/domain/installation.ts';
import { outputOf, ROOT, spawnChild } from '../support/children.ts';
import { eventually } from '../support/wait.ts';
import { startModel } from './support/anthropic.ts';
import { type ClaudeRun, claudeEnvironment, pathWithHive } from './support/claude.ts';
import { startTerminal } from './support/claude-terminal.ts';
import { type CodexRun, codexEnvironment, codexHome } from './support/codex.ts';
import { claudeModel, expectHeard, installPlugin, personOf, runInstalled } from './support/installed.ts';
import { shell as codexShell, hive as codexTool, startResponses } from './support/responses.ts';
import { isMain, mention, openWorld } from './support/world.ts';

const run = promisify(execFile);

describe('the plugin for Claude Code', () => {
  it('is valid, with its hooks, its server and its commands', async () => {
    const world = await openWorld();
    const model = await claudeModel('mcp__plugin_hive_hive__hivemind_ask_async');
    const runs: ClaudeRun = { ...world, model, env: { PATH: pathWithHive(world.folder) } };
    const env = claudeEnvironment(runs);
    const plugin = join(ROOT, 'plugin');
    const valid = await run(world.clients.claude, ['plugin', 'validate', '--strict', plugin], { env });
    expect(valid.stdout).toContain('Validation passed');
    for (const command of ['ask-human', 'check-mentions', 'post', 'session'])
      expect(valid.stdout).toContain(`hive:${command}`);

    await installPlugin(world, runs.env);
    await personOf(world).hive('init', 'claude', '--yes');
    await runInstalled(runs);
    await expectHeard(world, 'claude-code');
  });

  it('is installed from the folder that the package brings', async () => {
    const world = await openWorld();
    const env = claudeEnvironment({ ...world, model: { url: 'http://127.0.0.1:9' } });
    await installPlugin(world);
    expect((await run(world.clients.claude, ['plugin', 'list'], { env })).stdout).toMatch(
      /hive@hive[\s\S]*enabled/,
    );
    const { checks } = (await personOf(world).hive('doctor', '--json')).json();
    expect(checks).toContainEqual({ name: 'Claude Code', state: 'ok', text: 'by the plugin', advice: null });
  });

  it('with a strict gate in a terminal, refuses a message, lets /hive:check-mentions and /hive:post through, and takes the message afterwards', async () => {
    const world = await openWorld({ gate: 'strict', wake: 'off' });
    const { hive, folder } = world;
    const own = (tool: string, input: object = {}) => ({ name: `mcp__plugin_hive_hive__${tool}`, input });
    const model = await startModel((_request, step) => {
      const told = model.told();
      if (told.includes('Post this to the shared buffer'))
        return { calls: [own('hivemind_post', { body: 'On it' })] };
      if (told.includes('Get the messages that mention you'))
        return { calls: [own('hivemind_get_unprocessed_mentions')] };
      if (told.includes('Please review auth') && told.includes('tool_result'))
        return { calls: [own('hivemind_process_mentions', { all: true })] };
      return { text: `reply ${step}` };
    });
    const env = { PATH: pathWithHive(folder) };
    await installPlugin(world, env);
    await personOf(world).hive('init', 'claude', '--yes');
    const claude = await startTerminal({ ...world, model, env }, []);
    await claude.until(/❯/, 30_000);
    /** Words that are typed before a turn has ended belong to that turn. */
    const idle = () => eventually(async () => (await hive.turns.running()).length === 0, 20_000);
    await claude.say('first words');
    await claude.until(/reply 1/);
    await idle();
    await mention(hive, isMain);
    await claude.say('second words');
    await claude.until(/You have 1 unprocessed mention/);
    expect(model.requests).toHaveLength(1);

    // The refused words are back in the input.
    await claude.until(/❯\ssecond words/);
    await claude.keys('C-u');
    await claude.say('/hive:post On it');
    await claude.until(/reply 3/);
    await idle();
    expect((await hive.messages.read({ limit: 5 })).items.map(({ body }) => body)).toContain('On it');
    await claude.say('third words');
    await claude.until(/Original prompt: third words/);
    expect(model.requests).toHaveLength(3);
    await claude.until(/❯\sthird words/);
    await claude.keys('C-u');

    await claude.say('/hive:check-mentions');
    await claude.until(/reply 6/);
    await idle();
    const { items } = await hive.store.read((tx) => tx.mentions.list({ limit: 10 }));
    expect(items).toMatchObject([{ status: 'processed' }]);
    await claude.say('fourth words');
    await claude.until(/reply 7/);
    expect(model.told()).toContain('fourth words');
    expect(model.everything()).not.toContain('second words');
  });
});

describe('Codex', () => {
  it('runs the hooks that a person has trusted, sees the server, and its files are restored', async () => {
    const world = await openWorld();
    // Codex does not wait for its servers: on a busy machine the model is offered none of our tools at first.
    const ask = codexTool('hivemind_ask_async', { question: 'Which colour?' });
    const calls = [ask, codexShell('echo worked')];
    const model = await startResponses(({ tools }) => {
      const isOffered = JSON.stringify(tools).includes('hivemind_ask_async');
      const call = isOffered ? calls.shift() : codexShell('sleep 0.1');
      return call === undefined ? { text: 'done' } : { calls: [call] };
    });
    const runs: CodexRun = { ...world, model };
    const home = codexHome(runs);
    const config = join(home, 'config.toml');
    const theirs = `# Mine.\nmodel = "gpt-fake"\nmodel_provider = "fake"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n[model_providers.fake]\nname = "fake"\nbase_url = "${model.url}"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\nsupports_websockets = false\n`;
    mkdirSync(home, { recursive: true });
    writeFileSync(config, theirs);

    const path = [dirname(world.clients.codex), dirname(process.execPath), process.env['PATH']].join(':');
    const person = personOf(world, { CODEX_HOME: home, PATH: path });
    const trustOf = async (): Promise<{ state: string; text: string }> =>
      (await person.hive('doctor', '--json'))
        .json()
        .checks.find(({ name }: { name: string }) => name === 'Codex trust');
    await person.hive('init', 'codex', '--yes');
    const all = hookSettings('codex').length;
    expect(await trustOf()).toMatchObject({
      state: 'not_set_up',
      text: expect.stringContaining(`Codex skips Hive's ${all} hooks`),
    });
    await person.terminal(['init', 'codex', '--yes'], 'Trust them?', 'y');
    expect(await trustOf()).toMatchObject({ state: 'ok', text: 'Codex runs all of them' });

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
