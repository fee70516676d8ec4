/** Input of a search through the history. */
import { z } from 'zod';

/**
 * `history/search`: at most 200 entries a page; times are ISO-8601 UTC. Each text has at most 400 characters; with `full`
 * it is complete, and as many entries are returned as fit into one frame.
 */
export const historyParams = z.object({
  query: z.string().max(1_000).optional(),
  agent: z.string().max(200).optional(),
  project: z.string().max(4_096).optional(),
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
  full: z.boolean().optional(),
  limit: z.number().int().min(1).max(200).optional(),
  cursor: z.string().max(2_000).optional(),
});
