/**
 * Answers from a phone whose network, browser and server fail, and which is not alone.
 * @module-tag one-winner
 * @module-tag durable
 * @module-tag late
 */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Device } from '../../src/domain/devices.ts';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { seatThatSigned } from '../../src/domain/seats.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { shell } from '../support/cli.ts';
import { ask, eventsOf, HUMAN } from '../support/hive.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { openPage, startChromium, useChromium } from './support/chromium.ts';
import { cuttingProxy } from './support/cutting-proxy.ts';
import { open, pair, type ServedInbox, serveInbox } from './support/inbox.ts';

useChromium();

let inbox: ServedInbox;
beforeEach(async () => {
  inbox = await serveInbox();
});

/** A phone of the human's, with its page. */
async function phone(name = "Ada's phone", url = inbox.url): Promise<{ page: Page; device: Device }> {
  const page = await openPage();
  return { page, device: await pair(page, { ...inbox, url }, name) };
}

async function show(page: Page, ask_id: string, url = inbox.url): Promise<void> {
  await page.goto(`${url}#/ask/${ask_id}`);
  await page.locator('.option').first().waitFor();
}

const option = (page: Page, label: string) => page.locator('.option', { hasText: label });

/** How often the store has taken an answer to this question. */
async function answersOf(ask_id: string): Promise<unknown[]> {
  const events = await eventsOf(inbox.hive, 'prompt/responded');
  return events.filter(({ subject }) => subject === ask_id).map(({ data }) => data['decision']);
}

async function isAnswered(ask_id: string): Promise<boolean> {
  return (await inbox.hive.prompts.get(ask_id)).status === 'responded';
}

