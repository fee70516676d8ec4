/**
 * Agents that try to flood their human: each is refused with the time at which to try again.
 *
 * @module-tag guards-end
 * @module-tag mcp
 */
import { describe, expect, test } from 'vitest';
import { QUOTAS } from '../../src/domain/quotas.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { shell } from '../support/cli.ts';
import { openDesk } from '../support/dialogs.ts';
import {
  HUMAN,
  introduction,
  newHive,
  noticesOf,
  openTestHive,
  setQuotas,
  withoutQuotas,
} from '../support/hive.ts';
import { fire } from '../support/hooks.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { post } from '../support/messages.ts';
import { agent, attended, recorded, refusalOf } from '../support/outreach.ts';
import { leftOf, spendQuota } from '../support/quotas.ts';
import { tempStore } from '../support/temp.ts';

function ask(hive: OpenedHive, session: Session, request: object = {}): ReturnType<typeof hive.prompts.ask> {
  return hive.prompts.ask({ question: 'Go on?', ...request }, session);
}

/** So many questions of a session, pending. */
async function pend(hive: OpenedHive, session: Session, count: number): Promise<void> {
  await withoutQuotas(hive);
  for (let asked = 0; asked < count; asked += 1) await ask(hive, session);
  await setQuotas(hive, true);
}

const MOST_PENDING = QUOTAS.quota_pending.most;

test('a token opens only so many sessions, by hooks or calls, and is told when to try again', async () => {
  const hive = await openTestHive();
  const remote = (token: string, name: string): Promise<Session> =>
    hive.sessions.introduce(
      introduction({ session_id: `token:${token}:${name}`, machine: `token:${token}` }),
    );
  const hook = (session_id: string, agent_id?: string): Promise<string> =>
    fire(
      hive,
      {
        hook_event_name: 'SessionStart',
        source: 'startup',
        session_id,
        cwd: '/',
        ...(agent_id && { agent_id }),
      },
      { surroundings: { machine: 'token:ci' } },
    );
  await spendQuota(hive, 'quota_sessions', 'token:ci', 2);
  await remote('ci', 'one');
  await hook('token:ci:two');
  const refusal = await refusalOf(remote('ci', 'three'));
  expect(refusal).toMatchObject({ code: 'too_many', details: { quota: 'quota_sessions' } });
  expect(refusal.message).toMatch(
    /at most 300 new sessions an hour \(quota_sessions\).*Try again in \d+ s\./,
  );
  await expect(hook('token:ci:four')).rejects.toThrow('quota_sessions');
  await expect(hook('token:ci:one', 'a-subagent')).rejects.toThrow('quota_sessions');
  // Existing sessions continue, and other tokens have their own limit.
  await hook('token:ci:two');
  await remote('ci', 'one');
  await remote('other', 'one');
  for (const name of ['x', 'y', 'z']) await hive.sessions.introduce(introduction({ session_id: name }));
  const { length } = (await hive.sessions.list()).filter(({ machine }) => machine === 'token:ci');
  expect(length).toBe(2);
  expect(await noticesOf(hive)).toEqual([
    expect.stringContaining('reached a quota: 300 new sessions an hour'),
  ]);
});

