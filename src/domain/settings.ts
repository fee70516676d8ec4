/**
 * Settings: how Hive notifies a person, and how it holds, wakes and rations agents. They are set from a shell (`hive config`),
 * from Emacs (customize) or over JSON-RPC (`desk/preferences`), and stored. One table lists them all. A new setting is a field of
 * Preferences, OutreachSettings or StoreSettings and a line here; the compiler reports a missing line.
 *
 * Anything that permits or runs something is not a setting: it is in the human's own file (trust.ts), never in the store
 * (invariants 9 and 14).
 */
import { invalidInput } from './errors.ts';
import { parseDuration } from './limits.ts';
import { didYouMean, nearestNames } from './names.ts';
import { DEFAULT_OUTREACH_SETTINGS, type OutreachSettings, REPORT_POLICIES } from './outreach.ts';
import { DEFAULT_PREFERENCES, GATE_MODES, type Preferences } from './preferences.ts';
import { excerpt } from './text.ts';
import { moment, timeAfter } from './times.ts';
import type { Authority } from './trust.ts';

type SeatKey = keyof Preferences;

/** The settings of the whole store, shared by everybody who uses it. */
export interface StoreSettings {
  /** When an agent's mention expires: a duration such as `24h`, or `never`. */
  mention_ttl: string;
  /** How many days settled records are kept. */
  retention_days: number;
  /** Whether quotas apply (quotas.ts). */
  quotas: boolean;
}

export const DEFAULT_STORE_SETTINGS: StoreSettings = {
  mention_ttl: '24h',
  retention_days: 90,
  quotas: true,
};

/** Whether quotas apply, according to the settings stored for every seat. */
export function hasQuotas(stored: Readonly<Record<string, unknown>>): boolean {
  return Boolean(stored['quotas'] ?? DEFAULT_STORE_SETTINGS.quotas);
}

export type SettingKey = SeatKey | keyof OutreachSettings | keyof StoreSettings;

/** The type of a value: how it is written on a command line and checked. */
export type SettingType =
  | { kind: 'yes_no' }
  | { kind: 'choice'; of: readonly string[] }
  | { kind: 'whole_number'; min: number; max: number }
  /** One of these words, or a whole number of `unit`. */
  | { kind: 'word_or_number'; words: readonly string[]; unit: string; min: number; max: number }
  /** `never`, or a duration such as `24h`. */
  | { kind: 'never_or_duration' }
  /** `yes`, `no`, or for how long. */
  | { kind: 'yes_no_or_duration' }
  /** `22:00-07:30`. */
  | { kind: 'hours' }
  /** `one,two`; none of them longer than this. */
  | { kind: 'names'; longest: number };

export interface Setting {
  key: SettingKey;
  /** `seat`: for one user on one machine. `everywhere`: for every seat of the store. */
  scope: 'seat' | 'everywhere';
  type: SettingType;
  default: unknown;
  /** The option or command of Emacs that also sets it; null if only `hive config` does. */
  emacs: string | null;
  text: string;
}

/** Without `emacs`, the option `EMACS_OPTION` sets it. */
type Line = Pick<Setting, 'type' | 'text'> & Partial<Pick<Setting, 'emacs'>>;

/** The option of Emacs for settings without their own command there; `M-x hive-settings` shows and sets the same. */
export const EMACS_OPTION = 'hive-settings';

const YES_NO: SettingType = { kind: 'yes_no' };
const DIALOG_WAIT: SettingType = {
  kind: 'word_or_number',
  words: ['usual', 'on', 'off'],
  unit: 'seconds',
  min: 1,
  max: 86_400,
};
const between = (min: number, max: number): SettingType => ({ kind: 'whole_number', min, max });

