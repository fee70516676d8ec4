/**
 * Wake-ups: an idle agent hears that its question is answered. Never the answer itself: its client marks such
 * text as no word of the human's, so the agent fetches it. Pure.
 */
import { isUncollected, type Prompt } from './prompts.ts';

/** Who waits for a session's answers; a session has one at a time. */
export interface Waker {
  session_id: string;
  waker_id: string | null;
  /** It gives up by then. */
  until: string | null;
  /** The latest questions it was woken for: an agent that did not care the first time is not told again. */
  told: string[];
}

/** What an idle agent would want to know: an answer that nobody has brought it yet. */
export function isWorthWaking(prompt: Prompt, { told }: Pick<Waker, 'told'>): boolean {
  const answered = prompt.status === 'responded' || prompt.late_response !== null;
  return answered && isUncollected(prompt) && prompt.handed_at === null && !told.includes(prompt.ask_id);
}

const REMEMBERED = 200;

/** It was told of these, and nobody waits for it until somebody does anew. */
export function wokenFor(waker: Waker, ask_ids: readonly string[]): Waker {
  const told = [...waker.told, ...ask_ids].slice(-REMEMBERED);
  return { ...waker, waker_id: null, until: null, told };
}

const NAMED = 5;

export function wakeSentence(ask_ids: readonly string[]): string {
  const [first] = ask_ids;
  if (ask_ids.length === 1) return `${first} is answered: call hivemind_poll {"ask_id": "${first}"}.`;
  const more = ask_ids.length > NAMED ? ` and ${ask_ids.length - NAMED} more` : '';
  return `${ask_ids.slice(0, NAMED).join(', ')}${more} are answered: call hivemind_poll.`;
}

/** How long a waiter lives, by `HIVE_WAKE`: `off` for not at all, or hours; eight by default. */
export function wakeLifeMs(given: string | undefined): number | null {
  if (given === 'off') return null;
  const hours = Number(given);
  return (hours > 0 ? Math.min(hours, LONGEST_H) : USUAL_H) * 60 * 60 * 1000;
}

const USUAL_H = 8;
const LONGEST_H = 24;
