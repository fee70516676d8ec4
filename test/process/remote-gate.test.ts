/**
 * The mention gate for an agent on another machine.
 *
 * @module-tag guards-end
 * @module-tag http
 * @module-tag hook
 */
import { describe, expect, test } from 'vitest';
import { agentAuthor } from '../../src/domain/messages.ts';
import { processes } from '../../src/infrastructure/platform/processes.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { endedProcess } from '../support/ended-process.ts';
import { introduce } from '../support/hive.ts';
import {
  connectBridge,
  FAR,
  FAR_START,
  farCall,
  farSession,
  runRemoteHook,
  serveFar,
} from '../support/remote.ts';
import { connectHttp, type Served, serve } from '../support/serve.ts';

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
  async function mentioned(): Promise<{ served: Served; file: string; hive: OpenedHive }> {
    const { served, file, hive } = await serveFar();
    const { handle } = await farSession(hive, () => runRemoteHook(served, FAR_START, file));
    const other = await introduce(hive, 'session-9');
    await hive.messages.post({ body: `@${handle} look`, scope: 'all', author: agentAuthor(other, 'mcp') });
    return { served, file, hive };
  }

  test('blocks a session whose MCP is over HTTP until it has processed its mentions', async () => {
    const { served, file, hive } = await mentioned();
    expect((await runRemoteHook(served, bash('far-1'), file)).out).not.toContain('"deny"');
    const agent = await connectHttp(served);
    const held = await runRemoteHook(served, bash('far-1'), file);
    expect(JSON.parse(held.out).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' });
    await agent.call('hivemind_status');
    // It has called as another session, so it is not this one's to clear with.
    expect((await runRemoteHook(served, bash('far-1'), file)).out).not.toContain('"deny"');
    await runRemoteHook(served, farCall('use-9'), file);
    await agent.call('hivemind_process_mentions', { all: true }, { 'claudecode/toolUseId': 'use-9' });
    expect(await hive.mentions.has(FAR)).toMatchObject({ gating: 0 });
  });

  test('blocks one behind the bridge from its first call on, identified by its process', async () => {
    const { served, file } = await mentioned();
    const agent = await connectBridge(served);
    await agent.call('hivemind_status');
    const held = await runRemoteHook(served, bash('far-1'), file, {
      CLAUDE_PID: String(processes.ancestors(agent.pid)[0]),
    });
    expect(held.out).toContain('"deny"');
    // Another client of that machine has no connection.
    const other = { CLAUDE_PID: String(endedProcess()) };
    await runRemoteHook(served, { ...FAR_START, session_id: 'far-2' }, file, other);
    expect((await runRemoteHook(served, bash('far-1'), file, other)).out).not.toContain('"deny"');
  });

  test('blocks one behind the bridge whose hooks do not name its process, as after the server was restarted', async () => {
    const { served, file } = await mentioned();
    const codex = { CLAUDE_PID: '' };
    expect((await runRemoteHook(served, bash('far-1'), file, codex)).out).not.toContain('"deny"');
    await connectBridge(served);
    expect((await runRemoteHook(served, bash('far-1'), file, codex)).out).toContain('"deny"');
  });

  test('only reminds after the connection has ended, whoever ended it', async () => {
    const { served, file, hive } = await mentioned();
    const agent = await connectBridge(served);
    await agent.call('hivemind_status');
    const open = (): Promise<number> =>
      hive.store.read(async (tx) => (await tx.sessions.connections('token:default')).length);
    expect(await open()).toBe(1);
    await served.child.kill('SIGTERM');
    expect(await open()).toBe(0);
    const again = await serve(served.store);
    expect((await runRemoteHook(again, bash('far-1'), file)).out).not.toContain('"deny"');
  });
});
