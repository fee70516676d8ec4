/**
 * The hook handler of dialogs: what an agent's client asks its person is also asked at the desk. The hook waits outside
 * any transaction, and the first answer wins. If nobody answers, everything is as if there were no hook.
 */

import {
  ALLOW,
  comparedDialog,
  DENY,
  type Dialog,
  decideDialog,
  dialogFingerprint,
  dialogOf,
  editsFiles,
  mayEndDialogs,
  promptsOf,
} from '../domain/dialogs.ts';
import { type EditTools, type ExpectedFile, expectedFiles } from '../domain/edits.ts';
import type { HiveEvent } from '../domain/events.ts';
import type { DialogAnswer, HookEvent, Verdict, Waited } from '../domain/hooks.ts';
import { machineOfSeat } from '../domain/humans.ts';
import { interruptedBy, pleaseStop, stopPrinted } from '../domain/interrupts.ts';
import { decidingRule, type PermissionRule, rulesForTool } from '../domain/permission-rules.ts';
import { permissionDigest } from '../domain/permissions.ts';
import {
  type CheckedRequest,
  checkRequest,
  createPrompt,
  OPEN_LIMIT,
  type Prompt,
} from '../domain/prompts.ts';
import type { Seat } from '../domain/seats.ts';
import { type Session, threadOf } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import type { Trust } from '../domain/trust.ts';
import { askIdsOfRun, type Delivered, type DeliveryService, handPrompt, hookCarrier } from './delivery.ts';
import { rememberAllowedEdit } from './edits.ts';
import type { Feed } from './feed.ts';
import type { HookContext, HookHandler, HookSettings } from './hook-context.ts';
import { giveNotice } from './notices.ts';
import type { Store, WriteTx } from './ports.ts';
import { insertPrompt, recordAnswer, recordCancel } from './prompts.ts';
import { chargeQuotas, demandOf } from './quotas.ts';
import { seatThatAnswered, unsignedText } from './signatures.ts';
import { recordTrust } from './trust.ts';
import { recordTurnEnd, turnOf } from './turns.ts';
import { leaveToTerminal } from './waits.ts';
import type { CodexControl, Logger } from './world.ts';

/** The handler of one event. What needs no store is done here, before anybody else has to wait for it. */
export async function dialogHandler(event: HookEvent, settings: HookSettings): Promise<HookHandler> {
  const found = dialogOf(event);
  if (found === null) return async () => null;
  const asking = await inWords(found, event, settings);
  const rules = await applicableRules(asking.dialog, event, settings);
  return async (hook) => {
    const { verdict, waited } = hook;
    if (waited !== null) return conclude(hook, asking, waited, rules);
    if (rules.file !== null && settings.seat !== undefined)
      await recordTrust(hook.tx, { seat: settings.seat, via: 'hook' }, rules.file);
    return verdict.deny !== null || verdict.end_turn !== null ? null : open(hook, asking, rules);
  };
}

/**
 * A dialog with what it asks, in words. It is made before the transaction: a call may have a megabyte of text, and everybody
 * else waits for the lock.
 */
export interface Asking {
  dialog: Dialog;
  requests: readonly CheckedRequest[];
  fingerprint: string;
  /** The files as its diffs claim them. */
  expected: readonly ExpectedFile[];
}

/**
 * The dialog in words, with its edits as diffs of the files. They are compared again before an answer is given to the tool, so
 * that a yes to one diff is none to another (invariant 13). @throws HiveError `invalid_input` for what no prompt may be.
 */
export async function inWords(found: Dialog, event: HookEvent, { editTools }: HookSettings): Promise<Asking> {
  const tools = editTools !== undefined && editsFiles(found) ? await editTools(event.cwd) : null;
  const dialog = tools === null ? found : await compared(found, event, tools);
  const claimed = dialog.kind === 'permission' ? (dialog.edit?.claimed ?? []) : [];
  return {
    dialog,
    expected: tools === null ? [] : expectedFiles(claimed, tools),
    requests: promptsOf(dialog, event).map(checkRequest),
    fingerprint: dialogFingerprint(dialog),
  };
}

async function compared(
  found: Dialog,
  { client, transcript_path }: HookEvent,
  tools: EditTools,
): Promise<Dialog> {
  const version = transcript_path === null ? null : await tools.versionIn(client, transcript_path);
  return comparedDialog(found, { client, version }, tools);
}

