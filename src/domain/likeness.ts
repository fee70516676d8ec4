/**
 * Likeness: which pending prompts are alike, so that a human may answer all of them with one decision. Each still gets its own
 * answer in its own transaction, and a permission is still allowed only once all of it was displayed (permissions.ts). This is
 * the only definition of likeness; Emacs groups by its result. Pure.
 */
import { callOf } from './dialogs.ts';
import { digestOf } from './permissions.ts';
import type { Prompt } from './prompts.ts';

/** Enough hexadecimal digits of a digest to tell the prompts of one store apart. */
const LENGTH = 32;

/**
 * A key that pending prompts share if they ask for the same thing: the same kind, the same options with the same descriptions,
 * and the same text. The permissions of two agents' tools ask for the same if the tool and each of its arguments are
 * equal, so that one rule that names this call would answer them; the directory, and what the agent itself says of the
 * call, may differ. A question of an ended session is never like one of a living session. Null for a settled prompt.
 */
export function likenessOf(prompt: Prompt): string | null {
  const { kind, dialog, header, question, context, options, multi_select, allow_free_text } = prompt;
  if (prompt.status !== 'pending') return null;
  const asked = dialog && kind === 'permission' && context !== null ? callOf(question, context) : context;
  const ended = prompt.orphaned ? ['ended'] : [];
  const compared = [kind, dialog, header, question, asked, options, multi_select, allow_free_text, ...ended];
  return digestOf(compared).slice(0, LENGTH);
}
