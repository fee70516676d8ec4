/** The hook handler that closes dialogs that the client has already closed. Most events close none and cost at most one read. */

import { lose } from '../domain/delivery.ts';
import {
  dialogsEndedBy,
  isAbout,
  mayEndDialogs,
  mayHaveReturned,
  returnedOf,
  wasLeftUnanswered,
} from '../domain/dialogs.ts';
import { isFormOf } from '../domain/forms.ts';
import type { HookEvent } from '../domain/hooks.ts';
import { mayAllow } from '../domain/permissions.ts';
import { OPEN_LIMIT, type Prompt } from '../domain/prompts.ts';
import { hostOf, subagentId } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import {
  callsIn,
  RETURNED_TAIL_BYTES,
  subagentTranscript,
  type TranscriptCall,
  type TranscriptCalls,
} from '../domain/transcripts.ts';
import { type Turn, toolEnded } from '../domain/turns.ts';
import { handPrompt, hookCarrier } from './delivery.ts';
import type { HookContext, HookHandler, HookSurroundings } from './hook-context.ts';
import { giveNotice } from './notices.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { recordCancel } from './prompts.ts';
import { askIdsOfRun } from './run-calls.ts';
import type { Files } from './world.ts';

/** The reason for cancelling a dialog that was answered in its terminal. */
export const ELSEWHERE = { by: 'terminal', via: 'terminal', reason: 'answered_elsewhere' } as const;

/** The reason for cancelling a dialog that nobody answered: its client is gone, or went on by itself. */
export const GONE = { by: 'terminal', via: 'terminal', reason: 'unknown' } as const;

/** Thrown out of a transaction that needs the end of the transcript. */
class TranscriptNeeded extends Error {}

/**
 * Runs `work`, the transaction with `cancelEndedDialogs`. If that needs the calls in the end of the transcript, undoes the
 * transaction, reads them, and runs it again, so that the store is not locked while they are parsed.
 */
export async function withCalls<T>(
  { transcript_path, agent_id }: HookEvent,
  { readTail }: HookSurroundings,
  work: (calls?: TranscriptCalls) => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TranscriptNeeded)) throw error;
  }
  const own = transcript_path !== null && agent_id !== null;
  const path = own ? subagentTranscript(transcript_path, agent_id) : transcript_path;
  const tail = path === null ? null : readTail(path, RETURNED_TAIL_BYTES);
  return work(tail === null ? null : callsIn(tail));
}

/**
 * Whether a dialog of Claude Code was answered in its terminal before it was answered at a desk. Its human then learns that. The
 * agent gets words and answers to its questions from its next hook, but no permission to a call that is over.
 */
export async function cameTooLate(
  { tx, event, session, calls }: HookContext,
  prompts: readonly Prompt[],
): Promise<boolean> {
  if (event.client !== 'claude-code') return false;
  if (calls === undefined) throw new TranscriptNeeded();
  const over = returnedOf(prompts, calls ?? []);
  if (over.length > 0) await endReturnedTools(tx, session.session_id, calls ?? []);
  const [first] = over.filter((prompt) => !isRefused(prompt));
  if (first !== undefined)
    await giveNotice(tx, {
      severity: 'warning',
      session_id: session.session_id,
      text: `Your answer came too late: the dialog of ${labelled(session)} had already been answered in its terminal, and that answer counts. The question was: ${first.question}`,
      data: { ask_id: first.ask_id },
    });
  for (const prompt of over)
    if (mayAllow(prompt, prompt) && prompt.comment === null)
      await handPrompt(tx, prompt, hookCarrier(session.session_id));
  return over.length > 0;
}

