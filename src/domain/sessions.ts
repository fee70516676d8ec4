/**
 * Sessions: one agent conversation each. What a session is, how it gets its handle, and who may change its
 * settings. Pure: no clock, no ids, no I/O.
 */
import type { Actor } from './actors.ts';
import { HUMAN_ADDRESSEE } from './actors.ts';
import { isHidden, skeletonOf } from './display.ts';
import { HiveError, invalidInput } from './errors.ts';
import { objectInText, type Raw } from './json.ts';
import { foldHandle } from './mention-parser.ts';
import type { OutreachChanges, OutreachOverrides } from './outreach.ts';
import type { GateMode } from './preferences.ts';
import { decideSource, type Source } from './sources.ts';
import { cleanText, excerpt, onDemand } from './text.ts';

/** `idle`: it has no current turn. `ended`: it is gone; what it asked is still answerable. */
type SessionState = 'active' | 'idle' | 'ended';

/** How a session notices new messages of the room that do not mention it: not at all, by their number, or with the beginning of each. */
export const ROOM_MODES = ['off', 'count', 'text'] as const;
export type RoomMode = (typeof ROOM_MODES)[number];

/** One agent conversation. Times are ISO-8601 UTC with milliseconds. */
export interface Session {
  /** The client's id of it; `SESSION:AGENT_ID` for a subagent. */
  session_id: string;
  /** The name that people type: its given name, else the client's name and the first characters of the id, `Claude-abc12`. Unique in the store. */
  handle: string;
  /** The name that people see: one of the four below, or a number after it; its handle if there is none. Unique among the living. */
  title: string;
  /** The name that its person gave it (`HIVE_AGENT`, `hive sessions set`). */
  name: string | null;
  /** Its client's own title: the one of /rename, else the one that the client generated. A subagent's: its type. */
  client_title: string | null;
  /** The beginning of the first prompt of a person. */
  first_words: string | null;
  /** Name of the client program as the client reported it (`claude-code`, `codex`, …). */
  client: string;
  /** Where it runs. */
  source: Source;
  /** True when the human set the source: nothing else changes it then. */
  source_fixed: boolean;
  /** Short name of the project, for people; `project_dir` is the identity. */
  project: string;
  /** The git common directory, else the directory of the project. */
  project_dir: string;
  /** The git branch; null where there is none. */
  branch: string | null;
  /** The session that started it; null for one that a person started. */
  parent_session_id: string | null;
  /** The session that this one continues under a new id (/clear). */
  continues: string | null;
  /** The name of its machine; `token:NAME` for a session that connects over HTTP. */
  machine: string;
  /** The client's own process, if known: a sweep on the same machine looks for it. */
  pid: number | null;
  /** The shell in whose terminal a session without a client process was used last. */
  shell_pid: number | null;
  /** False: not addressed by `@All` or a role, and an agent's mention of it by name comes back unresolved. */
  shared: boolean;
  /** `@reviewer` reaches the sessions that carry the role `reviewer`. */
  roles: string[];
  /** How unprocessed mentions hold its tool calls; null follows the global setting. */
  gate: GateMode | null;
  /** How it notices new messages of the room that do not mention it; null follows the default (room.ts). */
  room: RoomMode | null;
  /** The `seq` of the newest message of the room that it has read; null while it has neither posted nor been mentioned. */
  room_read: number | null;
  /** Its next hook has something to say about the room: newer messages, or a mention that has expired. */
  room_news: boolean;
  /** The outreach settings that the human set for this session alone. */
  outreach: OutreachOverrides;
  /** Whether it is alive. */
  state: SessionState;
  /** When it was first registered. */
  started_at: string;
  /** When anything last came from it. */
  last_seen_at: string;
  /** When it ended; null while it is alive. */
  ended_at: string | null;
  /** When a hook last ran for it; null: its client has no hooks of ours. */
  hooks_seen_at: string | null;
}

