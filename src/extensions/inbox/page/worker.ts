/**
 * The service worker: keeps the files of the page, so that it opens without a connection. It keeps no replies of the server
 * and nothing from another origin. A new build has a new name for its files, and the old ones are removed. It also shows
 * pushes (pushed.ts).
 */
import { pressed, pushed, resubscribed, SYNC_TAG, sendOutbox } from './pushed.ts';

/** The name of this build, and the digest of each of its files by path, as `Request` takes it. */
declare const SHELL: { name: string; files: Readonly<Record<string, string>> };

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
/** The events of a service worker that this one handles, with the fields that it reads. */
interface Events {
  install: ExtendableEvent;
  activate: ExtendableEvent;
  fetch: ExtendableEvent & { request: Request; respondWith(response: Promise<Response>): void };
  push: ExtendableEvent & { data: { text(): string } | null };
  pushsubscriptionchange: ExtendableEvent;
  notificationclick: ExtendableEvent & { notification: Notification; action: string };
  sync: ExtendableEvent & { tag: string };
}
interface Worker {
  addEventListener<Type extends keyof Events>(type: Type, listener: (event: Events[Type]) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
}
const worker = globalThis as unknown as Worker;

worker.addEventListener('install', (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(SHELL.name);
      // A file of another build, or a proxy's reply in place of one, must not be kept: then no file is kept, and the previous
      // worker stays.
      const files = Object.entries(SHELL.files);
      await cache.addAll(files.map(([path, integrity]) => new Request(path, { cache: 'reload', integrity })));
      await worker.skipWaiting();
    })(),
  );
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name !== SHELL.name) await caches.delete(name);
      await worker.clients.claim();
    })(),
  );
});

worker.addEventListener('fetch', (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const isShell =
    origin === location.origin && event.request.method === 'GET' && Object.hasOwn(SHELL.files, pathname);
  if (isShell) event.respondWith(fromShell(event.request, pathname));
});

worker.addEventListener('push', (event) => {
  const text = event.data?.text() ?? '';
  if (text !== '') event.waitUntil(pushed(text));
});

worker.addEventListener('notificationclick', (event) => {
  event.waitUntil(pressed(event.notification, event.action));
});

worker.addEventListener('sync', (event) => {
  if (event.tag === SYNC_TAG) event.waitUntil(sendOutbox());
});

worker.addEventListener('pushsubscriptionchange', (event) => {
  event.waitUntil(resubscribed());
});

/** The kept file: files of one build belong together. A new build has a new worker (shell.ts checks for it). */
async function fromShell(request: Request, pathname: string): Promise<Response> {
  const cache = await caches.open(SHELL.name);
  const kept = await cache.match(pathname);
  return kept ?? fetch(request);
}
