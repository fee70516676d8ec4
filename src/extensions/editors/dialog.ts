/**
 * Editors: agents whose dialogs an editor shows (ACP, an Emacs package). Here such a dialog becomes prompts, and their
 * answers become the agent's. Unlike in the dialogs of a client with hooks (domain/dialogs.ts), the options are the agent's
 * own, and each declares whether it refuses. Pure: no clock, no ids, no I/O.
 */

import { revealedSource, spelledLine, spelledOut } from '../../domain/display.ts';
import { type EditTools, wholeFileShown } from '../../domain/edits.ts';
import { decideForm, type FormDialog, formPrompts } from '../../domain/forms.ts';
import type { HookTool } from '../../domain/hooks.ts';
import { objectIn, type Raw, textIn } from '../../domain/json.ts';
import { digestOfCall } from '../../domain/permissions.ts';
import {
  type AskRequest,
  canBeOptions,
  keptLabel,
  PROMPT_LIMITS,
  type Prompt,
} from '../../domain/prompts.ts';
import { DESCRIPTION, factsOf, fieldName, fits, isTooLong, summarizeTool } from '../../domain/shown-calls.ts';
import { cleanDeep, excerpt, indented, marked } from '../../domain/text.ts';

/** One of the agent's own options. */
export interface EditorOption {
  /** The value that the agent gets back. */
  id: string;
  label: string;
  /** Its meaning in Hive's words. */
  description: string | null;
  /** Choosing it permits nothing. */
  refuses: boolean;
  /** It permits this one call only; a rule may choose no other one. */
  once: boolean;
}

/** A change of a file, as the agent shows it. */
export interface ShownChange {
  path: string;
  /** Null: a new file. */
  before: string | null;
  after: string;
}

/** A permission that an editor's agent asks for. */
export interface EditorPermission {
  kind: 'permission';
  /** The tool's name, or the kind of the call if the agent names no tool. Never its title: no rule matches that. */
  tool: Pick<HookTool, 'name' | 'input'>;
  /** The agent's own words about the call, first its title. */
  notes: readonly string[];
  changes: readonly ShownChange[];
  /** Everything else that came with the call, by name. */
  rest: Raw;
  options: readonly EditorOption[];
  /** Where the agent works. */
  cwd: string;
  /** A comment with the answer reaches the agent. */
  takes_notes: boolean;
}

const TOO_LONG =
  'This is too long to be shown here in full, so it can only be denied here. To allow it, answer in your editor.';

/** A dialog as an editor reports it. */
export type EditorDialog = EditorPermission | FormDialog;

/** The reply to the agent. */
export type EditorAnswer =
  /** `note`: the human's comment; null if the dialog accepts none. */
  | { kind: 'chosen'; option_id: string; note: string | null }
  | { kind: 'form'; action: 'accept' | 'decline'; content: Raw }
  /** The call is not allowed, and the agent offers no option for that. */
  | { kind: 'refused'; note: string | null };

/** The dialog without characters that cannot be stored. An option keeps its id, because the agent gets it back. */
export function cleanDialog(dialog: EditorDialog): EditorDialog {
  const clean = cleanDeep(dialog);
  if (dialog.kind === 'form' || clean.kind === 'form') return clean;
  const options = clean.options.map((option, n) => ({ ...option, id: dialog.options[n]?.id ?? option.id }));
  return { ...clean, options };
}

/**
 * The prompts of a dialog; none if a desk could not show it; then only the editor shows it. `tools` read the files that the agent
 * wants to change.
 */
export function editorPrompts(dialog: EditorDialog, tools: EditTools): AskRequest[] {
  return dialog.kind === 'form' ? formPrompts(dialog) : permissionPrompts(dialog, tools);
}

/** The subject of a permission, with everything that came with it; the digest of what is displayed covers this, too. */
export function editorFingerprint(dialog: EditorDialog): string {
  if (dialog.kind === 'form') return '';
  return `${dialog.tool.name} ${digestOfCall(dialog)}`;
}

function permissionPrompts(dialog: EditorPermission, tools: EditTools): AskRequest[] {
  if (!areUsable(dialog.options)) return [];
  const { question, context } = textOf(dialog, tools);
  const isShown = context !== null && fits(context);
  return [
    {
      kind: 'permission',
      header: excerpt(spelledOut(dialog.tool.name), PROMPT_LIMITS.header),
      question,
      context: isShown ? context : TOO_LONG,
      options: dialog.options
        .filter(({ refuses }) => refuses || isShown)
        .map(({ label, description, refuses }) => ({ label, description, refuses })),
      allow_free_text: dialog.takes_notes,
      when_turn_aborted: 'cancelled',
    },
  ];
}

/** Without options there is nothing to choose. A label with a line break could begin a line like one of Hive. */
function areUsable(options: readonly EditorOption[]): boolean {
  return (
    options.length > 0 &&
    canBeOptions(options) &&
    options.every(({ label }) => !/[\n\r\u2028\u2029]/.test(keptLabel(label)))
  );
}

const TITLE = 'the agent calls it';
const TITLE_LENGTH = 100;

/** The argument in which tools that write a whole file have its text. */
const CONTENT = 'content';

function bothTexts({ path, before, after }: ShownChange): string {
  return [
    `The agent shows this change of ${spelledLine(path)}${before === null ? ' (a new file)' : ''}:`,
    ...(before === null ? [] : [marked('- ', revealedSource(before))]),
    marked('+ ', revealedSource(after)),
  ].join('\n');
}

