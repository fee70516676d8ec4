/**
 * The hook handler of dialogs: a dialog of an agent's client is also offered at the desks. The hook waits outside any
 * transaction, and the first answer wins. If nobody answers, the client continues as if there were no hook.
 */
import { directoryOfChanges, isRelativePatch, permissionsOfCommand } from '../domain/codex-patches.ts';
import { changesOf, SHELL } from '../domain/codex-requests.ts';
import {
  ALLOW,
  comparedDialog,
  DENY,
  decideDialog,
  dependsOnFiles,
  dialogFingerprint,
  dialogOf,
  type HookDialog,
  looksAtFiles,
  patchOf,
  promptsOf,
} from '../domain/dialogs.ts';
import {
  areClaimed,
  type EditCall,
  type EditTools,
  type ExpectedFile,
  expectedFiles,
  type FileChange,
} from '../domain/edits.ts';
import { saysComment } from '../domain/forms.ts';
import type { DialogAnswer, HookEvent, Verdict, Waited } from '../domain/hooks.ts';
import { machineOfSeat } from '../domain/humans.ts';
import { pleaseStop, stopPrinted } from '../domain/interrupts.ts';
import { objectIn, textIn } from '../domain/json.ts';
import { decidingRule, type PermissionRule, rulesForTool } from '../domain/permission-rules.ts';
import { type Displayed, permissionDigest } from '../domain/permissions.ts';
import { checkRequest, type Prompt } from '../domain/prompts.ts';
import type { Trust } from '../domain/trust.ts';
import { hookCarrier } from './delivery.ts';
import {
  conclude,
  type Dialog,
  displayedOf,
  draft,
  isAnswered,
  type Meant,
  meantFor,
  offer,
  promptsNow,
  settleByRule,
  type Withheld,
  withdraw,
} from './dialogs.ts';
import { rememberAllowedEdit } from './edits.ts';
import { cameTooLate, ELSEWHERE, GONE } from './ended-dialogs.ts';
import type { HookContext, HookHandler, HookSurroundings } from './hook-context.ts';
import { pendingRequestFor, recordStop } from './interrupts.ts';
import { recordTrust } from './trust.ts';
import { recordTurnEnd, turnOf } from './turns.ts';
import { leaveToTerminal } from './waits.ts';

/** The handler of one event. Work that needs no store is done here, before the transaction. */
export async function dialogHandler(event: HookEvent, surroundings: HookSurroundings): Promise<HookHandler> {
  const found = dialogOf(event);
  if (found === null) return async () => null;
  const worded = await inWords(found, event, surroundings);
  const rules = await applicableRules(worded.dialog, event, surroundings);
  const hosted = await isHosted(worded, event, surroundings);
  return async (hook) => {
    const { verdict, waited } = hook;
    if (waited !== null) return concludeWait(hook, worded, waited, rules);
    if (rules.file !== null && surroundings.seat !== undefined)
      await recordTrust(hook.tx, { seat: surroundings.seat, via: 'hook' }, rules.file);
    return verdict.deny !== null || verdict.end_turn !== null ? null : open(hook, worded, rules, hosted);
  };
}

/** A rendered dialog of a client with hooks. */
export interface WordedDialog extends Dialog {
  dialog: HookDialog;
  /** The files before and after, as its diffs claim them. */
  expected: readonly ExpectedFile[];
  /** Whether Codex itself reports that it is about to make the changes that the diffs show. */
  confirmed: boolean;
}

/** The facts of an event on which the text of its dialog depends. */
export type WordingOf = Pick<HookEvent, 'client' | 'cwd' | 'session_id' | 'agent_id' | 'transcript_path'>;

/**
 * Renders the dialog, with its edits as diffs of the files, and with the content of its plan's file. Both are read again before
 * the tool gets an answer, so that a yes to one diff or plan never allows another (invariant 13). @throws HiveError
 * `invalid_input` if it cannot become a prompt.
 */
