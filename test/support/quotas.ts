/** Quotas that a test wants to be used up. */
import { type QUOTAS, quotaBucket } from '../../src/domain/quotas.ts';
import type { OpenedHive } from '../../src/open-hive.ts';

/**
 * Spends the quota of a session, or of a token, but for so many. Where none are left, none comes back before an hour has passed: a
 * clock that was set back lets a bucket wait.
 */
export async function spendQuota(
  hive: OpenedHive,
  quota: Exclude<keyof typeof QUOTAS, 'quota_pending'>,
  owner: string,
  left = 0,
): Promise<void> {
  await hive.store.write((tx) => {
    const since = left > 0 ? tx.now : new Date(Date.parse(tx.now) + 3_600_000).toISOString();
    return tx.outreach.putBucket({ name: bucketOf(quota, owner), credits: left, since });
  });
}

/** How much is left of a quota; null while nothing was taken. */
export async function leftOf(
  hive: OpenedHive,
  quota: Exclude<keyof typeof QUOTAS, 'quota_pending'>,
  owner: string,
): Promise<number | null> {
  return (await hive.store.read((tx) => tx.outreach.bucket(bucketOf(quota, owner))))?.credits ?? null;
}

function bucketOf(quota: Exclude<keyof typeof QUOTAS, 'quota_pending'>, owner: string): string {
  return quotaBucket(quota, { id: owner, kind: owner.startsWith('token:') ? 'token' : 'session' });
}
