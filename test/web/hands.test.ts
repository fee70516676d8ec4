/** The inbox by keyboard alone, by touch, and with less motion. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { humanAuthor } from '../../src/domain/messages.ts';
import { shownCode } from '../../src/extensions/inbox/device.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { ask, eventsOf } from '../support/hive.ts';
import { DEMO, join, post, postUnverified } from '../support/messages.ts';
import { claude } from '../support/turns.ts';
import { eventually } from '../support/wait.ts';
import { DESKTOP, openPage, PHONE, useChromium } from './support/chromium.ts';
import { confirm, pair, type ServedInbox, serveInbox } from './support/inbox.ts';

useChromium();
let inbox: ServedInbox;
beforeEach(async () => {
  inbox = await serveInbox();
});

/** Presses Tab until the focus is on what has this name, and says whether it can be seen there. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const at = document.activeElement;
      const label = at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement ? at.labels?.[0] : at;
      return (label?.textContent ?? '').trim();
    });
  const isThere = (text: string): boolean => (typeof name === 'string' ? text === name : name.test(text));
  for (let presses = 0; !isThere(await focused()); presses += 1) {
    if (presses > 60) throw new Error(`Tab does not come to ${name}.`);
    await page.keyboard.press('Tab');
  }
  const ring = await page.evaluate(
    () => getComputedStyle(document.activeElement ?? document.body).outlineStyle,
  );
  expect(ring, `the ring around ${name}`).toBe('solid');
}

describe('a keyboard alone', () => {
  test('pairs, answers, snoozes, writes and interrupts', async () => {
    const { hive } = inbox;
    const first = await ask(hive, { question: 'Ship?', options: ['Yes', 'No'], urgency: 'critical' });
    const second = await ask(hive, { question: 'How?' });
    const third = await ask(hive, { question: 'Later?', options: ['Now'], urgency: 'low' });
    const busy = claude(hive);
    await busy.start();
    await busy.prompt('prompt-1');
    const page = await openPage(DESKTOP);
    const { code } = await devicesOf(hive).invite('ada');
    await page.goto(inbox.url);
    await page.getByLabel('Pairing code').waitFor();
    const { keyboard } = page;
    await tabTo(page, 'Pairing code');
    await keyboard.type(shownCode(code));
    await tabTo(page, 'Name of this phone');
    await keyboard.type('My desk');
    await keyboard.press('Enter');
    await confirm(page, hive, code);

    await page.getByText('Ship?').waitFor();
    await tabTo(page, /^Ship\?/);
    await keyboard.press('Enter');
    await page.locator('.option').first().waitFor();
    await tabTo(page, 'No');
    await keyboard.press('Enter');
    await page.getByText('Answered.').waitFor();
    expect(await hive.prompts.get(first.ask_id)).toMatchObject({ decision: 'No' });

    await tabTo(page, 'Next question');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'How?' }).waitFor();
    await tabTo(page, 'Answer in your own words');
    await keyboard.type('By ship.');
    await tabTo(page, 'Send');
    await keyboard.press('Enter');
    await page.getByText('Answered.').waitFor();
    expect(await hive.prompts.get(second.ask_id)).toMatchObject({ decision: 'By ship.' });

    await tabTo(page, 'Next question');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Later?' }).waitFor();
    await tabTo(page, 'Snooze');
    await keyboard.press('Enter');
    await tabTo(page, '1 hour');
    await keyboard.press('Space');
    await eventually(async () => (await hive.prompts.get(third.ask_id)).snoozed_until !== null);

    await tabTo(page, /^The room/);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The room' }).waitFor();
    await tabTo(page, /^Write a message/);
    await keyboard.type('Good work.');
    await tabTo(page, 'Send');
    await keyboard.press('Enter');
    await page.getByRole('log').getByText('Good work.').waitFor();

    await tabTo(page, /^Agents/);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    await tabTo(page, 'Interrupt');
    await keyboard.press('Enter');
    await tabTo(page, 'A note for the agent');
    await keyboard.type('Stop here.');
    await keyboard.press('Enter');
    await eventually(async () => (await eventsOf(hive, 'turn/interrupt')).length > 0);
  });

  test.each(['100%', '200%'])(
    'sees what has the focus, with letters of %s and a bar at each end',
    async (size) => {
      const { hive } = inbox;
      for (let n = 0; n < 12; n += 1) await ask(hive, { question: `Question ${n}?` });
      const page = await openPage({ ...PHONE, touch: false });
      await pair(page, inbox);
      await page.getByText('Question 11?').waitFor();
      await inbox.kill();
      await page.getByText('No connection.').waitFor();
      await page.evaluate((fontSize) => {
        document.documentElement.style.fontSize = fontSize;
      }, size);
      /** The parts that get the focus with this key, and those of them that a bar covers. */
      const walk = async (key: string): Promise<{ seen: Set<string>; covered: string[] }> => {
        const seen = new Set<string>();
        const covered: string[] = [];
        for (let presses = 0; presses < 40; presses += 1) {
          await page.keyboard.press(key);
          const [name = '', isCovered] = await page.evaluate(async () => {
            for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
            const at = document.activeElement ?? document.body;
            const { left, top, right, bottom } = at.getBoundingClientRect();
            const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
            const isSeen = at === document.body || at.contains(over) || over?.contains(at) === true;
            return [at.textContent ?? '', !isSeen] as const;
          });
          seen.add(/Question \d+/.exec(name)?.[0] ?? '');
          if (isCovered) covered.push(name);
        }
        return { seen, covered };
      };
      for (const key of ['Tab', 'Shift+Tab']) {
        const { seen, covered } = await walk(key);
        expect(seen.size, `questions with ${key}`).toBe(13);
        expect(covered, key).toEqual([]);
      }
    },
  );

  test('begins each screen at its heading', async () => {
    await ask(inbox.hive, { question: 'Ship?', options: ['Yes'] });
    const page = await openPage(DESKTOP);
    await pair(page, inbox);
    for (const name of ['Agents', 'The room', 'Reports', 'History', 'Needs you']) {
      await page.getByRole('link', { name }).first().click();
      await eventually(() => page.evaluate((said) => document.activeElement?.textContent === said, name));
    }
  });
});