async function open(
  hook: HookContext,
  asking: Asking,
  { matching }: Pick<ApplicableRules, 'matching'>,
): Promise<Partial<Verdict> | null> {
  const { tx } = hook;
  const decided = await openByRule(hook, asking, { matching });
  if (decided !== null) return decided;
  if (hook.event.client === 'codex' && asking.dialog.kind === 'questions') return offerBeside(hook, asking);
  const limit = await waitLimitFor(hook, asking.dialog);
  // Nobody is at a desk, so only the terminal asks, and at once.
  if (limit === null || (await tx.desks.online(tx.now)).length === 0) return null;
  const { wait_ms, hidden } = limit;
  // A dialog that its terminal shows has no time limit. After the hook has ended, it waits there alone.
  const ask_ids = await store(hook, await askFor(hook, asking, hidden ? wait_ms : null));
  return ask_ids.length === 0
    ? null
    : { wait: { ask_ids, wait_ms, all: true, needs_desk: hidden, in_terminal: !hidden } };
}

/** Answers by a rule of the human's; null where none decides. */
export async function openByRule(
  hook: HookContext,
  asking: Asking,
  { matching }: Pick<ApplicableRules, 'matching'>,
): Promise<Partial<Verdict> | null> {
  const rule = decidingRule(matching, hook.session, hook.tx.now);
  return rule === null ? null : answerByRule(hook, asking, rule);
}

/** Codex shows the dialog as soon as this hook has ended; the answer goes through the control socket (below). */
async function offerBeside(hook: HookContext, asking: Asking): Promise<null> {
  const { tx, event, settings } = hook;
  const { question_wait: given } = await hook.preferences();
  // Its subagents may not ask.
  if (given === 'off' || event.agent_id !== null || settings.codexListens?.() !== true) return null;
  const desks = await tx.desks.online(tx.now);
  if (!desks.some(({ seat }) => machineOfSeat(seat) === settings.machine)) return null;
  const timeout_ms = typeof given === 'number' ? Math.max(1, given) * 1_000 : null;
  await store(hook, await askFor(hook, asking, timeout_ms));
  return null;
}

/** Stores the prompts of one dialog as one group; returns their ids. Beyond a quota only the terminal asks. */
async function store({ tx, ids, session }: HookContext, prompts: readonly Prompt[]): Promise<string[]> {
  if ((await chargeQuotas(tx, session, demandOf(prompts))) !== null) return [];
  const group_id = prompts.length > 1 ? ids.make('group') : null;
  for (const prompt of prompts) await insertPrompt(tx, { ...prompt, group_id });
  return prompts.map(({ ask_id }) => ask_id);
}

/** What an answer is meant for, beyond the dialog itself. */
export interface Meant {
  /** It comes first in the context. */
  warning: string | null;
  /** The one call that may be given the answer; null: the dialog that waits for it. */
  call: string | null;
}

const THIS_DIALOG: Meant = { warning: null, call: null };

/** The prompts of a dialog, not stored yet; their ids are in their order, as lists show them. */
export async function askFor(
  hook: HookContext,
  { requests, fingerprint: tool }: Asking,
  timeout_ms: number | null,
  { warning, call }: Meant = THIS_DIALOG,
): Promise<Prompt[]> {
  const { tx, session, ids } = hook;
  const { session_id, handle: agent, title: agent_title, source, project, project_dir } = session;
  const turn_id = (await tx.turns.current(session_id))?.turn_id ?? null;
  const asker = { session_id, agent, agent_title, source, project, project_dir, turn_id };
  const ask_ids = requests.map(() => ids.make('ask')).sort();
  const fingerprint = call === null ? tool : `${tool} for ${call}`;
  return requests.map((request, n) => ({
    ...createPrompt({ ...warnedOf(request, warning), timeout_ms }, asker, ask_ids[n] ?? '', tx.now),
    dialog: true,
    blocked_since: tx.now,
    fingerprint,
  }));
}

function warnedOf(request: CheckedRequest, warning: string | null): CheckedRequest {
  return warning === null ? request : { ...request, context: `${warning}\n\n${request.context ?? ''}` };
}

/** Answers by a rule, which the event log names as the author of the answer. */
async function answerByRule(
  hook: HookContext,
  asking: Asking,
  { name, decision, note }: PermissionRule,
): Promise<Partial<Verdict> | null> {
  const { tx, ids, session } = hook;
  const [prompt] = await askFor(hook, asking, null);
  if (prompt === undefined) return null;
  await insertPrompt(tx, prompt);
  const label = decision === 'allow' ? ALLOW : DENY;
  const { prompt: settled } = await recordAnswer(tx, prompt, {
    decision: label,
    selected: [label],
    comment: decision === 'deny' ? note : null,
    by: name,
    via: 'rule',
    attested: true,
    response_id: ids.make('response'),
    responded_at: tx.now,
  });
  await handPrompt(tx, settled, hookCarrier(session.session_id));
  return { decision: decideDialog(asking.dialog, [settled]), carries: true };
}

