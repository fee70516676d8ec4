/**
 * The names of sessions: the handle, which people and agents type, and the title, which people read. How a session gets them, and
 * which session a typed name means. Pure: no clock, no ids, no I/O.
 */
import { isHidden, skeletonOf } from './display.ts';
import { invalidInput } from './errors.ts';
import { foldHandle } from './mention-parser.ts';
import { EVERYONE, HUMAN_HANDLE, ROLE, ROLE_SENTENCE, type Session, UNVERIFIED_HANDLE } from './sessions.ts';
import { cleanText, excerpt, onDemand } from './text.ts';

// ---- Handles made from an id ----

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
  // Whole characters: half of a surrogate pair is not text.
  const characters = Array.from(cleanText(own).replace(/[^\p{L}\p{N}]/gu, '') || 'x');
  const prefix = handlePrefix(client);
  for (let length = Math.min(5, characters.length); length <= characters.length; length += 1) {
    yield `${prefix}-${characters.slice(0, length).join('')}`;
  }
  for (let n = 2; ; n += 1) yield `${prefix}-${characters.join('')}-${n}`;
}

// ---- Given names ----
// The handle that a person gives a session (`HIVE_AGENT`).

/** In characters. Longer names are cut. */
const LONGEST_NAME = 40;

/**
 * The handle for a given name: the name itself if it is one word that a mention can spell. Otherwise each run of other characters
 * becomes a dash. Null for a name without a letter or digit.
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

/** The look of a handle, without case: full-width and other forms of its letters, and letters that look like them, are the same. */
export function lookOf(handle: string): string {
  return foldHandle(skeletonOf(handle.slice(0, LONGEST_COMPARED)));
}

/** Whether a handle looks like `@Human`, `@All`, or the mark of an author that is not known. */
export function isReserved(handle: string): boolean {
  return [HUMAN_HANDLE, EVERYONE, UNVERIFIED_HANDLE].some((name) => lookOf(name) === lookOf(handle));
}

/** Whether this handle was made from that name: it is the name, or the name with a number. */
export function isNamed(handle: string, base: string): boolean {
  const [given, name] = [foldHandle(handle), foldHandle(base)];
  return given === name || (given.startsWith(`${name}-`) && /^\d+$/.test(given.slice(name.length + 1)));
}

/** Whether a session's handle is made from its id. Such a handle is never passed on to another session. */
export function hasOwnHandle({
  client,
  session_id,
  handle,
}: Pick<Session, 'client' | 'session_id' | 'handle'>) {
  const first = handleCandidates(client, session_id).next().value;
  return first !== undefined && handle.startsWith(first);
}

/** The sentence for a person whose session did not get the handle that they asked for; null if it did. */
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
// The title is what people read; the handle stays the address. It comes from agents and their clients, so it must
// not be a person's name or look like a handle, and it contains no character that separates the parts of Hive's own sentences.

/** In characters, without a number at the end. */
const LONGEST_TITLE = 36;
/** Longer than any title or handle. */
const LONGEST_COMPARED = 200;

/** Everything but letters, digits and the punctuation of plain words: brackets, colons, quotes and other separators. */
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

/** A title or handle in the form in which they are compared: by look, without case, and as a mention spells them. */
export function titleKey(title: string): string {
  const compared = (givenHandle(title) ?? title).slice(0, LONGEST_COMPARED);
  return foldHandle(skeletonOf(compared)).replace(/i/g, 'l');
}

/** Whether a typed name means this title. */
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
  /** The names of humans who use desks. */
  humans: readonly string[];
}

