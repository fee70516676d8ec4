/**
 * Codex's hooks (recorded with 0.169): how its events are read, and the exact output it accepts. With one field that it
 * does not know, such as `continue:false` beside a denial, it runs the tool.
 */
import type { DialogAnswer, HookEvent, Verdict } from '../../domain/hooks.ts';
import { decideSource } from '../../domain/sources.ts';
import { commonFields, type Environment, isFork, joinContext, type Raw, text, toolOf } from './event.ts';

/** Parses an event of Codex. */
export function readCodex(raw: Raw, env: Environment): HookEvent {
  const common = commonFields(raw);
  return {
    ...common,
    client: 'codex',
    client_turn_id: text(raw, 'turn_id'),
    // All terminals share one daemon, whose environment is the first terminal's, so no process identifies a session.
    pid: null,
    // Only what was set for Hive: a Codex started by Claude Code inherits Claude Code's variables.
    source: decideSource({ variable: env['HIVE_SOURCE'], forked: isFork(common) }),
    attended: null,
    tool: toolOf(raw),
    batch: null,
    background_agents: [],
  };
}

const TAKES_CONTEXT: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'SubagentStart',
]);

/** What to print for Codex to read; null prints nothing, which leaves the decision to the client. */
export function sayCodex({ name }: HookEvent, verdict: Verdict): object | null {
  // Codex cannot end a turn from a tool's hook, so the reason of the denial asks the model to stop.
  const deny = verdict.deny ?? (name === 'PreToolUse' ? verdict.end_turn : null);
  if (name === 'PreToolUse' && deny !== null) {
    return specific(name, { permissionDecision: 'deny', permissionDecisionReason: deny });
  }
  if (verdict.block !== null) return { decision: 'block', reason: verdict.block };
  if (name === 'PermissionRequest' && verdict.decision !== null) return sayDecision(name, verdict.decision);
  const context = joinContext(verdict.context);
  return context !== null && TAKES_CONTEXT.has(name) ? specific(name, { additionalContext: context }) : null;
}

function specific(hookEventName: string, fields: Record<string, unknown>): object {
  return { hookSpecificOutput: { hookEventName, ...fields } };
}

/** A bare yes or no: an updated input or an interrupt would make its hook fail. */
function sayDecision(name: string, decision: DialogAnswer): object | null {
  if (decision.kind === 'allow') return specific(name, { decision: { behavior: 'allow' } });
  if (decision.kind === 'form') return null;
  return specific(name, { decision: { behavior: 'deny', message: decision.message } });
}