async function conclude(
  hook: HookContext,
  asking: Asking,
  waited: Waited,
  { file }: ApplicableRules,
): Promise<Partial<Verdict> | null> {
  const { tx, verdict } = hook;
  const found = await Promise.all(waited.ask_ids.map((ask_id) => tx.prompts.get(ask_id)));
  const prompts = found.filter((prompt) => prompt !== undefined);
  const stop = await interruptAnswer(hook);
  if (stop !== null) return { decision: stop };
  const answered = prompts.every(({ status }) => status === 'responded');
  if (answered && !waited.abandoned && verdict.deny === null)
    return concludeAll(hook, asking, prompts, { file, meant: THIS_DIALOG });
  const shows = waited.in_terminal === true && !waited.abandoned && verdict.deny === null;
  const staysOpen = shows && prompts.every(({ status }) => status === 'pending');
  for (const prompt of prompts)
    await (staysOpen ? leaveToTerminal(tx, prompt) : recordCancel(tx, prompt, ELSEWHERE));
  return null;
}

/** Everything that an allowing answer is compared with. */
interface Against {
  /** The human's file, with the seats whose signature counts. */
  file: Trust | null;
  meant: Meant;
}

/** Gives the answer to a permission to the call that waits for it. */
export async function concludePrompt(
  hook: HookContext,
  asking: Asking,
  prompt: Prompt,
  against: Against,
): Promise<Partial<Verdict> | null> {
  return concludeAll(hook, asking, [prompt], against);
}

/** Gives the answers to a client's questions to the call that waits for them. */
export async function concludePrompts(
  hook: HookContext,
  asking: Asking,
  prompts: readonly Prompt[],
): Promise<Partial<Verdict> | null> {
  return concludeAll(hook, asking, prompts, { file: null, meant: THIS_DIALOG });
}

async function concludeAll(
  hook: HookContext,
  asking: Asking,
  prompts: readonly Prompt[],
  { file, meant }: Against,
): Promise<Partial<Verdict> | null> {
  const { tx, session } = hook;
  const { dialog } = asking;
  const decided = decideDialog(dialog, prompts);
  if (decided === null) return null;
  const seats = hook.settings.seats?.() ?? file?.seats ?? [];
  const decision = await permitted(hook, asking, { decided, prompts, seats, meant });
  for (const prompt of prompts) {
    // The client's answer has no room for a comment on an approval; the comment comes with the next hook.
    if (isWholeAnswer(decision, dialog, prompt))
      await handPrompt(tx, prompt, hookCarrier(session.session_id));
  }
  if (decision.kind === 'deny' && decision.interrupt) await endTurnFor(hook, prompts[0]);
  if (decision.kind === 'allow' && asking.expected.length > 0 && prompts[0] !== undefined)
    await rememberAllowedEdit(hook, prompts[0], asking.expected);
  return { decision, carries: true };
}

interface Deciding {
  decided: DialogAnswer;
  prompts: readonly Prompt[];
  seats: readonly Seat[];
  meant: Meant;
}

/**
 * What may leave as an `allow`. A yes to something else than what is about to run is no yes (invariant 13): somebody
 * changed the stored question. Nor is one that no registered seat signed (invariant 14): anybody may write a store.
 */
async function permitted(
  hook: HookContext,
  asking: Asking,
  { decided, prompts, seats, meant }: Deciding,
): Promise<DialogAnswer> {
  const { dialog } = asking;
  if (decided.kind !== 'allow' || !isPermission(dialog)) return decided;
  const [[asked], [answered]] = [await askFor(hook, asking, null, meant), prompts];
  if (asked === undefined || answered === undefined) return NOT_WHAT_WAS_DISPLAYED;
  // What its asker has added since was displayed, too, and runs nothing.
  const displayed_digest = permissionDigest({ ...asked, notes: answered.notes });
  if (displayed_digest !== permissionDigest(answered)) {
    if (!isChangedFile(dialog, asked, answered)) return NOT_WHAT_WAS_DISPLAYED;
    const { session_id } = answered;
    const text = `${labelled(answered)} was not allowed what you allowed: a file has changed since you were shown the diff. It was asked to read the file and to ask again.`;
    await giveNotice(hook.tx, { severity: 'warning', session_id, text });
    return FILE_CHANGED;
  }
  const seat = await seatThatAnswered(hook.tx, answered, {
    store: hook.store,
    displayed_digest,
    seats,
  });
  if (seat !== null) return decided;
  const text = unsignedText(answered);
  await giveNotice(hook.tx, { severity: 'warning', session_id: answered.session_id, text });
  return NOT_SIGNED;
}

