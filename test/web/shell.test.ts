/**
 * The kept shell of the page: it opens without a connection, has nothing of what the server says, and gives way to a new build.
 * @module-tag untrusted
 */
import { createHash } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { ask } from '../support/hive.ts';
import { listen } from '../support/listen.ts';
import { eventually } from '../support/wait.ts';
import { openPage, useChromium } from './support/chromium.ts';
import { pair, type ServedInbox, serveInbox } from './support/inbox.ts';

useChromium();
let inbox: ServedInbox;
beforeEach(async () => {
  inbox = await serveInbox();
});

/** A page whose service worker has kept the shell. */
async function keptPage(url: string): Promise<Page> {
  const page = await openPage();
  await pair(page, { ...inbox, url });
  await eventually(() => page.evaluate(() => navigator.serviceWorker.controller !== null));
  return page;
}

test('opens without a connection, and keeps nothing but the files of the page', async () => {
  const { ask_id } = await ask(inbox.hive, { question: 'A secret question?' });
  const page = await keptPage(inbox.url);
  await page.goto(`${inbox.url}#/ask/${ask_id}`);
  await page.getByText('A secret question?').waitFor();
  const kept = await page.evaluate(async () => {
    const found: [string, string][] = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const { url } of await cache.keys())
        found.push([new URL(url).pathname, (await (await cache.match(url))?.text()) ?? '']);
    }
    return found;
  });
  const paths = kept.map(([path]) => path.replace(/-[A-Z0-9]{8}\./, '-HASH.')).sort();
  expect([...new Set(paths)]).toEqual([
    '/inbox',
    '/inbox/app.css',
    '/inbox/app.js',
    '/inbox/chunk-HASH.js',
    '/inbox/icon-192.png',
    '/inbox/icon-512.png',
    '/inbox/icon.svg',
    '/inbox/manifest.webmanifest',
    '/inbox/pairing-HASH.js',
  ]);
  expect(kept.filter(([, text]) => text.includes('A secret question?'))).toEqual([]);
  await inbox.kill();
  await page.reload();
  await page.getByText(/No connection/).waitFor();
  expect(await page.getByText('A secret question?').count()).toBe(0);
});

test('opened without a connection it claims nothing that it has not read, and shows the answer that it keeps', async () => {
  const { ask_id } = await ask(inbox.hive, { question: 'Which colour?', options: ['red', 'blue'] });
  const page = await keptPage(inbox.url);
  await page.goto(`${inbox.url}#/ask/${ask_id}`);
  await page.getByRole('button', { name: 'blue' }).waitFor();
  await inbox.kill();
  await page.getByText('No connection. You can still answer').waitFor();
  await page.getByRole('button', { name: 'blue' }).click();
  await page.getByText(/^Queued: blue/).waitFor();
  await page.reload();
  await page.getByText('No connection.', { exact: true }).waitFor();
  const later = page.locator('main').getByText('This is shown as soon as there is a connection.');
  await later.waitFor();
  for (const name of ['Agents', 'The room', 'Reports', 'Needs you']) {
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name }).waitFor();
    await later.waitFor();
    expect(await page.getByText(/No agent|There are no|Nothing needs you|Loading/).count(), name).toBe(0);
  }
  await page.getByRole('link', { name: 'Which colour? blue queued' }).waitFor();
  await inbox.start();
  await page.getByText('Nothing needs you.').waitFor();
  expect((await inbox.hive.prompts.get(ask_id)).decision).toBe('blue');
});

test('a new build replaces the old one: the page that was open goes on, and the next one is new', async () => {
  const html = await (await fetch(inbox.url)).text();
  const newHtml = html.replace('lang="en"', 'lang="en-GB"');
  const build = await changingBuild(inbox.port, {
    '/inbox': () => newHtml,
    '/inbox/worker.js': (text) => renamed(text).replace(digestOf(html), digestOf(newHtml)),
  });
  const page = await keptPage(build.url);
  const names = (): Promise<string[]> => page.evaluate(() => caches.keys());
  const [old] = await names();
  build.change();
  // The phone is looked at again.
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await eventually(async () => {
    const [name, ...more] = await names();
    return name !== old && more.length === 0;
  });
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('en');
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('en-GB');
});

test('a file that is not of the new build is not kept: the old build stays', async () => {
  const build = await changingBuild(inbox.port, {
    '/inbox/app.js': () => 'document.title = "Please sign in to this network";',
    '/inbox/worker.js': renamed,
  });
  const page = await keptPage(build.url);
  build.change();
  const end = await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const ended = new Promise<string>((resolve) => {
      registration.addEventListener('updatefound', () => {
        const worker = registration.installing;
        worker?.addEventListener('statechange', () => {
          if (['activated', 'redundant'].includes(worker.state)) resolve(worker.state);
        });
      });
    });
    await registration.update();
    return ended;
  });
  expect(end).toBe('redundant');
  await page.reload();
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
});

/** The worker of another build. */
const renamed = (text: string): string => text.replace(/hive-([0-9a-f]{16})/, 'hive-new-$1');

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64');

/** The server, which from `change` on sends these files altered, as after an update. */
async function changingBuild(
  port: number,
  altered: Readonly<Record<string, (text: string) => string>>,
): Promise<{ url: string; change(): void }> {
  let isNew = false;
  const server = createServer((asked, answer) => {
    const { 'accept-encoding': _, 'if-none-match': __, ...headers } = asked.headers;
    const behind = httpRequest(
      { port, host: '127.0.0.1', path: asked.url, method: asked.method, headers },
      (reply) => {
        const alter = isNew ? altered[asked.url ?? ''] : undefined;
        if (alter === undefined) {
          answer.writeHead(reply.statusCode ?? 500, reply.headers);
          reply.pipe(answer);
          return;
        }
        let text = '';
        reply.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        reply.on('end', () => {
          const { 'content-length': ___, etag: ____, ...kept } = reply.headers;
          answer.writeHead(reply.statusCode ?? 500, kept);
          answer.end(alter(text));
        });
      },
    );
    behind.on('error', () => answer.destroy());
    answer.on('close', () => behind.destroy());
    asked.pipe(behind);
  });
  return {
    url: `${await listen(server)}/inbox`,
    change() {
      isNew = true;
    },
  };
}
