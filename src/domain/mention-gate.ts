/**
 * The mention gate: a tool call is denied until the session has processed its mentions. The gate names the call that
 * clears it, never holds that call, counts its denials and gives up after a bounded number of model steps (invariant
 * 11). Pure.
 */
import { holdAtMost } from './guards.ts';
import type { MentionInFull, UnprocessedCount } from './mentions.ts';
import { authorName, UNVERIFIED_WARNING } from './messages.ts';
import type { GateMode, NotifyHeld } from './preferences.ts';
import type { Session } from './sessions.ts';
import { labelled } from './sources.ts';
import { excerpt, quoted } from './text.ts';
import { timeAfter } from './times.ts';

/** The gate's state for one session. */
export interface GateRecord {
  session_id: string;
  /** Model steps held in a row without progress; a batch of parallel calls is one step. */
  steps: number;
  /** Denials until this time belong to the step already counted; null once its batch was closed. */
  step_until: string | null;
  /** Denied calls in total. */
  denials: number;
  /** Whether the gate gave up, so that it only reminds until a mention is processed. */
  gave_up: boolean;
  /** Whether calls were held, and the session has not yet been notified that they pass again. */
  held: boolean;
  /** When the first call since the session last made progress was held; null if none is held. */
  held_since: string | null;
  /** The seats whose human was notified that this session is held. */
  held_notified: string[];
  /** Prompts of the human refused in a row without progress (`gate`: `strict`). */
  prompts: number;
  /** Whether prompts pass until a mention is processed, because the gate gave up on them. */
  prompts_gave_up: boolean;
}

/** The gate after a decision. `gave_up_now`: the human must be notified. */
interface Decided {
  record: GateRecord;
  gave_up_now: boolean;
}

/** The gate gives up after holding this many steps in a row. */
export const GATE_STEPS = 5;
/** If no event closes a batch, denials within this time are one step: six parallel calls came within 47 ms (measured). */
const STEP_MS = 2_000;

/** The initial counts, as after progress. */
const NO_HOLDS = {
  steps: 0,
  step_until: null,
  gave_up: false,
  held_since: null,
  held_notified: [],
  prompts: 0,
  prompts_gave_up: false,
};

/** The state of a gate that has not held anything yet. */
export function newGate(session_id: string): GateRecord {
  return { session_id, denials: 0, held: false, ...NO_HOLDS };
}

/**
 * Decides one tool call that the gate may hold. `can_clear`: the session can make the call that clears the gate;
 * one that cannot is only reminded.
 */
export function decideGate(
  { count, gating, urgent }: UnprocessedCount,
  record: GateRecord,
  { mode, can_clear, now }: { mode: GateMode; can_clear: boolean; now: string },
): Decided & { opinion: 'pass' | 'remind' | 'deny' } {
  const pass = { record, gave_up_now: false };
  if (count === 0 || mode === 'off') return { opinion: 'pass', ...pass };
  const holding = mode === 'remind' ? urgent : gating;
  if (holding === 0 || !can_clear || record.gave_up) return { opinion: 'remind', ...pass };
  const sameStep = record.step_until !== null && now <= record.step_until;
  const next = holdAtMost(GATE_STEPS, { holds: record.steps, gave_up: record.gave_up });
  if (!sameStep && next.opinion === 'give_up') {
    const free = { ...record, gave_up: true, step_until: null, held_since: null, held_notified: [] };
    return { opinion: 'remind', record: free, gave_up_now: true };
  }
  return {
    opinion: 'deny',
    record: {
      ...record,
      steps: sameStep ? record.steps : next.holds,
      step_until: sameStep ? record.step_until : timeAfter(now, STEP_MS),
      denials: record.denials + 1,
      held: true,
      held_since: record.held_since ?? now,
    },
    gave_up_now: false,
  };
}

/** The gate lets prompts through after refusing this many in a row. */
export const PROMPT_REFUSALS = 5;

