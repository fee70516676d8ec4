/**
 * The inbox: how soon the first question is on the screen, and how soon a waiting agent has an answer that is tapped on the
 * page, in a real Chromium; and what open pages cost the server in memory and at rest.
 */
import { createInterface } from 'node:readline';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { seatKeyFrom } from '../../src/domain/seats.ts';
import { sessionText } from '../../src/extensions/inbox/device.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { environment, HIVE, processorTime, residentMemory, start, storeIn, tempFolder } from '../children.ts';
import type { Family } from '../harness.ts';
import { introduceBench } from '../session.ts';

const CHROMIUM = '/usr/bin/chromium';
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** As many as the server lets one device have. */
const PAGES_A_DEVICE = 4;
/** Signing in takes two requests, and the server takes few of those that have no session. */
const SIGN_IN_MS = 1_000;
/** A phone's processor, beside the one of this machine. */
const SLOWDOWN = 4;
/** Questions in the list of the cold page. */
const LISTED = 20;

export const inbox: Family = {
  name: 'inbox',
  rows: [
    'first question on a cold page, processor 4 × slower',
    'answer on the page → waiting poll',
    'inbox, memory an open page',
    'inbox, 200 open pages at rest',
  ],
  async measure(effort) {
    const pages = effort === 'full' ? 200 : 20;
    const rounds = effort === 'full' ? 100 : 8;
    const folder = tempFolder();
    const hive = await openHive({ store: storeIn(folder), env: { XDG_CONFIG_HOME: folder } });
    const child = start(process.execPath, [HIVE, 'serve', '--inbox', '--port', '0'], {
      env: environment(folder),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let browser: BrowserContext | null = null;
    try {
      if (child.stdout === null || child.pid === undefined) throw new Error('hive serve did not start.');
      const url = await addressIn(createInterface({ input: child.stdout }));
      browser = await startBrowser(tempFolder());
      const page = await pairPage(hive, browser, url);
      const answered = await answerMany(hive, page, rounds);
      await page.close();
      await askMany(hive, LISTED);
      const cold: number[] = [];
      for (let count = effort === 'full' ? 30 : 4; count > 0; count -= 1)
        cold.push(await coldLoad(browser, url));
      await browser.close();
      browser = null;
      const { memory, rest } = await openPages(hive, { url, pages, pid: child.pid, effort });
      return [
        {
          name: 'first question on a cold page, processor 4 × slower',
          unit: 'ms',
          samples: cold,
          floor: null,
          // It has no floor, and a machine with other load takes several times as long: a short run says nothing about it.
          target: effort === 'full' ? { of: 'p50', at_most: 500 } : null,
        },
        {
          name: 'answer on the page → waiting poll',
          unit: 'ms',
          samples: answered,
          floor: null,
          target: { of: 'p99', at_most: 50 },
        },
        {
          name: 'inbox, memory an open page',
          unit: 'MiB',
          samples: [memory],
          floor: null,
          target: { of: 'p50', at_most: 0.5 },
        },
        {
          name: 'inbox, 200 open pages at rest',
          unit: '% of a core',
          samples: rest,
          floor: null,
          target: { of: 'p50', at_most: 0.5 },
        },
      ];
    } finally {
      await browser?.close();
      child.kill('SIGTERM');
      await hive.close();
    }
  },
};

async function addressIn(lines: ReturnType<typeof createInterface>): Promise<string> {
  for await (const line of lines) {
    const url = /inbox at (\S+)\. /.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('hive serve did not say where the inbox is.');
}

/** A browser that keeps in this folder with whom it is paired. */
function startBrowser(folder: string): Promise<BrowserContext> {
  const viewport = { width: 390, height: 844 };
  return chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM,
    args: [...ARGUMENTS],
    viewport,
  });
}

/** A real page, paired as a person pairs it. */
async function pairPage(hive: OpenedHive, browser: BrowserContext, url: string): Promise<Page> {
  const { code } = await devicesOf(hive).invite('ada');
  const page = await browser.newPage();
  await page.goto(`${url}#code=${code}`);
  await page.fill('input:not(.code)', 'Bench');
  await page.click('button[type=submit]');
  await page.waitForSelector('.phrase');
  const device = await devicesOf(hive).paired(code);
  if (device === undefined) throw new Error('The page has not paired.');
  await devicesOf(hive).confirm(device, 'ada');
  await page.waitForSelector('nav');
  return page;
}

/**
 * From the beginning of the navigation to the frame with the first question, by the page's clock. The browser runs, and has
 * nothing of the inbox but the device: no file, no service worker, no session.
 */
async function coldLoad(browser: BrowserContext, url: string): Promise<number> {
  const page = await browser.newPage();
  const devtools = await browser.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.clearBrowserCache');
  const storageTypes = 'service_workers,cache_storage,shader_cache';
  await devtools.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  const { promise: shown, resolve } = Promise.withResolvers<number>();
  await page.exposeFunction('shown', resolve);
  await page.addInitScript(MARK);
  await page.goto(`${url}#/`, { waitUntil: 'commit' });
  const ms = await shown;
  await page.close();
  return ms;
}

/** Says when the frame with the first question was drawn. */
const MARK = `new MutationObserver((_, observer) => {
  if (document.querySelector('a.row') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => shown(performance.now())));
}).observe(document, { childList: true, subtree: true })`;

/** Leaves questions for the cold page. */
async function askMany(hive: OpenedHive, count: number): Promise<void> {
  const session = await introduceBench(hive, 'bench-cold');
  for (let n = 1; n <= count; n += 1) {
    const question = `Which of these may go into release ${n}?`;
    await hive.prompts.ask({ question, options: ['Search', 'Export'], context: CONTEXT }, session);
  }
}

const CONTEXT = 'The tests pass. **Search** is new, and `export` writes another format.\n'.repeat(20);

/** From the tap on an option to the poll that has the answer, both by the clock of this machine. */
async function answerMany(hive: OpenedHive, page: Page, rounds: number): Promise<number[]> {
  const session = await introduceBench(hive, 'bench');
  const waits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { prompt } = await hive.prompts.ask(
      { question: `Round ${round}?`, options: ['Go'], urgency: 'low' },
      session,
    );
    const { ask_id } = prompt;
    const polled = hive.prompts.wait([ask_id], { wait_ms: 20_000 }).then(() => now());
    await page.evaluate(`location.hash = '#/ask/${ask_id}'`);
    await page.getByRole('heading', { name: `Round ${round}?` }).waitFor();
    const tapped = await page.evaluate<number>(TAP);
    waits.push((await polled) - tapped);
    await pause(ROUND_MS);
  }
  return waits;
}

