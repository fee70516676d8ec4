/**
 * Questions in a run (run.ts). A question that the agent waits for is deferred like a permission: the client's
 * own dialog (AskUserQuestion), or a blocking `hivemind_ask`, whose tool returns the answer once the agent has been
 * started again. An agent that ends its turn while a question is open is continued when there is an answer.
 */

import { draft, promptsNow, withdraw } from '../../application/dialogs.ts';
import type { HookContext, HookSurroundings } from '../../application/hook-context.ts';
import { concludePrompts, inWords, type WordedDialog } from '../../application/hook-dialogs.ts';
import { giveNotice } from '../../application/notices.ts';
import { askIn, insertPrompt } from '../../application/prompts.ts';
import { dialogOf } from '../../domain/dialogs.ts';
import { HiveError } from '../../domain/errors.ts';
import type { HookEvent, Verdict, Waited } from '../../domain/hooks.ts';
import { permissionDigest } from '../../domain/permissions.ts';
import {
  type AskRequest,
  askerOf,
  type CheckedRequest,
  checkRequest,
  createPrompt,
  OPEN_LIMIT,
  type Prompt,
} from '../../domain/prompts.ts';
import type { Run, RunCall } from '../../domain/runs.ts';
import { labelled } from '../../domain/sources.ts';
import { blockingAsk, isOnlyCall, STEP_TAIL_BYTES } from './run.ts';

/** In ms. A client that does not defer a call asks for permission instead. That hook has ten minutes, including printing. */
export const WAITING_MS = 590_000;

/** For the record of a call: the permission mode that its event names. */
export function modeOf({ raw }: HookEvent): Pick<RunCall, 'mode'> {
  const { permission_mode: mode } = raw;
  return typeof mode === 'string' ? { mode } : {};
}

/** The question that a call asks the human: a dialog of the client, or a blocking ask, with how long it may wait. */
export type RunQuestion = { worded: WordedDialog } | { request: CheckedRequest; wait_ms: number };

/** The question in an event of the main agent; null if it asks none. */
export async function questionIn(
  event: HookEvent,
  surroundings: HookSurroundings,
): Promise<RunQuestion | null> {
  const { name, tool, agent_id } = event;
  if (tool === null || agent_id !== null || event.client !== 'claude-code') return null;
  if (name !== 'PreToolUse' && name !== 'PermissionRequest') return null;
  const blocking = name === 'PreToolUse' ? blockingAsk(tool) : null;
  if (blocking !== null) {
    const request = acceptable(blocking.request);
    return request === null ? null : { request, wait_ms: blocking.wait_ms };
  }
  const dialog = dialogOf({ ...event, name: 'PermissionRequest' });
  return dialog?.kind === 'questions' ? { worded: await inWords(dialog, event, surroundings) } : null;
}

/** Null for a request that is refused: its tool then refuses it, too, and its model reads why. */
function acceptable(request: AskRequest): CheckedRequest | null {
  try {
    return checkRequest(request);
  } catch (error) {
    if (error instanceof HiveError) return null;
    throw error;
  }
}

/** Whether a run defers a question, because the question may wait for longer than the agent does. */
export function waitsForIt(question: RunQuestion, { patience_ms }: Run): boolean {
  return 'worded' in question || question.wait_ms >= patience_ms;
}

/** Asks, or finds what was asked before, and waits; null if nothing is asked, and the client continues without Hive. */
export async function openQuestion(
  hook: HookContext,
  run: Run,
  question: RunQuestion,
): Promise<Partial<Verdict> | null> {
  try {
    return await open(hook, run, question);
  } catch (error) {
    // The request is refused: its tool then refuses it, too, and its model reads why. Nothing was written.
    if (error instanceof HiveError && 'request' in question) return null;
    throw error;
  }
}

