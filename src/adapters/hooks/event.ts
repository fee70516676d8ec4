/** Hook events: the fields that both clients have in common. They come from outside, so each is checked. */
import { invalidInput } from '../../domain/errors.ts';
import type { HookEvent, HookTool } from '../../domain/hooks.ts';
import { cleanText } from '../../domain/text.ts';

/** An event as parsed JSON, unchecked. */
export type Raw = Readonly<Record<string, unknown>>;
/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A non-empty string field, cleaned; null for anything else. */
export function text(raw: Raw, field: string): string | null {
  const value = raw[field];
  return typeof value === 'string' && value !== '' ? cleanText(value) : null;
}

/**
 * The fields that every event has.
 * @throws HiveError `invalid_input` for an event without a name or a session.
 */
export function commonFields(
  raw: Raw,
): Pick<
  HookEvent,
  | 'name'
  | 'session_id'
  | 'agent_id'
  | 'cwd'
  | 'transcript_path'
  | 'prompt'
  | 'reason'
  | 'stop_hook_active'
  | 'raw'
> {
  const name = text(raw, 'hook_event_name');
  const session_id = text(raw, 'session_id');
  if (name === null) throw invalidInput('The hook event has no hook_event_name.');
  if (session_id === null) throw invalidInput(`The hook event ${name} has no session_id.`);
  return {
    name,
    session_id,
    agent_id: text(raw, 'agent_id'),
    cwd: text(raw, 'cwd') ?? '.',
    transcript_path: text(raw, 'transcript_path'),
    prompt: text(raw, 'prompt'),
    reason: text(raw, name === 'SessionEnd' ? 'reason' : 'source'),
    stop_hook_active: raw['stop_hook_active'] === true,
    raw,
  };
}

/** Whether an event begins a conversation that branches off another one, with its own id. */
export function isFork({ name, reason }: Pick<HookEvent, 'name' | 'reason'>): boolean {
  return name === 'SessionStart' && reason === 'fork';
}

/** Our tools, by server name: as configured directly, or as part of our plugin. */
const OWN_TOOL = /^mcp__(?:hive|plugin_hive_hive)__(hivemind_[a-z_]+)$/;

/** The tool that an event is about; null when there is none. */
export function toolOf(raw: Raw): HookTool | null {
  const name = text(raw, 'tool_name');
  if (name === null) return null;
  const own = OWN_TOOL.exec(name)?.[1] ?? null;
  return {
    name,
    input: raw['tool_input'] ?? null,
    use_id: text(raw, 'tool_use_id'),
    response: raw['tool_response'] ?? null,
    own,
  };
}

/** A list of objects in a field; empty for anything else. */
export function objects(value: unknown): Raw[] {
  return Array.isArray(value)
    ? value.filter((item): item is Raw => item !== null && typeof item === 'object')
    : [];
}

/** Several texts joined into one for the model; null when there are none. */
export function joinContext(context: readonly string[]): string | null {
  return context.length === 0 ? null : context.join('\n\n');
}
