/** The statistics over JSON-RPC. */
import { STATS_DAYS } from '../../domain/stats.ts';
import { DAY_MS, timeAfter } from '../../domain/times.ts';
import { statsParams } from '../../schemas/stats.ts';
import { type Methods, takes } from './method.ts';

export const statsMethods: Methods = {
  'stats/read': takes(
    statsParams,
    'Returns how long agents waited for their humans since then, by kind, project and agent; the questions of each day; through what they were answered; what was asked most; and what rules saved. Durations are in ms.',
    async ({ since }, { hive }) => ({
      stats: await hive.stats.read(since ?? timeAfter(new Date().toISOString(), -STATS_DAYS * DAY_MS)),
    }),
  ),
};
