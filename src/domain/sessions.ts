/**
 * Sessions: one agent conversation each. Pure: what a session is, how its handle is made, how it ends.
 */
import { invalidInput } from './errors.ts';
import { foldHandle } from './mention-parser.ts';
import type { OutreachOverrides } from './outreach.ts';
import { decideSource, type Source } from './sources.ts';
import { cleanText, excerpt } from './text.ts';

/** What unprocessed mentions do to a tool call: deny it, only remind, nothing. `urgent` ones also block under remind. */
export type GateMode = 'block' | 'remind' | 'off';

/** `idle`: it runs no turn. `ended`: it is gone; what it asked is still answerable. */
type SessionState = 'active' | 'idle' | 'ended';

/** One agent conversation. Times are ISO-8601 UTC with milliseconds. */
export interface Session {
  /** As its client calls it; `SESSION:AGENT_ID` for a subagent. */
  session_id: string;
  /** What people type: client name and the first characters of the id, `Claude-abc12`. Unique in the store. */
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
  /** Off: not addressed by `@All`, and a named mention of it comes back unresolved. */
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
}

/** The human's handle, which no session can have. */
export const HUMAN_HANDLE = 'Human';
/** Where others have their session: whose the mentions of @Human are. */
export const HUMAN_ADDRESSEE = 'human';

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
 * A new session, alive and active. `handle` has been chosen among `handleCandidates` by who knows what is taken.
 * @throws HiveError `invalid_input` for a session that calls itself the human.
 */
export function startSession(introduction: SessionIntroduction, handle: string, now: string): Session {
  if (introduction.session_id === HUMAN_ADDRESSEE) {
    throw invalidInput(
      `No session may be called "${HUMAN_ADDRESSEE}": that is the human. Set HIVE_AGENT to another name.`,
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
// Names that come near a mistyped one: those it begins, and those at most two slips away.

const MOST = 3;
const SLIPS = 2;
/** Longer than any handle that somebody mistypes; keeps the comparison cheap whatever comes in. */
const LONGEST = 64;

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

function distanceTo(given: string, candidate: string): number {
  if (given.length >= 3 && candidate.startsWith(given)) return 0;
  return editDistance(given, candidate);
}

/** How many characters to add, drop or change (Levenshtein); more than `SLIPS` may be any larger number. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > SLIPS) return SLIPS + 1;
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const change = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(change, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