async function open(hook: HookContext, run: Run, question: RunQuestion): Promise<Partial<Verdict> | null> {
  const { event } = hook;
  const use_id = event.tool?.use_id ?? null;
  const isAsked = event.name === 'PermissionRequest';
  const known = await knownCalls(hook, run, question);
  if (known.length > 0) {
    if (isAsked) await giveWaitNotice(hook, known);
    const calls = known.map((call) => ({ ...call, call_id: use_id ?? call.call_id, deferred: false }));
    await putCalls(hook, run, known, calls);
    return waitFor(known, isAsked ? WAITING_MS : run.patience_ms);
  }
  // Without an id no later call could be recognized.
  if (use_id === null) return null;
  const ask_ids = await ask(hook, question);
  const by_tool = 'request' in question;
  const calls = ask_ids.map((ask_id) => ({
    call_id: use_id,
    ask_id,
    start: run.start,
    deferred: false,
    given: false,
    by_tool,
    ...modeOf(event),
  }));
  if (calls.length === 0) return null;
  await putCalls(hook, run, [], calls);
  return waitFor(calls, run.patience_ms);
}

/** After the wait: gives the answer, defers the call, or lets it wait in its process. */
export async function concludeQuestion(
  hook: HookContext,
  run: Run,
  question: RunQuestion,
  { ask_ids, abandoned }: Waited,
): Promise<Partial<Verdict> | null> {
  const { tx, event, session, surroundings, verdict } = hook;
  const calls = run.calls.filter(({ ask_id }) => ask_ids.includes(ask_id));
  const prompts = await promptsNow(tx, ask_ids);
  if (calls.length === 0 || prompts.length < ask_ids.length) return null;
  if (verdict.deny !== null || verdict.end_turn !== null) {
    await withdraw(tx, prompts, { by: 'interrupt', via: 'hook', reason: 'interrupted' });
    return null;
  }
  // The agent is about to end: the next one to make this call gets the answer.
  if (abandoned) return null;
  if (prompts.every(({ status }) => status !== 'pending')) return answer(hook, question, prompts);
  const { transcript_path } = event;
  const tail = transcript_path === null ? null : surroundings.readTail(transcript_path, STEP_TAIL_BYTES);
  const call_id = event.tool?.use_id ?? null;
  if (event.name === 'PreToolUse' && call_id !== null && isOnlyCall(tail, call_id)) {
    await putCalls(
      hook,
      run,
      calls,
      calls.map((call) => ({ ...call, deferred: true })),
    );
    return { defer: `Waiting for the human: ${ask_ids.join(', ')}` };
  }
  if (event.name === 'PreToolUse') {
    // The tool itself continues the wait; for a dialog, the client's request for permission does.
    if ('request' in question) await giveWaitNotice(hook, calls);
    return null;
  }
  await withdraw(tx, prompts, { by: session.handle, via: 'clock', reason: 'withdrawn' });
  await putCalls(hook, run, calls, []);
  return null;
}

async function answer(
  hook: HookContext,
  question: RunQuestion,
  prompts: readonly Prompt[],
): Promise<Partial<Verdict> | null> {
  // The tool returns the answer, or the reason why there is none.
  if ('request' in question) return null;
  const without = prompts.find(({ status }) => status !== 'responded');
  if (without === undefined) return concludePrompts(hook, question.worded, prompts);
  const message = `No answer: ${without.ask_id} was ${without.status}. That is no decision.`;
  return { decision: { kind: 'deny', message, interrupt: false } };
}

/** Stores the questions; returns their ids. Beyond a quota nothing is asked, and the call itself is refused or reports it. */
async function ask(hook: HookContext, question: RunQuestion): Promise<string[]> {
  const { tx, ids, session } = hook;
  if ('request' in question) {
    const asked = await askIn(tx, ids, { request: question.request, session });
    return 'quota' in asked ? [] : [asked.prompt.ask_id];
  }
  const prompts = await draft(tx, ids, session, question.worded);
  // The prompts outlive the turn of an agent that died: the next agent repeats the same call.
  for (const prompt of prompts)
    await insertPrompt(tx, { ...prompt, when_turn_aborted: 'cancelled_if_interrupted' });
  return prompts.map(({ ask_id }) => ask_id);
}

