/**
 * Quotas: how much one session, or all sessions of one token, may ask of the human. They stop a loop or an attack, not
 * work: no honest agent reaches the defaults. The human changes them (`hive config`); an agent cannot. Pure.
 */

import { HiveError } from './errors.ts';
import { type Bucket, type BudgetSize, fullBucket, nextCreditAt, takeCredit } from './outreach.ts';
import { hostOf, isRemote, type Session } from './sessions.ts';
import { labelled } from './sources.ts';

/** The settings; 0 means no limit. */
export interface Quotas {
  /** Questions that are pending at once. */
  quota_pending: number;
  /** Questions a minute. */
  quota_questions: number;
  /** Critical questions, pings and mentions of the human an hour. */
  quota_criticals: number;
  /** Names that messages mention, a minute. */
  quota_mentions: number;
  /** KB of context with questions an hour. */
  quota_context: number;
  /** Sessions that one token opens an hour. */
  quota_sessions: number;
}

type Quota = keyof Quotas;

/** Far more than any recorded agent asks, and more than a person could keep up with for a minute. */
export const DEFAULT_QUOTAS: Quotas = {
  quota_pending: 200,
  quota_questions: 120,
  quota_criticals: 20,
  quota_mentions: 120,
  quota_context: 16_384,
  quota_sessions: 300,
};

/** How much of each quota one call takes. */
export type Demand = { [Key in Quota]?: number };

/** Pending questions have no rate: they are counted. */
type Rate = Exclude<Quota, 'quota_pending'>;

const MINUTE_MS = 60_000;
const PERIOD_MS: Readonly<Record<Rate, number>> = {
  quota_questions: MINUTE_MS,
  quota_criticals: 60 * MINUTE_MS,
  quota_mentions: MINUTE_MS,
  quota_context: 60 * MINUTE_MS,
  quota_sessions: 60 * MINUTE_MS,
};
const RATES = Object.keys(PERIOD_MS) as Rate[];

/** Whose quota it is: a session with its subagents, or a token with all its sessions. */
export interface QuotaOwner {
  /** A session's id, or the machine of a token's sessions. */
  id: string;
  kind: 'session' | 'token';
}

/** A token belongs to a machine, on which several agents may run. */
const TOKEN_FACTOR = 5;

/** The owners of the quotas that a session uses. A remote agent names its own sessions, so its token pays as well. */
export function quotaOwners(
  session: Pick<Session, 'session_id' | 'parent_session_id' | 'machine'>,
): QuotaOwner[] {
  const own: QuotaOwner = { id: hostOf(session), kind: 'session' };
  const token = tokenOwner(session.machine);
  return token === null ? [own] : [own, token];
}

/** The token that a machine is; null for a machine of the human's. It alone pays for new sessions. */
export function tokenOwner(machine: string): QuotaOwner | null {
  return isRemote(machine) ? { id: machine, kind: 'token' } : null;
}

/** How much of a quota this owner has. */
export function limitOf(quotas: Quotas, quota: Quota, { kind }: QuotaOwner): number {
  return quotas[quota] * (kind === 'token' && quota !== 'quota_sessions' ? TOKEN_FACTOR : 1);
}

/** The name of this owner's bucket. No session and no seat can have this name. */
export function quotaBucket(quota: Rate | 'notice', { id }: QuotaOwner): string {
  return `${QUOTA_BUCKETS}${quota}:${id}`;
}
export const QUOTA_BUCKETS = 'quota:';

/** The rates that a demand touches. */
export function ratesOf(demand: Demand): Rate[] {
  return RATES.filter((rate) => (demand[rate] ?? 0) > 0);
}

/** The state of one owner: how many questions are pending, and its buckets by name. A missing bucket is full. */
export interface QuotaState {
  owner: QuotaOwner;
  pending: number;
  buckets: ReadonlyMap<string, Bucket>;
}

/** Why a call is refused, and when it may be tried again. */
export interface QuotaRefusal {
  quota: Quota;
  owner: QuotaOwner;
  sentence: string;
  retry_after_s: number;
}

/** Nobody knows when the human will answer. */
const PENDING_RETRY_S = 60;

