/**
 * One hook call: the event as a client writes it, and the verdict as that client reads it. The command line names the client;
 * otherwise the event shows it. application/hooks.ts handles the event.
 */
import { invalidInput } from '../../domain/errors.ts';
import type { DialogAnswer, HookClient, HookEvent, HookTool, Verdict } from '../../domain/hooks.ts';
import { isFields, objectIn, objectsIn, type Raw } from '../../domain/json.ts';
import { parseJson } from '../../domain/json-numbers.ts';
import { attendedIn, decideSource, type Environment, sourceEvidence } from '../../domain/sources.ts';
import { cleanText, isTooDeep, TOO_DEEP } from '../../domain/text.ts';
import { threadOfRollout } from '../../domain/transcripts.ts';

/** Parses an event. @throws HiveError `invalid_input` when it is not a hook event. */
export function parseEvent(stdin: string, env: Environment, client: HookClient | null): HookEvent {
  return readEvent(readRaw(stdin), env, client);
}

/** The same for an event that is parsed already. @throws HiveError `invalid_input` when it is not a hook event. */
export function readEvent(given: Raw, env: Environment, client: HookClient | null): HookEvent {
  const raw = acceptedEvent(given, (event) => (isTooDeep(event) ? TOO_DEEP : null));
  return (client ?? guessClient(raw)) === 'codex' ? readCodex(raw, env) : readClaudeCode(raw, env);
}

/**
 * The event, or what is left of it without the texts of the agent where `refusalOf` says why it cannot be taken: an agent, which
 * writes them, passes no gate and no interrupt that way. A dialog of such a call is left to the client, because a desk could not
 * display it. @throws HiveError `invalid_input` for a dialog, and if the rest cannot be taken either.
 */
export function acceptedEvent(given: Raw, refusalOf: (event: Raw) => string | null): Raw {
  const why = refusalOf(given);
  if (why === null) return given;
  const raw = withoutTexts(given);
  const refusal = given['hook_event_name'] === 'PermissionRequest' ? why : refusalOf(raw);
  if (refusal !== null) throw invalidInput(refusal);
  return raw;
}

/** In characters. Only the beginning of a prompt is read. */
const LONGEST_PROMPT = 10_000;

function withoutTexts(given: Raw): Raw {
  const { last_assistant_message: _, ...rest } = given;
  const { prompt, tool_calls } = given;
  return {
    ...rest,
    tool_input: null,
    tool_response: null,
    ...(typeof prompt === 'string' ? { prompt: prompt.slice(0, LONGEST_PROMPT) } : {}),
    ...(Array.isArray(tool_calls)
      ? { tool_calls: objectsIn(tool_calls).map(({ tool_use_id }) => ({ tool_use_id })) }
      : {}),
  };
}

/** The output for a verdict: JSON and nothing else, or nothing at all. */
export function sayVerdict(event: HookEvent, verdict: Verdict): string {
  const output = event.client === 'codex' ? sayCodex(event, verdict) : sayClaudeCode(event, verdict);
  return output === null ? '' : JSON.stringify(output);
}

/** The JSON of an event. @throws HiveError `invalid_input` for anything else. */
export function readRaw(stdin: string): Raw {
  let value: unknown;
  try {
    // Only the exact reader runs out of stack.
    value = unlessTooDeep(() => parseJson(stdin)) ?? JSON.parse(stdin);
  } catch {
    throw invalidInput('The hook event on stdin is not JSON.');
  }
  if (!isFields(value)) throw invalidInput('The hook event on stdin is not a JSON object.');
  return value;
}

/** Undefined if it ran out of stack. */
function unlessTooDeep<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Codex keeps its transcripts as rollout files and names turns; Claude Code does neither. */
function guessClient(raw: Raw): HookClient {
  const transcript = raw['transcript_path'];
  return 'turn_id' in raw || (typeof transcript === 'string' && /\/rollout-[^/]*$/.test(transcript))
    ? 'codex'
    : 'claude-code';
}

// ---- What both clients have in common ----
// The fields come from outside, so each is checked.

/** A non-empty string field, cleaned; null for anything else. */
function text(raw: Raw, field: string): string | null {
  const value = raw[field];
  return typeof value === 'string' && value !== '' ? cleanText(value) : null;
}

/** Ids are kept for as long as their session is. An index row may hold several, and PostgreSQL limits it to 2,704 bytes. */
const LONGEST_ID = 500;

/** An id. @throws HiveError `invalid_input` for one that no client makes. */
function idIn(raw: Raw, field: string): string | null {
  const id = text(raw, field);
  if (id !== null && Buffer.byteLength(id) > LONGEST_ID)
    throw invalidInput(`The ${field} of the hook event is too long: at most ${LONGEST_ID} bytes.`);
  return id;
}

/**
 * The fields that every event has.
 * @throws HiveError `invalid_input` for an event without a name or a session.
 */
