/**
 * Dialogs: things that an agent's client itself asks its person (a permission, a plan, a question from the model, a form of an
 * MCP server), which Hive also offers at a desk. This file turns a dialog into prompts, and their answers into the client's
 * answer. The first answer wins, wherever it is given. Pure: no clock, no ids, no I/O.
 */

import { FILE_ARGUMENTS } from './claude-edits.ts';
import { spelledLine } from './display.ts';
import { type EditCall, type EditTools, editShown, pathShown, type ShownEdit } from './edits.ts';
import {
  decideForm,
  type FormDialog,
  formHeader,
  formPrompts,
  mcpForm,
  type Previewed,
  previewsOf,
} from './forms.ts';
import {
  type DialogAnswer,
  type HookClient,
  type HookEvent,
  type HookTool,
  QUIET_TOOLS,
  SAME_STEP_MS,
} from './hooks.ts';
import { AGENT_TOOLS } from './installation.ts';
import { objectIn, objectInText, objectsIn, type Raw, textIn } from './json.ts';
import { digestOfCall } from './permissions.ts';
import {
  type AskRequest,
  canBePrompt,
  keptLabel,
  PROMPT_LIMITS,
  type Prompt,
  type PromptOption,
} from './prompts.ts';
import {
  areTooLong,
  argumentLines,
  DESCRIPTION,
  DIRECTORY,
  describeCall,
  EDIT_TOOLS,
  factsOf,
  fits,
  isTooLong,
  PATCH,
  questionOf,
  READ_TOOLS,
  shownCall,
  summarizeTool,
  without,
} from './shown-calls.ts';
import { cleanText, indented } from './text.ts';
import { timeAfter } from './times.ts';
import type { TranscriptCall, TranscriptCalls } from './transcripts.ts';

/** A dialog as the hook of a client reports it, by kind. */
export type HookDialog =
  /** `edit`: the effect of the tool on files, as it is shown; without it, both texts are shown. */
  | { kind: 'permission'; tool: HookTool; suggestions: readonly Raw[]; edit?: ShownEdit }
  /** `written`: the current content of the plan's file, which is what the client carries out, whatever the call contains. */
  | { kind: 'plan'; tool: HookTool; written?: string }
  | { kind: 'questions'; tool: HookTool }
  | FormDialog;

const QUESTIONS = 'AskUserQuestion';
/** Codex's own name for its questions. */
const CODEX_QUESTIONS = 'request_user_input';
const PLAN = 'ExitPlanMode';

/** The dialog that an event announces; null for any other event. */
export function dialogOf(event: HookEvent): HookDialog | null {
  const { name, client, tool, raw, attended } = event;
  if (name === 'Elicitation') return mcpForm(raw);
  if (tool === null) return null;
  if (client === 'codex' && tool.name === CODEX_QUESTIONS)
    return name === 'PreToolUse' || name === 'PermissionRequest' ? { kind: 'questions', tool } : null;
  if (name === 'PermissionRequest') {
    // A desk does not offer permission for Hive's own tools; a notice reports that the client asks (refused-calls.ts).
    if (AGENT_TOOLS.includes(tool.own ?? '')) return null;
    if (tool.name === QUESTIONS) return { kind: 'questions', tool };
    if (tool.name === PLAN) return { kind: 'plan', tool };
    return { kind: 'permission', tool, suggestions: objectsIn(raw['permission_suggestions']) };
  }
  // While a PreToolUse hook waits, a terminal shows no question, so this is used only where no terminal shows a dialog.
  const unseen = name === 'PreToolUse' && tool.name === QUESTIONS && attended === false;
  return unseen ? { kind: 'questions', tool } : null;
}

/** Whether the text of a dialog depends on files: its tool edits them, or its plan is in one. */
export function dependsOnFiles(dialog: HookDialog): boolean {
  return dialog.kind === 'plan' || (dialog.kind === 'permission' && EDIT_TOOLS.has(dialog.tool.name));
}

/** The patch of a dialog; null for any other dialog. */
export function patchOf(dialog: HookDialog): string | null {
  if (dialog.kind !== 'permission' || dialog.tool.name !== PATCH) return null;
  return textIn(objectIn(dialog.tool.input) ?? {}, 'command');
}

