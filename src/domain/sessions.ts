/**
 * Sessions: one agent conversation each. Pure: what a session is, how its handle is made, how it ends.
 */
import type { Actor } from './actors.ts';
import { HUMAN_ADDRESSEE } from './actors.ts';
import { invalidInput } from './errors.ts';
import { foldHandle } from './mention-parser.ts';
import type { OutreachChanges, OutreachOverrides } from './outreach.ts';
import type { GateMode } from './preferences.ts';
import { decideSource, type Source } from './sources.ts';
import { cleanText, excerpt } from './text.ts';

/** `idle`: it runs no turn. `ended`: it is gone; what it asked is still answerable. */
type SessionState = 'active' | 'idle' | 'ended';

/** One agent conversation. Times are ISO-8601 UTC with milliseconds. */
export interface Session {
  /** As its client calls it; `SESSION:AGENT_ID` for a subagent. */
  session_id: string;
  /** What people type: its given name, else client name and first characters of the id, `Claude-abc12`. Unique in the store. */
  handle: string;
  /** Name of the client program as it gave it (`claude-code`, `codex`, …). */
  client: string;
  /** Where it runs. */
  source: Source;
  /** The human has set the source: nothing else changes it. */
  source_fixed: boolean;
  /** Short name of the project, for people; `project_dir` is the identity. */
  project: string;
  /** The git common directory, else the directory of the project. */
  project_dir: string;
  /** Of git; null where there is none. */
  branch: string | null;
  /** The session that started it; null for one that a person started. */
  parent_session_id: string | null;
  /** The session this one goes on from under a new id (/clear). */
  continues: string | null;
  /** The name of its machine; `token:NAME` for one that comes over HTTP. */
  machine: string;
  /** The client's own process, as far as known: what a sweep of the same machine looks for. */
  pid: number | null;
  /** Off: not addressed by `@All` or a role, and an agent's mention of it by name comes back unresolved. */
  shared: boolean;
  /** `@reviewer` reaches the sessions that carry the role `reviewer`. */
  roles: string[];
  /** How unprocessed mentions hold its tool calls; null follows the global setting. */
  gate: GateMode | null;
  /** What of the outreach settings the human has set for it alone. */
  outreach: OutreachOverrides;
  /** Whether it lives. */
  state: SessionState;
  /** When it introduced itself first. */
  started_at: string;
  /** When it was heard of last. */
  last_seen_at: string;
  /** When it ended; null while it lives. */
  ended_at: string | null;
  /** The last time a hook spoke for it; null: its client has no hooks of ours. */
  hooks_seen_at: string | null;
}

/** How the rest of the system calls somebody who has just introduced itself. */
export interface SessionIntroduction {
  session_id: string;
  client: string;
  source: Source;
  project: string;
  project_dir: string;
  branch: string | null;
  parent_session_id: string | null;
  machine: string;
  pid: number | null;
  /** What its person calls it (`HIVE_AGENT`): its handle, if it is free. */
  name?: string | null | undefined;
}

/** The human's handle, which no session can have. */
export const HUMAN_HANDLE = 'Human';
/** The handle of an author who did not prove to be the one in the heading; no session can have it. */
export const UNVERIFIED_HANDLE = 'unverified';

const CLIENT_PREFIX: readonly (readonly [RegExp, string])[] = [
  [/claude/i, 'Claude'],
  [/codex/i, 'Codex'],
  // A person's own shell (cli/caller.ts), when it asks.
  [/^cli$/, 'Shell'],
];

/** `Claude`, `Codex`, or `Agent` for any other client. */
function handlePrefix(client: string): string {
  return CLIENT_PREFIX.find(([pattern]) => pattern.test(client))?.[1] ?? 'Agent';
}

/**
 * The handles a session may have, best first: five characters of its id, then one more at a time.
 * A subagent's id is `SESSION:AGENT_ID`; its handle comes from the agent's part. A caller without
 * identity is its connection, `connection-…`.
 */
export function* handleCandidates(client: string, session_id: string): Generator<string> {
  const own = session_id.slice(session_id.lastIndexOf(':') + 1).replace(/^(connection|cli)-/, '');
  // Whole characters: half of a surrogate pair would be no text.
  const characters = Array.from(cleanText(own).replace(/[^\p{L}\p{N}]/gu, '') || 'x');
  const prefix = handlePrefix(client);
  for (let length = Math.min(5, characters.length); length <= characters.length; length += 1) {
    yield `${prefix}-${characters.slice(0, length).join('')}`;
  }
  for (let n = 2; ; n += 1) yield `${prefix}-${characters.join('')}-${n}`;
}

