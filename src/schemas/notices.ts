/** Input of a request for notices. */
import { z } from 'zod';

/** `notice/list`: newest first, at most 200 a page. */
export const noticeListParams = z.object({
  limit: z.number().int().min(1).max(200).nullish(),
  /** The `next_cursor` of the page before. */
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'not a cursor of this list')
    .nullish(),
});