/** Whether an event reports that a tool that edits files has ended. */
export function endsEdit({ name, tool }: Pick<HookEvent, 'name' | 'tool'>): boolean {
  const hasEnded = name === 'PostToolUse' || name === 'PostToolUseFailure';
  return hasEnded && tool !== null && EDIT_TOOLS.has(tool.name);
}

/** The name under which an allowed edit is remembered until its tool has run: clients give their permission dialogs no id. */
export function editKey({
  session_id,
  agent_id,
  tool,
}: Pick<HookEvent, 'session_id' | 'agent_id' | 'tool'>): string {
  return `edit-${digestOfCall([session_id, agent_id, tool?.name ?? null, tool?.input ?? null])}`;
}

/** The dialog with its plan, with the edits of its tool compared with the current files, or with where the path of its tool leads. */
export function comparedDialog(
  dialog: HookDialog,
  { client, version, directory }: Omit<EditCall, 'name' | 'input'>,
  tools: EditTools,
): HookDialog {
  if (dialog.kind === 'plan') return writtenPlan(dialog, tools);
  if (dialog.kind !== 'permission') return dialog;
  const { name, input } = dialog.tool;
  const call = { client, version, directory, name, input: objectIn(input) ?? {} };
  const edit = READ_TOOLS.has(name) ? pathShown(call.input, tools) : editShown(call, tools, DIFF_BYTES);
  return edit === null ? dialog : { ...dialog, edit };
}

/**
 * The dialog with the current content of the plan's file, which a person or another process may edit while the dialog is open.
 */
function writtenPlan(dialog: Extract<HookDialog, { kind: 'plan' }>, tools: EditTools): HookDialog {
  const path = textIn(objectIn(dialog.tool.input) ?? {}, 'planFilePath');
  const state = path === null ? null : tools.read(path);
  return state?.kind === 'text' ? { ...dialog, written: state.text } : dialog;
}

/** The part of the bytes of the details that the diff of a file may take; the arguments take the rest. */
const DIFF_BYTES = 48_000;

/** Whether files must be looked at before a dialog is shown. */
export function looksAtFiles(dialog: HookDialog): boolean {
  return dependsOnFiles(dialog) || (dialog.kind === 'permission' && READ_TOOLS.has(dialog.tool.name));
}

/** After these events no dialog of the session is open any more. */
const CLOSING: ReadonlySet<string> = new Set([
  'PostToolBatch',
  'Stop',
  'StopFailure',
  'SubagentStop',
  'SessionStart',
  'SessionEnd',
]);
/** After these events the dialog of that tool is over. */
const TOOL_IS_OVER: ReadonlySet<string> = new Set(['PostToolUse', 'PostToolUseFailure', 'PermissionDenied']);

/** Whether an event may show that a dialog is over. Most cannot, and then nothing is read. */
export function mayEndDialogs(event: HookEvent): boolean {
  const { name } = event;
  return CLOSING.has(name) || TOOL_IS_OVER.has(name) || beginsCall(event) || name === 'ElicitationResult';
}

/** Whether a call begins with this event. For typing into a running command, Codex has no other one. */
function beginsCall({ name, client }: Pick<HookEvent, 'name' | 'client'>): boolean {
  return name === 'PreToolUse' || (name === 'PermissionRequest' && client === 'codex');
}

// ---- Permissions and plans ----
// Turns a client's permission dialog, or a plan to be approved, into a prompt of kind `permission`, and translates its answer.

type PermissionDialog = Extract<HookDialog, { kind: 'permission' | 'plan' }>;

/** Yes, once. An allowing rule answers with the same word (application/dialogs.ts). */
export const ALLOW = 'Allow';
/** No, with a comment as the reason. */
export const DENY = 'Deny';
const ALWAYS = 'Allow always';
const APPROVE = 'Approve';
const KEEP_PLANNING = 'Keep planning';
const ABORT = 'Abort';

const WITH_REASON = 'Anything you type is sent to the agent as the reason';