function commonFields(
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
  const session_id = idIn(raw, 'session_id');
  if (name === null) throw invalidInput('The hook event has no hook_event_name.');
  if (session_id === null) throw invalidInput(`The hook event ${name} has no session_id.`);
  return {
    name,
    session_id,
    agent_id: idIn(raw, 'agent_id'),
    cwd: text(raw, 'cwd') ?? '.',
    transcript_path: text(raw, 'transcript_path'),
    prompt: text(raw, 'prompt'),
    reason: text(raw, name === 'SessionEnd' ? 'reason' : 'source'),
    stop_hook_active: raw['stop_hook_active'] === true,
    raw,
  };
}

/** Whether an event begins a conversation that branches off another one, with its own id. */
function isFork({ name, reason }: Pick<HookEvent, 'name' | 'reason'>): boolean {
  return name === 'SessionStart' && reason === 'fork';
}

/** Our tools, by server name: as configured directly, or as part of our plugin. */
const OWN_TOOL = /^mcp__(?:hive|plugin_hive_hive)__(hivemind_[a-z_]+)$/;

/** The tool that an event is about; null when there is none. */
function toolOf(raw: Raw): HookTool | null {
  const name = text(raw, 'tool_name');
  if (name === null) return null;
  const own = OWN_TOOL.exec(name)?.[1] ?? null;
  return {
    name,
    input: raw['tool_input'] ?? null,
    use_id: idIn(raw, 'tool_use_id'),
    response: raw['tool_response'] ?? null,
    own,
  };
}

/** Several texts joined into one for the model; null when there are none. */
function joinContext(context: readonly string[]): string | null {
  return context.length === 0 ? null : context.join('\n\n');
}

// ---- Claude Code ----
// Recorded with 2.1.330. One character before the JSON, or a wrong hookEventName, and the client runs the tool.

/** Parses an event of Claude Code. */
export function readClaudeCode(raw: Raw, env: Environment): HookEvent {
  const common = commonFields(raw);
  const pid = Number(env['CLAUDE_PID']);
  const attended = attendedIn(env);
  return {
    ...common,
    client: 'claude-code',
    // A subagent's events name the newest prompt of the session, which may have come after the subagent began.
    client_turn_id: common.agent_id === null ? idIn(raw, 'prompt_id') : null,
    pid: Number.isInteger(pid) && pid > 0 ? pid : null,
    source: decideSource({ ...sourceEvidence(env), forked: isFork(common) }),
    attended: attended === undefined ? null : attended === '1',
    tool: toolOf(raw),
    batch:
      'tool_calls' in raw
        ? objectsIn(raw['tool_calls']).flatMap((call) => idIn(call, 'tool_use_id') ?? [])
        : null,
    background_agents: backgroundAgents(raw),
    running_agents: common.name === 'Stop' ? runningAgents(raw) : null,
  };
}

/**
 * The subagents that run in the background, also as teammates. Only the result of the Agent tool and the list at a Stop show that.
 * A teammate in a pane of its own is a session and no subagent.
 */
function backgroundAgents(raw: Raw): string[] {
  const response = objectIn(raw['tool_response']);
  const isLaunched = response?.['isAsync'] === true || response?.['tmux_pane_id'] === 'in-process';
  const launched = response !== null && isLaunched ? text(response, 'agentId') : null;
  const running = subagentsIn(objectsIn(raw['background_tasks']));
  return launched === null ? running : [launched, ...running];
}

function subagentsIn(tasks: readonly Raw[]): string[] {
  return tasks.flatMap((task) => (task['type'] === 'subagent' ? (text(task, 'id') ?? []) : []));
}

/** Tasks of these types run no subagent under another id. A teammate and a workflow do. */
const PLAIN_TASKS: ReadonlySet<unknown> = new Set(['subagent', 'shell', 'monitor']);

/** At a Stop, nothing else runs than what it lists. */
function runningAgents(raw: Raw): string[] | null {
  const tasks = objectsIn(raw['background_tasks']);
  const isWhole = Array.isArray(raw['background_tasks']) && tasks.every(({ type }) => PLAIN_TASKS.has(type));
  return isWhole ? subagentsIn(tasks) : null;
}

const CLAUDE_ACCEPTS_CONTEXT: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'SubagentStart',
]);

/**
 * In these events additional context makes the agent go on, since 2.1.163. `decision: "block"` does so too, but the terminal then
 * reports a problem, and newer versions tell the model that the reason is not from the user.
 */
const CLAUDE_STOPS: ReadonlySet<string> = new Set(['Stop', 'SubagentStop']);