export async function inWords(
  reported: HookDialog,
  event: WordingOf,
  {
    editTools,
    readTail,
    client_version,
    codexItems,
  }: Pick<HookSurroundings, 'editTools' | 'readTail' | 'client_version' | 'codexItems'>,
): Promise<WordedDialog> {
  const found = withPermissions(reported, event, readTail);
  const files = editTools !== undefined && looksAtFiles(found) ? await editTools(event.cwd) : null;
  const patch = event.client === 'codex' ? patchOf(found) : null;
  const isOwn = patch !== null && files !== null && event.agent_id === null;
  const items = isOwn ? await codexItems?.(event.session_id) : undefined;
  const edits = (items ?? []).map(changesOf).filter((changes) => changes !== null);
  const directory = files === null ? event.cwd : await directoryFor(patch, edits, event, files);
  const isElsewhere = directory !== null && directory !== event.cwd;
  const tools = isElsewhere && editTools !== undefined ? await editTools(directory) : files;
  const connected = client_version?.() ?? null;
  const dialog =
    tools === null ? found : await compared(found, { ...event, directory, version: connected }, tools);
  const claimed = dialog.kind === 'permission' ? (dialog.edit?.claimed ?? []) : [];
  return {
    dialog,
    expected: tools === null ? [] : expectedFiles(claimed, tools),
    confirmed: tools !== null && edits.some((changes) => areClaimed(changes, claimed, tools)),
    requests: promptsOf(dialog, { client: event.client, cwd: directory }).map(checkRequest),
    fingerprint: dialogFingerprint(dialog),
  };
}

/** In bytes: more than Codex writes in most turns. */
const TURN_BYTES = 4 * 1024 * 1024;

/**
 * The dialog with the permissions that a command of Codex asks for and its hook does not report. A transcript that is behind does
 * not have them yet, so they are not displayed; then nothing is allowed, because the dialog is made again before its answer is
 * given.
 */
function withPermissions(
  dialog: HookDialog,
  { client, transcript_path: path }: WordingOf,
  readTail: HookSurroundings['readTail'],
): HookDialog {
  if (client !== 'codex' || dialog.kind !== 'permission' || path === null) return dialog;
  const input = objectIn(dialog.tool.input) ?? {};
  const command = dialog.tool.name === 'Bash' ? textIn(input, 'command') : null;
  const tail = command === null ? null : readTail(path, TURN_BYTES);
  const additional_permissions = tail === null ? null : permissionsOfCommand(tail.split('\n'), command);
  if (additional_permissions === null) return dialog;
  return { ...dialog, tool: { ...dialog.tool, input: { ...input, additional_permissions } } };
}

/** The directory in which a tool works, or a patch of Codex is applied; null if its client does not report it. */
async function directoryFor(
  patch: string | null,
  edits: readonly (readonly FileChange[])[],
  { cwd, transcript_path }: WordingOf,
  tools: EditTools,
): Promise<string | null> {
  if (patch === null || !isRelativePatch(patch)) return cwd;
  const places = edits.map((changes) => directoryOfChanges(patch, changes)).filter((place) => place !== null);
  const [first] = places;
  if (first !== undefined && places.every((place) => place === first)) return first;
  return transcript_path === null ? null : tools.directoryOfPatch(transcript_path, patch);
}

async function compared(
  found: HookDialog,
  { client, transcript_path, directory, version }: WordingOf & Pick<EditCall, 'directory' | 'version'>,
  tools: EditTools,
): Promise<HookDialog> {
  const isEdit = found.kind !== 'plan' && dependsOnFiles(found) && transcript_path !== null;
  const written = isEdit && version === null ? await tools.versionIn(client, transcript_path) : version;
  return comparedDialog(found, { client, version: written, directory }, tools);
}