/** Decides one prompt of the human, for a gate that holds prompts. `gating`: the number of mentions that gate. */
export function decideHumanPrompt(
  { gating }: Pick<UnprocessedCount, 'gating'>,
  record: GateRecord,
  prompt: string,
): Decided & { refused: boolean } {
  if (gating === 0 || clearsMentions(prompt)) return { refused: false, record, gave_up_now: false };
  const { opinion, holds, gave_up } = holdAtMost(PROMPT_REFUSALS, {
    holds: record.prompts,
    gave_up: record.prompts_gave_up,
  });
  return {
    refused: opinion === 'hold',
    record: opinion === 'pass' ? record : { ...record, prompts: holds, prompts_gave_up: gave_up },
    gave_up_now: opinion === 'give_up',
  };
}

/** The commands for processing mentions, as typed: the plugin's, and a person's own commands of the same name. */
const CLEARING_COMMAND = /^\s*\/(?:hive:)?(?:check-mentions|post)(?!\S)/;
/** Some clients report the expanded command instead of the typed one; the expansion names the tool. */
const CLEARING_TOOL = /\bhivemind_(?:(?:has|get)_unprocessed_mentions|process_mentions|post)\b/;

/** Whether this prompt asks the agent to process its mentions. The gate never refuses such a prompt (invariant 11). */
export function clearsMentions(prompt: string): boolean {
  return CLEARING_COMMAND.test(prompt) || CLEARING_TOOL.test(prompt) || MENTIONS_COMMAND.test(prompt);
}

/** Records that the batch of calls is closed: the model reads the results now, so the next denial is another step. */
export function closeStep(record: GateRecord): GateRecord {
  return record.step_until === null ? record : { ...record, step_until: null };
}

/** Records that a mention was processed: that is progress, so the counts start again. */
export function recordProgress(record: GateRecord): GateRecord {
  return { ...record, ...NO_HOLDS };
}

/** How many more mentions a reason shows in short form. */
const IN_SHORT = 3;
/** How many mentions a reason shows in total; the rest are only counted. */
export const MENTIONS_LISTED: number = 1 + IN_SHORT;
const FIRST_BODY = 20_000;
const EXCERPT = 120;

/** The mentions as the model reads them: the first in full, three shortened, a count of the rest. `count` is the total. */
export function describeMentions(mentions: readonly MentionInFull[], count: number): string {
  const [first, ...rest] = mentions;
  if (first === undefined) return '';
  const urgent = first.priority === 'urgent' ? ' (urgent)' : '';
  const body =
    first.body.length > FIRST_BODY
      ? `${first.body.slice(0, FIRST_BODY).toWellFormed()}… (cut; hivemind_get_unprocessed_mentions returns it in full)`
      : first.body;
  const lines = [
    `${authorName(first)} mentioned you${urgent} at ${first.at} [${first.mention_id}]:`,
    quoted(body),
  ];
  for (const mention of rest.slice(0, IN_SHORT))
    lines.push(`Also ${authorName(mention)} [${mention.mention_id}]: ${excerpt(mention.body, EXCERPT)}`);
  if (count > MENTIONS_LISTED) lines.push(`+${count - MENTIONS_LISTED} more`);
  if (mentions.slice(0, MENTIONS_LISTED).some(({ author }) => author === 'unverified'))
    lines.push(UNVERIFIED_WARNING);
  return lines.join('\n');
}

/** The mentions that `describeMentions` shows in full. The shortened and the counted ones have not been read yet. */
export function shownInFull(mentions: readonly MentionInFull[]): MentionInFull[] {
  const [first, ...rest] = mentions;
  const short = rest.slice(0, IN_SHORT).filter(({ body }) => excerpt(body, EXCERPT) === body);
  return first === undefined ? [] : [first, ...short];
}