describe('questions', () => {
  test('an agent that asks in a loop is refused, told when to try again, and its human is notified once', async () => {
    const hive = await openTestHive();
    const session = await agent(hive, 'loop');
    let asked = 0;
    let refusal = null;
    while (refusal === null && asked <= 200)
      await ask(hive, session).then(
        () => {
          asked += 1;
        },
        (error: unknown) => {
          refusal = error;
        },
      );
    expect(asked).toBeGreaterThanOrEqual(120);
    expect(refusal).toMatchObject({ code: 'too_many' });
    expect(String(refusal)).toMatch(
      /at most (120 questions a minute \(quota_questions\)|200 questions pending).*Nothing was sent\. Try again in \d+ s\./,
    );
    expect(await hive.prompts.count({ status: 'pending' })).toBe(asked);
    await refusalOf(refuseAgain(hive, session));
    const notices = await noticesOf(hive);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain((await hive.sessions.resolve(session.session_id)).title);
    // Others are not affected.
    expect((await ask(hive, await agent(hive, 'other'))).existing).toBe(false);
  });

  test('only a limited number is pending at once, including those of subagents; an answer makes room', async () => {
    const hive = await openTestHive();
    const session = await agent(hive, 'main');
    const subagent = await agent(hive, 'main:sub', 'bg', 'main');
    await pend(hive, session, MOST_PENDING - 2);
    const { prompt } = await ask(hive, session);
    await ask(hive, subagent);
    for (const asker of [session, subagent])
      expect(await refusalOf(ask(hive, asker))).toMatchObject({
        code: 'too_many',
        details: { quota: 'quota_pending', retry_after_s: 60 },
      });
    // A session whose id begins the same is another one.
    await ask(hive, await agent(hive, 'main2'));
    await hive.prompts.respond({ ask_id: prompt.ask_id, decision: 'yes', actor: HUMAN });
    expect((await ask(hive, session)).existing).toBe(false);
  });

  test('context is counted in bytes, whatever the number of questions', async () => {
    const hive = await openTestHive();
    const session = await agent(hive, 'talker');
    await spendQuota(hive, 'quota_context', 'talker', 100);
    const context = 'x'.repeat(60 * 1024);
    await ask(hive, session, { context });
    const refusal = await refusalOf(ask(hive, session, { context }));
    expect(refusal.message).toMatch(/at most 16,384 KB of context an hour \(quota_context\)/);
    // 20 KB come back in four seconds or five.
    expect(Number(refusal.details['retry_after_s'])).toBeLessThanOrEqual(5);
    expect((await ask(hive, session)).existing).toBe(false);
  });

  test('a question that is repeated under its key costs nothing', async () => {
    const hive = await openTestHive();
    const session = await agent(hive, 'careful');
    const request = { idempotency_key: 'once' };
    await ask(hive, session, request);
    const before = await leftOf(hive, 'quota_questions', 'careful');
    await spendQuota(hive, 'quota_questions', 'careful');
    expect((await ask(hive, session, request)).existing).toBe(true);
    expect(before).toBe(QUOTAS.quota_questions.most - 1);
    expect((await refusalOf(ask(hive, session))).code).toBe('too_many');
  });

  test('a permission beyond the quota is asked in its terminal only', async () => {
    const hive = await openTestHive();
    await openDesk(hive);
    const event = recorded('claude-code', 'PermissionRequest-Bash-addRules');
    await pend(hive, await agent(hive, String(event['session_id'])), MOST_PENDING);
    expect(await fire(hive, event)).toBe('');
    expect(await hive.prompts.count({ status: 'pending' })).toBe(MOST_PENDING);
  });
});

test('calls that its client refuses give the human only so many notices an hour, with no line like one of Hive', async () => {
  const hive = await openTestHive(tempStore());
  const message = 'Done.\nClaude Code refused the call. To let agents use them, run: evil';
  const refused = (n: number): Promise<string> =>
    fire(hive, {
      ...{ hook_event_name: 'PermissionDenied', session_id: 'one', cwd: '/', tool_use_id: `t${n}` },
      ...{ tool_name: 'mcp__hive__hivemind_ping_user', tool_input: { message } },
    });
  for (let n = 0; n < 30; n += 1) await refused(n);
  const notices = await noticesOf(hive);
  expect(notices).toHaveLength(20);
  for (const notice of notices)
    expect(notice.split('\n').filter((line) => line.startsWith('Claude Code refused'))).toHaveLength(1);
});

test('critical questions, pings and urgent mentions of the human are counted together, by the hour', async () => {
  const hive = await attended(await openTestHive());
  const session = await agent(hive, 'alarm');
  await spendQuota(hive, 'quota_criticals', 'alarm', 3);
  await ask(hive, session, { urgency: 'critical' });
  await hive.outreach.ping({ message: 'Fire!', critical: true }, session);
  await post(hive, session, '@Human help', { priority: 'urgent' });
  for (const work of [
    ask(hive, session, { urgency: 'critical' }),
    hive.outreach.ping({ message: 'Fire!', critical: true }, session),
    post(hive, session, '@Human help', { priority: 'urgent' }),
  ])
    expect(await refusalOf(work)).toMatchObject({ code: 'too_many', details: { quota: 'quota_criticals' } });
  // Anything that is not critical still passes.
  await ask(hive, session);
  await hive.outreach.ping({ message: 'Built.' }, session);
  await post(hive, session, '@Human when you have time');
});

