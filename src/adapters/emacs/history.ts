/** History over JSON-RPC. */
import type { Page } from '../../application/ports.ts';
import type { HistoryEntry } from '../../domain/history.ts';
import { excerpt } from '../../domain/text.ts';
import { historyParams } from '../../schemas/history.ts';
import { fitPage, fitted, PAGE_BYTES } from './frames.ts';
import { type Methods, takes } from './method.ts';

const DEFAULT_PAGE = 100;
/** A page of 200 with this many characters each fits into a frame; with `full` there are fewer, and whole. */
const EXCERPT_LENGTH = 400;

export const historyMethods: Methods = {
  'history/search': takes(
    historyParams,
    'Returns what was asked and answered, newest first, 100 entries per page by default (`limit`). Each text is cut at 400 characters; with `full` it is complete.',
    async ({ full, limit: size = DEFAULT_PAGE, cursor, ...filter }, { hive }) => {
      const search = (limit: number, from: string | null): Promise<Page<HistoryEntry>> =>
        hive.history.search({ ...filter, limit, cursor: from });
      if (full === true) {
        const whole = (entry: HistoryEntry): HistoryEntry => fitted(entry, PAGE_BYTES);
        const { items, next_cursor } = await fitPage(search, whole, size, cursor);
        return { entries: items, next_cursor };
      }
      const { items, next_cursor } = await search(size, cursor ?? null);
      return { entries: items.map(inShort), next_cursor };
    },
  ),
};

function inShort(entry: HistoryEntry): HistoryEntry {
  const { text, decision } = entry;
  return {
    ...entry,
    text: excerpt(text, EXCERPT_LENGTH),
    decision: decision === null ? null : excerpt(decision, EXCERPT_LENGTH),
  };
}
