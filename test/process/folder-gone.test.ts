/** The working directory is gone, as after a worktree was removed: every command works or says one sentence. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine } from '../../src/cli/main.ts';
import { childEnvironment, HIVE, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { tempHome } from '../support/temp.ts';

/** Words with which a command does something; the others are called alone, and may ask for some. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  ask: ['Which one?'],
  post: ['Hello'],
  init: ['claude', '--hooks', '--yes'],
  uninit: ['claude', '--yes'],
  store: ['backup', 'backup.db'],
  acp: ['--', 'true'],
  serve: ['--port', 'none'],
  install: ['--help'],
  uninstall: ['--help'],
  token: ['list'],
  team: ['list'],
  phone: ['list'],
  sessions: ['--json'],
};

/** These do their work where they are. */
const WORKING = ['ask', 'post', 'init', 'uninit', 'list', 'status', 'messages', 'hook', 'sidecar', 'mcp'];

const NAMES = (await commandLine('', true)).commands.map((command) => command.name());

test.each(NAMES)('hive %s works or says why not, without a trace', async (name) => {
  const HOME = tempHome();
  const env = childEnvironment(join(HOME, 'store', 'hive.db'), { HOME });
  const script = 'mkdir "$HOME/gone" && cd "$HOME/gone" && rmdir "$HOME/gone" && exec "$@"';
  const args = ['-c', script, 'sh', process.execPath, HIVE, name, ...(WORDS[name] ?? [])];
  const child = spawnChild('sh', args, env);
  child.process.stdout.resume();
  child.process.stdin.end(
    name === 'hook' ? '{"hook_event_name":"SessionStart","session_id":"s","cwd":"/gone"}' : '',
  );
  const { code } = await child.exited;
  const said = `${code} ${child.stderr()}`;
  expect(said).not.toMatch(/\n\s+at |node:internal|uv_cwd|a fault of Hive/);
  if (WORKING.includes(name)) expect(said).toMatch(/^0 /);
});

test('the project is the one of the folder above, and a project is not set up where there is none', async () => {
  const HOME = tempHome();
  const project = join(HOME, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  writeFileSync(join(project, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  const store = join(HOME, 'hive.db');
  const gone = (...args: string[]) => {
    const script = `mkdir -p '${project}/tree' && cd '${project}/tree' && rmdir '${project}/tree' && exec "$@"`;
    const child = spawnChild(
      'sh',
      ['-c', script, 'sh', process.execPath, HIVE, ...args],
      childEnvironment(store, { HOME }),
    );
    child.process.stdin.end();
    return child;
  };
  expect((await gone('ask', 'Where?').exited).code).toBe(0);
  const { prompts } = (await shell(store).hive('list', '--json')).json();
  expect(prompts).toMatchObject([{ question: 'Where?', project: 'project' }]);
  const refused = gone('init', 'claude', '--project', '--yes');
  expect((await refused.exited).code).toBe(2);
  expect(refused.stderr()).toMatch(/^hive: The folder .*\/project\/tree is gone.* Nothing was written\.\n$/);
});
