/**
 * The mention gate: a tool call waits until the session has dealt with what was said to it. Pure. It names
 * the call that clears it, never holds that call, counts what it did and gives up after a bounded number of
 * model steps (invariant 11).
 */
import { authorName, UNVERIFIED_NOTE } from './authors.ts';
import type { MentionInFull, UnprocessedCount } from './mentions.ts';
import type { GateMode } from './sessions.ts';
import { excerpt } from './text.ts';

/** What the gate remembers of one session. */
export interface GateRecord {
  session_id: string;
  /** Model steps held in a row without progress; a batch of parallel calls is one step. */
  steps: number;
  /** Denials before then belong to the step that is counted already; null once its batch was closed. */
  step_until: string | null;
  /** Denied calls in all. */
  denials: number;
  /** Fell back to reminding, until a mention is processed. */
  gave_up: boolean;
  /** Calls were held, and the session was not told yet that they pass again. */
  held: boolean;
  /** The first call that was held since the session last made progress; null where none is held. */
  held_since: string | null;
  /** The seats whose human was notified of that. */
  held_told: string[];
  /** Prompts of the human refused in a row without progress (`HIVE_GATE_PROMPT=block`). */
  prompts: number;
  /** Prompts are let through, until a mention is processed. */
  prompts_gave_up: boolean;
}

/** What `HIVE_GATE` says; a word it does not know leaves the default, which holds. */
export function gateMode(given: string | undefined): GateMode {
  return given === 'remind' || given === 'off' ? given : 'block';
}

export type GateOpinion = 'pass' | 'remind' | 'deny';

export interface GateDecision {
  opinion: GateOpinion;
  record: GateRecord;
  /** The gate gave up with this call: the human is to be told. */
  gave_up_now: boolean;
}

/** So many steps are held in a row before the gate gives up. */
export const GATE_STEPS = 5;
/** Where no event closes a batch, denials within this time are one step: six calls fired within 47 ms (measured). */
const STEP_MS = 2_000;

export function newGate(session_id: string): GateRecord {
  return {
    session_id,
    steps: 0,
    step_until: null,
    denials: 0,
    gave_up: false,
    held: false,
    held_since: null,
    held_told: [],
    prompts: 0,
    prompts_gave_up: false,
  };
}

/**
 * What to do with one tool call that may be held. `can_clear`: the session has a way to make the call that
 * clears the gate; one that has none is reminded only.
 */
export function decideGate(
  { count, gating, urgent }: UnprocessedCount,
  record: GateRecord,
  { mode, can_clear, now }: { mode: GateMode; can_clear: boolean; now: string },
): GateDecision {
  const pass = { record, gave_up_now: false };
  if (count === 0 || mode === 'off') return { opinion: 'pass', ...pass };
  const holding = mode === 'block' ? gating : urgent;
  if (holding === 0 || !can_clear || record.gave_up) return { opinion: 'remind', ...pass };
  const sameStep = record.step_until !== null && now <= record.step_until;
  if (!sameStep && record.steps >= GATE_STEPS) {
    const free = { ...record, gave_up: true, step_until: null, held_since: null, held_told: [] };
    return { opinion: 'remind', record: free, gave_up_now: true };
  }
  const step_until = sameStep ? record.step_until : new Date(Date.parse(now) + STEP_MS).toISOString();
  const steps = sameStep ? record.steps : record.steps + 1;
  return {
    opinion: 'deny',
    record: {
      ...record,
      steps,
      step_until,
      denials: record.denials + 1,
      held: true,
      held_since: record.held_since ?? now,
    },
    gave_up_now: false,
  };
}

export interface PromptDecision {
  refused: boolean;
  record: GateRecord;
  /** The gate gives up with this prompt: the human is notified. */
  gave_up_now: boolean;
}

/** So many prompts are refused in a row before the gate lets them through. */
export const PROMPT_REFUSALS = 5;

/** What to do with one prompt of the human where prompts are blocked. `gating` mentions wait. */
export function decidePrompt(
  { gating }: Pick<UnprocessedCount, 'gating'>,
  record: GateRecord,
  prompt: string,
): PromptDecision {
  if (gating === 0 || record.prompts_gave_up || clearsMentions(prompt))
    return { refused: false, record, gave_up_now: false };
  if (record.prompts >= PROMPT_REFUSALS)
    return { refused: false, record: { ...record, prompts_gave_up: true }, gave_up_now: true };
  return { refused: true, record: { ...record, prompts: record.prompts + 1 }, gave_up_now: false };
}

