/**
 * Dialogs: what an agent's client asks its person by itself (a permission, a plan, a question of the model's, a
 * form of some MCP server), offered at a desk as well. The first answer wins, wherever it is given. Pure.
 */
import type { HookEvent, HookTool } from './hooks.ts';

export type Raw = Readonly<Record<string, unknown>>;

export type Dialog =
  | { kind: 'permission'; tool: HookTool; suggestions: readonly Raw[] }
  | { kind: 'plan'; tool: HookTool }
  | { kind: 'questions'; tool: HookTool }
  /** `url`: a page to visit, in place of fields to fill in. */
  | { kind: 'form'; server: string; message: string; schema: Raw; url: string | null };

/** What the client is told. Each adapter says it in its client's own words. */
export type DialogAnswer =
  | { kind: 'allow'; input: Raw | null; permissions: readonly Raw[] }
  | { kind: 'deny'; message: string; interrupt: boolean }
  | { kind: 'form'; action: 'accept' | 'decline'; content: Raw };

const QUESTIONS = 'AskUserQuestion';
/** Codex' own. */
const CODEX_QUESTIONS = 'request_user_input';
const PLAN = 'ExitPlanMode';

/** The dialog that an event announces; null for any other event. */
export function dialogOf(event: HookEvent): Dialog | null {
  const { name, client, tool, raw, attended } = event;
  if (name === 'Elicitation') return formOf(raw);
  if (tool === null) return null;
  if (client === 'codex' && tool.name === CODEX_QUESTIONS)
    return name === 'PreToolUse' || name === 'PermissionRequest' ? { kind: 'questions', tool } : null;
  if (name === 'PermissionRequest') {
    if (tool.name === QUESTIONS) return { kind: 'questions', tool };
    if (tool.name === PLAN) return { kind: 'plan', tool };
    return { kind: 'permission', tool, suggestions: objectsIn(raw['permission_suggestions']) };
  }
  // While a PreToolUse hook waits, a terminal shows no question at all: only where there is no dialog.
  const unseen = name === 'PreToolUse' && tool.name === QUESTIONS && attended === false;
  return unseen ? { kind: 'questions', tool } : null;
}

/** After these no dialog of the session is open any more. */
export const CLOSING: ReadonlySet<string> = new Set([
  'PostToolBatch',
  'Stop',
  'StopFailure',
  'SubagentStop',
  'SessionStart',
  'SessionEnd',
  'Interrupt',
]);
/** After these the dialog of that tool is over. */
export const TOOL_IS_OVER: ReadonlySet<string> = new Set([
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionDenied',
]);

/** Whether an event may show that a dialog is over: most do not, and cost nothing. */
export function mayClose({ name }: HookEvent): boolean {
  return CLOSING.has(name) || TOOL_IS_OVER.has(name) || name === 'ElicitationResult';
}

/** With a page to visit there is nothing to fill in: the human opens it, and says whether they agree. */
function formOf(raw: Raw): Dialog | null {
  const url = raw['mode'] === 'url' ? textIn(raw, 'url') : null;
  const schema = raw['mode'] === 'url' ? {} : objectIn(raw['requested_schema']);
  if (schema === null || (raw['mode'] === 'url' && url === null)) return null;
  const server = typeof raw['mcp_server_name'] === 'string' ? raw['mcp_server_name'] : 'an MCP server';
  return { kind: 'form', server, message: String(raw['message'] ?? ''), schema, url };
}

export function objectIn(value: unknown): Raw | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Raw) : null;
}

export function objectsIn(value: unknown): Raw[] {
  if (!Array.isArray(value)) return [];
  return value.map(objectIn).filter((item) => item !== null);
}

export function textIn(raw: Raw, ...fields: readonly string[]): string | null {
  for (const field of fields) {
    const value = raw[field];
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return null;
}
