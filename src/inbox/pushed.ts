/**
 * Notifications in the service worker: shows what is pushed, takes back what was answered elsewhere, and answers when a button
 * is pressed, with no page open. Such an answer goes through the outbox like any other.
 */
import type { PushedPopup, PushMessage } from '../domain/pushes.ts';
import { randomId } from './keys.ts';
import { queue, sendQueued } from './outbox.ts';
import { setPush, storeTime } from './server.ts';
import { type OutboxEntry, type OwnDevice, storage } from './storage.ts';
import { WORDS } from './words.ts';

/** The part of the service worker's registration that is used here. */
interface Registration {
  showNotification(title: string, options: object): Promise<void>;
  getNotifications(filter?: { tag: string }): Promise<Notification[]>;
  sync?: { register(tag: string): Promise<void> };
  pushManager: PushManager;
}
interface WindowClient {
  url: string;
  focus(): Promise<WindowClient>;
  navigate(url: string): Promise<WindowClient | null>;
}
interface Clients {
  matchAll(options: object): Promise<WindowClient[]>;
  openWindow(url: string): Promise<unknown>;
}
const { registration, clients } = globalThis as unknown as { registration: Registration; clients: Clients };

const ICON = '/inbox/icon-192.png';
/** What the browser calls again when there is a network. */
export const SYNC_TAG = 'hive-outbox';

/** What a notification remembers for the moment when it is pressed. */
interface Kept {
  ask_id: string | null;
  buttons: readonly string[];
}

async function ownDevice(): Promise<OwnDevice | undefined> {
  return (await storage()).get('device', 'own');
}

/** A push arrived. */
export async function pushed(text: string): Promise<void> {
  const { show, close } = JSON.parse(text) as PushMessage;
  if (show !== null) await showPopup(show);
  for (const tag of close) await takeBack(tag, show === null);
  // There is a network now.
  await sendOutbox().catch(() => undefined);
}

async function showPopup({ tag, ask_id, title, body, buttons, critical }: PushedPopup): Promise<void> {
  const kept: Kept = { ask_id, buttons };
  await registration.showNotification(title, {
    body,
    tag,
    icon: ICON,
    badge: ICON,
    data: kept,
    dir: 'auto',
    requireInteraction: critical,
    renotify: true,
    actions: buttons.map((label, index) => ({ action: String(index), title: label })),
  });
}

/** A browser wants to see something for each push, so what is taken back is replaced in silence first. */
async function takeBack(tag: string, isAll: boolean): Promise<void> {
  if (isAll) await registration.showNotification(WORDS.title, { tag, silent: true, body: WORDS.sent });
  for (const shown of await registration.getNotifications({ tag })) shown.close();
}

/** A notification was pressed: a button answers, anything else opens the page. */
export async function pressed(notification: Notification, action: string): Promise<void> {
  notification.close();
  const { ask_id, buttons } = (notification.data ?? { ask_id: null, buttons: [] }) as Kept;
  const label = action === '' ? undefined : buttons[Number(action)];
  if (ask_id === null || label === undefined) return openPage(ask_id);
  await queue({
    kind: 'answer',
    ask_id,
    question: notification.body,
    decision: label,
    selected: [label],
    comment: null,
    response_id: randomId('response'),
    displayed_digest: null,
    responded_at: storeTime(),
  });
  try {
    await sendOutbox();
  } catch {
    await registration.sync?.register(SYNC_TAG).catch(() => undefined);
    await say(ask_id, WORDS.answerQueued(label));
  }
}

/** Sends what is queued, and says what was not accepted. @throws Unreachable: then the browser calls again. */
export async function sendOutbox(): Promise<void> {
  const device = await ownDevice();
  if (device === undefined) return;
  const sent: OutboxEntry[] = [];
  await sendQueued(device, (entry) => void sent.push(entry));
  for (const { queued, fate } of sent) {
    if (queued.kind !== 'answer') continue;
    const text = textOf(queued.decision, fate);
    if (text === null)
      for (const shown of await registration.getNotifications({ tag: queued.ask_id })) shown.close();
    else await say(queued.ask_id, text);
  }
}

/** What the human has to know of an answer; null where it simply counts. */
function textOf(answer: string, fate: OutboxEntry['fate']): string | null {
  if (fate.state === 'stuck') return WORDS.stuck(fate.message);
  if (fate.state === 'refused' || fate.state === 'delayed') return WORDS.answerRefused(answer, fate.message);
  if (fate.state !== 'done' || fate.reply.accepted === true) return null;
  const { late, by, decision } = fate.reply;
  return late === true ? WORDS.late : WORDS.lost(by ?? '', decision ?? '');
}

async function say(ask_id: string, body: string): Promise<void> {
  const kept: Kept = { ask_id, buttons: [] };
  await registration.showNotification(WORDS.title, {
    tag: ask_id,
    icon: ICON,
    silent: true,
    data: kept,
    body,
  });
}

async function openPage(ask_id: string | null): Promise<void> {
  const url = ask_id === null ? '/inbox#/' : `/inbox#/ask/${ask_id}`;
  const [open] = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const moved = await open?.navigate(url).catch(() => null);
  if (moved === null || moved === undefined) await clients.openWindow(url);
  else await moved.focus().catch(() => undefined);
}

/** The browser has given this device another subscription, or none. */
export async function resubscribed(): Promise<void> {
  const device = await ownDevice();
  if (device === undefined) return;
  const { endpoint, keys } = (await registration.pushManager.getSubscription())?.toJSON() ?? {};
  if (endpoint !== undefined)
    await setPush(device, { endpoint, keys: { p256dh: keys?.['p256dh'], auth: keys?.['auth'] } });
}
