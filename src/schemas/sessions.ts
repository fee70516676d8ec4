/** Input about sessions. */
import { z } from 'zod';
import { GATE_MODES } from '../domain/preferences.ts';
import { ROLE, ROLE_SENTENCE, ROOM_MODES } from '../domain/sessions.ts';
import { SOURCES } from '../domain/sources.ts';
import { outreachSettingsShape } from './outreach.ts';

const role = z.string().regex(ROLE, ROLE_SENTENCE);

/** `session/list`: living sessions, ended ones, or both; newest first. `more` in the reply says whether any were left out. */
export const sessionListParams = z.object({
  state: z.enum(['alive', 'ended', 'all']).optional(),
  limit: z.number().int().min(1).max(1_000).optional(),
});

/** `session/configure`: the changes. Missing keys stay; null goes back to the wider setting. */
export const configureParams = z.object({
  /** The id or the handle. */
  session_id: z.string().min(1).max(500),
  /** The name that people see; null goes back to its client's title or its project. */
  name: z.string().max(200).nullish(),
  source: z.enum(SOURCES).nullish(),
  gate: z.enum(GATE_MODES).nullish(),
  /** How it notices new messages in the room that do not mention it. */
  room: z.enum(ROOM_MODES).nullish(),
  shared: z.boolean().optional(),
  roles: z.array(role).max(20).optional(),
  /** The author of the change, for the event log. */
  by: z.string().min(1).max(200).optional(),
  ...outreachSettingsShape,
});
