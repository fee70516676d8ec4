/** What lists and retention have in common, whatever the kind of record. */

/** One page of a list; `next_cursor` null at the end. The cursor is opaque to callers. */
export interface Page<T> {
  /** In the order of the list. */
  items: T[];
  /** Where the next page begins; null at the end. */
  next_cursor: string | null;
}

/** Counts of records by kind: pruning prompts also removes their responses, popups and events. */
export type PruneCounts = Readonly<Record<string, number>>;

/** What retention removes: records settled before then, with everything that depends on them (retention.ts). */
export interface PrunableReads {
  prunable(before: string): Promise<PruneCounts>;
}

export interface Prunable {
  /** Removes at most `limit` of them; no counts at all when none is left. */
  prune(before: string, limit: number): Promise<PruneCounts>;
}
