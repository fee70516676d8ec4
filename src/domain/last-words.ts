/**
 * Last words: an agent's last text, read from the end of its client's transcript, so that a person sees why it asks and how it
 * ended. The text is shown as the agent's. Pure.
 */
import { objectIn, objectInText, objectsIn, type Raw, textIn } from './json.ts';
import { cleanText } from './text.ts';

/** How much of the end of a transcript is searched, in bytes. */
export const LAST_WORDS_TAIL_BYTES = 64 * 1024;
/** In characters. Longer text is cut at its beginning, because the end tells what comes next. */
export const LONGEST_WORDS = 2_000;

/**
 * The last text of the agent in a transcript of Claude Code or a rollout of Codex; null if the current or last turn has none.
 * Text of subagents does not count.
 */
export function lastWordsIn(tail: string, client_turn_id: string | null): string | null {
  for (const line of tail.split('\n').reverse()) {
    const entry = SPOKEN.test(line) ? objectInText(line) : null;
    if (entry === null || entry['isSidechain'] === true) continue;
    if (beginsTurn(entry, client_turn_id)) return null;
    const words = wordsIn(entry);
    // The cut may split a character, so the text is cleaned afterwards.
    if (words !== '')
      return cleanText(words.length <= LONGEST_WORDS ? words : `…${words.slice(1 - LONGEST_WORDS)}`);
  }
  return null;
}

/** Selects the lines to parse: parsing every line would cost more than reading the file. */
const SPOKEN = /"type":"(?:assistant|user|message|task_started)"/;

/** Whether an entry is the prompt that began the turn; earlier entries belong to another turn. */
function beginsTurn(entry: Raw, client_turn_id: string | null): boolean {
  if (objectIn(entry['payload'])?.['type'] === 'task_started') return true;
  const content = objectIn(entry['message'])?.['content'];
  return (
    entry['type'] === 'user' &&
    client_turn_id !== null &&
    entry['promptId'] === client_turn_id &&
    (typeof content === 'string' || objectsIn(content).every(({ type }) => type === 'text'))
  );
}

/** The agent's text in one entry; '' for a tool call, a thought, or any other entry. */
function wordsIn(entry: Raw): string {
  const message = entry['type'] === 'assistant' ? objectIn(entry['message']) : objectIn(entry['payload']);
  if (message === null || message['role'] !== 'assistant') return '';
  const texts = objectsIn(message['content'])
    .filter(({ type }) => type === 'text' || type === 'output_text')
    .map((part) => textIn(part, 'text') ?? '');
  return texts.join('\n').trim();
}
