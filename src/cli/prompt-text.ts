/** Prompts on a terminal: one in full, many as rows; and the JSON that every command prints of them. */
import type { Prompt, PromptAnswer } from '../domain/prompts.ts';
import { sourcePrefix } from '../domain/sources.ts';
import { age } from './duration.ts';
import { print, printRows } from './output.ts';

/** What is the store's own business stays there. */
export function promptJson(prompt: Prompt): Record<string, unknown> {
  const { fingerprint: _, carrier: __, ...shown } = prompt;
  return shown;
}

/** The answer that stands, be it late; null when there is none. */
export function standingAnswer(
  prompt: Prompt,
): Pick<PromptAnswer, 'decision' | 'comment' | 'by' | 'via'> | null {
  const { decision, comment, by, via } = prompt;
  if (prompt.status === 'responded' && decision !== null && by !== null && via !== null)
    return { decision, comment, by, via };
  return prompt.late_response;
}

/** Where a prompt stands, in a sentence without its subject. */
export function standing(prompt: Prompt): string {
  const { status, by, late_response } = prompt;
  const late = late_response === null ? '' : `; ${late_response.by} answered late`;
  switch (status) {
    case 'responded':
      return `answered by ${by}${prompt.amended ? ', amended' : ''}`;
    case 'expired':
      return `expired without an answer${late}`;
    case 'cancelled':
      return `cancelled by ${by}${late}`;
    default:
      return `waiting for ${age(prompt.created_at)}${address(prompt)}`;
  }
}

/** Whom it waits for, and who is at it. */
function address({ to, escalated_at, claimed_by }: Prompt): string {
  const whom = to === null ? '' : `, for ${to}${escalated_at === null ? '' : ' and by now everybody'}`;
  return `${whom}${claimed_by === null ? '' : `, taken up by ${claimed_by}`}`;
}

export function showPrompt(prompt: Prompt): void {
  const answer = standingAnswer(prompt);
  print(`${prompt.ask_id}  ${standing(prompt)}`);
  const rows: [string, string][] = [['question', prompt.question]];
  if (prompt.status === 'pending' && prompt.options.length > 0)
    rows.push(['options', prompt.options.map((option) => option.label).join(' | ')]);
  if (prompt.expires_at !== null && prompt.status === 'pending') rows.push(['expires', prompt.expires_at]);
  if (answer !== null) rows.push(['decision', answer.decision]);
  if (answer?.comment != null) rows.push(['comment', answer.comment]);
  printRows(rows, '  ');
}

export function showPrompts(prompts: readonly Prompt[]): void {
  printRows([
    ['ASK', 'STATUS', 'AGE', 'URGENCY', 'FOR', 'AGENT', 'PROJECT', 'QUESTION'],
    ...prompts.map((prompt) => [
      prompt.ask_id,
      prompt.late_response === null ? prompt.status : `${prompt.status}, late`,
      age(prompt.created_at),
      prompt.kind === 'permission' ? `${prompt.urgency}!` : prompt.urgency,
      `${prompt.to ?? '-'}${prompt.claimed_by === null || prompt.status !== 'pending' ? '' : ` (${prompt.claimed_by} is at it)`}`,
      `${sourcePrefix(prompt.source)}${prompt.agent}`,
      prompt.project,
      prompt.question,
    ]),
  ]);
}
