/**
 * The hook handler of runs: in a run of `hive run`, a call that needs the human waits for a while, and is then deferred, so
 * that the agent's process can end. When the agent has been started again, it makes the same call again, and gets the
 * answer here. Only the agent of the run's last start gets an answer, and each answer is given to one call.
 */
import { displayedOf, draft, meantFor } from '../../application/dialogs.ts';
import type { HookContext, HookHandler, HookSurroundings } from '../../application/hook-context.ts';
import {
  applicableRules,
  concludePrompts,
  dialogHandler,
  inWords,
  isChangedFile,
  openByRule,
  type WordedDialog,
} from '../../application/hook-dialogs.ts';
import { giveNotice } from '../../application/notices.ts';
import { insertPrompt, recordCancel } from '../../application/prompts.ts';
import { dialogOf, type HookDialog, isAbout } from '../../domain/dialogs.ts';
import type { HookEvent, Verdict, Waited } from '../../domain/hooks.ts';
import { objectIn } from '../../domain/json.ts';
import { permissionDigest } from '../../domain/permissions.ts';
import type { Prompt } from '../../domain/prompts.ts';
import type { Run, RunCall, RunStart } from '../../domain/runs.ts';
import { describeCall, questionOf } from '../../domain/shown-calls.ts';
import { labelled } from '../../domain/sources.ts';
import type { Trust } from '../../domain/trust.ts';
import {
  concludeQuestion,
  giveWaitNotice,
  keepOpen,
  modeOf,
  openQuestion,
  putCalls,
  questionIn,
  WAITING_MS,
  waitFor,
  waitsForIt,
} from './questions.ts';
import {
  ALLOWED_VARIABLE,
  hasTwin,
  isOnlyCall,
  isOpenCall,
  NOT_PERMITTED,
  needsHuman,
  STEP_TAIL_BYTES,
} from './run.ts';

const STALE =
  'This agent was started for an earlier part of its run, and another one has taken over. Stop now: call no tools.';

const NOT_SHOWN =
  'Denied by Hive: the arguments of this call are too large or nested too deep to be shown to your human. Nothing ran. Do it with simpler calls.';

/** The handler of one event of a run's agent. */
export async function runHandler(
  event: HookEvent,
  surroundings: HookSurroundings,
  own: RunStart,
): Promise<HookHandler> {
  const found = permissionIn(event, surroundings);
  const worded = found === null ? null : await inWords(found, event, surroundings);
  const rules = worded === null ? null : await applicableRules(worded.dialog, event, surroundings);
  const question = await questionIn(event, surroundings);
  const otherwise = dialogOf(event) === null ? null : await dialogHandler(event, surroundings);
  const ofRun = async (hook: HookContext, stored: Run): Promise<Partial<Verdict> | null> => {
    const { verdict, waited } = hook;
    await noticeChanged(hook, stored);
    const run = await heard(hook, stored);
    if (event.name === 'Stop' && event.agent_id === null) return keepOpen(hook, run);
    // The texts of the call were left out of the event (adapters/hooks/hook.ts).
    if (found !== null && event.tool?.input === null) return { deny: NOT_SHOWN };
    // A call that waited as it would outside of runs does not belong to the run.
    const isOfRun = waited === null || run.calls.some(({ ask_id }) => waited.ask_ids.includes(ask_id));
    if (!isOfRun && otherwise !== null) return otherwise(hook);
    if (question !== null && waitsForIt(question, run)) {
      if (waited !== null) return concludeQuestion(hook, run, question, waited);
      if (verdict.deny !== null || verdict.end_turn !== null) return null;
      return (await openQuestion(hook, run, question)) ?? otherwise?.(hook) ?? null;
    }
    if (worded === null || rules === null) return otherwise?.(hook) ?? null;
    if (waited !== null) return conclude(hook, run, worded, { ...waited, file: rules.file });
    if (verdict.deny !== null || verdict.end_turn !== null) return null;
    return (await openByRule(hook, worded, rules)) ?? open(hook, run, worded, otherwise);
  };
  return async (hook) => {
    const found = await hook.tx.runs.get(own.run_id);
    if (found === undefined || !isOfRun(event, found, own)) return otherwise?.(hook) ?? null;
    if (found.start !== own.start)
      return event.name === 'PreToolUse' ? { deny: STALE, end_turn: STALE } : null;
    return decided(hook, await ofRun(hook, found));
  };
}

