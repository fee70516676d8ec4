/** The hook handler that closes dialogs that the client has already closed. Most events close none and cost at most one read. */

import { mayEndDialogs } from '../domain/dialogs.ts';
import { OPEN_LIMIT } from '../domain/prompts.ts';
import type { HookHandler } from './hook-context.ts';
import { recordCancel } from './prompts.ts';
import { askIdsOfRun } from './run-calls.ts';

/** The reason for cancelling a dialog that was answered in its terminal. */
export const ELSEWHERE = { by: 'terminal', via: 'terminal', reason: 'answered_elsewhere' } as const;

/** The reason for cancelling a dialog whose client is gone: nobody answered it. */
export const GONE = { by: 'terminal', via: 'terminal', reason: 'unknown' } as const;

/** Cancels pending dialogs that were answered in their client's terminal, or ended with the client. */
export const cancelEndedDialogs: HookHandler = async (hook) => {
  const { tx, event, session, settings } = hook;
  if (!mayEndDialogs(event)) return null;
  const own = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const waiting = own.filter(({ dialog, status }) => dialog && status === 'pending');
  if (waiting.length === 0) return null;
  const { dialogsEndedBy, isOfQuietTool, RETURNED_TAIL_BYTES } = await import('../domain/dialogs.ts');
  // The transcript of a subagent is another file, which its hooks do not name.
  const reads = event.name === 'PreToolUse' && event.agent_id === null && waiting.some(isOfQuietTool);
  const { transcript_path: path } = event;
  const tail = reads && path !== null ? settings.readTail(path, RETURNED_TAIL_BYTES) : null;
  // The client is gone with its dialogs: a closed window is not an answer.
  const isGone = event.name === 'SessionEnd' || event.name === 'SessionStart';
  const ofRun = await askIdsOfRun(hook.tx, hook.settings.env);
  for (const prompt of dialogsEndedBy(event, waiting, { now: tx.now, tail }))
    if (!ofRun.has(prompt.ask_id)) await recordCancel(tx, prompt, isGone ? GONE : ELSEWHERE);
  return null;
};
