/** What a quota decides from counts. */
import { expect, test } from 'vitest';
import { askQuotas, DEFAULT_QUOTAS, quotaBucket, quotaOwners } from '../../src/domain/quotas.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const session = { id: 's', kind: 'session' } as const;
const token = { id: 'token:ci', kind: 'token' } as const;
const empty = (owner: typeof session | typeof token) => ({ owner, pending: 0, buckets: new Map() });

test('a session is charged together with its host, and a remote one also with its token', () => {
  const subagent = { session_id: 's:1', parent_session_id: 's', machine: 'here' };
  expect(quotaOwners(subagent)).toEqual([session]);
  const remote = { session_id: 'token:ci:a', parent_session_id: null, machine: 'token:ci' };
  expect(quotaOwners(remote)).toEqual([{ id: 'token:ci:a', kind: 'session' }, token]);
});

test('if one owner refuses, none is charged', () => {
  const name = quotaBucket('quota_questions', token);
  const used = { name, credits: 0, since: NOW, critical: 0 };
  const states = [empty(session), { ...empty(token), buckets: new Map([[name, used]]) }];
  const opinion = askQuotas({ quota_questions: 1 }, DEFAULT_QUOTAS, states, NOW);
  expect(opinion).toMatchObject({ refusal: { quota: 'quota_questions', owner: token, retry_after_s: 1 } });
  expect(opinion).not.toHaveProperty('buckets');
});

test('it says when as many as requested will be available', () => {
  const name = quotaBucket('quota_mentions', session);
  const used = { name, credits: 2, since: NOW, critical: 0 };
  const states = [{ ...empty(session), buckets: new Map([[name, used]]) }];
  const quotas = { ...DEFAULT_QUOTAS, quota_mentions: 6 };
  const opinion = askQuotas({ quota_mentions: 5 }, quotas, states, NOW);
  expect(opinion).toMatchObject({ refusal: { retry_after_s: 30 } });
});

test('a request larger than the quota passes while the whole quota is available, and uses all of it', () => {
  const quotas = { ...DEFAULT_QUOTAS, quota_mentions: 3 };
  const opinion = askQuotas({ quota_mentions: 10 }, quotas, [empty(session)], NOW);
  expect(opinion).toMatchObject({ refusal: null, buckets: [{ credits: 0 }] });
});

test('a quota of 0 is no limit', () => {
  const none = { ...DEFAULT_QUOTAS, quota_pending: 0, quota_questions: 0 };
  const states = [{ ...empty(session), pending: 100_000 }];
  const opinion = askQuotas({ quota_pending: 1, quota_questions: 1 }, none, states, NOW);
  expect(opinion).toEqual({ refusal: null, buckets: [] });
});
