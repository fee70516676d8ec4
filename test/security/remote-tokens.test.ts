/**
 * A remote agent that claims to be somebody else, or continues after its token is revoked.
 *
 * @module-tag no-self-approval
 * @module-tag provenance
 * @module-tag http
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentAuthor } from '../../src/domain/messages.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import { HOOK_PATH } from '../../src/extensions/serve/remote-hook.ts';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { openDesk } from '../support/dialogs.ts';
import { HUMAN, introduction, openTestHive, prefer, untilPending } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { HEADLESS } from '../support/outreach.ts';
import {
  FAR,
  FAR_START,
  farCall,
  NO_STORE,
  reportOnce,
  runRemoteHook,
  serveFar,
  tokenFileOf,
} from '../support/remote.ts';
import { connectHttp, INITIALIZE, type Served, serve, serveNew } from '../support/serve.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const prompt = (session_id: string): object => ({
  hook_event_name: 'UserPromptSubmit',
  session_id,
  cwd: '/',
  prompt: 'hi',
});

/** A server with a token of that name, and the file with its secret. */
async function withToken(store: string, name: string, ...options: string[]) {
  const served = await serve(store);
  const made = await shell(store).hive('token', 'make', name, '--json', ...options);
  const token: string = made.json().secret;
  const file = join(tempFolder(), 'token');
  writeFileSync(file, token, { mode: 0o600 });
  return { served, token, file, hive: await openTestHive(store) };
}

