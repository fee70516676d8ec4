/**
 * Hooks of another machine: whose they are, what they receive, and how they fail.
 *
 * @module-tag at-least-once
 * @module-tag guards-end
 * @module-tag http
 * @module-tag hook
 */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { HiveError } from '../../src/domain/errors.ts';
import { parseJson } from '../../src/domain/json-numbers.ts';
import { NOWHERE } from '../../src/domain/places.ts';
import { BREATH_MS, createRemoteHooks } from '../../src/extensions/serve/remote-hook.ts';
import { tokensOf } from '../../src/extensions/serve/tokens.ts';
import { EDIT_TOOLS_ELSEWHERE } from '../../src/infrastructure/platform/edits.ts';
import { createAuthority } from '../support/certificates.ts';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { openDesk } from '../support/dialogs.ts';
import { ENDED } from '../support/ended-process.ts';
import { eventsOf, HUMAN, introduction, openTestHive, prefer, untilPending } from '../support/hive.ts';
import { heldWith } from '../support/hooks.ts';
import { httpProxy } from '../support/http-proxy.ts';
import { trustFileOf, trusting } from '../support/human-file.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { HEADLESS } from '../support/outreach.ts';
import {
  connectBridge,
  FAR,
  FAR_START,
  farCall,
  farSession,
  NO_STORE,
  reportOnce,
  runRemoteHook,
  serveFar,
  tokenFileOf,
} from '../support/remote.ts';
import { rawRequest, type Served, serve, serveHere, serveNew, serveWith } from '../support/serve.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { clockPasses, eventually, within } from '../support/wait.ts';

/** The output of a waker that ends because waiting would never help. */
async function wakerOf(url: string, file: string): Promise<string> {
  const waker = spawnHive(
    ['hook', '--wake', '--url', url, '--token-file', file],
    childEnvironment(NO_STORE, { CLAUDE_PID: String(process.pid), CLAUDE_CODE_SESSION_ATTENDED: '1' }),
  );
  waker.process.stdin.end(JSON.stringify({ ...FAR_START, hook_event_name: 'Stop' }));
  expect(await waker.exited).toMatchObject({ code: 0 });
  return waker.stderr();
}

