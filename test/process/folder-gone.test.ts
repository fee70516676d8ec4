/** The working directory is gone, as after a worktree was removed: every command works or says one sentence. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Child, childEnvironment, type Environment, HIVE, spawnChild } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { tempHome } from '../support/temp.ts';

/** bin/hive leaves the folder before it starts a program: so one command of each, and those that ask where they are. */
const COMMANDS: readonly (readonly string[])[] = [
  ['ask', 'Which one?'],
  ['init', 'claude', '--hooks', '--yes'],
  ['status'],
  ['hook'],
  ['sidecar'],
  ['mcp'],
];
/** These may say why not. */
const OTHERS: readonly (readonly string[])[] = [
  ['doctor'],
  ['acp', '--', 'true'],
  ['serve', '--port', 'none'],
  ['install', '--help'],
];

/** `hive ARGS…` in a folder that is gone. */
function startInGone(env: Environment, folder: string, args: readonly string[]): Child {
  const script = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"';
  return spawnChild('sh', ['-c', script, folder, process.execPath, HIVE, ...args], env);
}

test.each([...COMMANDS, ...OTHERS])('hive %s works or says why not, without a trace', async (...words) => {
  const HOME = tempHome();
  const env = childEnvironment(join(HOME, 'store', 'hive.db'), { HOME });
  const child = startInGone(env, join(HOME, 'gone'), words);
  child.process.stdout.resume();
  child.process.stdin.end(
    words[0] === 'hook' ? '{"hook_event_name":"SessionStart","session_id":"s","cwd":"/gone"}' : '',
  );
  const { code } = await child.exited;
  const said = `${code} ${child.stderr()}`;
  expect(said).not.toMatch(/\n\s+at |node:internal|uv_cwd|a fault of Hive/);
  if (COMMANDS.some(([name]) => name === words[0])) expect(said).toMatch(/^0 /);
});

test('the project is the one of the folder above, and a project is not set up where there is none', async () => {
  const HOME = tempHome();
  const project = join(HOME, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  writeFileSync(join(project, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  const store = join(HOME, 'hive.db');
  const gone = (...args: string[]): Child => {
    const child = startInGone(childEnvironment(store, { HOME }), join(project, 'tree'), args);
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