test('each mentioned name is counted; a message without mentions is posted', async () => {
  const hive = await openTestHive();
  const session = await agent(hive, 'crier');
  for (const handle of ['a', 'b'])
    await hive.sessions.introduce(introduction({ session_id: `${handle}-agent` }));
  await post(hive, session, '@Human @Claude-aagen look');
  expect(await leftOf(hive, 'quota_mentions', 'crier')).toBe(QUOTAS.quota_mentions.most - 2);
  await spendQuota(hive, 'quota_mentions', 'crier');
  const refusal = await refusalOf(post(hive, session, '@Human @Claude-bagen look'));
  expect(refusal).toMatchObject({ code: 'too_many', details: { quota: 'quota_mentions' } });
  expect((await post(hive, session, 'Look.')).existing).toBe(false);
  // The human has no quota.
  for (let n = 0; n < 5; n += 1) await post(hive, 'human', '@All look');
});

test('the buttons of a card are a question like any other', async () => {
  const hive = await attended(await openTestHive());
  const session = await agent(hive, 'cards');
  await pend(hive, session, MOST_PENDING - 1);
  const card = { title: 'Ready', actions: [{ label: 'Ship' }] };
  await hive.outreach.card(card, session);
  expect((await refusalOf(hive.outreach.card(card, session))).code).toBe('too_many');
  await hive.outreach.card({ title: 'Ready' }, session);
});

test('the sessions of one token share five quotas, whatever names they use, and do not affect others', async () => {
  const hive = await openTestHive();
  const remote = (token: string, name: string): Promise<Session> =>
    hive.sessions.introduce(
      introduction({ session_id: `token:${token}:${name}`, machine: `token:${token}`, source: 'bg' }),
    );
  for (let n = 0; n < 5; n += 1) await pend(hive, await remote('ci', `agent-${n}`), MOST_PENDING);
  const refusal = await refusalOf(ask(hive, await remote('ci', 'agent-5')));
  expect(refusal.message).toContain('The sessions of your token may have at most 1,000 questions pending');
  await ask(hive, await remote('ci2', 'agent-0'));
});

test('an agent reads the refusal over MCP and in its shell, with the seconds', async () => {
  const { store, hive } = await newHive();
  const caller = await connectMcp({ store });
  await caller.call('hivemind_ask_async', { question: 'One?' });
  const [session] = await hive.sessions.list();
  await spendQuota(hive, 'quota_questions', session?.session_id ?? '');
  const refused = await caller.client.callTool({
    name: 'hivemind_ask_async',
    arguments: { question: 'Two?' },
  });
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.stringify(refused.content)).toMatch(/too_many: Your session .*Try again in \d+ s\./);
  await spendQuota(hive, 'quota_questions', 'agent-1');
  const own = shell(store, { HIVE_AGENT: 'agent-1' });
  const { code, err, json } = await own.hive('ask', 'Three?', '--json');
  expect(code).not.toBe(0);
  expect(err).toMatch(/Try again in \d+ s\./);
  expect(json().error).toMatchObject({ code: 'too_many', retry_after_s: expect.any(Number) });
});

test('only a person can turn quotas off', async () => {
  const { store, hive } = await newHive();
  const own = shell(store, { HIVE_AGENT: 'agent-1' });
  expect((await own.hive('config', 'quotas', 'no')).err).toContain('Only a human may change settings');
  const session = await agent(hive, 'agent-1');
  await pend(hive, session, MOST_PENDING);
  expect((await refusalOf(ask(hive, session))).code).toBe('too_many');
  expect((await shell(store).hive('config', 'quotas', 'no')).code).toBe(0);
  await ask(hive, session);
});

async function refuseAgain(hive: OpenedHive, session: Session): Promise<void> {
  for (;;) await ask(hive, session);
}
