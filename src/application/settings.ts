/** Settings as a human reads and sets them (domain/settings.ts), shared by all interfaces. */
import type { Device } from '../domain/devices.ts';
import { EVERY_SEAT } from '../domain/humans.ts';
import { type Preferences, preferencesFrom } from '../domain/preferences.ts';
import {
  changeStored,
  DEFAULT_STORE_SETTINGS,
  hasQuotas,
  isOfPhones,
  type Origin,
  originOf,
  SETTINGS,
  type SetBy,
  type Setting,
  type StoreSettings,
  showSetting,
  valueAt,
} from '../domain/settings.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { type Check, checkOk } from './world.ts';

/** A setting with its value at a seat. */
export interface StoredSetting extends Setting {
  value: unknown;
  origin: Origin;
}

/** The person or program that changes a setting, and from where, for the event log. */
export interface Setter {
  /** The name of the human. */
  by: string;
  pid: number;
  /** The desk in Emacs, or the terminal; null for a script. */
  from: string | null;
}

/** Recorded in the event log if nobody is named. */
const NOBODY = { by: null, pid: null, from: null } as const;

export function createSettings(store: Store) {
  return {
    /** Every setting, with its value at a seat. */
    list: (seat: string): Promise<StoredSetting[]> =>
      store.read(async (tx) => {
        const found: StoredSetting[] = [];
        for (const setting of SETTINGS) found.push(await settingAt(tx, setting, seat));
        return found;
      }),

    /**
     * The settings that a phone may set for itself, with the values that apply there: its own, else those of the seat at which it
     * was paired.
     */
    ofPhone: ({ device_id, seat }: Pick<Device, 'device_id' | 'seat'>): Promise<StoredSetting[]> =>
      store.read(async (tx) => {
        const found: StoredSetting[] = [];
        for (const setting of SETTINGS.filter(isOfPhones)) {
          const own = await settingAt(tx, setting, device_id);
          const inherited = seat === null ? own : await settingAt(tx, setting, seat);
          found.push(
            own.origin !== 'default' || inherited.origin === 'default'
              ? own
              : { ...inherited, origin: 'inherited' },
          );
        }
        return found;
      }),

    /** Sets a value; null restores the default. Returns the setting with its new value. */
    set: (setting: Setting, value: unknown, seat: string, by: SetBy, setter?: Setter) =>
      store.write(async (tx) => {
        await storePreferences(tx, placeOf(setting, seat), { [setting.key]: value }, by, setter);
        return settingAt(tx, setting, seat);
      }),
  };
}

/** The preferences of a seat; without a seat, the defaults. One statement. */
export async function preferencesAt(tx: ReadTx, seat: string | undefined): Promise<Preferences> {
  const stored = seat === undefined ? {} : await tx.desks.preferences(seat);
  return preferencesFrom(stored);
}

export async function storeSettings(tx: ReadTx): Promise<StoreSettings> {
  const stored = await tx.desks.preferences(EVERY_SEAT);
  const { mention_ttl, retention_days } = DEFAULT_STORE_SETTINGS;
  return {
    mention_ttl: String(stored['mention_ttl'] ?? mention_ttl),
    retention_days: Number(stored['retention_days'] ?? retention_days),
    quotas: hasQuotas(stored),
  };
}

/** The doctor's check of the settings, which lists those that differ from the default. */
export async function examineSettings(store: Store, seat: string): Promise<Check> {
  const all = await createSettings(store).list(seat);
  const changed = all
    .filter(({ origin }) => origin !== 'default')
    .map(({ key, value, origin }) => `${key} ${showSetting(value)} (${origin})`);
  const text = changed.length === 0 ? 'all have their defaults' : changed.join(', ');
  return checkOk('Settings', `${text}; hive config shows all`);
}

function placeOf({ scope }: Setting, seat: string): string {
  return scope === 'everywhere' ? EVERY_SEAT : seat;
}

async function settingAt(tx: ReadTx, setting: Setting, seat: string): Promise<StoredSetting> {
  const stored = await tx.desks.preferences(placeOf(setting, seat));
  return {
    ...setting,
    value: valueAt(setting, stored[setting.key] ?? setting.default, tx.now),
    origin: originOf(stored, setting.key),
  };
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
  await recordChanged(tx, { seat, changed, via }, setter);
  return stored;
}

/** Notifies every desk of the settings that were changed, if there are any. */
export async function recordChanged(
  tx: WriteTx,
  change: { seat: string; changed: readonly string[]; via: SetBy },
  { by, pid, from }: Setter | typeof NOBODY = NOBODY,
): Promise<void> {
  if (change.changed.length === 0) return;
  await tx.events.append({ type: 'desk/preferences_changed', data: { ...change, by, pid, from } });
}
