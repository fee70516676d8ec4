/**
 * Mentions: one addressee of one message each. Also how the names in a message are resolved, the mention gate,
 * and the loop guard. Pure: no clock, no ids, no I/O.
 *
 *     unprocessed ──▶ processed | expired
 *
 * Reading a mention does not process it: `delivered_at` is a receipt beside the status.
 */

import type { Via } from './actors.ts';
import { HUMAN_ADDRESSEE } from './actors.ts';
import { foldHandle } from './mention-parser.ts';
import { authorKey, authorName, type Message, UNVERIFIED_NOTE } from './messages.ts';
import type { GateMode, NotifyHeld } from './preferences.ts';
import { EVERYONE, HUMAN_HANDLE, nearestNames, type Session, subagentId } from './sessions.ts';
import { labelled, type Source } from './sources.ts';
import { excerpt } from './text.ts';

export type MentionStatus = 'unprocessed' | 'processed' | 'expired';

export interface Mention {
  mention_id: string;
  message_id: string;
  /** The `seq` of the message: its position in the event order. */
  seq: number;
  /** The addressee's session; `HUMAN_ADDRESSEE` for @Human. */
  session_id: string;
  /** The addressee's handle when it was mentioned. */
  handle: string;
  /** The author's session; null for the human; `UNVERIFIED_HANDLE` for an unverified author. */
  from_session_id: string | null;
  priority: Message['priority'];
  /** True when the addressee was named by handle or by role; false when only `@All` reached it. */
  by_name: boolean;
  /** False once the loop guard has tripped for author and addressee: the mention is delivered but blocks nothing. */
  gates: boolean;
  /** How many tool calls it has blocked. */
  denials: number;
  status: MentionStatus;
  created_at: string;
  expires_at: string | null;
  delivered_at: string | null;
  /** What delivered it to the agent: one MCP connection or one hook. */
  carrier: string | null;
  processed_at: string | null;
  processed_by: string | null;
  processed_via: Via | null;
  note: string | null;
}

/** A mention together with the parts of its message that a reader needs. */
export interface MentionInFull extends Mention {
  at: string;
  from_handle: string;
  author: Message['author'];
  as_handle: string | null;
  project: string | null;
  project_dir: string | null;
  thread: string | null;
  reply_to: string | null;
  expects_reply: boolean;
  body: string;
}

/** How many mentions a session has not processed. */
export interface UnprocessedCount {
  count: number;
  /** Those that block tool calls. */
  gating: number;
  /** The urgent ones among the gating. */
  urgent: number;
}

/** Counts of one session's mentions. */
export interface MentionSummary {
  total: number;
  unprocessed: number;
  processed: number;
  expired: number;
  /** How many of the unprocessed ones block tool calls. */
  gating: number;
  denials: number;
}

/** The longest note, in characters, that may accompany processing. */
export const NOTE_LIMIT = 2_000;

/** Somebody a message reaches. */
export interface Addressee {
  session_id: string;
  handle: string;
  /** Named by handle or by role, not only by `@All`. */
  by_name: boolean;
}

/** A new mention of `addressee` in `message`. With `ttl_ms` null it never expires. */
export function createMention(
  message: Message,
  addressee: Addressee,
  { mention_id, gates, ttl_ms }: { mention_id: string; gates: boolean; ttl_ms: number | null },
): Mention {
  const expires = ttl_ms !== null && addressee.session_id !== HUMAN_ADDRESSEE;
  return {
    mention_id,
    message_id: message.message_id,
    seq: message.seq,
    session_id: addressee.session_id,
    handle: addressee.handle,
    from_session_id: authorKey(message),
    priority: message.priority,
    by_name: addressee.by_name,
    gates: gates && addressee.session_id !== HUMAN_ADDRESSEE,
    denials: 0,
    status: 'unprocessed',
    created_at: message.at,
    expires_at: expires ? new Date(Date.parse(message.at) + ttl_ms).toISOString() : null,
    delivered_at: null,
    carrier: null,
    processed_at: null,
    processed_by: null,
    processed_via: null,
    note: null,
  };
}

/** Records that the mention was shown or printed to its addressee. Only the first time counts. */
export function deliverMention<T extends Mention>(mention: T, carrier: string, now: string): T {
  return mention.delivered_at === null ? { ...mention, delivered_at: now, carrier } : mention;
}

/** Marks a mention as processed. One that is processed or expired already is returned unchanged. */
export function processMention<T extends Mention>(
  mention: T,
  { by, via, note }: { by: string; via: Via; note: string | null },
  now: string,
): T {
  if (mention.status !== 'unprocessed') return mention;
  return {
    ...mention,
    status: 'processed',
    processed_at: now,
    processed_by: by,
    processed_via: via,
    note,
  };
}

