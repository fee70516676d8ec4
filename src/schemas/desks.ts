/** Input about desks: the handshake, focus and preferences. */
import { z } from 'zod';
import type { AuthorityChanges } from '../application/trust.ts';
import type { OutreachChanges } from '../domain/outreach.ts';
import type { PreferenceChanges } from '../domain/preferences.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../domain/seats.ts';
import { SETTINGS, type Setting } from '../domain/settings.ts';
import { outreachSettings, strictly } from './outreach.ts';

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
function shapeOf({ key, type }: Setting): z.ZodType {
  switch (type.kind) {
    case 'yes_no':
      return z.boolean();
    case 'choice':
      return z.enum(type.of);
    case 'whole_number':
      return z.number().int().min(type.min).max(type.max);
    case 'word_or_number':
      return z.union([z.enum(type.words), z.number().int().min(type.min).max(type.max)]);
    case 'yes_no_or_duration':
      return z.union([z.boolean(), z.iso.datetime()]);
    case 'hours':
      return z.object({ from: timeOfDay, to: timeOfDay });
    case 'names':
      return z.array(z.string().min(1).max(type.longest)).max(1_000);
    case 'never_or_duration':
      throw new TypeError(`Only a shell sets ${key}.`);
  }
}

const ofSeat = SETTINGS.filter(({ scope }) => scope === 'seat');

/** `desk/preferences`: the changes. Null goes back to the default; missing keys stay. */
export const preferencesParams = strictly('preference', {
  ...Object.fromEntries(ofSeat.map((setting) => [setting.key, shapeOf(setting).nullish()])),
  /** These two apply while this Emacs is connected, and are not stored. */
  popup_permissions: z.boolean().nullish(),
  notify_command: z.string().min(1).max(4_096).nullish(),
  /** For every seat. */
  outreach: outreachSettings.nullish(),
}) as z.ZodType<PreferenceChanges & AuthorityChanges & { outreach?: OutreachChanges | null | undefined }>;

/** `notice/list`: newest first, at most 200 a page. */
export const noticeListParams = z.object({
  limit: z.number().int().min(1).max(200).optional(),
  /** The `next_cursor` of the page before. */
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'not a cursor of this list')
    .optional(),
});
