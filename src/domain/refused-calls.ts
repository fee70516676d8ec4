/**
 * Calls of Hive's own tools that the client refuses because nobody has allowed them. Their text is not lost, and the human learns
 * how to allow them.
 */
import type { HookEvent, HookTool } from './hooks.ts';
import { LINE_BREAK, quoted } from './text.ts';

/** For each tool: what it does, and the argument with the agent's words. */
const SPEAKING: Readonly<Record<string, readonly [verb: string, argument: string]>> = {
  hivemind_ask_async: ['ask', 'question'],
  hivemind_ask: ['ask', 'question'],
  hivemind_note: ['add to its question', 'note'],
  hivemind_post: ['post', 'body'],
  hivemind_ping_user: ['tell you', 'message'],
  hivemind_send_card: ['show you', 'title'],
  hivemind_report_updates: ['report', 'message'],
};

/** The longest text that a notice repeats. */
const LONGEST = 4_000;

/** The purpose and the words of a call that addresses somebody: `ask: Which colour?` Null for any other call. */
export function wordsOf({ own, input }: HookTool): string | null {
  const [verb, argument] = SPEAKING[own ?? ''] ?? [];
  if (verb === undefined || argument === undefined) return null;
  const words = (input as Readonly<Record<string, unknown>> | null)?.[argument];
  if (typeof words !== 'string' || words === '') return null;
  const said = words.slice(0, LONGEST).toWellFormed();
  return LINE_BREAK.test(said) ? `${verb}:\n${quoted(said)}` : `${verb}: ${said}`;
}

const CLIENTS: Readonly<Record<HookEvent['client'], string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
};

/** The notice about a call that was refused. */
export function refusedSentence(agent: string, client: HookEvent['client'], words: string): string {
  return `${agent} could not ${words}\n${CLIENTS[client]} refused the call.${client === 'codex' ? '' : ADVICE}`;
}

/** The notice about a call for which the client asks permission in its terminal. */
export function askedSentence(agent: string, client: HookEvent['client'], words: string): string {
  return `${agent} waits in its terminal, where ${CLIENTS[client]} asks whether it may ${words}${client === 'codex' ? '' : `\n${ADVICE.trim()}`}`;
}

const ADVICE = " To let agents use Hive's own tools without asking, run: hive init claude";
