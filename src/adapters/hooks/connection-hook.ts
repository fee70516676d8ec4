/**
 * Hooks over the connection: the client calls a tool of the MCP server that it is connected to, instead of starting a
 * process for each event. The client passes all fields as text, so the event is first rebuilt from them. adapters/mcp/stdio.ts
 * takes these calls off the connection; application/hooks.ts handles the event.
 */
import { beside } from '../../application/background.ts';
import type { Hive } from '../../application/hive.ts';
import type { ConnectionHook, HookCall, HookSurroundings } from '../../application/hook-context.ts';
import { type HookClient, type HookEvent, hookClient, sessionOf } from '../../domain/hooks.ts';
import type { Raw } from '../../domain/json.ts';
import { parseJson } from '../../domain/json-numbers.ts';
import { labelled } from '../../domain/sources.ts';
import { readEvent, sayVerdict } from './hook.ts';

/** The surroundings of the connected process; the project is that of the event. */
export type ConnectionSurroundings = Omit<HookSurroundings, 'findProject' | 'withoutTimeLimit'> & {
  findProject: (cwd: string) => ReturnType<HookSurroundings['findProject']>;
};

/** The handler of a connection's hooks. */
export function createConnectionHook(hive: Hive, surroundings: ConnectionSurroundings): ConnectionHook {
  const fails_closed = surroundings.env['HIVE_GATE_FAIL'] === 'closed';
  const env = hookEnvironment(surroundings.env);
  const failures = createFailures(hive);
  return async (call, signal) => {
    let name: unknown = call.args['hook_event_name'];
    try {
      const raw = eventIn(call);
      const event = await withSource(hive, readEvent(raw, env, clientOf(raw)));
      name = event.name;
      const verdict = await hive.hooks.handle(event, {
        ...surroundings,
        // An event that cannot be recorded must still be able to deny.
        answers_first: !fails_closed,
        findProject: () => surroundings.findProject(surroundings.env['CLAUDE_PROJECT_DIR'] ?? event.cwd),
        withoutTimeLimit: (work) => work(signal),
      });
      // Recorded as printed once it has left, which is when this process reaches its next task. A cancelled call gets no
      // answer, so whatever its output carried is handed over again.
      if (verdict.output_id !== null && !signal.aborted)
        setImmediate(() => hive.hooks.printed(verdict).catch(() => undefined));
      failures.report(event);
      return sayVerdict(event, verdict);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      hive.log.error('A hook failed.', { event: String(name), error: reason });
      if (fails_closed) return refusal(String(name), reason);
      failures.note(reason);
      return '';
    }
  };
}

/** The failures of one connection. The human is notified of each reason once. */
function createFailures(hive: Hive) {
  const known = new Set<string>();
  let unreported: string[] = [];
  return {
    /** Records why a hook failed; the agent went on without it. */
    note(reason: string): void {
      if (!known.has(reason)) unreported.push(reason);
      known.add(reason);
    },
    /** Called when a hook of this agent works again: notifies the human of the failures. */
    report({ session_id }: HookEvent): void {
      const reasons = unreported;
      unreported = [];
      if (reasons.length === 0) return;
      const give = async (): Promise<void> => {
        const session = await hive.sessions.find(session_id);
        const text = `A hook of ${session === undefined ? session_id : labelled(session)} failed and the agent went on without it, so a mention or an interrupt may not have held it: ${reasons.join(' ')}`;
        await hive.notices.give({ severity: 'warning', text, session_id, data: { notice: 'hook_failed' } });
      };
      setImmediate(() => void beside(hive.log, 'The failure of a hook could not be reported.', give));
    },
  };
}

// ---- Rebuilding the event ----

/** The fields that the client writes as JSON, because they are not text. */
const JSON_FIELDS: ReadonlySet<string> = new Set([
  'tool_input',
  'tool_response',
  'permission_suggestions',
  'background_tasks',
  'requested_schema',
  'stop_hook_active',
]);

/** The event in the arguments of a call. A missing field arrives as an empty text, or as its own placeholder. */
export function eventIn({ args, thread_id }: HookCall): Raw {
  const fields = Object.entries(args).filter(([name, value]) => value !== '' && value !== `\${${name}}`);
  const event = Object.fromEntries(
    fields.map(([name, value]) => [name, JSON_FIELDS.has(name) ? parsed(value) : value]),
  );
  // Codex drops a hook with a field that its event lacks, so a subagent's id cannot be among the fields.
  return thread_id === null || thread_id === event['session_id'] ? event : { agent_id: thread_id, ...event };
}

/** A tool's response may be text that is not JSON. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}

/** The client that an event names. */
export function clientOf(event: Raw): HookClient | null {
  return hookClient(event['client']);
}

/**
 * The environment of a server, completed to that of a hook: it lacks `CLAUDE_CODE_SESSION_ATTENDED`. The entry point tells a
 * terminal from `claude -p` as well.
 */
export function hookEnvironment(env: HookSurroundings['env']): HookSurroundings['env'] {
  const entrypoint = env['CLAUDE_CODE_ENTRYPOINT'];
  if (entrypoint !== 'cli' && entrypoint !== 'sdk-cli') return env;
  return { CLAUDE_CODE_SESSION_ATTENDED: entrypoint === 'cli' ? '1' : '0', ...env };
}

/** If the environment does not show whether a person is there, what the session's start reported applies. */
async function withSource(hive: Hive, event: HookEvent): Promise<HookEvent> {
  if (event.client !== 'claude-code' || event.attended !== null) return event;
  const session =
    (await hive.sessions.find(sessionOf(event))) ?? (await hive.sessions.find(event.session_id));
  return session === undefined
    ? event
    : { ...event, source: session.source, attended: session.source !== 'bg' };
}

/** The output that denies a call because its hook failed; empty if nothing is denied, as for a Stop: an agent must be able to end. */
export function refusal(name: string, reason: string): string {
  const why = `Hive failed on this call, and HIVE_GATE_FAIL=closed blocks it in that case: ${reason}`;
  if (name === 'PreToolUse')
    return JSON.stringify({
      hookSpecificOutput: {
        hookEventName: name,
        permissionDecision: 'deny',
        permissionDecisionReason: why,
      },
    });
  return name === 'UserPromptSubmit' ? JSON.stringify({ decision: 'block', reason: why }) : '';
}