const TOO_LONG =
  'This is too long to be shown here in full, so it can only be denied here. To allow it, answer in the terminal of the agent.';

/** Claude Code sends the content of its plan file with the call; while there is no such file, it sends nothing. */
const NO_PLAN =
  'The agent has written no plan, so it can only be declined here. To approve without one, answer in the terminal of the agent.';

const PLAN_HEADER = 'Plan';
const APPROVE_PLAN = 'Approve this plan?';

/**
 * The call that a permission is about: its context without the directory and the agent's description, which come after all
 * arguments of the tool. A plan is the agent's own text, so all of it counts.
 */
export function callOf(question: string, context: string): string {
  if (question === APPROVE_PLAN) return context;
  const lines = context.split('\n');
  const begin = lines.indexOf(DESCRIPTION);
  const call = (begin === -1 ? context : lines.slice(0, begin).join('\n')).trimEnd();
  const last = call.lastIndexOf('\n') + 1;
  return call.startsWith(DIRECTORY, last) ? call.slice(0, last) : call;
}

/** Free text never allows anything: it denies, and is sent as the reason. */
function permissionPrompt(dialog: PermissionDialog, client: HookClient, cwd: string | null): AskRequest {
  const abort = { label: ABORT, description: 'Deny, and end the turn', refuses: true };
  const shared = { kind: 'permission', allow_free_text: true, when_turn_aborted: 'cancelled' } as const;
  if (dialog.kind === 'plan') {
    const given = objectIn(dialog.tool.input) ?? {};
    const sent = textIn(given, 'plan');
    const plan = sent === null ? null : (dialog.written ?? sent);
    const input = plan === null ? given : { ...given, plan };
    const context = areTooLong([input]) ? null : planText(input, plan);
    const shown = plan !== null && context !== null && fits(context);
    return {
      ...shared,
      header: PLAN_HEADER,
      question: APPROVE_PLAN,
      context: shown ? context : plan === null ? NO_PLAN : TOO_LONG,
      options: [
        ...(shown ? [{ label: APPROVE, description: 'The agent leaves plan mode and begins' }] : []),
        { label: KEEP_PLANNING, description: WITH_REASON, refuses: true },
        abort,
      ],
    };
  }
  const { edit } = dialog;
  const { question, details, description } = summarizeTool(dialog.tool, { edit, cwd: cwd ?? undefined });
  const facts = factsOf(dialog.tool.name, cwd);
  const context =
    details === null || isTooLong(description)
      ? null
      : [details, facts, description === null ? '' : `${DESCRIPTION}\n${indented(description)}`]
          .filter((part) => part !== '')
          .join('\n\n');
  const shown = context !== null && fits(context);
  const always = shown ? describeSuggestions(dialog.suggestions) : null;
  return {
    ...shared,
    header: dialog.tool.name,
    question,
    context: shown ? context : [TOO_LONG, facts].join('\n\n'),
    options: [
      ...(shown ? [{ label: ALLOW, description: 'This once' }] : []),
      ...(always === null ? [] : [{ label: ALWAYS, description: always }]),
      { label: DENY, description: WITH_REASON, refuses: true },
      // Codex has no such answer: its hook would fail.
      ...(client === 'codex' ? [] : [abort]),
    ],
  };
}

function planText(input: Raw, plan: string | null): string {
  const rest = argumentLines(without(input, plan === null ? [] : ['plan']));
  return [plan ?? '', rest].filter((part) => part !== '').join('\n\n');
}

/** Identifies a permission dialog with everything that came with it. The digest of what it displays covers this as well. */
export function dialogFingerprint(dialog: HookDialog): string {
  if (dialog.kind !== 'permission' && dialog.kind !== 'plan') return '';
  const suggestions = dialog.kind === 'permission' ? dialog.suggestions : [];
  return `${fingerprintOf(dialog.tool)}${suggestions.length === 0 ? '' : ` with ${digestOfCall(suggestions)}`}`;
}

/** The beginning of the fingerprint of a call, whatever came with it. */
function fingerprintOf({ name, input }: HookTool): string {
  return `${name} ${digestOfCall([name, input])}`;
}