/** A session as it registers itself. */
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
  shell_pid?: number | null | undefined;
  /** The name its person gave it (`HIVE_AGENT`): its handle, if that is free. */
  name?: string | null | undefined;
  /** Its client's own title, where the client says that when it starts; a subagent's type. */
  client_title?: string | null | undefined;
}

/** The human's handle; no session can have it. */
export const HUMAN_HANDLE = 'Human';
/** The handle of an author who is not proved to be the session in the heading; no session can have it. */
export const UNVERIFIED_HANDLE = 'unverified';
/** The handle that addresses everyone. */
export const EVERYONE = 'All';

const CLIENT_PREFIX: readonly (readonly [RegExp, string])[] = [
  [/claude/i, 'Claude'],
  [/codex/i, 'Codex'],
  [/opencode/i, 'OpenCode'],
  [/gemini/i, 'Gemini'],
  [/qwen/i, 'Qwen'],
  // A person's own shell, when it asks (cli/actor.ts).
  [/^cli$/, 'Shell'],
];

/** `Claude`, `Codex`, `OpenCode`, `Gemini`, `Qwen`, or `Agent` for any other client. */
function handlePrefix(client: string): string {
  return CLIENT_PREFIX.find(([pattern]) => pattern.test(client))?.[1] ?? 'Agent';
}

/**
 * The handles a session may have, best first: five characters of its id, then one more at a time.
 * A subagent's id is `SESSION:AGENT_ID`; its handle is made of the agent's part. A caller without
 * identity is named after its connection, `connection-…`.
 */
export function* handleCandidates(client: string, session_id: string): Generator<string> {
  const own = session_id.slice(session_id.lastIndexOf(':') + 1).replace(/^(connection|cli|editor)-/, '');
  // By whole characters: half of a surrogate pair is not text.
  const characters = Array.from(cleanText(own).replace(/[^\p{L}\p{N}]/gu, '') || 'x');
  const prefix = handlePrefix(client);
  for (let length = Math.min(5, characters.length); length <= characters.length; length += 1) {
    yield `${prefix}-${characters.slice(0, length).join('')}`;
  }
  for (let n = 2; ; n += 1) yield `${prefix}-${characters.join('')}-${n}`;
}

/**
 * A new session, alive and active. The caller has chosen a `handle` that is free.
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
    shell_pid: introduction.shell_pid ?? null,
    handle,
    title: handle,
    name: null,
    client_title: introduction.client_title ?? null,
    first_words: null,
    continues: null,
    shared: true,
    roles: [],
    gate: null,
    room: null,
    room_read: null,
    room_news: false,
    source_fixed: false,
    outreach: {},
    state: 'active',
    started_at: now,
    last_seen_at: now,
    ended_at: null,
    hooks_seen_at: null,
  };
}

/** The source of a known session, given the one `reported` now. Where hooks run for it, they say when a run begins. */
export function sourceAfter(known: Session, reported: Source): Source {
  const begins = known.state === 'ended' && known.hooks_seen_at === null;
  return decideSource({
    corrected: known.source_fixed ? known.source : null,
    current: begins ? null : known.source,
    reported,
  });
}

// ---- Ids that Hive makes itself ----
// A client that reported one of these would be mistaken for a person's shell, a connection or a remote agent.

/** `cli-` and `agent-USER@HOST` are shells, `connection-` a client without identity, `editor-` an agent in an editor, `token:` a remote agent. */
const MADE_BY_HIVE = /^(?:cli-|connection-|editor-|token:|quota:|agent-[^@]*@)/i;

/** The id of an agent in an editor, as `hive acp` or an Emacs makes it. */
export const EDITOR_SESSION = /^editor-[\w-]{1,64}$/;

/** The session of an agent in an editor, as the MCP server beside it finds it; null for anything else. */
export function editorSession(value: string | undefined): string | null {
  return value !== undefined && EDITOR_SESSION.test(value) ? value : null;
}

