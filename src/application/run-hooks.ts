/**
 * The hook handler of runs: in a run of `hive run`, a call that needs the human waits for a while, and is then deferred, so
 * that the agent's process can end. When the agent has been started again it makes the same call again, and gets the
 * answer here. Only the agent of the run's last start gets one, and each answer is given to one call.
 */
import { type Dialog, dialogOf } from '../domain/dialogs.ts';
import type { HookEvent, Verdict, Waited } from '../domain/hooks.ts';
import { permissionDigest } from '../domain/permissions.ts';
import type { Prompt } from '../domain/prompts.ts';
import {
  ALLOWED_VARIABLE,
  isOnlyCall,
  needsHuman,
  type Run,
  type RunCall,
  type RunStart,
  STEP_TAIL_BYTES,
} from '../domain/runs.ts';
import type { Trust } from '../domain/trust.ts';
import { applicableRules, askFor, concludePrompt, dialogHandler, openByRule } from './dialogs.ts';
import type { HookContext, HookHandler, HookSettings } from './hook-context.ts';
import { giveNotice } from './notices.ts';
import { insertPrompt, recordCancel } from './prompts.ts';

/** A client that does not defer a call asks for permission instead, and lets that hook wait ten minutes; the rest is for printing. */
const WAITING_MS = 590_000;

const STALE =
  'This agent was started for an earlier part of its run, and another one has taken over. Stop now: call no tools.';

/** The handler of one event of a run's agent. */
export async function runHandler(
  event: HookEvent,
  settings: HookSettings,
  own: RunStart,
): Promise<HookHandler> {
  const dialog = permissionIn(event, settings);
  const rules = dialog === null ? null : await applicableRules(dialog, event, settings);
  const otherwise = dialogOf(event) === null ? null : await dialogHandler(event, settings);
  return async (hook) => {
    const { tx, verdict, waited } = hook;
    const found = await tx.runs.get(own.run_id);
    if (found === undefined || found.session_id !== event.session_id) return otherwise?.(hook) ?? null;
    if (found.start !== own.start)
      return event.name === 'PreToolUse' ? { deny: STALE, end_turn: STALE } : null;
    const run = await heard(hook, found);
    if (dialog === null || rules === null) return otherwise?.(hook) ?? null;
    if (waited !== null) return conclude(hook, run, dialog, { ...waited, file: rules.file });
    if (verdict.deny !== null || verdict.end_turn !== null) return null;
    return (await openByRule(hook, dialog, rules)) ?? open(hook, run, dialog);
  };
}

/** What the human is asked in this event. A subagent's call cannot be deferred: the client asks as usual. */
function permissionIn(event: HookEvent, { env }: HookSettings): Dialog | null {
  const { name, tool, agent_id } = event;
  if (tool === null || agent_id !== null) return null;
  if (name !== 'PreToolUse' && name !== 'PermissionRequest') return null;
  const allowed = (env[ALLOWED_VARIABLE] ?? '').split('\n').filter((rule) => rule !== '');
  if (name === 'PreToolUse' && !needsHuman(tool, allowed)) return null;
  const dialog = dialogOf({ ...event, name: 'PermissionRequest' });
  return dialog?.kind === 'permission' ? { ...dialog, suggestions: [] } : null;
}

/** After these events the agent is not done. */
const GOES_ON: ReadonlySet<string> = new Set(['UserPromptSubmit', 'PreToolUse']);
const CALL_IS_OVER: ReadonlySet<string> = new Set(['PostToolUse', 'PostToolUseFailure']);

/** Records what an event says about its run. */
async function heard({ tx, event }: HookContext, run: Run): Promise<Run> {
  const { name, tool } = event;
  const goesOn = GOES_ON.has(name);
  // Only a call shows that the conversation exists and can be resumed. An agent that died before its first call did nothing.
  const isNew = run.heard !== run.start && name === 'PreToolUse';
  const over = CALL_IS_OVER.has(name) ? (tool?.use_id ?? null) : null;
  const isOver = over !== null && run.calls.some(({ call_id }) => call_id === over);
  // At a Stop the agent has done its work, unless a guard blocks the Stop; nobody else may see how it ends.
  const exit_code = name === 'Stop' ? 0 : goesOn ? null : run.exit_code;
  if (!isNew && !isOver && exit_code === run.exit_code) return run;
  const calls = run.calls.filter(({ call_id }) => call_id !== over);
  const now: Run = { ...run, calls, heard: isNew ? run.start : run.heard, exit_code, changed_at: tx.now };
  await tx.runs.put(now);
  return now;
}

