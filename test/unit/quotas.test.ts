/** The decision of a quota from counts. */
import { expect, test } from 'vitest';
import { askQuotas, QUOTAS, quotaBucket, quotaOwners } from '../../src/domain/quotas.ts';

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
  const used = { name, credits: 0, since: NOW };
  const states = [empty(session), { ...empty(token), buckets: new Map([[name, used]]) }];
  const opinion = askQuotas({ quota_questions: 1 }, states, NOW);
  expect(opinion).toMatchObject({ refusal: { quota: 'quota_questions', owner: token, retry_after_s: 1 } });
  expect(opinion).not.toHaveProperty('buckets');
});

test('it says when as many as requested will be available', () => {
  const name = quotaBucket('quota_mentions', session);
  const used = { name, credits: 2, since: NOW };
  const states = [{ ...empty(session), buckets: new Map([[name, used]]) }];
  const opinion = askQuotas({ quota_mentions: 62 }, states, NOW);
  expect(opinion).toMatchObject({ refusal: { retry_after_s: 30 } });
});

test('a request larger than the quota passes while the whole quota is available, and uses all of it', () => {
  const many = QUOTAS.quota_mentions.most + 1;
  const opinion = askQuotas({ quota_mentions: many }, [empty(session)], NOW);
  expect(opinion).toMatchObject({ refusal: null, buckets: [{ credits: 0 }] });
});
