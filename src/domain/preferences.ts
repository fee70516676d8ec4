/**
 * Preferences of the human at a seat. They are stored, so that they apply to every process of that seat: each desk, and an
 * agent's own `hive mcp` when no desk is open. Settings that permit or run something are not among them, because the store is
 * only data (trust.ts). Pure: the caller passes the time of day.
 */
import { foldHandle } from './mention-parser.ts';
import { MINUTE_MS } from './rates.ts';

/** Local times of day, `HH:MM`. If `from` is after `to`, the period includes midnight. */
interface QuietHours {
  from: string;
  to: string;
}

/**
 * The effect of unprocessed mentions. `strict` refuses tool calls and the human's own messages. `block` refuses only tool calls,
 * and the human's next message brings the mentions along. `remind` refuses tool calls only for urgent mentions. `off` refuses
 * nothing.
 */
export type GateMode = (typeof GATE_MODES)[number];
export const GATE_MODES = ['strict', 'block', 'remind', 'off'] as const;

export interface Preferences {
  /**
   * `unfocused`: only while no Emacs of the seat has the focus; a focused one uses its echo area. `urgent`: only critical things,
   * whether or not an Emacs has the focus.
   */
  notify_when: 'always' | 'unfocused' | 'urgent' | 'never';
  /** True until it is turned off, or the time (ISO-8601 UTC) at which it ends by itself. */
  do_not_disturb: boolean | string;
  quiet_hours: QuietHours | null;
  /** Short names of projects or their directories. */
  muted_projects: readonly string[];
  /** Handles of agents. */
  muted_agents: readonly string[];
  sound: boolean;
  /** The phone is notified once no desk of the human was attended for this many seconds; of critical things at once. */
  phone_after: number;
  /** When the human is notified that a mention holds an agent. */
  notify_held: NotifyHeld;
  gate: GateMode;
  /** Whether anything at all keeps agents from stopping. */
  stop_guard: boolean;
  /** How many seconds the Stop of an unattended agent waits for an answer to its question. */
  stop_wait: number;
  /** How long a dialog waits at a desk before its terminal asks, at most, in seconds. `usual`: as long as its client allows. */
  dialog_wait: 'usual' | 'on' | 'off' | number;
  /** For how many hours an idle agent can be woken. */
  wake: 'off' | number;
}

/** A missing key leaves the current value; null goes back to the default. */
export type PreferenceChanges = { [Key in keyof Preferences]?: Preferences[Key] | null | undefined };

/** In seconds. Most agents process a mention within seconds; a notice is useful once an agent was held for a minute. */
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

/** A point in time for preferences: the time, and the local time of day. */
export interface Moment {
  /** ISO-8601 UTC. */
  now: string;
  /** Minutes since the local midnight. */
  minute_of_day: number;
}

/**
 * The moment of a time of the store's clock, with the time of day in this machine's time zone. A seat is a person on a machine,
 * so a process of the seat has the seat's own time zone.
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

/** Why only critical things may disturb the human now; null if anything may. */
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
  // Equal times mean the whole day: nobody would configure an empty range.
  if (begin === end) return true;
  return begin < end ? minute >= begin && minute < end : minute >= begin || minute < end;
}

/** The origin of a subject, for mutes. */
export interface Origin {
  /** The handle of the agent. */
  agent: string;
  project: string;
  project_dir: string;
}

/** Why nothing from this origin pops up at all; null if the human has not muted it. */
export function mutedBy(
  { muted_projects, muted_agents }: Pick<Preferences, 'muted_projects' | 'muted_agents'>,
  { agent, project, project_dir }: Origin,
): 'muted_project' | 'muted_agent' | null {
  if (muted_projects.includes(project) || muted_projects.includes(project_dir)) return 'muted_project';
  return muted_agents.some((handle) => foldHandle(handle) === foldHandle(agent)) ? 'muted_agent' : null;
}

/** Quiet hours as two times: the current ones, or else the next ones. */
export interface QuietTimes {
  begins_at: string;
  ends_at: string;
}

/** The current or next quiet hours, in this machine's time zone. */
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
  // In local time. If the clock skips both times, they are the same moment, and there is no quiet time.
  const begin = minuteOf(from) < minuteOf(to) ? end : end - 1;
  return { begins_at: at(from, begin), ends_at: at(to, end) };
}

/** When the local clock last jumped before this time. A time of day that it skips counts as the moment of the jump. */
function jumpBefore(date: Date): Date {
  const before = new Date(date.getTime() - MINUTE_MS);
  return before.getTimezoneOffset() === date.getTimezoneOffset() ? jumpBefore(before) : date;
}

/** In how many ms the current quiet time ends by itself; 0 if there is none now, null if its end is unknown. */
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

/** The short name of a project's identity: `repo` for `/src/repo/.git` and for `/src/repo.git`, else the last folder. */
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

// ---- Agents held by a mention ----

/** How many seconds an agent is held before the human of a seat is notified; 0 is at once. */
export type NotifyHeld = 'never' | number;
