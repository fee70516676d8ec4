/**
 * Codex's hooks (recorded with 0.169): how its events read, and the exact shapes it takes back. One field
 * more than it knows, `continue:false` beside a denial among them, and it runs the tool.
 */
import type { DialogAnswer, HookEvent, Verdict } from '../../domain/hooks.ts';
import { decideSource } from '../../domain/sources.ts';
import { commonFields, type Environment, isFork, joinContext, type Raw, text, toolOf } from './event.ts';

export function readCodex(raw: Raw, env: Environment): HookEvent {
  const common = commonFields(raw);
  return {
    ...common,
    client: 'codex',
    client_turn_id: text(raw, 'turn_id'),
    // Every terminal shares one daemon, whose environment is the first terminal's: no process identifies a session.
    pid: null,
    // Only what was set for Hive: Claude Code's variables may stand in the environment of a Codex it started.
    source: decideSource({ variable: env['HIVE_SOURCE'], forked: isFork(common) }),
    attended: null,
    tool: toolOf(raw),
    batch: [],
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

/** What Codex reads on stdout; null prints nothing, which is no opinion. */
export function sayCodex({ name }: HookEvent, verdict: Verdict): object | null {
  // It cannot end a turn from a tool's hook: the denial's reason asks the model to stop.
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

/** Bare yes or no: an updated input or an interrupt would make its hook fail. */
function sayDecision(name: string, decision: DialogAnswer): object | null {
  if (decision.kind === 'allow') return specific(name, { decision: { behavior: 'allow' } });
  if (decision.kind === 'form') return null;
  return specific(name, { decision: { behavior: 'deny', message: decision.message } });
}
