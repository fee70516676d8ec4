/** The station that closes dialogs whose client is past them: most events close none, and cost one look at most. */
import { mayClose } from '../domain/dialogs.ts';
import { OPEN_LIMIT } from '../domain/prompt-limits.ts';
import { recordCancel } from './prompt-records.ts';
import type { Station } from './station.ts';

/** What became of a dialog that somebody answered at its terminal. */
export const ELSEWHERE = { by: 'terminal', via: 'terminal', reason: 'answered_elsewhere' } as const;

/** Takes back the dialogs that still wait here, and were answered at their client's terminal. */
export const withdrawClosed: Station = async ({ tx, event, session }) => {
  if (!mayClose(event)) return null;
  const own = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const waiting = own.filter(({ dialog, status }) => dialog && status === 'pending');
  if (waiting.length === 0) return null;
  const { closedBy } = await import('../domain/dialog-prompts.ts');
  for (const prompt of closedBy(event, waiting)) await recordCancel(tx, prompt, ELSEWHERE);
  return null;
};
