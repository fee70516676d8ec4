/**
 * Mentions: one addressee of a message each, and its life. Pure.
 *
 *     unprocessed ──▶ processed | expired
 *
 * Reading a mention is not processing it: `delivered_at` is a receipt beside the status.
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
  /** The message's place in the one order. */
  seq: number;
  /** The addressee's session; `HUMAN_ADDRESSEE` for @Human. */
  session_id: string;
  /** The addressee's handle when it was mentioned. */
  handle: string;
  /** The author's session; null for the human; `UNVERIFIED_HANDLE` for whoever is unverified. */
  from_session_id: string | null;
  priority: Message['priority'];
  /** Its addressee was named, by handle or by role; false for one that only `@All` reached. */
  by_name: boolean;
  /** False once the loop guard has tripped for author and addressee: it is delivered and blocks nothing. */
  gates: boolean;
  /** How many tool calls it has held up. */
  denials: number;
  status: MentionStatus;
  created_at: string;
  expires_at: string | null;
  delivered_at: string | null;
  /** What carried it into the agent: one MCP connection, one hook. */
  carrier: string | null;
  processed_at: string | null;
  processed_by: string | null;
  processed_via: Via | null;
  note: string | null;
}

/** A mention with what its reader wants of the message. */
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

/** What a session has to deal with. */
export interface UnprocessedCount {
  count: number;
  /** Those that hold up tool calls. */
  gating: number;
  /** Those of the gating ones that are urgent. */
  urgent: number;
}

/** Mentions of one session in numbers. */
export interface MentionSummary {
  total: number;
  unprocessed: number;
  processed: number;
  expired: number;
  /** How many of the unprocessed ones hold up tool calls. */
  gating: number;
  denials: number;
}

export const NOTE_LIMIT = 2_000;

export interface Addressee {
  session_id: string;
  handle: string;
  /** Named by handle or by role, not only reached by `@All`. */
  by_name: boolean;
}

/** A new mention of `addressee` in `message`. `ttl_ms` null: it never expires. */
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

/** Shown or printed to its addressee. The first time counts. */
export function deliverMention<T extends Mention>(mention: T, carrier: string, now: string): T {
  return mention.delivered_at === null ? { ...mention, delivered_at: now, carrier } : mention;
}

/** Dealt with. One that is processed or expired stays as it is. */
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

/** Its time ran out before anybody dealt with it. */
export function expireMention<T extends Mention>(mention: T): T {
  return mention.status === 'unprocessed' ? { ...mention, status: 'expired' } : mention;
}

/** What there is to be mentioned: the living, and those ended sessions whose handle was looked up. */
export interface Directory {
  alive: readonly Session[];
  ended: readonly Session[];
  /** Whether the human has muted mentions between the author and this session. */
  isMuted(session_id: string): boolean;
}

