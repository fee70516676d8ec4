// Makes the pictures of the inbox in docs/images: the real page in Chromium, at the size of a phone.
// node --import ./test/support/sql-loader.mjs scripts/screenshots-inbox.mjs
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chromium } from 'playwright-core';
import { shownCode } from '../src/extensions/inbox/device.ts';
import { devicesOf } from '../src/extensions/inbox/service.ts';
import { openHive } from '../src/open-hive.ts';

const root = join(import.meta.dirname, '..');
const images = join(root, 'docs/images');
const folder = mkdtempSync(join(tmpdir(), 'hive-pictures-'));
const store = join(folder, 'store', 'hive.db');
mkdirSync(dirname(store), { mode: 0o700 });

const QUESTION = {
  question: 'Which way should the migration of the orders go?',
  header: 'Migration',
  context:
    'Both keep the old orders readable. I have tried the first on a copy.\n\n```diff\n- retries: 1\n+ retries: 3\n```\n\n| way | time | risk |\n|---|---|---|\n| column | an hour | low |\n| table | a week | some |',
  options: [
    { label: 'Add a column', description: 'Nobody notices, and the next release can go out today.' },
    { label: 'New table', description: 'Cleaner; the old table goes after the next release.' },
  ],
};
const PERMISSION = {
  question: 'git push --force-with-lease origin release/2.0',
  context: 'Directory: /home/ada/shop\n\nThe branch was rebased onto main; two commits change their ids.',
  options: [
    { label: 'Allow', description: 'This once' },
    { label: 'Deny', description: 'What you write is sent to the agent', refuses: true },
  ],
  kind: 'permission',
  urgency: 'critical',
};

const hive = await openHive({ store, env: {} });
const session = await hive.sessions.introduce({
  session_id: 'd3m0a-session',
  client: 'claude-code',
  source: 'main',
  project: 'shop',
  project_dir: '/home/ada/shop/.git',
  branch: null,
  parent_session_id: null,
  machine: 'laptop',
  pid: null,
});
const ask = async (request) => (await hive.prompts.ask(request, session)).prompt.ask_id;
const migration = await ask(QUESTION);
const permission = await ask(PERMISSION);
await ask({ question: 'May the next release drop Node 22?', options: ['Yes', 'Not yet'] });
await ask({ question: 'What should the button say?', urgency: 'low' });

const server = spawn(process.execPath, [join(root, 'bin/hive'), 'serve', '--inbox', '--port', '0'], {
  env: { PATH: '/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8', HIVE_STORE: store },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic'],
});
try {
  const url = await new Promise((resolve) => {
    let said = '';
    server.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const found = /http:\S+\/inbox/.exec(said);
      if (found !== null) resolve(found[0]);
    });
  });
  const context = await browser.newContext({
    viewport: { width: 390, height: 760 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  });
  const page = await context.newPage();
  const { code } = await devicesOf(hive).invite('ada');
  await page.goto(`${url}#code=${shownCode(code)}`);
  await page.getByLabel('Name of this phone').fill("Ada's phone");
  await page.getByRole('button', { name: 'Pair' }).click();
  await page.locator('.phrase').waitFor();
  const device = await devicesOf(hive).paired(code);
  // The human lets this phone allow permissions.
  const seats = JSON.stringify({ seats: [{ name: "Ada's phone", key: device.key }] });
  mkdirSync(join(folder, '.config/hive'), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, '.config/hive/trust.json'), seats, { mode: 0o600 });
  await devicesOf(hive).confirm(device, 'ada');
  await page.getByText('Migration').first().waitFor();
  await picture(page, 'inbox-list');
  await page.goto(`${url}#/ask/${migration}`);
  await page.getByText('New table').waitFor();
  await picture(page, 'inbox-question');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${url}#/ask/${permission}`);
  await page.getByText('Allow').first().waitFor();
  await page.locator('.option:not(:disabled)', { hasText: 'Allow' }).waitFor();
  await picture(page, 'inbox-permission-dark');
} finally {
  await browser.close();
  // It keeps its compiled code in the folder when it ends.
  const ended = once(server, 'exit');
  server.kill();
  await ended;
  await hive.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** A small file: at most 64 colours. */
async function picture(page, name) {
  await page.evaluate(() => scrollTo(0, 0));
  const file = join(images, `${name}.png`);
  await page.screenshot({ path: file });
  execFileSync('convert', [file, '+dither', '-colors', '64', '-strip', `PNG8:${file}`]);
}
