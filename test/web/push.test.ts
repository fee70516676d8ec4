/**
 * Notifications in a real browser: its service worker shows what the server has encrypted and a local push service decrypted,
 * and answers without a page. What the browser cannot have here is a push service of its own: the subscription is the
 * local one's, and its pushes come in through DevTools.
 * @module-tag untrusted
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CDPSession, Page, Worker } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import type { PushTarget } from '../../src/domain/devices.ts';
import { startPhones } from '../../src/extensions/inbox/phones.ts';
import { vapidKeys } from '../../src/extensions/inbox/push/vapid.ts';
import { createWebPush } from '../../src/extensions/inbox/push/web-push.ts';
import type { PushMessage } from '../../src/extensions/inbox/pushes.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { ROOT } from '../support/children.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { serveInbox } from '../support/inbox.ts';
import { closeServer } from '../support/listen.ts';
import { post } from '../support/messages.ts';
import { agent } from '../support/outreach.ts';
import { type PushService, startPushService } from '../support/push-service.ts';
import { tempFolder } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { startChromium } from './support/chromium.ts';
import { open, pair } from './support/inbox.ts';

interface Shown {
  title: string;
  body: string;
  tag: string;
  buttons: string[];
}

interface Phone {
  hive: OpenedHive;
  page: Page;
  service: PushService;
  device_id: string;
  url: string;
  /** Passes on what the push service has got since the last time. */
  deliver(): Promise<void>;
  shown(): Promise<Shown[]>;
  /** The texts of all notifications that were shown, in order. */
  said(): Promise<string[]>;
  /**
   * Until this work has had something shown. Chromium forgets a notification that is listed while it is about to appear, so
   * nothing may be listed before.
   */
  showing(work: () => Promise<unknown>): Promise<void>;
  /** Until these are shown, by their tags. */
  shows(...tags: string[]): Promise<void>;
  /** Presses the notification, or one of its buttons. */
  press(tag: string, action?: string): Promise<void>;
  /** From now on the browser keeps no entry of the service worker. */
  keepNothing(): Promise<void>;
  /** The browser says that there is a network again. */
  online(): Promise<void>;
  /** Nothing is pushed any more. */
  stopPhones(): Promise<void>;
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
}

/** A phone that has turned notifications on, by the button of the page. */
async function phone(): Promise<Phone> {
  const hive = await openTestHive();
  const service = await startPushService();
  const sender = createWebPush({ keys: vapidKeys(join(tempFolder(), 'push-key')), loopback: true });
  const stopPhones = startPhones(hive, sender, { name: 'inbox-1' });
  onTestFinished(stopPhones);
  const { url, origin, server } = await serveInbox(hive, sender, pageFiles());
  const { kept } = await startChromium();
  await kept.grantPermissions(['notifications'], { origin });
  const page = await kept.newPage();
  await page.addInitScript(subscribeTo, service.subscribe());
  const device = await pair(page, { hive, url });
  await page.getByRole('button', { name: 'Notify me on this phone' }).click();
  await page.getByText('This phone is notified').waitFor();

  const devtools = await page.context().newCDPSession(page);
  const registrationId = await registrationOf(devtools);
  const worker = await workerOf(page);
  await worker.evaluate(keepShown);
  let passed = 0;
  const { port } = server.address() as AddressInfo;

  const said = (): Promise<string[]> =>
    worker.evaluate(() => (globalThis as unknown as { said: string[] }).said);
  async function showing(work: () => Promise<unknown>): Promise<void> {
    const before = await said();
    await work();
    await eventually(async () => (await said()).length > before.length, undefined, 'a notification');
  }

  const shown = (): Promise<Shown[]> =>
    worker.evaluate(async () => {
      const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration };
      const found = (await registration.getNotifications()) as (Notification & {
        actions: { title: string }[];
      })[];
      return found.map(({ title, body, tag, actions }) => ({
        title,
        body,
        tag,
        buttons: actions.map((action) => action.title),
      }));
    });

  return {
    hive,
    page,
    service,
    url,
    device_id: device.device_id,
    shown,
    said,
    async shows(...tags) {
      const now = async (): Promise<string> => JSON.stringify((await shown()).map(({ tag }) => tag).sort());
      await eventually(async () => (await now()) === JSON.stringify(tags.sort()));
    },
    async deliver() {
      const { received } = service;
      for (; passed < received.length; passed += 1) {
        const data = JSON.stringify(received[passed]?.message satisfies PushMessage | undefined);
        const pushed = { origin, registrationId, data };
        await showing(() => devtools.send('ServiceWorker.deliverPushMessage', pushed));
      }
    },
    showing,
    press: (tag, action = '') =>
      worker.evaluate(
        async ([wanted, button]) => {
          const scope = globalThis as unknown as {
            registration: ServiceWorkerRegistration;
            NotificationEvent: new (type: string, init: object) => Event;
            dispatchEvent(event: Event): boolean;
          };
          const [notification] = await scope.registration.getNotifications({ tag: wanted });
          const init = { notification, action: button };
          scope.dispatchEvent(new scope.NotificationEvent('notificationclick', init));
        },
        [tag, action] as const,
      ),
    keepNothing: () =>
      worker.evaluate(() => {
        IDBObjectStore.prototype.add = () => {
          throw new DOMException('The disk is full.', 'QuotaExceededError');
        };
      }),
    async online() {
      const tag = 'hive-outbox';
      await devtools.send('ServiceWorker.dispatchSyncEvent', {
        origin,
        registrationId,
        tag,
        lastChance: false,
      });
    },
    stopPhones,
    stopServer: () => closeServer(server),
    startServer: () => new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve)),
  };
}

