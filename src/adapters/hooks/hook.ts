/** One hook call: the event on stdin, the verdict on stdout. The command line names the client, else the event shows it. */
import { invalidInput } from '../../domain/errors.ts';
import type { HookClient, HookEvent, Verdict } from '../../domain/hooks.ts';
import { readClaudeCode, sayClaudeCode } from './claude-code.ts';
import { readCodex, sayCodex } from './codex.ts';
import type { Environment, Raw } from './event.ts';

/** Parses an event. @throws HiveError `invalid_input` when it is not a hook event. */
export function readHook(stdin: string, env: Environment, client: HookClient | null): HookEvent {
  return readEvent(parse(stdin), env, client);
}

/** The same for an event that is parsed already. @throws HiveError `invalid_input` when it is not a hook event. */
export function readEvent(raw: Raw, env: Environment, client: HookClient | null): HookEvent {
  return (client ?? guessClient(raw)) === 'codex' ? readCodex(raw, env) : readClaudeCode(raw, env);
}

/** What to print for a verdict: JSON and nothing else, or nothing at all. */
export function sayVerdict(event: HookEvent, verdict: Verdict): string {
  const said = event.client === 'codex' ? sayCodex(event, verdict) : sayClaudeCode(event, verdict);
  return said === null ? '' : JSON.stringify(said);
}

function parse(stdin: string): Raw {
  let value: unknown;
  try {
    value = JSON.parse(stdin);
  } catch {
    throw invalidInput('The hook event on stdin is not JSON.');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalidInput('The hook event on stdin is not a JSON object.');
  return value as Raw;
}

/** Codex keeps its transcripts as rollout files and names turns; Claude Code does neither. */
function guessClient(raw: Raw): HookClient {
  const transcript = raw['transcript_path'];
  return 'turn_id' in raw || (typeof transcript === 'string' && /\/rollout-[^/]*$/.test(transcript))
    ? 'codex'
    : 'claude-code';
}
