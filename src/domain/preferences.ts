/**
 * Preferences of the human at a seat. They are stored, so that they bind every process of that seat: each desk, and
 * an agent's own `hive mcp` when no desk is open. What permits or runs something is not among them: the store is data
 * (trust.ts). Pure: the time of day is given.
 */
import { foldHandle } from './mention-parser.ts';
import { MINUTE_MS } from './rates.ts';

/**
 * `unfocused`: only while no Emacs of the seat has the focus; the one that has it announces in its echo area. `urgent`: only what
 * is critical, whether or not one has the focus.
 */
type NotifyWhen = 'always' | 'unfocused' | 'urgent' | 'never';

/** Local time of day, `HH:MM`; `from` after `to` goes over midnight. */
interface QuietHours {
  from: string;
  to: string;
}

/**
 * The effect of unprocessed mentions: `strict` refuses tool calls and the human's own messages, `block` tool calls only; a message
 * carries the mentions along. `remind` refuses a tool call for urgent ones only, `off` nothing.
 */
export type GateMode = (typeof GATE_MODES)[number];
export const GATE_MODES = ['strict', 'block', 'remind', 'off'] as const;

/** How long a dialog waits at a desk before its terminal asks: a number of seconds at most. `usual`: as long as its client allows. */
export type DialogWait = 'usual' | 'on' | 'off' | number;

export interface Preferences {
  notify_when: NotifyWhen;
  /** True until it is turned off, or the time (ISO-8601 UTC) at which it ends by itself. */
  do_not_disturb: boolean | string;
  quiet_hours: QuietHours | null;
  /** Short names of projects or their directories. */
  muted_projects: readonly string[];
  /** Handles of agents. */
  muted_agents: readonly string[];
  sound: boolean;
  /** For how many seconds no desk of the human has been attended before their phone is notified; critical ones go at once. */
  phone_after: number;
  /** When the human is notified that a mention blocks an agent. */
  notify_held: NotifyHeld;
  gate: GateMode;
  /** Whether agents are kept from stopping for anything at all. */
  stop_guard: boolean;
  /** How many seconds the Stop of an unattended agent waits for the answer to its question. */
  stop_wait: number;
  dialog_wait: DialogWait;
  /** For how many hours an idle agent can be woken. */
  wake: 'off' | number;
}

/** A missing key leaves the current value; null goes back to the default. */
export type PreferenceChanges = { [Key in keyof Preferences]?: Preferences[Key] | null | undefined };

/** In seconds. Most agents process a mention within seconds; one blocked for a minute is worth a notice. */
const HELD_S = 60;

export const DEFAULT_PREFERENCES: Preferences = {
  notify_when: 'unfocused',
  do_not_disturb: false,
  quiet_hours: null,
  muted_projects: [],
  muted_agents: [],
  sound: false,
  phone_after: 60,
  notify_held: HELD_S,
  gate: 'block',
  stop_guard: true,
  stop_wait: 0,
  dialog_wait: 'usual',
  wake: 8,
};

/** A moment as preferences see it: the time, and the local time of day. */
export interface Moment {
  /** ISO-8601 UTC. */
  now: string;
  /** Minutes since the local midnight. */
  minute_of_day: number;
}

/**
 * A moment of the store's clock. Which instant it is, the store says; what time of day that is, the time zone of this
 * machine says. A seat is a person on a machine, so a process of the seat has the seat's own time zone.
 */
export function momentOf(now: string): Moment {
  const date = new Date(now);
  return { now, minute_of_day: date.getHours() * 60 + date.getMinutes() };
}

/** The preferences of a seat. Keys stored by a newer Hive are ignored. */
export function preferencesFrom(stored: Readonly<Record<string, unknown>>): Preferences {
  const known = Object.keys(DEFAULT_PREFERENCES)
    .filter((key) => stored[key] !== undefined && stored[key] !== null)
    .map((key) => [key, stored[key]]);
  return { ...DEFAULT_PREFERENCES, ...Object.fromEntries(known) } as Preferences;
}

