/**
 * Every screen of the inbox on a phone and on a desktop, in both themes: no error, no breach of the page's policy, nothing
 * that axe finds, nothing that sticks out, nothing covered.
 * @module-tag untrusted
 */
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { shownCode } from '../../src/extensions/inbox/device.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { beforeFile } from '../support/lifetime.ts';
import {
  DESKTOP,
  type Faults,
  type Look,
  openContext,
  openPage,
  PHONE,
  useChromium,
  watchFaults,
} from './support/chromium.ts';
import { pair, type ServedInbox, serveInbox } from './support/inbox.ts';
import { axeFinds, covered, sticksOut } from './support/looks.ts';
import { fill, type World } from './support/world.ts';

useChromium();
let inbox: ServedInbox;
let world: World;
const contexts = new Map<boolean, BrowserContext>();

beforeFile(async () => {
  inbox = await serveInbox();
  world = await fill(inbox.hive);
  for (const look of [PHONE, DESKTOP]) {
    const context = await openContext(look);
    const page = await context.newPage();
    await pair(page, inbox, look.touch ? "Ada's phone" : "Ada's laptop");
    await page.close();
    contexts.set(look.touch, context);
  }
});

/** A screen: how one gets there, and what it shows then. */
interface Screen {
  name: string;
  path: () => string;
  shows: (page: Page) => Promise<unknown>;
}

const text = (wanted: string | RegExp) => (page: Page) => page.getByText(wanted).first().waitFor();

const SCREENS: Screen[] = [
  { name: 'what waits', path: () => '', shows: text('Migration') },
  { name: 'a stopped loop', path: () => '', shows: text(/keep replying to each other/) },
  {
    name: 'what is snoozed',
    path: () => '',
    shows: async (page) => {
      await page.getByText('Snoozed (1)').click();
      await text('And later?')(page);
    },
  },
  { name: 'a question', path: () => `ask/${world.long}`, shows: text('An hour of work') },
  {
    name: 'the times of snoozing',
    path: () => `ask/${world.long}`,
    shows: async (page) => {
      await page.getByText('Snooze', { exact: true }).click();
      await text('1 hour')(page);
    },
  },
  {
    name: 'why it asks',
    path: () => `ask/${world.explained}`,
    shows: async (page) => {
      await page.getByText('Its last words').click();
      await text(/The \*?\*?cache/)(page);
    },
  },
  {
    name: 'several answers',
    path: () => `ask/${world.several}`,
    shows: (page) => page.getByText('Export').click(),
  },
  { name: 'right to left', path: () => `ask/${world.rightToLeft}`, shows: text('مهم') },
  { name: 'a permission', path: () => `ask/${world.permission}`, shows: text('This phone may deny') },
  { name: 'an answered question', path: () => `ask/${world.answered}`, shows: text(/Answered by/) },
  { name: 'an expired question', path: () => `ask/${world.expired}`, shows: text(/expired without/) },
  {
    name: 'a question that is not there',
    path: () => 'ask/ask-0000000000000000',
    shows: text(/no question/i),
  },
  { name: 'agents', path: () => 'agents', shows: text('Interrupt') },
  {
    name: 'an interrupt',
    path: () => 'agents',
    shows: async (page) => {
      await page.getByRole('button', { name: 'Interrupt' }).click();
      await page.getByLabel('A note for the agent').waitFor();
    },
  },
  { name: 'messages', path: () => 'messages', shows: text(/The build is/) },
  {
    name: 'a reply',
    path: () => 'messages',
    shows: async (page) => {
      await page.getByRole('button', { name: 'Reply' }).first().click();
      await text(/Replying to/)(page);
    },
  },
  { name: 'cards and reports', path: () => 'reports', shows: text('Deployment') },
  {
    name: 'the history',
    path: () => 'history',
    shows: (page) => page.getByLabel('Search the history').waitFor(),
  },
  {
    name: 'results of the history',
    path: () => 'history',
    shows: async (page) => {
      await page.getByLabel('Search the history').fill('settled');
      await page.getByRole('button', { name: 'Search' }).click();
      await text('Is this settled?')(page);
    },
  },
];

const looks: Look[] = [PHONE, DESKTOP].flatMap((look) =>
  (['light', 'dark'] as const).map((theme) => ({ ...look, theme })),
);
/** The short run takes the first and the last: each size and each theme once. */
const tried =
  process.env['HIVE_TEST_LOOKS'] === '2' ? [looks[0], looks[3]].filter((look) => look !== undefined) : looks;
const nameOf = ({ width, theme }: Look): string => `${width} px, ${theme}`;

describe.each(tried.map((look) => [nameOf(look), look] as const))('%s', (name, look) => {
  let page: Page;
  let faults: Faults;
  beforeFile(async () => {
    const context = contexts.get(look.touch);
    if (context === undefined) throw new Error('There is no such device.');
    page = await context.newPage();
    await page.emulateMedia({ colorScheme: look.theme });
    faults = watchFaults(page);
    await page.goto(inbox.url);
  });

  test.each(SCREENS.map((screen) => [screen.name, screen] as const))(
    '%s',
    async (screen, { path, shows }) => {
      // Each begins as a page that was just opened.
      await page.goto(`${inbox.url}#/${path()}`);
      await page.reload();
      await shows(page);
      await picture(page, `${screen}, ${name}`);
      expect(await axeFinds(page)).toEqual([]);
      expect(await sticksOut(page), 'sticks out').toEqual([]);
      expect(await covered(page), 'is covered').toEqual([]);
      await page.evaluate(() => {
        document.documentElement.style.fontSize = '200%';
      });
      expect(await sticksOut(page), 'sticks out with a text of 200 %').toEqual([]);
      expect(await covered(page), 'is covered with a text of 200 %').toEqual([]);
      expect(faults.list).toEqual([]);
    },
  );

  test('pairing', async () => {
    const page = await openPage(look);
    const faults = watchFaults(page);
    const { code } = await devicesOf(inbox.hive).invite('ada');
    await page.goto(`${inbox.url}#code=${shownCode(code)}`);
    await page.getByRole('button', { name: 'Pair' }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await picture(page, `pairing, ${name}`);
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.getByText(/Compare these four words/).waitFor();
    await picture(page, `the phrase, ${name}`);
    expect(await axeFinds(page)).toEqual([]);
    expect(await sticksOut(page)).toEqual([]);
    const card = await page.locator('main').boundingBox();
    expect(card?.height, 'it is as high as its text').toBeLessThan(look.height / 2);
    expect(faults.list).toEqual([]);
  });

  test('a phone that was revoked', async () => {
    const page = await openPage(look);
    await page.emulateMedia({ colorScheme: look.theme });
    const { device_id } = await pair(page, inbox, `Old phone, ${name}`);
    await devicesOf(inbox.hive).revoke(device_id, 'ada');
    await page.getByRole('button', { name: 'Pair again' }).waitFor();
    await page.goto(`${inbox.url}#/ask/${world.explained}`);
    await page.locator('.option').first().click();
    await page
      .getByText('Queued: Yes. It is sent once this phone is paired with the same hive again.')
      .waitFor();
    expect(await page.getByText('was revoked').count(), 'it says so once').toBe(1);
    await picture(page, `revoked, ${name}`);
    expect(await axeFinds(page)).toEqual([]);
    expect(await sticksOut(page)).toEqual([]);
  });
});

/** `HIVE_TEST_PICTURES=FOLDER` keeps a picture of each screen. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['HIVE_TEST_PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