const OF_SEAT: Readonly<Record<SeatKey, Line>> = {
  notify_when: {
    type: { kind: 'choice', of: ['always', 'unfocused', 'urgent', 'never'] },
    text: 'when popups are shown; unfocused: only while no Emacs of yours has the focus; urgent: only what is critical',
  },
  do_not_disturb: {
    type: { kind: 'yes_no_or_duration' },
    emacs: 'M-x hive-do-not-disturb',
    text: 'only what is critical pops up; yes, or for how long: 90m, 2h',
  },
  quiet_hours: {
    type: { kind: 'hours' },
    text: 'the time of day in which only what is critical pops up, such as 22:00-07:30',
  },
  muted_projects: {
    type: { kind: 'names', longest: 4_096 },
    emacs: 'M-x hive-mute-popups',
    text: 'projects that show no popups: names or directories, separated by commas',
  },
  muted_agents: {
    type: { kind: 'names', longest: 400 },
    emacs: 'M-x hive-mute-popups',
    text: 'agents that show no popups: handles, separated by commas',
  },
  sound: { type: YES_NO, text: 'popups make a sound' },
  phone_after: {
    type: between(0, 86_400),
    text: 'seconds without the focus in any Emacs of yours after which your phone is notified; what is critical goes at once',
  },
  notify_held: {
    type: { kind: 'word_or_number', words: ['never'], unit: 'seconds', min: 0, max: 86_400 },
    text: 'seconds after which a notice names an agent that a mention holds; 0 is at once',
  },
  gate: {
    type: { kind: 'choice', of: GATE_MODES },
    text: 'what unprocessed mentions do to tool calls; strict: they hold your own messages too; off: they wake nobody either',
  },
  stop_guard: {
    type: YES_NO,
    text: 'agents do not stop while they owe something: unread answers, urgent mentions, a report',
  },
  stop_wait: {
    type: between(0, 590),
    text: 'seconds that an unattended agent waits for your answer before it stops',
  },
  dialog_wait: {
    type: DIALOG_WAIT,
    text: "seconds that a client's permissions and questions can be answered at a desk; usual: a day for Claude Code; for Codex its questions and commands, while it shows them",
  },
  wake: {
    type: { kind: 'word_or_number', words: ['off'], unit: 'hours', min: 1, max: 24 },
    text: 'hours in which answers and mentions wake an agent that has become idle',
  },
};

const OF_STORE: Readonly<Record<keyof StoreSettings, Line>> = {
  mention_ttl: {
    type: { kind: 'never_or_duration' },
    emacs: null,
    text: "when an agent's mention expires",
  },
  retention_days: {
    type: between(1, 36_500),
    emacs: null,
    text: 'days that settled records are kept',
  },
  quotas: {
    type: YES_NO,
    emacs: null,
    text: 'an agent that sends more than any honest one does, such as 120 questions a minute, is refused',
  },
};

const EVERYWHERE: Readonly<Record<keyof OutreachSettings, Line>> = {
  allow_ping: {
    type: YES_NO,
    text: 'background sessions may show you pings and cards',
  },
  report_policy: {
    type: { kind: 'choice', of: REPORT_POLICIES },
    text: 'when background sessions owe a report before they stop',
  },
};

const lines = <Key extends SettingKey>(
  table: Readonly<Record<Key, Line>>,
  scope: Setting['scope'],
  defaults: Readonly<Record<Key, unknown>>,
): Setting[] =>
  (Object.keys(table) as Key[]).map((key) => ({
    key,
    scope,
    default: defaults[key],
    emacs: EMACS_OPTION,
    ...table[key],
  }));

/** Every setting, in the order in which they are shown. */
export const SETTINGS: readonly Setting[] = [
  ...lines(OF_SEAT, 'seat', DEFAULT_PREFERENCES),
  ...lines(EVERYWHERE, 'everywhere', DEFAULT_OUTREACH_SETTINGS),
  ...lines(OF_STORE, 'everywhere', DEFAULT_STORE_SETTINGS),
];

/** Settings that permit or run something: in the human's file, and those with a text also in Emacs. */
export const AUTHORITY: Readonly<
  Record<keyof Authority | 'permission_rules', { text: string; kind: 'yes_no' | 'command' } | null>
> = {
  popup_permissions: { text: 'the buttons of a popup may answer a permission', kind: 'yes_no' },
  notify_command: {
    text: 'a shell command that gets each notification as JSON on its standard input',
    kind: 'command',
  },
  permission_rules: null,
};

/** The settings of notifications on a phone. */
const OF_PHONES: ReadonlySet<SettingKey> = new Set<SettingKey>([
  'notify_when',
  'do_not_disturb',
  'quiet_hours',
  'muted_projects',
  'muted_agents',
  'phone_after',
]);

/** Whether a phone may have its own value of this setting. */
export function isOfPhones({ key }: Pick<Setting, 'key'>): boolean {
  return OF_PHONES.has(key);
}

/** The setting with this name; `quiet-hours` means `quiet_hours`. @throws HiveError `invalid_input`. */
export function settingNamed(name: string): Setting {
  const key = name.replaceAll('-', '_');
  const found = SETTINGS.find((setting) => setting.key === key);
  if (found !== undefined) return found;
  const authority = Object.entries(AUTHORITY).find(([one]) => one === key);
  if (authority !== undefined) {
    const [, emacs] = authority;
    const also = emacs === null ? '' : `, or set it with ${EMACS_OPTION} in Emacs`;
    throw invalidInput(
      `${key} is not set here, because it permits or runs something: write it into your file trust.json${also}.`,
      { field: 'key' },
    );
  }
  const keys = SETTINGS.map((setting) => setting.key);
  throw invalidInput(
    `There is no setting "${excerpt(name, 40)}".${didYouMean(nearestNames(key, keys))} The settings are ${keys.join(', ')}.`,
    { field: 'key' },
  );
}