describe('a hook of another machine', () => {
  test('registers its session with the machine of its token, and its calls are that session', async () => {
    const { served, file, hive } = await serveFar();
    expect((await runRemoteHook(served, FAR_START, file)).code).toBe(0);
    expect((await runRemoteHook(served, farCall('use-1'), file)).code).toBe(0);
    expect(await hive.sessions.find(FAR)).toMatchObject({ machine: 'token:default', pid: ENDED });
    const agent = await connectBridge(served);
    const asked = await agent.call(
      'hivemind_ask_async',
      { question: 'Mine?' },
      { meta: { 'claudecode/toolUseId': 'use-1' } },
    );
    expect((await hive.prompts.get(String(asked['ask_id']))).session_id).toBe(FAR);
  });

  test('brings the title that its client gave the session, which only its own machine can read', async () => {
    const { served, file, hive } = await serveFar();
    const titled = async (lines: object[]): Promise<string | undefined> => {
      const transcript_path = join(dirname(file), 'far.jsonl');
      writeFileSync(transcript_path, lines.map((line) => JSON.stringify(line)).join('\n'));
      const words = { hook_event_name: 'UserPromptSubmit', session_id: 'far-1', cwd: '/', prompt: 'go' };
      expect(await runRemoteHook(served, { ...words, transcript_path }, file)).toMatchObject({ code: 0 });
      return (await hive.sessions.find(FAR))?.title;
    };
    const project = await titled([]);
    expect(project).not.toMatch(/Claude-/);
    expect(await titled([{ type: 'custom-title', customTitle: 'delivery-fix' }])).toBe('delivery-fix');
    // The transcript is the other machine's: nothing is read here because of its path.
    expect((await hive.store.read((tx) => tx.turns.last(FAR)))?.transcript_path).toBeNull();
    expect(await titled([{ type: 'custom-title', customTitle: '' }])).toBe(project);
  });

  test('says which certificate it does not accept, and what to do', async () => {
    const { cert, key } = createAuthority(tempFolder()).sign('server', 'IP:127.0.0.1');
    const served = await serve(tempStore(), '--cert', cert, '--key', key);
    const file = tokenFileOf(served);
    const said =
      /certificate of 127\.0\.0\.1:\d+ is not accepted here \(\w+\)\. Nothing was done\. .*NODE_EXTRA_CA_CERTS/;
    expect(await runRemoteHook(served, FAR_START, file)).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringMatching(said),
    });
    expect(await wakerOf(served.url, file)).toMatch(said);
  });

  test('says that its token cannot be read, and that an address is none', async () => {
    const served = await serve(tempStore());
    const missing = join(tempFolder(), 'token');
    const said = `The token file ${missing} cannot be read (ENOENT`;
    expect((await runRemoteHook(served, FAR_START, missing)).err).toContain(said);
    expect(await wakerOf(served.url, missing)).toContain(said);
    for (const url of ['hive.example', 'ftp://hive.example'])
      expect((await runRemoteHook({ url }, FAR_START, missing)).err).toContain(
        `--url ${url} is not an http:// or https:// address.`,
      );
  });

  test('says that the server cannot be reached', async () => {
    const file = tokenFileOf({ store: tempStore(), token: 'hive_x' } as Served);
    const { err } = await runRemoteHook({ url: 'http://127.0.0.1:1' }, FAR_START, file);
    expect(err).toBe('hive hook: 127.0.0.1:1 cannot be reached (connect ECONNREFUSED 127.0.0.1:1).\n');
    // The client shows this to the person who has just typed; of other events it shows nothing.
    const typed = { ...FAR_START, hook_event_name: 'UserPromptSubmit', prompt: 'go' };
    const said = await runRemoteHook({ url: 'http://127.0.0.1:1' }, typed, file);
    expect(JSON.parse(said.out)).toEqual({
      systemMessage: expect.stringMatching(/^Hive failed on this message.* 127\.0\.0\.1:1 cannot be reached/),
    });
    const closed = { HIVE_GATE_FAIL: 'closed' };
    expect((await runRemoteHook({ url: 'http://127.0.0.1:1' }, typed, file, closed)).out).toBe('');
    const proxy = await httpProxy('http://127.0.0.1:1/mcp');
    expect((await runRemoteHook(proxy, FAR_START, file)).err).toBe(
      `hive hook: ${new URL(proxy.url).host} answers (502), but not as hive serve does: is it running there, and is the address right?\n`,
    );
  });

  test('says that its token file contains something else, and does not show that', async () => {
    const served = await serve(tempStore());
    const file = join(tempFolder(), 'token');
    writeFileSync(file, 'hive_first\nhive_second\n');
    const said = `The token file ${file} contains something other than one token.`;
    const { err } = await runRemoteHook(served, FAR_START, file);
    expect(err).toContain(said);
    expect(await wakerOf(served.url, file)).toContain(said);
    const bridge = spawnHive(['mcp', '--url', served.url, '--token-file', file], childEnvironment(NO_STORE));
    let out = '';
    bridge.process.stdout.on('data', (chunk) => {
      out += String(chunk);
    });
    const params = { protocolVersion: '2025-06-18' };
    bridge.process.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await bridge.exited;
    expect(out).toContain(said);
    expect(`${err}${out}${bridge.stderr()}`).not.toContain('hive_first');
  });

  test('is not needed for a title: without one an agent has the name that its token gives it', async () => {
    const { served, hive } = await serveNew();
    const agent = await connectBridge(served);
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Who am I?' });
    expect(await hive.prompts.get(String(ask_id))).toMatchObject({
      agent_title: expect.stringMatching(/^remote-/),
    });
  });

  test('prints what is waiting for its session, once', async () => {
    const { served, file, hive } = await serveFar();
    const session = await farSession(hive, () => runRemoteHook(served, FAR_START, file));
    const { prompt } = await hive.prompts.ask({ question: 'Go?' }, session);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'go ahead', actor: HUMAN });
    const said = await runRemoteHook(
      served,
      { hook_event_name: 'UserPromptSubmit', session_id: 'far-1', cwd: '/', prompt: 'hi' },
      file,
    );
    expect(said.out).toContain('go ahead');
    expect((await hive.prompts.get(prompt.ask_id)).handed_at).toEqual(expect.any(String));
  });

  test('waits for the human if it is configured to, past its two seconds', async () => {
    const { served, file, hive } = await serveFar();
    const turn = { session_id: 'far-1', cwd: '/', prompt_id: 'p1' };
    const typed = { ...turn, hook_event_name: 'UserPromptSubmit', prompt: 'go' };
    const session = await farSession(hive, () => runRemoteHook(served, typed, file, HEADLESS));
    const { prompt } = await hive.prompts.ask({ question: 'Which port?' }, session);
    const stop = { ...turn, hook_event_name: 'Stop', stop_hook_active: false, background_tasks: [] };
    await prefer(hive, { stop_wait: 120 });
    const isWaited = async () => (await hive.prompts.get(prompt.ask_id)).blocked_since !== null;
    // On a busy machine a hook may give up before it has reached the server.
    let stopping = runRemoteHook(served, stop, file, HEADLESS);
    await eventually(async () => {
      const waits = await Promise.race([stopping.then(() => false), within(isWaited, 5_000)]);
      if (!waits) stopping = runRemoteHook(served, stop, file, HEADLESS);
      return waits;
    });
    // Past the usual two seconds of a hook.
    await clockPasses(2_600);
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: '8080', actor: HUMAN });
    const said = await stopping;
    expect(heldWith(said.out)).toContain(
      `An answer is waiting: call hivemind_poll {"ask_id": "${prompt.ask_id}"}`,
    );
  });

  test('that waits for the human is not ended by a proxy that ends silent connections', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const hive = await openTestHive();
    const { secret } = await tokensOf(hive).make({ name: 'far' });
    const answer = Promise.withResolvers<never>();
    const handle: typeof hive.hooks.handle = async (_event, { withoutTimeLimit: wait }) =>
      wait?.(() => answer.promise) as never;
    const rules = {
      seat: 'here',
      human: async () => ({ trust: hive.trust.file(), place: NOWHERE }),
      editTools: async () => EDIT_TOOLS_ELSEWHERE,
    };
    const waiting = { ...hive, hooks: { ...hive.hooks, handle } };
    const { url } = await serveHere(hive, { routes: { '/hook': createRemoteHooks(waiting, rules) } });
    const response = await fetch(new URL('/hook', url), {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}` },
      body: JSON.stringify({ event: { hook_event_name: 'Stop', session_id: 'far-1', cwd: '/' } }),
    });
    // The head is there, so it waits.
    vi.advanceTimersByTime(2 * BREATH_MS);
    answer.reject(new HiveError('not_allowed', 'No.'));
    const text = await response.text();
    expect(text).toMatch(/^ {2}\{/);
    expect(JSON.parse(text)).toEqual({ error: { code: 'not_allowed', message: 'No.' } });
  });

  test('speaks for a session of its own, whatever id it names', async () => {
    const { served, file, hive } = await serveFar();
    const local = await hive.sessions.introduce(introduction({ session_id: 'local-1', machine: 'here' }));
    const ran = await runRemoteHook(served, { ...FAR_START, session_id: 'local-1' }, file);
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(await hive.sessions.find('local-1')).toEqual(local);
    expect((await hive.sessions.find('token:default:local-1'))?.machine).toBe('token:default');
  });

  test('cannot lend its name to a call of this machine', async () => {
    const { served, file, hive } = await serveFar();
    await runRemoteHook(served, FAR_START, file);
    await runRemoteHook(served, farCall('use-2'), file);
    const here = await connectMcp({ store: served.store });
    const asked = await here.call(
      'hivemind_ask_async',
      { question: 'Mine?' },
      { meta: { 'claudecode/toolUseId': 'use-2' } },
    );
    expect((await hive.prompts.get(String(asked['ask_id']))).session_id).toBe('agent-1');
  });

  test('waits on to wake its session where a proxy says that the server is away', async () => {
    const served = await serve(tempStore());
    const proxy = await httpProxy(served.url);
    const file = tokenFileOf(served);
    const hive = await openTestHive(served.store);
    const env = { CLAUDE_CODE_SESSION_ATTENDED: '1' };
    const session = await farSession(hive, () => runRemoteHook(served, FAR_START, file, env));
    const { prompt } = await hive.prompts.ask({ question: 'Which port?' }, session);
    const waiter = spawnHive(
      ['hook', '--wake', '--url', proxy.url, '--token-file', file],
      childEnvironment(NO_STORE, env),
    );
    waiter.process.stdin.end(JSON.stringify({ ...FAR_START, hook_event_name: 'Stop' }));
    const waits = async () => (await hive.store.read((tx) => tx.wakers.get(FAR)))?.waker_id;
    await eventually(async () => (await waits()) != null, 15_000, 'the waiter');
    const before = await waits();
    await served.child.kill('SIGTERM');
    await eventually(() => proxy.refused.length > 0, 15_000, 'the refusal of the proxy');
    await serve(served.store, '--port', new URL(served.url).port);
    await eventually(async () => (await waits()) !== before, 15_000, 'the waiter again');
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: '8080', actor: HUMAN });
    expect((await waiter.exited).code).toBe(2);
    expect(waiter.stderr()).toContain(prompt.ask_id);
  });

  test('leaves nothing behind on a connection over which a proxy sends many', async () => {
    const served = await serve(tempStore());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const send = () =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request(new URL('/hook', served.url), {
          method: 'POST',
          agent,
          headers: { Authorization: `Bearer ${served.token}`, 'Content-Type': 'application/json' },
        });
        sent.once('error', reject);
        sent.once('response', (response) =>
          response.resume().once('end', () => resolve(response.statusCode)),
        );
        sent.end(JSON.stringify({ client: 'claude-code', event: farCall('use-4') }));
      });
    for (let count = 0; count < 15; count++) expect(await send()).toBe(200);
    await served.child.kill('SIGTERM');
    expect(served.child.stderr()).not.toContain('MaxListenersExceededWarning');
  });

  test('needs a token, and has the same limits as other requests', async () => {
    const served = await serve(tempStore());
    const url = new URL('/hook', served.url).href;
    expect((await rawRequest(url, { body: '{}' })).status).toBe(401);
    const authorized = { Authorization: `Bearer ${served.token}` };
    expect((await rawRequest(url, { body: '{}', headers: authorized })).status).toBe(400);
    expect((await rawRequest(url, { method: 'GET', body: '', headers: authorized })).status).toBe(404);
  });

  test('fails open when nobody answers, or closed if configured', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const file = tokenFileOf({ store: tempStore(), token: 'hive_x' } as Served);
    const open = await reportOnce({ url: `http://127.0.0.1:${port}` }, farCall('use-3'), file);
    expect(open).toMatchObject({
      ...{ code: 0, out: '' },
      err: 'hive hook: no reply from the server within 2 s\n',
    });
    const closed = await reportOnce({ url: `http://127.0.0.1:${port}` }, farCall('use-3'), file, {
      HIVE_GATE_FAIL: 'closed',
    });
    expect(closed).toMatchObject({
      code: 2,
      err: expect.stringMatching(/HIVE_GATE_FAIL=closed blocks this, because Hive failed on it: /),
    });
  });
});