/** The output for Claude Code; null prints nothing, which leaves the decision to the client. */
function sayClaudeCode({ name, tool }: HookEvent, verdict: Verdict): object | null {
  const output: Record<string, unknown> = {};
  const specific: Record<string, unknown> = {};
  if (name === 'PreToolUse' && verdict.deny !== null) {
    specific['permissionDecision'] = 'deny';
    specific['permissionDecisionReason'] = verdict.deny;
  } else if (name === 'PreToolUse' && verdict.defer !== null) {
    specific['permissionDecision'] = 'defer';
    specific['permissionDecisionReason'] = verdict.defer;
  } else if (verdict.decision !== null) {
    Object.assign(specific, sayClaudeDecision({ name, tool }, verdict.decision));
  }
  const context = joinContext(verdict.context);
  if (context !== null && CLAUDE_ACCEPTS_CONTEXT.has(name)) specific['additionalContext'] = context;
  if (verdict.block !== null && CLAUDE_STOPS.has(name)) {
    specific['additionalContext'] = verdict.block;
  } else if (verdict.block !== null) {
    output['decision'] = 'block';
    output['reason'] = verdict.block;
  }
  if (verdict.end_turn !== null) {
    output['continue'] = false;
    output['stopReason'] = verdict.end_turn;
  }
  if (verdict.notice !== null) output['systemMessage'] = verdict.notice;
  if (Object.keys(specific).length > 0) output['hookSpecificOutput'] = { hookEventName: name, ...specific };
  return Object.keys(output).length > 0 ? output : null;
}

/** The answer to a dialog. PermissionRequest, PreToolUse and Elicitation each take a shape of their own. */
function sayClaudeDecision({ name, tool }: Pick<HookEvent, 'name' | 'tool'>, decision: DialogAnswer): object {
  if (decision.kind === 'form') return { action: decision.action, content: decision.content };
  if (name === 'PreToolUse') {
    return decision.kind === 'deny'
      ? { permissionDecision: 'deny', permissionDecisionReason: decision.message }
      : // The call as displayed, because another hook may have changed it: the last one to answer decides.
        { permissionDecision: 'allow', updatedInput: decision.input ?? objectIn(tool?.input) ?? undefined };
  }
  if (decision.kind === 'deny') {
    const { message, interrupt } = decision;
    return { decision: { behavior: 'deny', message, ...(interrupt ? { interrupt } : {}) } };
  }
  const { input, permissions } = decision;
  return {
    decision: {
      behavior: 'allow',
      ...(input === null ? {} : { updatedInput: input }),
      ...(permissions.length === 0 ? {} : { updatedPermissions: permissions }),
    },
  };
}

// ---- Codex ----
// Recorded with 0.169. With one unknown field, such as `continue:false` next to a denial, it runs the tool.

/** Parses an event of Codex. */
function readCodex(raw: Raw, env: Environment): HookEvent {
  const common = commonFields(raw);
  const thread = threadOfRollout(common.transcript_path);
  return {
    ...common,
    // A review has a thread of its own, which only its rollout shows.
    agent_id: common.agent_id ?? (thread === common.session_id ? null : thread),
    client: 'codex',
    client_turn_id: idIn(raw, 'turn_id'),
    // All terminals share one daemon, whose environment is the first terminal's, so no process identifies a session.
    pid: null,
    // Only what was set for Hive: a Codex started by Claude Code inherits Claude Code's variables.
    source: decideSource({ variable: env['HIVE_SOURCE'], forked: isFork(common) }),
    attended: null,
    tool: toolOf(raw),
    batch: null,
    background_agents: [],
    running_agents: null,
  };
}

const CODEX_ACCEPTS_CONTEXT: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'SubagentStart',
]);

/** The output for Codex; null prints nothing, which leaves the decision to the client. */
function sayCodex({ name }: HookEvent, verdict: Verdict): object | null {
  // Codex cannot end a turn from a tool's hook, so the reason of the denial asks the model to stop.
  const deny = verdict.deny ?? (name === 'PreToolUse' ? verdict.end_turn : null);
  if (name === 'PreToolUse' && deny !== null) {
    return specific(name, { permissionDecision: 'deny', permissionDecisionReason: deny });
  }
  if (verdict.block !== null) return { decision: 'block', reason: verdict.block };
  if (name === 'PermissionRequest' && verdict.decision !== null)
    return sayCodexDecision(name, verdict.decision);
  const context = joinContext(verdict.context);
  if (context === null || !CODEX_ACCEPTS_CONTEXT.has(name)) return null;
  return {
    ...specific(name, { additionalContext: context }),
    ...(name === 'UserPromptSubmit' && verdict.notice !== null ? { systemMessage: verdict.notice } : {}),
  };
}

function specific(hookEventName: string, fields: Record<string, unknown>): object {
  return { hookSpecificOutput: { hookEventName, ...fields } };
}

/** A bare yes or no: an updated input or an interrupt would make its hook fail. */
function sayCodexDecision(name: string, decision: DialogAnswer): object | null {
  if (decision.kind === 'allow') return specific(name, { decision: { behavior: 'allow' } });
  if (decision.kind === 'form') return null;
  return specific(name, { decision: { behavior: 'deny', message: decision.message } });
}
