/**
 * Everything that agents write is text, on every screen and in every field.
 * @module-tag untrusted
 */
import type { BrowserContext, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { HUMAN, introduce } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import { join, post } from '../support/messages.ts';
import { agent } from '../support/outreach.ts';
import { DESKTOP, openContext, useChromium, watchFaults } from './support/chromium.ts';
import { pair, type ServedInbox, serveInbox } from './support/inbox.ts';

/** Attacks, each with a script that would set `document.title`. */
const ATTACKS = [
  `<img src=x onerror="document.title='broken'">`,
  `<script>document.title='broken'</script>`,
  `<svg onload="document.title='broken'"><a xlink:href="javascript:document.title='broken'"><text>svg</text></a></svg>`,
  `<iframe srcdoc="<script>parent.document.title='broken'</script>"></iframe>`,
  `[link](javascript:document.title='broken')`,
  `[link](  JaVaScRiPt:document.title='broken')`,
  `![image](https://example.org/pixel.png)`,
  `<javascript:document.title='broken'>`,
  `[data](data:text/html,<script>document.title='broken'</script>)`,
  `<style>body{display:none}</style><base href="https://example.org/"><form action="https://example.org"><button>x</button></form>`,
  `"><details open ontoggle="document.title='broken'">`,
  `{{constructor.constructor("document.title='broken'")()}}`,
];
const HOSTILE = ATTACKS.join('\n\n');
/** Elements that only a tag or a link of the agent's can have brought into the page. */
const BROUGHT =
  'main :is(script, iframe, img, style, base, object, embed, form[action], svg, [onerror], [onload], [ontoggle], a[href^="javascript:" i], a[href^="data:" i])';

useChromium();
let inbox: ServedInbox;
let context: BrowserContext;
let asked: string;
let permission: string;
beforeFile(async () => {
  inbox = await serveInbox();
  const { hive } = inbox;
  const session = await introduce(hive);
  const short = ATTACKS[0] ?? '';
  const options = ATTACKS.map((label, index) => ({ label: `${index} ${label}`, description: label }));
  const question = { question: HOSTILE, header: short, context: HOSTILE, options };
  asked = (await hive.prompts.ask(question, session)).prompt.ask_id;
  await hive.prompts.note(asked, HOSTILE, session);
  permission = (await hive.prompts.ask({ ...question, kind: 'permission' }, session)).prompt.ask_id;
  const answered = (await hive.prompts.ask({ question: `Hostile: ${short}` }, session)).prompt.ask_id;
  await hive.prompts.respond({ ask_id: answered, decision: HOSTILE, actor: { ...HUMAN, by: short } });
  const peer = await join(hive, 'abc12-session', { project: `<b>${short}`, branch: short });
  await post(hive, peer, `@human ${HOSTILE}`);
  await hive.outreach.card(
    { title: short, description: HOSTILE, fields: [{ name: short, value: short }] },
    session,
  );
  await hive.outreach.report({ message: HOSTILE }, await agent(hive, 'bg-session'));
  context = await openContext(DESKTOP);
  const page = await context.newPage();
  await pair(page, inbox, 'A phone');
  await page.close();
});

const search = async (page: Page): Promise<void> => {
  await page.getByLabel('Search the history').fill('Hostile');
  await page.getByRole('button', { name: 'Search' }).click();
};
const SCREENS: [string, () => string, string, ((page: Page) => Promise<void>)?][] = [
  ['the list', () => '', 'onerror'],
  ['a question', () => `ask/${asked}`, 'ontoggle'],
  ['a permission', () => `ask/${permission}`, 'ontoggle'],
  ['agents', () => 'agents', 'onerror'],
  ['messages', () => 'messages', 'ontoggle'],
  ['reports', () => 'reports', 'ontoggle'],
  ['the history', () => 'history', 'onerror', search],
];
test.each(SCREENS)('%s shows it as it was written', async (_name, path, shown, act) => {
  const page = await context.newPage();
  const faults = watchFaults(page);
  await page.goto(`${inbox.url}#/${path()}`);
  await act?.(page);
  await page.locator('main').getByText(shown).first().waitFor();
  expect(await page.locator(BROUGHT).evaluateAll((found) => found.map(({ outerHTML }) => outerHTML))).toEqual(
    [],
  );
  expect(await page.title()).not.toContain('broken');
  // Every link of the agent's leads to a web page, in a tab that cannot reach this one.
  const links = await page
    .locator('main a[target]')
    .evaluateAll((found) => found.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
  expect(
    links.filter(([href, rel]) => !/^https?:/.test(href ?? '') || rel !== 'noopener noreferrer'),
  ).toEqual([]);
  expect(faults.list).toEqual([]);
  await page.close();
});

test('what a page would need to make HTML or a script of a text is closed to its own code', async () => {
  const page = await context.newPage();
  await page.goto(inbox.url);
  const tried = await page.evaluate(() => {
    const outcome = (work: () => void): string => {
      try {
        work();
        return 'done';
      } catch (error) {
        return (error as Error).name;
      }
    };
    return [
      outcome(() => {
        document.body.innerHTML = '<b>x</b>';
      }),
      outcome(() => {
        document.createElement('script').src = '/x.js';
      }),
      outcome(() =>
        (
          globalThis as unknown as { trustedTypes: { createPolicy(name: string, rules: object): void } }
        ).trustedTypes.createPolicy('mine', {}),
      ),
    ];
  });
  expect(tried).toEqual(['TypeError', 'TypeError', 'TypeError']);
  await page.close();
});