/**
 * A new session, alive and active. `handle` has been chosen by who knows what is taken.
 * @throws HiveError `invalid_input` for a session that calls itself the human, or unverified.
 */
export function startSession(
  { name: _, ...introduction }: SessionIntroduction,
  handle: string,
  now: string,
): Session {
  if (introduction.session_id === HUMAN_ADDRESSEE) {
    throw invalidInput(
      `No session may be called "${HUMAN_ADDRESSEE}": that is the human. Set HIVE_AGENT to another name.`,
    );
  }
  if (introduction.session_id.toLowerCase() === UNVERIFIED_HANDLE) {
    throw invalidInput(
      `No session may be called "${UNVERIFIED_HANDLE}": that marks messages whose author is not known. Set HIVE_AGENT to another name.`,
    );
  }
  return {
    ...introduction,
    project: excerpt(cleanText(introduction.project), 100),
    project_dir: cleanText(introduction.project_dir),
    handle,
    continues: null,
    shared: true,
    roles: [],
    gate: null,
    source_fixed: false,
    outreach: {},
    state: 'active',
    started_at: now,
    last_seen_at: now,
    ended_at: null,
    hooks_seen_at: null,
  };
}

/** The source of a session that is known, given what it is told now. Where hooks speak for it, they say when a run begins. */
export function sourceAfter(known: Session, told: Source): Source {
  const begins = known.state === 'ended' && known.hooks_seen_at === null;
  return decideSource({
    corrected: known.source_fixed ? known.source : null,
    standing: begins ? null : known.source,
    told,
  });
}

/** Whether this introduction says nothing new of a session that is alive. */
export function stands(known: Session, introduction: SessionIntroduction): boolean {
  return known.state !== 'ended' && isSame(known, introduction);
}

/** What an introduction may correct on a session that is known already. */
function isSame(known: Session, given: SessionIntroduction): boolean {
  return (
    known.pid === given.pid &&
    known.source === sourceAfter(known, given.source) &&
    known.project_dir === given.project_dir &&
    known.machine === given.machine
  );
}

/** Whether a machine is one that comes over HTTP: `token:NAME`, after the token that it came with. */
export function isRemote(machine: string): boolean {
  return machine.startsWith('token:');
}

/** A subagent is a session of its own: `SESSION:AGENT_ID`. */
export function subagentId(session_id: string, agent_id: string): string {
  return `${session_id}:${agent_id}`;
}

/** The session in whose process this one runs: a subagent's parent, else itself. */
export function hostOf({
  session_id,
  parent_session_id,
}: Pick<Session, 'session_id' | 'parent_session_id'>): string {
  return parent_session_id !== null && session_id.startsWith(subagentId(parent_session_id, ''))
    ? parent_session_id
    : session_id;
}

/** What a client calls this conversation: a subagent's own id, else the session's. */
export function threadOf(session: Pick<Session, 'session_id' | 'parent_session_id'>): string {
  const host = hostOf(session);
  return host === session.session_id ? host : session.session_id.slice(host.length + 1);
}

/** Whether a subagent is part of what its parent does now. All that a headless run starts carries its `bg`: that says nothing. */
export function runsInside(child: Session, parent: Session): boolean {
  const detached = child.source === 'bg' && parent.source !== 'bg';
  return hostOf(child) === parent.session_id && child.session_id !== parent.session_id && !detached;
}

// ---------------------------------------------------------------------------
// Names: the handle that a person gives a session (`HIVE_AGENT`), and which session the first letters of a handle
// mean. Pure; who has which handle is given. Handles made from a client's session id are in sessions.ts.

/** In characters. What is longer is cut here. */
const LONGEST_NAME = 40;

/**
 * The handle for a given name: the name itself where it is one word that a mention can spell. Any other run of
 * characters becomes one dash. Null for a name without a letter or digit.
 */
export function givenHandle(name: string): string | null {
  const word = cleanText(name)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}_-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '');
  const handle = Array.from(word)
    .slice(0, LONGEST_NAME)
    .join('')
    .replace(/[-_]+$/, '');
  return handle === '' ? null : handle;
}

