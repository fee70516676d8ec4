/** What the human configured for dialogs: how long they wait at a desk, and the rules that answer for them. */
import type { Dialog } from '../domain/dialogs.ts';
import { matchingRule, type PermissionRule, readRules } from '../domain/permission-rules.ts';
import type { Visit } from './station.ts';

/** Claude Code lets a hook wait ten minutes; the rest is for saying something. */
const LONGEST_S = 590;
/** A client that hides its own prompt while a hook waits is kept waiting no longer. */
const CODEX_S = 20;
const HIDDEN_S = 60;

export interface Patience {
  wait_ms: number;
  /** The person at the client's terminal sees nothing of the dialog meanwhile, or nobody is there. */
  hidden: boolean;
}

/** `HIVE_PERMISSIONS` and `HIVE_QUESTIONS`: `off`, `on`, or seconds. On for Claude Code, off for Codex. */
export function patienceFor({ event, session, settings: { env } }: Visit, dialog: Dialog): Patience | null {
  const given = env[isPermission(dialog) ? 'HIVE_PERMISSIONS' : 'HIVE_QUESTIONS'];
  const codex = event.client === 'codex';
  if (given === 'off' || (codex && (given === undefined || given === ''))) return null;
  const inBackground = event.agent_id !== null && session.source === 'bg';
  const hidden = codex || inBackground || event.attended === false;
  const usual = codex ? CODEX_S : inBackground ? HIDDEN_S : LONGEST_S;
  const seconds = Number(given) > 0 ? Math.max(1, Number(given)) : usual;
  return { wait_ms: Math.min(seconds, codex ? CODEX_S : LONGEST_S) * 1000, hidden };
}

function isPermission({ kind }: Dialog): boolean {
  return kind === 'permission' || kind === 'plan';
}

/** The rule of the human's own that answers this dialog: permissions only, never a question, never a plan. */
export async function ruleFor(visit: Visit, dialog: Dialog): Promise<PermissionRule | null> {
  const { settings, session, log } = visit;
  if (dialog.kind !== 'permission' || settings.env['HIVE_PERMISSIONS'] === 'off') return null;
  const { rules, problems } = await readAll(visit);
  for (const problem of problems) log.warn(problem);
  return matchingRule(rules, dialog.tool, session);
}

async function readAll({ tx, settings }: Visit): Promise<ReturnType<typeof readRules>> {
  const parts: ReturnType<typeof readRules>[] = [];
  const file = settings.readRules?.() ?? null;
  if (file !== null) parts.push(parseRules(file));
  if (settings.seat !== undefined) {
    const wished = (await tx.desks.preferences(settings.seat))['permission_rules'];
    if (wished !== undefined) parts.push(readRules(wished, 'the preference permission_rules'));
  }
  return { rules: parts.flatMap(({ rules }) => rules), problems: parts.flatMap(({ problems }) => problems) };
}

function parseRules(text: string): ReturnType<typeof readRules> {
  try {
    return readRules(JSON.parse(text), 'permission-rules.json');
  } catch {
    return { rules: [], problems: ['permission-rules.json is no JSON: no rule of it is used.'] };
  }
}
