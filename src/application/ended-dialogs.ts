/** The hook handler that closes dialogs that the client has already closed. Most events close none and cost at most one read. */

import { mayEndDialogs, type ReturnedCalls } from '../domain/dialogs.ts';
import type { HookEvent } from '../domain/hooks.ts';
import { OPEN_LIMIT } from '../domain/prompts.ts';
import type { HookHandler, HookSettings } from './hook-context.ts';
import { recordCancel } from './prompts.ts';
import { askIdsOfRun } from './run-calls.ts';

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
export async function withReturnedCalls<T>(
  { transcript_path: path }: HookEvent,
  { readTail }: HookSettings,
  work: (returned?: ReturnedCalls) => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TranscriptNeeded)) throw error;
  }
  const { RETURNED_TAIL_BYTES, returnedCalls } = await import('../domain/dialogs.ts');
  const tail = path === null ? null : readTail(path, RETURNED_TAIL_BYTES);
  return work(tail === null ? null : returnedCalls(tail));
}

/** Cancels pending dialogs that were answered in their client's terminal, or ended with the client. */
export const cancelEndedDialogs: HookHandler = async (hook) => {
  const { tx, event, session, returned } = hook;
  if (!mayEndDialogs(event)) return null;
  const own = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const waiting = own.filter(({ dialog, status }) => dialog && status === 'pending');
  if (waiting.length === 0) return null;
  const { dialogsEndedBy, mayHaveReturned, wasLeftUnanswered } = await import('../domain/dialogs.ts');
  // The transcript of a subagent is another file, which its hooks do not name.
  const reads = event.agent_id === null && mayHaveReturned(event, waiting, tx.now).length > 0;
  if (reads && returned === undefined) throw new TranscriptNeeded();
  // The client is gone with its dialogs: a closed window is not an answer.
  const isGone = event.name === 'SessionEnd' || event.name === 'SessionStart';
  const ofRun = await askIdsOfRun(hook.tx, hook.settings.env);
  for (const prompt of dialogsEndedBy(event, waiting, { now: tx.now, returned: returned ?? null })) {
    const why = isGone || wasLeftUnanswered(event, prompt) ? GONE : ELSEWHERE;
    if (!ofRun.has(prompt.ask_id)) await recordCancel(tx, prompt, why);
  }
  return null;
};