test('an idle agent of another machine is woken, even if its connection was dead when the answer came', async () => {
  const { served, file, hive } = await serveFar();
  const session = await farSession(hive, () => runRemoteHook(served, FAR_START, file));
  const { prompt } = await hive.prompts.ask({ question: 'Red or blue?' }, session);
  const port = Number(new URL(served.url).port);
  const network = await tcpProxy(port);
  const child = spawnHive(
    ['hook', '--wake', '--url', `http://127.0.0.1:${network.port}`, '--token-file', file],
    childEnvironment(NO_STORE, { CLAUDE_PID: String(process.pid), CLAUDE_CODE_SESSION_ATTENDED: '1' }),
  );
  child.process.stdin.end(JSON.stringify(FAR_START));
  const waker = () => hive.store.read((tx) => tx.wakers.get(FAR));
  await eventually(async () => (await waker())?.waker_id != null);
  network.swallow();
  await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'blue', actor: HUMAN });
  await eventually(async () => (await waker())?.until != null);
  network.recover();
  network.redirect(port);
  expect((await child.exited).code).toBe(2);
  expect(child.stderr()).toContain(`${prompt.ask_id} is answered`);
  await eventually(async () => (await eventsOf(hive, 'session/woken')).at(-1)?.data['failed'] === undefined);
});

