/**
 * Facts that no hook reports, from a client's own files: how a turn ended, the agent's last words, which calls have returned, and
 * the title of a session. Each is read from the end of a transcript. All of this was recorded from the real programs. Pure: the
 * caller reads the files.
 */

import type { HookTool } from './hooks.ts';
import { isFields, objectIn, objectInText, objectsIn, type Raw, textIn } from './json.ts';
import { cleanText, excerpt } from './text.ts';
import type { Turn } from './turns.ts';

// ---- How a turn ended ----
// Claude Code: Esc in its terminal fires no hook; some 200 ms later the entry `[Request interrupted by user]` is in the
// file. Esc before the first token leaves no entry, and neither does a prompt that displaces the turn ("send now" in the
// terminal, `priority: "now"` from a program): then the record of the turn breaks off, and the next prompt follows.
// Codex: its rollout has a `turn_aborted` event with the reason, or `task_complete`. No hook reports that a review has ended.

/** How many bytes of a transcript's end are read. Claude Code itself searches no more for a title. */
export const TRANSCRIPT_TAIL_BYTES: number = 64 * 1024;
/**
 * The same when looking for a displaced turn: between a prompt and the next one, Claude Code writes its system prompt and its
 * tools, 60 KB each.
 */
export const DISPLACED_TAIL_BYTES: number = 512 * 1024;

const INTERRUPTIONS: ReadonlySet<string> = new Set([
  '[Request interrupted by user]',
  '[Request interrupted by user for tool use]',
]);

/** Whether the tail of a transcript shows that this turn was interrupted at the terminal. */
export function transcriptShowsInterrupt(
  tail: string,
  turn: Pick<Turn, 'client_turn_id' | 'continues' | 'started_at'>,
): boolean {
  return tail.split('\n').some((line) => {
    // Parsing every line would cost more than reading the file.
    if (!line.includes('[Request interrupted by user')) return false;
    const entry = objectInText(line);
    return entry !== null && isInterruptEntry(entry) && isOf(entry, turn);
  });
}

/** The turn that begins while the store has another one as running. */
export interface Displacing {
  client_turn_id: string | null;
  /** True if its prompt has just been submitted; otherwise the transcript must already contain the prompt. */
  prompted: boolean;
}

/**
 * Whether Claude Code's transcript of a turn breaks off at the next prompt: the model wrote nothing after the turn's prompt or
 * last tool, or its text was cut off. A turn that ends normally ends with the model's text, so a lost Stop hook alone does not
 * look like this.
 */