/** In a run a PermissionRequest is always decided: the client waits for a decision, and nobody else gives one. */
function decided({ event, verdict }: HookContext, own: Partial<Verdict> | null): Partial<Verdict> | null {
  if (event.name !== 'PermissionRequest' || event.client !== 'claude-code') return own;
  if (own?.wait != null || own?.decision != null || verdict.decision !== null) return own;
  return { ...own, decision: { kind: 'deny', message: NOT_PERMITTED, interrupt: false } };
}

/** Codex chooses the id of a conversation itself: until its first call, the run has only a placeholder. */
function isOfRun({ client, session_id, agent_id }: HookEvent, run: Run, own: RunStart): boolean {
  if (run.session_id === session_id) return true;
  return client === 'codex' && agent_id === null && run.heard === 0 && run.start === own.start;
}

/** The permission or plan that this event needs. A subagent's call cannot be deferred: the client asks as usual. */
function permissionIn(event: HookEvent, { env }: HookSurroundings): HookDialog | null {
  const { name, tool, agent_id } = event;
  if (tool === null || agent_id !== null) return null;
  if (name !== 'PreToolUse' && name !== 'PermissionRequest') return null;
  // Nothing in a run of Codex can be deferred, or needs a permission.
  if (event.client === 'codex') return null;
  const dialog = dialogOf({ ...event, name: 'PermissionRequest' });
  if (dialog?.kind === 'plan') return dialog;
  const allowed = (env[ALLOWED_VARIABLE] ?? '').split('\n').filter((rule) => rule !== '');
  if (name === 'PreToolUse' && !needsHuman(tool, allowed, event.raw['permission_mode'])) return null;
  return dialog?.kind === 'permission' ? { ...dialog, suggestions: [] } : null;
}

/** Events after which the agent continues. */
const GOES_ON: ReadonlySet<string> = new Set(['UserPromptSubmit', 'PreToolUse']);
const CALL_IS_OVER: ReadonlySet<string> = new Set(['PostToolUse', 'PostToolUseFailure']);

/** Records an event in its run. */
async function heard({ tx, event }: HookContext, run: Run): Promise<Run> {
  const { name, tool } = event;
  const goesOn = GOES_ON.has(name);
  // Only a call shows that the conversation exists and can be resumed. An agent that died before its first call did nothing.
  const isNew = run.heard !== run.start && name === 'PreToolUse';
  const over = CALL_IS_OVER.has(name) ? (tool?.use_id ?? null) : null;
  const isOver = over !== null && run.calls.some(({ call_id }) => call_id === over);
  // At a Stop the agent has done its work, unless a guard blocks the Stop; there may be no other witness of its end.
  const exit_code = name === 'Stop' ? 0 : goesOn ? null : run.exit_code;
  const { session_id } = event;
  // A resumed agent has been notified of the questions that it had left open, or this event notifies it.
  const isNotified = goesOn && run.calls.some(({ call_id }) => call_id === null);
  if (!isNew && !isOver && !isNotified && exit_code === run.exit_code && session_id === run.session_id)
    return run;
  const calls = run.calls.filter(({ call_id }) => call_id !== over && !(isNotified && call_id === null));
  const now: Run = {
    ...run,
    session_id,
    calls,
    heard: isNew ? run.start : run.heard,
    exit_code,
    changed_at: tx.now,
  };
  await tx.runs.put(now);
  return now;
}

/**
 * Notifies the human of a call that ran in another form than they allowed: of several hooks that change a call, the client takes
 * the change of the one that answers last, and then asks nobody.
 */
