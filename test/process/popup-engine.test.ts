/**
 * The popup engine with a notifier that only records: leases, storms, late clicks, and processes that hang or end.
 *
 * @module-tag one-winner
 * @module-tag silence
 * @module-tag popup
 */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { PopupParty } from '../../src/application/popup-kinds.ts';
import {
  HUNG_DESK_MS,
  LOST_LEASE_MS,
  NO_DESK_MS,
  OTHER_DESK_MS,
  popupDelay,
  startPopups,
} from '../../src/application/popups.ts';
import { HiveError } from '../../src/domain/errors.ts';
import { NO_BUS, STORM } from '../../src/domain/popups.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import {
  ageLeases,
  type FakeNotifier,
  fakeNotifier,
  leasedAt,
  refreshLeases,
  standing,
} from '../support/fake-notifier.ts';
import { ask, HUMAN, newHive, openTestHive, recordingLog } from '../support/hive.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { join, post, postUnverified } from '../support/messages.ts';
import { attended } from '../support/outreach.ts';
import { leased, outcomeIs, recorded, trail } from '../support/popup-trail.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const SEAT = 'ada@home';

describe('one process', () => {
  let hive: OpenedHive;
  let notifier: FakeNotifier;

  async function desk(parts: Partial<OpenedHive> = {}): Promise<() => Promise<void>> {
    const party = {
      seat: SEAT,
      name: 'desk-1',
      desk_id: 'desk-1',
      open: null,
      answers: async () => undefined,
    };
    return startPopups(
      { ...hive, ...parts, notifier },
      { ...party, cursor: await hive.store.read((tx) => tx.events.head()) },
    );
  }

  const cards = (count: number): Promise<void> =>
    eventually(() => notifier.cards.length === count, 5_000, `${count} popups`);
  const pressed = (index: number): void => notifier.cards[index]?.end({ kind: 'button', index: 0 });

  beforeEach(async () => {
    hive = await openTestHive();
    notifier = fakeNotifier();
  });

  it('a click that comes too late is reported to the person: somebody else has answered', async () => {
    const other = Promise.withResolvers<void>();
    const { respond } = hive.prompts;
    const stop = await desk({
      prompts: {
        ...hive.prompts,
        respond: async (answer) => {
          await other.promise;
          return respond(answer);
        },
      },
    });
    const { ask_id } = await ask(hive, { options: ['yes', 'no'] });
    await cards(1);
    // The click was on its way before the popup could be taken down.
    pressed(0);
    await respond({ ask_id, decision: 'no', actor: HUMAN });
    other.resolve();
    await cards(2);
    const notice = notifier.cards[1];
    expect(notice).toMatchObject({ kind: 'notice', buttons: [] });
    expect(notice?.body).toBe('ada answered "no" before.');
    await stop();
  });

  it.each([
    ['no notification server', 1],
    [NO_BUS, 0],
  ])(
    'the human is notified once that popups cannot be shown (%s), where they expect any',
    async (reason, count) => {
      notifier.show = () => Promise.reject(new Error(reason));
      const stop = await desk();
      for (const question of ['One?', 'Two?'])
        expect(await recorded(hive, (await ask(hive, { question })).ask_id)).toMatchObject({ reason });
      await stop();
      const notices = (await hive.notices.list(10)).map(({ data }) => data['text']);
      expect(notices).toEqual(
        Array(count).fill(
          `Desktop notifications cannot be shown for ${SEAT}. Questions are still announced in Emacs. M-x hive-doctor says what is wrong.`,
        ),
      );
    },
  );

  it('a click while the store is busy is tried again until it is on disk, and is one answer', async () => {
    let refusals = 2;
    const respond: OpenedHive['prompts']['respond'] = async (command) => {
      refusals -= 1;
      if (refusals >= 0) throw new HiveError('store_busy', 'The store is busy.');
      return hive.prompts.respond(command);
    };
    const stop = await desk({ prompts: { ...hive.prompts, respond } });
    const { ask_id } = await ask(hive, { options: ['yes'] });
    await cards(1);
    pressed(0);
    const [answered] = await hive.prompts.wait([ask_id], { wait_ms: 5_000 });
    expect(answered).toMatchObject({ decision: 'yes', by: 'ada', via: 'notification' });
    await stop();
  });

  it('a permission is not answered by a popup after its human has turned that off, and the person is notified', async () => {
    await hive.trust.lend({ popup_permissions: true });
    const stop = await desk();
    const { ask_id } = await ask(hive, { kind: 'permission', options: ['allow', 'deny'] });
    await cards(1);
    await hive.trust.lend({ popup_permissions: null });
    pressed(0);
    await cards(2);
    expect(notifier.cards[1]?.body).toMatch(
      /"allow" was not accepted: A permission can be answered only at a desk/,
    );
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
    await stop();
  });

  it('a prompt that settles while its popup is being shown has it taken down as soon as it appears', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    notifier.delay = promise;
    const stop = await desk();
    const { ask_id } = await ask(hive);
    await cards(1);
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    // A question asked after the answer is on its way to the screen: so this process knows of the answer.
    await ask(hive);
    await cards(2);
    resolve();
    await eventually(() => notifier.cards[0]?.closed === true);
    expect(notifier.cards[1]?.closed).toBe(false);
    await stop();
  });

  describe('prompts that trickle in', () => {
    it('are single popups up to three, then one with all that are pending, whatever happens to it', async () => {
      const stop = await desk();
      for (let n = 1; n <= 3; n += 1) {
        await ask(hive, { question: `${n}?` });
        await cards(n);
      }
      await ask(hive, { question: '4?' });
      await cards(4);
      expect(notifier.cards[3]).toMatchObject({ kind: 'storm', title: '4 questions wait for you' });
      expect(notifier.cards.map((card) => card.closed)).toEqual([true, true, true, false]);
      await ask(hive, { question: '5?' });
      await cards(5);
      expect(notifier.cards[4]).toMatchObject({ title: '5 questions wait for you' });
      expect(notifier.cards[3]?.closed).toBe(true);
      await stop();
    });

    it('are not a storm at a slower pace: after a storm, prompts get their own popups again', async () => {
      const store = tempStore();
      hive = await openTestHive(store);
      const stop = await desk();
      for (const n of [1, 2, 3, 4]) await ask(hive, { question: `${n}?` });
      await eventually(() => notifier.cards.at(-1)?.title === '4 questions wait for you');
      ageLeases(store, STORM.window_ms);
      const { ask_id } = await ask(hive, { question: '5?' });
      await eventually(() => notifier.cards.at(-1)?.body === '5?');
      await recorded(hive, ask_id);
      expect(standing(notifier).map(({ kind }) => kind)).toEqual(['storm', 'prompt']);
      await stop();
    });

    it('are recorded even when the process ends before the storm was shown', async () => {
      const stop = await desk();
      const asked = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => ask(hive, { question: `${n}?` })));
      for (const { ask_id } of asked) await leased(hive, ask_id, SEAT);
      await stop();
      for (const { ask_id } of asked) {
        const events = await hive.store.read((tx) => tx.events.of(ask_id, 10));
        expect(events.filter((event) => event.type === 'prompt/popup')).toHaveLength(1);
      }
    });
  });

  describe('a process that ends', () => {
    it('leaves no popup of a prompt that it was just leasing, and the event log says why', async () => {
      const gate = Promise.withResolvers<void>();
      let isWriting = false;
      const write: OpenedHive['store']['write'] = async (work) => {
        isWriting = true;
        const result = await hive.store.write(work);
        await gate.promise;
        return result;
      };
      const stop = await desk({ store: { ...hive.store, write } });
      const { ask_id } = await ask(hive);
      await eventually(() => isWriting);
      const stopped = stop();
      gate.resolve();
      await stopped;
      expect(notifier.isClosed).toBe(true);
      expect(standing(notifier)).toEqual([]);
      expect(await recorded(hive, ask_id)).toMatchObject({
        outcome: 'failed',
        reason: expect.stringContaining('has ended'),
      });
    });

    it('takes down popups that were about to appear', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      notifier.delay = promise;
      const stop = await desk();
      await ask(hive);
      await cards(1);
      const stopped = stop();
      resolve();
      await stopped;
      expect(standing(notifier)).toEqual([]);
    });
  });
});

