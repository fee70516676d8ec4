/** Settings as a human looks at them and sets them (domain/settings.ts), and what every way to set them shares. */
import { EVERY_SEAT } from '../domain/humans.ts';
import {
  changeStored,
  type Origin,
  originOf,
  SETTINGS,
  type SetBy,
  type Setting,
} from '../domain/settings.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';

/** A setting with what holds of it at a seat. */
export interface StoredSetting extends Setting {
  value: unknown;
  origin: Origin;
}

export interface SettingsService {
  /** Every setting, as it holds at a seat. */
  list(seat: string): Promise<StoredSetting[]>;
  /** Sets one; null goes back to the default. Returns it as it then holds. */
  set(setting: Setting, value: unknown, seat: string, by: SetBy): Promise<StoredSetting>;
}

export function createSettings(store: Store): SettingsService {
  return {
    list: (seat) =>
      store.read(async (tx) => {
        const found: StoredSetting[] = [];
        for (const setting of SETTINGS) found.push(await settingAt(tx, setting, seat));
        return found;
      }),

    set: (setting, value, seat, by) =>
      store.write(async (tx) => {
        await storePreferences(tx, placeOf(setting, seat), { [setting.key]: value }, by);
        return settingAt(tx, setting, seat);
      }),
  };
}

function placeOf({ scope }: Setting, seat: string): string {
  return scope === 'everywhere' ? EVERY_SEAT : seat;
}

async function settingAt(tx: ReadTx, setting: Setting, seat: string): Promise<StoredSetting> {
  const stored = await tx.desks.preferences(placeOf(setting, seat));
  return { ...setting, value: stored[setting.key] ?? setting.default, origin: originOf(stored, setting.key) };
}

/** Stores what changed of a seat, or of all of them; an event tells every desk, if anything did. Returns what is stored. */
export async function storePreferences(
  tx: WriteTx,
  seat: string,
  changes: Readonly<Record<string, unknown>>,
  by: SetBy,
): Promise<Record<string, unknown>> {
  const { stored, changed } = changeStored(await tx.desks.preferences(seat), changes, by);
  await tx.desks.setPreferences(seat, stored);
  if (changed.length > 0)
    await tx.events.append({
      type: 'desk/preferences_changed',
      session_id: null,
      subject: null,
      data: { seat, changed, by },
    });
  return stored;
}