test('a loop that was stopped needs its human, and is decided on there', async () => {
  const { hive } = inbox;
  const [a, b] = [await join(hive, 'abc12-session'), await join(hive, 'def34-session')];
  const pingPong = async (): Promise<void> => {
    for (let n = 0; n < 8; n += 1)
      await post(hive, n % 2 === 0 ? a : b, `@${(n % 2 === 0 ? b : a).handle} thanks`);
  };
  const states = async (): Promise<string[]> => (await hive.loops.list()).map(({ state }) => state);
  const page = await openPage();
  await pair(page, inbox);
  const stopped = page.getByRole('region', { name: 'Stopped loops' });

  await pingPong();
  await stopped.getByText(/keep replying to each other/).waitFor();
  await stopped.getByRole('button', { name: 'Let them continue' }).click();
  await stopped.waitFor({ state: 'detached' });
  expect(await states()).toEqual([]);

  await pingPong();
  await page.getByRole('link', { name: 'The room' }).click();
  await page.getByRole('button', { name: 'Reply' }).first().click();
  await page.getByText(/Replying to/).waitFor();
  await page.getByRole('link', { name: 'Needs you' }).click();
  await stopped.getByRole('button', { name: 'Write to them' }).click();
  const words = page.getByLabel(/^Write a message/);
  expect((await words.inputValue()).split(' ').sort()).toEqual(['', `@${a.handle}`, `@${b.handle}`]);
  expect(await page.getByText(/Replying to/).count()).toBe(0);
  await words.fill(`${await words.inputValue()}enough`);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('link', { name: 'Needs you' }).click();
  await page.getByText('Nothing needs you.').waitFor();
  expect(await states()).toEqual([]);

  await pingPong();
  await stopped.getByRole('button', { name: 'Mute this pair' }).click();
  await stopped.waitFor({ state: 'detached' });
  expect(await states()).toEqual(['muted']);
  await page.getByText('Muted pairs (1)').click();
  await page.getByText(/are muted: mentions of each other reach neither/).waitFor();
  await page.getByRole('button', { name: 'Let them continue' }).click();
  await page.getByText('Muted pairs').waitFor({ state: 'detached' });
  expect(await states()).toEqual([]);
});