describe('an answer', () => {
  test('given while the server is dead goes out once it is back, once', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
    const { page } = await phone();
    await show(page, ask_id);
    await inbox.kill();
    await page.getByText(/No connection/).waitFor();
    await option(page, 'Yes').tap();
    await page.getByText(/^Queued/).waitFor();
    await inbox.start();
    await page.getByText('Answered.').waitFor();
    expect(await answersOf(ask_id)).toEqual(['Yes']);
    expect(await inbox.hive.prompts.get(ask_id)).toMatchObject({ by: 'ada', via: 'inbox' });
  });

  test('survives the end of the browser before anything was sent', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
    const folder = tempFolder();
    const first = await startChromium(folder);
    const page = await first.kept.newPage();
    await pair(page, inbox);
    await show(page, ask_id);
    await inbox.kill();
    await option(page, 'Yes').click();
    await page.getByText(/^Queued/).waitFor();
    await first.child.kill('SIGKILL');
    await inbox.start();
    const again = await startChromium(folder);
    await open(again.kept, inbox.url);
    await eventually(() => isAnswered(ask_id));
    expect(await answersOf(ask_id)).toEqual(['Yes']);
  });

  test('whose acknowledgement was lost with the browser counts once', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
    const proxy = await cuttingProxy(inbox.port);
    const url = `http://127.0.0.1:${proxy.port}/inbox`;
    const folder = tempFolder();
    const first = await startChromium(folder);
    const page = await first.kept.newPage();
    await pair(page, { ...inbox, url });
    await show(page, ask_id, url);
    proxy.loseReplies();
    await option(page, 'Yes').click();
    await eventually(() => isAnswered(ask_id));
    await first.child.kill('SIGKILL');
    proxy.heal();
    const again = await startChromium(folder);
    const reopened = await open(again.kept, url);
    await eventually(async () => (await queuedIn(reopened)) === 0);
    expect(await answersOf(ask_id)).toEqual(['Yes']);
  });

  test('of a double tap is one', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
    const { page } = await phone();
    await show(page, ask_id);
    await option(page, 'Yes').evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await page.getByText('Answered.').waitFor();
    await eventually(async () => (await queuedIn(page)) === 0);
    expect(await answersOf(ask_id)).toEqual(['Yes']);
    // Not even the store was asked twice.
    expect(await page.getByText('another answer was first').count()).toBe(0);
  });

  test('of two phones and a shell has one winner, and the losers read whose it is', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No', 'Later'] });
    const one = await phone('One');
    const other = await phone('Other');
    await Promise.all([show(one.page, ask_id), show(other.page, ask_id)]);
    await inbox.kill();
    await option(one.page, 'Yes').tap();
    await option(other.page, 'No').tap();
    for (const { page } of [one, other]) await page.getByText(/^Queued/).waitFor();
    const typed = shell(inbox.store).hive('respond', ask_id, 'Later');
    await inbox.start();
    await typed;
    for (const { page } of [one, other])
      await page.getByText(/^(?:Answered\.$|Another answer was first|It came late)/).waitFor();
    const [winner, ...more] = await answersOf(ask_id);
    expect(more).toEqual([]);
    const given = new Map([
      [one.page, 'Yes'],
      [other.page, 'No'],
    ]);
    for (const [page, decision] of given) {
      const says = await page.locator('.outcome').innerText();
      expect(says).toContain(decision === winner ? 'Answered.' : `"${winner}"`);
    }
  });

  test('given elsewhere appears at once', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
    const { page } = await phone();
    await show(page, ask_id);
    await inbox.hive.prompts.respond({ ask_id, selected: ['No'], actor: { ...HUMAN, by: 'Grace' } });
    await page.getByText('Answered by Grace: No').waitFor();
    expect(await page.locator('.option').count()).toBe(0);
  });

  test('given elsewhere appears, too, where another question changes at the same moment', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
    const other = await ask(inbox.hive, { question: 'And then?', options: ['Yes', 'No'] });
    const { page } = await phone();
    await page.addInitScript(holdNotifications);
    await page.reload();
    await show(page, ask_id);
    await page.evaluate(() => Object.assign(globalThis, { held: '' }));
    const actor = { ...HUMAN, by: 'Grace' };
    await inbox.hive.prompts.respond({ ask_id, selected: ['No'], actor });
    await inbox.hive.prompts.respond({ ask_id: other.ask_id, selected: ['No'], actor });
    await eventually(() =>
      page.evaluate((id) => {
        const { held, release } = globalThis as unknown as { held: string; release(): void };
        const isThere = held.includes(id);
        if (isThere) release();
        return isThere;
      }, other.ask_id),
    );
    await page.getByText('Answered by Grace: No').waitFor();
  });

  test('to an expired question is kept, and says that it came late', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes'], timeout_ms: 1_000 });
    const { page } = await phone();
    await page.goto(`${inbox.url}#/ask/${ask_id}`);
    await page.getByText(/It expired without an answer/).waitFor();
    await option(page, 'Yes').tap();
    await page.getByText(/It came late/).waitFor();
    expect((await inbox.hive.prompts.get(ask_id)).late_response).toMatchObject({ decision: 'Yes' });
    // A person who has left the question finds it in the list.
    await page.getByRole('link', { name: 'Back', exact: false }).first().click();
    await page.getByText('came late').waitFor();
  });

  test('has the words that were typed, also where an option is tapped', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
    const { page } = await phone();
    await show(page, ask_id);
    await page.getByLabel('Add a comment').fill('On Monday.');
    await page.getByLabel('Answer in your own words').fill('The freeze begins today.');
    await option(page, 'No').tap();
    await page.getByText('Answered.').waitFor();
    const comment = 'On Monday.\n\nThe freeze begins today.';
    expect(await inbox.hive.prompts.get(ask_id)).toMatchObject({ decision: 'No', comment });
    const several = await ask(inbox.hive, { question: 'Which?', options: ['A', 'B'], multi_select: true });
    await show(page, several.ask_id);
    await option(page, 'B').tap();
    await page.getByLabel('Answer in your own words').fill('And a new one.');
    await page.locator('form', { hasText: 'own words' }).getByRole('button', { name: 'Send' }).tap();
    await page.getByText('Answered.').waitFor();
    expect(await inbox.hive.prompts.get(several.ask_id)).toMatchObject({
      selected: ['B'],
      comment: 'And a new one.',
    });
  });

  test('that is half typed is still there after a look elsewhere, and after the page was loaded again', async () => {
    const { ask_id } = await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
    const { page } = await phone();
    await show(page, ask_id);
    await page.getByLabel('Answer in your own words').fill('By sh');
    await page.getByRole('link', { name: 'The room' }).tap();
    await page.getByLabel(/^Write a message/).fill('@Cl');
    await page.getByRole('link', { name: 'Needs you' }).tap();
    await page.getByText('Ship?').tap();
    expect(await page.getByLabel('Answer in your own words').inputValue()).toBe('By sh');
    await page.reload();
    await page.getByLabel('Answer in your own words').fill('By ship.');
    await page.locator('form', { hasText: 'own words' }).getByRole('button', { name: 'Send' }).tap();
    await page.getByText('Answered.').waitFor();
    expect(await answersOf(ask_id)).toEqual(['By ship.']);
    await page.getByRole('link', { name: 'The room' }).tap();
    expect(await page.getByLabel(/^Write a message/).inputValue()).toBe('@Cl');
    // Nothing of it is kept once it was sent.
    expect(await page.evaluate(() => Object.values(sessionStorage))).toEqual(['@Cl']);
  });

  test('in own words, with several options, with a comment', async () => {
    const { ask_id } = await ask(inbox.hive, {
      question: 'Which?',
      options: ['A', 'B', 'C'],
      multi_select: true,
    });
    const words = await ask(inbox.hive, { question: 'How?' });
    const { page } = await phone();
    await show(page, ask_id);
    await option(page, 'C').tap();
    await option(page, 'A').tap();
    await page.getByLabel('Add a comment').fill('Not B: <b>too slow</b>.');
    await page.getByRole('button', { name: 'Send' }).first().tap();
    await page.getByText('Answered.').waitFor();
    expect(await inbox.hive.prompts.get(ask_id)).toMatchObject({
      selected: ['A', 'C'],
      comment: 'Not B: <b>too slow</b>.',
    });
    await page.getByRole('link', { name: 'Next question' }).tap();
    await page.getByLabel('Answer in your own words').fill('ببطء');
    await page.getByRole('button', { name: 'Send' }).tap();
    await page.getByText('Answered.').waitFor();
    expect(await inbox.hive.prompts.get(words.ask_id)).toMatchObject({ decision: 'ببطء' });
  });
});