/** Each way of a hook to another machine: a function that fires a permission, and one with which its client takes it back. */
const WAYS = {
  'as a process': async (url: string, file: string, event: object) => {
    const args = ['hook', '--client', 'claude-code', '--url', url, '--token-file', file];
    const child = spawnHive(args, childEnvironment(NO_STORE, ATTENDED));
    child.process.stdin.end(JSON.stringify(event));
    return { takeBack: () => void child.process.kill('SIGTERM'), ended: child.exited };
  },
  'over the connection': async (url: string, file: string, event: object) => {
    const args = ['--url', `${url}/mcp`, '--token-file', file];
    const env = { CLAUDE_CODE_ENTRYPOINT: 'cli' };
    const { client } = await connectMcp({ store: NO_STORE, client: 'claude-code', args, env });
    const pressed = new AbortController();
    const call = { name: 'hook_event', arguments: { client: 'claude-code', ...event, tool_input: '{}' } };
    const ended = client.callTool(call, undefined, { signal: pressed.signal }).catch(() => undefined);
    return { takeBack: () => pressed.abort(), ended };
  },
};
const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: '1' };

describe.each(Object.entries(WAYS))('the permission of another machine, whose hook waits %s', (_, fire) => {
  /** The hook waits for the desk, through a network. */
  async function waiting() {
    const { served, file, hive } = await serveFar();
    await openDesk(hive);
    const port = Number(new URL(served.url).port);
    const network = await tcpProxy(port);
    const call = { tool_name: 'Bash', tool_input: { command: 'make' }, permission_mode: 'default' };
    const asks = { ...call, hook_event_name: 'PermissionRequest', session_id: 'far-1', cwd: '/' };
    const hook = await fire(`http://127.0.0.1:${network.port}`, file, asks);
    const [{ ask_id } = expect.fail()] = await untilPending(hive);
    await eventually(async () => (await hive.prompts.get(ask_id)).blocked_since !== null);
    return { hook, prompt: () => hive.prompts.get(ask_id), cut: () => network.redirect(port) };
  }

  test('waits in its terminal if the connection ends, and counts as answered by nobody', async () => {
    const { hook, prompt, cut } = await waiting();
    cut();
    await hook.ended;
    await eventually(
      async () => (await prompt()).terminal_since !== null || (await prompt()).status !== 'pending',
    );
    expect(await prompt()).toMatchObject({ status: 'pending', blocked_since: expect.any(String) });
  });

  test('is withdrawn if its client takes it back, as after Esc', async () => {
    const { hook, prompt } = await waiting();
    hook.takeBack();
    await hook.ended;
    await eventually(
      async () => (await prompt()).terminal_since !== null || (await prompt()).status !== 'pending',
    );
    expect(await prompt()).toMatchObject({ cancel_reason: 'answered_elsewhere', by: 'terminal' });
  });
});