/** The commands for dealing with mentions, as typed: those of the plugin, and a person's own of the same name. */
const CLEARING_COMMAND = /^\s*\/(?:hive:)?(?:check-mentions|post)(?!\S)/;
/** What such a command expands to, where the client tells that instead of what was typed, names the tool. */
const CLEARING_TOOL = /\bhivemind_(?:(?:has|get)_unprocessed_mentions|process_mentions|post)\b/;

/** Whether this prompt has the agent deal with its mentions. The gate never refuses such a prompt (invariant 11). */
export function clearsMentions(prompt: string): boolean {
  return CLEARING_COMMAND.test(prompt) || CLEARING_TOOL.test(prompt) || MENTIONS_COMMAND.test(prompt);
}

/** The batch in flight is closed: the model reads now, and the next denial is another step. */
export function closeStep(record: GateRecord): GateRecord {
  return record.step_until === null ? record : { ...record, step_until: null };
}

/** A mention was dealt with: that is progress, and the count begins anew. */
export function noteProgress(record: GateRecord): GateRecord {
  return {
    ...record,
    steps: 0,
    step_until: null,
    gave_up: false,
    held_since: null,
    held_told: [],
    prompts: 0,
    prompts_gave_up: false,
  };
}

/** How many further mentions a reason shows in short. */
const IN_SHORT = 3;
/** So many mentions a reason needs to be given; of the rest it says only how many they are. */
export const SHOWN: number = 1 + IN_SHORT;
const FIRST_BODY = 20_000;
const EXCERPT = 120;

/** The first of `count` mentions as the model reads them: one in full, three in short, a count of the rest. */
export function describeMentions(mentions: readonly MentionInFull[], count: number): string {
  const [first, ...rest] = mentions;
  if (first === undefined) return '';
  const urgent = first.priority === 'urgent' ? ' (urgent)' : '';
  const body =
    first.body.length > FIRST_BODY
      ? `${first.body.slice(0, FIRST_BODY).toWellFormed()}… (cut; hivemind_get_unprocessed_mentions returns the whole)`
      : first.body;
  const lines = [`${authorName(first)} mentioned you${urgent} at ${first.at} [${first.mention_id}]:`, body];
  for (const mention of rest.slice(0, IN_SHORT))
    lines.push(`Also ${authorName(mention)} [${mention.mention_id}]: ${excerpt(mention.body, EXCERPT)}`);
  if (count > SHOWN) lines.push(`+${count - SHOWN} more`);
  if (mentions.slice(0, SHOWN).some(({ author }) => author === 'unverified')) lines.push(UNVERIFIED_NOTE);
  return lines.join('\n');
}

/** Those that are told in full by this: what was only named or cut short is still to be read. */
export function toldInFull(mentions: readonly MentionInFull[]): MentionInFull[] {
  const [first, ...rest] = mentions;
  const short = rest.slice(0, IN_SHORT).filter(({ body }) => excerpt(body, EXCERPT) === body);
  return first === undefined ? [] : [first, ...short];
}

/** Why a call was held by `count` mentions, the first of which are given, and the exact call that lets the next one pass. */
export function denialReason(mentions: readonly MentionInFull[], count: number): string {
  const many = count === 1 ? '1 unprocessed mention' : `${count} unprocessed mentions`;
  const ids = JSON.stringify(mentions.slice(0, SHOWN).map((mention) => mention.mention_id));
  return [
    `This call was held: you have ${many} in the shared buffer.`,
    describeMentions(mentions, count),
    `Deal with it first: answer with hivemind_post (reply_to) if an answer is wanted, then call hivemind_process_mentions {"mention_ids": ${ids}}, or {"all": true}. After that your tool calls pass again; nothing has to be repeated.`,
  ].join('\n\n');
}

/** The same as a reminder, where nothing is held. */
export function reminder(mentions: readonly MentionInFull[]): string {
  return `${describeMentions(mentions, mentions.length)}\n\nWhen you have dealt with it call hivemind_process_mentions {"mention_ids": [${mentions
    .slice(0, SHOWN)
    .map((mention) => `"${mention.mention_id}"`)
    .join(', ')}]}.`;
}

/** A command that only looks at and clears mentions, with nothing else a shell would run. */
const MENTIONS_COMMAND = /^\s*hive mentions(?: [\w@:.=/-]+)*\s*$/;

/** Calls the gate never holds: our own tools, the search that may hide them, and the shell command that clears it. */
export function isExempt(tool: { name: string; own: string | null; input: unknown }): boolean {
  if (tool.own !== null || tool.name === 'ToolSearch') return true;
  if (tool.name !== 'Bash') return false;
  const command = (tool.input as { command?: unknown } | null)?.command;
  return typeof command === 'string' && MENTIONS_COMMAND.test(command);
}