/** Returns an id that a client reports for itself. @throws HiveError `not_allowed` for one that only Hive makes. */
export function reportedId(session_id: string): string {
  if (!MADE_BY_HIVE.test(session_id)) return session_id;
  throw new HiveError(
    'not_allowed',
    `No client may call its session "${session_id}": Hive makes such ids itself. Set HIVE_AGENT or the session id to another name.`,
  );
}

/** Whether this introduction says nothing new about a session that is alive. */
export function isUnchanged(known: Session, given: SessionIntroduction): boolean {
  return (
    known.state !== 'ended' &&
    (known.pid === given.pid || keepsProcess(known)) &&
    known.source === sourceAfter(known, given.source) &&
    known.project_dir === given.project_dir &&
    known.machine === given.machine
  );
}

/** Whether hooks have reported the client's own process: the parent of `hive mcp` may be a wrapper, and corrects nothing. */
export function keepsProcess({ state, hooks_seen_at, pid }: Session): boolean {
  return state !== 'ended' && hooks_seen_at !== null && pid !== null;
}

/** The id of a remote agent's session: what its client reported, among the sessions of its token only. */
export function remoteId(machine: string, reported: string): string {
  return `${machine}:${reported}`;
}

/** Whether a session's machine is one that connects over HTTP: `token:NAME`, after its token. */
export function isRemote(machine: string): boolean {
  return machine.startsWith('token:');
}

/** The session id of a subagent, which is a session of its own: `SESSION:AGENT_ID`. */
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

/** The client's own id of this conversation: a subagent's own id, else the session's. */
export function threadOf(session: Pick<Session, 'session_id' | 'parent_session_id'>): string {
  const host = hostOf(session);
  return host === session.session_id ? host : session.session_id.slice(host.length + 1);
}

/**
 * Whether a subagent is part of its parent's current work, and is stopped with it. Those of Codex continue. Everything that a
 * headless run starts is `bg`, so that alone says nothing.
 */
export function runsInside(child: Session, parent: Session): boolean {
  const detached = child.client === 'codex' || (child.source === 'bg' && parent.source !== 'bg');
  return hostOf(child) === parent.session_id && child.session_id !== parent.session_id && !detached;
}

// ---- Given names ----
// The handle that a person gives a session (`HIVE_AGENT`), and which session the beginning of a handle means.

/** In characters. A longer name is cut here. */
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

/** Whether a handle is taken by `@Human` or `@All`. */
export function isReserved(handle: string): boolean {
  return [HUMAN_HANDLE, EVERYONE].some((name) => foldHandle(name) === foldHandle(handle));
}

/** Whether this handle was made from that name: the name itself, or with a number. */
export function isNamed(handle: string, base: string): boolean {
  const [given, name] = [foldHandle(handle), foldHandle(base)];
  return given === name || (given.startsWith(`${name}-`) && /^\d+$/.test(given.slice(name.length + 1)));
}

/** Whether a session's handle comes from its id: such a handle is never passed on. */
export function hasOwnHandle({
  client,
  session_id,
  handle,
}: Pick<Session, 'client' | 'session_id' | 'handle'>) {
  const first = handleCandidates(client, session_id).next().value;
  return first !== undefined && handle.startsWith(first);
}

/** The sentence for a person whose session has another handle than they asked for; null when it has that one. */
export function explainHandle(name: string, handle: string): string | null {
  if (handle === name.normalize('NFC')) return null;
  const base = givenHandle(name);
  if (base === null) return `HIVE_AGENT is "${name}", which has no letter or digit: the handle is ${handle}.`;
  if (isReserved(base)) return `HIVE_AGENT is "${name}", but @${name} is reserved: the handle is ${handle}.`;
  if (!isNamed(handle, base))
    return `HIVE_AGENT is "${name}", but the handle is ${handle}: the name belongs to the session that started this one, or this one had a handle before.`;
  if (handle !== base)
    return `HIVE_AGENT is "${name}", and another live session has that name: the handle is ${handle}.`;
  return `HIVE_AGENT is "${name}": the handle is ${handle}, because a handle has letters, digits, - and _ only, at most ${LONGEST_NAME}.`;
}

