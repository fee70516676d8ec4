/** Permissions of the past, as the store returns them: each is made from a recorded event by the code that stores real ones. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { readClaudeCode } from '../../src/adapters/hooks/hook.ts';
import {
  ALLOW,
  comparedDialog,
  DENY,
  dialogFingerprint,
  dialogOf,
  promptsOf,
} from '../../src/domain/dialogs.ts';
import type { EditTools } from '../../src/domain/edits.ts';
import type { Place } from '../../src/domain/places.ts';
import type { PastPermission } from '../../src/domain/rules.ts';
import { newPrompt } from './new-prompt.ts';

const RECORDED = JSON.parse(
  readFileSync(
    new URL('../wire/fixtures/claude-code/PermissionRequest-Bash-addRules.json', import.meta.url),
    'utf8',
  ),
) as Record<string, unknown>;

/** A call, and what became of it. */
export interface PastRequest {
  tool: string;
  input: Readonly<Record<string, unknown>>;
  /** The directory, which is the project. */
  cwd: string;
  at?: string;
  answer?: 'allowed' | 'denied' | 'elsewhere' | 'unanswered';
  /** The rule that answered. */
  rule?: string;
  machine?: string;
  /** Compare an edit with its file; without them, it was displayed by its arguments. */
  tools?: EditTools;
}

let count = 0;

/** The stored permission for this call. */
export function pastPermission(request: PastRequest): PastPermission {
  const { tool, input, cwd, at = '2026-11-20T12:00:00.000Z', answer = 'allowed', rule } = request;
  const event = readClaudeCode({ ...RECORDED, tool_name: tool, tool_input: input, cwd }, {});
  const plain = dialogOf(event);
  const call = { client: 'claude-code', version: '2.1.330', directory: cwd } as const;
  const dialog =
    plain === null || request.tools === undefined ? plain : comparedDialog(plain, call, request.tools);
  const [asked] = dialog === null ? [] : promptsOf(dialog, event);
  if (dialog === null || asked === undefined) throw new Error('This is no permission.');
  const project_dir = `${cwd}/.git`;
  const asker = {
    session_id: 's-1',
    agent: 'Claude-abc12',
    agent_title: null,
    source: 'main',
    project: posix.basename(cwd),
    project_dir,
    turn_id: null,
  } as const;
  count += 1;
  const prompt = newPrompt(asked, asker, `ask-${String(count).padStart(8, '0')}`, at);
  const settled = answer === 'allowed' || answer === 'denied';
  return {
    ...prompt,
    dialog: true,
    fingerprint: dialogFingerprint(dialog),
    status: settled ? 'responded' : answer === 'elsewhere' ? 'cancelled' : 'pending',
    selected: answer === 'allowed' ? [ALLOW] : answer === 'denied' ? [DENY] : [],
    cancel_reason: answer === 'elsewhere' ? 'answered_elsewhere' : null,
    by: settled ? (rule ?? 'ada') : null,
    via: settled ? (rule === undefined ? 'emacs' : 'rule') : null,
    machine: request.machine ?? 'here',
  };
}

/** The places of projects without links. */
export function plainPlace({ cwd }: { cwd: string }): Place {
  return {
    cwd,
    project_dir: `${cwd}/.git`,
    resolve: (path) => (path.includes('\0') ? null : posix.resolve(cwd, path)),
  };
}