/** The files of the page, without this one. */
function pageFiles(without = ''): Map<string, Buffer> {
  const folder = join(ROOT, 'dist/inbox');
  const names = readdirSync(folder).filter((name) => name !== without);
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

/** In the page: a push service that the browser can reach. */
function subscribeTo(target: PushTarget): void {
  const made = {
    endpoint: target.endpoint,
    options: { applicationServerKey: null },
    toJSON: () => target,
    unsubscribe: async () => true,
  };
  let current: unknown = null;
  Object.assign(PushManager.prototype, {
    subscribe: async () => {
      current = made;
      return made;
    },
    getSubscription: async () => current,
  });
}

/** In the service worker: keeps the texts that it has shown. */
function keepShown(): void {
  const scope = globalThis as unknown as { said: string[]; registration: ServiceWorkerRegistration };
  const { registration } = scope;
  const show = registration.showNotification.bind(registration);
  scope.said = [];
  registration.showNotification = async (...given) => {
    await show(...given);
    scope.said.push(given[1]?.body ?? '');
  };
}

async function registrationOf(devtools: CDPSession): Promise<string> {
  let id: string | null = null;
  devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    for (const { isDeleted, registrationId } of registrations) if (!isDeleted) id = registrationId;
  });
  await devtools.send('ServiceWorker.enable');
  await eventually(() => id !== null);
  return id ?? '';
}

async function workerOf(page: Page): Promise<Worker> {
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  const [running] = page.context().serviceWorkers();
  return running ?? page.context().waitForEvent('serviceworker');
}

test('a question is shown, a button answers it with the server away and no page open, and it counts later', async () => {
  const own = await phone();
  const { hive, page, service } = own;
  const { ask_id } = await ask(hive, { question: 'Ship <b>it</b>?', options: ['Yes', 'No'] });
  await eventually(() => service.received.length === 1);
  await own.deliver();
  await own.shows(ask_id);
  expect(await own.shown()).toMatchObject([{ body: 'Ship <b>it</b>?', buttons: ['Yes', 'No'] }]);

  await page.goto('about:blank');
  await own.stopServer();
  await own.showing(() => own.press(ask_id, '0'));
  await eventually(async () => /"Yes" is kept/.test((await own.shown())[0]?.body ?? ''));
  expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });

  await own.startServer();
  await own.online();
  await eventually(async () => (await hive.prompts.get(ask_id)).status === 'responded');
  expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'Yes', by: 'ada', via: 'inbox' });
  await own.shows();
});

test('an answer of a button that cannot be kept is said, and a tap opens its question', async () => {
  const own = await phone();
  const { hive, page, service } = own;
  const { ask_id } = await ask(hive, { question: 'Ship?', options: ['Yes', 'No'] });
  await eventually(() => service.received.length === 1);
  await own.deliver();
  await own.shows(ask_id);
  await own.keepNothing();
  await own.showing(() => own.press(ask_id, '0'));
  await eventually(async () => /"Yes" was not kept/.test((await own.shown())[0]?.body ?? ''));
  expect((await own.shown())[0]?.buttons).toEqual([]);
  await own.press(ask_id);
  await page.getByRole('heading', { name: 'Ship?' }).waitFor();
  await own.shows();
});

