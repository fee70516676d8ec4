/** What became of a question, as sentences for its asker: the same words in a hook's context and a guard's reason. */
import type { Prompt } from './prompts.ts';
import { excerpt } from './text.ts';

/** Longer answers are cut here; the whole is a poll away. */
const SHOWN_ANSWER = 2_000;

/** One settled prompt for its agent. `repeated`: it was carried in before and nothing proved that it was read. */
export function describeSettlement(prompt: Prompt, repeated: boolean): string {
  const about = `${prompt.ask_id} (asked ${prompt.created_at}: "${excerpt(prompt.question, 160)}")`;
  const again = repeated ? ' This may have reached you before.' : '';
  if (prompt.late_response !== null) {
    return `A late answer to ${about}, which had ${WAS[prompt.status]}: ${describeDecision(prompt.late_response)} Act on it if it is still of use.${again}`;
  }
  switch (prompt.status) {
    case 'responded':
      return `Answer to ${about}: ${describeDecision(prompt)}${again}`;
    case 'expired':
      return `${about} expired without an answer. That is no decision.${again}`;
    case 'cancelled':
      return `${about} was cancelled (${prompt.cancel_reason}). That is no decision, and no refusal.${again}`;
    default:
      return `${about} is pending.`;
  }
}

const WAS: Readonly<Record<Prompt['status'], string>> = {
  pending: 'been open',
  responded: 'been answered',
  expired: 'expired',
  cancelled: 'been cancelled',
};

/** Who said what, through what, when; shared by an answer in time and a late one. */
function describeDecision({
  decision,
  comment,
  by,
  via,
  responded_at,
}: Pick<Prompt, 'decision' | 'comment' | 'by' | 'via' | 'responded_at'>): string {
  const said = decision ?? '';
  const shown =
    said.length > SHOWN_ANSWER
      ? `${excerpt(said, SHOWN_ANSWER)} (cut; hivemind_poll returns the whole)`
      : said;
  return `${shown}${comment === null ? '' : ` (comment: ${excerpt(comment, 500)})`}. By ${by} via ${via} at ${responded_at}.`;
}