// ---- Titles ----
// The title is what people read; the handle stays the address. It comes from agents and their clients, so it can be neither a
// person's name nor look like a handle, and it has no character with which our own sentences separate their parts.

/** In characters. A number may follow. */
const LONGEST_TITLE = 36;
/** No title and no handle is as long. */
const LONGEST_COMPARED = 200;

/** Letters, digits and the marks of plain words: no brackets, colons, quotes or other separators. */
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}\-_.,'/+&#!?]+/gu;
const LEADING = /^[^\p{L}\p{N}]+/u;
const TRAILING = /[-_.,'/&\s]+$/u;

/** A text as a title: one line of plain words, cut at its length; null if no letter or digit is left. */
export function cleanTitle(text: string): string | null {
  const seen = Array.from(cleanText(text).slice(0, 1_000).normalize('NFC')).filter(
    (character) => /\s/u.test(character) || !isHidden(character),
  );
  const line = seen.join('').replace(BETWEEN_WORDS, ' ');
  const title = excerpt(line.replace(LEADING, '').replace(TRAILING, ''), LONGEST_TITLE);
  return title === '' ? null : title;
}

/** How titles and handles are compared: as people see them, whatever their case, and as a mention spells them. */
export function titleKey(title: string): string {
  const compared = (givenHandle(title) ?? title).slice(0, LONGEST_COMPARED);
  return foldHandle(skeletonOf(compared)).replace(/i/g, 'l');
}

/** Whether a mention's name, or a handle, is this title. */
export function isTitle(typed: string, title: string): boolean {
  return titleKey(typed) === titleKey(title);
}

const RESERVED_TITLES = [HUMAN_HANDLE, EVERYONE, UNVERIFIED_HANDLE, 'You', 'Hive'];
const LIKE_A_HANDLE = onDemand(() => {
  const prefixes = [...CLIENT_PREFIX.map(([, prefix]) => prefix), 'Agent'];
  return new RegExp(`^(?:${prefixes.map(titleKey).join('|')})-[^-]+$`);
});

/** Why a session may not have this title, as a sentence; null when it may. `humans`: the names of those who use desks. */
export function refusalOfTitle(title: string, humans: readonly string[]): string | null {
  const key = titleKey(title);
  if ([...RESERVED_TITLES, ...humans].some((name) => titleKey(name) === key))
    return `"${title}" is the name of a person or reserved.`;
  return LIKE_A_HANDLE().test(key) ? `"${title}" looks like the handle of a session.` : null;
}

/** The facts that decide the title of a session. */
export interface Titling {
  session: Pick<Session, 'handle' | 'title' | 'client' | 'project' | 'name' | 'client_title' | 'first_words'>;
  /** The title of the session that a subagent is part of; null for any other. */
  host: string | null;
  /** The other living sessions. */
  others: readonly Pick<Session, 'handle' | 'title' | 'name'>[];
  /** The names of the humans who use desks. */
  humans: readonly string[];
}

/**
 * The title of a session: the name that its person gave it, else its client's title, else its project, else the first words
 * of its first prompt, else its handle. If another living session is called so, a number follows, which it keeps; but the name
 * that a person gave goes before the titles that nobody gave.
 */
export function titleOf({ session, host, others, humans }: Titling): string {
  const { handle, title: current, client, project, name, client_title, first_words } = session;
  const candidates =
    host !== null
      ? [name, `${client_title ?? 'subagent'} of ${host}`]
      : client === 'cli'
        ? [name, `shell in ${project}`]
        : [name, client_title, project, first_words];
  const base = candidates
    .flatMap((text) => (text === null ? [] : (cleanTitle(text) ?? [])))
    .find((title) => isTitle(title, handle) || refusalOfTitle(title, humans) === null);
  if (base === undefined) return handle;
  const goesBefore = name !== null && isTitle(name, base);
  const taken = new Set(
    others.flatMap((other) =>
      goesBefore && other.name === null
        ? [titleKey(other.handle)]
        : [titleKey(other.title), titleKey(other.handle)],
    ),
  );
  const isNumbered = current.startsWith(`${base} `) && /^\d+$/.test(current.slice(base.length + 1));
  if (isNumbered && !goesBefore && !taken.has(titleKey(current))) return current;
  if (!taken.has(titleKey(base))) return base;
  for (let n = 2; ; n += 1) if (!taken.has(titleKey(`${base} ${n}`))) return `${base} ${n}`;
}

/** How much of the end of a file is searched for a title. Claude Code itself looks no further. */
const TITLE_TAIL_BYTES = 64 * 1024;

/** A session of a client, as its hooks report it. */
interface Reported {
  client: string;
  session_id: string;
  transcript_path: string | null;
}

/**
 * The client's own title of a session: undefined where the client's file does not say, null if it was removed. `readTail`
 * returns the end of a file, or null.
 */
export function clientTitle(
  { client, session_id, transcript_path }: Reported,
  readTail: (path: string, bytes: number) => string | null,
): string | null | undefined {
  if (transcript_path === null) return undefined;
  const path = client === 'codex' ? codexIndex(transcript_path) : transcript_path;
  const tail = path === null ? null : readTail(path, TITLE_TAIL_BYTES);
  if (tail === null) return undefined;
  return client === 'codex' ? titleInIndex(tail, session_id) : titleInTranscript(tail);
}

function asTitle(title: unknown): string | null | undefined {
  if (typeof title !== 'string') return undefined;
  return title.trim() === '' ? null : excerpt(cleanText(title), 200);
}

/** Claude Code writes `custom-title` for /rename and `ai-title` for the one that it generated. */
function titleInTranscript(tail: string): string | null | undefined {
  for (const [type, field] of TITLE_ENTRIES) {
    const entry = lastEntry(tail, `"type":"${type}"`);
    const title = entry?.['type'] === type ? asTitle(entry[field]) : undefined;
    if (title !== undefined) return title;
  }
  return undefined;
}

/** Best first. */
const TITLE_ENTRIES = [
  ['custom-title', 'customTitle'],
  ['ai-title', 'aiTitle'],
] as const;

/** Codex keeps the names of all threads, generated or given by /rename, beside the folder of its rollouts. */
function codexIndex(rollout: string): string | null {
  const home = /^(.*[\\/])(?:archived_)?sessions[\\/]/.exec(rollout)?.[1];
  return home === undefined ? null : `${home}session_index.jsonl`;
}

function titleInIndex(tail: string, thread: string): string | null | undefined {
  const entry = lastEntry(tail, `"id":${JSON.stringify(thread)}`);
  return entry?.['id'] === thread ? asTitle(entry['thread_name']) : undefined;
}

/** The last whole line that contains a mark, parsed. In a string the quotes of the mark would be escaped. */
function lastEntry(tail: string, mark: string): Raw | null {
  const at = tail.lastIndexOf(mark);
  if (at < 0) return null;
  const end = tail.indexOf('\n', at);
  return objectInText(tail.slice(tail.lastIndexOf('\n', at) + 1, end < 0 ? undefined : end));
}

/** A handle that is in use or was, and whether its session is alive. */
export interface KnownHandle {
  session_id: string;
  handle: string;
  title: string;
  alive: boolean;
}

/**
 * Which session a text means: the whole handle in any case, else the whole title of a living one, else the only one whose
 * handle or title starts with it. Living sessions come first.
 */
export function matchHandle(
  text: string,
  held: readonly KnownHandle[],
): { found: KnownHandle } | { ambiguous: string[] } | { near: string[] } {
  const typed = foldHandle(text.replace(/^@/, ''));
  const exact = held.filter(({ handle }) => foldHandle(handle) === typed);
  const living = exact.find(({ alive }) => alive) ?? exact[0];
  if (living !== undefined) return { found: living };
  // A name that ends in a dash is the beginning of a longer one.
  const titled = /[-_]$/.test(typed) ? [] : held.filter((one) => one.alive && isTitle(typed, one.title));
  if (titled.length > 1) return { ambiguous: titled.map(({ handle }) => handle).sort() };
  if (titled[0] !== undefined) return { found: titled[0] };
  const begins = ({ handle, title, alive }: KnownHandle): boolean =>
    foldHandle(handle).startsWith(typed) || (alive && foldHandle(title).startsWith(typed));
  const begun = typed === '' ? [] : held.filter(begins);
  const alive = begun.filter((one) => one.alive);
  const choice = alive.length > 0 ? alive : begun;
  if (choice.length > 1) return { ambiguous: choice.map(({ handle }) => handle).sort() };
  if (choice[0] !== undefined) return { found: choice[0] };
  const names = held.filter((one) => one.alive).flatMap(({ handle, title }) => [handle, title]);
  return { near: nearestNames(typed, [...new Set(names)]) };
}

const MOST_HANDLES = 5;

/** The sentence for a text with which several handles start. */
export function explainAmbiguous(text: string, handles: readonly string[]): string {
  const more = handles.length > MOST_HANDLES ? ` and ${handles.length - MOST_HANDLES} more` : '';
  return `"${text}" matches ${handles.length} sessions: ${handles.slice(0, MOST_HANDLES).join(', ')}${more}. Type more of the one you mean.`;
}

// ---- Names similar to a mistyped one ----
// A name counts when the typed text begins it, is at most two slips away from it, or begins it with one slip.

const MOST = 3;
const SLIPS = 2;
/** Longer than any handle that somebody mistypes; it keeps the comparison cheap for any input. */
const LONGEST = 64;
/** Fewer characters than this begin too many names. */
const BEGINNING = 3;
/** From this length on, a beginning may contain a slip, and one name may be the beginning of another. */
const LONG_BEGINNING = 5;

/** The nearest names first, at most three. */
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

/** A beginning with a slip in it counts as two slips, so that whole names come first. */
function distanceTo(given: string, candidate: string): number {
  if (given.length >= BEGINNING && candidate.startsWith(given)) return 0;
  if (candidate.length >= LONG_BEGINNING && given.startsWith(candidate)) return 1;
  const row = lastRow(given, candidate.slice(0, LONGEST));
  const whole = candidate.length > LONGEST ? SLIPS + 1 : (row.at(-1) ?? 0);
  // The last character typed must be in the name, or every name that begins alike would count as near.
  const begins =
    given.length >= LONG_BEGINNING &&
    row.some((slips, column) => slips <= 1 && candidate[column - 1] === given.at(-1));
  return Math.min(whole, begins ? SLIPS : SLIPS + 1);
}

/** How many characters to add, drop or change (Levenshtein). Above `SLIPS` the number is only a lower bound. */
export function editDistance(from: string, to: string): number {
  return Math.abs(from.length - to.length) > SLIPS ? SLIPS + 1 : (lastRow(from, to).at(-1) ?? 0);
}

/** The edit distance to each beginning of `to`. */
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

// ---- Settings of one session ----
// A human may change anything; an agent only what is its own and loosens nothing.

/** Settings to change; what is left out stays. */
export interface SessionChanges extends OutreachChanges {
  /** The name that people see; null: its client's title or its project again. */
  name?: string | null | undefined;
  shared?: boolean | undefined;
  roles?: readonly string[] | undefined;
  gate?: GateMode | null | undefined;
  room?: RoomMode | null | undefined;
  /** Holds until it is set to null; then the client's own report counts again. */
  source?: Source | null | undefined;
}

/** A role is written like a mention: `@reviewer`. */
export const ROLE: RegExp = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,49}$/u;
export const ROLE_SENTENCE = 'A role is one word of letters, digits, - and _, as in reviewer.';

