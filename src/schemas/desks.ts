/** Input about desks: the handshake, focus and preferences. */
import { z } from 'zod';
import type { AuthorityChanges } from '../application/trust.ts';
import type { OutreachChanges } from '../domain/outreach.ts';
import type { PreferenceChanges, Preferences } from '../domain/preferences.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../domain/seats.ts';
import { type SettingKey, settingNamed } from '../domain/settings.ts';
import { outreachSettings } from './outreach.ts';

/** The version of the JSON-RPC protocol between Emacs and the sidecar. */
export const PROTOCOL_VERSION = 1;

export const initializeParams = z.object({
  protocol_version: z.number().int(),
  client: z.object({ name: z.string().max(100), version: z.string().max(100) }),
  /** The name of the human; by default from the sidecar's environment. */
  human: z.string().max(400).optional(),
  /** The secret key of the seat; without it, no answer given here can allow anything. */
  seat_key: z.string().regex(SECRET_KEY, 'The key of a seat is 64 hexadecimal digits.').optional(),
  /**
   * Folders with files of the outbox. Emacs cannot flush folders, so the sidecar flushes these and those above before it
   * replies.
   */
  flush_folders: z.array(z.string().min(1).max(4_096)).max(8).optional(),
});
/** A further seat: its name and public key. */
export const seatRegisterParams = z.object({
  name: z.string().max(400),
  key: z.string().regex(PUBLIC_KEY, 'The public key of a seat is 43 characters long.'),
});
export const focusParams = z.object({ focused: z.boolean() });

const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'A time of day is written HH:MM, as in 22:30.');

/** The shape of a setting's value, according to the table of settings. */
function shapeOf<Key extends keyof Preferences & SettingKey>(key: Key): z.ZodType<Preferences[Key]> {
  const { type } = settingNamed(key);
  switch (type.kind) {
    case 'choice':
      return z.enum(type.of) as unknown as z.ZodType<Preferences[Key]>;
    case 'word_or_number': {
      const number = z.number().int().min(type.min).max(type.max);
      return z.union([z.enum(type.words), number]) as unknown as z.ZodType<Preferences[Key]>;
    }
    case 'whole_number':
      return z.number().int().min(type.min).max(type.max) as unknown as z.ZodType<Preferences[Key]>;
    case 'yes_no':
      return z.boolean() as unknown as z.ZodType<Preferences[Key]>;
    default:
      throw new TypeError(`${key} has a shape of its own.`);
  }
}

const preferenceShape = {
  notify_when: shapeOf('notify_when').nullish(),
  do_not_disturb: z.union([z.boolean(), z.iso.datetime()]).nullish(),
  quiet_hours: z.object({ from: timeOfDay, to: timeOfDay }).nullish(),
  muted_projects: z.array(z.string().min(1).max(4_096)).max(1_000).nullish(),
  muted_agents: z.array(z.string().min(1).max(400)).max(1_000).nullish(),
  /** These two apply while this Emacs is connected, and are not stored. */
  popup_permissions: z.boolean().nullish(),
  notify_command: z.string().min(1).max(4_096).nullish(),
  sound: shapeOf('sound').nullish(),
  /** In seconds. */
  phone_after: shapeOf('phone_after').nullish(),
  /** `never`, or after how many seconds; 0 is at once. */
  notify_held: shapeOf('notify_held').nullish(),
  gate: shapeOf('gate').nullish(),
  stop_guard: shapeOf('stop_guard').nullish(),
  stop_wait: shapeOf('stop_wait').nullish(),
  dialog_wait: shapeOf('dialog_wait').nullish(),
  wake: shapeOf('wake').nullish(),
  /** For every seat. */
  outreach: outreachSettings.nullish(),
};

/** `desk/preferences`: the changes. Null goes back to the default; missing keys stay. */
export const preferencesParams: z.ZodType<
  PreferenceChanges & AuthorityChanges & { outreach?: OutreachChanges | null | undefined }
> = z.strictObject(preferenceShape, {
  error: (issue) =>
    issue.code === 'unrecognized_keys'
      ? `There is no preference ${issue.keys.map((key) => `"${key}"`).join(', ')}; there are ${Object.keys(preferenceShape).join(', ')}.`
      : undefined,
});

/** `notice/list`: newest first, at most 200 a page. */
export const noticeListParams = z.object({
  limit: z.number().int().min(1).max(200).optional(),
  /** The `next_cursor` of the page before. */
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'not a cursor of this list')
    .optional(),
});