/** The denial of a call because of `count` mentions, of which the first are given, with the exact call that clears the gate. */
export function denialReason(mentions: readonly MentionInFull[], count: number): string {
  const many = count === 1 ? '1 unprocessed mention' : `${count} unprocessed mentions`;
  const ids = JSON.stringify(mentions.slice(0, MENTIONS_LISTED).map((mention) => mention.mention_id));
  return [
    `This call was held: you have ${many} in the shared buffer.`,
    describeMentions(mentions, count),
    `Act on ${count === 1 ? 'it' : 'them'} first: reply with hivemind_post (reply_to) if a reply is wanted, then call hivemind_process_mentions {"mention_ids": ${ids}}, or {"all": true}. After that your tool calls are allowed again, and you can repeat this one.`,
  ].join('\n\n');
}

/** A reminder of `count` mentions, of which the first are given, for when nothing is held. */
export function reminder(mentions: readonly MentionInFull[], count: number): string {
  return `${describeMentions(mentions, count)}\n\nWhen you have dealt with this, call hivemind_process_mentions {"mention_ids": [${mentions
    .slice(0, MENTIONS_LISTED)
    .map((mention) => `"${mention.mention_id}"`)
    .join(', ')}]}.`;
}

/**
 * Tells the person at the terminal that their prompt carried `count` mentions, of which the first are given, because the agent
 * read more than they typed.
 */
export function carriedNotice(mentions: readonly MentionInFull[], count: number): string {
  const authors = [...new Set(mentions.map(authorName))];
  const others = count > mentions.length ? ' and others' : '';
  return `Hive: your message carried ${count === 1 ? '1 mention' : `${count} mentions`} to the agent, from ${authors.join(', ')}${others}.`;
}

/** Matches a command that only reads and clears mentions, with nothing else that a shell would run. */
const MENTIONS_COMMAND = /^\s*hive mentions(?: [\w@:.=/-]+)*\s*$/;

/** Calls the gate never holds: our own tools, the search tool that loads them, and the shell command that clears the gate. */
export function isExempt(tool: { name: string; own: string | null; input: unknown }): boolean {
  if (tool.own !== null || tool.name === 'ToolSearch') return true;
  if (tool.name !== 'Bash') return false;
  const command = (tool.input as { command?: unknown } | null)?.command;
  return typeof command === 'string' && MENTIONS_COMMAND.test(command);
}

/** An agent whose tool calls the gate holds, as a notice shows it. */
export interface HeldAgent extends Pick<Session, 'session_id' | 'handle' | 'title' | 'source' | 'project'> {
  /** The mention that holds it, the most urgent of several, and the name of its author for people. */
  mention_id: string;
  from: string;
  since: string;
}

/** When to notify a seat of a held agent; null if never, or if it was already notified. */
export function heldNoticeAt(
  { held_since, held_notified }: Pick<GateRecord, 'held_since' | 'held_notified'>,
  seat: string,
  when: NotifyHeld,
): string | null {
  if (held_since === null || when === 'never' || held_notified.includes(seat)) return null;
  return timeAfter(held_since, when * 1_000);
}

/** The gate's state after holding a call of a turn that began at `started_at`; being held in an earlier turn does not count. */
export function holdOfTurn(record: GateRecord, started_at: string | null): GateRecord {
  const { held_since } = record;
  if (held_since === null || started_at === null || started_at <= held_since) return record;
  return { ...record, held_since: null, held_notified: [] };
}

const NAMED = 5;

/** One sentence for all held agents, however many there are. `clock` formats a time for the human. */
export function heldSentence(agents: readonly HeldAgent[], clock: (time: string) => string): string {
  const [only] = agents;
  if (only !== undefined && agents.length === 1)
    return `${labelled(only)} has been held since ${clock(only.since)} by a mention from ${only.from}. Its tools wait until it processes the mention.`;
  const named = agents
    .slice(0, NAMED)
    .map((agent) => `${labelled(agent)} since ${clock(agent.since)} by ${agent.from}`);
  if (agents.length > NAMED) named.push(`${agents.length - NAMED} more`);
  return `${agents.length} agents are held by mentions: ${named.join(', ')}.`;
}
