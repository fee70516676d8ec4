/** Compares what the workers learned with what is stored (design: the invariants). Pure. */
import { acknowledged } from './checks/acknowledged.ts';
import type { Check, Verdict } from './checks/check.ts';
import { delivery, receipts } from './checks/delivery.ts';
import { failures } from './checks/failures.ts';
import { feeds } from './checks/feeds.ts';
import { guards } from './checks/guards.ts';
import { lateAnswers, noSelfApproval, oneWinner, provenance, silence } from './checks/settlements.ts';
import type { Evidence } from './facts.ts';

const CHECKS: readonly Check[] = [
  acknowledged,
  oneWinner,
  silence,
  lateAnswers,
  receipts,
  delivery,
  provenance,
  noSelfApproval,
  feeds,
  guards,
  failures,
];

export interface Checked extends Verdict {
  name: string;
  proves: string;
}

/**
 * The checks that had nothing to look at in any leg of a run: such a run has not shown what it says. `without`: the names of
 * those for which the run has no worker. The check of failures is never among them: a run in which nothing is refused is
 * a good one.
 */
export function idle(checked: readonly Checked[], without: readonly string[] = []): string[] {
  return [...Map.groupBy(checked, ({ name }) => name)]
    .filter(([, legs]) => legs.every(({ looked_at }) => looked_at === 0))
    .map(([name]) => name)
    .filter((name) => name !== failures.name && !without.includes(name));
}

export function checkAll(evidence: Evidence): Checked[] {
  return CHECKS.map(({ name, proves, run }) => {
    const { looked_at, violations } = run(evidence);
    return { name, proves, looked_at, violations };
  });
}
