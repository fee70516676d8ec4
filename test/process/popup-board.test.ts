import { beforeEach, describe, expect, it } from 'vitest';
import { startPopups } from '../../src/application/popups.ts';
import { HiveError } from '../../src/domain/errors.ts';
import { STORM } from '../../src/domain/popups.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ageLeases, type FakeNotifier, fakeNotifier, standing } from '../support/fake-notifier.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { recorded } from '../support/popup-trail.ts';
import { tempStore } from '../support/temp.ts';
import { eventually, sleep } from '../support/wait.ts';

let hive: OpenedHive;
let notifier: FakeNotifier;

async function desk(parts: Partial<OpenedHive> = {}): Promise<() => Promise<void>> {
  const party = {
    seat: 'ada@home',
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

describe('a click that comes too late', () => {
  it('is told to the person: somebody else has answered', async () => {
    const stop = await desk();
    const { ask_id } = await ask(hive, { options: ['yes', 'no'] });
    await cards(1);
    // The click was on its way before the popup could be taken down.
    const click = hive.prompts.respond({ ask_id, decision: 'no', actor: HUMAN });
    pressed(0);
    await click;
    await cards(2);
    const notice = notifier.cards[1];
    expect(notice).toMatchObject({ kind: 'notice', buttons: [] });
    expect(notice?.body).toBe('ada answered "no" before.');
    await stop();
  });
});

describe('a click while the store is busy', () => {
  it('is tried again until it is on disk, and is one answer', async () => {
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
});

describe('a permission', () => {
  it('is not answered by a popup whose human has turned that off meanwhile, and the person is told', async () => {
    await hive.trust.lend({ popup_permissions: true });
    const stop = await desk();
    const { ask_id } = await ask(hive, { kind: 'permission', options: ['allow', 'deny'] });
    await cards(1);
    await hive.trust.lend({ popup_permissions: null });
    pressed(0);
    await cards(2);
    expect(notifier.cards[1]?.body).toMatch(/"allow" was not taken: A permission is answered at a desk/);
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
    await stop();
  });
});

describe('a prompt that settles while its popup is being shown', () => {
  it('has it taken down as soon as it stands', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    notifier.delay = promise;
    const stop = await desk();
    const { ask_id } = await ask(hive);
    await cards(1);
    await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
    await sleep(50);
    resolve();
    await eventually(() => notifier.cards[0]?.closed === true);
    await stop();
  });
});

describe('prompts that trickle in', () => {
  it('are single popups up to three, then one with all that wait, whatever comes of it', async () => {
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

  it('are no storm at a slower pace: what comes after it is a popup of its own again', async () => {
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
    await sleep(100);
    await stop();
    for (const { ask_id } of asked) {
      const events = await hive.store.read((tx) => tx.events.of(ask_id, 10));
      expect(events.filter((event) => event.type === 'prompt/popup')).toHaveLength(1);
    }
  });
});

describe('a process that ends', () => {
  it('leaves no popup of a prompt that it was leasing just then, and the trail says why', async () => {
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
    await sleep(50);
    gate.resolve();
    await stopped;
    expect(notifier.isClosed).toBe(true);
    expect(standing(notifier)).toEqual([]);
    expect(await recorded(hive, ask_id)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('has ended'),
    });
  });

  it('takes down what was on its way to the screen', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    notifier.delay = promise;
    const stop = await desk();
    await ask(hive);
    await cards(1);
    const stopped = stop();
    await sleep(50);
    resolve();
    await stopped;
    expect(standing(notifier)).toEqual([]);
  });
});