describe('which process goes first', () => {
  /** A timer may fire a millisecond early, and times in the store have no fraction of a millisecond. */
  const CLOCK_MS = 2;

  /** A live desk, whether or not its process manages to show popups. */
  async function openDesk(hive: OpenedHive, { focused = false, seat = SEAT } = {}): Promise<PopupParty> {
    const desk = closedAtEnd(await hive.desks.open({ seat, pid: process.pid, client: 'test' }));
    if (focused) {
      // Popups also come while an Emacs has the focus.
      await hive.desks.setPreferences(seat, { notify_when: 'always' });
      await desk.setFocused(true);
    }
    return { seat, name: desk.desk_id, desk_id: desk.desk_id, open: null, answers: async () => undefined };
  }

  const agent: PopupParty = { seat: SEAT, name: 'connection-1', desk_id: null, open: null };

  /** Starts the popups of a party in a separate hive. */
  async function start(store: string, party: PopupParty): Promise<void> {
    const hive = await openTestHive(store);
    const cursor = await hive.store.read((tx) => tx.events.head());
    onTestFinished(
      startPopups({ ...hive, notifier: fakeNotifier(), log: recordingLog() }, { ...party, cursor }),
    );
  }

  describe('how long a process lets others go first', () => {
    it('is 0 at the focused desk, 300 ms at another, and 2 s without a desk', async () => {
      const hive = await openTestHive();
      const focused = await openDesk(hive, { focused: true });
      const other = await openDesk(hive);
      expect(await popupDelay(hive.store, focused)).toBe(0);
      expect(await popupDelay(hive.store, other)).toBe(300);
      expect(await popupDelay(hive.store, agent)).toBe(2_000);
      expect([OTHER_DESK_MS, NO_DESK_MS]).toEqual([300, 2_000]);
    });

    it('is 0 at every desk of a seat while none has the focus', async () => {
      const hive = await openTestHive();
      const one = await openDesk(hive);
      await openDesk(hive, { focused: true, seat: 'bob@home' });
      expect(await popupDelay(hive.store, one)).toBe(0);
    });
  });

  describe('a popup', () => {
    it('is shown by the focused desk as long as that responds', async () => {
      const { store, hive } = await newHive();
      const focused = await openDesk(hive, { focused: true });
      const other = await openDesk(hive);
      for (const party of [other, focused, agent]) await start(store, party);
      const { ask_id } = await ask(hive);
      expect(await recorded(hive, ask_id)).toMatchObject({ claimed_by: focused.name });
    });

    it('goes to another desk when the focused one hangs, after the timeout and not before', async () => {
      const { store, hive } = await newHive();
      await openDesk(hive, { focused: true });
      const other = await openDesk(hive);
      for (const party of [other, agent]) await start(store, party);
      const { ask_id, created_at } = await ask(hive);
      expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent', claimed_by: other.name });
      expect(leasedAt(store, ask_id) - Date.parse(created_at)).toBeGreaterThanOrEqual(
        OTHER_DESK_MS - CLOCK_MS,
      );
    });

    it("goes to an agent's process when every desk hangs, after the timeout and not before", async () => {
      const { store, hive } = await newHive();
      await openDesk(hive, { focused: true });
      await openDesk(hive);
      await start(store, agent);
      const { ask_id, created_at } = await ask(hive);
      expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent', claimed_by: agent.name });
      expect(leasedAt(store, ask_id) - Date.parse(created_at)).toBeGreaterThanOrEqual(
        HUNG_DESK_MS - CLOCK_MS,
      );
    });
  });
});

