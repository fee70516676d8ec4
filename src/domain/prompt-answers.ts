/** What an answer says: what was chosen, checked against what was offered. Pure. */
import { bounded, boundedOptional } from './bounds.ts';
import { HiveError } from './errors.ts';
import { PROMPT_LIMITS } from './prompt-limits.ts';
import type { Prompt, PromptAnswer } from './prompts.ts';
import { cleanText, excerpt, isBlank } from './text.ts';

/** What a human, a popup or a rule answers. `selected` wins over `decision` where both are given. */
export interface AnswerRequest {
  /** The label of an option, or free text; at most 65,536 characters. */
  decision?: string | null | undefined;
  /** Labels of the options chosen; more than one only where the prompt says `multi_select`. */
  selected?: readonly string[] | null | undefined;
  /** A remark beside the decision; at most 65,536 characters. */
  comment?: string | null | undefined;
}

/**
 * The answer as it will be stored: what was chosen, checked against what was offered.
 * @throws HiveError `invalid_answer` when nothing was said, an unknown option was chosen, or free text is off.
 */
export function resolveAnswer(
  prompt: Prompt,
  request: AnswerRequest,
  stamp: Pick<PromptAnswer, 'by' | 'via' | 'response_id' | 'responded_at'>,
): PromptAnswer {
  const comment = boundedOptional('comment', request.comment, PROMPT_LIMITS.comment);
  const labels = prompt.options.map((option) => option.label);
  const selected = [...new Set((request.selected ?? []).map((given) => matching(labels, cleanText(given))))];
  if (selected.length > 0) {
    const unknown = selected.find((label) => !labels.includes(label));
    if (unknown !== undefined)
      throw invalidAnswer(prompt, `"${excerpt(unknown, SHOWN)}" is none of the options`);
    if (selected.length > 1 && !prompt.multi_select)
      throw invalidAnswer(prompt, 'only one option can be chosen');
    const inOrder = labels.filter((label) => selected.includes(label));
    return { decision: inOrder.join(', '), selected: inOrder, comment, ...stamp };
  }
  const decision = bounded('answer', request.decision ?? '', PROMPT_LIMITS.decision);
  if (isBlank(decision)) throw invalidAnswer(prompt, 'the answer is empty');
  const label = matching(labels, decision);
  if (labels.includes(label)) return { decision: label, selected: [label], comment, ...stamp };
  if (!prompt.allow_free_text)
    throw invalidAnswer(prompt, `"${excerpt(decision, SHOWN)}" is none of the options and free text is off`);
  return { decision, selected: [], comment, ...stamp };
}

/** The label that is meant: an option's ends were trimmed when it was asked, so white space around it says nothing. What matches none stays as it was given. */
function matching(labels: readonly string[], given: string): string {
  return labels.includes(given) ? given : (labels.find((label) => label === given.trim()) ?? given);
}

/** How much of what was refused, or was offered instead, a sentence repeats. */
const SHOWN = 100;

function invalidAnswer(prompt: Prompt, why: string): HiveError {
  const offered = prompt.options.map((option) => `"${excerpt(option.label, SHOWN)}"`).join(', ');
  return new HiveError(
    'invalid_answer',
    `The answer to ${prompt.ask_id} was not taken: ${why}.${offered === '' ? '' : ` Offered: ${offered}.`}`,
    {
      ask_id: prompt.ask_id,
      options: prompt.options.map((option) => option.label),
    },
  );
}