const NOT_SIGNED: DialogAnswer = {
  kind: 'deny',
  message:
    'Denied by Hive: no seat that the human has registered signed this answer. Nothing was allowed. Tell the human.',
  interrupt: false,
};

/** Whether the call is the one that was shown, and only the diff of its files has become another. */
export function isChangedFile(dialog: Dialog, asked: Prompt, shown: Prompt): boolean {
  return (
    editsFiles(dialog) &&
    asked.fingerprint === shown.fingerprint &&
    permissionDigest({ ...asked, context: shown.context, notes: shown.notes }) === permissionDigest(shown)
  );
}

const FILE_CHANGED: DialogAnswer = {
  kind: 'deny',
  message:
    'Denied by Hive: the file has changed since the human was shown this edit, so what the human allowed is not what would happen. Nothing was changed. Read the file again, then repeat the edit; the human is asked again.',
  interrupt: false,
};

const NOT_WHAT_WAS_DISPLAYED: DialogAnswer = {
  kind: 'deny',
  message:
    'Denied by Hive: what the human was shown is not what is about to run. Nothing was allowed. Tell the human.',
  interrupt: false,
};

/** Whether the decision tells the agent all that the person answered, so that no later hook need deliver the rest. */
function isWholeAnswer(decision: DialogAnswer, { kind }: Dialog, { comment }: Prompt): boolean {
  return comment === null || decision.kind === 'deny' || kind === 'questions';
}

/** The turn is interrupted while its dialog waits. No other hook would fire, so the dialog ends it. */
async function interruptAnswer({ tx, event, session }: HookContext): Promise<DialogAnswer | null> {
  const turn = await turnOf(tx, session.session_id, event.client_turn_id);
  if (turn === undefined || event.client !== 'claude-code' || event.name !== 'PermissionRequest') return null;
  const [asked] = await tx.turns.pendingInterrupts(turn.turn_id);
  if (asked === undefined) return null;
  await recordTurnEnd(tx, stopPrinted(turn, tx.now), interruptedBy(asked));
  return { kind: 'deny', message: pleaseStop(asked), interrupt: true };
}

/** The client stops without another hook, so the turn ends here. */
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

/** Claude Code lets the hook of a dialog wait for a day (installation.ts); the difference is for printing the result. */
const LONGEST_S = 24 * 60 * 60 - 10;
/** Where no terminal shows the dialog. */
const UNATTENDED_S = 590;
const HIDDEN_S = 60;
/** Codex hides its own dialog while a hook waits. */
const CODEX_S = 20;

interface WaitLimit {
  wait_ms: number;
  /** The person at the client's terminal does not see the dialog, or nobody is there. */
  hidden: boolean;
}

/** `permission_wait` and `question_wait`; usually dialogs wait at a desk with Claude Code, not with Codex. */
async function waitLimitFor(
  { event, session, preferences }: HookContext,
  dialog: Dialog,
): Promise<WaitLimit | null> {
  const { permission_wait, question_wait } = await preferences();
  const given = isPermission(dialog) ? permission_wait : question_wait;
  const codex = event.client === 'codex';
  if (given === 'off' || (codex && given === 'usual')) return null;
  const inBackground = event.agent_id !== null && session.source === 'bg';
  const unattended = event.attended === false;
  const hidden = codex || inBackground || unattended;
  const usual = codex ? CODEX_S : inBackground ? HIDDEN_S : unattended ? UNATTENDED_S : LONGEST_S;
  const seconds = typeof given === 'number' ? Math.max(1, given) : usual;
  return { wait_ms: Math.min(seconds, codex ? CODEX_S : LONGEST_S) * 1000, hidden };
}

function isPermission({ kind }: Dialog): boolean {
  return kind === 'permission' || kind === 'plan';
}

export interface ApplicableRules {
  /** The human's file; null where nothing asks for it. */
  file: Trust | null;
  /** The rules that match what the tool is about to do, whichever session it is. */
  matching: readonly PermissionRule[];
}

/** The human's rules for this dialog: they answer permissions only, never a question, never a plan. */
export async function applicableRules(
  dialog: Dialog,
  { cwd }: HookEvent,
  { human }: HookSettings,
): Promise<ApplicableRules> {
  if (!isPermission(dialog) || human === undefined) return { file: null, matching: [] };
  const { trust, place } = await human(cwd);
  if (dialog.kind !== 'permission') return { file: trust, matching: [] };
  return { file: trust, matching: rulesForTool(trust.permission_rules, dialog.tool, place) };
}