async function open(
  hook: HookContext,
  worded: WordedDialog,
  { matching }: Pick<ApplicableRules, 'matching'>,
  hosted: boolean,
): Promise<Partial<Verdict> | null> {
  const { tx } = hook;
  const decided = await openByRule(hook, worded, { matching });
  if (decided !== null || (hosted && (await offerBeside(hook, worded)))) return decided;
  // No hook can answer them.
  if (hook.event.client === 'codex' && worded.dialog.kind === 'questions') return null;
  const limit = await waitLimitFor(hook);
  // No desk is open, so only the terminal asks, at once.
  if (limit === null || (await tx.desks.online(tx.now)).length === 0) return null;
  const { wait_ms, unattended, shown_after } = limit;
  // A dialog that its terminal shows has no time limit. After the hook has ended, only the terminal waits.
  const { ids, session } = hook;
  const timeout_ms = unattended ? wait_ms : null;
  const ask_ids = await offer(tx, session, await draft(tx, ids, session, worded, timeout_ms));
  const needs_desk = unattended || shown_after;
  return ask_ids.length === 0
    ? null
    : { wait: { ask_ids, wait_ms, all: true, needs_desk, in_terminal: !unattended } };
}

/** Answers by the human's rules; null if none decides. */
export async function openByRule(
  hook: HookContext,
  worded: WordedDialog,
  { matching }: Pick<ApplicableRules, 'matching'>,
): Promise<Partial<Verdict> | null> {
  const { tx, ids, session } = hook;
  const rule = decidingRule(matching, session, tx.now);
  const [asked] = rule === null ? [] : await draft(tx, ids, session, worded);
  if (rule === null || asked === undefined) return null;
  const label = rule.decision === 'allow' ? ALLOW : DENY;
  const settled = await settleByRule(tx, ids, asked, {
    rule,
    label,
    carrier: hookCarrier(session.session_id),
  });
  return { decision: decideDialog(worded.dialog, [settled]), carries: true };
}

/**
 * Whether Codex shows this dialog to every client of its daemon once this hook has ended, so that a desk can answer it
 * (codex-dialogs.ts): its questions, the permission of a command, and that of an edit whose changes it reports. Its subagents have
 * threads of their own.
 */
async function isHosted(
  { dialog, confirmed }: WordedDialog,
  { client, agent_id, session_id }: HookEvent,
  { codexHosts }: HookSurroundings,
): Promise<boolean> {
  if (client !== 'codex' || agent_id !== null || codexHosts === undefined) return false;
  const isCommand = dialog.kind === 'permission' && dialog.tool.name === SHELL;
  return confirmed || ((isCommand || dialog.kind === 'questions') && codexHosts(session_id));
}

/** The facts from which the sidecar makes such a dialog again, as the log has them. They permit nothing. */
export interface OfferedBeside {
  cwd: string;
  transcript_path: string | null;
  /** The input of a call that edits files: Codex itself repeats only the changes. */
  edited: unknown;
}

/** Offers such a dialog at the desks. False if no desk of this machine is open, or its human wants none. */
async function offerBeside(hook: HookContext, worded: WordedDialog): Promise<boolean> {
  const { tx, ids, session, surroundings, event } = hook;
  const { dialog_wait: given } = await hook.preferences();
  const desks = given === 'off' ? [] : await tx.desks.online(tx.now);
  if (!desks.some(({ seat }) => machineOfSeat(seat) === surroundings.machine)) return false;
  const timeout_ms = typeof given === 'number' ? Math.max(1, given) * 1_000 : null;
  const { cwd, transcript_path } = event;
  const edited = worded.confirmed ? event.tool?.input : null;
  const beside: OfferedBeside = { cwd, transcript_path, edited };
  await offer(tx, session, await draft(tx, ids, session, worded, timeout_ms), { beside });
  return true;
}

const THIS_DIALOG: Meant = { warning: null, call: null };