/** @throws HiveError `invalid_input` for a role that no mention could reach. */
export function checkRoles(roles: readonly string[]): void {
  for (const role of roles) {
    if (!ROLE.test(role)) throw invalidInput(`"${role}" is not a role. ${ROLE_SENTENCE}`);
    if (isReserved(role)) throw invalidInput(`"${role}" is not a role: @${role} is reserved.`);
  }
}

/** The settings that a change touches. */
export function settingsIn(changes: SessionChanges): string[] {
  return Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([setting]) => setting);
}

/** Why only the human changes a setting, for an agent that tries to. Mentions by the human arrive in any case. */
const HUMAN_ONLY: Readonly<Record<string, string>> = {
  name: 'it is how your human tells you from other sessions',
  gate: 'the gate holds an agent until it has processed its mentions',
  source: 'the source decides how much an agent may send unasked, and what it must report',
};
const AGENT_SETTINGS: ReadonlySet<string> = new Set(['shared', 'roles', 'room']);

/** An agent's wish to change a session's settings. */
export interface SettingContext {
  session: Session;
  /** The settings a human has set for the session, with the name of that human. */
  setByHuman: ReadonlyMap<string, string>;
  /** The handles of the other sessions. */
  others: readonly string[];
}

/** Why this actor may not make these changes, as a sentence; null when it may. */
export function refusalToSet(
  actor: Actor,
  changes: SessionChanges,
  { session, setByHuman, others }: SettingContext,
): string | null {
  if (actor.kind !== 'agent') return null;
  if (actor.session_id !== session.session_id)
    return `An agent changes only its own settings, and ${session.handle} is another session. Ask your human.`;
  for (const setting of settingsIn(changes)) {
    if (!AGENT_SETTINGS.has(setting)) {
      const why = HUMAN_ONLY[setting] ?? 'it limits what an agent may send unasked';
      return `Only a human may change "${setting}": ${why}. Ask your human, who can do it in Emacs (M-x hive-sessions, e) or in a terminal (hive sessions set ${session.handle} …). Nothing was changed.`;
    }
    const human = setByHuman.get(setting);
    if (human !== undefined)
      return `${human} has set "${setting}" for you, and only a human may change it. Nothing was changed.`;
  }
  const taken = changes.roles?.find((role) => others.some((name) => foldHandle(name) === foldHandle(role)));
  if (taken !== undefined)
    return `"${taken}" is the handle of another session: you would get its mentions. Choose another role.`;
  return null;
}

