/**
 * Blanks, quotes, letters of other scripts and characters that a shell reads, in the path of the program, of the home and of
 * the project: what `hive init` writes starts the program from there, and what was asked there is answered there.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readJson } from '../../src/infrastructure/installation/json-edits.ts';
import { childEnvironment, outputOf, ROOT, spawnChild } from '../support/children.ts';
import { tempFolder } from '../support/temp.ts';

const NAMES = [
  // Characters that mean something to a shell, a format or a pattern.
  `it's "odd", 100%s #1 & more; (x) [y] {z} * $HOME \`id\` back\\slash`,
  // The look of an option, and letters that are more than a byte or a column.
  '-rf two words größe 日本語 مرحبا 🐝',
];

/** Emacs itself reads a `$` in the name of a file that it is to load. */
const LOAD = '(with-temp-buffer (insert-file-contents (getenv "INIT")) (eval-buffer))';

interface Place {
  hive: string;
  home: string;
  project: string;
  env: Record<string, string>;
}

function placeAt(name: string): Place {
  const folder = join(tempFolder(), name);
  const home = join(folder, 'home');
  const project = join(folder, 'project');
  for (const path of [home, join(project, '.git')]) mkdirSync(path, { recursive: true });
  // The package without what only tests and builds need.
  for (const part of ['bin', 'dist', 'elisp', 'package.json', 'plugin', 'sql'])
    cpSync(join(ROOT, part), join(folder, 'hive', part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'hive', 'node_modules'));
  const env = childEnvironment(join(home, 'store', 'hive.db'), { HOME: home });
  return { hive: join(folder, 'hive/bin/hive'), home, project, env };
}

async function run({ hive, env, project }: Place, ...args: string[]): Promise<string> {
  const script = 'cd "$1" && shift && exec "$@"';
  return outputOf(spawnChild('sh', ['-c', script, 'sh', project, process.execPath, hive, ...args], env));
}

test.each(NAMES)('in a folder called %s', async (name) => {
  const place = placeAt(name);
  const { home, env } = place;
  for (const client of [['claude', '--hooks'], ['codex'], ['emacs']])
    await run(place, 'init', ...client, '--yes');

  // The client starts a hook's command by a shell.
  const settings = readJson(readFileSync(join(home, '.claude/settings.json'), 'utf8')) as {
    hooks: Record<string, { hooks: { type: string; command?: string }[] }[]>;
  };
  const commands = Object.values(settings.hooks)
    .flatMap((groups) => groups.flatMap(({ hooks }) => hooks))
    .flatMap(({ command }) => command ?? []);
  const command = commands.find((each) => / hook --client /.test(each)) ?? '';
  expect(command).not.toBe('');
  const hook = spawnChild('sh', ['-c', command], { ...env, CLAUDE_CODE_ENTRYPOINT: 'cli' });
  hook.process.stdin.end(
    JSON.stringify({
      hook_event_name: 'SessionStart',
      session_id: 's-1',
      cwd: place.project,
      source: 'startup',
    }),
  );
  await outputOf(hook);
  const { sessions } = JSON.parse(await run(place, 'sessions', '--json')) as { sessions: object[] };
  expect(sessions).toMatchObject([{ session_id: 's-1', project_dir: place.project }]);

  // The client starts a server without a shell.
  const { mcpServers } = readJson(readFileSync(join(home, '.claude.json'), 'utf8')) as {
    mcpServers: { hive: { command: string; args: string[] } };
  };
  const { command: program, args } = mcpServers.hive;
  const server = spawnChild(program, args, env);
  const initialize = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  server.process.stdin.end(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize })}\n`,
  );
  expect(JSON.parse((await outputOf(server)).split('\n')[0] ?? '')).toMatchObject({
    result: { serverInfo: { name: 'hive' } },
  });

  const emacs = spawnChild('emacs', ['-Q', '--batch', '--eval', `(progn ${LOAD} (princ hive-mode))`], {
    ...env,
    INIT: join(home, '.emacs.d/init.el'),
  });
  expect(await outputOf(emacs)).toBe('t');

  const id = (await run(place, 'ask', 'Go on?', '--option', 'yes')).trim();
  expect(JSON.parse(await run(place, 'list', '--json'))).toMatchObject({
    prompts: [{ ask_id: id, project: 'project', project_dir: place.project }],
  });
  for (const client of ['claude', 'codex', 'emacs']) await run(place, 'uninit', client, '--yes');
  expect(await run(place, 'status')).toMatch(/\S/);
});
