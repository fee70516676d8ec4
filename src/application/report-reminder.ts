/** The station that reminds of reports, for sessions in the background whose human wants no more than that. */
import { newStopGuard, reportReminder } from '../domain/stop-guard.ts';
import { settingsOf } from './outreach-records.ts';
import type { Station } from './station.ts';

/** Says once of each message to the human that a report is to follow it. */
export const remindOfReports: Station = async ({ tx, event, session }) => {
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
