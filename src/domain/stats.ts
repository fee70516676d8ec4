/**
 * Statistics: how long agents waited for their humans, what they asked, where it was answered, and how much time rules saved.
 * They are computed from the stored prompts; nothing else is stored. Pure: the caller defines what a day is.
 */
import type { Via } from './actors.ts';
import type { Prompt } from './prompts.ts';
import { DAY_MS } from './times.ts';

/** The fields of a prompt that the statistics read. */
export type CountedPrompt = Pick<
  Prompt,
  | 'ask_id'
  | 'created_at'
  | 'agent'
  | 'project'
  | 'kind'
  | 'question'
  | 'status'
  | 'settled_at'
  | 'by'
  | 'via'
  | 'cancel_reason'
  | 'late_response'
  | 'blocked_since'
>;

/** How long a group of prompts waited for a human's answer. Times are in ms; null if none was answered. */
export interface Waits {
  name: string;
  /** How many were asked, apart from those that rules answered. */
  asked: number;
  /** How many of these a human answered in time. */
  answered: number;
  median_ms: number | null;
  worst_ms: number | null;
  /** For how long questions blocked their agents, in total. */
  blocked_ms: number;
}

/** Something counted by name, the most frequent first. */
export interface Counted {
  name: string;
  count: number;
}

export interface Stats {
  since: string;
  until: string;
  /** The totals; the name is empty. */
  total: Waits;
  /** The kinds, projects and agents with the most questions first. */
  kinds: Waits[];
  projects: Waits[];
  agents: Waits[];
  /** Each day of the period, oldest first, including days without a question. `asked` does not include `answered_by_rules`. */
  days: { day: string; asked: number; answered_by_rules: number }[];
  /** The channels through which they were answered, including `rule`, and `terminal` for the agent's own terminal. */
  answered_via: Counted[];
  late: number;
  expired: number;
  cancelled: number;
  pending: number;
  /** Since when the oldest pending question has been waiting; null if none is pending. */
  pending_since: string | null;
  /** Questions that were asked several times in the same words. */
  most_asked: Counted[];
  /** How often each rule answered. */
  rules: Counted[];
  /**
   * An estimate of the time that rules saved: each of their answers counts as the median wait of a permission. Null if unknown.
   */
  saved_ms: number | null;
}

export interface StatsPeriod {
  since: string;
  until: string;
  /** The name of the day of a time, such as `2026-11-23`, where the human is. */
  dayOf: (time: string) => string;
}

/** The default length of the period, in days. */
export const STATS_DAYS = 7;

const MOST_GROUPS = 20;
const MOST_ASKED = 10;

/** The statistics of a period, from all prompts that were asked in it. */
export function statsOf(prompts: readonly CountedPrompt[], { since, until, dayOf }: StatsPeriod): Stats {
  const ruled = prompts.filter(({ via }) => via === 'rule');
  const asked = prompts.filter(({ via }) => via !== 'rule');
  const kinds = groups(asked, ({ kind }) => kind, until);
  const pending = asked.filter(({ status }) => status === 'pending');
  const count = (status: Prompt['status']): number =>
    asked.filter((prompt) => prompt.status === status).length;
  const median = kinds.find(({ name }) => name === 'permission')?.median_ms ?? null;
  return {
    since,
    until,
    total: waitsOf('', asked, until),
    kinds,
    projects: groups(asked, ({ project }) => project, until).slice(0, MOST_GROUPS),
    agents: groups(asked, ({ agent }) => agent, until).slice(0, MOST_GROUPS),
    days: daysOf(asked, ruled, { since, until, dayOf }),
    answered_via: counted(prompts.flatMap((prompt) => viaOf(prompt) ?? [])),
    late: asked.filter(({ late_response }) => late_response !== null).length,
    expired: count('expired'),
    cancelled: asked.filter((prompt) => prompt.status === 'cancelled' && viaOf(prompt) === null).length,
    pending: pending.length,
    pending_since: pending.map(({ created_at }) => created_at).sort()[0] ?? null,
    most_asked: counted(asked.map(({ question }) => question))
      .filter((one) => one.count > 1)
      .slice(0, MOST_ASKED),
    rules: counted(ruled.map(({ by }) => by ?? '')),
    saved_ms: median === null ? null : median * ruled.length,
  };
}

/** The channel through which it was answered, in time or late; null if it was not. */
function viaOf({ status, via, cancel_reason, late_response }: CountedPrompt): Via | null {
  if (status === 'responded') return via;
  if (cancel_reason === 'answered_elsewhere') return 'terminal';
  return late_response?.via ?? null;
}

function counted(names: readonly string[]): Counted[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

function groups(
  prompts: readonly CountedPrompt[],
  nameOf: (prompt: CountedPrompt) => string,
  until: string,
): Waits[] {
  const found = Map.groupBy(prompts, nameOf);
  return [...found]
    .map(([name, members]) => waitsOf(name, members, until))
    .sort((a, b) => b.asked - a.asked || (a.name < b.name ? -1 : 1));
}

function waitsOf(name: string, prompts: readonly CountedPrompt[], until: string): Waits {
  const waits = prompts
    .filter(({ status }) => status === 'responded')
    .map(({ created_at, settled_at }) => between(created_at, settled_at ?? until))
    .sort((a, b) => a - b);
  const blocked = prompts.flatMap(({ blocked_since, settled_at }) =>
    blocked_since === null ? [] : between(blocked_since, settled_at ?? until),
  );
  return {
    name,
    asked: prompts.length,
    answered: waits.length,
    median_ms: medianOf(waits),
    worst_ms: waits.at(-1) ?? null,
    blocked_ms: blocked.reduce((sum, ms) => sum + ms, 0),
  };
}

function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

function medianOf(sorted: readonly number[]): number | null {
  const middle = Math.floor(sorted.length / 2);
  const [above, below] = [sorted[middle], sorted[middle - 1]];
  if (above === undefined) return null;
  return sorted.length % 2 === 1 || below === undefined ? above : Math.round((above + below) / 2);
}

function daysOf(
  asked: readonly CountedPrompt[],
  ruled: readonly CountedPrompt[],
  { since, until, dayOf }: StatsPeriod,
): Stats['days'] {
  const names = new Set<string>();
  // A day has only 23 hours when summer time begins.
  for (let at = Date.parse(since); at < Date.parse(until); at += DAY_MS / 2)
    names.add(dayOf(new Date(at).toISOString()));
  names.add(dayOf(until));
  const byDay = (prompts: readonly CountedPrompt[]): Map<string, CountedPrompt[]> =>
    Map.groupBy(prompts, ({ created_at }) => dayOf(created_at));
  const [questions, rules] = [byDay(asked), byDay(ruled)];
  return [...names].map((day) => ({
    day,
    asked: questions.get(day)?.length ?? 0,
    answered_by_rules: rules.get(day)?.length ?? 0,
  }));
}