const WORDS: Readonly<Record<string, boolean>> = {
  yes: true,
  true: true,
  on: true,
  no: false,
  false: false,
  off: false,
};
const HOURS = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Parses the value that a person typed. @throws HiveError `invalid_input` that names the accepted values. */
export function parseSetting({ key, type }: Setting, given: string, now: string): unknown {
  const text = given.trim();
  const wrong = (takes: string) =>
    invalidInput(`${key} takes ${takes}, not "${excerpt(text, 40)}".`, { field: key });
  const word = WORDS[text.toLowerCase()];
  switch (type.kind) {
    case 'yes_no':
      if (word === undefined) throw wrong('yes or no');
      return word;
    case 'choice':
      if (!type.of.includes(text)) throw wrong(`one of ${type.of.join(', ')}`);
      return text;
    case 'whole_number':
      if (!isBetween(text, type)) throw wrong(`a whole number from ${type.min} to ${type.max}`);
      return Number(text);
    case 'word_or_number':
      if (type.words.includes(text)) return text;
      if (!isBetween(text, type))
        throw wrong(`${type.words.join(', ')}, or ${type.unit} from ${type.min} to ${type.max}`);
      return Number(text);
    case 'never_or_duration':
      if (text !== 'never' && !/^\d/.test(text)) throw wrong('never, or a duration such as 24h');
      if (text !== 'never') parseDuration(text);
      return text;
    case 'yes_no_or_duration':
      if (word !== undefined) return word;
      if (!/^\d/.test(text)) throw wrong('yes, no, or a duration such as 90m or 2h');
      return timeAfter(now, parseDuration(text));
    case 'hours': {
      // This is how "no hours" is shown.
      if (text === showSetting(null)) return null;
      const [, from, to] = HOURS.exec(text) ?? [];
      if (from === undefined || to === undefined)
        throw wrong('two times of day, such as 22:00-07:30, or none');
      return { from, to };
    }
    case 'names': {
      // This is how "no names" is shown.
      if (text === showSetting([])) return [];
      const names = text.split(',').map((name) => name.trim());
      if (names.includes('')) throw wrong('names separated by commas');
      return names;
    }
  }
}

function isBetween(text: string, { min, max }: { min: number; max: number }): boolean {
  return /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max;
}

/** A stored value as it applies now: a value that was set for some time is off after that time. */
export function valueAt({ type }: Pick<Setting, 'type'>, stored: unknown, now: string): unknown {
  return type.kind === 'yes_no_or_duration' && typeof stored === 'string' && stored <= now ? false : stored;
}

/** `do_not_disturb` is stored as the time at which it ends. */
const STORED_TIME = /^\d{4}-\d\d-\d\dT/;

/** A value as a person types it; of what was set for some time the end, in the time zone of this machine. */
export function showSetting(value: unknown): string {
  if (typeof value === 'string' && STORED_TIME.test(value)) return `until ${moment(value)}`;
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(',');
  if (typeof value === 'object' && 'from' in value && 'to' in value) return `${value.from}-${value.to}`;
  return String(value);
}

/** The program that set a stored value. */
export type SetBy = 'emacs' | 'cli';
/** Where a value comes from: the default, a shell, an Emacs, or a wider seat. */
export type Origin = 'default' | 'stored' | 'emacs' | 'inherited';

/** The key under which the stored preferences record which program set each of them. No setting has this name. */
const SET_BY = 'set_by';

/**
 * The stored settings after these changes, and the keys that changed. Null restores the default, and missing keys stay. The last
 * write wins.
 */
export function changeStored(
  stored: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
  by: SetBy,
): { stored: Record<string, unknown>; changed: string[] } {
  const next: Record<string, unknown> = { ...stored };
  const set_by: Record<string, unknown> = { ...(stored[SET_BY] as object | undefined) };
  const changed: string[] = [];
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    if (JSON.stringify(next[key] ?? null) !== JSON.stringify(value)) changed.push(key);
    if (value === null) {
      delete next[key];
      delete set_by[key];
    } else {
      next[key] = value;
      set_by[key] = by;
    }
  }
  delete next[SET_BY];
  return { stored: Object.keys(set_by).length === 0 ? next : { ...next, [SET_BY]: set_by }, changed };
}

export function originOf(stored: Readonly<Record<string, unknown>>, key: string): Origin {
  if (stored[key] === undefined || stored[key] === null) return 'default';
  return (stored[SET_BY] as Record<string, unknown> | undefined)?.[key] === 'emacs' ? 'emacs' : 'stored';
}
