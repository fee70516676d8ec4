/** The shape of a search through history. */
import { z } from 'zod';

/**
 * `history/search`: at most 200 entries a page; times are ISO-8601 UTC. Of each text 400 characters, or with
 * `full` all of it, and as many entries as fit one frame.
 */
export const historyParams = z.object({
  query: z.string().max(1_000).nullish(),
  agent: z.string().max(200).nullish(),
  project: z.string().max(4_096).nullish(),
  since: z.iso.datetime().nullish(),
  until: z.iso.datetime().nullish(),
  full: z.boolean().nullish(),
  limit: z.number().int().min(1).max(200).nullish(),
  cursor: z.string().max(2_000).nullish(),
});
