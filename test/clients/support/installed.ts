/** A client that has only what `hive init` or the plugin has installed, and proof that it uses it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { outputOf, ROOT, spawnChild } from '../../support/children.ts';
import { type Shell, shell } from '../../support/cli.ts';
import { eventually } from '../../support/wait.ts';
import { bash, type ModelRequest, startModel } from './anthropic.ts';
import { type ClaudeRun, claudeEnvironment } from './claude.ts';
import type { ModelServer } from './model-server.ts';
import type { World } from './world.ts';

const run = promisify(execFile);

/** A model that asks the human by `tool`, works, and stops. */
export async function claudeModel(tool: string): Promise<ModelServer<ModelRequest>> {
  return startModel((_request, step) => {
    if (step === 1) return { calls: [{ name: tool, input: { question: 'Which colour?' } }] };
    return step === 2 ? { calls: [bash('echo worked')] } : { text: 'done' };
  });
}

/** Runs the client with what is in its home and its project. */
export async function runInstalled({ folder, ...rest }: ClaudeRun, ...more: string[]): Promise<void> {
  const args = ['-p', 'Work.', '--output-format', 'json', ...more, ...['--allowedTools', 'Bash']];
  const child = spawnChild(rest.clients.claude, args, claudeEnvironment({ folder, ...rest }));
  child.process.stdin.end();
  await outputOf(child);
}

/** The question came over MCP; only the hooks report that the turn has ended. */
export async function expectHeard({ hive }: World, client: string): Promise<void> {
  const [asked] = (await hive.prompts.list({ limit: 10 })).items;
  expect(asked).toMatchObject({ question: 'Which colour?' });
  const session_id = asked?.session_id ?? '';
  expect(await hive.sessions.find(session_id)).toMatchObject({ client });
  const last = () => hive.store.read((tx) => tx.turns.last(session_id));
  await eventually(async () => (await last())?.state === 'completed', 5_000, 'the end of its turn');
}

/** Installs the plugin from the folder that the package brings. Its person still has to say whether agents may use its tools. */
export async function installPlugin(world: World, env: Record<string, string> = {}): Promise<void> {
  const variables = claudeEnvironment({ ...world, model: { url: 'http://127.0.0.1:9' }, env });
  const plugins = (...args: string[]) =>
    run(world.clients.claude, ['plugin', ...args], { env: variables, cwd: world.folder });
  await plugins('marketplace', 'add', join(ROOT, 'plugin'));
  await plugins('install', 'hive@hive');
}

/** The shell of the person whose home that is. */
export function personOf({ store, folder }: World, env: Record<string, string> = {}): Shell {
  return shell(store, { HOME: folder, ...env });
}
