/**
 * Reports on their way in: the hooks of the session that stands behind a background one carry them, ten at
 * most at once. At least once, as answers are (delivery.ts): handed when printed, delivered when a further
 * event of the same session proves that it was read, handed again, `repeated`, when its carrier is gone.
 */
import { readUntil, takesContext } from '../domain/hooks.ts';
import { describeReport, fittingReports, moreReports, REPORTS_AT_ONCE } from '../domain/reports.ts';
import { hookCarrier } from './delivery.ts';
import { record } from './outreach-records.ts';
import type { ReportReader, WriteTx } from './ports.ts';
import type { Station, Visit } from './station.ts';

/** The station of reports. After that of answers: what the human said goes first where there is not room for all. */
export const deliverReports: Station = async (visit) => {
  const { tx, event, session, verdict, proves } = visit;
  const carrier = hookCarrier(session.session_id);
  // A session that begins anew from its transcript may have lost what was printed last.
  const proven = event.name === 'SessionStart' ? null : readUntil(event, tx.now);
  if (proven !== null && proves) await collect(tx, carrier, proven);
  if (!takesContext(event) || verdict.block !== null) return null;
  if (event.name === 'SessionStart') await releaseReports(tx, carrier);
  const reader = readerOf(visit, carrier);
  const { items, total } = await tx.outreach.reportsFor(reader, REPORTS_AT_ONCE);
  if (items.length === 0) return null;
  const texts = items.map((item) => describeReport(item, item.handed_at !== null));
  const fitting = fittingReports(texts, verdict.context);
  for (const item of items.slice(0, fitting)) {
    const handed = { ...item, handed_at: tx.now, carrier };
    await record(tx, 'outreach/handed', handed, {
      to: session.session_id,
      carrier,
      repeated: item.handed_at !== null,
    });
  }
  const more = total - fitting;
  if (fitting === 0) return null;
  const rest = more > 0 ? [moreReports(more)] : [];
  return { context: [...texts.slice(0, fitting), ...rest], carries: true };
};

/** A main session inherits what has no other reader; a subagent's conversation is not where anybody would look for it. */
function readerOf({ event, session }: Visit, carrier: string): ReportReader {
  const { session_id, project_dir, source } = session;
  return { session_id, project_dir, carrier, heir: source === 'main' && event.agent_id === null };
}

async function collect(tx: WriteTx, carrier: string, handed_before: string): Promise<void> {
  for (const item of await tx.outreach.carriedBy(carrier, handed_before)) {
    await record(
      tx,
      'outreach/delivered',
      { ...item, status: 'delivered', delivered_at: tx.now },
      { carrier },
    );
  }
}

/** What this session's hooks had printed and nothing proved read is to be handed again. */
export async function releaseReports(tx: WriteTx, carrier: string): Promise<void> {
  for (const item of await tx.outreach.carriedBy(carrier, tx.now))
    await tx.outreach.update({ ...item, carrier: null });
}
