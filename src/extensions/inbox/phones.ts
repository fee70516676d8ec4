/**
 * Phones: each device that takes notifications is a party of the popup engine (popups.ts) with leases of its own, so that one
 * process pushes for all the devices that several processes serve. Two things are special about a phone: it waits until no desk
 * of its human is attended, and its notifier sends pushes. A push that was answered elsewhere is taken back by another push.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { beside, createBackground } from '../../application/background.ts';
import type { Hive, OtherPopupParts } from '../../application/hive.ts';
import type { PopupParty } from '../../application/popup-kinds.ts';
import { startPopups } from '../../application/popups.ts';
import type { Logger, Notifier, PopupEnd } from '../../application/world.ts';
import type { Device, PushTarget } from '../../domain/devices.ts';
import type { HiveEvent } from '../../domain/events.ts';
import { type Desk, foldName, namesOf } from '../../domain/humans.ts';
import type { Popup } from '../../domain/popups.ts';
import { msOfQuiet } from '../../domain/preferences.ts';
import { isAdmitted } from './device.ts';
import {
  type Attendance,
  afterPush,
  closingOf,
  msUntilPush,
  PUSH_RETRIES_MS,
  type PushMessage,
  type PushSender,
  pushOf,
} from './pushes.ts';
import type { DeviceService } from './service.ts';
import { devicesOf } from './service.ts';

export interface PhoneOptions {
  /** The name of this process, which takes the leases. */
  name: string;
  /** In ms: how often the desks are checked; a test may check more often. */
  look_ms?: number | undefined;
  /** How long to wait before each further try. */
  retries_ms?: readonly number[] | undefined;
}

type PhoneParts = OtherPopupParts & {
  devices: Pick<DeviceService, 'list' | 'admitted' | 'endPush' | 'notePush'>;
  sender: PushSender;
};

type Subscribed = Device & { push: PushTarget };

/** In ms. A human may end a quiet time early. */
const LOOK_AGAIN_MS = 60_000;
/** In ms: as often as a desk renews its lease. */
const LOOK_MS = 5_000;

/**
 * Notifies the phones that have asked for it, until the returned function is called. Their notifications then stay, because
 * phones can answer without this process.
 */
export function startPhones(hive: Hive, sender: PushSender, options: PhoneOptions): () => Promise<void> {
  return hive.startOtherPopups((parts) =>
    notifyPhones({ ...parts, devices: devicesOf(hive), sender }, options),
  );
}

function notifyPhones(parts: PhoneParts, options: PhoneOptions): () => Promise<void> {
  const { store, feed, log, devices } = parts;
  const desks = watchDesks(parts, options.look_ms ?? LOOK_MS);
  const running = new Map<string, { endpoint: string; stop: () => Promise<void> }>();
  let refreshing: Promise<void> = Promise.resolve();
  let stopped = false;

  async function refresh(): Promise<void> {
    const subscribed = (await devices.list()).filter(isSubscribed);
    const endpoints = new Map(subscribed.map(({ device_id, push }) => [device_id, push.endpoint]));
    for (const [device_id, { endpoint, stop }] of running) {
      if (!stopped && endpoints.get(device_id) === endpoint) continue;
      running.delete(device_id);
      await stop();
    }
    for (const device of subscribed) {
      if (stopped || running.has(device.device_id)) continue;
      const stop = startPhone(parts, device, { ...options, desksOf: desks });
      running.set(device.device_id, { endpoint: device.push.endpoint, stop });
    }
    desks.look(running.size > 0);
  }

  function refreshSoon(): void {
    refreshing = refreshing.then(() =>
      beside(log, 'The phones that take notifications could not be read.', refresh),
    );
  }

  const following = (async () => {
    const cursor = await store.read((tx) => tx.events.head());
    refreshSoon();
    return feed.follow({
      cursor,
      async onEvents(events: readonly HiveEvent[]) {
        if (events.some(({ type }) => type === 'device/changed')) refreshSoon();
      },
      onResync: async () => refreshSoon(),
    });
  })();
  void beside(log, 'Phones could not be followed.', () => following);

  return async () => {
    stopped = true;
    const unfollow = await following.catch(() => null);
    await unfollow?.();
    await refreshing;
    desks.look(false);
    await Promise.all([...running.values()].map(({ stop }) => stop()));
  };
}

function isSubscribed(device: Device): device is Subscribed {
  return isAdmitted(device) && device.push !== null;
}

function startPhone(
  parts: PhoneParts,
  device: Subscribed,
  { name, desksOf, retries_ms = PUSH_RETRIES_MS }: PhoneOptions & { desksOf: ReturnType<typeof watchDesks> },
): () => Promise<void> {
  const { device_id, human, seat } = device;
  const party: PopupParty = {
    seat: device_id,
    inherits: seat,
    human,
    name: `${name}:${device_id}`,
    desk_id: null,
    // A tap opens the page, and a button answers from the phone itself.
    open: async () => undefined,
    answers: async () => undefined,
    phone: {
      wait({ urgency, created_at }, { kind, preferences, desks, now }) {
        // A subject from a quiet time is pushed once that is over: nothing else would announce it then.
        const quiet_ms = urgency === 'critical' ? 0 : msOfQuiet(preferences, now);
        if (quiet_ms !== null && quiet_ms > 0) return Math.min(quiet_ms, LOOK_AGAIN_MS);
        const age_ms = Date.parse(now) - Date.parse(created_at);
        const pushed = { kind, urgency, age_ms, attendance: desksOf.attendance(human, desks) };
        return msUntilPush(pushed, preferences, performance.now());
      },
    },
  };
  const notifier = createPhoneNotifier(parts, device, retries_ms);
  const unwatch = desksOf.whenAttended(human, notifier.takeBackOutreach);
  const stop = startPopups({ ...parts, notifier }, party);
  return async () => {
    unwatch();
    await stop();
  };
}