describe('ids sent over HTTP belong to their token', () => {
  test('a remote hook that names the session of a person’s shell receives none of its answers', async () => {
    const { served, file, hive } = await withToken(tempStore(), 'laptop');
    const ask_id = (await shell(served.store).hive('ask', 'Which key?')).out.trim();
    const { session_id } = await hive.prompts.get(ask_id);
    await hive.prompts.respond({ ask_id, decision: 'the secret key', actor: HUMAN });
    expect((await runRemoteHook(served, prompt(session_id), file)).out).toBe('');
    expect((await hive.prompts.get(ask_id)).handed_at).toBeNull();
    expect((await hive.sessions.find(`token:laptop:${session_id}`))?.machine).toBe('token:laptop');
  });

  test('nor one that names a local agent, a session of another token, or a subagent of either', async () => {
    const { served, file, hive } = await withToken(tempStore(), 'laptop');
    await runRemoteHook(served, FAR_START, tokenFileOf(served));
    await hive.sessions.introduce(introduction({ session_id: 'local-1', machine: 'here' }));
    for (const session_id of ['local-1', 'far-1', FAR]) {
      const own = session_id === 'local-1' ? session_id : FAR;
      const { prompt: asked } = await hive.prompts.ask(
        { question: 'Key?' },
        await hive.sessions.resolve(own),
      );
      await hive.prompts.respond({ ask_id: asked.ask_id, decision: 'the secret key', actor: HUMAN });
      for (const event of [prompt(session_id), { ...prompt(session_id), agent_id: 'sub' }])
        expect((await runRemoteHook(served, event, file)).out).not.toContain('secret key');
      expect((await hive.prompts.get(asked.ask_id)).handed_at).toBeNull();
    }
  });

  test('a local client that names the session of a remote agent is refused', async () => {
    const { served, hive } = await serveNew();
    await runRemoteHook(served, FAR_START, tokenFileOf(served));
    const { prompt: asked } = await hive.prompts.ask({ question: 'Key?' }, await hive.sessions.resolve(FAR));
    await hive.prompts.respond({ ask_id: asked.ask_id, decision: 'the secret key', actor: HUMAN });
    const child = spawnHive(['hook', '--client', 'claude-code'], childEnvironment(served.store));
    child.process.stdin.end(JSON.stringify(prompt(FAR)));
    await child.exited;
    expect(child.stderr()).toContain('Hive makes such ids itself');
    expect((await hive.prompts.get(asked.ask_id)).handed_at).toBeNull();
  });

  test('a local agent whose name begins the ids of remote ones takes none of their answers and ends none of their work', async () => {
    const { served, file, hive } = await serveFar();
    await runRemoteHook(served, FAR_START, file);
    const { prompt: asked } = await hive.prompts.ask({ question: 'Key?' }, await hive.sessions.resolve(FAR));
    const { ask_id } = asked;
    await hive.prompts.respond({ ask_id, decision: 'the secret key', actor: HUMAN });
    for (const name of ['token', 'token:default']) {
      const local = await connectMcp({ store: served.store, env: { HIVE_AGENT: name } });
      await expect(local.call('hivemind_poll', { ask_id })).rejects.toThrow('not_allowed');
    }
    expect((await hive.prompts.get(ask_id)).handed_at).toBeNull();
    expect((await runRemoteHook(served, prompt('far-1'), file)).out).toContain('the secret key');
  });

  test('the agent of a token is never a local agent of the same name', async () => {
    const { served, token, hive } = await withToken(tempStore(), 'laptop', '--agent', 'reviewer');
    const local = await connectMcp({ store: served.store, env: { HIVE_AGENT: 'reviewer' } });
    const { ask_id } = await local.call('hivemind_ask_async', { question: 'Key?' });
    const remote = await connectHttp({ url: served.url, token });
    await expect(remote.call('hivemind_cancel', { ask_id })).rejects.toThrow('not_allowed');
    expect((await hive.sessions.find('reviewer'))?.machine).not.toMatch(/^token:/);
    expect((await hive.sessions.find('token:laptop:reviewer'))?.handle).toBe('reviewer-2');
  });

  test('a call that a remote hook recorded is not taken for one of another token', async () => {
    const { served, token, file } = await withToken(tempStore(), 'laptop');
    await runRemoteHook(served, farCall('use-1'), tokenFileOf(served));
    await runRemoteHook(served, farCall('use-1', 'far-2'), file);
    const meta = { 'claudecode/toolUseId': 'use-1' };
    const hive = await openTestHive(served.store);
    for (const [caller, session_id] of [
      [await connectHttp(served), FAR],
      [await connectHttp({ url: served.url, token }), 'token:laptop:far-2'],
    ] as const) {
      const { ask_id } = await caller.call('hivemind_ask_async', { question: 'Mine?' }, meta);
      expect((await hive.prompts.get(String(ask_id))).session_id).toBe(session_id);
    }
  });

  test('the session that Codex names in a call is one that hooks of its own token have reported', async () => {
    const { served, token, file, hive } = await withToken(tempStore(), 'laptop');
    const agent = await connectHttp({ url: served.url, token });
    const asker = async (session_id: string): Promise<string> => {
      const meta = { sessionId: session_id, threadId: session_id };
      const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Mine?' }, meta);
      return (await hive.prompts.get(String(ask_id))).session_id;
    };
    const { session_id: agents } = await hive.sessions.introduce(introduction({ session_id: 'local-1' }));
    await runRemoteHook(served, prompt('far-1'), tokenFileOf(served));
    const ofToken = await asker('far-2');
    expect(await asker(agents)).toBe(ofToken);
    expect(await asker('far-1')).toBe(ofToken);
    await runRemoteHook(served, prompt('far-2'), file);
    expect(await asker('far-2')).toBe('token:laptop:far-2');
  });
});

