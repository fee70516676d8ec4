/**
 * Quotas: how much one session, or all sessions of one token, may ask of the human. They stop loops and attacks and never limit
 * real work: no honest agent reaches them. Pure.
 */

import { HiveError } from './errors.ts';
import { type Bucket, fullBucket, HOUR_MS, MINUTE_MS, nextCreditAt, rate, takeCredit } from './rates.ts';
import { hostOf, isRemote, type Session } from './sessions.ts';
import { labelled } from './sources.ts';

interface Limit {
  /** How many a session and its subagents may have. */
  most: number;
  /** The period, in ms; null if the limit is on those that exist at once. */
  per_ms: number | null;
  /** The name of the counted things, after their number. */
  of: string;
  /** Advice for the agent that has reached it. */
  instead: string;
}

/** All quotas. Each is far more than any recorded agent asks, and more than a person could keep up with for a minute. */
export const QUOTAS = {
  quota_pending: {
    most: 200,
    per_ms: null,
    of: 'questions pending at once',
    instead: 'Wait for answers, cancel what you no longer need, or put what is left into one question.',
  },
  quota_questions: {
    most: 120,
    per_ms: MINUTE_MS,
    of: 'questions a minute',
    instead: 'Put what belongs together into one question.',
  },
  quota_criticals: {
    most: 20,
    per_ms: HOUR_MS,
    of: 'critical questions, pings and mentions of the human an hour',
    instead: 'What can wait may be sent without being critical or urgent.',
  },
  quota_mentions: {
    most: 120,
    per_ms: MINUTE_MS,
    of: 'mentions a minute',
    instead: 'The message may be posted without mentions.',
  },
  quota_context: {
    most: 16_384,
    per_ms: HOUR_MS,
    of: 'KB of context an hour',
    instead: 'Put long context into a file and name it.',
  },
  /** Only for tokens. */
  quota_sessions: {
    most: 300,
    per_ms: HOUR_MS,
    of: 'new sessions an hour',
    instead: 'Use a session that you already have.',
  },
} satisfies Readonly<Record<string, Limit>>;

type Quota = keyof typeof QUOTAS;

/** How much of each quota one call takes. */
export type Demand = { [Key in Quota]?: number };

/** Pending questions are counted instead of having a rate. */
type QuotaRate = Exclude<Quota, 'quota_pending'>;

const RATES = (Object.keys(QUOTAS) as Quota[]).filter(
  (quota): quota is QuotaRate => QUOTAS[quota].per_ms !== null,
);

/** The owner of a quota: a session with its subagents, or a token with all its sessions. */
export interface QuotaOwner {
  /** The session's id, or the machine of the token's sessions. */
  id: string;
  kind: 'session' | 'token';
}

/** A token gets this many times a session's quota, because several agents may run on its machine. */
const TOKEN_FACTOR = 5;

/** The owners of the quotas that a session uses. A remote agent names its own sessions, so its token pays as well. */
export function quotaOwners(
  session: Pick<Session, 'session_id' | 'parent_session_id' | 'machine'>,
): QuotaOwner[] {
  const own: QuotaOwner = { id: hostOf(session), kind: 'session' };
  const token = tokenOwner(session.machine);
  return token === null ? [own] : [own, token];
}

/** The token of a remote machine, the only owner that pays for new sessions; null for the human's own machines. */
export function tokenOwner(machine: string): QuotaOwner | null {
  return isRemote(machine) ? { id: machine, kind: 'token' } : null;
}

/** How much of a quota this owner has. */
export function limitOf(quota: Quota, { kind }: Pick<QuotaOwner, 'kind'>): number {
  return QUOTAS[quota].most * (kind === 'token' && quota !== 'quota_sessions' ? TOKEN_FACTOR : 1);
}

/** The name of this owner's bucket. No session and no seat can have this name. */
export function quotaBucket(quota: QuotaRate | 'notice', { id }: QuotaOwner): string {
  return `${QUOTA_BUCKETS}${quota}:${id}`;
}
export const QUOTA_BUCKETS = 'quota:';