/** The client's own offer to always allow this, on one line; null if it offers nothing. */
function describeSuggestions(suggestions: readonly Raw[]): string | null {
  // A suggestion that is too long to be read as the description of an option is not offered.
  if (isTooLong(suggestions)) return null;
  const described = suggestions.flatMap((suggestion) => describeSuggestion(suggestion) ?? []).join('; ');
  const all = `By the client itself: ${described}`;
  return described === '' || all.length > PROMPT_LIMITS.optionDescription ? null : all;
}

/** Where the client stores an "always allow", so that a person can find it again. */
const WHERE: ReadonlyMap<unknown, string> = new Map([
  ['session', 'for this session; nothing is written'],
  ['localSettings', 'written into .claude/settings.local.json of this project'],
  ['projectSettings', 'written into .claude/settings.json of this project, for everybody'],
  ['userSettings', 'written into your ~/.claude/settings.json'],
]);

/** A permission mode in the words of Claude Code: it lets more than edits run. */
const MODES: ReadonlyMap<unknown, string> = new Map([
  ['acceptEdits', 'Accept all edits, and common file commands such as rm and mv'],
]);

function describeSuggestion(suggestion: Raw): string | null {
  const what = whatItAllows(suggestion, spelledLine);
  if (what === null) return null;
  const where = WHERE.get(suggestion['destination']);
  return where === undefined ? what : `${what}, ${where}`;
}

type Spell = (text: string) => string;

/**
 * One suggestion in words, with the client's own texts as `spell` shows them; null if it refuses, or cannot be described in
 * full.
 */
function whatItAllows({ type, behavior, rules, directories, mode }: Raw, spell: Spell): string | null {
  switch (type) {
    case 'addRules':
    case 'replaceRules':
      // "Allow always" must not send a rule that denies or asks.
      return behavior === 'allow' ? listed(rules, (rule) => ruleInWords(rule, spell)) : null;
    case 'addDirectories': {
      const all = listed(directories, (one) => (typeof one === 'string' && one !== '' ? spell(one) : null));
      return all === null ? null : `everything in ${all}`;
    }
    case 'setMode':
      return typeof mode === 'string' ? (MODES.get(mode) ?? `mode ${spell(mode)}`) : null;
    default:
      return null;
  }
}

function listed(items: unknown, inWords: (item: unknown) => string | null): string | null {
  const texts = Array.isArray(items) ? items.map(inWords) : [];
  return texts.length === 0 || texts.includes(null) ? null : texts.join(', ');
}

function ruleInWords(rule: unknown, spell: Spell): string | null {
  const { toolName, ruleContent = null } = objectIn(rule) ?? {};
  if (typeof toolName !== 'string' || toolName === '') return null;
  const tool = spell(toolName);
  if (ruleContent === null) return tool;
  return typeof ruleContent === 'string' ? `${tool}(${spell(ruleContent)})` : null;
}

/** The reply to the client for an answer. Anything but a plain yes is a no. */
function decidePermission(dialog: PermissionDialog, prompt: Prompt): DialogAnswer | null {
  const { decision, selected, comment, by } = prompt;
  const [chosen] = selected;
  const input = objectIn(dialog.tool.input);
  switch (chosen) {
    case ALLOW:
      return { kind: 'allow', input: null, permissions: [] };
    // Unless it gets its input back, the client goes on showing the plan.
    case APPROVE:
      return { kind: 'allow', input, permissions: [] };
    case ALWAYS:
      return { kind: 'allow', input: null, permissions: allowing(dialog) };
    default: {
      const note = chosen === undefined ? decision : comment;
      const denied = dialog.kind === 'plan' ? 'did not approve the plan' : 'denied this';
      const words = note === null ? '' : ` ${by} says: ${note}`;
      return { kind: 'deny', message: `${by} ${denied}.${words}`, interrupt: chosen === ABORT };
    }
  }
}

function allowing(dialog: PermissionDialog): readonly Raw[] {
  return dialog.kind === 'plan'
    ? []
    : dialog.suggestions.filter((suggestion) => whatItAllows(suggestion, (text) => text) !== null);
}

// ---- Questions ----
// The model's own questions in its client's dialog (AskUserQuestion) as prompts, and their answers back.

