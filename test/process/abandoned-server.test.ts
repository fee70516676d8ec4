/**
 * A server whose client has died while another process holds its input open ends by itself.
 *
 * @module-tag mcp
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { childEnvironment, HIVE } from '../support/children.ts';
import { newHive } from '../support/hive.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually, textOf } from '../support/wait.ts';

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const ASK = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'hivemind_ask', arguments: { question: 'Go on?', timeout_ms: 600_000 } },
};

test('it ends, and its question stays and blocks nobody', async () => {
  const { store, hive } = await newHive();
  const pids = join(tempFolder(), 'pids');
  // The client starts the server with our pipe as its input, says who is who, and waits to be killed.
  const client = `"$1" "$2" mcp <&3 >/dev/null 2>&1 & echo $$ $! > '${pids}'; wait`;
  const child = spawn('sh', ['-c', client, 'sh', process.execPath, HIVE], {
    env: childEnvironment(store, { HIVE_AGENT: 'agent-1' }),
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const input = child.stdio[3] as NodeJS.WritableStream;
  onTestFinished(() => void input.end());
  input.write(`${JSON.stringify(HELLO)}\n${JSON.stringify(ASK)}\n`);
  const pending = async () => (await hive.prompts.list({ status: 'waiting', limit: 5, cursor: null })).items;
  await eventually(async () => (await pending())[0]?.blocked_since != null, 20_000, 'the question');
  const [parent = 0, server = 0] = (await textOf(pids)).trim().split(' ').map(Number);
  onTestFinished(() => {
    try {
      process.kill(server, 'SIGKILL');
    } catch {
      // It has ended, as it should.
    }
  });
  process.kill(parent, 'SIGKILL');
  const isGone = (): boolean => {
    try {
      process.kill(server, 0);
      return false;
    } catch {
      return true;
    }
  };
  await eventually(isGone, 20_000, 'the end of the server');
  const [prompt] = await pending();
  expect(prompt).toMatchObject({ question: 'Go on?', blocked_since: null });
});
