/** History, asked from Emacs. */
import { excerpt } from '../../domain/text.ts';
import { historyParams } from '../../schemas/history.ts';
import type { Methods } from './seat.ts';

const DEFAULT_PAGE = 100;
/** A page of 200 with as much text each stays within a frame; the whole is a prompt/get away. */
const SHOWN = 400;

export const historyMethods: Methods = {
  async 'history/search'(params, { hive }) {
    const given = historyParams.parse(params);
    const filter = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
    );
    const { items, next_cursor } = await hive.store.read((tx) =>
      tx.history.search({ limit: DEFAULT_PAGE, ...filter }),
    );
    const entries = items.map((entry) => ({
      ...entry,
      text: excerpt(entry.text, SHOWN),
      decision: entry.decision === null ? null : excerpt(entry.decision, SHOWN),
    }));
    return { entries, next_cursor };
  },
};