/** Cancels pending dialogs that were answered in their client's terminal, or ended with the client. */
export const cancelEndedDialogs: HookHandler = async (hook) => {
  const { tx, event, session, calls, waited } = hook;
  // After its wait, an event closes nothing more, and least of all the dialog for which it has waited.
  if (waited !== null || !mayEndDialogs(event)) return null;
  const own = (await tx.prompts.openOf(session.session_id, OPEN_LIMIT)).filter(({ dialog }) => dialog);
  const waiting = own.filter(({ status }) => status === 'pending');
  const refused = hasRun(event) ? own.filter(isRefused) : [];
  if (waiting.length === 0 && refused.length === 0) return null;
  // Codex runs no call while it shows a dialog.
  const reads = event.client !== 'codex' && mayHaveReturned(event, waiting, tx.now).length > 0;
  if (reads && calls === undefined) throw new TranscriptNeeded();
  // The client is gone with its dialogs: a closed window is not an answer.
  const isGone = event.name === 'SessionEnd' || event.name === 'SessionStart';
  const ofRun = await askIdsOfRun(hook.tx, hook.surroundings.env);
  const shown = { now: tx.now, calls: calls ?? null };
  const allowed = own.some((prompt) => isAllowedCall(prompt, event));
  const found = dialogsEndedBy(event, waiting, shown);
  const kept = allowed && (await haveCallsOfTheirOwn(hook, waiting));
  const ended = kept ? [] : found.length > 0 ? found : await ofChangedCall(hook, waiting);
  if (calls && ended.length > 0) await endReturnedTools(tx, session.session_id, calls);
  const givenUp = await formsGivenUp(hook, waiting);
  for (const prompt of [...ended, ...givenUp]) {
    const isUnanswered = isGone || givenUp.includes(prompt) || wasLeftUnanswered(event, prompt);
    if (!ofRun.has(prompt.ask_id)) await recordCancel(tx, prompt, isUnanswered ? GONE : ELSEWHERE);
  }
  const parts = own.filter(({ status, group_id }) => status === 'responded' && group_id !== null);
  const replaced = parts.filter((part) => ended.some(({ group_id }) => group_id === part.group_id));
  if (hasRun(event) && replaced.length > 0) return reportReplaced(replaced);
  // Of equal calls, the one that a desk has allowed or whose dialog was still pending has run.
  const [overruled] = allowed || ended.length > 0 ? [] : dialogsEndedBy(event, refused, shown);
  return overruled === undefined || ofRun.has(overruled.ask_id) ? null : reportOverruled(hook, overruled);
};

/**
 * Cancels the pending dialogs of a running turn whose calls have returned, according to the transcript of Claude Code. A call that
 * its person refuses with words in the terminal is reported by no hook, the turn goes on, and the hook of the dialog still waits.
 */
export async function cancelReturned(
  store: Store,
  files: Pick<Files, 'readTail' | 'modifiedMs'>,
  turn: Pick<Turn, 'turn_id' | 'session_id' | 'transcript_path'>,
): Promise<void> {
  const { waiting, path } = await store.read(async (tx) => {
    const pending = await tx.prompts.pendingOfTurn(turn.turn_id);
    // A dialog of a run outlives its call.
    const own = pending.filter(({ dialog, when_turn_aborted: end }) => dialog && end === 'cancelled');
    return { waiting: own, path: own.length === 0 ? null : await transcriptOf(tx, turn) };
  });
  const since = waiting.map(({ created_at }) => Date.parse(created_at));
  if (path === null || (files.modifiedMs(path) ?? 0) < Math.min(...since)) return;
  const calls = callsIn(files.readTail(path, RETURNED_TAIL_BYTES) ?? '');
  const over = returnedOf(waiting, calls);
  if (over.length === 0) return;
  await store.write(async (tx) => {
    await endReturnedTools(tx, turn.session_id, calls);
    for (const { ask_id } of over) {
      const prompt = await tx.prompts.get(ask_id);
      if (prompt?.status === 'pending') await recordCancel(tx, prompt, ELSEWHERE);
    }
  });
}

/** No hook reports that a refused call is over. One of Hive with words stays, so that the end of the turn reports its refusal. */
async function endReturnedTools(
  tx: WriteTx,
  session_id: string,
  calls: readonly TranscriptCall[],
): Promise<void> {
  const turn = await tx.turns.current(session_id);
  const returned = calls.filter(({ at }) => at !== null).map(({ tool }) => tool.use_id);
  const over = turn?.open_tools.filter((open) => open.says === undefined && returned.includes(open.use_id));
  if (turn === undefined || over === undefined || over.length === 0) return;
  await tx.turns.update(over.reduce((left, tool) => toolEnded(left, tool, tx.now), turn));
}

async function transcriptOf(
  tx: ReadTx,
  { session_id, transcript_path }: Pick<Turn, 'session_id' | 'transcript_path'>,
): Promise<string | null> {
  const session = await tx.sessions.get(session_id);
  if (session?.client !== 'claude-code' || transcript_path !== null) return transcript_path;
  const host = hostOf(session);
  const path = (await tx.turns.last(host))?.transcript_path;
  return path == null ? null : subagentTranscript(path, session_id.slice(subagentId(host, '').length));
}

