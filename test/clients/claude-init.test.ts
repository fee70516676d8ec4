/** The real Claude Code reads what `hive init claude --hooks` writes: the hooks fire, the server is there. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually, within } from '../support/wait.ts';
import type { ChatTerminal } from './support/chat-terminal.ts';
import { type ClaudeRun, HOOK_WAY, pathWithHive } from './support/claude.ts';
import { startTerminal } from './support/claude-terminal.ts';
import { claudeModel, expectHeard, personOf, runInstalled } from './support/installed.ts';
import { openWorld } from './support/world.ts';

/** It proposes to go on without the server. When it is drawn again while the client starts, it proposes that again. */
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

it('runs with what hive init wrote into its home, and hive uninit takes that back', async () => {
  const world = await openWorld();
  const person = personOf(world);
  expect((await person.hive('init', 'claude', '--hooks', HOOK_WAY, '--yes')).code).toBe(0);
  const model = await claudeModel('mcp__hive__hivemind_ask_async');
  await runInstalled({ ...world, model });
  expect(model.requests[0]?.tools.map(({ name }) => name)).toContain('mcp__hive__hivemind_ask_async');
  await expectHeard(world, 'claude-code');
  // The client has rewritten its own file in the meantime.
  const { checks } = (await person.hive('doctor', '--json')).json();
  expect(
    checks.filter(
      ({ name, state }: { name: string; state: string }) => /^Claude/.test(name) && state === 'ok',
    ),
    JSON.stringify(checks),
  ).toHaveLength(3);
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
  await personOf(world).hive('init', 'claude', '--project', '--hooks', HOOK_WAY, '--yes');
  const claude = await startTerminal(runs, ['--allowedTools', 'Bash']);
  await claude.until(/New MCP server found in this project: hive/, 30_000);
  await approveServer(claude);
  await claude.until(/❯[\s\S]*for shortcuts/, 30_000);
  await claude.say('please begin');
  await claude.until(/done/);
  await expectHeard(world, 'claude-code');
  const approved = JSON.parse(readFileSync(join(folder, '.claude/settings.local.json'), 'utf8'));
  expect(approved).toMatchObject({ enabledMcpjsonServers: ['hive'] });
});
