/**
 * What a client's own record says about the end of a turn that no hook told of.
 *
 * Claude Code: Esc in its terminal fires no hook; some 200 ms later the entry `[Request interrupted by user]` is in the
 * file. Esc before the first token leaves none, and neither does a prompt that displaces the turn ("send now" in the
 * terminal, `priority: "now"` from a program): then the record of the turn breaks off, and the next prompt follows.
 * Codex: its rollout has a `turn_aborted` event with the reason. All as recorded from the real programs.
 */
import type { Turn } from './turns.ts';

/** So much of a transcript's end is looked at. */
export const TRANSCRIPT_TAIL_BYTES: number = 64 * 1024;
/** Between a prompt and what displaced it Claude Code writes its system prompt and its tools, 60 KB each. */
export const DISPLACED_TAIL_BYTES: number = 512 * 1024;

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

/** The turn that begins while another runs as far as the store knows. */
export interface Displacing {
  client_turn_id: string | null;
  /** A person or a program has just submitted its prompt; else the record must have it already. */
  prompted: boolean;
}

/**
 * Whether Claude Code's record of a turn breaks off where the next prompt follows: nothing was said since the
 * turn's prompt or its last tool, or what was being said was cut off. A turn that ended by itself has said something
 * last, so a Stop hook that was lost proves nothing.
 */
export function saysReplaced(tail: string, turn: Pick<Turn, 'client_turn_id'>, next: Displacing): boolean {
  if (turn.client_turn_id === null) return false;
  let last: 'unseen' | 'open' | 'said' = 'unseen';
  for (const line of tail.split('\n')) {
    // Somebody's hook ended it.
    if (last !== 'unseen' && line.includes('"hook_stopped_continuation"')) last = 'said';
    if (!CONVERSATION.test(line)) continue;
    const entry = parse(line);
    if (entry === null || entry['isSidechain'] === true) continue;
    const { type, promptId } = entry;
    if (type === 'user' && promptId === turn.client_turn_id) last = 'open';
    else if (last === 'unseen') continue;
    else if (type === 'user' && typeof promptId === 'string')
      return last === 'open' && promptId === next.client_turn_id && isPrompt(entry);
    else if (type === 'assistant') last = isUnfinished(entry) ? 'open' : 'said';
    else if (type === 'system' && ENDS.has(String(entry['subtype']))) last = 'said';
  }
  return last === 'open' && next.prompted;
}

const CONVERSATION = /"type":"(?:user|assistant|system)"/;
/** Written when a turn has ended by itself. */
const ENDS: ReadonlySet<string> = new Set(['stop_hook_summary', 'turn_duration']);

/** Cut off while it was said, or a thought, which ends no turn. */
function isUnfinished(entry: Entry): boolean {
  if (entry['isAbortedMidStream'] === true) return true;
  const message = entry['message'];
  const content = isObject(message) ? message['content'] : null;
  return Array.isArray(content) && content.every((part) => isObject(part) && part['type'] === 'thinking');
}

/** The words of a person or of a program, not a wake-up that the client wrote itself. */
function isPrompt({ origin }: Entry): boolean {
  return !isObject(origin) || origin['kind'] !== 'task-notification';
}

/** Why Codex's rollout says that this turn was aborted; null where it says nothing that is known here. */
export function rolloutSays(
  tail: string,
  turn: Pick<Turn, 'client_turn_id'>,
): 'interrupted' | 'replaced' | null {
  for (const line of tail.split('\n')) {
    if (!line.includes('"turn_aborted"')) continue;
    const payload = parse(line)?.['payload'];
    if (!isObject(payload) || payload['type'] !== 'turn_aborted') continue;
    if (turn.client_turn_id === null || payload['turn_id'] !== turn.client_turn_id) continue;
    const { reason } = payload;
    if (reason === 'interrupted' || reason === 'replaced') return reason;
  }
  return null;
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
