/**
 * Humans: their names, teams and desks, and who is asked by a prompt. A prompt without an address concerns everybody; one with
 * an address concerns the people it names, and everybody once it is escalated. Pure.
 */

import { isBlank } from './display.ts';
import { HiveError, invalidInput } from './errors.ts';
import { foldHandle } from './mention-parser.ts';
import { nearestNames } from './names.ts';
import type { Address } from './prompts.ts';
import { deadlineOf, type Prompt } from './prompts.ts';
import { characterCount, cleanText } from './text.ts';
import { timeAfter } from './times.ts';

/** A person who has used a desk, under one of the names that reach them. */
export interface Human {
  folded: string;
  /** The name as they write it. */
  name: string;
  seen_at: string;
}

/** A name for several humans. */
export interface Team {
  folded: string;
  name: string;
  /** Names of humans, as given. */
  members: string[];
  /** After how many ms a prompt to this team goes to everybody, unless its asker says otherwise; null: never. */
  escalate_after_ms: number | null;
}

const NAME_LENGTH = 100;
const MOST_MEMBERS = 200;

/** A name in the form in which names are compared: without case, composition and white space. */
export function foldName(name: string): string {
  return foldHandle(name.trim().replace(/\s+/g, ' '));
}

/**
 * A name in the form in which it is stored. @throws HiveError `invalid_input` for one that is empty, too long or not one line.
 */
export function cleanName(what: string, given: string): string {
  const name = cleanText(given).trim().replace(/\s+/g, ' ');
  if (isBlank(name)) throw invalidInput(`The ${what} is empty.`);
  if (characterCount(name) > NAME_LENGTH)
    throw invalidInput(`The ${what} is too long: at most ${NAME_LENGTH} characters.`);
  if (/\p{Cc}/u.test(name)) throw invalidInput(`The ${what} contains control characters.`);
  return name;
}

/** The folded names that reach the human of a desk: their own, and their login name. */
export function namesOf({ human, seat }: { human: string; seat: string }): string[] {
  return [...new Set([foldName(human), foldName(userOfSeat(seat))])];
}

/** A new team. @throws HiveError `invalid_input` if it has no members, or a name or its time is invalid. */
export function createTeam(
  given: { name: string; members: readonly string[]; escalate_after_ms?: number | null | undefined },
  now: string,
): Team {
  const name = cleanName('name of the team', given.name);
  const members = new Map(
    given.members.map((member) => [foldName(member), cleanName('name of a member', member)]),
  );
  if (members.size === 0) throw invalidInput(`The team "${name}" has no member: name at least one.`);
  if (members.size > MOST_MEMBERS)
    throw invalidInput(`The team "${name}" has ${members.size} members: at most ${MOST_MEMBERS}.`);
  const escalate_after_ms = given.escalate_after_ms ?? null;
  if (escalate_after_ms !== null) deadlineOf('escalate_after_ms', escalate_after_ms, now);
  return { folded: foldName(name), name, members: [...members.values()], escalate_after_ms };
}

/**
 * The address of a prompt `to` a human or a team; a name that is both reaches both. The members of the team are those
 * at the time of asking. The asker's own escalation time takes precedence over the team's.
 * @throws HiveError `invalid_input`.
 */
export function addressOf(
  to: string,
  escalate_after_ms: number | null | undefined,
  { human, team }: { human: Human | undefined; team: Team | undefined },
  now: string,
): Address {
  const after = escalate_after_ms ?? team?.escalate_after_ms ?? null;
  return {
    to: team?.name ?? human?.name ?? cleanName('name in `to`', to),
    recipients: [...new Set([foldName(to), ...(team?.members ?? []).map(foldName)])],
    escalates_at: after === null ? null : deadlineOf('escalate_after_ms', after, now),
  };
}

/** The error for an unknown name: a question to nobody would wait for ever. */
export function nobodyCalled(to: string, known: readonly string[]): HiveError {
  const near = nearestNames(to, known);
  const names = (near.length > 0 ? near : known.slice(0, 10)).map((name) => `"${name}"`).join(', ');
  const hint = names === '' ? '' : near.length > 0 ? ` Did you mean ${names}?` : ` There are ${names}.`;
  return new HiveError(
    'human_not_found',
    `Nobody called "${to}" has been here, and there is no such team.${hint} Leave the name out to ask everybody.`,
    { to, known: known.slice(0, 50) },
  );
}

/** Whether a prompt, as it is stored, concerns a human with these folded names. */
export function isFor(
  { to, escalated_at, recipients }: Pick<Prompt, 'to' | 'recipients' | 'escalated_at'>,
  names: readonly string[],
): boolean {
  return to === null || escalated_at !== null || recipients.some((name) => names.includes(name));
}

/** The same, with an escalation that is due but not stored yet. */
export function concerns(
  prompt: Pick<Prompt, 'to' | 'recipients' | 'status' | 'escalates_at' | 'escalated_at'>,
  names: readonly string[],
  now: string,
): boolean {
  return isFor(prompt, names) || isEscalationDue(prompt, now);
}

/** Whether the people that a prompt names have not answered it in time. */
export function isEscalationDue(
  { status, escalates_at, escalated_at }: Pick<Prompt, 'status' | 'escalates_at' | 'escalated_at'>,
  now: string,
): boolean {
  return status === 'pending' && escalates_at !== null && escalated_at === null && escalates_at <= now;
}

/** Makes the prompt concern everybody, if its escalation is due. Otherwise it is returned unchanged. */
export function escalatePrompt(prompt: Prompt, now: string): Prompt {
  return isEscalationDue(prompt, now) ? { ...prompt, escalated_at: now } : prompt;
}

// ---- Desks ----

/**
 * A desk: a place where a human sits, one Emacs with its sidecar. Presence is a lease, so a crashed sidecar counts as gone
 * after `DESK_LEASE_MS` without any further check.
 */
export interface Desk {
  desk_id: string;
  /** Machine and user. One human may have several desks; popups are shown once per seat. */
  seat: string;
  pid: number;
  client: string;
  /** The name of the human at this desk. */
  human: string;
  focused: boolean;
  opened_at: string;
  lease_until: string;
}

/** Used instead of a seat for preferences of every seat of a store. */
export const EVERY_SEAT = '*';

/** How long in ms a crashed desk still counts as online, at most. */
export const DESK_LEASE_MS = 15_000;
/** How often in ms a living desk renews its lease; heartbeats append no event and ring no bell. */
export const DESK_HEARTBEAT_MS = 5_000;

/** The end of a lease that is taken or renewed now. */
export function leaseFrom(now: string): string {
  return timeAfter(now, DESK_LEASE_MS);
}

export function machineOfSeat(seat: string): string {
  return seat.slice(seat.lastIndexOf('@') + 1);
}

/** The user of a seat, `user@machine`. A user name may contain an @, a machine name does not. */
export function userOfSeat(seat: string): string {
  const at = seat.lastIndexOf('@');
  return at > 0 ? seat.slice(0, at) : seat;
}