/** Why the human should not be disturbed now by anything that is not critical; null when they may be. */
export function disturbance(
  { do_not_disturb, quiet_hours }: Preferences,
  { now, minute_of_day }: Moment,
): 'do_not_disturb' | 'quiet_hours' | null {
  if (do_not_disturb === true || (typeof do_not_disturb === 'string' && now < do_not_disturb))
    return 'do_not_disturb';
  return quiet_hours !== null && isWithin(quiet_hours, minute_of_day) ? 'quiet_hours' : null;
}

function isWithin({ from, to }: QuietHours, minute: number): boolean {
  const begin = minuteOf(from);
  const end = minuteOf(to);
  // From a time to the same time means the whole day; nobody would configure an empty range.
  if (begin === end) return true;
  return begin < end ? minute >= begin && minute < end : minute >= begin || minute < end;
}

/** Where something comes from, as mutes see it. */
export interface Origin {
  /** The handle of the agent. */
  agent: string;
  project: string;
  project_dir: string;
}

/** Why nothing from there pops up at all; null when the human has not muted it. */
export function mutedBy(
  { muted_projects, muted_agents }: Pick<Preferences, 'muted_projects' | 'muted_agents'>,
  { agent, project, project_dir }: Origin,
): 'muted_project' | 'muted_agent' | null {
  if (muted_projects.includes(project) || muted_projects.includes(project_dir)) return 'muted_project';
  return muted_agents.some((handle) => foldHandle(handle) === foldHandle(agent)) ? 'muted_agent' : null;
}

/** Quiet hours as two times: those that are on, or else the next ones. */
export interface QuietTimes {
  begins_at: string;
  ends_at: string;
}

/** When quiet hours are on, or come next, by the clock in the time zone of this machine. */
export function quietTimes({ from, to }: QuietHours, now: string): QuietTimes {
  const at = (time: string, days: number): string => {
    const date = new Date(now);
    date.setDate(date.getDate() + days);
    date.setHours(0, minuteOf(time), 0, 0);
    return (
      momentOf(date.toISOString()).minute_of_day === minuteOf(time) ? date : jumpBefore(date)
    ).toISOString();
  };
  const end = at(to, 0) > now ? 0 : 1;
  // By the clock: where it skips both times they are the same moment, and no quiet time.
  const begin = minuteOf(from) < minuteOf(to) ? end : end - 1;
  return { begins_at: at(from, begin), ends_at: at(to, end) };
}

/** When the clock jumped last before this time: a time of day that it skips comes with the jump. */
function jumpBefore(date: Date): Date {
  const before = new Date(date.getTime() - MINUTE_MS);
  return before.getTimezoneOffset() === date.getTimezoneOffset() ? jumpBefore(before) : date;
}

/** In how many ms a quiet time ends by itself; 0: there is none now. Null: it has no end that is known. */
export function msOfQuiet(preferences: Preferences, now: string): number | null {
  const { do_not_disturb, quiet_hours } = preferences;
  const reason = disturbance(preferences, momentOf(now));
  if (reason === null) return 0;
  if (reason === 'do_not_disturb')
    return typeof do_not_disturb === 'string' ? Date.parse(do_not_disturb) - Date.parse(now) : null;
  return quiet_hours === null || quiet_hours.from === quiet_hours.to
    ? null
    : Date.parse(quietTimes(quiet_hours, now).ends_at) - Date.parse(now);
}

function minuteOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

// ---- Names of projects ----

/** The short name of an identity: `repo` of `/src/repo/.git` and of `/src/repo.git`, else the last folder. */
export function projectName(project_dir: string): string {
  const parts = project_dir.split(/[/\\]/).filter((part) => part !== '' && part !== '.git');
  return parts.at(-1)?.replace(/\.git$/, '') || project_dir;
}

/** Why no popup was shown, as the event log records it. */
export type SuppressReason =
  | 'low_urgency'
  | 'not_urgent'
  | 'notify_never'
  | 'focused'
  | 'muted_project'
  | 'muted_agent'
  | 'do_not_disturb'
  | 'quiet_hours'
  | 'quiet_criticals'
  | 'settled';

// ---- Agents blocked by a mention ----

/** How many seconds an agent is blocked before the human of a seat is notified; 0 is at once. */
export type NotifyHeld = 'never' | number;