describe('a permission', () => {
  const PERMISSION = {
    question: 'Run this?',
    context: Array.from({ length: 80 }, (_, n) => `- step ${n + 1}`).join('\n'),
    options: ['Allow', { label: 'Deny', refuses: true }],
    kind: 'permission' as const,
  };

  test('can be refused, and not allowed, by a phone whose key is no seat', async () => {
    const { ask_id } = await ask(inbox.hive, PERMISSION);
    const { page } = await phone();
    await show(page, ask_id);
    await page.getByText('This phone may deny, but not allow.').waitFor();
    expect(await option(page, 'Allow').isDisabled()).toBe(true);
    await option(page, 'Deny').tap();
    await page.getByText('Answered.').waitFor();
    expect(await answersOf(ask_id)).toEqual(['Deny']);
  });

  test('can be allowed once its end was on the screen, signed over what was displayed', async () => {
    const asked = await ask(inbox.hive, PERMISSION);
    const { page, device } = await phone();
    inbox.admit(device);
    await page.reload();
    await page.goto(`${inbox.url}#/ask/${asked.ask_id}`);
    await page.getByText('Read to the end to answer.').waitFor();
    expect(await option(page, 'Allow').isDisabled()).toBe(true);
    await readToEnd(page);
    await option(page, 'Allow').tap();
    await page.getByText('Answered.').waitFor();
    const stored = await inbox.hive.prompts.get(asked.ask_id);
    expect(stored).toMatchObject({ decision: 'Allow', by: 'ada', via: 'inbox' });
    const given = await inbox.hive.store.read((tx) => tx.prompts.response(stored.response_id ?? ''));
    if (given === undefined) throw new Error('The answer is not stored.');
    const { decision, selected, comment, by, via, attested, response_id, responded_at } = given;
    const answer = { decision, selected, comment, by, via, attested, response_id, responded_at };
    const { store_id } = inbox.hive;
    const signed = { store_id, ask_id: asked.ask_id, displayed_digest: permissionDigest(asked), answer };
    expect(seatThatSigned([device], signed, given.signature)).toBe(device);
  });

  test('that was allowed without a connection more than two minutes ago needs one more tap', async () => {
    const asked = await ask(inbox.hive, PERMISSION);
    const { page, device } = await phone();
    inbox.admit(device);
    await page.reload();
    await page.goto(`${inbox.url}#/ask/${asked.ask_id}`);
    await readToEnd(page);
    await inbox.kill();
    await option(page, 'Allow').tap();
    await page.getByText(/^Queued/).waitFor();
    await ageQueued(page, 3 * 60_000);
    await inbox.start();
    await page.getByText(/This answer was given a while ago/).waitFor();
    expect(await answersOf(asked.ask_id)).toEqual([]);
    const now = page.getByRole('button', { name: 'Answer now' });
    await page.evaluate(async () => {
      scrollTo(0, 0);
      for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
    });
    await readToEnd(page, now);
    await now.tap();
    await page.getByText('Answered.').waitFor();
    expect(await answersOf(asked.ask_id)).toEqual(['Allow']);
  });
});

