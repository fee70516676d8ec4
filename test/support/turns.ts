/** Common queries of tests of turns. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Turn } from '../../src/domain/turns.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from './children.ts';
import { eventsOf } from './hive.ts';
import { type Client, fire } from './hooks.ts';

type Raw = Record<string, unknown>;

export const SESSION = 'session-1';

/** Every turn of a session, in the order in which they began. */
export async function turnsOf(hive: OpenedHive, session_id: string = SESSION): Promise<Turn[]> {
  const ids = (await eventsOf(hive, 'turn/changed')).filter(({ session_id: of }) => of === session_id);
  const unique = [...new Set(ids.map(({ subject }) => subject ?? ''))];
  return Promise.all(unique.map((turn_id) => hive.turns.get(turn_id)));
}

/** One text per turn: `completed`, `aborted: interrupted by terminal`, `in_progress`. */
export async function endsOf(hive: OpenedHive, session_id?: string): Promise<string[]> {
  return (await turnsOf(hive, session_id)).map(({ state, abort_reason, by }) =>
    state === 'aborted' ? `${abort_reason}${by === null ? '' : ` by ${by}`}` : state,
  );
}

/** The end of a recorded transcript, as a hook reads it. */
export function recordedTail(name: string): () => string {
  const text = readFileSync(
    join(ROOT, 'test/wire/fixtures/claude-code/transcripts', `${name}.jsonl`),
    'utf8',
  );
  return () => text;
}

/** A client that fires given events of Claude Code as session-1. */
export function claude(hive: OpenedHive, options: Client & { session_id?: string } = {}) {
  const { session_id = SESSION, ...client } = options;
  const raw = (hook_event_name: string, fields: Raw): Raw => ({
    session_id,
    cwd: '/demo',
    transcript_path: '/demo/transcript.jsonl',
    hook_event_name,
    ...fields,
  });
  const say = (name: string, fields: Raw = {}): Promise<string> => fire(hive, raw(name, fields), client);
  return {
    say,
    start: (source = 'startup') => say('SessionStart', { source }),
    prompt: (prompt_id: string | undefined, prompt = 'go') => say('UserPromptSubmit', { prompt_id, prompt }),
    pre: (prompt_id: string | undefined, tool_use_id: string, tool_name = 'Bash') =>
      say('PreToolUse', { prompt_id, tool_use_id, tool_name, tool_input: {} }),
    post: (prompt_id: string | undefined, tool_use_id: string, tool_name = 'Bash') =>
      say('PostToolUse', { prompt_id, tool_use_id, tool_name, tool_input: {}, tool_response: {} }),
    batch: (prompt_id: string | undefined, ...ids: string[]) =>
      say('PostToolBatch', {
        prompt_id,
        tool_calls: ids.map((tool_use_id) => ({ tool_use_id, tool_name: 'Bash' })),
      }),
    stop: (prompt_id: string | undefined, stop_hook_active = false) =>
      say('Stop', { prompt_id, stop_hook_active, background_tasks: [] }),
    end: (prompt_id: string | undefined, reason = 'other') => say('SessionEnd', { prompt_id, reason }),
  };
}
