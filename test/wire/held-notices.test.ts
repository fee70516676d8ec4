/**
 * Agents that are held by mentions, as the human of a desk is notified of them: when, of whom, and how often.
 *
 * @module-tag guards-end
 * @module-tag emacs
 * @module-tag hook
 */
import { describe, expect, test } from 'vitest';
import { heldNotices } from '../../src/application/held-notices.ts';
import type { PreferenceChanges } from '../../src/domain/preferences.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { GATED_SESSION, gatedBash, gatedEvent, gatedWorld } from '../support/gate.ts';
import { eventsOf } from '../support/hive.ts';
import { fire } from '../support/hooks.ts';
import { actorOf, join } from '../support/messages.ts';
import { isTold, type RpcClient, serveInProcess } from '../support/sidecar.ts';
import { isBetween } from '../support/wait.ts';

/** The seat of a desk that is served in this process. */
const SEAT = 'ada@test';
const HELD = isTold('desk/notice', ({ notice }) => notice === 'agents_held');
const heldNoticesOf = async (hive: OpenedHive) =>
  (await eventsOf(hive, 'desk/notice')).filter(({ data }) => data['notice'] === 'agents_held');

interface World {
  hive: OpenedHive;
  mention(body: string, more?: object): Promise<void>;
  desk: RpcClient;
}

/** A desk with these preferences, and an agent that can be held. */
async function world(preferences: PreferenceChanges): Promise<World> {
  const { hive, mention } = await gatedWorld();
  await hive.desks.setPreferences(SEAT, preferences);
  return { hive, mention, desk: await serveInProcess(hive) };
}

/** The number of notices that a seat is sent now, and the time of the next: nothing is waited for. */
async function lookAgain(
  hive: OpenedHive,
  seat: string = SEAT,
): Promise<{ notified: number; next: string | null }> {
  const kind = heldNotices(hive.store, seat);
  return { notified: await kind.expireDue(), next: await hive.store.read((tx) => kind.next(tx)) };
}

/** The agent has been held for so long. */
async function ageHold(hive: OpenedHive, ms: number): Promise<void> {
  await hive.store.write(async (tx) => {
    const gate = await tx.gates.get(GATED_SESSION);
    if (gate?.held_since == null) throw new Error('It is not held.');
    const held_since = new Date(Date.parse(gate.held_since) - ms).toISOString();
    await tx.gates.put({ ...gate, held_since });
  });
}

async function clear(hive: OpenedHive): Promise<void> {
  const session = await hive.sessions.resolve(GATED_SESSION);
  await hive.mentions.process({ session_id: GATED_SESSION, all: true, actor: actorOf(session) });
}

test('at once: the desk is told who is held, by whom and since when, and the notice can be read again', async () => {
  const { hive, mention, desk } = await world({ notify_held: 0 });
  await mention('hello @me');
  await fire(hive, gatedBash());
  const { params } = await desk.seen(HELD);
  expect(params.text).toMatch(
    /^demo has been held since \d\d:\d\d by a mention from demo 2\. Its tools wait until it processes the mention\.$/,
  );
  const gate = await hive.store.read((tx) => tx.gates.get(GATED_SESSION));
  const [mentioned] = await hive.mentions.unprocessed(GATED_SESSION, null);
  expect(params).toMatchObject({
    severity: 'info',
    session_id: GATED_SESSION,
    held: [
      {
        session_id: GATED_SESSION,
        handle: 'Claude-5e551',
        from: 'demo 2',
        mention_id: mentioned?.mention_id,
        since: gate?.held_since,
      },
    ],
  });
  expect((await desk.request('notice/list', {})).notices).toMatchObject([{ notice: 'agents_held' }]);
});

test('the human is notified of one hold once, however many calls and desks there are', async () => {
  const { hive, mention, desk } = await world({ notify_held: 0 });
  const second = await serveInProcess(hive);
  await mention('hello @me');
  await fire(hive, gatedBash());
  await Promise.all([desk.seen(HELD), second.seen(HELD)]);
  await fire(hive, gatedBash());
  expect(await lookAgain(hive)).toEqual({ notified: 0, next: null });
  expect(await heldNoticesOf(hive)).toHaveLength(1);
  // Another hold is another notice.
  await clear(hive);
  await mention('and this @me');
  await fire(hive, gatedBash());
  await lookAgain(hive);
  expect(await heldNoticesOf(hive)).toHaveLength(2);
});

test('after a minute by default: not before, and exactly then', async () => {
  const { hive, mention, desk } = await world({});
  await mention('hello @me');
  await fire(hive, gatedBash());
  const { held_since } = (await hive.store.read((tx) => tx.gates.get(GATED_SESSION))) ?? {};
  const due = new Date(Date.parse(held_since ?? '') + 60_000).toISOString();
  expect(await lookAgain(hive)).toEqual({ notified: 0, next: due });
  await ageHold(hive, 60_000);
  // Some event rings the bell.
  await fire(hive, gatedEvent('PostToolBatch', { tool_calls: [] }));
  await desk.seen(HELD);
});

test('several agents share one notice', async () => {
  const { hive, mention } = await gatedWorld();
  await hive.desks.setPreferences(SEAT, { notify_held: 0 });
  const other = { session_id: 'abc99-another' };
  await fire(hive, gatedEvent('SessionStart', { source: 'startup', session_id: other.session_id }));
  await mention('@All hello');
  await fire(hive, gatedBash());
  await fire(hive, gatedBash('ls', { session_id: other.session_id }));
  expect((await lookAgain(hive)).notified).toBe(2);
  const [notice, ...more] = await heldNoticesOf(hive);
  expect(more).toEqual([]);
  expect(notice?.data['text']).toMatch(
    /^2 agents are held by mentions: demo since \d\d:\d\d by demo 2, demo 3 since \d\d:\d\d by demo 2\.$/,
  );
});