test('the messages begin with the newest, and whoever reads older ones is left there when one arrives', async () => {
  const peer = await join(inbox.hive, 'peer-session');
  for (let n = 0; n < 30; n += 1) await post(inbox.hive, peer, `message ${n}`);
  const page = await openPage();
  await pair(page, inbox);
  const toEnd = (): Promise<number> =>
    page.evaluate(() => document.documentElement.scrollHeight - innerHeight - scrollY);
  await page.getByRole('link', { name: 'The room' }).tap();
  await eventually(async () => (await toEnd()) < 2);
  await page.evaluate(() => scrollTo(0, 300));
  await post(inbox.hive, peer, 'one more');
  await page.getByText('one more').waitFor();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  expect(await page.evaluate(() => scrollY)).toBe(300);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await post(inbox.hive, peer, 'the last');
  await page.getByText('the last').waitFor();
  await eventually(async () => (await toEnd()) < 2);
});

test('messages that mention its human need them, and are marked as done or replied to there', async () => {
  const { hive } = inbox;
  const peer = await join(hive, 'peer-session');
  const first = await post(hive, peer, '@Human look at the build');
  // It is no longer among the messages that the page shows.
  for (let n = 0; n < 100; n += 1) await post(hive, peer, `message ${n}`);
  const second = await post(hive, peer, '@Human which build?');
  const page = await openPage();
  await pair(page, inbox);
  const mentions = page.getByRole('region', { name: 'Mentions of you' });
  const rows = mentions.getByRole('listitem');
  await rows.first().getByText(`${peer.title} mentions you · `).waitFor();
  expect(await rows.count()).toBe(2);
  expect(await page.locator('nav .count').allTextContents()).toEqual(['2']);
  expect(await page.title()).toBe('(2) Hive');
  await rows.last().getByRole('button', { name: 'Mark done' }).tap();
  const statusOf = async ({ mentions: [mention] }: typeof first) =>
    (await hive.store.read((tx) => tx.mentions.get(mention?.mention_id ?? '')))?.status;
  await eventually(async () => (await statusOf(first)) === 'processed');
  await mentions.getByText('look at the build').waitFor({ state: 'detached' });
  await mentions.getByRole('button', { name: 'Reply' }).tap();
  await page.getByText(`Replying to ${peer.handle}`).waitFor();
  await page.getByLabel(/^Write a message/).fill('The last one.');
  await page.getByRole('button', { name: 'Send' }).tap();
  await eventually(async () => (await statusOf(second)) === 'processed');
  await page.getByRole('link', { name: 'Needs you' }).tap();
  await page.getByText('Nothing needs you.').waitFor();
  const [last] = (await hive.messages.read({ limit: 1 })).items;
  expect(last).toMatchObject({ body: 'The last one.', reply_to: second.message.message_id });
});

test('a message names its project where the room has several, and a mention always, unless its author is called after it', async () => {
  const { hive } = inbox;
  const titled = (session_id: string, client_title: string | null, project: string) =>
    join(hive, session_id, { client_title, project, project_dir: `/${project}/.git` });
  await post(hive, await titled('abc12-session', 'Fix the date', 'demo'), '@Human look');
  await post(hive, 'human', 'I did.');
  const page = await openPage();
  await pair(page, inbox);
  const headings = async (count: number): Promise<(string | undefined)[]> => {
    await eventually(async () => (await page.locator('.meta').count()) === count);
    const texts = await page.locator('.meta').allTextContents();
    return texts.map((text) => /^(.*) · \d+ s$/.exec(text)?.[1]);
  };
  expect(await headings(1)).toEqual(['Fix the date mentions you · demo']);
  await page.getByRole('link', { name: 'The room' }).tap();
  expect(await headings(2)).toEqual(['Fix the date', 'Human']);
  await post(hive, await titled('def34-session', 'Fix the search', 'shop'), 'Found it.');
  await post(hive, await titled('xyz56-session', null, 'shop'), 'So did I.');
  expect(await headings(4)).toEqual(['Fix the date · demo', 'Human · demo', 'Fix the search · shop', 'shop']);
});