/**
 * The title of a session: the name that its person gave it, else its client's title, else its project, else the first words of
 * its first prompt, else its handle. If another living session has that title, a number is added, which the session keeps. A name
 * that a person gave takes precedence over automatic titles.
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
  // "helper of shop 2" would be a helper of the agent shop 2.
  const tail = host !== null && base.endsWith(` of ${host}`) ? ` of ${host}` : '';
  const numbered = (n: string): string => `${base.slice(0, base.length - tail.length)} ${n}${tail}`;
  const [number] = /\d+$/.exec(current.slice(0, current.length - tail.length)) ?? [];
  const isNumbered = number !== undefined && current === numbered(number);
  if (isNumbered && !goesBefore && !taken.has(titleKey(current))) return current;
  if (!taken.has(titleKey(base))) return base;
  for (let n = 2; ; n += 1) if (!taken.has(titleKey(numbered(`${n}`)))) return numbered(`${n}`);
}

// ---- Which session a name means ----

/** A handle that is in use or was, and whether its session is alive. */
export interface KnownHandle {
  session_id: string;
  handle: string;
  title: string;
  alive: boolean;
}

/**
 * The session that a text means: the one with this handle, ignoring case, else the living one with this title, else the only one
 * whose handle or title begins with it. Living sessions take precedence.
 */
export function matchHandle(
  text: string,
  held: readonly KnownHandle[],
): { found: KnownHandle } | { ambiguous: string[] } | { near: string[] } {
  const typed = foldHandle(text.replace(/^@/, ''));
  const exact = held.filter(({ handle }) => foldHandle(handle) === typed);
  const living = exact.find(({ alive }) => alive) ?? exact[0];
  if (living !== undefined) return { found: living };
  // A name that ends in a dash or underscore is the beginning of a longer one.
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

/** The sentence for a text with which several handles begin. */
export function explainAmbiguous(text: string, handles: readonly string[]): string {
  const more = handles.length > MOST_HANDLES ? ` and ${handles.length - MOST_HANDLES} more` : '';
  return `"${text}" matches ${handles.length} sessions: ${handles.slice(0, MOST_HANDLES).join(', ')}${more}. Type more of the one you mean.`;
}

// ---- Names similar to a mistyped one ----
// A name is similar if it begins with the typed text, allowing one typo, or is at most two typos away from it.

const MOST = 3;
const SLIPS = 2;
/** Longer than any mistyped handle; keeps the comparison cheap for any input. */
const LONGEST = 64;
/** Fewer characters are the beginning of too many names. */
const BEGINNING = 3;
/** From this length on, a beginning may contain a typo, and one name may be the beginning of another. */
const LONG_BEGINNING = 5;

/** The most similar names, at most three, the nearest first. */
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

/** A hint for a sentence about an unknown name: ` Did you mean …?`, or nothing if no name is near. */
export function didYouMean(near: readonly string[]): string {
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

/** The number of typos between them. A beginning with a typo counts as two typos, so that whole names come first. */
function distanceTo(given: string, candidate: string): number {
  if (given.length >= BEGINNING && candidate.startsWith(given)) return 0;
  if (candidate.length >= LONG_BEGINNING && given.startsWith(candidate)) return 1;
  const row = lastRow(given, candidate.slice(0, LONGEST));
  const whole = candidate.length > LONGEST ? SLIPS + 1 : (row.at(-1) ?? 0);
  // The last typed character must be in the name, or every name with the same beginning would count as near.
  const begins =
    given.length >= LONG_BEGINNING &&
    row.some((slips, column) => slips <= 1 && candidate[column - 1] === given.at(-1));
  return Math.min(whole, begins ? SLIPS : SLIPS + 1);
}

/** The Levenshtein distance. Above `SLIPS`, the number is only a lower bound. */
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

// ---- Roles ----

/** @throws HiveError `invalid_input` for a role that no mention could reach. */
export function checkRoles(roles: readonly string[]): void {
  for (const role of roles) {
    if (!ROLE.test(role)) throw invalidInput(`"${role}" is not a role. ${ROLE_SENTENCE}`);
    if (isReserved(role)) throw invalidInput(`"${role}" is not a role: @${role} is reserved.`);
  }
}