test('pairing again takes every notification away', async () => {
  const own = await phone();
  const { hive, page, service, device_id } = own;
  const { ask_id } = await ask(hive, { question: 'Ship?', options: ['Yes', 'No'] });
  await eventually(() => service.received.length === 1);
  await own.deliver();
  await own.shows(ask_id);
  await devicesOf(hive).revoke(device_id, 'ada');
  await page.getByRole('button', { name: 'Pair again' }).click();
  await own.shows();
});

test('what was answered elsewhere disappears; a tap opens the question', async () => {
  const own = await phone();
  const { hive, page, service } = own;
  const first = await ask(hive, { question: 'Go on?' });
  const second = await ask(hive, { question: 'And the rest?' });
  await eventually(() => service.received.length === 2);
  await own.deliver();
  await own.shows(first.ask_id, second.ask_id);
  await hive.prompts.respond({ ask_id: first.ask_id, decision: 'yes', actor: HUMAN });
  await eventually(() => service.received.length === 3);
  await own.deliver();
  await own.shows(second.ask_id);
  await own.press(second.ask_id);
  await page.waitForURL(new RegExp(`#/ask/${second.ask_id}$`));
  await page.getByRole('heading', { name: 'And the rest?' }).waitFor();
  await own.shows();
});

test('what was cancelled disappears, and is not said to be answered', async () => {
  const own = await phone();
  const { hive, service } = own;
  const { ask_id } = await ask(hive, { question: 'Go on?' });
  await eventually(() => service.received.length === 1);
  await own.deliver();
  await own.shows(ask_id);
  await hive.prompts.cancel(ask_id, HUMAN, 'human');
  await eventually(() => service.received.length === 2);
  await own.deliver();
  await own.shows();
  expect(await own.said()).toEqual(['Go on?', 'It no longer needs you.']);
});

test('a question whose options do not fit has one button, which opens it, and a permission has none', async () => {
  const own = await phone();
  const { hive, page, service } = own;
  // A browser drops further buttons in silence.
  expect(await page.evaluate(() => (Notification as unknown as { maxActions: number }).maxActions)).toBe(2);
  const three = await ask(hive, { question: 'Which one?', options: ['SQLite', 'PostgreSQL', 'Neither'] });
  const permission = await ask(hive, { kind: 'permission', options: ['allow', 'deny'] });
  await eventually(() => service.received.length === 2);
  await own.deliver();
  await own.shows(three.ask_id, permission.ask_id);
  const buttons = new Map((await own.shown()).map((shown) => [shown.tag, shown.buttons]));
  expect(buttons.get(three.ask_id)).toEqual(['Answer…']);
  expect(buttons.get(permission.ask_id)).toEqual([]);
  await own.press(three.ask_id, 'open');
  await page.waitForURL(new RegExp(`#/ask/${three.ask_id}$`));
  await page.getByRole('heading', { name: 'Which one?' }).waitFor();
  expect(await hive.prompts.get(three.ask_id)).toMatchObject({ status: 'pending' });
});

