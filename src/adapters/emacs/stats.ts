/** The statistics over JSON-RPC. */
import { STATS_DAYS } from '../../domain/stats.ts';
import { statsParams } from '../../schemas/stats.ts';
import { type Methods, takes } from './method.ts';

export const statsMethods: Methods = {
  'stats/read': takes(statsParams, async ({ since }, { hive }) => ({
    stats: await hive.stats.read(since ?? daysAgo(STATS_DAYS)),
  })),
};

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString();
}