describe('the permission rules of the serving machine', () => {
  const asks = {
    hook_event_name: 'PermissionRequest',
    session_id: 'far-1',
    cwd: '/',
    tool_name: 'Bash',
    tool_input: { command: 'make' },
  };

  test('answer an agent of another machine if they name it', async () => {
    const store = tempStore();
    const env = trusting({});
    const write = (rule: object): void =>
      writeFileSync(trustFileOf(env['XDG_CONFIG_HOME']), JSON.stringify({ permission_rules: [rule] }));
    const served = await serveWith(store, env);
    const file = tokenFileOf(served);
    await runRemoteHook(served, FAR_START, file);
    const allow = { decision: 'allow', tool: 'Bash', input: 'make' };
    write(allow);
    expect((await runRemoteHook(served, asks, file)).out).not.toContain('allow');
    write({ ...allow, machine: 'token:default', name: 'builds' });
    expect((await runRemoteHook(served, asks, file)).out).toContain('"allow"');
    const hive = await openTestHive(store);
    expect((await hive.prompts.list({ status: 'responded', limit: 9 })).items).toMatchObject([
      { by: 'builds', via: 'rule' },
    ]);
  });

  test('store what was allowed as it was written, numbers too', async () => {
    const store = tempStore();
    const permission_rules = [{ decision: 'allow', tool: 'mcp__bank__pay', machine: 'token:default' }];
    const served = await serveWith(store, trusting({ permission_rules }));
    const file = tokenFileOf(served);
    await runRemoteHook(served, FAR_START, file);
    const tool_input = { amount: parseJson('9007199254740993') };
    await runRemoteHook(served, { ...asks, tool_name: 'mcp__bank__pay', tool_input }, file);
    const hive = await openTestHive(store);
    const [prompt] = (await hive.prompts.list({ status: 'responded', limit: 9 })).items;
    expect(prompt?.context).toContain('amount: 9007199254740993');
  });
});