test('the history names the project of each entry, unless its author is called after it, and a background session', async () => {
  const { hive } = inbox;
  const of = (session_id: string, project: string, more: Parameters<typeof join>[2] = {}) =>
    join(hive, session_id, { project, project_dir: `/${project}/.git`, ...more });
  await hive.prompts.ask(
    { question: 'Which date?' },
    await of('abc12-session', 'demo', { client_title: 'Fix the date' }),
  );
  await hive.messages.post({ body: 'I did.', author: humanAuthor('emacs', DEMO), by: 'ada' });
  await post(hive, await of('def34-session', 'shop', { source: 'bg', client_title: 'Check' }), 'Found it.');
  await post(hive, await of('xyz56-session', 'shop'), 'So did I.');
  const page = await openPage();
  await pair(page, inbox);
  await page.getByRole('link', { name: 'History' }).tap();
  await page.getByRole('button', { name: 'Search' }).tap();
  const rows = page.locator('main .rows .meta');
  await eventually(async () => (await rows.count()) === 4);
  const headings = (await rows.allTextContents()).map((text) => text.replace(/ · \d+ s$/, ''));
  expect(headings).toEqual([
    'shop · message',
    '[bg] Check · shop · message',
    'ada · demo · message',
    'Fix the date · demo · pending',
  ]);
});

test('a message that reaches somebody else than its human thought says so, until they have read it', async () => {
  const { hive } = inbox;
  const peer = await join(hive, 'peer-session');
  const page = await openPage();
  await pair(page, inbox);
  await page.getByRole('link', { name: 'The room' }).tap();
  await page.getByLabel(/^Write a message to everyone/).fill(`@${peer.handle} @Claude-peir stop`);
  await page.getByRole('button', { name: 'Send' }).tap();
  const missed = `@Claude-peir reached nobody: nobody has that name. Did you mean @${peer.handle}?`;
  await page.getByText(missed).waitFor();
  await page.reload();
  await page.getByText(missed).waitFor();
  await page.getByText(/^posted/).waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).tap();
  await page.getByText(missed).waitFor({ state: 'detached' });
  // One that reaches whom it names leaves nothing to read.
  await page.getByRole('button', { name: 'Reply' }).first().tap();
  await page.getByLabel('Write a message. @Name').fill(`@${peer.handle} go on`);
  await page.getByRole('button', { name: 'Send' }).tap();
  await page.getByRole('log').getByText('go on').waitFor();
  expect(await page.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
});

test('a message under the heading of somebody else says so, in the room and among what needs its human', async () => {
  const { hive } = inbox;
  const peer = await join(hive, 'peer-session');
  await postUnverified(hive, peer.handle, '@Human look');
  await hive.messages.post({
    ...{ body: 'Yes.', author: humanAuthor('emacs', DEMO), by: 'ada' },
    heading: { handle: peer.handle, stamp: '2026-01-11 18:00:00' },
  });
  const page = await openPage();
  await pair(page, inbox);
  const names = page.locator('.meta strong');
  await eventually(async () => (await names.count()) === 1);
  expect(await names.allTextContents()).toEqual([`unverified (as ${peer.handle})`]);
  await page.getByRole('link', { name: 'The room' }).tap();
  await page.getByText('Yes.').waitFor();
  expect(await names.allTextContents()).toEqual([
    `unverified (as ${peer.handle})`,
    `ada (as ${peer.handle})`,
  ]);
});

