/** Notices: things that the human should know although nobody asked: a guard gave up, a loop was stopped. */
import { HiveError } from '../domain/errors.ts';
import type { HiveEvent } from '../domain/events.ts';
import { NOTICE_RATE } from '../domain/quotas.ts';
import { fullBucket, type Rate, takeCredit } from '../domain/rates.ts';
import type { Store, WriteTx } from './ports.ts';

export interface Notice {
  severity: 'info' | 'warning' | 'error';
  /** A sentence for the human: what happened, to whom, and what to do. */
  text: string;
  /** The session it is about; missing: none. */
  session_id?: string | null;
  /** Data that a desk may act on: ids, names of rules. */
  data?: Record<string, unknown>;
}

export function createNotices(store: Store) {
  return {
    /** Notifies every desk, and keeps the notice in the log. */
    give: (notice: Notice): Promise<void> => store.write((tx) => giveNotice(tx, notice)),

    /** The notices to desks, newest first; with `before`, only those with a lower event number. */
    list: (limit: number, before?: number): Promise<HiveEvent[]> =>
      store.read((tx) => tx.events.notices(limit, before)),
  };
}

/** Appends the notice to the log, which notifies every desk; the event's seq is the notice's id. */
export async function giveNotice(
  tx: WriteTx,
  { severity, text, session_id = null, data = {} }: Notice,
): Promise<void> {
  await tx.events.append({
    type: 'desk/notice',
    session_id,
    subject: session_id,
    data: { ...data, severity, text },
  });
}

/** The same, at most once an hour for the bucket with this name, or as often as `rate` says. */
export async function giveNoticeSeldom(
  tx: WriteTx,
  name: string,
  notice: Notice,
  rate: Rate = NOTICE_RATE,
): Promise<void> {
  if (await spendCredit(tx, name, rate)) await giveNotice(tx, notice);
}

/** Takes one credit from the bucket with this name, which is full at first; false if none is left. */
export async function spendCredit(tx: WriteTx, name: string, rate: Rate): Promise<boolean> {
  const bucket = (await tx.outreach.bucket(name)) ?? fullBucket(name, rate, tx.now);
  const left = takeCredit(bucket, rate, tx.now);
  if (left !== null) await tx.outreach.putBucket(left);
  return left !== null;
}

/** A refusal of which the human is notified. */
export class NoticedRefusal extends HiveError {
  readonly notify: (tx: WriteTx) => Promise<void>;

  constructor({ code, message, details }: HiveError, notify: (tx: WriteTx) => Promise<void>) {
    super(code, message, details);
    this.notify = notify;
  }
}

/** Runs work. A refusal rolls everything back, so the notice for the human is a separate transaction. */
export async function noticingRefusals<T>(store: Pick<Store, 'write'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoticedRefusal) await store.write(error.notify);
    throw error;
  }
}