/** With less between two answers, the calls of the page are more than the thirty a second that the server takes from a device. */
const ROUND_MS = 200;

/** Taps the option in the page; its value is when. */
const TAP = `(() => {
  const at = performance.timeOrigin + performance.now();
  document.querySelector('.option').click();
  return at;
})()`;

const now = (): number => performance.timeOrigin + performance.now();

/** The memory of a page in the server, and the processor's share of all of them while nothing happens. */
async function openPages(
  hive: OpenedHive,
  { url, pages, pid, effort }: { url: string; pages: number; pid: number; effort: 'full' | 'smoke' },
): Promise<{ memory: number; rest: number[] }> {
  const secrets: string[] = [];
  for (let n = 0; n < pages / PAGES_A_DEVICE; n += 1) {
    secrets.push(await signIn(hive, url, n + 1));
    await pause(SIGN_IN_MS);
  }
  const ended = new AbortController();
  try {
    const before = residentMemory(pid);
    for (let n = 0; n < pages; n += 1) {
      const headers = { 'Hive-Session': secrets[n % secrets.length] ?? '' };
      const stream = await fetch(`${url}/events`, { headers, signal: ended.signal });
      if (stream.status !== 200) throw new Error(`A stream was refused: ${stream.status}.`);
      await stream.body?.getReader().read();
    }
    await pause(2_000);
    const memory = (residentMemory(pid) - before) / pages;
    const rest: number[] = [];
    for (let count = effort === 'full' ? 6 : 2; count > 0; count -= 1) {
      const used = processorTime(pid);
      const started = performance.now();
      await pause(1_000);
      rest.push((100 * (processorTime(pid) - used)) / (performance.now() - started));
    }
    return { memory, rest };
  } finally {
    ended.abort();
  }
}

/** The secret of a session of a device that has only a key. */
async function signIn(hive: OpenedHive, url: string, number: number): Promise<string> {
  const { origin } = new URL(url);
  const seat = seatKeyFrom(number.toString(16).padStart(64, '0'));
  const post = (path: string, body: object): Promise<Response> => {
    const headers = { 'Content-Type': 'application/json', Origin: origin };
    return fetch(`${url}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const { code } = await devicesOf(hive).invite('ada');
  const device = await devicesOf(hive).pair({ code, name: `Bench ${number}`, key: seat.key });
  const { device_id } = await devicesOf(hive).confirm(device, 'ada');
  const { challenge } = (await (await post('challenge', { device_id })).json()) as { challenge: string };
  const text = sessionText({ store_id: hive.store_id, device_id, challenge, origin });
  const opened = await post('session', { device_id, challenge, signature: await seat.sign(text) });
  if (opened.status !== 200) throw new Error(`A device was refused: ${opened.status}.`);
  return ((await opened.json()) as { session: string }).session;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
