/** A mention of the human pops up once a seat, as its wishes have it, and never blocks or decides anything. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { startPopups } from '../../src/application/popups.ts';
import type { Notifier } from '../../src/application/ports.ts';
import type { Popup } from '../../src/domain/popups.ts';
import type { PreferenceChanges } from '../../src/domain/preferences.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { HUMAN, openTestHive, recordingLog } from '../support/hive.ts';
import { join, post, postUnverified } from '../support/messages.ts';
import { eventually, sleep } from '../support/wait.ts';

const SEAT = 'ada@test';

interface World {
  hive: OpenedHive;
  ada: Session;
  shown: Popup[];
  fail: boolean;
  /** Another process of the seat that shows popups. */
  desk(): Promise<void>;
}

async function world(): Promise<World> {
  const hive = await openTestHive();
  const shown: Popup[] = [];
  const made: World = {
    hive,
    ada: await join(hive, 'abc12-session'),
    shown,
    fail: false,
    async desk() {
      const open = await hive.desks.open({ seat: SEAT, pid: 1, client: 'test' });
      const { desk_id } = open;
      const stop = startPopups(
        { ...hive, notifier, log: recordingLog() },
        { seat: SEAT, name: desk_id, desk_id, open: null },
      );
      onTestFinished(async () => {
        await stop();
        await open.close();
      });
      // It begins with what comes from now on.
      await sleep(20);
    },
  };
  const notifier: Notifier = {
    reachable: async () => true,
    async show(popup) {
      if (made.fail) throw new Error('no screen');
      shown.push(popup);
      return { outcome: Promise.resolve({ kind: 'closed' }), close: () => undefined };
    },
    close: async () => undefined,
  };
  return made;
}

const shownIn = ({ shown }: World, count: number): Promise<void> =>
  eventually(() => shown.length >= count, 4_000, `${count} popups`);

test('it says who, where and what, without buttons', async () => {
  const here = await world();
  await here.desk();
  await post(here.hive, here.ada, '@Human the login is done', { priority: 'urgent' });
  await shownIn(here, 1);
  expect(here.shown).toEqual([
    {
      kind: 'mention',
      title: 'Claude-abc12 mentions you · demo',
      body: '@Human the login is done',
      urgency: 'critical',
      buttons: [],
      openable: false,
      sound: false,
      command: null,
      count: 1,
      prompts: [],
    },
  ]);
  await eventually(async () => {
    const [mention] = await here.hive.mentions.get('human', null);
    return mention?.carrier === `popup:${SEAT}` && mention.status === 'unprocessed';
  });
});

test('two desks of a seat show it once', async () => {
  const here = await world();
  await here.desk();
  await here.desk();
  await post(here.hive, here.ada, '@Human look');
  await shownIn(here, 1);
  await sleep(500);
  expect(here.shown).toHaveLength(1);
});

test('mentions of agents do not pop up', async () => {
  const here = await world();
  await here.desk();
  await join(here.hive, 'def34-session');
  await post(here.hive, here.ada, '@Claude-def34 @All');
  await post(here.hive, here.ada, '@Human now');
  await shownIn(here, 1);
  expect(here.shown.map((popup) => popup.body)).toEqual(['@Human now']);
});

test('many at once are one popup', async () => {
  const here = await world();
  await here.desk();
  for (let n = 0; n < 8; n += 1) await post(here.hive, here.ada, `@Human ${n}`);
  await eventually(() => here.shown.some((popup) => popup.title.endsWith('mentions of you')), 4_000);
  const last = here.shown.at(-1);
  expect(last?.title).toMatch(/^\d mentions of you$/);
  expect(last?.title).toBe(`${last?.count} mentions of you`);
  expect(last?.body).toContain('Claude-abc12: @Human');
  expect(here.shown.length).toBeLessThan(8);
});

describe('it does not pop up', () => {
  const wishes: [string, PreferenceChanges][] = [
    ['in a muted project', { muted_projects: ['demo'] }],
    ['when the seat wants none', { notify_when: 'never' }],
    ['while it is not to be disturbed', { do_not_disturb: true }],
  ];
  test.each(wishes)('%s', async (_name, preferences) => {
    const here = await world();
    await here.hive.desks.setPreferences(SEAT, preferences);
    await here.desk();
    await post(here.hive, here.ada, '@Human look');
    await sleep(150);
    expect(here.shown).toEqual([]);
    expect(await here.hive.mentions.has('human')).toMatchObject({ count: 1 });
  });

  test('where there is no screen, and waits all the same', async () => {
    const here = await world();
    here.fail = true;
    await here.desk();
    await post(here.hive, here.ada, '@Human look');
    await sleep(150);
    expect((await here.hive.mentions.get('human', null))[0]).toMatchObject({
      status: 'unprocessed',
      delivered_at: null,
    });
  });
});

test('whose author is not verified says so', async () => {
  const { hive, shown, desk } = await world();
  await desk();
  await postUnverified(hive, 'Claude-1', '@Human the build is red');
  await eventually(() => shown.length === 1);
  expect(shown[0]?.title).toBe('unverified (as Claude-1) mentions you · demo');
});

test('of a background agent says so', async () => {
  const { hive, ada, shown, desk } = await world();
  await hive.sessions.configure(ada.session_id, { source: 'bg' }, HUMAN);
  await desk();
  await post(hive, ada, '@Human the build is red');
  await eventually(() => shown.length === 1);
  expect(shown[0]?.title).toMatch(/^\[bg\] Claude-abc12 mentions you/);
});
