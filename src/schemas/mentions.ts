/** Input about mentions. */
import { z } from 'zod';
import { LOOP_DECISIONS } from '../domain/loops.ts';
import { NOTE_LIMIT } from '../domain/mentions.ts';
import { characters } from './characters.ts';

const name = z.string().min(1).max(200);
const ids = z.array(z.string().min(1).max(100)).max(500);

/** `hivemind_process_mentions`. */
export const processShape = {
  mention_ids: ids.min(1).optional(),
  all: z.boolean().optional().describe('All of them; what you had not read comes with the result.'),
  note: characters(NOTE_LIMIT).optional().describe('What you did about them.'),
};

/** `mention/list`: the human's own unless a session is named, by handle or by id. */
export const mentionListParams = z.object({
  session: name.optional(),
  status: z.enum(['unprocessed', 'processed', 'expired']).optional(),
  limit: z.number().int().min(1).max(500).optional(),
  cursor: z.string().max(2_000).optional(),
});

/** `mention/process`. */
export const mentionProcessParams = z.object({
  session: name.optional(),
  mention_ids: ids.optional(),
  all: z.boolean().optional(),
  note: characters(NOTE_LIMIT).optional(),
  by: name,
});

/** `mention/settle_loop`: two sessions, by handle or by id. */
export const settleLoopParams = z.object({ sessions: z.tuple([name, name]), state: z.enum(LOOP_DECISIONS) });