/** The rates that a demand touches. */
export function ratesOf(demand: Demand): QuotaRate[] {
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

/** In seconds: a guess, because it is unknown when the human will answer. */
const PENDING_RETRY_S = 60;

/** Whether a call is within every quota of every owner; if so, the buckets after it. */
export function askQuotas(
  demand: Demand,
  states: readonly QuotaState[],
  now: string,
): { refusal: QuotaRefusal } | { refusal: null; buckets: Bucket[] } {
  const charged: Bucket[] = [];
  for (const { owner, pending, buckets } of states) {
    const refuse = (quota: Quota, retry_after_s: number) => ({
      refusal: { quota, owner, retry_after_s, sentence: sentenceOf(quota, owner, retry_after_s) },
    });
    if (pending + (demand.quota_pending ?? 0) > limitOf('quota_pending', owner))
      return refuse('quota_pending', PENDING_RETRY_S);
    for (const quota of ratesOf(demand)) {
      const name = quotaBucket(quota, owner);
      const size = rate(limitOf(quota, owner), QUOTAS[quota].per_ms);
      const bucket = buckets.get(name) ?? fullBucket(name, size, now);
      // A demand larger than the whole quota passes if the quota is untouched; otherwise it never could.
      const wanted = Math.min(demand[quota] ?? 0, size.capacity);
      const left = takeCredit(bucket, size, now, wanted);
      if (left === null) return refuse(quota, secondsUntil(nextCreditAt(bucket, size, now, wanted), now));
      charged.push(left);
    }
  }
  return { refusal: null, buckets: charged };
}

function secondsUntil(at: string, now: string): number {
  return Math.max(1, Math.ceil((Date.parse(at) - Date.parse(now)) / 1_000));
}

function sentenceOf(quota: Quota, owner: QuotaOwner, seconds: number): string {
  const who = owner.kind === 'token' ? 'The sessions of your token' : 'Your session and its subagents';
  return `${who} may have at most ${limitWords(quota, owner)} (${quota}), and this would be more. Nothing was sent. Try again in ${seconds} s. ${QUOTAS[quota].instead}`;
}

function limitWords(quota: Quota, owner: QuotaOwner): string {
  return `${limitOf(quota, owner).toLocaleString('en')} ${QUOTAS[quota].of}`;
}

/** The notice for the human, at most once an hour for each owner. */
export function quotaNotice(
  { quota, owner }: QuotaRefusal,
  session: Pick<Session, 'handle' | 'title' | 'source' | 'project'>,
): string {
  const name = labelled(session);
  const who = owner.kind === 'token' ? `${name} and the other sessions of its token` : name;
  return `${who} reached a quota: ${limitWords(quota, owner)}. What goes beyond it is refused. "hive config quotas no" ends all quotas.`;
}

/** How often the human is notified of one owner's refused calls. */
export const NOTICE_RATE = rate(1, HOUR_MS);

/** How often the human is given the words of calls that a client refuses: these cost no other quota. */
export const REFUSED_CALLS_RATE = rate(20, HOUR_MS);

/** The bucket of these notices: one for a session and its subagents, or for all sessions of a token. */
export function refusedCallsBucket(
  session: Pick<Session, 'session_id' | 'parent_session_id' | 'machine'>,
): string {
  return `${QUOTA_BUCKETS}refused:${(tokenOwner(session.machine) ?? { id: hostOf(session) }).id}`;
}

/** The error for a call beyond a quota. */
export function tooMany({ sentence, quota, retry_after_s }: QuotaRefusal): HiveError {
  return new HiveError('too_many', sentence, { quota, retry_after_s });
}

/** The size of a question's context in KB, as the quota counts it. */
export function contextKb(context: string | null | undefined): number {
  return context === null || context === undefined ? 0 : Math.floor(Buffer.byteLength(context) / 1024);
}
