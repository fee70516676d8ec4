/** Agents and hooks of another machine, over the bridge: what works, what a refusal says, and whose they are. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Hive } from '../../src/application/hive.ts';
import { agentAuthor } from '../../src/domain/messages.ts';
import { childEnvironment, outputOf, spawnHive } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { HUMAN, introduce, introduction, openTestHive } from '../support/hive.ts';
import { expectNothingLeft } from '../support/leaks.ts';
import { connectMcp, type McpCaller } from '../support/mcp-client.ts';
import { HEADLESS } from '../support/outreach.ts';
import { connectHttp, rawRequest, type Served, serve, serveWith } from '../support/serve.ts';
import { tempStore } from '../support/temp.ts';
import { sleep, timed } from '../support/wait.ts';

expectNothingLeft();

/** Nothing must come of it: the other machine has no store. */
const NO_STORE = '/nowhere/hive.db';

function tokenFileOf({ store, token }: Served, secret = token): string {
  const path = join(dirname(store), 'remote-token');
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
  return path;
}

function bridge(served: Served, secret?: string): Promise<McpCaller> {
  const args = ['--url', served.url, '--token-file', tokenFileOf(served, secret)];
  return connectMcp({ store: NO_STORE, args, env: {} });
}

async function hook(
  served: Pick<Served, 'url'>,
  event: object,
  token_file: string,
  env: Record<string, string> = {},
): Promise<{ out: string; code: number | null; err: string; ms: number }> {
  const child = spawnHive(
    ['hook', '--url', served.url, '--token-file', token_file],
    childEnvironment(NO_STORE, { CLAUDE_PID: '4242', ...env }),
  );
  let out = '';
  child.process.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.process.stdin.end(JSON.stringify(event));
  const { result, ms } = await timed(() => child.exited);
  return { out, code: result.code, err: child.stderr(), ms };
}

const START = { hook_event_name: 'SessionStart', session_id: 'far-1', cwd: '/', source: 'startup' };
const calls = (tool_use_id: string, session_id = 'far-1'): object => ({
  hook_event_name: 'PreToolUse',
  session_id,
  cwd: '/',
  tool_name: 'mcp__hive__hivemind_ask_async',
  tool_use_id,
  tool_input: {},
});

describe('the bridge', () => {
  test('carries a question there and its answer back', async () => {
    const served = await serve(tempStore());
    const hive = await openTestHive(served.store);
    const agent = await bridge(served);
    const asked = await agent.call('hivemind_ask_async', { question: 'From afar?' });
    const waiting = agent.call('hivemind_poll', { ask_id: asked['ask_id'], wait_ms: 20_000 });
    await sleep(100);
    await hive.prompts.respond({ ask_id: String(asked['ask_id']), decision: 'yes', actor: HUMAN });
    expect(await waiting).toMatchObject({ status: 'responded', decision: 'yes' });
  });

  test('begins anew when the other side has restarted', { timeout: 40_000 }, async () => {
    const store = tempStore();
    const first = await serve(store);
    const agent = await bridge(first);
    const asked = await agent.call('hivemind_ask_async', { question: 'Still there?' });
    await first.child.kill('SIGTERM');
    const away = agent.call('hivemind_status');
    await sleep(300);
    await serve(store, '--port', new URL(first.url).port);
    expect(await away).toBeDefined();
    expect(await agent.call('hivemind_poll', { ask_id: asked['ask_id'] })).toMatchObject({
      status: 'pending',
    });
  });

  test('answers a call whose server died under it, instead of leaving it open', {
    timeout: 40_000,
  }, async () => {
    const store = tempStore();
    const first = await serve(store);
    const agent = await bridge(first);
    const asked = await agent.call('hivemind_ask_async', { question: 'Still there?' });
    const waiting = agent
      .call('hivemind_poll', { ask_id: asked['ask_id'], wait_ms: 25_000 })
      .catch((error: unknown) => String(error));
    await sleep(300);
    await first.child.kill('SIGKILL');
    await serve(store, '--port', new URL(first.url).port);
    expect(await waiting).toMatch(/lost/);
    expect(await agent.call('hivemind_poll', { ask_id: asked['ask_id'] })).toMatchObject({
      status: 'pending',
    });
  });

  test('says at once when its token is refused', async () => {
    const served = await serve(tempStore());
    await expect(bridge(served, 'hive_wrong')).rejects.toThrow(/refuses the token/);
  });

  test('goes on with a token that was rotated', async () => {
    const served = await serve(tempStore());
    const agent = await bridge(served);
    const fresh = (await shell(served.store).hive('token', 'rotate', 'default')).out.trim();
    await expect(agent.call('hivemind_status')).rejects.toThrow(/refuses the token/);
    tokenFileOf(served, fresh);
    await agent.call('hivemind_status');
  });
});