test('agents that are held soon after one another share the next notice', async () => {
  const { hive, mention } = await gatedWorld();
  await hive.desks.setPreferences(SEAT, { notify_held: 0 });
  const kind = heldNotices(hive.store, SEAT);
  await mention('hello @me');
  await fire(hive, gatedBash());
  expect(await kind.expireDue()).toBe(1);
  await fire(hive, gatedEvent('SessionStart', { source: 'startup', session_id: 'abc99-another' }));
  await mention('@Claude-abc99 hello');
  await fire(hive, gatedBash('ls', { session_id: 'abc99-another' }));
  expect(await kind.expireDue()).toBe(0);
  const [first] = await heldNoticesOf(hive);
  const wait_ms =
    Date.parse((await hive.store.read((tx) => kind.next(tx))) ?? '') - Date.parse(first?.at ?? '');
  expect(wait_ms).toBe(10_000);
});

describe('nothing is said', () => {
  test.each<[string, PreferenceChanges]>([
    ['to whom prefers never', { notify_held: 'never' }],
    ['while the human is not to be disturbed', { notify_held: 0, do_not_disturb: true }],
    ['in quiet hours', { notify_held: 0, quiet_hours: { from: '00:00', to: '00:00' } }],
    ['of a muted project', { notify_held: 0, muted_projects: ['demo'] }],
    ['of a muted agent', { notify_held: 0, muted_agents: [`Claude-${GATED_SESSION.slice(0, 5)}`] }],
  ])('%s', async (_what, preferences) => {
    const { hive, mention } = await gatedWorld();
    await hive.desks.setPreferences(SEAT, preferences);
    await mention('hello @me');
    await fire(hive, gatedBash());
    expect(await lookAgain(hive)).toEqual({ notified: 0, next: null });
    // The preference suppresses it.
    await hive.desks.setPreferences(SEAT, {
      notify_held: 0,
      do_not_disturb: null,
      quiet_hours: null,
      muted_projects: null,
      muted_agents: null,
    });
    expect((await lookAgain(hive)).notified).toBe(1);
  });

  test.each<[string, (hive: OpenedHive) => Promise<unknown>]>([
    ['has processed it', clear],
    ['has stopped', (hive) => fire(hive, gatedEvent('Stop', { background_tasks: [] }))],
    ['has ended', (hive) => fire(hive, gatedEvent('SessionEnd', { reason: 'other' }))],
    [
      'goes on because the gate gave up',
      async (hive) => {
        for (let step = 0; step < 5; step += 1) {
          await fire(hive, gatedEvent('PostToolBatch', { tool_calls: [] }));
          await fire(hive, gatedBash());
        }
      },
    ],
  ])('of an agent that %s', async (_what, meanwhile) => {
    const { hive, mention } = await gatedWorld();
    await hive.desks.setPreferences(SEAT, { notify_held: 0 });
    await mention('hello @me');
    await fire(hive, gatedBash());
    await meanwhile(hive);
    expect(await lookAgain(hive)).toEqual({ notified: 0, next: null });
  });

  test('at another seat, that prefers otherwise', async () => {
    const { hive, mention, desk } = await world({ notify_held: 'never' });
    await hive.desks.setPreferences('bob@test', { notify_held: 0 });
    await mention('hello @me');
    await fire(hive, gatedBash());
    expect((await lookAgain(hive, 'bob@test')).notified).toBe(1);
    // A later notification has arrived, so this one was not sent.
    await hive.store.write((tx) =>
      tx.events.append({ type: 'desk/notice', session_id: null, subject: null, data: { text: 'after it' } }),
    );
    await desk.seen(isTold('desk/notice', ({ text }) => text === 'after it'));
    expect(desk.frames.some(HELD)).toBe(false);
    const { notices } = await desk.request('notice/list', {});
    expect(notices.map(({ text }: { text: string }) => text)).toEqual(['after it']);
  });
});

test('a hold of an earlier turn does not count for the next one', async () => {
  const { hive, mention } = await gatedWorld();
  await mention('hello @me');
  await fire(hive, gatedBash());
  await ageHold(hive, 3_600_000);
  await fire(hive, gatedEvent('Stop', { background_tasks: [] }));
  await fire(hive, gatedEvent('UserPromptSubmit', { prompt: 'go on', prompt_id: 'prompt-2' }));
  const begun = new Date().toISOString();
  await fire(hive, gatedBash('ls', { prompt_id: 'prompt-2' }));
  const { held_since } = (await hive.store.read((tx) => tx.gates.get(GATED_SESSION))) ?? {};
  expect(isBetween(begun, held_since ?? '', new Date().toISOString())).toBe(true);
});

test('pages of notices leave out those of other seats and still come to an end', async () => {
  const { hive, desk } = await world({});
  await join(hive, 'abc12-session');
  for (const [n, seat] of [SEAT, 'bob@test', 'bob@test', undefined, 'bob@test', SEAT].entries()) {
    const data = { text: `notice ${n}`, ...(seat === undefined ? {} : { seat }) };
    await hive.store.write((tx) =>
      tx.events.append({ type: 'desk/notice', session_id: null, subject: null, data }),
    );
  }
  const texts: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { notices: { text: string }[]; next_cursor: string | null } = await desk.request(
      'notice/list',
      { limit: 1, cursor },
    );
    texts.push(...page.notices.map(({ text }) => text));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(texts).toEqual(['notice 5', 'notice 3', 'notice 0']);
});