test('a tap on a ping opens the reports, which take its notification away, and on a mention the messages', async () => {
  const own = await phone();
  const { hive, page, service } = own;
  const session = await agent(hive, 'bg-1');
  const first = await hive.outreach.ping({ message: 'Tests are green.' }, session);
  const second = await hive.outreach.card({ title: 'Deployed' }, session);
  const { mentions } = await post(hive, session, '@Human <b>look</b>');
  const mention_id = mentions[0]?.mention_id ?? '';
  await eventually(() => service.received.length === 3);
  await own.deliver();
  await own.shows(first.outreach_id, second.outreach_id, mention_id);
  await own.press(first.outreach_id);
  await page.waitForURL(/#\/reports$/);
  await page.getByText('Tests are green.').waitFor();
  await own.shows(mention_id);
  await own.press(mention_id);
  await page.waitForURL(/#\/messages$/);
  await page.getByText('<b>look</b>').waitFor();
  await own.shows();
});

test('a mention that was done while nothing could be pushed disappears when the page opens, and a ping stays', async () => {
  const own = await phone();
  const { hive, service } = own;
  const session = await agent(hive, 'bg-1');
  const ping = await hive.outreach.ping({ message: 'Tests are green.' }, session);
  const done = (await post(hive, session, '@Human look')).mentions[0]?.mention_id ?? '';
  const open_mention = (await post(hive, session, '@Human again')).mentions[0]?.mention_id ?? '';
  await eventually(() => service.received.length === 3);
  await own.deliver();
  await own.shows(ping.outreach_id, done, open_mention);
  await own.stopPhones();
  await hive.mentions.process({ session_id: 'human', mention_ids: [done], actor: HUMAN });
  await open(own.page.context(), own.url);
  await own.shows(ping.outreach_id, open_mention);
});

test('a button that comes too late says who was first', async () => {
  const own = await phone();
  const { hive, service } = own;
  const { ask_id } = await ask(hive, { options: ['Yes', 'No'] });
  await eventually(() => service.received.length === 1);
  await own.deliver();
  await own.shows(ask_id);
  await hive.prompts.respond({ ask_id, selected: ['No'], actor: HUMAN });
  await own.showing(() => own.press(ask_id, '0'));
  await eventually(async () => /ada answered "No"/.test((await own.shown())[0]?.body ?? ''));
  expect(await hive.prompts.get(ask_id)).toMatchObject({ decision: 'No' });
});

test('a button that comes after its question has expired says that it came late', async () => {
  const own = await phone();
  const { hive, service } = own;
  const { ask_id } = await ask(hive, { options: ['Yes', 'No'], timeout_ms: 1_000 });
  await eventually(() => service.received.length === 1);
  await own.deliver();
  await own.shows(ask_id);
  await eventually(async () => (await hive.prompts.get(ask_id)).status === 'expired');
  await own.showing(() => own.press(ask_id, '0'));
  const late =
    'It came late: the question had been closed. The agent still gets it, unless its client asked for a permission.';
  await eventually(async () => (await own.shown())[0]?.body === late);
  expect((await hive.prompts.get(ask_id)).late_response).toMatchObject({ decision: 'Yes', via: 'inbox' });
});

test('the page turns notifications off, and says when they no longer arrive', async () => {
  const own = await phone();
  const { hive, page, service, device_id } = own;
  service.answers = [410];
  await ask(hive);
  await eventually(async () => (await devicesOf(hive).find(device_id)).push_failed !== null);
  await page.reload();
  await page.getByText('Notifications no longer reach this phone. The browser has given up').waitFor();
  await page.getByRole('button', { name: 'Notify me on this phone' }).click();
  await page.getByText('This phone is notified').waitFor();
  expect(await devicesOf(hive).find(device_id)).toMatchObject({ push_failed: null });
  await page.getByRole('button', { name: 'Stop notifying this phone' }).click();
  await page.getByRole('button', { name: 'Notify me on this phone' }).waitFor();
  expect((await devicesOf(hive).find(device_id)).push).toBeNull();
});

test('a browser that takes no service worker from here, as with an untrusted certificate, says so', async () => {
  const hive = await openTestHive();
  const sender = createWebPush({ keys: vapidKeys(join(tempFolder(), 'push-key')), loopback: true });
  const { url, origin } = await serveInbox(hive, sender, pageFiles('worker.js'));
  const { kept } = await startChromium();
  await kept.grantPermissions(['notifications'], { origin });
  const page = await kept.newPage();
  await pair(page, { hive, url });
  await page.getByRole('button', { name: 'Notify me on this phone' }).click();
  await page.getByText(/Notifications could not be turned on\. .*ServiceWorker/).waitFor();
});

test('what was answered while nothing could be pushed disappears when the page opens', async () => {
  const own = await phone();
  const { hive, page, service } = own;
  const first = await ask(hive);
  const second = await ask(hive);
  await eventually(() => service.received.length === 2);
  await own.deliver();
  await own.shows(first.ask_id, second.ask_id);
  await own.stopPhones();
  await hive.prompts.respond({ ask_id: first.ask_id, decision: 'yes', actor: HUMAN });
  await open(page.context(), own.url);
  await own.shows(second.ask_id);
  expect(service.received).toHaveLength(2);
});