/** The name itself, then `-2`, `-3` … for further living sessions that were given it. */
export function* givenCandidates(base: string): Generator<string> {
  yield base;
  for (let n = 2; ; n += 1) yield `${base}-${n}`;
}

/** `@Human` and `@All` reach others than a session of that name. */
export function isReserved(handle: string): boolean {
  return [HUMAN_HANDLE, EVERYONE].some((name) => foldHandle(name) === foldHandle(handle));
}

/** Whether this handle was made of that name: the name itself, or with a number. */
export function isNamed(handle: string, base: string): boolean {
  const [given, name] = [foldHandle(handle), foldHandle(base)];
  return given === name || (given.startsWith(`${name}-`) && /^\d+$/.test(given.slice(name.length + 1)));
}

/** Whether a session has its handle from its id: such a handle is never passed on. */
export function hasOwnHandle({
  client,
  session_id,
  handle,
}: Pick<Session, 'client' | 'session_id' | 'handle'>) {
  const first = handleCandidates(client, session_id).next().value;
  return first !== undefined && handle.startsWith(first);
}

/** What a person reads whose session is not called as they said; null where it is. */
export function explainHandle(name: string, handle: string): string | null {
  if (handle === name) return null;
  const base = givenHandle(name);
  if (base === null) return `HIVE_AGENT is "${name}", which has no letter or digit: the handle is ${handle}.`;
  if (isReserved(base))
    return `HIVE_AGENT is "${name}", but @${name} means somebody else: the handle is ${handle}.`;
  if (!isNamed(handle, base))
    return `HIVE_AGENT is "${name}", but the handle is ${handle}: the name belongs to the session that started this one, or this one had a handle before.`;
  if (handle !== base)
    return `HIVE_AGENT is "${name}", and another living session has that name: the handle is ${handle}.`;
  return `HIVE_AGENT is "${name}": the handle is ${handle}, because a handle has letters, digits, - and _ only, at most ${LONGEST_NAME}.`;
}

/** A handle, and whether its session is alive. */
export interface HeldHandle {
  session_id: string;
  handle: string;
  alive: boolean;
}

/** Which of them a text means: a whole handle in any case, else the only one that it begins; the living come first. */
export function matchHandle(
  text: string,
  held: readonly HeldHandle[],
): { found: HeldHandle } | { ambiguous: string[] } | { near: string[] } {
  const typed = foldHandle(text.replace(/^@/, ''));
  const exact = held.filter(({ handle }) => foldHandle(handle) === typed);
  const living = exact.find(({ alive }) => alive) ?? exact[0];
  if (living !== undefined) return { found: living };
  const begun = typed === '' ? [] : held.filter(({ handle }) => foldHandle(handle).startsWith(typed));
  const alive = begun.filter((one) => one.alive);
  const choice = alive.length > 0 ? alive : begun;
  if (choice.length > 1) return { ambiguous: choice.map(({ handle }) => handle).sort() };
  if (choice[0] !== undefined) return { found: choice[0] };
  const names = held.filter((one) => one.alive).map(({ handle }) => handle);
  return { near: nearestNames(typed, names) };
}

const SHOWN = 5;

/** The sentence for a text that begins several handles. */
export function explainAmbiguous(text: string, handles: readonly string[]): string {
  const more = handles.length > SHOWN ? ` and ${handles.length - SHOWN} more` : '';
  return `"${text}" begins ${handles.length} handles: ${handles.slice(0, SHOWN).join(', ')}${more}. Type more of the one you mean.`;
}

// ---------------------------------------------------------------------------
// Names that come near a mistyped one: those it begins, those at most two slips away, and those it begins but for a slip.

const MOST = 3;
const SLIPS = 2;
/** Longer than any handle that somebody mistypes; keeps the comparison cheap whatever comes in. */
const LONGEST = 64;
/** Fewer characters begin too many names. */
const BEGINNING = 3;
/** From here on the beginning of a name may have a slip, and one name may be another's beginning. */
const LONG_BEGINNING = 5;