/** Marks a mention as expired, unless it was processed before. */
export function expireMention<T extends Mention>(mention: T): T {
  return mention.status === 'unprocessed' ? { ...mention, status: 'expired' } : mention;
}

// ---- Resolving names to addressees ----
// A name reaches a session by handle, sessions by role, everyone, or the human. A name that reaches nobody comes
// back with the reason and with similar names.

/** The sessions that can be mentioned: the living ones, and the ended ones whose handle was looked up. */
export interface Directory {
  alive: readonly Session[];
  ended: readonly Session[];
  /** Whether the human has muted mentions between the author and this session. */
  isMuted(session_id: string): boolean;
}

/**
 * `unknown`: nobody has the name. `ended`: its session is gone. `not_shared`: the session takes no mentions from
 * agents. `elsewhere`: only sessions of other projects have the role. `muted`: the human muted this pair.
 * `own_heading`: the message is under a heading that names this session as its author.
 */
type UnresolvedReason = 'unknown' | 'ended' | 'not_shared' | 'elsewhere' | 'muted' | 'own_heading';

export interface Unresolved {
  handle: string;
  reason: UnresolvedReason;
  near: string[];
}

const REASONS: Readonly<Record<UnresolvedReason, string>> = {
  unknown: 'nobody has that name',
  ended: 'that session has ended',
  not_shared: 'that session takes no mentions',
  elsewhere: 'only sessions of other projects have that role; scope "all" reaches them',
  muted: 'the human has muted mentions between these two',
  own_heading: 'the heading names that session as the author',
};

