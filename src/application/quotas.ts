/** Charges the quotas of a session, inside the transaction that stores what it sends (domain/quotas.ts). */
import { EVERY_SEAT } from '../domain/humans.ts';
import type { Outreach } from '../domain/outreach.ts';
import type { Prompt } from '../domain/prompts.ts';
import {
  askQuotas,
  contextKb,
  type Demand,
  limitOf,
  type QuotaOwner,
  type QuotaRefusal,
  type QuotaState,
  quotaBucket,
  quotaNotice,
  quotaOwners,
  ratesOf,
  tokenOwner,
  tooMany,
} from '../domain/quotas.ts';
import type { Bucket } from '../domain/rates.ts';
import type { Session } from '../domain/sessions.ts';
import { hasQuotas } from '../domain/settings.ts';
import { giveNoticeSeldom, NoticedRefusal } from './notices.ts';
import type { ReadTx, WriteTx } from './ports.ts';

/** How much of each quota these questions take. */
export function demandOf(prompts: readonly Pick<Prompt, 'urgency' | 'context'>[]): Demand {
  return {
    quota_pending: prompts.length,
    quota_questions: prompts.length,
    quota_criticals: prompts.filter(({ urgency }) => urgency === 'critical').length,
    quota_context: prompts.reduce((sum, { context }) => sum + contextKb(context), 0),
  };
}

/** How much of each quota a ping or card takes. The buttons of a card are a question. */
export function demandOfOutreach({ critical, actions }: Pick<Outreach, 'critical' | 'actions'>): Demand {
  const questions = actions.length > 0 ? 1 : 0;
  return { quota_pending: questions, quota_questions: questions, quota_criticals: critical ? 1 : 0 };
}

type Payer = Pick<
  Session,
  'session_id' | 'parent_session_id' | 'machine' | 'handle' | 'title' | 'source' | 'project'
>;

/**
 * The state of a session's quotas, read before it is known whether they will be charged; empty where they are off. It is read in
 * parallel: on PostgreSQL, each statement is a round trip under the lock of the hive. Call `storeCharge` next, or `noticeRefusal`
 * after a refusal.
 */
export async function readQuotas(tx: ReadTx, session: Payer, demand: Demand): Promise<readonly QuotaState[]> {
  const [stored, ...states] = await Promise.all([
    tx.desks.preferences(EVERY_SEAT),
    ...quotaOwners(session).map((owner) => stateOf(tx, owner, demand)),
  ]);
  return hasQuotas(stored) ? states : [];
}

/**
 * Charges the demand of a call, or returns the refusal. After a refusal, the caller stores nothing else and lets the transaction
 * commit, because it contains a notice for the human.
 */
export async function chargeQuotas(
  tx: WriteTx,
  session: Payer,
  demand: Demand,
): Promise<QuotaRefusal | null> {
  const readings = await readQuotas(tx, session, demand);
  const opinion = askQuotas(demand, readings, tx.now);
  if (opinion.refusal === null) await storeCharge(tx, opinion.buckets);
  else await noticeRefusal(tx, session, opinion.refusal);
  return opinion.refusal;
}

/** Stores the buckets after a charge. */
export async function storeCharge(tx: WriteTx, buckets: readonly Bucket[]): Promise<void> {
  for (const bucket of buckets) await tx.outreach.putBucket(bucket);
}

/** Charges a token for a new session; sessions of the human's own machines cost nothing. @throws HiveError `too_many`. */
export async function chargeNewSession(tx: WriteTx, payer: Payer): Promise<void> {
  const owner = tokenOwner(payer.machine);
  if (owner === null) return;
  if (!hasQuotas(await tx.desks.preferences(EVERY_SEAT))) return;
  const demand: Demand = { quota_sessions: 1 };
  const opinion = askQuotas(demand, [await stateOf(tx, owner, demand)], tx.now);
  const { refusal } = opinion;
  if (refusal !== null)
    throw new NoticedRefusal(tooMany(refusal), (later) => noticeRefusal(later, payer, refusal));
  await storeCharge(tx, opinion.buckets);
}

async function stateOf(tx: ReadTx, owner: QuotaOwner, demand: Demand): Promise<QuotaState> {
  const [pending, ...found] = await Promise.all([
    (demand.quota_pending ?? 0) > 0
      ? tx.prompts.countPendingUnder(owner.id, limitOf('quota_pending', owner))
      : 0,
    ...ratesOf(demand).map((rate) => tx.outreach.bucket(quotaBucket(rate, owner))),
  ]);
  const buckets = new Map<string, Bucket>();
  for (const bucket of found) if (bucket !== undefined) buckets.set(bucket.name, bucket);
  return { owner, pending, buckets };
}

/** Notifies the human of refused calls, at most once an hour, because many notices would be a flood as well. */
export async function noticeRefusal(tx: WriteTx, session: Payer, refusal: QuotaRefusal): Promise<void> {
  await giveNoticeSeldom(tx, quotaBucket('notice', refusal.owner), {
    severity: 'info',
    text: quotaNotice(refusal, session),
    session_id: session.session_id,
    data: { notice: 'quota_reached', quota: refusal.quota },
  });
}