async function noticeChanged({ tx, event, session }: HookContext, { calls }: Run): Promise<void> {
  const { name, tool, cwd } = event;
  const call = calls.find(({ given, call_id }) => given && call_id === tool?.use_id);
  if (!CALL_IS_OVER.has(name) || tool === null || call === undefined) return;
  const prompt = await tx.prompts.get(call.ask_id);
  const dialog = dialogOf({ ...event, name: 'PermissionRequest' });
  if (prompt === undefined || dialog?.kind !== 'permission' || isAbout(prompt, tool)) return;
  const { session_id } = session;
  const ran = questionOf(describeCall(tool.name, objectIn(tool.input) ?? {}, cwd));
  const text = `Another hook of ${labelled(session)} changed a call after you had allowed it. You were asked: ${prompt.question} The changed call has run; you would have been asked: ${ran}`;
  await giveNotice(tx, { severity: 'warning', session_id, text, data: { ask_id: prompt.ask_id } });
}

async function open(
  hook: HookContext,
  run: Run,
  worded: WordedDialog,
  otherwise: HookHandler | null,
): Promise<Partial<Verdict> | null> {
  const { tx, event } = hook;
  const use_id = event.tool?.use_id ?? null;
  const known = await knownCall(hook, run, worded);
  if (known !== null) {
    const { call, prompt } = known;
    const isAsked = event.name === 'PermissionRequest';
    if (isAsked) await giveWaitNotice(hook, [call]);
    await putCalls(hook, run, [call], [{ ...call, deferred: false }]);
    return waitFor([prompt], isAsked ? WAITING_MS : run.patience_ms);
  }
  // Without an id no later call could be recognized; the client's own question waits as it does outside of runs.
  if (use_id === null) return otherwise?.(hook) ?? null;
  const { calls, warning } = await withoutLost(hook, run, worded);
  const { ids, session } = hook;
  const meant = { warning, call: nameOf(run, use_id) };
  const [asked] = await draft(tx, ids, session, meantFor(worded, meant));
  if (asked === undefined) return null;
  // The prompt outlives the turn of the agent that died: the next agent repeats the same call.
  await insertPrompt(tx, { ...asked, when_turn_aborted: 'cancelled_if_interrupted' });
  const { ask_id } = asked;
  const call = { call_id: use_id, ask_id, start: run.start, deferred: false, given: false, ...modeOf(event) };
  const same = calls.filter(({ call_id }) => call_id === use_id);
  await putCalls(hook, { ...run, calls }, same, [call]);
  return waitFor([asked], run.patience_ms);
}

const MAY_HAVE_RUN =
  'You allowed this before, and then the agent died: it may have run already. Check before you allow it again.';

const ANSWERED_BEFORE =
  'You answered this before, but the agent died before it got the answer, and now makes the call again.';

const WARNINGS = [null, MAY_HAVE_RUN, ANSWERED_BEFORE];

/** The call that an answer is for, as a part of the signed text. No other call gets that answer. */
function nameOf({ run_id }: Run, call_id: string | null): string {
  return `${run_id} ${call_id}`;
}

/**
 * The prompt of this call, if it was asked before and its answer has not been given out. That comes from the store, where anybody
 * may have written it, so the answer is compared with the id of the call, which comes from the client.
 */
async function knownCall(
  hook: HookContext,
  run: Run,
  worded: WordedDialog,
): Promise<{ call: RunCall; prompt: Prompt } | null> {
  const use_id = hook.event.tool?.use_id ?? null;
  for (const call of run.calls) {
    if (call.given || (use_id === null ? isAnother(hook, call) : call.call_id !== use_id)) continue;
    const prompt = await hook.tx.prompts.get(call.ask_id);
    if (prompt === undefined || (prompt.status !== 'pending' && prompt.status !== 'responded')) continue;
    if (asksThis(worded, prompt, nameOf(run, call.call_id))) return { call, prompt };
  }
  return null;
}

/**
 * Whether an event without the id of its call cannot be for this call. The call must have no result yet; the client's own
 * transcript shows which calls have one. If two such calls are equal, the human is asked again: no answer is for both.
 */
