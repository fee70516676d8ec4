/** An answer before it is queued, and the reasons against it. Pure. */
import { mayAllow } from '../../../domain/permissions.ts';
import { type Prompt, resolveAnswer } from '../../../domain/prompts.ts';
import type { QueuedAnswer } from './storage.ts';
import { WORDS } from './words.ts';

/** An answer that is not sent yet. */
export interface Given {
  selected?: readonly string[];
  decision?: string;
  comment: string | null;
}

/** Why an answer with these options cannot be given here and now, as a sentence; null if it can. */
export function barOf(
  prompt: Pick<Prompt, 'kind' | 'dialog' | 'options' | 'status' | 'terminal_since'>,
  selected: readonly string[],
  { mayAllowHere, isRead, isZoomed = false }: { mayAllowHere: boolean; isRead: boolean; isZoomed?: boolean },
): string | null {
  if (prompt.status === 'pending' && prompt.terminal_since !== null) return WORDS.inTerminal;
  if (!mayAllow(prompt, { selected: [...selected] })) return null;
  if (!mayAllowHere) return WORDS.mayNotAllow;
  if (isRead) return null;
  return isZoomed ? WORDS.zoomed : WORDS.readToEnd;
}

/** The answer exactly as the server will store it. @throws HiveError for an answer that no server would accept. */
export function answerOf(
  prompt: Prompt,
  { selected, ...said }: Given,
  stamp: Pick<QueuedAnswer, 'response_id' | 'responded_at' | 'displayed_digest'>,
): QueuedAnswer {
  const { response_id, responded_at } = stamp;
  const { ask_id, question } = prompt;
  const resolved = resolveAnswer(
    prompt,
    { ...said, ...(selected !== undefined && { selected: [...selected] }) },
    { by: '', via: 'inbox', attested: true, response_id, responded_at },
  );
  const { decision, comment } = resolved;
  return { kind: 'answer', ask_id, question, decision, selected: resolved.selected, comment, ...stamp };
}