interface Question {
  text: string;
  header: string | null;
  options: (PromptOption & Previewed)[];
  multi_select: boolean;
}

/** The questions in the input of a call. */
function questionsIn({ input }: Pick<HookTool, 'input'>): Question[] {
  return objectsIn(objectIn(input)?.['questions']).map(
    (raw): Question => ({
      text: textIn(raw, 'question') ?? '',
      header: textIn(raw, 'header'),
      options: objectsIn(raw['options']).flatMap((option) => {
        const label = textIn(option, 'label');
        if (label === null) return [];
        return [{ label, description: textIn(option, 'description'), preview: textIn(option, 'preview') }];
      }),
      multi_select: raw['multiSelect'] === true,
    }),
  );
}

/** The questions of a call; none if a desk could not show them. */
function readQuestions(tool: Pick<HookTool, 'input'>): Question[] {
  const questions = questionsIn(tool);
  const texts = new Set(questions.map(({ text }) => text));
  // The answers go back keyed by the text of their question.
  if (texts.size !== questions.length) return [];
  const canBeShown = ({ text, header, options }: Question): boolean =>
    canBePrompt({ question: text, header, options }) &&
    !isTooLong(options) &&
    fits(previewsOf(options) ?? '');
  return questions.every(canBeShown) ? questions : [];
}

function questionPrompts(tool: HookTool): AskRequest[] {
  return readQuestions(tool).map(({ text, header, options, multi_select }) => ({
    kind: 'question',
    header,
    question: text,
    context: previewsOf(options),
    options: options.map(({ label, description }) => ({ label, description })),
    multi_select: multi_select && options.length > 0,
    allow_free_text: true,
    when_turn_aborted: 'cancelled',
  }));
}

/**
 * The same questions with their answers and the previews of the chosen options, as the terminal would send them; a comment is
 * sent as a note. The keys are the client's own texts, because the stored ones lack characters that cannot be stored.
 */
function decideQuestions(tool: HookTool, prompts: readonly Prompt[]): DialogAnswer {
  const input: Raw = objectIn(tool.input) ?? {};
  const asked = questionsIn(tool);
  const keyed = prompts.map((prompt, n) => ({ ...prompt, question: asked[n]?.text ?? prompt.question }));
  const answers = Object.fromEntries(
    keyed.map(({ question, decision, selected }, n) => [
      question,
      choicesIn(asked[n], selected) ?? decision ?? '',
    ]),
  );
  const notes = keyed.flatMap(({ question, comment, selected }, n) => {
    const chosen = asked[n]?.options.find(({ label }) => keptLabel(label) === selected[0]);
    const preview = selected.length === 1 && chosen?.preview != null ? { preview: chosen.preview } : {};
    const given = { ...preview, ...(comment === null ? {} : { notes: comment }) };
    return Object.keys(given).length === 0 ? [] : [[question, given] as const];
  });
  return {
    kind: 'allow',
    input: {
      ...input,
      answers,
      ...(notes.length === 0 ? {} : { annotations: Object.fromEntries(notes) }),
    },
    permissions: [],
  };
}

/**
 * The chosen options in the form in which the terminal sends them; null if the human chose none. Claude Code reads anything else
 * as the person's own words, and tells its model so.
 */
function choicesIn(question: Question | undefined, selected: readonly string[]): string | null {
  if (question === undefined || selected.length === 0) return null;
  const labels = selected.map(
    (chosen) => question.options.find(({ label }) => keptLabel(label) === chosen)?.label ?? chosen,
  );
  if (!question.multi_select) return labels.join(', ');
  const quoted = (label: string): boolean => label.includes(', ') || label.includes('"');
  return labels.map((label) => (quoted(label) ? JSON.stringify(label) : label)).join(', ');
}

// ---- Every kind of dialog ----

/** The prompts of a dialog; none when a desk could not show it. `cwd`: where its tool works; null if that is not known. */
export function promptsOf(
  dialog: HookDialog,
  { client, cwd }: { client: HookClient; cwd: string | null },
): AskRequest[] {
  switch (dialog.kind) {
    case 'questions':
      return questionPrompts(dialog.tool);
    case 'form':
      return formPrompts(dialog);
    default:
      return [permissionPrompt(dialog, client, cwd)];
  }
}

