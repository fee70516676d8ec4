/** A recorded session that the mention gate may hold, its events, and others who mention it. */

import { type Author, agentAuthor } from '../../src/domain/messages.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ENDED } from './ended-process.ts';
import { introduce, openTestHive } from './hive.ts';
import { fire } from './hooks.ts';

export const GATED_SESSION: string = '5e551000-0000-4000-8000-000000000001';

export const gatedEvent = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  session_id: GATED_SESSION,
  transcript_path: `/home/user/.claude/projects/p/${GATED_SESSION}.jsonl`,
  cwd: '/home/user/project',
  prompt_id: 'prompt-1',
  hook_event_name: name,
  ...more,
});

export const gatedBash = (command = 'ls', more = {}): Record<string, unknown> =>
  gatedEvent('PreToolUse', { tool_name: 'Bash', tool_input: { command }, tool_use_id: 'toolu_1', ...more });

export async function otherAgent(hive: OpenedHive, session_id = 'def34-other'): Promise<Author> {
  return agentAuthor(await introduce(hive, session_id), 'mcp');
}

/** A hive, on its own store unless one is given, with a recorded session that has a live connection. */
export async function gatedWorld(
  store?: string,
): Promise<{ hive: OpenedHive; handle: string; mention(body: string, more?: object): Promise<void> }> {
  const hive = await openTestHive(store);
  await fire(hive, gatedEvent('SessionStart', { source: 'startup' }));
  await hive.callers.openConnection({
    connection_id: 'connection-1',
    machine: 'test',
    pid: process.pid,
    parent_pid: ENDED,
  });
  const handle = (await hive.sessions.find(GATED_SESSION))?.handle ?? '';
  const author = await otherAgent(hive);
  return {
    hive,
    handle,
    async mention(body, more = {}) {
      await hive.messages.post({ body: body.replace('@me', `@${handle}`), scope: 'all', author, ...more });
    },
  };
}