/** The sentence about an unresolved name, for the author of the message. */
export function explainUnresolved({ handle, reason, near }: Unresolved): string {
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((name) => `@${name}`).join(' or ')}?`;
  return `@${handle} reached nobody: ${REASONS[reason]}.${hint}`;
}

export interface Resolution {
  addressees: Addressee[];
  unresolved: Unresolved[];
}

/** Similar names are searched for this many unknown names per message: the search is the only part that is not linear. */
const NEAR_LOOKUPS = 10;

type Origin = Pick<Message, 'session_id' | 'author' | 'as_handle' | 'scope' | 'project_dir'>;

/** Resolves each name. An addressee appears once; never the author, nor the session that the heading names as the author. */
export function resolveMentions(names: readonly string[], message: Origin, directory: Directory): Resolution {
  const index = createNameIndex(message, directory);
  const addressees = new Map<string, Addressee>();
  const unresolved: Unresolved[] = [];
  for (const name of names) {
    const found = index.lookUp(name);
    if (typeof found === 'string') {
      const look = found === 'unknown' && unresolved.length < NEAR_LOOKUPS;
      unresolved.push({ handle: name, reason: found, near: look ? nearestNames(name, index.names) : [] });
      continue;
    }
    for (const addressee of found) {
      const by_name = addressee.by_name || addressees.get(addressee.session_id)?.by_name === true;
      addressees.set(addressee.session_id, { ...addressee, by_name });
    }
  }
  return { addressees: [...addressees.values()], unresolved };
}

interface NameIndex {
  /** The addressees of a name (none when it is the author's own), or the reason why it reaches nobody. */
  lookUp(name: string): Addressee[] | UnresolvedReason;
  names: string[];
}

function createNameIndex(message: Origin, { alive, ended, isMuted }: Directory): NameIndex {
  const handles = new Map(alive.map((session) => [foldHandle(session.handle), session]));
  const gone = new Map(ended.map((session) => [foldHandle(session.handle), session]));
  const roles = Map.groupBy(
    alive.flatMap((session) => session.roles.map((role) => ({ role, session }))),
    ({ role }) => foldHandle(role),
  );
  const continuedBy = new Map(
    [...ended, ...alive].flatMap((session) =>
      session.continues === null ? [] : [[session.continues, session] as const],
    ),
  );
  const isNear = (session: Session): boolean =>
    message.scope === 'all' || session.project_dir === message.project_dir;
  const isAuthor = (session: Session): boolean => session.session_id === message.session_id;
  const headed = message.as_handle === null ? undefined : findNamed(foldHandle(message.as_handle));
  const isHeaded = (session: Session): boolean => session.session_id === headed?.session_id;

  /** The living session with this handle, or the living session that continues the one that had it. */
  function findNamed(key: string): Session | undefined {
    const past = gone.get(key);
    return handles.get(key) ?? (past && successor(past));
  }

  /** The members of a group that accept mentions. Muted ones and the author are left out silently. */
  function reach(group: readonly Session[], by_name: boolean): Addressee[] {
    return group
      .filter(
        (session) =>
          session.shared && !isAuthor(session) && !isHeaded(session) && !isMuted(session.session_id),
      )
      .map(({ session_id, handle }) => ({ session_id, handle, by_name }));
  }

  function lookUpExactly(name: string): Addressee[] | UnresolvedReason {
    const key = foldHandle(name);
    if (key === foldHandle(EVERYONE)) {
      const everyone = alive.filter((one) => isNear(one) && !isSubagent(one) && !isShell(one));
      return reach(everyone, false);
    }
    if (key === foldHandle(HUMAN_HANDLE)) {
      if (message.author === 'human') return [];
      return [{ session_id: HUMAN_ADDRESSEE, handle: HUMAN_HANDLE, by_name: true }];
    }
    // One word may be both a handle and a role of other sessions. Then it reaches all of them.
    const named = byName(key);
    const withRole = byRole(key);
    if (typeof named === 'string') return withRole === 'unknown' ? named : withRole;
    return typeof withRole === 'string' ? named : [...named, ...withRole];
  }

  function byName(key: string): Addressee[] | UnresolvedReason {
    const session = findNamed(key);
    if (session === undefined) return gone.has(key) ? 'ended' : 'unknown';
    if (isAuthor(session)) return [];
    if (isHeaded(session)) return 'own_heading';
    // A session that takes no mentions still gets those of the human who names it.
    if (!session.shared && message.author !== 'human') return 'not_shared';
    if (isMuted(session.session_id)) return 'muted';
    return [{ session_id: session.session_id, handle: session.handle, by_name: true }];
  }

  function byRole(key: string): Addressee[] | UnresolvedReason {
    const sessions = roles.get(key)?.map(({ session }) => session);
    if (sessions === undefined) return 'unknown';
    const near = sessions.filter(isNear);
    return near.length === 0 ? 'elsewhere' : reach(near, true);
  }

  /** The living session that continues an ended one under another id. */
  function successor(past: Session): Session | undefined {
    const seen = new Set<string>();
    let session: Session | undefined = past;
    while (session !== undefined && session.state === 'ended' && !seen.has(session.session_id)) {
      seen.add(session.session_id);
      session = continuedBy.get(session.session_id);
    }
    return session?.state === 'ended' ? undefined : session;
  }

  return {
    lookUp(name) {
      const found = lookUpExactly(name);
      // In scripts without spaces the sentence continues right after the handle: `@Claude-abc12に`.
      const latin = /^[\x21-\x7e]+/.exec(name)?.[0].replace(/[-_]+$/, '') ?? '';
      return found === 'unknown' && latin !== '' && latin !== name ? lookUpExactly(latin) : found;
    },
    names: [
      ...alive.map((session) => session.handle),
      ...new Set(alive.flatMap((session) => session.roles)),
      EVERYONE,
      HUMAN_HANDLE,
    ],
  };
}

/** `@All` leaves subagents out: their session receives it. A subagent is reached by its own handle and roles. */
function isSubagent({ session_id, parent_session_id }: Session): boolean {
  return parent_session_id !== null && session_id.startsWith(subagentId(parent_session_id, ''));
}

/** A shell in which somebody typed `hive ask`: there is no agent to read a mention. */
function isShell({ client }: Session): boolean {
  return client === 'cli';
}

// ---- The mention gate ----
// A tool call is denied until the session has processed its mentions. The gate names the call that clears it, never
// blocks that call, counts its denials and gives up after a bounded number of model steps (invariant 11).

/** The gate's state for one session. */
export interface GateRecord {
  session_id: string;
  /** Model steps blocked in a row without progress; a batch of parallel calls is one step. */
  steps: number;
  /** Denials until this time belong to the step already counted; null once its batch was closed. */
  step_until: string | null;
  /** Denied calls in total. */
  denials: number;
  /** The gate gave up and only reminds until a mention is processed. */
  gave_up: boolean;
  /** Calls were blocked, and the session has not been notified yet that they pass again. */
  held: boolean;
  /** When the first call was blocked since the session last made progress; null when none is blocked. */
  held_since: string | null;
  /** The seats whose human was notified of that. */
  held_notified: string[];
  /** Prompts of the human refused in a row without progress (`gate_prompt`: `block`). */
  prompts: number;
  /** Prompts are let through until a mention is processed. */
  prompts_gave_up: boolean;
}

type GateOpinion = 'pass' | 'remind' | 'deny';

interface GateDecision {
  opinion: GateOpinion;
  record: GateRecord;
  /** The gate gave up with this call: the human must be notified. */
  gave_up_now: boolean;
}

/** The gate gives up after blocking this many steps in a row. */
export const GATE_STEPS = 5;
/** Where no event closes a batch, denials within this time are one step: six parallel calls fired within 47 ms (measured). */
const STEP_MS = 2_000;

/** The state of a gate that has not blocked anything yet. */
export function newGate(session_id: string): GateRecord {
  return {
    session_id,
    steps: 0,
    step_until: null,
    denials: 0,
    gave_up: false,
    held: false,
    held_since: null,
    held_notified: [],
    prompts: 0,
    prompts_gave_up: false,
  };
}

/**
 * Decides one tool call that the gate may block. `can_clear`: the session can make the call that clears the gate;
 * one that cannot is only reminded.
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
    const free = { ...record, gave_up: true, step_until: null, held_since: null, held_notified: [] };
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

interface PromptDecision {
  refused: boolean;
  record: GateRecord;
  /** The gate gave up with this prompt: the human is notified. */
  gave_up_now: boolean;
}

/** The gate lets prompts through after refusing this many in a row. */
export const PROMPT_REFUSALS = 5;

/** Decides one prompt of the human where prompts are blocked. `gating`: how many mentions block. */
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

/** The commands for processing mentions, as typed: the plugin's, and a person's own of the same name. */
const CLEARING_COMMAND = /^\s*\/(?:hive:)?(?:check-mentions|post)(?!\S)/;
/** Some clients report the expanded command instead of what was typed; the expansion names the tool. */
const CLEARING_TOOL = /\bhivemind_(?:(?:has|get)_unprocessed_mentions|process_mentions|post)\b/;

/** Whether this prompt has the agent deal with its mentions. The gate never refuses such a prompt (invariant 11). */
export function clearsMentions(prompt: string): boolean {
  return CLEARING_COMMAND.test(prompt) || CLEARING_TOOL.test(prompt) || MENTIONS_COMMAND.test(prompt);
}

/** The batch of calls is closed: the model reads now, so the next denial is another step. */
export function closeStep(record: GateRecord): GateRecord {
  return record.step_until === null ? record : { ...record, step_until: null };
}

/** A mention was processed: that is progress, so the counts start again. */
export function noteProgress(record: GateRecord): GateRecord {
  return {
    ...record,
    steps: 0,
    step_until: null,
    gave_up: false,
    held_since: null,
    held_notified: [],
    prompts: 0,
    prompts_gave_up: false,
  };
}

/** How many further mentions a reason shows shortened. */
const IN_SHORT = 3;
/** How many mentions a reason shows in all; it only counts the rest. */
export const SHOWN: number = 1 + IN_SHORT;
const FIRST_BODY = 20_000;
const EXCERPT = 120;

/** The mentions as the model reads them: the first in full, three shortened, a count of the rest. `count` is the total. */
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

/** The mentions that `describeMentions` shows in full. Those it shortened or only counted are still to be read. */
export function shownInFull(mentions: readonly MentionInFull[]): MentionInFull[] {
  const [first, ...rest] = mentions;
  const short = rest.slice(0, IN_SHORT).filter(({ body }) => excerpt(body, EXCERPT) === body);
  return first === undefined ? [] : [first, ...short];
}

/** Why a call was denied because of `count` mentions, the first of which are given, and the exact call that clears the gate. */
export function denialReason(mentions: readonly MentionInFull[], count: number): string {
  const many = count === 1 ? '1 unprocessed mention' : `${count} unprocessed mentions`;
  const ids = JSON.stringify(mentions.slice(0, SHOWN).map((mention) => mention.mention_id));
  return [
    `This call was held: you have ${many} in the shared buffer.`,
    describeMentions(mentions, count),
    `Deal with it first: answer with hivemind_post (reply_to) if an answer is wanted, then call hivemind_process_mentions {"mention_ids": ${ids}}, or {"all": true}. After that your tool calls pass again; nothing has to be repeated.`,
  ].join('\n\n');
}

/** The same as a reminder, when nothing is blocked. */
export function reminder(mentions: readonly MentionInFull[]): string {
  return `${describeMentions(mentions, mentions.length)}\n\nWhen you have dealt with it call hivemind_process_mentions {"mention_ids": [${mentions
    .slice(0, SHOWN)
    .map((mention) => `"${mention.mention_id}"`)
    .join(', ')}]}.`;
}

/** A command that only looks at and clears mentions, with nothing else a shell would run. */
const MENTIONS_COMMAND = /^\s*hive mentions(?: [\w@:.=/-]+)*\s*$/;

/** Calls the gate never blocks: our own tools, the search that may hide them, and the shell command that clears the gate. */
export function isExempt(tool: { name: string; own: string | null; input: unknown }): boolean {
  if (tool.own !== null || tool.name === 'ToolSearch') return !globalThis.SABOTAGE?.('own-call-held');
  if (tool.name !== 'Bash') return false;
  const command = (tool.input as { command?: unknown } | null)?.command;
  return typeof command === 'string' && MENTIONS_COMMAND.test(command);
}

/** An agent whose tool calls the gate blocks, as a notice shows it. */
export interface HeldAgent {
  session_id: string;
  handle: string;
  source: Source;
  project: string;
  /** The mention that blocks it (the most urgent of several), and who wrote it. */
  mention_id: string;
  from_handle: string;
  since: string;
}

/** When to notify a seat of a blocked agent; null when never, or when it was notified already. */
export function heldNoticeAt(
  { held_since, held_notified }: Pick<GateRecord, 'held_since' | 'held_notified'>,
  seat: string,
  when: NotifyHeld,
): string | null {
  if (held_since === null || when === 'never' || held_notified.includes(seat)) return null;
  return new Date(Date.parse(held_since) + when * 1_000).toISOString();
}

/** The gate's state once a call of a turn that began at `started_at` is blocked: a block in an earlier turn does not count. */
export function holdOfTurn(record: GateRecord, started_at: string | null): GateRecord {
  const { held_since } = record;
  if (held_since === null || started_at === null || started_at <= held_since) return record;
  return { ...record, held_since: null, held_notified: [] };
}

const NAMED = 5;

/** One sentence for all blocked agents, however many there are. `clock` formats a time for the human. */
export function heldSentence(agents: readonly HeldAgent[], clock: (time: string) => string): string {
  const [only] = agents;
  if (only !== undefined && agents.length === 1)
    return `${labelled(only)} (${only.project}) has been held since ${clock(only.since)} by a mention from ${only.from_handle}. Its tools wait until it processes the mention.`;
  const named = agents
    .slice(0, NAMED)
    .map((agent) => `${labelled(agent)} since ${clock(agent.since)} by ${agent.from_handle}`);
  if (agents.length > NAMED) named.push(`${agents.length - NAMED} more`);
  return `${agents.length} agents are held by mentions: ${named.join(', ')}.`;
}

// ---- The loop guard (docs/mentions.md) ----
// Agents that keep answering each other without a human message in between are still delivered to each other, but
// no longer block each other. The counts are given; the decision comes back.

/** A reply chain longer than this, counted since the last human message, is a loop. */
export const MOST_HOPS = 8;
/** More mentions than this between the same two agents within `PAIR_WINDOW_MS` are a loop. */
export const MOST_MENTIONS = 6;
const PAIR_WINDOW_MS = 5 * 60 * 1000;

/** Two sessions, in the one order that makes (a, b) and (b, a) the same pair. */
export interface Pair {
  first_session_id: string;
  second_session_id: string;
}

/** The loop state of a pair. `tripped`: its mentions no longer gate. `muted`: the human wants none delivered. */
export interface Loop extends Pair {
  state: 'tripped' | 'muted';
  at: string;
  /** The `seq` of the newest message at that time. */
  seq: number;
  reason: string;
}

/** The pair of two sessions, in its one order. */
export function pairOf(a: string, b: string): Pair {
  return a < b
    ? { first_session_id: a, second_session_id: b }
    : { first_session_id: b, second_session_id: a };
}

/** The hop count of an agent's answer to `parent`. It starts again once a human has posted; `spoke` is the newest `seq` at that time. */
export function hopsAfter(parent: { hops: number; seq: number } | null, spoke: number): number {
  if (parent === null) return 0;
  return spoke >= parent.seq ? 1 : parent.hops + 1;
}

/** The start of the time window in which a pair's mentions count. */
export function windowBefore(now: string): string {
  return new Date(Date.parse(now) - PAIR_WINDOW_MS).toISOString();
}

/** Why a further mention between two agents must not gate; null when it may. `before` counts the earlier ones. */
export function loopReason({ hops, before }: { hops: number; before: number }): string | null {
  if (hops > MOST_HOPS) return `a chain of ${hops} replies`;
  if (before + 1 > MOST_MENTIONS) return `${before + 1} mentions of each other within 5 minutes`;
  return null;
}

/** Whether the human was already notified of this loop. A loop from before their last message is a different one. */
export function isLoopNotified(loop: Loop | undefined, spoke: number): boolean {
  return loop !== undefined && loop.state === 'tripped' && loop.seq > spoke;
}