/** The reply to the client once every prompt of the dialog is answered, given in the order in which they were asked. */
export function decideDialog(dialog: HookDialog, prompts: readonly Prompt[]): DialogAnswer | null {
  switch (dialog.kind) {
    case 'questions':
      return decideQuestions(dialog.tool, prompts);
    case 'form':
      return decideForm(dialog, prompts);
    default:
      return prompts[0] === undefined ? null : decidePermission(dialog, prompts[0]);
  }
}

/** The headers and questions of a dialog's prompts. Only the first line of a call is rendered, however long the call is. */
function beginningsOf(
  dialog: HookDialog,
  { cwd }: Pick<HookEvent, 'cwd'>,
): Pick<AskRequest, 'header' | 'question'>[] {
  switch (dialog.kind) {
    case 'permission': {
      const { name, input } = dialog.tool;
      return [{ header: name, question: questionOf(describeCall(name, objectIn(input) ?? {}, cwd)) }];
    }
    case 'plan':
      return [{ header: PLAN_HEADER, question: APPROVE_PLAN }];
    case 'questions':
      return questionsIn(dialog.tool).map(({ text, header }) => ({ header, question: text }));
    case 'form':
      return [];
  }
}

/** Whether a prompt is about a tool for which no hook reports that it has returned. */
function isOfQuietTool({ fingerprint }: Prompt): boolean {
  return QUIET_TOOLS.some((quiet) => fingerprint.startsWith(`${quiet} `));
}

/**
 * The prompts of calls that may have returned before this call without a hook: of quiet tools, and of dialogs that waited in their
 * terminal, which may have refused them. Another call of the same step may begin only once its model has written it.
 */
export function mayHaveReturned(
  event: HookEvent,
  waiting: readonly Prompt[],
  now: string,
): readonly Prompt[] {
  if (!beginsCall(event)) return [];
  const before = timeAfter(now, -SAME_STEP_MS);
  return waiting.filter(
    (prompt) => prompt.created_at < before && (prompt.terminal_since !== null || isOfQuietTool(prompt)),
  );
}

/**
 * Whether a permission is about this call, as a client reports it later. The displayed call is compared if it can be read back,
 * otherwise its fingerprint. The texts of an edit and the agent's description of a call may have changed by then, so of an edit
 * only the tool and the file are compared, and of a described call only the tool.
 */
export function isAbout(prompt: Prompt, tool: HookTool): boolean {
  const shown = shownCall(prompt)?.tool;
  const given = objectIn(tool.input) ?? {};
  const field = FILE_ARGUMENTS.get(tool.name);
  if (field !== undefined) {
    const file = textIn(objectIn(shown?.input) ?? {}, field);
    return prompt.header === tool.name && mayBeSameFile(file, textIn(given, field));
  }
  if (shown !== undefined) return isCall(shown, tool);
  const { description } = describeCall(tool.name, given, undefined);
  if (EDIT_TOOLS.has(tool.name) || description !== null) return prompt.header === tool.name;
  return prompt.fingerprint.startsWith(fingerprintOf(tool));
}

/** A transcript has the path as the model wrote it, which may be a relative one; then only the name is compared. */
function mayBeSameFile(shown: string | null, given: string | null): boolean {
  if (shown === null || given === null) return true;
  if (shown.startsWith('/') && given.startsWith('/')) return shown === given;
  return shown.split('/').at(-1) === given.split('/').at(-1);
}

/** Whether a call of the transcript is the one for which this dialog was asked, or an equal one. */
function isFor(prompt: Prompt, tool: HookTool): boolean {
  if (tool.name === PLAN) return prompt.question === APPROVE_PLAN;
  if (tool.name !== QUESTIONS) return isAbout(prompt, tool);
  return questionsIn(tool).some(
    ({ header, text }) => header === prompt.header && cleanText(text) === prompt.question,
  );
}

