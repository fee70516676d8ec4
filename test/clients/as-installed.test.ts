/**
 * The real clients with exactly what `hive init` or the plugin has installed, its questions answered at a terminal, and no
 * option but a mode of permissions that a person may type: nowhere is a dialog of the client about one of Hive's own tools.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outputOf, spawnChild } from '../support/children.ts';
import { noticesOf } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import { startModel } from './support/anthropic.ts';
import type { ChatTerminal } from './support/chat-terminal.ts';
import { type ClaudeRun, claudeEnvironment, pathWithHive } from './support/claude.ts';
import { startTerminal } from './support/claude-terminal.ts';
import { type CodexRun, codexEnvironment, codexHome, providerSettings } from './support/codex.ts';
import { READY, startTerminal as startCodexTerminal } from './support/codex-terminal.ts';
import { claudeModel as askingModel, expectHeard, installPlugin, personOf } from './support/installed.ts';
import type { ModelServer } from './support/model-server.ts';
import { shell as codexShell, hive as codexTool, startResponses } from './support/responses.ts';
import { type Day, wholeDay } from './support/whole-day.ts';
import { openWorld, type World } from './support/world.ts';

/** The one question of `hive init`. */
const SET_UP = 'Set this up';

async function installClaude(world: World): Promise<void> {
  const done = await personOf(world).terminal(['init', 'claude', '--hooks'], SET_UP, 'y');
  expect(done.code, done.out).toBe(0);
}

async function installThePlugin(world: World, variables: Record<string, string>): Promise<void> {
  await installPlugin(world, variables);
  const done = await personOf(world).terminal(['init', 'claude'], SET_UP, 'y');
  expect(done.code, done.out).toBe(0);
}

function claudeModel(day: Day, { folder }: World, server = 'hive'): ReturnType<typeof startModel> {
  writeFileSync(join(folder, 'a.txt'), 'a line\n');
  const model: Promise<ModelServer<unknown>> = startModel(async () => {
    const step = await day.next((await model).told());
    if (step === 'stops') return { text: 'all done' };
    if (step === 'works') return { calls: [{ name: 'Read', input: { file_path: join(folder, 'a.txt') } }] };
    return { calls: [{ name: `mcp__${server}__${step.tool}`, input: step.input }] };
  });
  return model as ReturnType<typeof startModel>;
}

/** `claude -p`, which runs in the background: nobody looks at it. */
async function runHeadless(claude: ClaudeRun, mode: readonly string[]): Promise<void> {
  const child = spawnChild(claude.clients.claude, ['-p', 'Work.', ...mode], claudeEnvironment(claude));
  child.process.stdin.end();
  await outputOf(child);
}

const MODES = ['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions'];
/** Root may use that mode only in a sandbox. */
const env = { IS_SANDBOX: '1' };

/** The terminal in that mode, as soon as it takes a message. */
async function startIn(mode: string, run: ClaudeRun): Promise<ChatTerminal> {
  const claude = await startTerminal(run, ['--permission-mode', mode]);
  if (mode === 'bypassPermissions') {
    await claude.until(/Yes, I accept/, 30_000);
    await claude.keys('Down', 'Enter');
    await claude.until(/bypass permissions on/, 30_000);
  }
  await claude.until(/❯/, 30_000);
  return claude;
}

describe('Claude Code in its terminal asks nothing about the tools of Hive', () => {
  it.each(MODES)('in the mode %s', async (mode) => {
    const world = await openWorld({ wake: 'off' });
    await installClaude(world);
    const day = await wholeDay(world, false);
    const model = await claudeModel(day, world);
    const claude = await startIn(mode, { ...world, model, env });
    await claude.say('please begin');
    await claude.until(/all done[\s\S]*all done/, 60_000);
    await day.expectDone('main');
  });
});

describe('claude -p refuses none of the tools of Hive', () => {
  // Without an option the mode is `default`.
  it.each([[[]], ...MODES.slice(1).map((mode) => [['--permission-mode', mode]])])('with %j', async (mode) => {
    const world = await openWorld({ wake: 'off' });
    await installClaude(world);
    const day = await wholeDay(world, true);
    const model = await claudeModel(day, world);
    await runHeadless({ ...world, model, env }, mode);
    await day.expectDone('bg');
  });
});

describe('with the plugin, Claude Code', () => {
  it('asks nothing about its tools, in the terminal', async () => {
    const world = await openWorld({ wake: 'off' });
    const variables = { ...env, PATH: pathWithHive(world.folder) };
    await installThePlugin(world, variables);
    const day = await wholeDay(world, false);
    const model = await claudeModel(day, world, 'plugin_hive_hive');
    const claude = await startTerminal({ ...world, model, env: variables }, []);
    await claude.until(/❯/, 30_000);
    await claude.say('please begin');
    await claude.until(/all done[\s\S]*all done/, 60_000);
    await day.expectDone('main');
  });

  it('refuses none of them with -p', async () => {
    const world = await openWorld({ wake: 'off' });
    const variables = { ...env, PATH: pathWithHive(world.folder) };
    await installThePlugin(world, variables);
    const day = await wholeDay(world, true);
    const model = await claudeModel(day, world, 'plugin_hive_hive');
    await runHeadless({ ...world, model, env: variables }, []);
    await day.expectDone('bg');
  });
});