describe('several processes of a seat', () => {
  interface Process {
    notifier: FakeNotifier;
    /** From now on all its writes wait, as if it hangs, until the returned function is called. */
    hang(): () => void;
  }

  /** A process of the seat with its own connections; a desk, unless it is an agent's. It begins with the events after `cursor`. */
  async function start(store: string, name: string, desk = true, cursor?: number): Promise<Process> {
    const hive = await openTestHive(store);
    const notifier = fakeNotifier();
    let gate = Promise.resolve();
    const write: OpenedHive['store']['write'] = async (work) => {
      await gate;
      return hive.store.write(work);
    };
    const from = cursor ?? (await hive.store.read((tx) => tx.events.head()));
    const stop = startPopups(
      { ...hive, store: { ...hive.store, write }, notifier, log: recordingLog() },
      { seat: SEAT, name, desk_id: desk ? name : null, open: null, cursor: from },
    );
    onTestFinished(stop);
    return {
      notifier,
      hang() {
        const { promise, resolve } = Promise.withResolvers<void>();
        gate = promise;
        onTestFinished(() => resolve());
        return resolve;
      },
    };
  }

  /** A store, a hive to ask through, and the first process of the seat. */
  async function oneDesk(): Promise<{ store: string; hive: OpenedHive; one: Process }> {
    const store = tempStore();
    const one = await start(store, 'desk-1');
    return { store, hive: await openTestHive(store), one };
  }

  async function askAll(hive: OpenedHive, questions: readonly string[]): Promise<string[]> {
    const asked = await Promise.all(questions.map((question) => ask(hive, { question })));
    return asked.map(({ ask_id }) => ask_id);
  }

  /** Waits until exactly this is on the screen. */
  const onScreen = (processes: readonly Process[], ...titles: string[]): Promise<void> =>
    eventually(
      () => {
        const shown = standing(...processes.map(({ notifier }) => notifier)).map(({ title }) => title);
        return JSON.stringify(shown) === JSON.stringify(titles);
      },
      15_000,
      titles.join(', '),
    );

  describe('a storm at a seat of several processes', () => {
    it('is one popup with all of them, whichever desk holds the leases', async () => {
      const store = tempStore();
      const desks = await Promise.all([1, 2, 3].map((n) => start(store, `desk-${n}`)));
      const hive = await openTestHive(store);
      const ids: string[] = [];
      for (let n = 0; n < 8; n += 1) {
        const [ask_id = ''] = await askAll(hive, [`${n}?`]);
        ids.push(ask_id);
        await leased(hive, ask_id, SEAT);
        // A lease counts for two seconds; the speed of this machine must not matter.
        refreshLeases(store);
      }
      await onScreen(desks, '8 questions wait for you');
      for (const ask_id of ids) expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
      const [last = '', ...others] = ids;
      for (const ask_id of others) await hive.prompts.cancel(ask_id, HUMAN, 'human');
      await onScreen(desks, '8 questions wait for you');
      await hive.prompts.cancel(last, HUMAN, 'human');
      await onScreen(desks);
    });

    it('replaces the popups of another process, and grows', async () => {
      const { store, hive, one } = await oneDesk();
      const first = await askAll(hive, ['1?', '2?']);
      for (const ask_id of first) await recorded(hive, ask_id);
      const goOn = one.hang();
      const two = await start(store, 'desk-2');
      refreshLeases(store);
      const [third = ''] = await askAll(hive, ['3?', '4?']);
      expect(await recorded(hive, third)).toMatchObject({ claimed_by: 'desk-2', count: 4 });
      await onScreen([one, two], '4 questions wait for you');
      goOn();
      refreshLeases(store);
      const [fifth = ''] = await askAll(hive, ['5?']);
      expect(await recorded(hive, fifth)).toMatchObject({ outcome: 'sent', count: 5 });
      await onScreen([one, two], '5 questions wait for you');
      for (const ask_id of first) expect(await trail(hive, ask_id)).toHaveLength(1);
    });

    it('is taken over, with everything pending, when its holder hangs; the holder gives way when it recovers', async () => {
      const { store, hive, one } = await oneDesk();
      const ids = await askAll(hive, ['1?', '2?', '3?', '4?', '5?']);
      await onScreen([one], '5 questions wait for you');
      for (const ask_id of ids) await recorded(hive, ask_id);
      const goOn = one.hang();
      const two = await start(store, 'desk-2');
      const newest = refreshLeases(store);
      const [sixth = ''] = await askAll(hive, ['6?']);
      expect(await recorded(hive, sixth)).toMatchObject({ claimed_by: 'desk-2', count: 6 });
      expect(leasedAt(store, sixth) - newest).toBeGreaterThanOrEqual(STORM.window_ms);
      await onScreen([one, two], '6 questions wait for you');
      goOn();
      refreshLeases(store);
      await askAll(hive, ['7?']);
      await onScreen([one, two], '7 questions wait for you');
    });

    it('is one popup also where only agents run', async () => {
      const store = tempStore();
      const agents = await Promise.all(
        ['connection-1', 'connection-2'].map((name) => start(store, name, false)),
      );
      const hive = await openTestHive(store);
      await askAll(hive, ['1?', '2?', '3?', '4?', '5?']);
      await onScreen(agents, '5 questions wait for you');
    });

    it('includes the previous one, whichever process shows it, as long as something in it is pending', async () => {
      const { store, hive, one } = await oneDesk();
      const ids = await askAll(hive, ['1?', '2?', '3?', '4?']);
      await onScreen([one], '4 questions wait for you');
      for (const ask_id of ids) await recorded(hive, ask_id);
      ageLeases(store, 3_600_000);
      one.hang();
      const two = await start(store, 'desk-2');
      await askAll(hive, ['5?', '6?', '7?', '8?']);
      await eventually(() => standing(two.notifier).at(-1)?.title === '8 questions wait for you', 15_000);
    });
  });

  /** An agent says so many things, one after the other, as quickly as it takes to be one storm. */
  async function sayAll(
    store: string,
    hive: OpenedHive,
    kind: 'mention' | 'outreach',
    words: readonly string[],
  ): Promise<void> {
    const author = await join(hive, 'abc12-session');
    await attended(hive);
    for (const word of words) {
      if (kind === 'mention') {
        const { mentions } = await post(hive, author, `@Human ${word}`);
        await leased(hive, mentions[0]?.mention_id ?? '', SEAT);
      } else {
        const card = await hive.outreach.card({ title: word }, author);
        await leased(hive, card.outreach_id, SEAT);
      }
      refreshLeases(store);
    }
  }

  describe('a storm of things that need no answer', () => {
    it.each([
      ['mention', 'mentions of you'],
      ['outreach', 'messages from agents'],
    ] as const)('is one popup with all of it at a seat of two desks: %s', async (kind, title) => {
      const store = tempStore();
      const desks = await Promise.all(['desk-1', 'desk-2'].map((name) => start(store, name)));
      const hive = await openTestHive(store);
      await sayAll(store, hive, kind, ['1', '2', '3', '4', '5', '6', '7', '8']);
      await onScreen(desks, `8 ${title}`);
    });

    it('of one kind leaves the popups of the others alone', async () => {
      const { store, hive, one } = await oneDesk();
      const [ask_id = ''] = await askAll(hive, ['1?']);
      await recorded(hive, ask_id);
      await sayAll(store, hive, 'mention', ['1', '2', '3', '4']);
      await onScreen([one], 'demo', '4 mentions of you');
    });

    it('is taken down when the last mention in it is processed', async () => {
      const { store, hive, one } = await oneDesk();
      await sayAll(store, hive, 'mention', ['1', '2', '3', '4']);
      await onScreen([one], '4 mentions of you');
      await hive.mentions.process({ session_id: 'human', actor: HUMAN, all: true });
      await onScreen([one]);
    });

    it('of cards is not included in a later one, because a card is never pending', async () => {
      const { store, hive, one } = await oneDesk();
      await sayAll(store, hive, 'outreach', ['1', '2', '3', '4']);
      await onScreen([one], '4 messages from agents');
      ageLeases(store, 3_600_000);
      const author = await join(hive, 'abc12-session');
      await Promise.all(['5', '6', '7', '8', '9'].map((title) => hive.outreach.card({ title }, author)));
      await onScreen([one], '4 messages from agents', '5 messages from agents');
    });
  });

  describe('a popup whose process died before it was on the screen', () => {
    it('is shown by another process, once', async () => {
      const store = tempStore();
      const one = await start(store, 'desk-1');
      const { promise, resolve } = Promise.withResolvers<void>();
      one.notifier.delay = promise;
      onTestFinished(() => resolve());
      const two = await start(store, 'connection-1', false);
      const hive = await openTestHive(store);
      const [ask_id = ''] = await askAll(hive, ['Lost?']);
      await eventually(() => one.notifier.cards.length === 1, 5_000);
      ageLeases(store, LOST_LEASE_MS + 1_000);
      await eventually(() => two.notifier.cards.length === 1, 20_000);
      expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent', claimed_by: 'connection-1' });
      // If it was only asleep, it finds that another process was faster.
      resolve();
      await eventually(() => standing(one.notifier).length === 0, 5_000);
      expect(await trail(hive, ask_id)).toHaveLength(1);
    });

    it.each(['mention', 'outreach'] as const)(
      'is shown by another one, also of the kind %s',
      async (kind) => {
        const { store, hive } = await newHive();
        const before = await hive.store.read((tx) => tx.events.head());
        const one = await start(store, 'desk-1');
        const { promise, resolve } = Promise.withResolvers<void>();
        one.notifier.delay = promise;
        onTestFinished(() => resolve());
        await sayAll(store, hive, kind, ['Lost?']);
        await eventually(() => one.notifier.cards.length === 1, 5_000);
        ageLeases(store, LOST_LEASE_MS + 1_000);
        const two = await start(store, 'desk-2', true, before);
        await eventually(() => two.notifier.cards.length === 1, 5_000);
        resolve();
        await onScreen([one, two], two.notifier.cards[0]?.title ?? '');
      },
    );
  });

  describe('a mention of the human', () => {
    const author = (hive: OpenedHive): Promise<Session> => join(hive, 'abc12-session');
    const shown = (count: number, ...processes: readonly Process[]): Promise<void> =>
      eventually(
        () => processes.flatMap(({ notifier }) => notifier.cards).length >= count,
        4_000,
        `${count} popups`,
      );

    it('says who, where and what, without buttons', async () => {
      const { hive, one } = await oneDesk();
      await post(hive, await author(hive), '@Human the login is done', { priority: 'urgent' });
      await shown(1, one);
      expect(one.notifier.cards).toMatchObject([
        {
          kind: 'mention',
          title: 'demo mentions you',
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
        const [mention] = await hive.mentions.unprocessed('human', null);
        return mention?.carrier === `popup:${SEAT}` && mention.status === 'unprocessed';
      });
    });

    it('is shown once by two desks of a seat', async () => {
      const { store, hive, one } = await oneDesk();
      const two = await start(store, 'desk-2');
      await post(hive, await author(hive), '@Human look');
      await shown(1, one, two);
      await post(hive, await author(hive), '@Human again');
      await shown(2, one, two);
      const bodies = [one, two].flatMap(({ notifier }) => notifier.cards.map(({ body }) => body));
      expect(bodies.sort()).toEqual(['@Human again', '@Human look']);
    });

    it('pops up, and those of agents do not', async () => {
      const { hive, one } = await oneDesk();
      await join(hive, 'def34-session');
      await post(hive, await author(hive), '@Claude-def34 @All');
      await post(hive, await author(hive), '@Human now');
      await shown(1, one);
      expect(one.notifier.cards.map(({ body }) => body)).toEqual(['@Human now']);
    });

    // unit/popups.test.ts has the other preferences.
    it('does not pop up in a muted project', async () => {
      const { hive, one } = await oneDesk();
      await hive.desks.setPreferences(SEAT, { muted_projects: ['demo'] });
      const { mentions } = await post(hive, await author(hive), '@Human look');
      await outcomeIs('suppressed', hive, mentions[0]?.mention_id ?? '', SEAT);
      expect(one.notifier.cards).toEqual([]);
      expect(await hive.mentions.has('human')).toMatchObject({ count: 1 });
    });

    it('is still pending where there is no screen', async () => {
      const { hive, one } = await oneDesk();
      one.notifier.show = () => Promise.reject(new Error('no screen'));
      const { mentions } = await post(hive, await author(hive), '@Human look');
      await outcomeIs('failed', hive, mentions[0]?.mention_id ?? '', SEAT);
      expect((await hive.mentions.unprocessed('human', null))[0]).toMatchObject({
        status: 'unprocessed',
        delivered_at: null,
      });
    });

    it('whose author is not verified says so', async () => {
      const { hive, one } = await oneDesk();
      await postUnverified(hive, 'Claude-1', '@Human the build is red');
      await shown(1, one);
      expect(one.notifier.cards[0]?.title).toBe('unverified (as Claude-1) mentions you · demo');
    });

    it('of a background agent says so', async () => {
      const { hive, one } = await oneDesk();
      const ada = await author(hive);
      await hive.sessions.configure(ada.session_id, { source: 'bg' }, HUMAN);
      await post(hive, ada, '@Human the build is red');
      await shown(1, one);
      expect(one.notifier.cards[0]?.title).toMatch(/^\[bg\] demo mentions you/);
    });
  });
});
