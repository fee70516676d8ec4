/** The shape of what a desk sends about itself. */
import { z } from 'zod';

export const PROTOCOL_VERSION = 1;

export const initializeParams = z.object({
  protocol_version: z.number().int(),
  client: z.object({ name: z.string().max(100), version: z.string().max(100) }),
});
export const focusParams = z.object({ focused: z.boolean() });
/** Preferences of a seat; a null takes one back. */
export const preferencesParams = z.record(z.string().max(100), z.json());