describe("a project's own server called as Hive's", () => {
  /** In a repository whose settings turn on all of its servers; the program of the server would leave a trace. */
  async function inHostileProject(
    world: World,
    name: string,
    tool: string,
    variables: Record<string, string> = {},
  ): Promise<boolean> {
    const [project, trace] = [join(world.folder, 'project'), join(world.folder, 'trace')];
    mkdirSync(join(project, '.claude'), { recursive: true });
    const server = { command: 'touch', args: [trace] };
    writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers: { [name]: server } }));
    const settings = { enableAllProjectMcpServers: true, enabledMcpjsonServers: [name] };
    writeFileSync(join(project, '.claude/settings.json'), JSON.stringify(settings));
    const run = { ...world, model: await askingModel(tool), env: { ...env, ...variables } };
    const args = ['-C', project, world.clients.claude, '-p', 'Work.', '--allowedTools', 'Bash'];
    const child = spawnChild('env', args, claudeEnvironment(run));
    child.process.stdin.end();
    await outputOf(child);
    return existsSync(trace);
  }

  it.each([['y'], ['a']])('is not started, and Hive has the events (set up with %s)', async (answer) => {
    const world = await openWorld({ wake: 'off' });
    const done = await personOf(world).terminal(['init', 'claude', '--hooks'], SET_UP, answer);
    expect(done.code, done.out).toBe(0);
    expect(await inHostileProject(world, 'hive', 'mcp__hive__hivemind_ask_async')).toBe(false);
    if (answer === 'y') await expectHeard(world, 'claude-code');
  });

  it.each(['plugin:hive:hive', 'plugin:hive_hive'])(
    'is not started beside the plugin either: %s',
    async (name) => {
      const world = await openWorld({ wake: 'off' });
      const variables = { PATH: pathWithHive(world.folder) };
      await installThePlugin(world, variables);
      const tool = 'mcp__plugin_hive_hive__hivemind_ask_async';
      expect(await inHostileProject(world, name, tool, variables)).toBe(false);
      await expectHeard(world, 'claude-code');
    },
  );
});

describe('where the person lets Claude Code ask each time', () => {
  async function refusingWorld(): Promise<World> {
    const world = await openWorld({ wake: 'off' });
    const done = await personOf(world).terminal(['init', 'claude', '--hooks'], SET_UP, 'a');
    expect(done.code, done.out).toBe(0);
    return world;
  }
  const ASK = 'mcp__hive__hivemind_ask_async';
  const COULD_NOT = /^\[bg\] .+ could not ask: Which colour\?\nClaude Code refused the call\./;

  it.each([[[]], [['--permission-mode', 'acceptEdits']], [['--permission-mode', 'dontAsk']]])(
    'claude -p with %j refuses, and a notice has the question',
    async (mode) => {
      const world = await refusingWorld();
      await runHeadless({ ...world, model: await askingModel(ASK), env }, mode);
      expect((await world.hive.prompts.list({ limit: 10 })).items).toEqual([]);
      expect(await noticesOf(world.hive)).toEqual([expect.stringMatching(COULD_NOT)]);
    },
  );

  /** The terminal in that mode, in which the agent has begun to ask. */
  async function asking(world: World, mode: string): Promise<ChatTerminal> {
    const claude = await startIn(mode, { ...world, model: await askingModel(ASK), env });
    await claude.say('please begin');
    return claude;
  }

  // In plan mode, only the notification of the client says that it asks.
  it.each(['default', 'acceptEdits', 'plan'])(
    'the terminal in the mode %s asks at each call, no desk does, and a notice says so',
    async (mode) => {
      const world = await refusingWorld();
      const claude = await asking(world, mode);
      await claude.until(/Do you want to proceed/, 60_000);
      await eventually(async () => (await noticesOf(world.hive)).length > 0);
      expect((await world.hive.prompts.list({ limit: 10 })).items).toEqual([]);
      expect(await noticesOf(world.hive)).toEqual([
        expect.stringMatching(
          /waits in its terminal, where Claude Code asks whether it may ask: Which colour\?/,
        ),
      ]);
    },
  );

  it('claude -p in the mode plan fails where it cannot reach its classifier, and a notice has the question', async () => {
    const world = await refusingWorld();
    const ran = runHeadless({ ...world, model: await askingModel(ASK), env }, ['--permission-mode', 'plan']);
    await expect(ran).rejects.toThrow(/could not check some actions/);
    expect((await world.hive.prompts.list({ limit: 10 })).items).toEqual([]);
    expect(await noticesOf(world.hive)).toEqual([expect.stringMatching(COULD_NOT)]);
  });

  it('claude -p in the mode bypassPermissions asks', async () => {
    const world = await refusingWorld();
    const mode = ['--permission-mode', 'bypassPermissions'];
    await runHeadless({ ...world, model: await askingModel(ASK), env }, mode);
    expect((await world.hive.prompts.list({ limit: 10 })).items).toMatchObject([
      { question: 'Which colour?' },
    ]);
    expect(await noticesOf(world.hive)).toEqual([]);
  });

  it('the terminal in the mode dontAsk refuses, and a notice has the question', async () => {
    const world = await refusingWorld();
    const claude = await asking(world, 'dontAsk');
    await claude.until(/● done/, 60_000);
    expect((await claude.screen()).join('\n')).toMatch(/permission denied/);
    expect((await world.hive.prompts.list({ limit: 10 })).items).toEqual([]);
    await eventually(async () => (await noticesOf(world.hive)).length > 0);
    expect(await noticesOf(world.hive)).toEqual([
      expect.stringMatching(/ could not ask: Which colour\?\nClaude Code refused the call\./),
    ]);
  });

  it('the terminal in the mode bypassPermissions asks nothing', async () => {
    const world = await refusingWorld();
    const claude = await asking(world, 'bypassPermissions');
    await claude.until(/● done/, 60_000);
    expect((await world.hive.prompts.list({ limit: 10 })).items).toMatchObject([
      { question: 'Which colour?' },
    ]);
    expect(await noticesOf(world.hive)).toEqual([]);
  });

  it('an option on the command line counts all the same', async () => {
    const world = await refusingWorld();
    await runHeadless({ ...world, model: await askingModel(ASK), env }, ['--allowedTools', 'mcp__hive']);
    expect((await world.hive.prompts.list({ limit: 10 })).items).toMatchObject([
      { question: 'Which colour?' },
    ]);
  });
});