describe('a hook of another machine', () => {
  test('registers its session with the machine of its token, and its calls are that session', async () => {
    const served = await serve(tempStore());
    const file = tokenFileOf(served);
    const hive = await openTestHive(served.store);
    expect((await hook(served, START, file)).code).toBe(0);
    expect((await hook(served, calls('use-1'), file)).code).toBe(0);
    expect(await hive.sessions.get('far-1')).toMatchObject({ machine: 'token:default', pid: 4242 });
    const agent = await bridge(served);
    const asked = await agent.call(
      'hivemind_ask_async',
      { question: 'Mine?' },
      { meta: { 'claudecode/toolUseId': 'use-1' } },
    );
    expect((await hive.prompts.get(String(asked['ask_id']))).session_id).toBe('far-1');
  });

  test('is told what waits for its session, once it was printed', async () => {
    const served = await serve(tempStore());
    const file = tokenFileOf(served);
    const hive = await openTestHive(served.store);
    await hook(served, START, file);
    const session = await hive.sessions.find('far-1');
    const { prompt } = await hive.prompts.ask({ question: 'Go?' }, session);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'go ahead', actor: HUMAN });
    const said = await hook(
      served,
      { hook_event_name: 'UserPromptSubmit', session_id: 'far-1', cwd: '/', prompt: 'hi' },
      file,
    );
    expect(said.out).toContain('go ahead');
    expect((await hive.prompts.get(prompt.ask_id)).handed_at).not.toBeNull();
  });

  test('waits for the human where it was told to, past its two seconds', async () => {
    const served = await serve(tempStore());
    const file = tokenFileOf(served);
    const hive = await openTestHive(served.store);
    const turn = { session_id: 'far-1', cwd: '/', prompt_id: 'p1' };
    await hook(served, { ...turn, hook_event_name: 'UserPromptSubmit', prompt: 'go' }, file, HEADLESS);
    const { prompt } = await hive.prompts.ask({ question: 'Which port?' }, await hive.sessions.find('far-1'));
    const stop = { ...turn, hook_event_name: 'Stop', stop_hook_active: false, background_tasks: [] };
    const stopping = hook(served, stop, file, { ...HEADLESS, HIVE_STOP_WAIT_S: '20' });
    await sleep(2_600);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: '8080', actor: HUMAN });
    const said = await stopping;
    expect(said.ms).toBeGreaterThan(2_500);
    expect(JSON.parse(said.out)).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining('8080'),
    });
  });

  test('cannot speak for a session that is not of its machine', async () => {
    const served = await serve(tempStore());
    const file = tokenFileOf(served);
    const hive = await openTestHive(served.store);
    const local = await hive.sessions.introduce(introduction({ session_id: 'local-1', machine: 'here' }));
    const ran = await hook(served, { ...START, session_id: 'local-1' }, file);
    expect(ran).toMatchObject({ code: 0, out: '', err: expect.stringContaining('not of token:default') });
    expect(await hive.sessions.get('local-1')).toEqual(local);
  });

  test('cannot lend its name to a call of this machine', async () => {
    const served = await serve(tempStore());
    const file = tokenFileOf(served);
    const hive = await openTestHive(served.store);
    await hook(served, START, file);
    await hook(served, calls('use-2'), file);
    const here = await connectMcp({ store: served.store });
    const asked = await here.call(
      'hivemind_ask_async',
      { question: 'Mine?' },
      { meta: { 'claudecode/toolUseId': 'use-2' } },
    );
    expect((await hive.prompts.get(String(asked['ask_id']))).session_id).toBe('agent-1');
  });

  test('needs a token, and is as bounded as the rest', async () => {
    const served = await serve(tempStore());
    const url = new URL('/hook', served.url).href;
    expect((await rawRequest(url, { body: '{}' })).status).toBe(401);
    const authorized = { Authorization: `Bearer ${served.token}` };
    expect((await rawRequest(url, { body: '{}', headers: authorized })).status).toBe(400);
    expect((await rawRequest(url, { method: 'GET', body: '', headers: authorized })).status).toBe(404);
  });

  test('fails open within 2 s when nobody answers, and closed when told so', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const file = tokenFileOf({ store: tempStore(), token: 'hive_x' } as Served);
    const open = await hook({ url: `http://127.0.0.1:${port}` }, calls('use-3'), file);
    expect(open).toMatchObject({ code: 0, out: '' });
    expect(open.ms).toBeLessThan(3_000);
    const closed = await hook({ url: `http://127.0.0.1:${port}` }, calls('use-3'), file, {
      HIVE_GATE_FAIL: 'closed',
    });
    expect(closed.code).toBe(2);
  });
});