function hasRun({ name }: HookEvent): boolean {
  return name === 'PostToolUse' || name === 'PostToolUseFailure';
}

/** Whether a desk has allowed the call that has run, or an equal one. */
function isAllowedCall(prompt: Prompt, event: HookEvent): boolean {
  const { tool } = event;
  const isAllowed = prompt.status === 'responded' && mayAllow(prompt, prompt);
  return isAllowed && hasRun(event) && tool !== null && isAbout(prompt, tool);
}

/** Whether there can be a call for each pending dialog of the tool without the one that has run. */
async function haveCallsOfTheirOwn(
  { tx, event: { tool }, session }: HookContext,
  waiting: readonly Prompt[],
): Promise<boolean> {
  const turn = await tx.turns.current(session.session_id);
  const open = turn?.open_tools.filter(({ name, use_id }) => name === tool?.name && use_id !== tool.use_id);
  // The header of a plan is another one: a client asks for one plan at a time.
  const own = waiting.filter(({ header }) => header === tool?.name);
  return own.length > 0 && own.length <= (open ?? []).length;
}

/**
 * The permission of a call that has run in another form than it asked, because another hook answered its dialog and changed it:
 * that of its tool, if no other call of that tool has begun.
 */
async function ofChangedCall(
  { tx, event, session }: HookContext,
  waiting: readonly Prompt[],
): Promise<readonly Prompt[]> {
  const { tool } = event;
  if (!hasRun(event) || tool === null) return [];
  const turn = await tx.turns.current(session.session_id);
  const [own, ...others] = turn?.open_tools.filter(({ name }) => name === tool.name) ?? [];
  if (own === undefined || own.use_id !== tool.use_id || others.length > 0) return [];
  return waiting.filter(({ kind, header }) => kind === 'permission' && header === tool.name);
}

/**
 * The forms on which an MCP server has given up: those that it has asked for during the call that has run, if no other call of
 * its tools is open. Those for calls of subagents are reported as forms of the session.
 */
async function formsGivenUp(
  { tx, event, session }: HookContext,
  waiting: readonly Prompt[],
): Promise<readonly Prompt[]> {
  const { tool } = event;
  if (!hasRun(event) || tool === null) return [];
  const forms = waiting.filter((prompt) => isFormOf(prompt, tool));
  const [form] = forms;
  if (form === undefined) return [];
  const sessions = [session, ...(await tx.sessions.childrenOf(session.session_id))];
  const turns = await Promise.all(sessions.map(({ session_id }) => tx.turns.current(session_id)));
  const open = turns.flatMap((turn) => turn?.open_tools ?? []).filter((call) => isFormOf(form, call));
  const [own] = open;
  if (own === undefined || own.use_id !== tool.use_id || open.length > 1) return [];
  return forms.filter(({ created_at }) => created_at >= own.since);
}

function isRefused(prompt: Prompt): boolean {
  return prompt.kind === 'permission' && prompt.status === 'responded' && !mayAllow(prompt, prompt);
}

/**
 * A call has run although a desk refused it. No hook reports that the terminal has allowed a call, so its dialog stayed at the
 * desks while the call ran, and the client ignored the answer of the hook: the agent has not read it.
 */
async function reportOverruled({ tx, session }: HookContext, prompt: Prompt): Promise<{ context: string[] }> {
  const { session_id } = session;
  const { ask_id, question } = prompt;
  const delivery = await tx.deliveries.get(ask_id);
  if (delivery?.carrier === hookCarrier(session_id)) await tx.deliveries.put(lose(delivery));
  await giveNotice(tx, {
    severity: 'warning',
    session_id,
    text: `Your refusal came too late: the call of ${labelled(session)} had been allowed in its terminal, and it has run. The agent gets your answer now. It was: ${question}`,
    data: { ask_id },
  });
  const late = `The human refused this call (${ask_id}) at another place, after it had been allowed in your terminal.`;
  return { context: [late] };
}

/** A desk had answered some questions of a dialog when its terminal answered all of them. The agent gets both answers. */
function reportReplaced(parts: readonly Prompt[]): { context: string[] } {
  const ids = parts.map(({ ask_id }) => ask_id).join(', ');
  const newer = `The human answered ${ids} at another place first, and then the whole dialog in your terminal. Where the answers differ, the result of this call has the newer ones.`;
  return { context: [newer] };
}
