/** `hive run` without a client: what it refuses, and the server that it adds to Claude Code. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test } from 'vitest';
import { childEnvironment, HIVE } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { tempStore } from '../support/temp.ts';

const CLAUDE = ['--', 'claude', '-p', 'go'];

test.each([
  [['run', '--patience', '1h', ...CLAUDE], /give 9m or less/],
  [['run', '--keep-env', 'NOT_SET_HERE', ...CLAUDE], /NOT_SET_HERE, which is not set/],
  [['run', '--', 'gemini', '-p', 'go'], /starts Claude Code and Codex/],
  [['run', ...CLAUDE, '--resume', 'x'], /leave --resume out/],
  [['run', '--watch', ...CLAUDE], /leave the command out/],
  [['run', '--watch', '--jobs', '0'], /a whole number, 1 or more/],
  [['runs', '--stop', 'run-0000'], /You have no run run-0000/],
])('hive %j is refused, and starts nothing', async (args, sentence) => {
  const { hive } = shell(tempStore());
  const refused = await hive(...args);
  expect(refused.err).toMatch(sentence);
  expect(refused.code).not.toBe(0);
  expect(JSON.parse((await hive('runs', '--all', '--json')).out)).toEqual({ runs: [] });
});

test('an agent starts no run, and stops none', async () => {
  const { hive } = shell(tempStore(), { CLAUDECODE: '1' });
  for (const args of [
    ['run', ...CLAUDE],
    ['run', '--watch'],
    ['runs', '--stop', 'run-0000'],
  ])
    expect((await hive(...args)).code).toBe(7);
});

test('a model cannot call the tool that a run uses for permissions', async () => {
  const env = childEnvironment(tempStore());
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [HIVE, 'mcp', '--deny'],
    env,
  });
  const client = new Client({ name: 'claude-code', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['deny']);
  const refused = await client.callTool({ name: 'deny', arguments: {} });
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.stringify(refused.content)).toContain('Not for you');
});