export function transcriptShowsReplaced(
  tail: string,
  turn: Pick<Turn, 'client_turn_id'>,
  next: Displacing,
): boolean {
  if (turn.client_turn_id === null) return false;
  let last: 'unseen' | 'open' | 'said' = 'unseen';
  for (const line of tail.split('\n')) {
    // A hook ended it.
    if (last !== 'unseen' && line.includes('"hook_stopped_continuation"')) last = 'said';
    if (!CONVERSATION.test(line)) continue;
    const entry = objectInText(line);
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

/** Whether a whole line of the tail has this turn's id. Then everything about the turn before it is already in the transcript. */
export function transcriptNames(tail: string, client_turn_id: string): boolean {
  return tail.slice(0, tail.lastIndexOf('\n') + 1).includes(`"${client_turn_id}"`);
}

const CONVERSATION = /"type":"(?:user|assistant|system)"/;
/** System entries that are written when a turn has ended normally. */
const ENDS: ReadonlySet<string> = new Set(['stop_hook_summary', 'turn_duration']);

/** Whether an entry is text that was cut off, or only a thought, which does not end a turn. */
function isUnfinished(entry: Raw): boolean {
  if (entry['isAbortedMidStream'] === true) return true;
  const message = entry['message'];
  const content = isFields(message) ? message['content'] : null;
  return Array.isArray(content) && content.every((part) => isFields(part) && part['type'] === 'thinking');
}

/** Whether an entry comes from a person or a program, and is not a wake-up that the client wrote itself. */
function isPrompt({ origin }: Raw): boolean {
  return !isFields(origin) || origin['kind'] !== 'task-notification';
}

/** How this turn ended, according to Codex's rollout; null if it has no end, or an abort of no known reason. */
export function rolloutEnd(
  tail: string,
  { client_turn_id }: Pick<Turn, 'client_turn_id'>,
): 'completed' | 'interrupted' | 'replaced' | null {
  if (client_turn_id === null) return null;
  for (const line of tail.split('\n')) {
    if (!line.includes('"turn_aborted"') && !line.includes('"task_complete"')) continue;
    const { type, turn_id, reason } = objectIn(objectInText(line)?.['payload']) ?? {};
    if (turn_id !== client_turn_id) continue;
    if (type === 'task_complete') return 'completed';
    if (type === 'turn_aborted' && (reason === 'interrupted' || reason === 'replaced')) return reason;
  }
  return null;
}

/** The thread of a rollout, by the name of its file; null for any other file. */
export function threadOfRollout(path: string | null): string | null {
  return path === null
    ? null
    : (/[\\/]rollout-[^\\/]*?-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.jsonl$/.exec(path)?.[1] ?? null);
}

/**
 * Whether an entry is the client's own record of an interrupt: one text without an origin. A person's text is a plain string,
 * or has an origin.
 */
function isInterruptEntry(entry: Raw): boolean {
  if (entry['type'] !== 'user' || 'origin' in entry) return false;
  const message = entry['message'];
  const content = isFields(message) ? message['content'] : null;
  if (!Array.isArray(content) || content.length !== 1) return false;
  const [part] = content as unknown[];
  return isFields(part) && part['type'] === 'text' && INTERRUPTIONS.has(String(part['text']));
}

/**
 * Whether an entry belongs to a turn: by the turn's id, or by time if the client wrote no id, or if the turn continues an
 * interrupted one under the same id.
 */
function isOf(
  entry: Raw,
  { client_turn_id, continues, started_at }: Pick<Turn, 'client_turn_id' | 'continues' | 'started_at'>,
): boolean {
  const prompt_id = entry['promptId'];
  const named = typeof prompt_id === 'string' && client_turn_id !== null;
  if (named && prompt_id !== client_turn_id) return false;
  return (named && continues === null) || Date.parse(String(entry['timestamp'])) >= Date.parse(started_at);
}

// ---- Last words ----
// An agent's last text, so that a person sees why it asks and how it ended. It is shown as the agent's.

/** In characters. Longer text is cut at its beginning, because the end tells what comes next. */
export const LONGEST_WORDS = 2_000;

/**
 * The last text of the agent in a transcript of Claude Code or a rollout of Codex; null if the current or last turn has none.
 * Text of subagents does not count.
 */
export function lastWordsIn(tail: string, client_turn_id: string | null): string | null {
  let words = '';
  for (const line of tail.split('\n').reverse()) {
    const entry = SPOKEN.test(line) ? objectInText(line) : null;
    if (entry === null || entry['isSidechain'] === true) continue;
    const { promptId } = entry;
    // The client writes the prompt of a turn only after its hook.
    if (client_turn_id !== null && typeof promptId === 'string' && promptId !== client_turn_id) return null;
    if (beginsTurn(entry, client_turn_id) || (words !== '' && promptId !== undefined)) break;
    words ||= wordsIn(entry);
  }
  if (words === '') return null;
  // The cut may split a character, so the text is cleaned afterwards.
  return cleanText(words.length <= LONGEST_WORDS ? words : `…${words.slice(1 - LONGEST_WORDS)}`);
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

/** The agent's text in one entry; '' for a tool call, a thought, words of the client, or any other entry. */
function wordsIn(entry: Raw): string {
  const message = entry['type'] === 'assistant' ? objectIn(entry['message']) : objectIn(entry['payload']);
  // Claude Code writes errors of the API, too, as text of the agent, but not of its model.
  if (message?.['role'] !== 'assistant' || message['model'] === '<synthetic>') return '';
  const texts = objectsIn(message['content'])
    .filter(({ type }) => type === 'text' || type === 'output_text')
    .map((part) => textIn(part, 'text') ?? '');
  return texts.join('\n').trim();
}

// ---- Calls that have returned ----

/** How many bytes of the end of a transcript are searched for the result of a call, which may be long. */
export const RETURNED_TAIL_BYTES: number = 1024 * 1024;

export interface TranscriptCall {
  tool: HookTool;
  /** The message in which its model made it, together with the other calls of that step. */
  step: string | null;
  /** When its result was written; null if it has none. */
  at: string | null;
}

/** The calls in the end of a transcript; null if it cannot be read. */
export type TranscriptCalls = readonly TranscriptCall[] | null;

/** The transcript of a subagent of Claude Code, which its hooks do not name: `path` is that of its session. */
export function subagentTranscript(path: string, agent_id: string): string | null {
  return /^\w+$/.test(agent_id) ? path.replace(/\.jsonl$/, `/subagents/agent-${agent_id}.jsonl`) : null;
}

/** The calls that begin in the end of a transcript. */
export function callsIn(tail: string): readonly TranscriptCall[] {
  const calls = new Map<string | null, TranscriptCall>();
  for (const line of tail.split('\n')) {
    if (!line.includes('"tool_use')) continue;
    const entry = objectInText(line) ?? {};
    const message = objectIn(entry['message']) ?? {};
    for (const part of objectsIn(message['content'])) {
      const name = part['type'] === 'tool_use' ? textIn(part, 'name') : null;
      const [use_id, step] = [textIn(part, 'id'), textIn(message, 'id')];
      const tool = { name: name ?? '', input: part['input'], use_id, response: null, own: null };
      if (name !== null) calls.set(use_id, { tool, step, at: null });
      const returned = part['type'] === 'tool_result' ? calls.get(textIn(part, 'tool_use_id')) : undefined;
      if (returned !== undefined) returned.at = String(entry['timestamp']);
    }
  }
  return [...calls.values()];
}

// ---- The title of a session ----

/** A session of a client, as its hooks report it. */
interface Reported {
  client: string;
  session_id: string;
  transcript_path: string | null;
}

/**
 * The client's own title of a session: undefined if the client's file does not have it, null if it was removed. `readTail`
 * returns the end of a file, or null.
 */
export function clientTitle(
  { client, session_id, transcript_path }: Reported,
  readTail: (path: string, bytes: number) => string | null,
): string | null | undefined {
  if (transcript_path === null) return undefined;
  const path = client === 'codex' ? codexIndex(transcript_path) : transcript_path;
  const tail = path === null ? null : readTail(path, TRANSCRIPT_TAIL_BYTES);
  if (tail === null) return undefined;
  return client === 'codex' ? titleInIndex(tail, session_id) : titleInTranscript(tail);
}

function asTitle(title: unknown): string | null | undefined {
  if (typeof title !== 'string') return undefined;
  return title.trim() === '' ? null : excerpt(cleanText(title), 200);
}

/** Claude Code writes `custom-title` for /rename and `ai-title` for a generated title. */
function titleInTranscript(tail: string): string | null | undefined {
  for (const [type, field] of TITLE_ENTRIES) {
    const entry = lastEntry(tail, `"type":"${type}"`);
    const title = entry?.['type'] === type ? asTitle(entry[field]) : undefined;
    if (title !== undefined) return title;
  }
  return undefined;
}

/** Entries with a title, the preferred one first. */
const TITLE_ENTRIES = [
  ['custom-title', 'customTitle'],
  ['ai-title', 'aiTitle'],
] as const;

/** An id that Claude Code gives a session. */
const CLAUDE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The session in which Claude Code continues an ending one in the background (/bg); null if there is none. The client names it in
 * the transcript of the ending session once it has started it. It names no fork of a session that goes on itself. A complete reply
 * that follows shows that the session was resumed since.
 */
export function continuedIn(
  { client, session_id, transcript_path }: Reported,
  readTail: (path: string, bytes: number) => string | null,
): string | null {
  if (client !== 'claude-code' || transcript_path === null) return null;
  const tail = readTail(transcript_path, TRANSCRIPT_TAIL_BYTES) ?? '';
  const entry = lastEntry(tail.slice(tail.lastIndexOf('"stop_reason":"') + 1), '"type":"continued-in"');
  const next = entry?.['type'] === 'continued-in' ? entry['continuedInSessionId'] : undefined;
  return typeof next === 'string' && CLAUDE_ID.test(next) && next !== session_id ? next : null;
}

/** Codex's index with the names of all threads, generated or given by /rename; it is next to the folder of the rollouts. */
function codexIndex(rollout: string): string | null {
  const home = /^(.*[\\/])(?:archived_)?sessions[\\/]/.exec(rollout)?.[1];
  return home === undefined ? null : `${home}session_index.jsonl`;
}

function titleInIndex(tail: string, thread: string): string | null | undefined {
  const entry = lastEntry(tail, `"id":${JSON.stringify(thread)}`);
  return entry?.['id'] === thread ? asTitle(entry['thread_name']) : undefined;
}

/** The last whole line that contains a mark, parsed. Inside a string, the quotes of the mark would be escaped. */
function lastEntry(tail: string, mark: string): Raw | null {
  const at = tail.lastIndexOf(mark);
  if (at < 0) return null;
  const end = tail.indexOf('\n', at);
  return objectInText(tail.slice(tail.lastIndexOf('\n', at) + 1, end < 0 ? undefined : end));
}
