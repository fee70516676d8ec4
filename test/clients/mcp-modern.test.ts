/**
 * Client suite 8: clients that speak MCP 2026-07-28 and nothing older. The client of the protocol's own project, over stdio and
 * HTTP, and the real Claude Code as installed, which chooses that revision by itself.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { childEnvironment, HIVE, outputOf, spawnChild } from '../support/children.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { serve } from '../support/serve.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { bash, hive as call, startModel } from './support/anthropic.ts';
import { claudeArguments, claudeEnvironment, readFile, runClaude, writeFile } from './support/claude.ts';
import { passOn } from './support/passing-proxy.ts';
import { askIdIn, openWorld } from './support/world.ts';

const tools = inject('tools');

type Json = Record<string, unknown>;

/** As much of that client as is used here. */
interface ModernClient {
  connect(transport: unknown): Promise<void>;
  callTool(call: { name: string; arguments: Json }): Promise<{ structuredContent?: Json; isError?: boolean }>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
}

async function connect(store: string, carrier: 'stdio' | 'HTTP'): Promise<ModernClient> {
  const modules = await import(tools.client.http);
  const options = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
  const client = new modules.Client({ name: 'modern', version: '1.0.0' }, options) as ModernClient;
  onTestFinished(() => client.close());
  if (carrier === 'HTTP') {
    const { url, token } = await serve(store);
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await client.connect(new modules.StreamableHTTPClientTransport(new URL(url), { requestInit }));
  } else {
    const { StdioClientTransport } = await import(tools.client.stdio);
    const env = childEnvironment(store, { HIVE_AGENT: 'agent-1' });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [HIVE, 'mcp'], env }));
  }
  return client;
}

describe('a client of the newest revision alone', () => {
  test.each(['stdio', 'HTTP'] as const)('asks, is answered and goes on, over %s', async (carrier) => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const client = await connect(store, carrier);
    const use = async (name: string, args: Json = {}): Promise<Json> => {
      const { structuredContent = {}, isError } = await client.callTool({ name, arguments: args });
      expect(isError).not.toBe(true);
      return structuredContent;
    };
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('hivemind_ask_async');
    const ask_id = String((await use('hivemind_ask_async', { question: 'Red or blue?' }))['ask_id']);
    const waiting = use('hivemind_poll', { ask_id, wait_ms: 20_000 });
    await eventually(async () => (await hive.prompts.get(ask_id)).blocked_since !== null);
    await hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
    expect(await waiting).toMatchObject({ status: 'responded', decision: 'blue' });
    await use('hivemind_poll', { ask_id });
    await use('hivemind_status');
    expect((await hive.prompts.get(ask_id)).collected_at).not.toBeNull();
  });
});

const isEnveloped = (message: Json): boolean =>
  JSON.stringify(message).includes('"io.modelcontextprotocol/protocolVersion":"2026-07-28"');

describe('Claude Code as installed', () => {
  /** It asks, works on, and is answered by its hook. */
  async function askingWorld() {
    const world = await openWorld();
    let ask_id = '';
    const model = await startModel(async ({ messages }, step) => {
      if (step === 1) return { calls: [call('hivemind_ask_async', { question: 'Red or blue?' })] };
      if (step === 3) return { text: 'done' };
      ask_id = askIdIn(messages.at(-1));
      await world.hive.prompts.respond({ ask_id, decision: 'blue', actor: HUMAN });
      return { calls: [bash('echo worked')] };
    });
    const wasRead = async (): Promise<boolean> =>
      (await world.hive.prompts.get(ask_id)).collected_at !== null;
    return { world, model, wasRead };
  }

  test('looks for it first on stdio; its hooks come over the same connection, in the revision that it has chosen', async () => {
    const { world, model, wasRead } = await askingWorld();
    const run = { ...world, model, way: 'connection' as const };
    const options = await claudeArguments(run);
    // Everything that it writes to the server is written to a file as well.
    const said = join(world.folder, 'said.jsonl');
    const recorder = join(world.folder, 'recorder.sh');
    writeFileSync(recorder, `tee '${said}' | "$@"\n`);
    const { mcpServers, ...rest } = readFile(world.folder, '.claude.json') as {
      mcpServers: { hive: { command: string; args: string[] } };
    };
    const { command, args } = mcpServers.hive;
    const hive = { ...mcpServers.hive, command: 'sh', args: [recorder, command, ...args] };
    writeFile(world.folder, '.claude.json', { ...rest, mcpServers: { hive } });
    const client = spawnChild(world.clients.claude, ['-p', 'go', ...options], claudeEnvironment(run));
    client.process.stdin.end();
    await outputOf(client);
    expect(await wasRead()).toBe(true);
    const lines = readFileSync(said, 'utf8').trim().split('\n');
    const messages = lines.map((line) => JSON.parse(line) as Json);
    const methods = messages.map(({ method }) => method);
    expect(methods[0]).toBe('server/discover');
    const hooks = messages.filter(({ params }) => (params as Json | undefined)?.['name'] === 'hook_event');
    expect(hooks.length).toBeGreaterThan(0);
    // It does not wait longer than three seconds for the answer, and then goes on in the older revision.
    const isOlder = methods.includes('initialize');
    expect(hooks.map(isEnveloped)).toEqual(hooks.map(() => !isOlder));
  });

  test('speaks it over HTTP', async () => {
    const { world, model, wasRead } = await askingWorld();
    const { url, token } = await serve(world.store);
    const token_file = join(world.folder, 'token');
    writeFileSync(token_file, token, { mode: 0o600 });
    const said: Json[] = [];
    const near = await passOn(url, {
      onBody(text, { url: path }) {
        // Its hooks go to another path.
        if (path === new URL(url).pathname && text !== '') said.push(JSON.parse(text) as Json);
      },
    });
    const remote = { url: near, token, token_file };
    const env = { HIVE_STORE: '/nowhere/hive.db' };
    await runClaude({ ...world, model, way: 'process', remote, env }, 'go');
    expect(await wasRead()).toBe(true);
    const called = said.filter(({ method }) => method === 'tools/call');
    expect(called.map(isEnveloped)).toEqual([true]);
    expect(said.map(({ method }) => method)).not.toContain('initialize');
  });
});