// ---- Closing dialogs that the client has left behind ----
// Most events close none and cost at most one read.

/** The reason for cancelling a dialog that was answered in its terminal. */
const ELSEWHERE = { by: 'terminal', via: 'terminal', reason: 'answered_elsewhere' } as const;

/** Cancels pending dialogs that were answered in their client's terminal. */
export const cancelEndedDialogs: HookHandler = async (hook) => {
  const { tx, event, session } = hook;
  if (!mayEndDialogs(event)) return null;
  const own = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const waiting = own.filter(({ dialog, status }) => dialog && status === 'pending');
  if (waiting.length === 0) return null;
  const { dialogsEndedBy } = await import('../domain/dialogs.ts');
  const ofRun = await askIdsOfRun(hook);
  for (const prompt of dialogsEndedBy(event, waiting, tx.now))
    if (!ofRun.has(prompt.ask_id)) await recordCancel(tx, prompt, ELSEWHERE);
  return null;
};

// ---- Answering the dialogs of Codex ----
// When Codex asks its person (request_user_input), a hook cannot answer: while it waits, the terminal shows no question.
// So the hook only stores the questions. Once all of them are answered at a desk, the process of that desk answers the
// dialog through the control socket, if it is still open. The first answer wins.

interface CodexAnswerParts {
  store: Store;
  feed: Feed;
  delivery: DeliveryService;
  codex: CodexControl;
  /** This machine; the socket of another one cannot be reached. */
  machine: string;
  log: Logger;
}

/** Answers until the returned function is called. */
export function startCodexAnswers(parts: CodexAnswerParts): () => Promise<void> {
  const { store, feed, delivery, codex, machine, log } = parts;

  async function answer(ask_id: string): Promise<void> {
    const answered = await store.write((tx) => handAnswered(tx, ask_id, machine));
    if (answered === null) return;
    const { session, delivered } = answered;
    const answers = new Map(delivered.map(({ prompt }) => [prompt.question, wordsOf(prompt)]));
    if (await codex.answer({ thread_id: threadOf(session), answers })) return;
    // The terminal was first, or the dialog is gone: the session's next hook delivers the answer.
    log.info('A dialog of Codex could not be answered any more.', { ask_id });
    const handed = delivered.map(({ prompt }) => ({
      ask_id: prompt.ask_id,
      handed_at: prompt.handed_at ?? '',
    }));
    await delivery.markLost(hookCarrier(session.session_id), handed);
  }

  const following = (async () => {
    const cursor = await store.read((tx) => tx.events.head());
    return feed.follow({
      cursor,
      async onEvents(events: HiveEvent[]) {
        for (const { type, subject } of events)
          if (type === 'prompt/responded' && subject !== null) await answer(subject);
      },
      // Hooks deliver what was missed, like any answer.
      onResync: async () => undefined,
    });
  })();
  following.catch((error: unknown) =>
    log.warn('Answers to the dialogs of Codex could not be followed.', { error: String(error) }),
  );
  return async () => {
    const unfollow = await following.catch(() => null);
    await unfollow?.();
  };
}

/** Hands over the answers of a dialog once all are there, to one process only; null while it cannot be answered here. */
async function handAnswered(
  tx: WriteTx,
  ask_id: string,
  machine: string,
): Promise<{ session: Session; delivered: Delivered[] } | null> {
  const prompt = await tx.prompts.get(ask_id);
  if (prompt?.dialog !== true || prompt.kind !== 'question') return null;
  const session = await tx.sessions.get(prompt.session_id);
  if (session?.client !== 'codex' || session.machine !== machine) return null;
  const open = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const group = open.filter((one) =>
    prompt.group_id === null ? one.ask_id === ask_id : one.group_id === prompt.group_id,
  );
  if (!group.every(({ status, handed_at }) => status === 'responded' && handed_at === null)) return null;
  const delivered: Delivered[] = [];
  for (const one of group) delivered.push(await handPrompt(tx, one, hookCarrier(session.session_id)));
  return delivered.length === 0 ? null : { session, delivered };
}

/** What the model reads: the chosen labels or the free text, then the comment. */
function wordsOf({ selected, decision, comment }: Prompt): string[] {
  const chosen = selected.length > 0 ? selected : [decision ?? ''];
  return comment === null ? chosen : [...chosen, comment];
}
