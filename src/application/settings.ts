/** Settings as a human reads and sets them (domain/settings.ts), and what all ways of setting them share. */
import type { Device } from '../domain/devices.ts';
import { EVERY_SEAT } from '../domain/humans.ts';
import { type Preferences, preferencesFrom } from '../domain/preferences.ts';
import {
  changeStored,
  DEFAULT_STORE_SETTINGS,
  fromEnvironment,
  isOfPhones,
  type Origin,
  oldVariables,
  originOf,
  quotasFrom,
  SETTINGS,
  type SetBy,
  type Setting,
  type StoreSettings,
  showSetting,
} from '../domain/settings.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import type { Check } from './world.ts';

/** A setting with its value at a seat. */
export interface StoredSetting extends Setting {
  value: unknown;
  origin: Origin;
}

/** This process's environment: one of the old variables wins over a stored value. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Who changes a setting, and from where; the event log keeps it. */
export interface Setter {
  /** The name of the human. */
  by: string;
  pid: number;
  /** The desk in Emacs, or the terminal; null for a script. */
  from: string | null;
}

/** What the event log records when nobody is named. */
export const NOBODY = { by: null, pid: null, from: null } as const;

export interface SettingsService {
  /** Every setting, with its value at a seat. */
  list(seat: string): Promise<StoredSetting[]>;
  /** What a phone may have of its own, with the values that apply there: its own, else those of the seat at which it was paired. */
  ofPhone(phone: Pick<Device, 'device_id' | 'seat'>): Promise<StoredSetting[]>;
  /** Sets one; null restores the default. Returns it with its new value. */
  set(setting: Setting, value: unknown, seat: string, by: SetBy, setter?: Setter): Promise<StoredSetting>;
  /** The values that apply at a seat. */
  preferences(seat: string): Promise<Preferences>;
  /** The values that apply for the whole store. */
  ofStore(): Promise<StoreSettings>;
}

export function createSettings(store: Store, env: Environment): SettingsService {
  return {
    list: (seat) =>
      store.read(async (tx) => {
        const found: StoredSetting[] = [];
        for (const setting of SETTINGS) found.push(await settingAt(tx, setting, seat, env));
        return found;
      }),

    ofPhone: ({ device_id, seat }) =>
      store.read(async (tx) => {
        const found: StoredSetting[] = [];
        for (const setting of SETTINGS.filter(isOfPhones)) {
          const own = await settingAt(tx, setting, device_id, env);
          const inherited = seat === null ? own : await settingAt(tx, setting, seat, env);
          found.push(
            own.origin !== 'default' || inherited.origin === 'default'
              ? own
              : { ...inherited, origin: 'inherited' },
          );
        }
        return found;
      }),

    set: (setting, value, seat, by, setter) =>
      store.write(async (tx) => {
        await storePreferences(tx, placeOf(setting, seat), { [setting.key]: value }, by, setter);
        return settingAt(tx, setting, seat, env);
      }),

    preferences: (seat) => store.read((tx) => preferencesAt(tx, seat, env)),
    ofStore: () => store.read((tx) => storeSettings(tx, env)),
  };
}

/** The preferences of a seat; without a seat, those of the environment and the defaults. One statement. */
export async function preferencesAt(
  tx: ReadTx,
  seat: string | undefined,
  env: Environment,
): Promise<Preferences> {
  const stored = seat === undefined ? {} : await tx.desks.preferences(seat);
  return preferencesFrom({ ...stored, ...fromEnvironment(env) });
}

export async function storeSettings(tx: ReadTx, env: Environment): Promise<StoreSettings> {
  const stored: Record<string, unknown> = {
    ...(await tx.desks.preferences(EVERY_SEAT)),
    ...fromEnvironment(env),
  };
  const { mention_ttl, retention_days } = DEFAULT_STORE_SETTINGS;
  return {
    mention_ttl: String(stored['mention_ttl'] ?? mention_ttl),
    retention_days: Number(stored['retention_days'] ?? retention_days),
    ...quotasFrom(stored),
  };
}

/** The doctor's findings on the settings: those that differ from the default, and each old variable that is set. */
export async function examineSettings(store: Store, seat: string, env: Environment): Promise<Check[]> {
  const all = await createSettings(store, env).list(seat);
  const changed = all
    .filter(({ origin }) => origin !== 'default')
    .map(({ key, value, origin }) => `${key} ${showSetting(value)} (${origin})`);
  const text = changed.length === 0 ? 'all have their defaults' : changed.join(', ');
  const settings: Check = {
    name: 'Settings',
    state: 'ok',
    text: `${text}; hive config shows all`,
    advice: null,
  };
  return [settings, ...oldVariables(env).map(checkVariable)];
}

function checkVariable({ variable, given, setting, value }: ReturnType<typeof oldVariables>[number]): Check {
  const { key } = setting;
  if (value === undefined) {
    const text = `${variable} is "${given}", which it cannot be, and is ignored`;
    return { name: 'Settings', state: 'broken', text, advice: `unset it; hive config ${key} sets the same` };
  }
  const instead = `hive config ${key} ${showSetting(value)}`;
  return {
    name: 'Settings',
    state: 'ok',
    text: `${variable} is set and still wins, until the next release; unset it and run: ${instead}`,
    advice: null,
  };
}

function placeOf({ scope }: Setting, seat: string): string {
  return scope === 'everywhere' ? EVERY_SEAT : seat;
}

async function settingAt(
  tx: ReadTx,
  setting: Setting,
  seat: string,
  env: Environment,
): Promise<StoredSetting> {
  const stored = await tx.desks.preferences(placeOf(setting, seat));
  const overridden = fromEnvironment(env)[setting.key];
  if (overridden !== undefined) return { ...setting, value: overridden, origin: 'environment' };
  return { ...setting, value: stored[setting.key] ?? setting.default, origin: originOf(stored, setting.key) };
}

/** Stores changes to a seat, or to all seats; if anything changed, an event notifies every desk. Returns what is stored. */
export async function storePreferences(
  tx: WriteTx,
  seat: string,
  changes: Readonly<Record<string, unknown>>,
  via: SetBy,
  setter: Setter | undefined,
): Promise<Record<string, unknown>> {
  const { stored, changed } = changeStored(await tx.desks.preferences(seat), changes, via);
  await tx.desks.setPreferences(seat, stored);
  if (changed.length > 0)
    await tx.events.append({
      type: 'desk/preferences_changed',
      session_id: null,
      subject: null,
      data: { seat, changed, via, ...(setter ?? NOBODY) },
    });
  return stored;
}
