/** Rules for every screen, however it is shown. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The findings of axe once nothing on the page changes its colour any more, one line each. */
export async function axeFinds(page: Page): Promise<string[]> {
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState === 'finished'),
  );
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${impact} ${id}: ${html}: ${failureSummary}`),
  );
}

/** The parts that stick out of the page to the side, outermost first: nothing should. */
export function sticksOut(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    return [...document.querySelectorAll('body *')]
      .filter((element) => {
        const { right, left } = element.getBoundingClientRect();
        return right > root.clientWidth + 1 || left < -1;
      })
      .filter((element) => element.closest('.scrolls, nav') === null)
      .map((element) => `${element.tagName}.${element.className}`);
  });
}

/** The first and the last thing on the page, if something lies over them where they can be seen. */
export function covered(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const shown = [...document.querySelectorAll('main *')].filter((element) => {
      const { height, width } = element.getBoundingClientRect();
      return element.checkVisibility() && height > 2 && width > 2 && element.children.length === 0;
    });
    return [shown.at(0), shown.at(-1)].flatMap((element) => {
      if (element === undefined) return [];
      element.scrollIntoView({ block: element === shown.at(-1) ? 'end' : 'start' });
      if (element === shown.at(-1)) scrollTo(0, document.documentElement.scrollHeight);
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const over = document.elementFromPoint((left + right) / 2, Math.max(top + 1, bottom - 2));
      return over !== null && (over.contains(element) || element.contains(over))
        ? []
        : [`${element.outerHTML} is under ${over?.outerHTML.slice(0, 100)}`];
    });
  });
}