test('a token reports nothing of what the hook of another one printed', async () => {
  const { served, token, hive } = await withToken(tempStore(), 'laptop');
  const post = async (secret: string, body: object): Promise<{ output_id: string }> => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` };
    const reply = await fetch(new URL(HOOK_PATH, served.url), {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return (await reply.json()) as { output_id: string };
  };
  await post(served.token, { event: FAR_START, client: 'claude-code' });
  const { prompt: asked } = await hive.prompts.ask({ question: 'Key?' }, await hive.sessions.resolve(FAR));
  await hive.prompts.respond({ ask_id: asked.ask_id, decision: 'the key', actor: HUMAN });
  const { output_id: printed } = await post(served.token, { event: prompt('far-1'), client: 'claude-code' });
  const outputs = () => hive.store.read((tx) => tx.hookOutputs.of(FAR));
  expect(await outputs()).toMatchObject([{ output_id: printed }]);
  await post(token, { printed });
  expect(await outputs()).toMatchObject([{ output_id: printed }]);
  await post(served.token, { printed });
  expect(await outputs()).toEqual([]);
});

describe('a token takes part in the projects that it lists', () => {
  const secret = 'the plan of this project';
  /** A remote agent whose hooks name this project, and what it reads in its buffer. */
  async function reads(options: (directory: string) => string[]): Promise<string> {
    const store = tempStore();
    const directory = tempFolder();
    const { served, token, file, hive } = await withToken(store, 'laptop', ...options(directory));
    const place = hive.findProject(directory);
    const agent = await hive.sessions.introduce(introduction({ session_id: 'local-1', ...place }));
    await hive.messages.post({ body: secret, author: agentAuthor(agent, 'mcp') });
    // The request of `hive hook --url`, with the directory of another project instead of its own.
    const body = { event: farCall('use-1'), client: 'claude-code', env: {}, project: place };
    const reply = await fetch(new URL('/hook', served.url), {
      method: 'POST',
      headers: { Authorization: `Bearer ${readFileSync(file, 'utf8')}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(reply.status).toBe(200);
    const caller = await connectHttp({ url: served.url, token });
    return JSON.stringify(await caller.call('hivemind_read', {}, { 'claudecode/toolUseId': 'use-1' }));
  }

  test('one that names the directory of another project cannot read its buffer', async () => {
    expect(await reads(() => [])).not.toContain(secret);
  });

  test('one whose token lists the project can', async () => {
    expect(await reads((directory) => ['--project', directory])).toContain(secret);
  });
});

