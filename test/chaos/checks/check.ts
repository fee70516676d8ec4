/** A check is a pure look at the evidence of a run. */
import type { Evidence, StoredRow } from '../facts.ts';

export interface Check {
  name: string;
  /** The invariant, as a sentence for the report. */
  proves: string;
  run(evidence: Evidence): Verdict;
}

export interface Verdict {
  /** How many facts or rows it compared. A check that compared nothing has shown nothing. */
  looked_at: number;
  /** Faults that it found, as sentences. */
  violations: string[];
}

/** Collects what a check finds. */
export interface Finding extends Verdict {
  /** Checks one thing; `otherwise` says what is wrong if it does not hold. */
  expect(holds: boolean, otherwise: () => string): void;
}

export function finding(): Finding {
  const found: Finding = {
    looked_at: 0,
    violations: [],
    expect(holds, otherwise) {
      found.looked_at += 1;
      if (!holds) found.violations.push(otherwise());
    },
  };
  return found;
}

export function groupBy(rows: readonly StoredRow[], column: string): ReadonlyMap<string, StoredRow[]> {
  return Map.groupBy(rows, (row) => String(row[column]));
}

/** Events about prompts, in order, by ask_id. */
export function trails({ store }: Evidence): ReadonlyMap<string, StoredRow[]> {
  return groupBy(
    store.events.filter(({ type }) => String(type).startsWith('prompt/')),
    'subject',
  );
}

export function decisionOf(late: unknown): unknown {
  return (late as { decision?: unknown } | null)?.decision ?? null;
}

/** The decisions that were amended to, by ask_id. */
export function amendments({ store }: Evidence): ReadonlyMap<string, StoredRow[]> {
  return groupBy(
    store.responses.filter(({ outcome }) => outcome === 'amendment'),
    'ask_id',
  );
}
