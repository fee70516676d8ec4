/**
 * Several humans: what they are called, which teams they form, and whom a prompt concerns. A prompt without an
 * address concerns everybody; one with an address those it names, and everybody once it is escalated. Pure.
 */
import { HiveError, invalidInput } from './errors.ts';
import { foldHandle } from './mention-parser.ts';
import type { Address } from './prompts.ts';
import { type Prompt, timeAfter } from './prompts.ts';
import { nearestNames } from './sessions.ts';
import { characterCount, cleanText, isBlank } from './text.ts';

/** Somebody who has sat at a desk, by one of the names that reach them. */
export interface Human {
  folded: string;
  /** As they write it themselves. */
  name: string;
  seen_at: string;
}

export interface Team {
  folded: string;
  name: string;
  /** Names of humans, as they were given. */
  members: string[];
  /** When a prompt to this team goes to everybody, unless its asker says; null: never. */
  escalate_after_ms: number | null;
}

const NAME_LENGTH = 100;
const MOST_MEMBERS = 200;

/** How names are compared: case, composition and white space ignored. */
export function foldName(name: string): string {
  return foldHandle(name.trim().replace(/\s+/g, ' '));
}

/** A name as it is kept. @throws HiveError `invalid_input` for one that is empty, too long or not one line. */
export function cleanName(what: string, given: string): string {
  const name = cleanText(given).trim().replace(/\s+/g, ' ');
  if (isBlank(name)) throw invalidInput(`The ${what} is empty.`);
  if (characterCount(name) > NAME_LENGTH)
    throw invalidInput(`The ${what} is too long: at most ${NAME_LENGTH} characters.`);
  if (/\p{Cc}/u.test(name)) throw invalidInput(`The ${what} holds control characters.`);
  return name;
}

/** The folded names that reach the human of a desk: their own, and the one they have logged in by. */
export function namesOf({ human, seat }: { human: string; seat: string }): string[] {
  return [...new Set([foldName(human), foldName(userOfSeat(seat))])];
}

/** @throws HiveError `invalid_input` for a team that nobody is in, or whose names or time do not fit. */
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
  if (escalate_after_ms !== null) timeAfter('escalate_after_ms', escalate_after_ms, now);
  return { folded: foldName(name), name, members: [...members.values()], escalate_after_ms };
}

/** What is known under a name. */
interface Known {
  human: Human | undefined;
  team: Team | undefined;
}

/**
 * The address of a prompt `to` a human or a team; a name that is both reaches both. Who is in the team counts
 * when it is asked. What the asker says of escalating goes before what the team has.
 * @throws HiveError `invalid_input`.
 */
export function addressOf(
  to: string,
  escalate_after_ms: number | null | undefined,
  { human, team }: Known,
  now: string,
): Address {
  const after = escalate_after_ms ?? team?.escalate_after_ms ?? null;
  return {
    to: team?.name ?? human?.name ?? cleanName('name in `to`', to),
    recipients: [...new Set([foldName(to), ...(team?.members ?? []).map(foldName)])],
    escalates_at: after === null ? null : timeAfter('escalate_after_ms', after, now),
  };
}

/** The refusal of a name that nobody goes by: a question to nobody would wait for ever. */
export function nobodyCalled(to: string, known: readonly string[]): HiveError {
  const near = nearestNames(to, known);
  const names = (near.length > 0 ? near : known.slice(0, 10)).map((name) => `"${name}"`).join(', ');
  const hint = names === '' ? '' : near.length > 0 ? ` Did you mean ${names}?` : ` There are ${names}.`;
  return new HiveError(
    'human_not_found',
    `Nobody called "${to}" has been here, and there is no such team.${hint} Name nobody to ask everybody.`,
    { to, known: known.slice(0, 50) },
  );
}

/** Whether a prompt concerns a human with these folded names; a due escalation counts before it is written down. */
export function concerns(
  prompt: Pick<Prompt, 'to' | 'recipients' | 'status' | 'escalates_at' | 'escalated_at'>,
  names: readonly string[],
  now: string,
): boolean {
  return (
    prompt.to === null ||
    prompt.escalated_at !== null ||
    isEscalationDue(prompt, now) ||
    prompt.recipients.some((name) => names.includes(name))
  );
}

/** Whether a prompt waits that those it names have not answered in their time. */
export function isEscalationDue(
  { status, escalates_at, escalated_at }: Pick<Prompt, 'status' | 'escalates_at' | 'escalated_at'>,
  now: string,
): boolean {
  return status === 'pending' && escalates_at !== null && escalated_at === null && escalates_at <= now;
}

/** From now on it concerns everybody. One that is settled, or has been escalated, stays as it is. */
export function escalatePrompt(prompt: Prompt, now: string): Prompt {
  return isEscalationDue(prompt, now) ? { ...prompt, escalated_at: now } : prompt;
}

// ---------------------------------------------------------------------------
// desks

/**
 * Desks: the places where a human sits, an Emacs with its sidecar each. Presence is a lease, so that a
 * crashed sidecar is gone after `DESK_LEASE_MS` without anyone having to notice its death.
 */
export interface Desk {
  desk_id: string;
  /** Machine and user: one human, several desks; a popup is shown once per seat. */
  seat: string;
  pid: number;
  client: string;
  /** What the human here is called. */
  human: string;
  focused: boolean;
  opened_at: string;
  lease_until: string;
}

/** Stands for every seat of a store where preferences are stored by seat. */
export const EVERY_SEAT = '*';

/** A crashed desk counts as online no longer than this. */
export const DESK_LEASE_MS = 15_000;
/** How often a living desk renews its lease; heartbeats append no event and ring no bell. */
export const DESK_HEARTBEAT_MS = 5_000;

/** The end of a lease that is taken or renewed now. */
export function leaseFrom(now: string): string {
  return new Date(Date.parse(now) + DESK_LEASE_MS).toISOString();
}

/** The machine of a seat. */
export function machineOfSeat(seat: string): string {
  return seat.slice(seat.lastIndexOf('@') + 1);
}

/** The person of a seat, `user@machine`; a user's own name may hold an @, a machine's does not. */
export function userOfSeat(seat: string): string {
  const at = seat.lastIndexOf('@');
  return at > 0 ? seat.slice(0, at) : seat;
}
