/** Questions and agents in the order of Emacs: the server decides it, with the `order_key` of each (src/domain/). */
import type { Prompt } from '../../../domain/prompts.ts';
import { SESSION_SECTIONS, type SessionPlace } from '../../../domain/sessions.ts';
import type { OutboxEntry } from './storage.ts';

/** A prompt as the server lists it. */
export type ListedPrompt = Prompt & { order_key: string; mine: boolean; context_truncated?: true };

export interface Waiting {
  /** For this human, and not snoozed. */
  mine: ListedPrompt[];
  others: ListedPrompt[];
  snoozed: ListedPrompt[];
  /** For this human, of sessions that have ended. */
  ended: ListedPrompt[];
}

const inOrder = <Item extends { order_key: string }>(items: Iterable<Item>): Item[] =>
  [...items].sort((a, b) => (a.order_key < b.order_key ? -1 : 1));

/** The sections of sessions, in order; an empty one is left out. */
export function sectionsOf<Shown extends SessionPlace>(
  sessions: Iterable<Shown>,
): readonly { section: SessionPlace['section']; sessions: readonly Shown[] }[] {
  const sorted = inOrder(sessions);
  return SESSION_SECTIONS.map((section) => ({
    section,
    sessions: sorted.filter((session) => session.section === section),
  })).filter((one) => one.sessions.length > 0);
}

/** The pending prompts in four lists, each in order. */
export function sortWaiting(prompts: Iterable<ListedPrompt>, now: string): Waiting {
  const lists: Waiting = { mine: [], others: [], snoozed: [], ended: [] };
  for (const prompt of inOrder(prompts)) {
    if (prompt.snoozed_until !== null && prompt.snoozed_until > now) lists.snoozed.push(prompt);
    else if (!prompt.mine) lists.others.push(prompt);
    else (prompt.orphaned ? lists.ended : lists.mine).push(prompt);
  }
  return lists;
}

/** In order, the first ones; the others are read once some of these are answered. */
const MOST_PROMPTS = 5_000;

interface PromptPage {
  prompts: readonly ListedPrompt[];
  next_cursor: string | null;
  /** How many there are on all pages. */
  total: number;
}

/** Pending questions, read page by page, and the number of those that this page does not show. */
export async function readPages(
  list: (cursor: string | null) => Promise<PromptPage>,
): Promise<{ prompts: Map<string, ListedPrompt>; more: number }> {
  const prompts = new Map<string, ListedPrompt>();
  let page: PromptPage;
  let cursor: string | null = null;
  do {
    page = await list(cursor);
    for (const prompt of page.prompts) prompts.set(prompt.ask_id, prompt);
    cursor = page.next_cursor;
  } while (cursor !== null && prompts.size < MOST_PROMPTS);
  return { prompts, more: cursor === null ? 0 : Math.max(0, page.total - prompts.size) };
}

/** The ids of the questions that this device has answered, but the server has not acknowledged. */
export function queuedAnswers(outbox: readonly OutboxEntry[]): ReadonlySet<string> {
  return new Set(
    outbox.flatMap(({ queued, fate }) =>
      queued.kind === 'answer' && fate.state === 'queued' ? [queued.ask_id] : [],
    ),
  );
}

/**
 * Answers that their human has to know about: late, lost or refused ones, those that need one more tap, and queued ones whose
 * questions are not listed.
 */
export function unread(outbox: readonly OutboxEntry[], areListed: boolean): OutboxEntry[] {
  return outbox.filter(
    ({ queued, fate }) =>
      queued.kind === 'answer' &&
      !(fate.state === 'queued' && areListed) &&
      !(fate.state === 'done' && fate.reply.accepted === true),
  );
}