/** The sections in which people see sessions, in their order, in Emacs and on the phone. */
export const SESSION_SECTIONS = ['working', 'idle', 'ended'] as const;

/** Where people see a session: its section, and its place there, as a text that compares by characters. */
export interface SessionPlace {
  section: (typeof SESSION_SECTIONS)[number];
  order_key: string;
}

/** The part of a turn that says when its session works. */
interface Stretch {
  session_id: string;
  state: string;
  started_at: string;
  ended_at: string | null;
}

/** The place of a living session with this newest turn. The one that began to work first comes first. */
export function placeOfTurn({ state, started_at, ended_at, session_id }: Stretch): SessionPlace {
  if (state === 'in_progress') return { section: 'working', order_key: `${started_at} ${session_id}` };
  return { section: 'idle', order_key: latestFirst(ended_at ?? started_at, session_id) };
}

/** The place of a session. Of those that do not work, the one that stopped last comes first. */
export function placeOf(
  {
    state,
    started_at,
    ended_at,
    session_id,
  }: Pick<Session, 'state' | 'started_at' | 'ended_at' | 'session_id'>,
  turn: SessionPlace | undefined,
): SessionPlace {
  if (state === 'ended')
    return { section: 'ended', order_key: latestFirst(ended_at ?? started_at, session_id) };
  if (turn !== undefined) return { section: turn.section, order_key: turn.order_key };
  return { section: 'idle', order_key: latestFirst(started_at, session_id) };
}

/** A later time is a smaller text. */
function latestFirst(time: string, session_id: string): string {
  return `${time.replaceAll(/\d/g, (digit) => String(9 - Number(digit)))} ${session_id}`;
}