function isAnother({ event, surroundings }: HookContext, { call_id }: RunCall): boolean {
  const { transcript_path } = event;
  const tail = transcript_path === null ? null : surroundings.readTail(transcript_path, STEP_TAIL_BYTES);
  return call_id === null || !isOpenCall(tail, call_id) || hasTwin(tail, call_id);
}

/** The run's other calls, without lost ones that this call repeats, and a note about those for the human. */
async function withoutLost(
  hook: HookContext,
  run: Run,
  worded: WordedDialog,
): Promise<{ calls: RunCall[]; warning: string | null }> {
  const calls: RunCall[] = [];
  let warning: string | null = null;
  for (const call of run.calls) {
    const prompt = await hook.tx.prompts.get(call.ask_id);
    // In the same start, another call of the same step may ask the same thing.
    const isLost =
      call.start !== run.start &&
      !call.deferred &&
      prompt !== undefined &&
      asksThis(worded, prompt, nameOf(run, call.call_id));
    if (!isLost) calls.push(call);
    else if (call.given) warning = MAY_HAVE_RUN;
    else if (prompt.status === 'responded') warning ??= ANSWERED_BEFORE;
    else await recordCancel(hook.tx, prompt, { by: hook.session.handle, via: 'hook', reason: 'replaced' });
  }
  return { calls, warning };
}

/** Whether a prompt is the question of this dialog for one call. */
function asksThis(worded: WordedDialog, prompt: Prompt, call: string): boolean {
  return WARNINGS.some((warning) => {
    const asked = displayedOf(meantFor(worded, { warning, call }));
    if (asked === null) return false;
    // A call stays the same call if its file changes; but an answer to the old diff does not allow the new one.
    return (
      permissionDigest({ ...asked, notes: prompt.notes }) === permissionDigest(prompt) ||
      isChangedFile(worded.dialog, asked, prompt)
    );
  });
}

async function conclude(
  hook: HookContext,
  run: Run,
  worded: WordedDialog,
  { ask_ids, abandoned, file }: Waited & { file: Trust | null },
): Promise<Partial<Verdict> | null> {
  const { tx, event, session, surroundings, verdict } = hook;
  const [ask_id] = ask_ids;
  const prompt = await tx.prompts.get(ask_id ?? '');
  const call = run.calls.find((one) => one.ask_id === ask_id);
  if (prompt === undefined || call === undefined) return null;
  if (verdict.deny !== null || verdict.end_turn !== null) {
    await recordCancel(tx, prompt, { by: 'interrupt', via: 'hook', reason: 'interrupted' });
    return null;
  }
  // The agent is about to end: the next one to make this call gets the answer.
  if (abandoned) return null;
  if (prompt.status === 'responded') {
    const warning = WARNINGS.find((one) => one !== null && prompt.context?.startsWith(one)) ?? null;
    const meant = { warning, call: nameOf(run, call.call_id) };
    const decided = await concludePrompts(hook, worded, [prompt], { file, meant });
    if (decided !== null) await putCalls(hook, run, [call], [{ ...call, deferred: false, given: true }]);
    return decided;
  }
  if (prompt.status !== 'pending')
    return { decision: { kind: 'deny', message: noAnswer(prompt), interrupt: false } };
  if (event.name !== 'PreToolUse') {
    // From now on the client denies the call itself.
    await recordCancel(tx, prompt, { by: session.handle, via: 'clock', reason: 'withdrawn' });
    await putCalls(hook, run, [call], []);
    return null;
  }
  // The client now asks for permission, and that hook continues the wait.
  const { transcript_path } = event;
  const tail = transcript_path === null ? null : surroundings.readTail(transcript_path, STEP_TAIL_BYTES);
  if (!isOnlyCall(tail, call.call_id ?? '')) return null;
  await putCalls(hook, run, [call], [{ ...call, deferred: true }]);
  return { defer: `Waiting for the human: ${prompt.ask_id}` };
}

function noAnswer({ ask_id, status }: Prompt): string {
  return `Not allowed: ${ask_id} was ${status} without an answer.`;
}
