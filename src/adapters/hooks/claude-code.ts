/**
 * Claude Code's hooks (recorded with 2.1.330): how its events are read, and the exact output it accepts. One character
 * before the JSON, or a wrong hookEventName, and it runs the tool.
 */
import type { DialogAnswer, HookEvent, Verdict } from '../../domain/hooks.ts';
import { attendedIn, decideSource, sourceEvidence } from '../../domain/sources.ts';
import {
  commonFields,
  type Environment,
  isFork,
  joinContext,
  objects,
  type Raw,
  text,
  toolOf,
} from './event.ts';

/** Parses an event of Claude Code. */
export function readClaudeCode(raw: Raw, env: Environment): HookEvent {
  const common = commonFields(raw);
  const pid = Number(env['CLAUDE_PID']);
  const attended = attendedIn(env);
  return {
    ...common,
    client: 'claude-code',
    client_turn_id: text(raw, 'prompt_id'),
    pid: Number.isInteger(pid) && pid > 0 ? pid : null,
    source: decideSource({ ...sourceEvidence(env), forked: isFork(common) }),
    attended: attended === undefined ? null : attended === '1',
    tool: toolOf(raw),
    batch:
      'tool_calls' in raw
        ? objects(raw['tool_calls']).flatMap((call) => text(call, 'tool_use_id') ?? [])
        : null,
    background_agents: backgroundAgents(raw),
  };
}

/** The subagents that run in the background. Only the result of the Agent tool and the list at a Stop say so. */
function backgroundAgents(raw: Raw): string[] {
  const [response] = objects([raw['tool_response']]);
  const launched = response?.['isAsync'] === true ? text(response, 'agentId') : null;
  const running = objects(raw['background_tasks']).flatMap((task) =>
    task['type'] === 'subagent' ? (text(task, 'id') ?? []) : [],
  );
  return launched === null ? running : [launched, ...running];
}

const TAKES_CONTEXT: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'SubagentStart',
]);

/** What to print for Claude Code to read; null prints nothing, which leaves the decision to the client. */
export function sayClaudeCode({ name }: HookEvent, verdict: Verdict): object | null {
  const said: Record<string, unknown> = {};
  const specific: Record<string, unknown> = {};
  if (name === 'PreToolUse' && verdict.deny !== null) {
    specific['permissionDecision'] = 'deny';
    specific['permissionDecisionReason'] = verdict.deny;
  } else if (name === 'PreToolUse' && verdict.defer !== null) {
    specific['permissionDecision'] = 'defer';
    specific['permissionDecisionReason'] = verdict.defer;
  } else if (verdict.decision !== null) {
    Object.assign(specific, sayDecision(name, verdict.decision));
  }
  const context = joinContext(verdict.context);
  if (context !== null && TAKES_CONTEXT.has(name)) specific['additionalContext'] = context;
  if (verdict.block !== null) {
    said['decision'] = 'block';
    said['reason'] = verdict.block;
  }
  if (verdict.end_turn !== null) {
    said['continue'] = false;
    said['stopReason'] = verdict.end_turn;
  }
  if (verdict.notice !== null) said['systemMessage'] = verdict.notice;
  if (Object.keys(specific).length > 0) said['hookSpecificOutput'] = { hookEventName: name, ...specific };
  return Object.keys(said).length > 0 ? said : null;
}

/** The answer to a dialog. A PermissionRequest takes another shape than a PreToolUse, and an Elicitation a third. */
function sayDecision(name: string, decision: DialogAnswer): object {
  if (decision.kind === 'form') return { action: decision.action, content: decision.content };
  if (name === 'PreToolUse') {
    return decision.kind === 'deny'
      ? { permissionDecision: 'deny', permissionDecisionReason: decision.message }
      : { permissionDecision: 'allow', ...(decision.input === null ? {} : { updatedInput: decision.input }) };
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
