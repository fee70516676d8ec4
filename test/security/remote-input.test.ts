/**
 * A hook of another machine whose call the server would refuse to read: what an agent writes into its calls passes no guard.
 *
 * @module-tag untrusted
 * @module-tag guards-end
 * @module-tag http
 * @module-tag hook
 */
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RemoteReply } from '../../src/application/hook-context.ts';
import type { Token } from '../../src/domain/tokens.ts';
import { sendHook } from '../../src/extensions/serve/sending.ts';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { ENDED } from '../support/ended-process.ts';
import { HUMAN, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import {
  FAR,
  FAR_START,
  farCall,
  farSession,
  NO_STORE,
  runRemoteHook,
  serveFar,
  tokenFileOf,
} from '../support/remote.ts';
import { serve, serveHere } from '../support/serve.ts';
import { tcpProxy } from '../support/tcp-proxy.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const LARGE = JSON.stringify('x'.repeat(2 * 1024 * 1024));

const ENDLESS: readonly (readonly [what: string, input: string])[] = [
  ['nests as deep as a hook here may', nested(199)],
  ['nests too deep', nested(250)],
  ['nests deeper than a stack', nested(5_000)],
  ['has too many values', `[${Array.from({ length: 25_000 }, () => 0)}]`],
  ['is too large', LARGE],
];

describe('a call on another machine whose input', () => {
  const event = (hook_event_name: string, more: object = {}): Record<string, unknown> => ({
    hook_event_name,
    session_id: 'far-1',
    cwd: '/',
    prompt_id: 'p1',
    ...more,
  });
  const call = (name: string): Record<string, unknown> =>
    event(name, { tool_name: 'Bash', tool_use_id: 'use-1' });
  /** An event with one more field, whose value is written as JSON. */
  const and = (given: object, field: string, value: string): string =>
    `${JSON.stringify(given).slice(0, -1)},"${field}":${value}}`;

  /** A turn there that its human has interrupted here. */
  async function interrupted() {
    const { served, file, hive } = await serveFar();
    const typed = event('UserPromptSubmit', { prompt: 'Go.' });
    await farSession(hive, () => runRemoteHook(served, typed, file));
    const asked = hive.interrupts.interrupt({ session: FAR, note: 'wrong branch', actor: HUMAN });
    await eventually(async () => (await hive.turns.newestOf([FAR]))[0]?.interrupts.length === 1);
    return { served, file, asked };
  }

  test.each(ENDLESS)('%s is interrupted like any other', async (_what, input) => {
    const { served, file, asked } = await interrupted();
    const ran = await runRemoteHook(served, and(call('PreToolUse'), 'tool_input', input), file);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('wrong branch');
    await runRemoteHook(served, and(event('Stop'), 'last_assistant_message', input), file);
    await asked;
  });

  test('is too large is interrupted over the connection, too', async () => {
    const { served, file, asked } = await interrupted();
    const args = ['--url', served.url, '--token-file', file];
    const agent = await connectMcp({ store: NO_STORE, args, env: { CLAUDE_PID: String(ENDED) } });
    const said = await agent.client.callTool({
      name: 'hook_event',
      arguments: { ...call('PreToolUse'), tool_input: LARGE },
    });
    expect(JSON.stringify(said)).toContain('wrong branch');
    await runRemoteHook(served, event('Stop'), file);
    await asked;
  });

  test.each(ENDLESS.slice(1))(
    '%s is allowed by its client alone, and stderr says why',
    async (_what, input) => {
      const { served, file } = await serveFar();
      const ran = await runRemoteHook(served, and(call('PermissionRequest'), 'tool_input', input), file);
      expect(ran).toMatchObject({ code: 0, out: '' });
      expect(ran.err).toMatch(/^hive hook: The (?:JSON|hook event) .+\.\n$/);
    },
  );
});

test('a session is woken, however long its last words are', async () => {
  const { served, file, hive } = await serveFar();
  const session = await farSession(hive, () => runRemoteHook(served, FAR_START, file));
  const { prompt } = await hive.prompts.ask({ question: 'Which port?' }, session);
  await hive.prompts.respond({ ask_id: prompt.ask_id, decision: '8080', actor: HUMAN });
  const waker = spawnHive(
    ['hook', '--wake', '--url', served.url, '--token-file', file],
    childEnvironment(NO_STORE, { CLAUDE_PID: String(process.pid), CLAUDE_CODE_SESSION_ATTENDED: '1' }),
  );
  waker.process.stdin.end(
    JSON.stringify({ ...FAR_START, hook_event_name: 'Stop', last_assistant_message: LARGE }),
  );
  expect(await waker.exited).toMatchObject({ code: 2 });
  expect(waker.stderr()).toContain(`${prompt.ask_id} is answered`);
});

test('a call is held that comes at once with more others than the server takes', async () => {
  const hive = await openTestHive();
  const token = { name: 'default', agent: 'a', role: 'agent', projects: [], digest: 'd' } as unknown as Token;
  const tokens = { verify: async () => token, holds: async () => true, watch: () => () => undefined };
  const handled: unknown[] = [];
  const routes = {
    '/hook': async ({ response, json }: { response: ServerResponse; json: unknown }): Promise<void> => {
      handled.push((json as { event: { tool_use_id: string } }).event.tool_use_id);
      response.end('{"stdout":"held"}');
    },
  };
  const { url } = await serveHere(hive, { tokens, routes, burst: 2, rate: 5 });
  const token_file = join(tempFolder(), 'token');
  writeFileSync(token_file, 'hive_x', { mode: 0o600 });
  const send = (id: string): Promise<RemoteReply> => {
    const text = JSON.stringify(farCall(id));
    return sendHook({ url, token_file }, { text, client: 'claude-code', env: {}, cwd: '/' }, () => undefined);
  };
  const replies = await Promise.all(['1', '2', '3'].map(send));
  expect(replies.map(({ stdout }) => stdout)).toEqual(['held', 'held', 'held']);
  expect(handled.toSorted()).toEqual(['1', '2', '3']);
});

test.each([
  ['closed', { HIVE_GATE_FAIL: 'closed' }],
  ['open', {}],
] as const)('a hook over the connection fails %s if so configured, and says why', async (how, env) => {
  const served = await serve(tempStore());
  const network = await tcpProxy(Number(new URL(served.url).port));
  const url = served.url.replace(/:\d+\//, `:${network.port}/`);
  const args = ['--url', url, '--token-file', tokenFileOf(served)];
  const agent = await connectMcp({ store: NO_STORE, args, env });
  network.redirect(1);
  const call = { hook_event_name: 'PreToolUse', session_id: 'far-1', cwd: '/', tool_name: 'Bash' };
  const answer = agent.client.callTool({ name: 'hook_event', arguments: call });
  const said = await answer.then(JSON.stringify, (error: unknown) => String(error));
  expect(said).toContain('cannot be reached');
  expect(/permissionDecision\W+deny/.test(said)).toBe(how === 'closed');
});