/**
 * The dialogs whose calls have returned, according to the transcript. No hook says which call a dialog is about, so of equal calls
 * of one step, as many dialogs stay as calls have not returned: the last ones, because the terminal shows the first one first.
 */
export function returnedOf(prompts: readonly Prompt[], calls: readonly TranscriptCall[]): readonly Prompt[] {
  return prompts.filter((prompt, n) => {
    const steps = calls
      .filter(({ tool, at }) => at !== null && at > prompt.created_at && isFor(prompt, tool))
      .map(({ step }) => step);
    const open = calls.filter(
      ({ tool, step, at }) => at === null && steps.includes(step) && isFor(prompt, tool),
    );
    const later = prompts
      .slice(n + 1)
      .filter(
        ({ fingerprint, question }) => fingerprint === prompt.fingerprint && question === prompt.question,
      );
    return steps.length > 0 && later.length >= open.length;
  });
}

/** Whether a call is the one that was read back, which lacks the texts of an edit and the agent's own description. */
function isCall(shown: HookTool, { name, input }: Pick<HookTool, 'name' | 'input'>): boolean {
  const given = objectIn(input) ?? { input };
  const { named, description } = describeCall(name, given, undefined);
  const unread = named.filter((field) => field !== 'command');
  const displayed = without(given, [...unread, ...(description === null ? [] : ['description'])]);
  return digestOfCall([shown.name, shown.input]) === digestOfCall([name, displayed]);
}

/** The pending dialog prompts of a session that, as this event and the calls of the transcript show, the client has closed. */
export function dialogsEndedBy(
  event: HookEvent,
  waiting: readonly Prompt[],
  { now, calls }: { now: string; calls: TranscriptCalls },
): readonly Prompt[] {
  const { name, tool, raw } = event;
  if (beginsCall(event)) {
    const asked = mayHaveReturned(event, waiting, now);
    return calls === null ? asked : returnedOf(asked, calls);
  }
  if (CLOSING.has(name)) return waiting;
  if (name === 'ElicitationResult') {
    const header = formHeader(String(raw['mcp_server_name']));
    const ofServer = waiting.filter((prompt) => prompt.header === header);
    // The terminal shows the forms of a server one after the other, the oldest first.
    const [first] = ofServer;
    return ofServer.filter(
      (one) => one === first || (one.group_id !== null && one.group_id === first?.group_id),
    );
  }
  if (tool === null || !TOOL_IS_OVER.has(name)) return [];
  // The event does not identify its dialog, but its prompts would have the same headers and questions.
  const dialog = dialogOf({ ...event, name: 'PermissionRequest' });
  if (dialog === null) return [];
  const asked = beginningsOf(dialog, event).map(({ header, question }) => `${header} ${cleanText(question)}`);
  const same = waiting.filter(({ header, question }) => asked.includes(`${header} ${question}`));
  if (dialog.kind === 'questions') return same;
  // Several calls of one step may have the same first line, and the others are still open. Of equal calls, only one is over.
  return same.filter((prompt) => dialog.kind !== 'permission' || isAbout(prompt, dialog.tool)).slice(0, 1);
}

/**
 * Whether a client closed this question by itself, because nobody had answered in time: Claude Code after the time that its person
 * has set (`askUserQuestionTimeout`), Codex after two minutes outside its plan mode. What had been answered by then was sent.
 */
export function wasLeftUnanswered({ name, tool }: HookEvent, { question }: Prompt): boolean {
  if (name !== 'PostToolUse' || tool === null) return false;
  // By a process, Codex sends it as text.
  const response = typeof tool.response === 'string' ? objectInText(tool.response) : objectIn(tool.response);
  const answers = objectIn(response?.['answers']);
  if (answers === null) return false;
  if (tool.name === CODEX_QUESTIONS) {
    const asked = objectsIn(objectIn(tool.input)?.['questions']);
    const own = asked.find((raw) => cleanText(textIn(raw, 'question') ?? '') === question);
    return own !== undefined && answers[String(own['id'])] === undefined;
  }
  if (tool.name !== QUESTIONS || typeof response?.['afkTimeoutMs'] !== 'number') return false;
  return !Object.keys(answers).some((asked) => cleanText(asked) === question);
}