test('a reply is one to its message, also when that is no longer on the page', async () => {
  const peer = await join(inbox.hive, 'peer-session');
  const { message } = await post(inbox.hive, peer, 'Which build?');
  const page = await openPage();
  await pair(page, inbox);
  await page.getByRole('link', { name: 'The room' }).tap();
  await page.getByRole('button', { name: 'Reply' }).tap();
  await page.getByLabel(/^Write a message/).fill('The last one.');
  for (let n = 0; n < 100; n += 1) await post(inbox.hive, peer, `message ${n}`);
  await page.getByText('Which build?').waitFor({ state: 'detached' });
  await page.getByText(`Replying to ${message.from_handle}`).waitFor();
  await page.getByRole('button', { name: 'Send' }).tap();
  const last = async () => (await inbox.hive.messages.read({ limit: 1 })).items[0];
  await eventually(async () => (await last())?.body === 'The last one.');
  expect(await last()).toMatchObject({ reply_to: message.message_id });
});

test('a question that is written from right to left begins at the right', async () => {
  const options = [{ label: 'نعم', description: 'يحذف الفرع' }];
  const { ask_id } = await ask(inbox.hive, { question: 'ما الوصف القصير؟', options });
  const page = await openPage();
  await pair(page, inbox);
  const directionOf = (selector: string): Promise<string> =>
    page.locator(selector).evaluate((element) => getComputedStyle(element).direction);
  expect(await directionOf('.row-title')).toBe('rtl');
  await page.goto(`${inbox.url}#/ask/${ask_id}`);
  await page.locator('.option').waitFor();
  expect(await directionOf('h1')).toBe('rtl');
  const gap = await page.locator('.option').evaluate((option) => {
    const text = document.createRange();
    text.selectNodeContents(option.querySelector('small') ?? option);
    return option.getBoundingClientRect().right - text.getBoundingClientRect().right;
  });
  expect(gap, 'the description of an option begins at the right, too').toBeLessThan(40);
});

test('an address with a pairing code fills it in, also in the tab that already asks for one', async () => {
  const page = await openPage();
  await page.goto(inbox.url);
  await page.getByLabel('Pairing code').waitFor();
  await pair(page, inbox);
});

test('everything that is tapped is at least 44 pixels high', async () => {
  const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
  const page = await openPage();
  await pair(page, inbox);
  // Where one is can be seen from the first moment.
  expect(await page.locator('nav [aria-current=page]').textContent()).toMatch(/^Needs you/);
  for (const path of ['', `ask/${ask_id}`, 'agents', 'messages', 'reports', 'history']) {
    await page.goto(`${inbox.url}#/${path}`);
    await page.locator('h1').waitFor();
    const small = await page
      .locator('main :is(button, summary, input, textarea, a:not([target])), nav a')
      .evaluateAll((found) =>
        found
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5)
          .map(({ outerHTML }) => outerHTML),
      );
    expect(small, path).toEqual([]);
  }
});

test('a chosen option is told from the others without colours', async () => {
  const options = [{ label: 'Search' }, { label: 'Export' }];
  const { ask_id } = await ask(inbox.hive, { question: 'Which?', options, multi_select: true });
  const page = await openPage();
  await page.emulateMedia({ forcedColors: 'active' });
  await pair(page, inbox);
  await page.goto(`${inbox.url}#/ask/${ask_id}`);
  const option = page.getByRole('button', { name: 'Export' });
  const looks = async (): Promise<string> => (await option.screenshot()).toString('base64');
  const before = await looks();
  await option.tap();
  await page.getByRole('heading').tap();
  await eventually(async () => (await looks()) !== before);
  await option.tap();
  await page.getByRole('heading').tap();
  await eventually(async () => (await looks()) === before);
});

test('nothing moves for whoever wants less motion', async () => {
  const page = await openPage();
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await pair(page, inbox);
  const moving = await page
    .locator('body *')
    .evaluateAll(
      (found) =>
        found
          .map((one) => getComputedStyle(one))
          .filter(
            ({ transitionDuration, animationName }) =>
              transitionDuration !== '0s' || animationName !== 'none',
          ).length,
    );
  expect(moving).toBe(0);
});