describe('the mention gate of another machine', () => {
  const bash = (session_id: string): object => ({
    hook_event_name: 'PreToolUse',
    session_id,
    cwd: '/',
    tool_name: 'Bash',
    tool_use_id: `use-${session_id}`,
    tool_input: { command: 'ls' },
  });

  /** A hive with a session of another machine, and somebody here who mentions it. */
  async function mentioned(): Promise<{ served: Served; file: string; hive: Hive }> {
    const served = await serve(tempStore());
    const file = tokenFileOf(served);
    const hive = await openTestHive(served.store);
    await hook(served, START, file);
    const { handle } = await hive.sessions.find('far-1');
    const other = await introduce(hive, 'session-9');
    await hive.messages.post({ body: `@${handle} look`, scope: 'all', author: agentAuthor(other, 'mcp') });
    return { served, file, hive };
  }

  test('holds a session whose MCP is over HTTP until it has processed them', async () => {
    const { served, file, hive } = await mentioned();
    expect((await hook(served, bash('far-1'), file)).out).not.toContain('"deny"');
    const agent = await connectHttp(served);
    const held = await hook(served, bash('far-1'), file);
    expect(JSON.parse(held.out).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' });
    await agent.call('hivemind_status');
    // It has called as another session, so it is not this one's to clear with.
    expect((await hook(served, bash('far-1'), file)).out).not.toContain('"deny"');
    await hook(served, calls('use-9'), file);
    await agent.call('hivemind_process_mentions', { all: true }, { 'claudecode/toolUseId': 'use-9' });
    expect(await hive.mentions.has('far-1')).toMatchObject({ gating: 0 });
  });

  test('holds one behind the bridge from its first call on, known by its process', async () => {
    const { served, file } = await mentioned();
    const agent = await bridge(served);
    await agent.call('hivemind_status');
    const held = await hook(served, bash('far-1'), file, { CLAUDE_PID: String(process.pid) });
    expect(held.out).toContain('"deny"');
    // Another client of that machine has no connection.
    await hook(served, { ...START, session_id: 'far-2' }, file, { CLAUDE_PID: '77' });
    expect((await hook(served, bash('far-1'), file, { CLAUDE_PID: '77' })).out).not.toContain('"deny"');
  });

  test('reminds once the connection has ended, whoever ended it', async () => {
    const { served, file, hive } = await mentioned();
    const agent = await bridge(served);
    await agent.call('hivemind_status');
    const open = (): Promise<number> =>
      hive.store.read(async (tx) => (await tx.sessions.connections('token:default')).length);
    expect(await open()).toBe(1);
    await served.child.kill('SIGTERM');
    expect(await open()).toBe(0);
    const again = await serve(served.store);
    expect((await hook(again, bash('far-1'), file)).out).not.toContain('"deny"');
  });
});

describe('the permission rules of who serves', () => {
  const asks = {
    hook_event_name: 'PermissionRequest',
    session_id: 'far-1',
    cwd: '/',
    tool_name: 'Bash',
    tool_input: { command: 'make' },
  };

  test('answer an agent of another machine where they name it', async () => {
    const store = tempStore();
    const rules = join(dirname(store), 'rules.json');
    const served = await serveWith(store, { HIVE_PERMISSION_RULES: rules });
    const file = tokenFileOf(served);
    await hook(served, START, file);
    const allow = { decision: 'allow', tool: 'Bash', input: 'make' };
    writeFileSync(rules, JSON.stringify([allow]));
    expect((await hook(served, asks, file)).out).not.toContain('allow');
    writeFileSync(rules, JSON.stringify([{ ...allow, machine: 'token:default', name: 'builds' }]));
    expect((await hook(served, asks, file)).out).toContain('"allow"');
    const hive = await openTestHive(store);
    expect((await hive.prompts.list({ status: 'responded', limit: 9 })).items).toMatchObject([
      { by: 'builds', via: 'rule' },
    ]);
  });
});

test('a bridge ends with its client', async () => {
  const served = await serve(tempStore());
  const child = spawnHive(
    ['mcp', '--url', served.url, '--token-file', tokenFileOf(served)],
    childEnvironment(NO_STORE),
  );
  child.process.stdin.end();
  await outputOf(child);
});