async function concludeWait(
  hook: HookContext,
  worded: WordedDialog,
  waited: Waited,
  { file }: ApplicableRules,
): Promise<Partial<Verdict> | null> {
  const { tx, verdict } = hook;
  const prompts = await promptsNow(tx, waited.ask_ids);
  const stop = await interruptAnswer(hook);
  if (stop !== null) return { decision: stop };
  if (isAnswered(prompts) && !waited.abandoned && verdict.deny === null)
    return (await cameTooLate(hook, prompts))
      ? null
      : concludePrompts(hook, worded, prompts, { file, meant: THIS_DIALOG });
  const isWithdrawn = waited.abandoned && !waited.cut_off;
  const shows = waited.in_terminal === true && !isWithdrawn && verdict.deny === null;
  // Some may be answered. The terminal asks all of them again.
  const staysOpen = shows && prompts.every(({ status }) => status === 'pending' || status === 'responded');
  if (staysOpen) for (const prompt of prompts) await leaveToTerminal(tx, prompt);
  else await withdraw(tx, prompts, waited.cut_off ? GONE : ELSEWHERE);
  return null;
}

/** The data that an allowing answer is compared with. */
interface Against {
  /** The human's file, with the seats whose signatures count. */
  file: Trust | null;
  meant: Meant;
}

/** Gives the answers of a dialog to the call that waits for them. */
export async function concludePrompts(
  hook: HookContext,
  worded: WordedDialog,
  prompts: readonly Prompt[],
  { file, meant }: Against = { file: null, meant: THIS_DIALOG },
): Promise<Partial<Verdict> | null> {
  const { tx, session, store, surroundings } = hook;
  const { dialog, expected } = worded;
  const decision = await conclude<DialogAnswer>(tx, prompts, {
    carrier: hookCarrier(session.session_id),
    decide: (answered) => decideDialog(dialog, answered),
    allows: ({ kind }) => kind === 'allow' && isPermission(dialog),
    asked: displayedOf(meantFor(worded, meant)),
    isChangedFile: (asked, shown) => isChangedFile(dialog, asked, shown),
    store,
    seats: surroundings.seats?.() ?? file?.seats ?? [],
    refusal: (why) => ({
      kind: 'deny',
      message: dialog.kind === 'plan' && why === 'file_changed' ? PLAN_CHANGED : DENIED[why],
      interrupt: false,
    }),
    // The client's format has no comment on an approval; the comment comes with the next hook.
    isWhole: (given, { comment }) =>
      comment === null || given.kind === 'deny' || dialog.kind === 'questions' || saysComment(given, comment),
  });
  if (decision === null) return null;
  if (decision.kind === 'deny' && decision.interrupt) await endTurnFor(hook, prompts[0]);
  if (decision.kind === 'allow' && expected.length > 0 && prompts[0] !== undefined)
    await rememberAllowedEdit(hook, hook.event, prompts[0], expected);
  return { decision, carries: true };
}

const DENIED: Readonly<Record<Withheld, string>> = {
  not_displayed:
    'Denied by Hive: what the human was shown is not what is about to run. Nothing was allowed. Tell the human.',
  file_changed:
    'Denied by Hive: the file has changed since the human was shown this edit, so what the human allowed is not what would happen. Nothing was changed. Read the file again, then repeat the edit; the human is asked again.',
  not_signed:
    'Denied by Hive: no seat that the human has registered signed this answer. Nothing was allowed. Tell the human.',
};

const PLAN_CHANGED =
  'Not approved: the file of the plan has changed since the human was shown the plan, so what the human approved is not what would be carried out. Read that file again, then call ExitPlanMode again; the human is asked again.';

/** Whether the call is the one that was shown, and only the diff of its files, or the plan in its file, has changed. */
export function isChangedFile(dialog: HookDialog, asked: Displayed, shown: Prompt): boolean {
  return (
    dependsOnFiles(dialog) &&
    asked.fingerprint === shown.fingerprint &&
    permissionDigest({ ...asked, context: shown.context, notes: shown.notes }) === permissionDigest(shown)
  );
}