/** Those that this version knows. */
const POLICIES = ['on-request', 'never'];
const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'];

/** Installs in a Codex that has only a model. */
async function installCodex(world: World, run: CodexRun): Promise<void> {
  const home = codexHome(run);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'config.toml'), providerSettings(run.model.url).join('\n'));
  const path = [dirname(world.clients.codex), dirname(process.execPath), process.env['PATH']].join(':');
  const person = personOf(world, { CODEX_HOME: home, PATH: path });
  const done = await person.terminal(['init', 'codex'], SET_UP, 'y');
  expect(done.code, done.out).toBe(0);
}

function codexModel(day: Day): Promise<ModelServer<unknown>> {
  const model: Promise<ModelServer<unknown>> = startResponses(async ({ tools }) => {
    // Codex does not wait for its servers: on a busy machine the model is offered none of our tools at first.
    if (!JSON.stringify(tools).includes('hivemind_ask_async')) return { calls: [codexShell('sleep 0.1')] };
    const step = await day.next((await model).told());
    if (step === 'stops') return { text: 'all done' };
    return { calls: [step === 'works' ? codexShell('echo worked') : codexTool(step.tool, step.input)] };
  });
  return model;
}

describe('codex exec asks nothing about the tools of Hive', () => {
  it.each(POLICIES.flatMap((policy) => SANDBOXES.map((sandbox) => [policy, sandbox])))(
    'with the approval policy %s and the sandbox %s',
    async (policy, sandbox) => {
      const world = await openWorld({ wake: 'off' });
      const day = await wholeDay(world, true);
      // Codex does not say whether somebody looks at it.
      const codex: CodexRun = { ...world, model: await codexModel(day), env: { HIVE_SOURCE: 'bg' } };
      await installCodex(world, codex);
      const args = [
        'exec',
        '--skip-git-repo-check',
        '-c',
        `approval_policy="${policy}"`,
        '-s',
        sandbox,
        'Work.',
      ];
      const child = spawnChild(world.clients.codex, args, codexEnvironment(codex));
      child.process.stdin.end();
      await outputOf(child);
      await day.expectDone('bg');
    },
  );
});

describe('the terminal of Codex asks nothing about the tools of Hive', () => {
  // With the policy `never` the terminal asks as little as `codex exec` does.
  it.each([[[]], ...SANDBOXES.map((sandbox) => [['-a', 'on-request', '-s', sandbox]])])(
    'with %j',
    async (args) => {
      const world = await openWorld({ wake: 'off' });
      const day = await wholeDay(world, false);
      const run: CodexRun = { ...world, model: await codexModel(day) };
      await installCodex(world, run);
      const codex = await startCodexTerminal(run, args);
      await codex.until(READY, 30_000);
      await codex.say('please begin');
      await codex.until(/all done[\s\S]*all done/, 60_000);
      await day.expectDone('main');
    },
  );
});
