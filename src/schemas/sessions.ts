/** The shape of what comes in about sessions. */
import { z } from 'zod';
import { SOURCES } from '../domain/sources.ts';
import { outreachSettingsShape } from './outreach.ts';

/** A role is written as a mention is: `@reviewer`. */
const role = z
  .string()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,49}$/u,
    'A role is one word of letters, digits, - and _, as in reviewer.',
  );

/** `session/list`: the living, or those that have ended; newest first. The reply says in `more` whether it left out any. */
export const sessionListParams = z.object({
  state: z.enum(['alive', 'ended', 'all']).nullish(),
  limit: z.number().int().min(1).max(1_000).nullish(),
});

/** `session/configure`: what changes. What is left out stays; a null goes back to what holds without it. */
export const configureParams = z.object({
  /** The id or the handle. */
  session_id: z.string().min(1).max(500),
  source: z.enum(SOURCES).nullish(),
  gate: z.enum(['block', 'remind', 'off']).nullish(),
  shared: z.boolean().nullish(),
  roles: z.array(role).max(20).nullish(),
  ...outreachSettingsShape,
});
