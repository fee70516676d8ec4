/** Input about the statistics. */
import { z } from 'zod';

/** `stats/read`: the beginning of the period, a time in UTC; by default seven days ago. */
export const statsParams = z.object({ since: z.iso.datetime().optional() });