// ---- Desks ----

/** Remembers when each human was last seen at a desk. Focus is not an event, so the desks have to be checked. */
function watchDesks({ store, log }: Pick<PhoneParts, 'store' | 'log'>, look_ms: number) {
  const last = new Map<string, number>();
  const listeners = new Map<() => void, string>();
  /** The humans who were at a desk at the last check. */
  let attended: ReadonlySet<string> = new Set();
  let timer: NodeJS.Timeout | null = null;

  function note(online: readonly Desk[]): void {
    const before = attended;
    attended = new Set(online.filter(({ focused }) => focused).flatMap(namesOf));
    for (const name of attended) last.set(name, performance.now());
    for (const [listener, name] of listeners) if (attended.has(name) && !before.has(name)) listener();
  }

  async function lookOnce(): Promise<void> {
    try {
      note(await store.read((tx) => tx.desks.online(tx.now)));
    } catch (error) {
      log.warn('The desks could not be read.', { error: String(error) });
    }
  }

  return {
    attendance(human: string, online: readonly Desk[]): Attendance {
      note(online);
      const name = foldName(human);
      return { attended: attended.has(name), last_ms: last.get(name) ?? null };
    },
    /** Calls `listener` when this human comes to a desk, until the returned function is called. */
    whenAttended(human: string, listener: () => void): () => void {
      listeners.set(listener, foldName(human));
      return () => void listeners.delete(listener);
    },
    /** Begins to check the desks repeatedly, or stops. */
    look(on: boolean): void {
      if (on === (timer !== null)) return;
      if (timer !== null) clearInterval(timer);
      timer = on ? setInterval(() => void lookOnce(), look_ms).unref() : null;
      if (on) void lookOnce();
    },
  };
}

// ---- The notifier ----

function createPhoneNotifier(
  {
    sender,
    devices,
    log,
  }: { sender: PushSender; devices: Pick<DeviceService, 'admitted' | 'endPush' | 'notePush'>; log: Logger },
  { device_id, name, push }: Subscribed,
  retries_ms: readonly number[],
): Notifier & { takeBackOutreach(): void } {
  const stopping = new AbortController();
  const sending = createBackground(log);
  /** The popup under each tag now, with the function that ends it. */
  const shown = new Map<string, { kind: Popup['kind']; end: () => void }>();

  /** @throws Error with a sentence that explains why it could not be sent. */
  async function deliver(message: PushMessage, unwanted?: AbortSignal): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      if (unwanted?.aborted === true) throw new Error('It was settled before it could be sent.');
      // It may have been revoked, or notifications turned off, a moment ago.
      const device = await devices.admitted(device_id);
      if (device?.push?.endpoint !== push.endpoint)
        throw new Error(`${name} takes no notifications any more.`);
      const reply = await sender.send(push, message, stopping.signal);
      // biome-ignore lint/plugin: the service may say when to try again as a date
      const outcome = afterPush(reply, tried, Date.now(), retries_ms);
      if (outcome.kind === 'sent') {
        if (device.push_failed !== null) await devices.notePush(device_id, push.endpoint, null);
        return;
      }
      if (outcome.kind === 'gone') await devices.endPush(device_id, push.endpoint, outcome.why);
      if (outcome.kind === 'failed') await devices.notePush(device_id, push.endpoint, outcome.why);
      if (outcome.kind !== 'retry' || stopping.signal.aborted)
        throw new Error(`${name} could not be notified: ${outcome.why}`);
      await sleep(outcome.in_ms, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  /** Taking a push back is a courtesy: the page shows that it is answered. */
  function takeBack(tags: readonly string[]): void {
    if (stopping.signal.aborted || tags.length === 0) return;
    sending.run('A push could not be taken back.', () => deliver(closingOf(tags)));
  }

  return {
    reachable: async () => true,

    async show(popup, unwanted) {
      const message = pushOf(popup);
      const tag = message.show?.tag ?? '';
      await deliver(message, unwanted);
      const { promise: outcome, resolve } = Promise.withResolvers<PopupEnd>();
      const end = (): void => resolve({ kind: 'closed' });
      // The phone shows one notification for each tag.
      shown.get(tag)?.end();
      const entry = { kind: popup.kind, end };
      shown.set(tag, entry);
      if (stopping.signal.aborted) end();
      return {
        outcome,
        close() {
          end();
          if (shown.get(tag) !== entry) return;
          shown.delete(tag);
          takeBack([tag]);
        },
      };
    },

    // Pings and cards have no end of their own: they were announced at the desk that their human has come back to.
    takeBackOutreach() {
      const read = [...shown].filter(([, { kind }]) => kind === 'outreach');
      for (const [tag, { end }] of read) {
        shown.delete(tag);
        end();
      }
      takeBack(read.map(([tag]) => tag));
    },

    async close() {
      stopping.abort();
      for (const { end } of shown.values()) end();
      await sending.ended();
    },
  };
}