/** The nearest first, at most three. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const given = foldHandle(name);
  if (given.length > LONGEST) return [];
  return names
    .map((candidate) => ({ candidate, distance: distanceTo(given, foldHandle(candidate)) }))
    .filter(({ distance }) => distance <= SLIPS)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST)
    .map(({ candidate }) => candidate);
}

/** A beginning with a slip in it counts as two slips: whole names come first. */
function distanceTo(given: string, candidate: string): number {
  if (given.length >= BEGINNING && candidate.startsWith(given)) return 0;
  if (candidate.length >= LONG_BEGINNING && given.startsWith(candidate)) return 1;
  const row = lastRow(given, candidate.slice(0, LONGEST));
  const whole = candidate.length > LONGEST ? SLIPS + 1 : (row.at(-1) ?? 0);
  // The last character typed is one of the name's: else all that begin alike would come near.
  const begins =
    given.length >= LONG_BEGINNING &&
    row.some((slips, column) => slips <= 1 && candidate[column - 1] === given.at(-1));
  return Math.min(whole, begins ? SLIPS : SLIPS + 1);
}

/** How many characters to add, drop or change (Levenshtein); more than `SLIPS` may be any larger number. */
export function editDistance(from: string, to: string): number {
  return Math.abs(from.length - to.length) > SLIPS ? SLIPS + 1 : (lastRow(from, to).at(-1) ?? 0);
}

/** How many characters to add, drop or change (Levenshtein) to get to each beginning of `to`. */
function lastRow(from: string, to: string): number[] {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const change = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(change, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row;
}

// ---------------------------------------------------------------------------
// What is set for one session, and who may: a human anything, an agent what is its own and loosens nothing. Pure.

/** What can be set for a session; what is left out stays. */
export interface SessionChanges extends OutreachChanges {
  shared?: boolean | undefined;
  roles?: readonly string[] | undefined;
  gate?: GateMode | null | undefined;
  /** Holds until it is taken back with null; then what the session's client tells counts again. */
  source?: Source | null | undefined;
}

/** A role is written as a mention is: `@reviewer`. */
export const ROLE: RegExp = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,49}$/u;
export const ROLE_SENTENCE = 'A role is one word of letters, digits, - and _, as in reviewer.';

/** @throws HiveError `invalid_input` for a role that no mention could reach. */
export function checkRoles(roles: readonly string[]): void {
  for (const role of roles) {
    if (!ROLE.test(role)) throw invalidInput(`"${role}" is no role. ${ROLE_SENTENCE}`);
    if (isReserved(role)) throw invalidInput(`"${role}" is no role: @${role} reaches others already.`);
  }
}

/** The settings that a change touches. */
export function settingsIn(changes: SessionChanges): string[] {
  return Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([setting]) => setting);
}

/** Why a setting is the human's, for an agent that would change its own. Mentions by the human arrive in any case. */
const THE_HUMANS: Readonly<Record<string, string>> = {
  gate: 'the gate holds an agent until it has dealt with what was written to it',
  source: 'the source decides how much an agent may send unasked, and what it must report',
};
const OF_AGENTS: ReadonlySet<string> = new Set(['shared', 'roles']);

/** What is known of the session and the others when an agent wants to change it. */
export interface Standing {
  session: Session;
  /** Which settings a human has set for it, with the name of that human. */
  setByHuman: ReadonlyMap<string, string>;
  /** The handles of the other sessions. */
  others: readonly string[];
}

/** Why this actor may not make these changes, as a sentence; null when it may. */
export function refusalToSet(
  actor: Actor,
  changes: SessionChanges,
  { session, setByHuman, others }: Standing,
): string | null {
  if (actor.kind !== 'agent') return null;
  if (actor.session_id !== session.session_id)
    return `An agent changes only its own settings, and ${session.handle} is another session. Ask your human.`;
  for (const setting of settingsIn(changes)) {
    if (!OF_AGENTS.has(setting)) {
      const why = THE_HUMANS[setting] ?? 'it limits what an agent may send unasked';
      return `Only a human changes "${setting}": ${why}. Ask your human, who can do it in Emacs (M-x hive-sessions, c) or in a terminal (hive sessions set ${session.handle} …). Nothing was changed.`;
    }
    const human = setByHuman.get(setting);
    if (human !== undefined)
      return `${human} has set "${setting}" for you, and only a human changes it again. Nothing was changed.`;
  }
  const taken = changes.roles?.find((role) => others.some((name) => foldHandle(name) === foldHandle(role)));
  if (taken !== undefined)
    return `"${taken}" is the handle of another session: you would get its mentions. Choose another role.`;
  return null;
}

// ---------------------------------------------------------------------------
// Whom the names in a message reach: sessions by handle, sessions by role, everyone, the human. Pure: who is
// there is given. What reaches nobody comes back with the reason and the names that come near.

export const EVERYONE = 'All';
