/**
 * Reports on their way in: the hooks of the session that stands behind a background one carry them, ten at
 * most at once. At least once, as answers are (delivery.ts): handed when printed, delivered when a further
 * event of the same session proves that it was read, handed again, `repeated`, when its carrier is gone.
 */
import { readUntil, takesContext } from '../domain/hooks.ts';
import { describeReport, fittingReports, moreReports, REPORTS_AT_ONCE } from '../domain/outreach.ts';
import { newStopGuard, reportReminder } from '../domain/stop-guard.ts';
import { hookCarrier } from './delivery.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import { record, settingsOf } from './outreach.ts';
import type { ReportReader, WriteTx } from './ports.ts';

/** The station of reports. After that of answers: what the human said goes first where there is not room for all. */
export const deliverReports: HookHandler = async (visit) => {
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
function readerOf({ event, session }: HookContext, carrier: string): ReportReader {
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

// ---------------------------------------------------------------------------
// The station that reminds of reports, for sessions in the background whose human wants no more than that.

/** Says once of each message to the human that a report is to follow it. */
export const remindOfReports: HookHandler = async ({ tx, event, session }) => {
  if (event.name !== 'PostToolUse' || session.source !== 'bg') return null;
  const { report_policy } = await settingsOf(tx, session);
  if (report_policy !== 'remind') return null;
  const record = (await tx.outreach.guard(session.session_id)) ?? newStopGuard(session.session_id);
  const unreported = await tx.outreach.unreported(session.session_id);
  const fresh = unreported.filter(
    ({ created_at }) => record.reminded_at === null || created_at > record.reminded_at,
  );
  if (fresh.length === 0) return null;
  await tx.outreach.putGuard({ ...record, reminded_at: tx.now });
  return { context: [reportReminder(unreported)] };
};
