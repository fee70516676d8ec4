/** What the services, hooks and popups of outreach all do inside a transaction of theirs. */
import { type Bucket, fullBucket, giveBack, SHARED_BUCKET } from '../domain/budget.ts';
import { EVERY_SEAT } from '../domain/desks.ts';
import type { EventType } from '../domain/events.ts';
import type { Outreach } from '../domain/outreach.ts';
import {
  applyOutreachChanges,
  budgetSize,
  type OutreachOverrides,
  type OutreachSettings,
  outreachSettings,
} from '../domain/outreach-rules.ts';
import type { Session } from '../domain/sessions.ts';
import { owesReport, unreportedNotice } from '../domain/stop-guard.ts';
import { giveNotice } from './notices.ts';
import type { ReadTx, WriteTx } from './ports.ts';

export async function settingsEverywhere(tx: ReadTx): Promise<OutreachOverrides> {
  return applyOutreachChanges({}, await tx.desks.preferences(EVERY_SEAT));
}

/** What holds for a session. */
export async function settingsOf(tx: ReadTx, session: Session): Promise<OutreachSettings> {
  return outreachSettings(await settingsEverywhere(tx), session.outreach);
}

/** The bucket that pays for a session: its own where its figures are its own. */
export async function bucketOf(tx: ReadTx, session: Session, settings: OutreachSettings): Promise<Bucket> {
  const { budget_capacity, budget_refill_minutes } = session.outreach;
  const own = budget_capacity !== undefined || budget_refill_minutes !== undefined;
  const name = own ? session.session_id : SHARED_BUCKET;
  return (await tx.outreach.bucket(name)) ?? fullBucket(name, budgetSize(settings), tx.now);
}

/** Where a ping or card went in the end. */
export type Whereto =
  | { status: 'shown'; shown_via: NonNullable<Outreach['shown_via']> }
  /** Nobody could be shown it: it is kept. */
  | { status: 'unseen'; reason: string };

/**
 * Settles a ping or card that is on its way; what was not shown is not charged. The first to settle it has it, but what
 * was unseen can still be shown.
 */
export async function settleOutreach(tx: WriteTx, outreach_id: string, where: Whereto): Promise<boolean> {
  const item = await tx.outreach.get(outreach_id);
  if (item === undefined || item.kind === 'report') return false;
  if (item.status !== 'sent' && !(item.status === 'unseen' && where.status === 'shown')) return false;
  if (where.status === 'shown') {
    await record(tx, 'outreach/shown', { ...item, ...where, shown_at: tx.now }, { via: where.shown_via });
    return true;
  }
  if (item.charged !== null) await refund(tx, item, item.charged);
  const { reason } = where;
  await record(tx, 'outreach/unseen', { ...item, ...where, charged: null }, { reason });
  return true;
}

async function refund(tx: WriteTx, { session_id }: Outreach, name: string): Promise<void> {
  const bucket = await tx.outreach.bucket(name);
  if (bucket === undefined) return;
  const session = name === SHARED_BUCKET ? undefined : await tx.sessions.get(session_id);
  const settings = outreachSettings(await settingsEverywhere(tx), session?.outreach ?? {});
  await tx.outreach.putBucket(giveBack(bucket, budgetSize(settings), tx.now));
}

/** So long somebody has to show what was sent. */
export const SHOW_WITHIN_MS = 60_000;

/** What nobody has shown in time is unseen, whoever was to show it: its process is gone, or there is no screen. */
export async function settleUnshown(tx: WriteTx): Promise<number> {
  const before = new Date(Date.parse(tx.now) - SHOW_WITHIN_MS).toISOString();
  const unshown = await tx.outreach.unshown(before);
  for (const { outreach_id } of unshown)
    await settleOutreach(tx, outreach_id, { status: 'unseen', reason: 'nobody_there' });
  return unshown.length;
}

/** Writes a change of something sent, and tells of it. */
export async function record(
  tx: WriteTx,
  type: EventType,
  item: Outreach,
  data: Record<string, unknown> = {},
): Promise<void> {
  await tx.outreach.update(item);
  await tell(tx, type, item, data);
}

export async function tell(
  tx: WriteTx,
  type: EventType,
  { session_id, outreach_id, kind, status, source, critical }: Outreach,
  data: Record<string, unknown> = {},
): Promise<void> {
  await tx.events.append({
    type,
    session_id,
    subject: outreach_id,
    data: { kind, status, source, critical, ...data },
  });
}

/** An agent is gone with output that it did not report: the human hears of it, once. */
export async function letGo(
  tx: WriteTx,
  session: Session,
  unreported: readonly Outreach[],
  how: 'stopped' | 'ended',
): Promise<void> {
  for (const item of unreported) await tx.outreach.update({ ...item, let_go_at: tx.now });
  const outreach_ids = unreported.map(({ outreach_id }) => outreach_id);
  await giveNotice(tx, {
    severity: 'warning',
    session_id: session.session_id,
    text: unreportedNotice(session, unreported, how),
    data: { guard: 'stop', outreach_ids },
  });
  await tx.events.append({
    type: 'stop/let_go',
    session_id: session.session_id,
    subject: session.session_id,
    data: { how, outreach_ids },
  });
}

/** A session that ends without its Stop (interrupted, crashed, killed) is held to account all the same. */
export async function reconcileUnreported(tx: WriteTx, session: Session): Promise<void> {
  if (session.source !== 'bg') return;
  const unreported = await tx.outreach.unreported(session.session_id);
  if (unreported.length === 0) return;
  const settings = await settingsOf(tx, session);
  if (owesReport(session.source, settings, unreported, { reported_in_turn: false }))
    await letGo(tx, session, unreported, 'ended');
}