/**
 * The answer if the turn is interrupted while its dialog waits. It ends the turn, because no other hook may fire. Codex can only be
 * asked to stop, as in a denial of PreToolUse.
 */
async function interruptAnswer({ tx, event, session }: HookContext): Promise<DialogAnswer | null> {
  const turn = await turnOf(tx, session.session_id, event.client_turn_id);
  if (turn === undefined || event.name !== 'PermissionRequest') return null;
  const asked = await pendingRequestFor(tx, turn, session);
  if (asked === null) return null;
  await recordStop(tx, turn, asked);
  return { kind: 'deny', message: pleaseStop(asked), interrupt: true };
}

/** Ends the turn, because the client stops without another hook. */
async function endTurnFor({ tx, session }: HookContext, prompt: Prompt | undefined): Promise<void> {
  const turn = await tx.turns.current(session.session_id);
  if (turn === undefined || prompt === undefined) return;
  const { by, via, comment: note } = prompt;
  await recordTurnEnd(tx, stopPrinted(turn, tx.now), {
    state: 'aborted',
    abort_reason: 'interrupted',
    by,
    via,
    note,
  });
}

// ---- The human's settings for dialogs ----
// How long dialogs wait at a desk, and the rules that answer them.

/** Claude Code lets the hook of a dialog wait for a day (installation.ts); the difference leaves time to print the result. */
const LONGEST_S = 24 * 60 * 60 - 10;
/** The limit if no terminal shows the dialog. */
const UNATTENDED_S = 590;
/** Claude Code shows a dialog of a subagent in the background only once its hook has ended. */
const BACKGROUND_S = 60;
/** Codex hides its own dialog while a hook waits. */
const CODEX_S = 20;
/** Claude Code shows a form only once its hook has ended, and many MCP servers give up on a form after a minute. */
const FORM_S = 30;

interface WaitLimit {
  wait_ms: number;
  /** Whether nobody is at the client's terminal. */
  unattended: boolean;
  /** Whether the terminal shows the dialog only once the hook has ended. */
  shown_after: boolean;
}

/** The limit by the setting `dialog_wait`. By default, hooks of Claude Code wait for the desk, those of Codex do not. */
async function waitLimitFor({ event, session, preferences }: HookContext): Promise<WaitLimit | null> {
  const { dialog_wait: given } = await preferences();
  const codex = event.client === 'codex';
  if (given === 'off' || (codex && given === 'usual')) return null;
  const inBackground = event.agent_id !== null && session.source === 'bg';
  const unattended = event.attended === false;
  const isForm = event.name === 'Elicitation';
  const shown_after = !unattended && (codex || inBackground || isForm);
  const shown = isForm ? FORM_S : LONGEST_S;
  const usual = codex ? CODEX_S : inBackground ? BACKGROUND_S : unattended ? UNATTENDED_S : shown;
  const seconds = typeof given === 'number' ? Math.max(1, given) : usual;
  return { wait_ms: Math.min(seconds, codex ? CODEX_S : LONGEST_S) * 1000, unattended, shown_after };
}

function isPermission({ kind }: HookDialog): boolean {
  return kind === 'permission' || kind === 'plan';
}

export interface ApplicableRules {
  /** The human's file; null if it is not needed. */
  file: Trust | null;
  /** The rules that match the tool call, in any session. */
  matching: readonly PermissionRule[];
}

/** The human's rules for this dialog. Rules answer permissions only, never a question or a plan. */
export async function applicableRules(
  dialog: HookDialog,
  { cwd }: HookEvent,
  { human }: HookSurroundings,
): Promise<ApplicableRules> {
  if (!isPermission(dialog) || human === undefined) return { file: null, matching: [] };
  const { trust, place } = await human(cwd);
  if (dialog.kind !== 'permission') return { file: trust, matching: [] };
  return { file: trust, matching: rulesForTool(trust.permission_rules, dialog.tool, place) };
}
