/** Debian's Chromium: a process of the test's, driven over its DevTools. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { type Child, childEnvironment, spawnChild } from '../../support/children.ts';
import { beforeFile, closedAtEnd, whenFinished } from '../../support/lifetime.ts';
import { tempFolder } from '../../support/temp.ts';
import { eventually, PATIENCE_MS } from '../../support/wait.ts';

export interface Chromium {
  browser: Browser;
  /** The context that is kept in the folder. */
  kept: BrowserContext;
  child: Child;
}

const PROGRAM = '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--remote-debugging-port=0',
];

/** Starts a browser that keeps what it stores in this folder. It ends with the test, or in `beforeFile` with the file. */
export async function startChromium(folder: string = tempFolder()): Promise<Chromium> {
  const ready = join(folder, 'DevToolsActivePort');
  // One that was killed has left it.
  rmSync(ready, { force: true });
  // As root, Chromium needs it.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawnChild(
    PROGRAM,
    [...FLAGS, ...sandbox, `--user-data-dir=${folder}`, 'about:blank'],
    childEnvironment('', { XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder }),
  );
  const address = (): string[] => (existsSync(ready) ? readFileSync(ready, 'utf8').split('\n') : []);
  await eventually(() => address().length === 2, PATIENCE_MS, 'Chromium');
  const [port, path] = address();
  const browser = closedAtEnd(await chromium.connectOverCDP(`ws://127.0.0.1:${port}${path}`));
  const [kept] = browser.contexts();
  if (kept === undefined) throw new Error('Chromium has no context.');
  kept.setDefaultTimeout(PATIENCE_MS);
  return { browser, kept, child };
}

/** Faults that a page must never have: errors, breaches of the policy, requests to elsewhere. */
export interface Faults {
  readonly list: string[];
}

export interface Look {
  width: number;
  height: number;
  theme: 'light' | 'dark';
  /** A touch screen. */
  touch: boolean;
}

export const PHONE: Look = { width: 390, height: 844, theme: 'light', touch: true };
export const DESKTOP: Look = { width: 1280, height: 800, theme: 'light', touch: false };

let shared: Chromium;

/** Starts the browser that the tests of a file share. */
export function useChromium(): void {
  beforeFile(async () => {
    shared = await startChromium();
  });
}

/** A page of a context of its own. */
export async function openPage(look?: Look): Promise<Page> {
  return (await openContext(look)).newPage();
}

/** A context of its own in the browser that tests share, as another person's browser. */
export async function openContext({ width, height, theme, touch }: Look = PHONE): Promise<BrowserContext> {
  const context = await shared.browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    hasTouch: touch,
    isMobile: touch,
    locale: 'en-GB',
  });
  context.setDefaultTimeout(PATIENCE_MS);
  whenFinished(() => context.close().catch(() => undefined));
  return context;
}

/** Collects the faults of a page from now on. */
export function watchFaults(page: Page): Faults {
  const list: string[] = [];
  page.on('pageerror', (error) => list.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (/content security policy|trusted ?(?:type|html|script)|uncaught/i.test(message.text()))
      list.push(`policy: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    list.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.hostname !== '127.0.0.1' && url.protocol !== 'data:') list.push(`elsewhere: ${url.href}`);
  });
  return { list };
}