/** Whether a call is within every quota of every owner; if it is, the buckets after it. */
export function askQuotas(
  demand: Demand,
  quotas: Quotas,
  states: readonly QuotaState[],
  now: string,
): { refusal: QuotaRefusal } | { refusal: null; buckets: Bucket[] } {
  const charged: Bucket[] = [];
  for (const { owner, pending, buckets } of states) {
    const refuse = (quota: Quota, retry_after_s: number) => ({
      refusal: { quota, owner, retry_after_s, sentence: sentenceOf(quota, owner, quotas, retry_after_s) },
    });
    const most = limitOf(quotas, 'quota_pending', owner);
    if (quotas.quota_pending > 0 && pending + (demand.quota_pending ?? 0) > most)
      return refuse('quota_pending', PENDING_RETRY_S);
    for (const rate of ratesOf(demand).filter((one) => quotas[one] > 0)) {
      const name = quotaBucket(rate, owner);
      const size = sizeOf(rate, quotas, owner);
      const bucket = buckets.get(name) ?? fullBucket(name, size, now);
      // A demand larger than the whole quota passes when the quota is untouched; otherwise it never would.
      const wanted = Math.min(demand[rate] ?? 0, size.capacity);
      const left = takeCredit(bucket, size, now, wanted);
      if (left === null) return refuse(rate, secondsUntil(nextCreditAt(bucket, size, now, wanted), now));
      charged.push(left);
    }
  }
  return { refusal: null, buckets: charged };
}

function sizeOf(rate: Rate, quotas: Quotas, owner: QuotaOwner): BudgetSize {
  const capacity = limitOf(quotas, rate, owner);
  return { capacity, refill_ms: PERIOD_MS[rate] / capacity };
}

function secondsUntil(at: string | null, now: string): number {
  return at === null ? PENDING_RETRY_S : Math.max(1, Math.ceil((Date.parse(at) - Date.parse(now)) / 1_000));
}

const WORDS: Readonly<Record<Quota, { limit: (most: string) => string; instead: string }>> = {
  quota_pending: {
    limit: (most) => `${most} questions pending at once`,
    instead: 'Wait for answers, cancel what you no longer need, or put what is left into one question.',
  },
  quota_questions: {
    limit: (most) => `${most} questions a minute`,
    instead: 'Put what belongs together into one question.',
  },
  quota_criticals: {
    limit: (most) => `${most} critical questions, pings and mentions of the human an hour`,
    instead: 'What can wait may be sent without being critical or urgent.',
  },
  quota_mentions: {
    limit: (most) => `${most} mentions a minute`,
    instead: 'The message may be posted without mentions.',
  },
  quota_context: {
    limit: (most) => `${most} KB of context an hour`,
    instead: 'Put long context into a file and name it.',
  },
  quota_sessions: {
    limit: (most) => `${most} new sessions an hour`,
    instead: 'Go on in a session that you have.',
  },
};

function sentenceOf(quota: Quota, owner: QuotaOwner, quotas: Quotas, seconds: number): string {
  const who = owner.kind === 'token' ? 'The sessions of your token' : 'Your session and its subagents';
  const { limit, instead } = WORDS[quota];
  const most = limit(limitOf(quotas, quota, owner).toLocaleString('en'));
  return `${who} may have at most ${most} (${quota}), and this would be more. Nothing was sent. Try again in ${seconds} s. ${instead}`;
}

/** The notice for the human, at most once an hour for each owner. */
export function quotaNotice(
  { quota, owner }: QuotaRefusal,
  session: Pick<Session, 'handle' | 'title' | 'source' | 'project'>,
  quotas: Quotas,
): string {
  const limit = WORDS[quota].limit(limitOf(quotas, quota, owner).toLocaleString('en'));
  const name = labelled(session);
  const who = owner.kind === 'token' ? `${name} and the other sessions of its token` : name;
  return `${who} reached a quota: ${limit}. What goes beyond it is refused. hive config ${quota} shows and changes it.`;
}

/** One notice an hour. */
export const NOTICE_SIZE: BudgetSize = { capacity: 1, refill_ms: 60 * MINUTE_MS };

/** The error for a call beyond a quota. */
export function tooMany({ sentence, quota, retry_after_s }: QuotaRefusal): HiveError {
  return new HiveError('too_many', sentence, { quota, retry_after_s });
}

/** The size of a question's context in KB, as the quota counts it. */
export function contextKb(context: string | null | undefined): number {
  return context === null || context === undefined ? 0 : Math.floor(Buffer.byteLength(context) / 1024);
}