/** Everything that a yes permits: the call first, then what it would change, and the agent's own words last. */
function textOf(
  { tool, notes, changes, rest, cwd }: EditorPermission,
  tools: EditTools,
): {
  question: string;
  /** Null if no desk could show it. */
  context: string | null;
} {
  const compared = changes.map((change) => ({ change, diff: wholeFileShown(change, tools) }));
  const content = textIn(objectIn(tool.input) ?? {}, CONTENT);
  const isContent = compared.some(({ change, diff }) => diff !== null && change.after === content);
  // The diff shows this argument.
  const edit = isContent ? { shown: '', named: [CONTENT], claimed: [] } : undefined;
  const summary = summarizeTool(tool, { edit });
  const inFull = compared.filter(({ diff }) => diff === null).map(({ change }) => change);
  if (summary.details === null || isTooLong([inFull, rest, notes, summary.description]))
    return { question: questionOf(), context: null };
  const shown = compared.map(({ change, diff }) =>
    diff === null ? bothTexts(change) : asDiff(change, diff),
  );
  const others = Object.entries(rest).map(
    ([name, value]) => `${fieldName(name)}: ${spelledOut(JSON.stringify(value) ?? 'null')}`,
  );
  const facts = factsOf(tool.name, cwd);
  const words = [...notes, ...(summary.description === null ? [] : [summary.description])];
  const own =
    words.length === 0
      ? ''
      : `${DESCRIPTION}\n${[...new Set(words)].map((text) => indented(spelledOut(text))).join('\n')}`;
  const parts = [summary.details, ...shown, others.join('\n'), facts, own];
  return { question: questionOf(), context: parts.filter((part) => part !== '').join('\n\n') };

  function asDiff({ path, after }: ShownChange, diff: string): string {
    const written =
      isContent && after === content ? `\nThe argument ${CONTENT} is this file after the change.` : '';
    return `The agent shows this change of ${spelledLine(path)}, compared with the file as it is now:\n${diff}${written}`;
  }

  /** Without input, all calls would look alike in a list, so the question contains the agent's name for the call. */
  function questionOf(): string {
    const [title = ''] = notes;
    if (Object.keys(objectIn(tool.input) ?? {}).length > 0 || title.trim() === '') return summary.question;
    return `${summary.question.slice(0, -1)} (${TITLE}: ${excerpt(spelledLine(title), TITLE_LENGTH)})?`;
  }
}

/**
 * The reply to the agent once every prompt of the dialog is answered; null when an answer does not fit. The engine of dialogs
 * decides whether a reply that allows may leave: it checks the signature.
 */
export function decideEditorDialog(dialog: EditorDialog, prompts: readonly Prompt[]): EditorAnswer | null {
  if (dialog.kind === 'form') {
    const decided = decideForm(dialog, prompts);
    return decided?.kind === 'form' ? decided : null;
  }
  const [prompt] = prompts;
  if (prompt === undefined) return null;
  const chosen = dialog.options.find(({ label }) => keptLabel(label) === prompt.selected[0]);
  const words = chosen === undefined ? (prompt.comment ?? prompt.decision) : prompt.comment;
  const note = dialog.takes_notes ? words : null;
  return chosen === undefined ? refusalIn(dialog, note) : { kind: 'chosen', option_id: chosen.id, note };
}

/**
 * Whether the tool's input is all that the agent reports of a call. A rule that allows knows nothing else: neither
 * another directory nor the change of another file. Locations are only for the editor to show.
 */
export function isWhollyInput({ tool: { input }, changes, rest }: EditorPermission): boolean {
  const given = objectIn(input) ?? {};
  const file = textIn(given, 'file_path', 'notebook_path');
  return (
    changes.every(({ path }) => path === file) &&
    Object.entries(rest).every(
      ([name, value]) => name === 'locations' || (name === '_meta' && namesOnly(value)),
    )
  );
}

/** Fields in which agents over ACP name their tool and its origin. */
const NAMING: ReadonlySet<string> = new Set(['toolName', 'provenance', 'serverId', 'phase']);

function namesOnly(value: unknown): boolean {
  const fields = objectIn(value);
  return (
    fields !== null &&
    Object.entries(fields).every(
      ([name, field]) =>
        (NAMING.has(name) && typeof field === 'string') || (name === 'claudeCode' && namesOnly(field)),
    )
  );
}

/** The agent's own "no, this once"; without one the call is refused as withdrawn. */
export function refusalIn(dialog: EditorPermission, note: string | null): EditorAnswer {
  const refusals = dialog.options.filter(({ refuses }) => refuses);
  const refusal = refusals.find(({ once }) => once) ?? refusals[0];
  return refusal === undefined ? { kind: 'refused', note } : { kind: 'chosen', option_id: refusal.id, note };
}

/** Whether this answer allows something. */
export function allows(dialog: EditorDialog, answer: EditorAnswer): boolean {
  if (dialog.kind === 'form' || answer.kind !== 'chosen') return false;
  return dialog.options.some(({ id, refuses }) => id === answer.option_id && !refuses);
}

/** The option that a rule of the human chooses; undefined if the agent offers none for this one call. */
export function optionOfRule(dialog: EditorPermission, decision: 'allow' | 'deny'): EditorOption | undefined {
  return dialog.options.find(({ refuses, once }) => once && refuses === (decision === 'deny'));
}