async function open(hook: HookContext, run: Run, dialog: Dialog): Promise<Partial<Verdict> | null> {
  const { tx, event } = hook;
  const use_id = event.tool?.use_id ?? null;
  const known = await knownCall(hook, run, dialog);
  if (known !== null) {
    const { call, prompt } = known;
    const call_id = use_id ?? call.call_id;
    const isAsked = event.name === 'PermissionRequest';
    if (isAsked) await sayThatItWaits(hook, prompt);
    await putCall(hook, run, { ...call, call_id, deferred: false }, call.call_id);
    return waitFor(prompt, isAsked ? WAITING_MS : run.patience_ms);
  }
  // Without an id no later call could be recognized; the client's own question waits as it does outside runs.
  if (use_id === null) return (await dialogHandler(event, hook.settings))(hook);
  const warning = (await mayHaveRun(hook, run, dialog)) ? MAY_HAVE_RUN : null;
  const [asked] = await askFor(hook, dialog, null, warning);
  if (asked === undefined) return null;
  // The prompt outlives the turn of the agent that died: the next agent repeats the same call.
  await insertPrompt(tx, { ...asked, when_turn_aborted: 'cancelled_if_interrupted' });
  await putCall(hook, run, { call_id: use_id, ask_id: asked.ask_id, deferred: false, given: false }, use_id);
  return waitFor(asked, run.patience_ms);
}

function waitFor({ ask_id }: Prompt, wait_ms: number): Partial<Verdict> {
  return { wait: { ask_ids: [ask_id], wait_ms, all: true, needs_desk: false } };
}

const MAY_HAVE_RUN =
  'You allowed this before, and then the agent died: it may have run already. Look before you allow it again.';

/** The call of the run that asks exactly this and has not been given an answer. */
async function knownCall(
  hook: HookContext,
  run: Run,
  dialog: Dialog,
): Promise<{ call: RunCall; prompt: Prompt } | null> {
  for (const call of run.calls) {
    if (call.given) continue;
    const prompt = await hook.tx.prompts.get(call.ask_id);
    if (prompt === undefined || (prompt.status !== 'pending' && prompt.status !== 'responded')) continue;
    if (await asksThis(hook, dialog, prompt)) return { call, prompt };
  }
  return null;
}

/** Whether an agent died after it had been given the answer to the same call, perhaps before the call ran. */
async function mayHaveRun(hook: HookContext, run: Run, dialog: Dialog): Promise<boolean> {
  for (const { given, ask_id } of run.calls) {
    const prompt = given ? await hook.tx.prompts.get(ask_id) : undefined;
    if (prompt !== undefined && (await asksThis(hook, dialog, prompt))) return true;
  }
  return false;
}

async function asksThis(hook: HookContext, dialog: Dialog, prompt: Prompt): Promise<boolean> {
  const { notes } = prompt;
  for (const warning of [null, MAY_HAVE_RUN]) {
    const [asked] = await askFor(hook, dialog, null, warning);
    if (asked !== undefined && permissionDigest({ ...asked, notes }) === permissionDigest(prompt))
      return true;
  }
  return false;
}

async function putCall({ tx }: HookContext, run: Run, call: RunCall, instead_of: string): Promise<void> {
  const others = run.calls.filter(({ call_id }) => call_id !== instead_of);
  await tx.runs.put({ ...run, calls: [...others, call], changed_at: tx.now });
}

/** The client did not end, because the step has several calls and no single one of them could be repeated. */
async function sayThatItWaits({ tx, session }: HookContext, { ask_id }: Prompt): Promise<void> {
  await giveNotice(tx, {
    severity: 'info',
    session_id: session.session_id,
    text: `${session.handle} makes several calls at once, so it cannot end while you think: it waits for ${ask_id}, at most ten minutes.`,
  });
}

async function conclude(
  hook: HookContext,
  run: Run,
  dialog: Dialog,
  { ask_ids, abandoned, file }: Waited & { file: Trust | null },
): Promise<Partial<Verdict> | null> {
  const { tx, event, session, settings, verdict } = hook;
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
    const warned = prompt.context?.startsWith(MAY_HAVE_RUN) === true ? MAY_HAVE_RUN : null;
    const decided = await concludePrompt(hook, dialog, prompt, { file, warning: warned });
    if (decided !== null) await putCall(hook, run, { ...call, deferred: false, given: true }, call.call_id);
    return decided;
  }
  if (prompt.status !== 'pending')
    return { decision: { kind: 'deny', message: noAnswer(prompt), interrupt: false } };
  if (event.name !== 'PreToolUse') {
    // From here on the client denies the call by itself.
    await recordCancel(tx, prompt, { by: session.handle, via: 'clock', reason: 'withdrawn' });
    await tx.runs.put({ ...run, calls: run.calls.filter((one) => one !== call), changed_at: tx.now });
    return null;
  }
  // The client now asks for permission, and that hook continues the wait.
  const { transcript_path } = event;
  const tail = transcript_path === null ? null : settings.readTail(transcript_path, STEP_TAIL_BYTES);
  if (!isOnlyCall(tail, call.call_id)) return null;
  await putCall(hook, run, { ...call, deferred: true }, call.call_id);
  return { defer: `Waiting for the human: ${prompt.ask_id}` };
}

function noAnswer({ ask_id, status }: Prompt): string {
  return `Not allowed: ${ask_id} was ${status} without an answer.`;
}
