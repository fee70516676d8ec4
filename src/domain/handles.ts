/**
 * Names: the handle that a person gives a session (`HIVE_AGENT`), and which session the first letters of a handle
 * mean. Pure; who has which handle is given. Handles made from a client's session id are in sessions.ts.
 */
import { foldHandle } from './mention-parser.ts';
import { EVERYONE } from './mention-resolution.ts';
import { nearestNames } from './near-names.ts';
import { HUMAN_HANDLE, handleCandidates, type Session } from './sessions.ts';
import { cleanText } from './text.ts';

/** In characters. What is longer is cut here. */
export const LONGEST_NAME = 40;

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
