/**
 * Reports on their way into the session that stands behind the reporter. Pure: which of many are shown at
 * once, and in which words. Whom a report is for, the store finds by index (infrastructure/store/outreach.ts).
 */
import type { Outreach } from './outreach.ts';
import { sourceLabel } from './sources.ts';

/** So many are shown at once; the rest are counted and follow. */
export const REPORTS_AT_ONCE = 10;
/** Context beyond 10,000 characters reaches a model only as a file (measured): some of that is other stations'. */
export const CONTEXT_CHARACTERS = 9_500;

/** One report as its reader reads it. `repeated`: it was carried in before and nothing proved that it was read. */
export function describeReport(report: Outreach, repeated: boolean): string {
  const { outreach_id, agent, source, created_at, message } = report;
  const label = sourceLabel(source);
  const again = repeated ? ' (repeated: this may have reached you before)' : '';
  return `Report from ${agent}${label === null ? '' : ` (${label})`} at ${created_at} [${outreach_id}]${again}:\n${message ?? ''}`;
}

/** How many of these texts fit beside what is said already. */
export function fittingReports(texts: readonly string[], said: readonly string[]): number {
  let left = CONTEXT_CHARACTERS - said.reduce((sum, text) => sum + text.length + 2, 0);
  let count = 0;
  for (const text of texts.slice(0, REPORTS_AT_ONCE)) {
    left -= text.length + 2;
    // One that alone is too long still goes when nothing else is said: the client makes a file of the excess.
    if (left < 0 && (count > 0 || said.length > 0)) break;
    count += 1;
  }
  return count;
}

export function moreReports(count: number): string {
  return `${count} more report${count === 1 ? ' waits' : 's wait'} for you and will follow with your next steps.`;
}
