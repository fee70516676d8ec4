/**
 * What a transcript of Claude Code says about the end of a turn. Esc in its terminal fires no hook; some 200 ms
 * later this entry stands in the file, as recorded. Esc before the first token leaves none.
 */
import type { Turn } from './turns.ts';

/** So much of a transcript's end is looked at. */
export const TRANSCRIPT_TAIL_BYTES: number = 64 * 1024;

const INTERRUPTIONS: ReadonlySet<string> = new Set([
  '[Request interrupted by user]',
  '[Request interrupted by user for tool use]',
]);

type Entry = Readonly<Record<string, unknown>>;

/** Whether the tail of a transcript says that this turn was interrupted at the terminal. */
export function saysInterrupted(
  tail: string,
  turn: Pick<Turn, 'client_turn_id' | 'continues' | 'started_at'>,
): boolean {
  return tail.split('\n').some((line) => {
    // Most lines are no such thing, and parsing each would cost more than reading the file.
    if (!line.includes('[Request interrupted by user')) return false;
    const entry = parse(line);
    return entry !== null && isInterruption(entry) && isOf(entry, turn);
  });
}

/** The client's own entry: one text, no origin. What a person types is a plain string, or says where it comes from. */
function isInterruption(entry: Entry): boolean {
  if (entry['type'] !== 'user' || 'origin' in entry) return false;
  const message = entry['message'];
  const content = isObject(message) ? message['content'] : null;
  if (!Array.isArray(content) || content.length !== 1) return false;
  const [part] = content as unknown[];
  return isObject(part) && part['type'] === 'text' && INTERRUPTIONS.has(String(part['text']));
}

/** By the turn's id; by time where a client wrote none, and where a turn goes on under an id that was interrupted before. */
function isOf(
  entry: Entry,
  { client_turn_id, continues, started_at }: Pick<Turn, 'client_turn_id' | 'continues' | 'started_at'>,
): boolean {
  const prompt_id = entry['promptId'];
  const named = typeof prompt_id === 'string' && client_turn_id !== null;
  if (named && prompt_id !== client_turn_id) return false;
  return (named && continues === null) || Date.parse(String(entry['timestamp'])) >= Date.parse(started_at);
}

function parse(line: string): Entry | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    // The first line of a tail begins in the middle, and the last may still be under way.
    return null;
  }
}

function isObject(value: unknown): value is Entry {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
