/**
 * The requests with which the daemon of Codex shows a dialog to the clients of a thread: what they ask, and the results that answer
 * them. A permission is read strictly, because an allow goes to exactly what its person was shown: a request with anything that is
 * not known here is left to the terminal. Follows CommandExecutionRequestApprovalParams, FileChangeRequestApprovalParams and
 * ToolRequestUserInputParams of Codex 0.169. Pure.
 */
import type { HookDialog } from './dialogs.ts';
import type { FileChange } from './edits.ts';
import { objectIn, objectsIn, type Raw, textIn } from './json.ts';
import type { Prompt } from './prompts.ts';
import { shellWords } from './shell-words.ts';
import { cleanText } from './text.ts';

/** The tool of a command, as its hook names it. */
export const SHELL = 'Bash';
/** The method of a command's permission. */
export const ASKS_COMMAND = 'item/commandExecution/requestApproval';
/** The method of an edit's permission. It names only an item of the thread, which has the changes. */
export const ASKS_EDIT = 'item/fileChange/requestApproval';
/** The method of Codex's own questions. */
export const ASKS_QUESTIONS = 'item/tool/requestUserInput';

/** A command as Codex is about to run it. */
export interface CommandAsked {
  dialog: HookDialog;
  cwd: string;
}

/** The fields that are read, and those that say nothing about what runs or offer more than a plain yes. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['kind', 'environmentId', 'command', 'cwd', 'reason', 'additionalPermissions'],
  ...['threadId', 'turnId', 'itemId', 'startedAtMs', 'commandActions', 'availableDecisions'],
  ...['proposedExecpolicyAmendment', 'proposedNetworkPolicyAmendments'],
]);

/** The command that a request asks about, as the hook would report it; null if it is not a plain command of this machine. */
export function commandAsked(params: Raw): CommandAsked | null {
  const isHere = (params['environmentId'] ?? 'local') === 'local';
  if (!isKnown(params, KNOWN) || !isHere || (params['kind'] ?? 'command') !== 'command') return null;
  const [shell = '', flag = '', script, ...more] = shellWords(textIn(params, 'command') ?? '') ?? [];
  const isScript = /(^|\/)(?:ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(flag) && more.length === 0;
  const cwd = textIn(params, 'cwd');
  if (!isScript || script === undefined || cwd === null) return null;
  const description = textIn(params, 'reason');
  const additional_permissions = params['additionalPermissions'] ?? null;
  const input = {
    command: script,
    ...(description === null ? {} : { description }),
    ...(additional_permissions === null ? {} : { additional_permissions }),
  };
  const tool = { name: SHELL, input, use_id: null, response: null, own: null };
  return { dialog: { kind: 'permission', tool, suggestions: [] }, cwd };
}

/** Whether a record has no other fields than these, except empty ones. */
function isKnown(record: Raw, fields: ReadonlySet<string>): boolean {
  return Object.entries(record).every(([name, value]) => value === null || fields.has(name));
}

const KNOWN_OF_EDIT: ReadonlySet<string> = new Set(['threadId', 'turnId', 'itemId', 'startedAtMs']);
const KNOWN_OF_ITEM: ReadonlySet<string> = new Set(['type', 'id', 'status', 'startedAtMs', 'changes']);
const KNOWN_OF_CHANGE: ReadonlySet<string> = new Set(['path', 'kind', 'diff']);
const KNOWN_OF_KIND: ReadonlySet<string> = new Set(['type', 'move_path']);

/** The changes that a request asks about, which are in its item; null if it asks for anything else, too. */
export function editAsked(params: Raw, item: Raw): FileChange[] | null {
  return isKnown(params, KNOWN_OF_EDIT) && params['itemId'] === item['id'] ? changesOf(item) : null;
}

/** The changes of an edit that Codex is about to make; null for any other item. */
export function changesOf(item: Raw): FileChange[] | null {
  const { type, status, changes } = item;
  const isEdit = type === 'fileChange' && status === 'inProgress' && isKnown(item, KNOWN_OF_ITEM);
  const read =
    isEdit && Array.isArray(changes) ? changes.map((change) => changeOf(objectIn(change) ?? {})) : [];
  return read.length > 0 && read.every((change) => change !== null) ? read : null;
}

function changeOf(change: Raw): FileChange | null {
  const { path, diff } = change;
  const kind = objectIn(change['kind']) ?? {};
  const { type, move_path: to = null } = kind;
  if (!isKnown(change, KNOWN_OF_CHANGE) || !isKnown(kind, KNOWN_OF_KIND)) return null;
  if (typeof path !== 'string' || typeof diff !== 'string') return null;
  if (to === null)
    return type === 'add' || type === 'delete' || type === 'update' ? { type, path, to, diff } : null;
  // After the diff of a file that it moves, Codex writes where to.
  const end = `\n\nMoved to: ${to}`;
  return type === 'update' && typeof to === 'string' && diff.endsWith(end)
    ? { type, path, to, diff: diff.slice(0, -end.length) }
    : null;
}

/** The result for a dialog whose questions these prompts have answered; null if it has other questions. */
export function answersAsked(params: Raw, prompts: readonly Prompt[]): { answers: Raw } | null {
  const questions = objectsIn(params['questions']);
  const given = new Map(prompts.map((prompt) => [prompt.question, wordsOf(prompt)]));
  const answers = questions.map(
    (asked) => [String(asked['id']), given.get(cleanText(textIn(asked, 'question') ?? ''))] as const,
  );
  if (questions.length !== prompts.length || answers.some(([, words]) => words === undefined)) return null;
  return { answers: Object.fromEntries(answers.map(([id, words]) => [id, { answers: words }])) };
}

/** The answer as text for the model: the chosen labels or the free text, then the comment. */
function wordsOf({ selected, decision, comment }: Prompt): string[] {
  const chosen = selected.length > 0 ? selected : [decision ?? ''];
  return comment === null ? chosen : [...chosen, comment];
}
