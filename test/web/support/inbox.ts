/** `hive serve --inbox`, and devices that are paired with it. */
import { writeFileSync } from 'node:fs';
import type { BrowserContext, Page } from 'playwright-core';
import type { Device } from '../../../src/domain/devices.ts';
import { shownCode } from '../../../src/extensions/inbox/device.ts';
import { devicesOf } from '../../../src/extensions/inbox/service.ts';
import type { OpenedHive } from '../../../src/open-hive.ts';
import {
  type Child,
  childEnvironment,
  type Environment,
  readOutput,
  spawnHive,
} from '../../support/children.ts';
import { openTestHive, SEAT, withoutQuotas } from '../../support/hive.ts';
import { trustFileOf, trusting } from '../../support/human-file.ts';
import { freePort } from '../../support/postgres.ts';
import { tempStore } from '../../support/temp.ts';
import { eventually, PATIENCE_MS } from '../../support/wait.ts';

export interface ServedInbox {
  /** Where the page is. */
  url: string;
  port: number;
  store: string;
  hive: OpenedHive;
  /** The server at the moment. */
  server(): Child;
  /** Ends the server at once. */
  kill(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
  /** Lets a device allow permissions, as its human does in their file. */
  admit(...devices: Device[]): void;
}

/** Serves the inbox of a store that is new. */
export async function serveInbox(store: string = tempStore()): Promise<ServedInbox> {
  const hive = await withoutQuotas(await openTestHive(store));
  const port = await freePort();
  const trust = trusting({ seats: [SEAT] });
  let server = await serveAt(store, port, trust);
  return {
    url: `http://127.0.0.1:${port}/inbox`,
    port,
    store,
    hive,
    server: () => server,
    async kill() {
      await server.kill('SIGKILL');
    },
    async start() {
      server = await serveAt(store, port, trust);
    },
    admit(...devices) {
      const seats = [SEAT, ...devices.map(({ name, key }) => ({ name, key }))];
      writeFileSync(trustFileOf(trust['XDG_CONFIG_HOME']), JSON.stringify({ seats }), { mode: 0o600 });
    },
  };
}

async function serveAt(store: string, port: number, env: Environment): Promise<Child> {
  const child = spawnHive(['serve', '--inbox', '--port', String(port)], childEnvironment(store, env));
  const said = readOutput(child);
  await eventually(() => said().includes('/inbox'), PATIENCE_MS, `hive serve --inbox: ${child.stderr()}`);
  return child;
}

/** The device that the human has just paired with this page. `url`: where the page reaches the inbox. */
export async function pair(
  page: Page,
  { hive, url }: Pick<ServedInbox, 'hive' | 'url'>,
  name = "Ada's phone",
): Promise<Device> {
  const { code } = await devicesOf(hive).invite('ada');
  await page.goto(`${url}#code=${shownCode(code)}`);
  await page.getByLabel('Name of this phone').fill(name);
  await page.getByRole('button', { name: 'Pair' }).click();
  const device = await confirm(page, hive, code);
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
  await page.getByText('Loading…').waitFor({ state: 'detached' });
  return device;
}

/** The human compares the phrases and confirms. */
export async function confirm(page: Page, hive: OpenedHive, code: string): Promise<Device> {
  await page.locator('[data-test=phrase]').waitFor();
  const device = await devicesOf(hive).paired(code);
  if (device === undefined) throw new Error('No device was paired.');
  return devicesOf(hive).confirm(device, 'ada');
}

/** A page of a context that shows this part of the inbox. */
export async function open(context: BrowserContext, url: string, path = ''): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}#/${path}`);
  return page;
}
