/** Turns notifications on and off: the browser asks its person and subscribes, and the server learns where to send them. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type State, update } from './model.ts';
import { setPush, type Welcome } from './server.ts';
import { registered } from './shell.ts';
import type { OwnDevice } from './storage.ts';
import { WORDS } from './words.ts';

/** The registration of the service worker, if the browser can subscribe; null if it cannot. */
async function subscriber(): Promise<ServiceWorkerRegistration | null> {
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis) || !('Notification' in globalThis))
    return null;
  await registered();
  return navigator.serviceWorker.ready;
}

/** Whether a subscription was made with this key of the server. */
function isOf(subscription: PushSubscription, key: string): boolean {
  const { applicationServerKey: made } = subscription.options;
  if (made === null) return false;
  const base64 = btoa(String.fromCharCode(...new Uint8Array(made)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') === key;
}

async function turnOn(device: OwnDevice, key: string): Promise<string | null> {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error(WORDS.notifyDenied);
  await registered();
  const { pushManager } = await navigator.serviceWorker.ready;
  const old = await pushManager.getSubscription();
  // The server now has another key.
  if (old !== null && !isOf(old, key)) await old.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  return setPush(device, { endpoint, keys: { p256dh: keys?.['p256dh'], auth: keys?.['auth'] } });
}

async function turnOff(device: OwnDevice): Promise<null> {
  await setPush(device, null);
  const registration = await subscriber();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  return null;
}

export function Notifications({ inbox: { device, welcome } }: { inbox: State }): VNode | null {
  const [own, setOwn] = useState<string | null | undefined>(undefined);
  const [supported, setSupported] = useState(true);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    void (async () => {
      const registration = await subscriber();
      setSupported(registration !== null);
      setOwn((await registration?.pushManager.getSubscription())?.endpoint ?? null);
    })().catch(() => setOwn(null));
  }, [welcome?.push]);

  if (device === null || device === undefined || welcome === null || welcome.push_key === null) return null;
  const { push, push_key, push_failed } = welcome;
  const isOn = push !== null && own === push;

  async function change(work: Promise<string | null>, said: Welcome): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      update({ welcome: { ...said, push: await work, push_failed: null } });
    } catch (error) {
      setProblem(WORDS.notifyFailed(error instanceof Error ? error.message : String(error)));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section class="notifications" aria-label={WORDS.notifications}>
      {push_failed === null ? null : <p class="problem">{WORDS.notifyEnded(push_failed)}</p>}
      {!supported ? (
        <p class="meta">{WORDS.notifyUnsupported}</p>
      ) : isOn ? (
        <>
          <p class="meta">{WORDS.notified}</p>
          <button type="button" disabled={busy} onClick={() => void change(turnOff(device), welcome)}>
            {WORDS.notifyNoMore}
          </button>
        </>
      ) : (
        <button type="button" disabled={busy} onClick={() => void change(turnOn(device, push_key), welcome)}>
          {WORDS.notifyHere}
        </button>
      )}
      <p role="alert" class="problem">
        {problem}
      </p>
    </section>
  );
}