/** The verdict that waits for all of these. */
export function waitFor(calls: readonly Pick<RunCall, 'ask_id'>[], wait_ms: number): Partial<Verdict> {
  return { wait: { ask_ids: calls.map(({ ask_id }) => ask_id), wait_ms, all: true, needs_desk: false } };
}

/**
 * The open questions of the run that this call asks: from the same call, or from one with the same questions. An agent that died
 * before it got its answer makes the call again under a new id.
 */
async function knownCalls({ tx, ...hook }: HookContext, run: Run, question: RunQuestion): Promise<RunCall[]> {
  const use_id = hook.event.tool?.use_id ?? null;
  const groups = Map.groupBy(run.calls, ({ call_id, ask_id }) => call_id ?? ask_id);
  const asked = (await drafts({ tx, ...hook }, question)).map(permissionDigest);
  for (const [id, calls] of groups) {
    const prompts = await promptsNow(
      tx,
      calls.map(({ ask_id }) => ask_id),
    );
    const isGone = prompts.some(({ status }) => status === 'cancelled');
    if (prompts.length < calls.length || isGone) continue;
    if (id === use_id || asked.join() === prompts.map(plainDigest).join()) return calls;
  }
  return [];
}

/** The digest of the agent's question, without notes that it has added since. */
const plainDigest = (prompt: Prompt): string => permissionDigest({ ...prompt, notes: [] });

/** The prompts that would be asked now. */
async function drafts(hook: HookContext, question: RunQuestion): Promise<Prompt[]> {
  const { tx, ids, session } = hook;
  if ('worded' in question) return draft(tx, ids, session, question.worded);
  // The digest covers what is displayed.
  return [createPrompt(question.request, askerOf(session, null), '', tx.now)];
}

/** Replaces calls of the run. */
export async function putCalls(
  { tx }: HookContext,
  run: Run,
  before: readonly RunCall[],
  after: readonly RunCall[],
): Promise<void> {
  const gone = new Set([...before, ...after].map(({ ask_id }) => ask_id));
  const others = run.calls.filter(({ ask_id }) => !gone.has(ask_id));
  await tx.runs.put({ ...run, calls: [...others, ...after], changed_at: tx.now });
}

/** Notifies the human that the client did not end: the step has several calls, and it could not repeat a single one of them. */
export async function giveWaitNotice({ tx, session }: HookContext, calls: readonly RunCall[]): Promise<void> {
  const asked = calls.map(({ ask_id }) => ask_id).join(', ');
  await giveNotice(tx, {
    severity: 'info',
    session_id: session.session_id,
    text: `${labelled(session)} makes several calls at once, so it cannot end while you think: it waits for ${asked}.`,
  });
}

// ---- Questions that are open when the turn ends ----

/**
 * At a Stop: waits for `patience_ms`, and records the questions that are still open, so that the run sleeps and is continued.
 * They are recorded before the wait, because a client may end the hook.
 */
export async function keepOpen(hook: HookContext, run: Run): Promise<Partial<Verdict> | null> {
  const { tx, event, session, verdict, waited } = hook;
  if (verdict.block !== null || verdict.no_hold || verdict.end_turn !== null) return null;
  const open = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const left = open.filter(
    ({ dialog, status, handed_at }) => !dialog && (status === 'pending' || handed_at === null),
  );
  const calls = left.map(({ ask_id }) => ({
    call_id: null,
    ask_id,
    start: run.start,
    deferred: false,
    given: false,
    ...modeOf(event),
  }));
  const others = run.calls.filter(({ call_id }) => call_id !== null);
  if (calls.length > 0 || others.length < run.calls.length)
    await tx.runs.put({ ...run, calls: [...others, ...calls], changed_at: tx.now });
  const pending = left.filter(({ status }) => status === 'pending').map(({ ask_id }) => ask_id);
  // Codex lets this hook run for only ten seconds, and starting it again costs little.
  if (waited !== null || pending.length === 0 || event.client === 'codex') return null;
  return { wait: { ask_ids: pending, wait_ms: run.patience_ms, all: false, needs_desk: false } };
}
