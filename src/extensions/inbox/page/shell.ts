/** The service worker of this page: it keeps the shell, so that the page opens without a connection. */

const WORKER = '/inbox/worker.js';

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): {
    createScriptURL(url: string): string;
  };
}

/** The only address that the page's policy accepts as a script; browsers without such policies take it as it is. */
function workerAddress(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return WORKER;
  const policy = trustedTypes.createPolicy('hive-worker', { createScriptURL: () => WORKER });
  return policy.createScriptURL(WORKER);
}

let registering: Promise<ServiceWorkerRegistration> | null = null;

/** Registers the worker, once. @throws if the browser takes none from here, as with a certificate that it does not trust. */
export function registered(): Promise<ServiceWorkerRegistration> {
  registering ??= navigator.serviceWorker.register(workerAddress(), { scope: '/inbox' });
  return registering;
}

/**
 * Keeps the shell, and checks for a new version of it whenever the page becomes visible again. An outdated page loads the new
 * version once nobody looks at it and nothing is typed into it.
 */
export async function keepShell(): Promise<void> {
  const { serviceWorker } = navigator;
  let isOld = false;
  const wasKept = serviceWorker.controller !== null;
  const registration = await registered();
  serviceWorker.addEventListener('controllerchange', () => {
    isOld = wasKept;
    renew();
  });
  const renew = (): void => {
    if (isOld && document.hidden && !isTyped()) location.reload();
  };
  document.addEventListener('visibilitychange', () => {
    renew();
    // Without a connection there is nothing new.
    if (!document.hidden) registration.update().catch(() => undefined);
  });
}

function isTyped(): boolean {
  return [...document.querySelectorAll('textarea, input')].some(
    (field) => (field as HTMLInputElement | HTMLTextAreaElement).value !== '',
  );
}