/**
 * `unknown`: nobody has the name. `ended`: its session is gone. `not_shared`: it takes no mentions of agents.
 * `elsewhere`: only sessions of other projects carry the role. `muted`: the human stopped this pair.
 * `own_heading`: the message stands under the heading of that session.
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
  elsewhere: 'only sessions of other projects have that role, which scope "all" reaches',
  muted: 'the human has muted mentions between these two',
  own_heading: 'the heading names that session as the author',
};

/** The sentence that an author reads. */
export function explainUnresolved({ handle, reason, near }: Unresolved): string {
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((name) => `@${name}`).join(' or ')}?`;
  return `@${handle} reached nobody: ${REASONS[reason]}.${hint}`;
}

export interface Resolution {
  addressees: Addressee[];
  unresolved: Unresolved[];
}

/** Near names are looked for this often a message: it is the only part that is not linear. */
const NEAR_LOOKUPS = 10;

type Origin = Pick<Message, 'session_id' | 'author' | 'as_handle' | 'scope' | 'project_dir'>;

/** Each addressee once; never the author, nor the session that the heading names as the author. */
export function resolveMentions(names: readonly string[], message: Origin, directory: Directory): Resolution {
  const book = createBook(message, directory);
  const addressees = new Map<string, Addressee>();
  const unresolved: Unresolved[] = [];
  for (const name of names) {
    const found = book.lookUp(name);
    if (typeof found === 'string') {
      const look = found === 'unknown' && unresolved.length < NEAR_LOOKUPS;
      unresolved.push({ handle: name, reason: found, near: look ? nearestNames(name, book.names) : [] });
      continue;
    }
    for (const addressee of found) {
      const by_name = addressee.by_name || addressees.get(addressee.session_id)?.by_name === true;
      addressees.set(addressee.session_id, { ...addressee, by_name });
    }
  }
  return { addressees: [...addressees.values()], unresolved };
}

interface Book {
  /** The addressees of a name, which may be none (the author alone), or why there are none. */
  lookUp(name: string): Addressee[] | UnresolvedReason;
  names: string[];
}

function createBook(message: Origin, { alive, ended, isMuted }: Directory): Book {
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
  const headed = message.as_handle === null ? undefined : named(foldHandle(message.as_handle));
  const isHeaded = (session: Session): boolean => session.session_id === headed?.session_id;

  /** The living session of a handle, also where it goes on from the one that had it. */
  function named(key: string): Session | undefined {
    const past = gone.get(key);
    return handles.get(key) ?? (past && successor(past));
  }

  /** Those of a group who want mentions; of the muted and the author nothing is said. */
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
    // One word may be both: the name of a session, and the role of others. Then it reaches them all.
    const bearer = byName(key);
    const carriers = byRole(key);
    if (typeof bearer === 'string') return carriers === 'unknown' ? bearer : carriers;
    return typeof carriers === 'string' ? bearer : [...bearer, ...carriers];
  }

  function byName(key: string): Addressee[] | UnresolvedReason {
    const session = named(key);
    if (session === undefined) return gone.has(key) ? 'ended' : 'unknown';
    if (isAuthor(session)) return [];
    if (isHeaded(session)) return 'own_heading';
    // A session that takes no mentions still hears the human who calls it by name.
    if (!session.shared && message.author !== 'human') return 'not_shared';
    if (isMuted(session.session_id)) return 'muted';
    return [{ session_id: session.session_id, handle: session.handle, by_name: true }];
  }

  function byRole(key: string): Addressee[] | UnresolvedReason {
    const carriers = roles.get(key)?.map((carrier) => carrier.session);
    if (carriers === undefined) return 'unknown';
    const near = carriers.filter(isNear);
    return near.length === 0 ? 'elsewhere' : reach(near, true);
  }

  /** The living session that goes on from one that has ended under another id. */
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
      // In scripts without spaces the sentence goes on right behind the handle: `@Claude-abc12に`.
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

/** A subagent is reached by its own handle and roles; what everyone is told, its session is told. */
function isSubagent({ session_id, parent_session_id }: Session): boolean {
  return parent_session_id !== null && session_id.startsWith(subagentId(parent_session_id, ''));
}

/** A shell in which somebody typed `hive ask`: there is no agent that would read it. */
function isShell({ client }: Session): boolean {
  return client === 'cli';
}

// ---------------------------------------------------------------------------
// The mention gate: a tool call waits until the session has dealt with what was said to it. Pure. It names
// the call that clears it, never holds that call, counts what it did and gives up after a bounded number of
// model steps (invariant 11).

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
  /** Prompts of the human refused in a row without progress (`gate_prompt`: `block`). */
  prompts: number;
  /** Prompts are let through, until a mention is processed. */
  prompts_gave_up: boolean;
}

type GateOpinion = 'pass' | 'remind' | 'deny';

interface GateDecision {
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

interface PromptDecision {
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
  if (tool.own !== null || tool.name === 'ToolSearch') return !globalThis.SABOTAGE?.('own-call-held');
  if (tool.name !== 'Bash') return false;
  const command = (tool.input as { command?: unknown } | null)?.command;
  return typeof command === 'string' && MENTIONS_COMMAND.test(command);
}

export interface HeldAgent {
  session_id: string;
  handle: string;
  source: Source;
  project: string;
  /** The mention that holds it, the most urgent of several, and who wrote it. */
  mention_id: string;
  from_handle: string;
  since: string;
}

/** When a seat is to be notified of a hold; null for never, or when it was. */
export function heldNoticeAt(
  { held_since, held_told }: Pick<GateRecord, 'held_since' | 'held_told'>,
  seat: string,
  when: NotifyHeld,
): string | null {
  if (held_since === null || when === 'never' || held_told.includes(seat)) return null;
  return new Date(Date.parse(held_since) + when * 1_000).toISOString();
}

/** What the gate remembers once a turn that began at `started_at` is held: a hold of an earlier turn is another one. */
export function holdOfTurn(record: GateRecord, started_at: string | null): GateRecord {
  const { held_since } = record;
  if (held_since === null || started_at === null || started_at <= held_since) return record;
  return { ...record, held_since: null, held_told: [] };
}

const NAMED = 5;

/** One sentence for all that are held, however many these are. `clock` gives a time as the human reads it. */
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

// ---------------------------------------------------------------------------
// The loop guard (docs/mentions.md): agents that keep answering each other without a human word in between
// are still heard, but no longer hold each other up. Pure: counts are given, the verdict comes back.

/** A reply chain longer than this, counted since the last human word, is a loop. */
export const MOST_HOPS = 8;
/** More mentions than this between the same two agents within `PAIR_WINDOW_MS` are a loop. */
export const MOST_MENTIONS = 6;
const PAIR_WINDOW_MS = 5 * 60 * 1000;

/** Two sessions, in the one order that makes (a, b) and (b, a) the same pair. */
export interface Pair {
  first_session_id: string;
  second_session_id: string;
}

/** What is remembered of a pair. `tripped`: mentions no longer gate. `muted`: the human wants none delivered. */
export interface Loop extends Pair {
  state: 'tripped' | 'muted';
  at: string;
  /** The last message then. */
  seq: number;
  reason: string;
}

export function pairOf(a: string, b: string): Pair {
  return a < b
    ? { first_session_id: a, second_session_id: b }
    : { first_session_id: b, second_session_id: a };
}

/** The hop count of an agent's answer to `parent`: it begins anew where a human has spoken since, `spoke` being the last message then. */
export function hopsAfter(parent: { hops: number; seq: number } | null, spoke: number): number {
  if (parent === null) return 0;
  return spoke >= parent.seq ? 1 : parent.hops + 1;
}

/** From when on mentions of a pair count. */
export function windowBefore(now: string): string {
  return new Date(Date.parse(now) - PAIR_WINDOW_MS).toISOString();
}

/** Why a further mention between two agents must not gate; null when it may. `before` counts those that came earlier. */
export function loopReason({ hops, before }: { hops: number; before: number }): string | null {
  if (hops > MOST_HOPS) return `a chain of ${hops} replies`;
  if (before + 1 > MOST_MENTIONS) return `${before + 1} mentions of each other within 5 minutes`;
  return null;
}

/** Whether the human has been told of this loop already: a loop from before their last word is another one. */
export function isTold(loop: Loop | undefined, spoke: number): boolean {
  return loop !== undefined && loop.state === 'tripped' && loop.seq > spoke;
}
