/**
 * Every visible character that agents write is on the page, and every other question can be answered.
 * `HIVE_TEST_TEXTS` says how many texts of a fuzzer, `HIVE_TEST_SEED` which.
 * @module-tag untrusted
 */
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { FRAME_BYTES } from '../../src/adapters/emacs/frames.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import type { Session } from '../../src/domain/sessions.ts';
import { ask, introduce } from '../support/hive.ts';
import { hostileText, seen } from '../support/hostile-texts.ts';
import { beforeFile } from '../support/lifetime.ts';
import { join, post } from '../support/messages.ts';
import { type Faults, openPage, useChromium, watchFaults } from './support/chromium.ts';
import { pair, type ServedInbox, serveInbox } from './support/inbox.ts';

const TEXTS = Number(process.env['HIVE_TEST_TEXTS'] ?? 1_000);
/** Each takes a tenth of a second, and longer on a busy machine. */
const TEXTS_MS = 60_000 + TEXTS * 3_000;
const MOST_CONTEXT = 64 * 1024;
const MOST_MESSAGE = 32 * 1024;

useChromium();

let inbox: ServedInbox;
let agent: Session;
async function serve(): Promise<void> {
  inbox = await serveInbox();
  agent = await join(inbox.hive, 'abc12-session');
}

async function phone(name = "Ada's phone"): Promise<Page> {
  const page = await openPage();
  await pair(page, inbox, name);
  return page;
}

async function show(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = `#/${to}`;
  }, path);
}

const contextOf = async (page: Page, { ask_id }: Prompt): Promise<string> => {
  await show(page, `ask/${ask_id}`);
  const context = page.locator('section[aria-label=Context]');
  await context.waitFor();
  return context.innerText();
};

/** As a person does, from the list. */
async function answerFromTheList(page: Page, { ask_id, question }: Prompt): Promise<void> {
  await show(page, '');
  await page.locator(`a[href="#/ask/${ask_id}"]`, { hasText: question }).tap();
  await page.locator('.option', { hasText: 'Yes' }).tap();
  await page.getByText('Answered.').waitFor();
  expect(await inbox.hive.prompts.get(ask_id)).toMatchObject({ decision: 'Yes', via: 'inbox' });
}

const honest = (number = 0): Promise<Prompt> =>
  ask(inbox.hive, { question: `Is number ${number} honest?`, options: ['Yes', 'No'] });

/** Texts that once ended or stopped the page. */
const KNOWN: [string, string][] = [
  ['nested quotes', '>'.repeat(4_000)],
  ['nested numbered lists', '1. '.repeat(4_000)],
  ['nested lists', '- '.repeat(8_000)],
  ['emphasis that nothing closes', '__a'.repeat(20_000)],
  ['brackets', '['.repeat(30_000)],
  ['backticks of growing length', Array.from({ length: 250 }, (_, n) => '`'.repeat(n)).join(' ')],
];

const LEFT_OUT: [string, string][] = [
  ['a definition of a link', 'I rename a variable.\n\n[and]: https://x.example "AND-DROP-THE-TABLE"'],
  ['words behind a fence', '```js AND-DROP-THE-TABLE\nx = 1\n```'],
  ['a surplus cell', '| a |\n|---|\n| b | AND-DROP-THE-TABLE |'],
  ['the title of a link', '[a](https://x.example "AND-DROP-THE-TABLE")'],
  ['the number of an item', '7. first\n9. second'],
  ['markup', 'rm a*b*c and _d_ \\*e\\* <!-- AND-DROP-THE-TABLE --> &#65;'],
];

describe('on one page', () => {
  let page: Page;
  let faults: Faults;
  beforeFile(async () => {
    await serve();
    page = await phone();
    faults = watchFaults(page);
  });

  test.each(KNOWN)('%s are shown, and an honest question is answered', async (what, text) => {
    const question = await ask(inbox.hive, {
      question: 'Is this hostile?',
      context: text,
      options: ['Yes', 'No'],
      urgency: 'critical',
    });
    await post(inbox.hive, agent, `seen: ${what} ${text.slice(0, MOST_MESSAGE - 50)}`);
    expect(seen(await contextOf(page, question))).toBe(seen(text));
    await show(page, 'messages');
    await page.locator('.message', { hasText: `seen: ${what}` }).waitFor();
    await answerFromTheList(page, await honest());
    expect(faults.list).toEqual([]);
  });

  test.each(LEFT_OUT)('%s is shown', async (_what, text) => {
    const question = await ask(inbox.hive, { question: 'May I?', context: text, options: ['Yes', 'No'] });
    expect(seen(await contextOf(page, question))).toBe(seen(text));
  });
});

test('one message or question that cannot be drawn leaves the others', async () => {
  await serve();
  const page = await openPage();
  // A fault of the page, such as one of a library.
  await page.addInitScript(() => {
    const canParse = URL.canParse.bind(URL);
    URL.canParse = (url, ...rest) => {
      if (String(url).includes('breaks')) throw new RangeError('Maximum call stack size exceeded');
      return canParse(url, ...rest);
    };
  });
  await pair(page, inbox);
  const broken = 'Look at https://breaks.example now.';
  await post(inbox.hive, agent, broken);
  await post(inbox.hive, agent, 'Another **message**.');
  const question = await ask(inbox.hive, { question: 'This?', context: broken, options: ['Yes', 'No'] });
  await show(page, 'messages');
  await page.getByText('Another').waitFor();
  // It is there as plain text.
  await page.locator('.message', { hasText: broken }).waitFor();
  expect(await contextOf(page, question)).toBe(broken);
  await answerFromTheList(page, question);
  await answerFromTheList(page, await honest());
});

test(
  'texts of a fuzzer are all on the page, and each honest question is answered',
  async () => {
    await serve();
    const session = await introduce(inbox.hive);
    const texts = fc.sample(hostileText(MOST_CONTEXT), TEXTS);
    const asked: [Prompt, string][] = [];
    for (const [index, text] of texts.entries()) {
      const { prompt } = await inbox.hive.prompts.ask(
        {
          question: text.slice(0, 2_000),
          header: text.slice(0, 100),
          context: text,
          options: ['Yes', { label: 'No', description: text.slice(0, 500) }],
          urgency: index % 2 === 0 ? 'critical' : 'normal',
        },
        session,
      );
      asked.push([prompt, text]);
      if (Buffer.byteLength(text) <= MOST_MESSAGE) await post(inbox.hive, agent, text);
    }
    // Each device has a limit of its own for its calls.
    const pages = [await phone('one'), await phone('two'), await phone('three')];
    const faults = pages.map(watchFaults);
    for (const [index, [prompt, text]] of asked.entries()) {
      const page = pages[index % pages.length] as Page;
      expect(seen(await contextOf(page, prompt)), JSON.stringify(text.slice(0, 300))).toBe(
        seen(prompt.context ?? ''),
      );
      if (index % 50 === 0) await answerFromTheList(page, await honest(index));
    }
    const [page] = pages as [Page];
    await show(page, 'messages');
    const { items } = await inbox.hive.messages.readFitting({ limit: 100 }, FRAME_BYTES);
    await page
      .locator('.message')
      .nth(items.length - 1)
      .waitFor();
    const shown = await page.locator('.message .markdown').allInnerTexts();
    expect(shown.map(seen).sort()).toEqual(items.map(({ body }) => seen(body)).sort());
    await answerFromTheList(page, await honest(TEXTS));
    expect(faults.flatMap(({ list }) => list)).toEqual([]);
  },
  TEXTS_MS,
);
