/**
 * Every character that a permission shows as it is takes room on the page: none is drawn as nothing.
 * @module-tag as-displayed
 */
import { expect, test } from 'vitest';
import { revealedSource } from '../../src/domain/display.ts';
import { ask } from '../support/hive.ts';
import { openPage, useChromium } from './support/chromium.ts';
import { pair, serveInbox } from './support/inbox.ts';

/** Shown behind a letter: some characters are only shown where they have one to stand on. */
const BASE = 'a';
const isSpelled = (character: string): boolean =>
  revealedSource(`${BASE}${character}`) !== `${BASE}${character}`;
const MARK = /\p{M}/u;

useChromium();

test('in the fonts of the page', async () => {
  const inbox = await serveInbox();
  const asked = await ask(inbox.hive, {
    question: 'Run this?',
    context: 'ls',
    options: ['Allow', { label: 'Deny', refuses: true }],
    kind: 'permission',
  });
  const page = await openPage();
  await pair(page, inbox);
  await page.goto(`${inbox.url}#/ask/${asked.ask_id}`);
  await page.locator('.source').waitFor();
  const shown: string[] = [];
  for (let code = 0x21; code < 0x40000; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    // A mark is drawn on the letter before it.
    if (!MARK.test(character) && !isSpelled(character)) shown.push(character);
  }
  expect(shown.length).toBeGreaterThan(50_000);
  const narrow = await page.evaluate((characters) => {
    const context = document.createElement('canvas').getContext('2d');
    const fonts = ['.source', 'h1.command', '.option'].map((selector) => {
      const element = document.querySelector(selector);
      if (element === null) throw new Error(`There is no ${selector}.`);
      return getComputedStyle(element).font;
    });
    if (context === null) throw new Error('There is no canvas.');
    return fonts.flatMap((font) => {
      context.font = font;
      return characters.filter((character) => context.measureText(character).width <= 0);
    });
  }, shown);
  expect(narrow.map((character) => `U+${character.codePointAt(0)?.toString(16)}`)).toEqual([]);
});
