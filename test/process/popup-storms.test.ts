/** A storm is one popup a seat with the right count, however many processes serve it and whichever of them dies. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { LOST_LEASE_MS, startPopups } from '../../src/application/popups.ts';
import { STORM } from '../../src/domain/popups.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import {
  ageLeases,
  type FakeNotifier,
  fakeNotifier,
  leasedAt,
  refreshLeases,
  standing,
} from '../support/fake-notifier.ts';
import { ask, HUMAN, openTestHive, recordingLog } from '../support/hive.ts';
import { join, post } from '../support/messages.ts';
import { attended } from '../support/outreach.ts';
import { recorded, trail } from '../support/popup-trail.ts';
import { tempStore } from '../support/temp.ts';
import { eventually, sleep } from '../support/wait.ts';

interface Process {
  notifier: FakeNotifier;
  /** From now on it gets nothing done that must be written, as when it hangs; until the returned function is called. */
  hang(): () => void;
}

/** A process of the seat with connections of its own; a desk unless it is an agent's. It begins with the events after `cursor`. */
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
    { seat: 'ada@home', name, desk_id: desk ? name : null, open: null, cursor: from },
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

async function askAll(hive: OpenedHive, questions: readonly string[]): Promise<string[]> {
  const asked = await Promise.all(questions.map((question) => ask(hive, { question })));
  return asked.map(({ ask_id }) => ask_id);
}

/** Waits until this is all there is on the screen. */
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
  it.each([2, 3])('is one popup with all of them, whichever of %i desks holds the leases', async (count) => {
    const store = tempStore();
    const desks = await Promise.all(Array.from({ length: count }, (_, n) => start(store, `desk-${n}`)));
    const hive = await openTestHive(store);
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      ids.push(...(await askAll(hive, [`${n}?`])));
      // A lease counts for two seconds; how quickly this machine asks is beside the point.
      refreshLeases(store);
      await sleep(100);
    }
    await onScreen(desks, '8 questions wait for you');
    for (const ask_id of ids) expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
    const [last = '', ...others] = ids;
    for (const ask_id of others) await hive.prompts.cancel(ask_id, HUMAN, 'human');
    await onScreen(desks, '8 questions wait for you');
    await hive.prompts.cancel(last, HUMAN, 'human');
    await onScreen(desks);
  });

  it('takes the place of what another process has shown, and grows', async () => {
    const store = tempStore();
    const one = await start(store, 'desk-1');
    const hive = await openTestHive(store);
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

  it('is taken over, with all that waits, when who holds it hangs; who wakes again makes room', async () => {
    const store = tempStore();
    const one = await start(store, 'desk-1');
    const hive = await openTestHive(store);
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
    await sleep(300);
    await onScreen([one, two], '6 questions wait for you');
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

  it('grows out of the one before, wherever that stands, as long as something of it waits', async () => {
    const store = tempStore();
    const one = await start(store, 'desk-1');
    const hive = await openTestHive(store);
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
    if (kind === 'mention') await post(hive, author, `@Human ${word}`);
    else await hive.outreach.card({ title: word }, author);
    refreshLeases(store);
    await sleep(100);
  }
}

describe('a storm of what wants no answer', () => {
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

  it('takes the place of what another process has shown', async () => {
    const store = tempStore();
    const one = await start(store, 'desk-1');
    const hive = await openTestHive(store);
    await sayAll(store, hive, 'mention', ['1', '2']);
    await eventually(() => standing(one.notifier).length === 2, 5_000);
    const goOn = one.hang();
    const two = await start(store, 'desk-2');
    await sayAll(store, hive, 'mention', ['3', '4']);
    await eventually(() => standing(two.notifier).at(-1)?.title === '4 mentions of you', 15_000);
    await onScreen([one, two], '4 mentions of you');
    goOn();
  });

  it('of one kind leaves the popups of the others alone', async () => {
    const store = tempStore();
    const one = await start(store, 'desk-1');
    const hive = await openTestHive(store);
    const [ask_id = ''] = await askAll(hive, ['1?']);
    await recorded(hive, ask_id);
    await sayAll(store, hive, 'mention', ['1', '2', '3', '4']);
    await onScreen([one], 'Claude-sessi · demo', '4 mentions of you');
  });

  it('goes when the last mention in it is dealt with', async () => {
    const store = tempStore();
    const one = await start(store, 'desk-1');
    const hive = await openTestHive(store);
    await sayAll(store, hive, 'mention', ['1', '2', '3', '4']);
    await onScreen([one], '4 mentions of you');
    await hive.mentions.process({ session_id: 'human', actor: HUMAN, all: true });
    await onScreen([one]);
  });

  it('of cards is not taken up again by a later one, since a card waits for nothing', async () => {
    const store = tempStore();
    const one = await start(store, 'desk-1');
    const hive = await openTestHive(store);
    await sayAll(store, hive, 'outreach', ['1', '2', '3', '4']);
    await onScreen([one], '4 messages from agents');
    ageLeases(store, 3_600_000);
    const author = await join(hive, 'abc12-session');
    await Promise.all(['5', '6', '7', '8', '9'].map((title) => hive.outreach.card({ title }, author)));
    await onScreen([one], '4 messages from agents', '5 messages from agents');
  });
});

describe('a popup whose process died before it was on the screen', () => {
  it('is shown by another one, once', async () => {
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
    // Had it only been asleep, it finds that another was quicker.
    resolve();
    await eventually(() => standing(one.notifier).length === 0, 5_000);
    expect(await trail(hive, ask_id)).toHaveLength(1);
  }, 30_000);

  it.each(['mention', 'outreach'] as const)('is shown by another one, also of the kind %s', async (kind) => {
    const store = tempStore();
    const hive = await openTestHive(store);
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
  });
});
