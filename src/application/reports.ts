/**
 * Delivers reports through the hooks of the reader's session, at most ten at once. As with every delivery (delivery.ts), a report
 * arrives at least once.
 */
import { owed } from '../domain/delivery.ts';
import { acceptsContext, isRefused } from '../domain/hooks.ts';
import { describeReport, fittingReports, moreReports, REPORTS_AT_ONCE } from '../domain/outreach.ts';
import { newStopGuard, reportReminder } from '../domain/stop-guard.ts';
import { hand, hookCarrier } from './delivery.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import { appendOutreach, settingsOf } from './outreach.ts';
import type { ReportReader } from './ports.ts';

/**
 * The hook handler of reports. It runs after the handler of answers, because the human's answers go first if there is not room
 * for all.
 */
export const deliverReports: HookHandler = async (hook) => {
  const { tx, event, session, verdict } = hook;
  const carrier = hookCarrier(session.session_id);
  if (!acceptsContext(event) || isRefused(verdict)) return null;
  const reader = readerOf(hook, carrier);
  const { items, total } = await tx.outreach.reportsFor(reader, REPORTS_AT_ONCE);
  if (items.length === 0) return null;
  const texts = items.map((item) => describeReport(item, item.handed_at !== null));
  const fitting = fittingReports(texts, verdict.context);
  for (const item of items.slice(0, fitting)) {
    const { outreach_id, handed_at } = item;
    const before = { ...owed('report', outreach_id, session.session_id), handed_at };
    const { repeated } = await hand(tx, before, carrier);
    await appendOutreach(tx, 'outreach/handed', item, { to: session.session_id, carrier, repeated });
  }
  const more = total - fitting;
  if (fitting === 0) return null;
  const rest = more > 0 ? [moreReports(more)] : [];
  return { context: [...texts.slice(0, fitting), ...rest], carries: true };
};

/** A main session also reads reports without a reader; in a subagent's conversation nobody would look for them. */
function readerOf({ event, session }: HookContext, carrier: string): ReportReader {
  const { session_id, project_dir, source } = session;
  return { session_id, project_dir, carrier, heir: source === 'main' && event.agent_id === null };
}

// ---- Reminding of reports ----
// For background sessions that are only reminded to report, by the human's setting.

/** Reminds the agent once, after each message to the human, to send a report. */
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