test('a phone that is revoked is out at once', async () => {
  await ask(inbox.hive, { question: 'Ship?', options: ['Yes', 'No'] });
  const { page, device } = await phone();
  await page.getByText('Ship?').waitFor();
  await devicesOf(inbox.hive).revoke(device.device_id, 'ada');
  await page.getByText(/was revoked: pair it again/).waitFor();
});

/** Reads as a person does, a part of the screen at a time, until this can be tapped. */
async function readToEnd(page: Page, button = option(page, 'Allow')): Promise<void> {
  await eventually(async () => {
    await page.evaluate(() => scrollBy(0, innerHeight / 3));
    return button.isEnabled();
  });
}

/** In the page: what the stream sends while `held` is a text is added to it, and comes in one piece at `release`. */
function holdNotifications(): void {
  const scope = globalThis as unknown as { held: string | undefined; release(): void };
  const { fetch } = globalThis;
  globalThis.fetch = async (...asked) => {
    const response = await fetch(...asked);
    if (!String(asked[0]).startsWith('/inbox/events') || response.body === null) return response;
    const pieces = new TransformStream<string, string>({
      transform(piece, controller) {
        if (scope.held === undefined) controller.enqueue(piece);
        else scope.held += piece;
        scope.release = () => {
          controller.enqueue(scope.held);
          scope.held = undefined;
        };
      },
    });
    const text = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(pieces);
    return new Response(text.pipeThrough(new TextEncoderStream()), response);
  };
}

/** How many entries wait in the outbox of this page. */
function queuedIn(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const opening = indexedDB.open('hive-inbox');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const counting = opening.result.transaction('outbox').objectStore('outbox').count();
          counting.onsuccess = () => {
            opening.result.close();
            resolve(counting.result);
          };
        };
      }),
  );
}

/** Makes what is queued older, as if it had waited. */
function ageQueued(page: Page, ms: number): Promise<void> {
  return page.evaluate(
    (by) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('hive-inbox');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const writing = opening.result.transaction('outbox', 'readwrite');
          const reading = writing.objectStore('outbox').getAll();
          reading.onsuccess = () => {
            for (const entry of reading.result) {
              entry.queued.responded_at = new Date(Date.parse(entry.queued.responded_at) - by).toISOString();
              writing.objectStore('outbox').put(entry);
            }
          };
          writing.oncomplete = () => {
            opening.result.close();
            resolve();
          };
        };
      }),
    ms,
  );
}
