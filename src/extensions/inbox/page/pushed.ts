/**
 * Notifications in the service worker: shows a push, removes notifications that were answered elsewhere, and answers when a
 * button is pressed, with no page open. Such an answer goes through the outbox like any other.
 */
import type { PushedPopup, PushMessage } from '../pushes.ts';
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
/** The browser calls this again when there is a network. */
export const SYNC_TAG = 'hive-outbox';

/** The data that a notification keeps for the moment when it is pressed. */
interface Kept extends Pick<PushedPopup, 'ask_id' | 'buttons' | 'kind' | 'screen'> {}

async function ownDevice(): Promise<OwnDevice | undefined> {
  return storage((database) => database.get('device', 'own'));
}

/** A push arrived. */
export async function pushed(text: string): Promise<void> {
  const { show, close } = JSON.parse(text) as PushMessage;
  if (show !== null) await showPopup(show);
  for (const tag of close) await takeBack(tag, show === null);
  // There is a network now.
  await sendOutbox().catch(() => undefined);
}

/** Not a number, because an option is named by its index. */
const OPEN = 'open';

/** A question whose options do not fit has one button, which opens it. */
function actionsOf({ kind, buttons }: PushedPopup): { action: string; title: string }[] {
  if (buttons.length > 0) return buttons.map((title, index) => ({ action: String(index), title }));
  return kind === 'question' ? [{ action: OPEN, title: WORDS.answerThere }] : [];
}

async function showPopup(show: PushedPopup): Promise<void> {
  const { tag, kind, ask_id, screen, title, body, buttons, critical } = show;
  const kept: Kept = { kind, ask_id, screen, buttons };
  await registration.showNotification(title, {
    body,
    tag,
    icon: ICON,
    badge: ICON,
    data: kept,
    dir: 'auto',
    requireInteraction: critical,
    renotify: true,
    actions: actionsOf(show),
  });
}

/** A browser demands a visible notification for each push, so a notification that is taken back is first replaced silently. */
async function takeBack(tag: string, isAll: boolean): Promise<void> {
  if (isAll) await registration.showNotification(WORDS.title, { tag, silent: true, body: WORDS.takenBack });
  for (const shown of await registration.getNotifications({ tag })) shown.close();
}

/**
 * A notification was pressed: the button of an option answers, anything else opens the page. The notification is removed once the
 * answer is stored; an answer that cannot be stored is reported in its place.
 */
export async function pressed(notification: Notification, action: string): Promise<void> {
  const { ask_id = null, buttons = [], screen = '' } = (notification.data ?? {}) as Partial<Kept>;
  const label = action === '' ? undefined : buttons[Number(action)];
  if (ask_id === null || label === undefined) {
    notification.close();
    return openPage(screen);
  }
  try {
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
  } catch {
    return say(ask_id, WORDS.answerNotKept(label));
  }
  notification.close();
  try {
    await sendOutbox();
  } catch {
    await registration.sync?.register(SYNC_TAG).catch(() => undefined);
    await say(ask_id, WORDS.answerQueued(label));
  }
}

/** Sends what is queued, and reports answers that were not accepted. @throws Unreachable: then the browser calls again. */
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

/** News of an answer for the human; null if it simply counts. */
function textOf(answer: string, fate: OutboxEntry['fate']): string | null {
  if (fate.state === 'stuck') return WORDS.stuck(fate.message);
  if (fate.state === 'refused' || fate.state === 'delayed') return WORDS.answerRefused(answer, fate.message);
  if (fate.state !== 'done' || fate.reply.accepted === true) return null;
  const { late, by, decision } = fate.reply;
  return late === true ? WORDS.late : WORDS.lost(by ?? '', decision ?? '');
}

async function say(ask_id: string, body: string): Promise<void> {
  const kept: Kept = { kind: 'question', ask_id, screen: `ask/${ask_id}`, buttons: [] };
  await registration.showNotification(WORDS.title, {
    tag: ask_id,
    icon: ICON,
    silent: true,
    data: kept,
    body,
  });
}

async function openPage(screen: string): Promise<void> {
  const url = `/inbox#/${screen}`;
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