describe('a token that is revoked while something waits', () => {
  /** The answer is stored at the same moment, so a waiter that wakes up finds both. */
  async function revokeAndAnswer(served: Served, ask_id: string): Promise<void> {
    const hive = await openTestHive(served.store);
    await tokensOf(hive).revoke('default');
    await hive.prompts.respond({ ask_id, decision: 'the secret key', actor: HUMAN });
  }

  test('a poll ends at once, without the answer', async () => {
    const { served, hive } = await serveNew();
    const agent = await connectHttp(served);
    const ask_id = String((await agent.call('hivemind_ask_async', { question: 'Key?' }))['ask_id']);
    const headers = {
      Authorization: `Bearer ${served.token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    };
    const post = (body: string, more = {}): Promise<Response> =>
      fetch(served.url, { method: 'POST', headers: { ...headers, ...more }, body });
    const begun = await post(INITIALIZE);
    await begun.text();
    const params = { name: 'hivemind_poll', arguments: { ask_id, wait_ms: 25_000 } };
    // The headers of the response come at once, the answer when there is one.
    const waiting = await post(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }), {
      'Mcp-Session-Id': begun.headers.get('mcp-session-id') ?? '',
    });
    expect(waiting.status).toBe(200);
    await revokeAndAnswer(served, ask_id);
    const said = await waiting.text().catch((error: unknown) => `cut: ${String(error)}`);
    expect(said).not.toContain('the secret key');
    expect((await hive.prompts.get(ask_id)).collected_at).toBeNull();
  });

  test('a hook that waits for the human ends at once, without the answer', async () => {
    const { served, file, hive } = await serveFar();
    const turn = { session_id: 'far-1', cwd: '/', prompt_id: 'p1' };
    await runRemoteHook(served, { ...prompt('far-1'), ...turn }, file, HEADLESS);
    const { prompt: asked } = await hive.prompts.ask({ question: 'Key?' }, await hive.sessions.resolve(FAR));
    const stop = { ...turn, hook_event_name: 'Stop', stop_hook_active: false, background_tasks: [] };
    const seen = (await hive.sessions.find(FAR))?.hooks_seen_at;
    await prefer(hive, { stop_wait: 120 });
    const child = runRemoteHook(served, stop, file, HEADLESS);
    await eventually(async () => (await hive.sessions.find(FAR))?.hooks_seen_at !== seen);
    await revokeAndAnswer(served, asked.ask_id);
    const ended = await child;
    expect(ended.out).toBe('');
    expect(ended.err).toContain('revoked');
    expect((await hive.prompts.get(asked.ask_id)).handed_at).toBeNull();
  });
});

test.each(['revoke', 'rotate'] as const)(
  'the dialog of a token stays open in its terminal after %s, and nobody has answered it',
  async (change) => {
    const { served, file, hive } = await serveFar();
    await openDesk(hive);
    const attended = { CLAUDE_CODE_SESSION_ATTENDED: '1' };
    await runRemoteHook(served, prompt('far-1'), file, attended);
    const call = { tool_name: 'Bash', tool_input: { command: 'make' }, permission_mode: 'default' };
    const asks = { ...call, hook_event_name: 'PermissionRequest', session_id: 'far-1', cwd: '/' };
    const hook = reportOnce(served, asks, file, attended);
    const [{ ask_id }] = (await untilPending(hive)) as [Prompt];
    await tokensOf(hive)[change]('default');
    expect(await hook).toMatchObject({ out: '', err: expect.stringContaining('revoked') });
    // Nothing of a revoked token can arrive any more, so its session is over, and with it the row of the dialog.
    const revoked = { status: 'cancelled', cancel_reason: 'unknown' };
    const rotated = { status: 'pending', terminal_since: expect.any(String) };
    expect(await hive.prompts.get(ask_id)).toMatchObject(change === 'revoke' ? revoked : rotated);
  },
);

test('the sessions of a token end when it is revoked, with their turns; those of others go on', async () => {
  const { served, file, hive } = await serveFar();
  await runRemoteHook(served, prompt('far-1'), file, HEADLESS);
  const call = { tool_name: 'Bash', tool_use_id: 't1', tool_input: {}, agent_id: 'a1' };
  await runRemoteHook(served, { ...FAR_START, ...call, hook_event_name: 'PreToolUse' }, file, HEADLESS);
  await hive.sessions.introduce(introduction({ session_id: 'here' }));
  const { secret } = await tokensOf(hive).make({ name: 'default2' });
  await runRemoteHook(served, prompt('far-1'), tokenFileOf(served, secret), HEADLESS);
  await tokensOf(hive).revoke('default');
  const states = (await hive.sessions.list()).map(({ session_id, state }) => [session_id, state]);
  expect(Object.fromEntries(states)).toEqual({
    [FAR]: 'ended',
    [`${FAR}:a1`]: 'ended',
    'token:default2:far-1': 'active',
    here: 'active',
  });
  expect(await hive.store.read((tx) => tx.turns.last(FAR))).toMatchObject({ abort_reason: 'ended' });
});

describe('a remote agent', () => {
  test('is woken when it idles, and only its own session', async () => {
    const { served, file, hive } = await serveFar();
    const env = { CLAUDE_CODE_SESSION_ATTENDED: '1' };
    await runRemoteHook(served, FAR_START, file, env);
    const { prompt: asked } = await hive.prompts.ask({ question: 'Key?' }, await hive.sessions.resolve(FAR));
    const stop = { hook_event_name: 'Stop', session_id: 'far-1', cwd: '/' };
    const waiter = spawnHive(
      ['hook', '--client', 'claude-code', '--wake', '--url', served.url, '--token-file', file],
      childEnvironment(NO_STORE, env),
    );
    waiter.process.stdin.end(JSON.stringify(stop));
    await eventually(
      async () => (await hive.store.read((tx) => tx.wakers.get(FAR)))?.waker_id != null,
      15_000,
      'the waiter',
    );
    await prefer(hive, { stop_guard: false });
    await runRemoteHook(served, stop, file, env);
    await hive.prompts.respond({ ask_id: asked.ask_id, decision: 'the secret key', actor: HUMAN });
    expect((await waiter.exited).code).toBe(2);
    expect(waiter.stderr()).toContain(asked.ask_id);
    expect(waiter.stderr()).not.toContain('the secret key');
  });

  test('has the name that its person gives it', async () => {
    const served = await serve(tempStore());
    await runRemoteHook(served, FAR_START, tokenFileOf(served), { HIVE_AGENT: 'far-tests' });
    const hive = await openTestHive(served.store);
    expect((await hive.sessions.find(FAR))?.handle).toBe('far-tests');
  });

  test('gets no role from the command line', async () => {
    const given = ['--url', 'http://127.0.0.1:1', '--role', 'coordinator'];
    const ran = await shell(NO_STORE).hive('mcp', ...given);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toMatch(/--role does not work with --url.*hive token make NAME --role coordinator/);
  });
});
