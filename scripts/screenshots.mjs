// Makes the pictures in docs/images: a real Emacs in a terminal, as tmux shows it, drawn by ImageMagick.
// node --import ./test/support/sql-loader.mjs scripts/screenshots.mjs
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { editShown } from '../src/domain/edits.ts';
import { permissionDigest } from '../src/domain/permissions.ts';
import { editToolsAt } from '../src/infrastructure/platform/edits.ts';
import { openHive } from '../src/open-hive.ts';
import { openTerminal } from '../test/support/tmux.ts';
import { DARK, drawPicture, LIGHT } from './terminal-picture.mjs';

const SCREEN = { columns: 110, lines: 14 };
/** For a diff. */
const TALL = { columns: 100, lines: 28 };
/** For the status buffer. */
const STATUS = { columns: 110, lines: 20 };
/** For the shared buffer. */
const ROOM = { columns: 100, lines: 30 };
/** For the statistics. */
const PAGE = { columns: 100, lines: 40 };
const images = join(import.meta.dirname, '../docs/images');

/** Private details that no picture may show: the user and the machine, and the value of a form. */
const PRIVATE = new RegExp(`${userInfo().username}@|\\b${hostname()}\\b|^nil$`, 'm');

/** Draws a terminal once it shows nothing private. */
async function picture(terminal, name, theme = LIGHT, screen = SCREEN) {
  for (let looks = 0; PRIVATE.test((await terminal.screen()).join('\n')); looks += 1) {
    if (looks === 100)
      throw new Error(`${name} would show ${PRIVATE}:\n${(await terminal.screen()).join('\n')}`);
    // A command clears the echo area.
    await terminal.keys('C-l');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const painted = (await terminal.painted()).slice(0, screen.lines);
  drawPicture(painted, join(images, `${name}.png`), { ...screen, theme });
}

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'hive-pictures-'));
const store = join(folder, 'store', 'hive.db');
mkdirSync(dirname(store), { mode: 0o700 });
mkdirSync(images, { recursive: true });
const hive = await openHive({ store, env: {} });
const sidecar = [process.execPath, join(root, 'bin/hive'), 'sidecar']
  .map((word) => JSON.stringify(word))
  .join(' ');
const setup = `(progn
  (menu-bar-mode -1)
  (setq initial-scratch-message ";; Continue with your work.  The mode line counts the open questions.\n"
        suggest-key-bindings nil)
  (setq inhibit-startup-screen t frame-background-mode 'light hive-user-name "Ada" hive-sidecar-command (list ${sidecar}))
  (frame-set-background-mode nil)
  (require 'hive-mode)
  (hive-mode 1))`;
const env = {
  PATH: '/usr/bin:/bin',
  HOME: folder,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  HIVE_STORE: store,
};
/** Shows the buffer of a question, from its beginning. */
async function inFull(terminal, { ask_id }, pattern) {
  await terminal.keys('M-:');
  await terminal.until(/Eval:/);
  await terminal.type(`(progn (hive-prompt-show (hive-model-prompt "${ask_id}")) (delete-other-windows))`);
  await terminal.keys('Enter');
  await terminal.until(pattern);
  await terminal.keys('M-<', 'C-f', 'C-b');
}

/** A permission to edit a file, in an Emacs of its own. */
async function diffs(session) {
  const file = join(folder, 'delivery.ts');
  writeFileSync(file, DELIVERY);
  const [old_string, new_string] = [
    '  const earliest = today();\n',
    '  // The warehouse closes at four.\n  const earliest = hour() < 16 ? today() : tomorrow();\n',
  ];
  const input = { file_path: file, old_string, new_string };
  const call = { client: 'claude-code', version: '2.1.332', name: 'Edit', input };
  const { shown } = editShown(call, editToolsAt(folder), 10_000);
  const context = `${shown.replaceAll(file, '/home/ada/shop/src/delivery.ts')}\n\nTool: Edit\nDirectory: /home/ada/shop`;
  const question = 'Change src/delivery.ts?';
  const options = [
    { label: 'Allow', description: 'This once' },
    { label: 'Deny', description: 'Anything you type is sent to the agent as the reason' },
  ];
  const { prompt } = await hive.prompts.ask(
    { question, context, options, kind: 'permission', urgency: 'critical' },
    session,
  );
  await inThemes(BOTH, 'diff', env, TALL, async (tall) => {
    await inFull(tall, prompt, /@@ -[\s\S]*Options/);
    await tall.until(/^(?![\s\S]*Mark set)[\s\S]*Session table[\s\S]*@@ -/);
  });
}

const IN_LIGHT = ['', LIGHT, 'light'];
const BOTH = [IN_LIGHT, ['-dark', DARK, 'dark']];

/** A light picture and a dark one, or only the light one, each in an Emacs of its own, whose faces fit from its start. */
async function inThemes(themes, name, environment, screen, prepare) {
  for (const [ending, theme, background] of themes) {
    const coloured = start.map((word) => word.replace("'light", `'${background}`));
    const terminal = await openTerminal(mkdtempSync(join(folder, 't')), environment, coloured, screen);
    try {
      await terminal.until(/hive \d/);
      await prepare(terminal);
      await picture(terminal, `${name}${ending}`, theme, screen);
    } finally {
      await terminal.close();
    }
  }
}

/** The first of the questions, as `hive-next` shows it. */
async function next() {
  await inThemes([IN_LIGHT], 'next', env, SCREEN, async (terminal) => {
    await terminal.keys('M-x');
    await terminal.type('hive-next');
    await terminal.keys('Enter');
    await terminal.until(/keep it a week[\s\S]*q quit/);
  });
}

/** How many questions were asked on each of the last days, the oldest first. */
const DAYS = [9, 14, 6, 17, 11, 4, 8];
const PAST = [
  { question: 'Run npm test?', kind: 'permission', options: ['Allow', 'Deny'] },
  { question: 'May I commit?', options: ['yes', 'no'] },
  { question: 'Run npm install?', kind: 'permission', options: ['Allow', 'Deny'] },
  { question: 'Which database?', options: ['SQLite', 'PostgreSQL'] },
  { question: 'Where do I begin?' },
];
const DAY_MS = 86_400_000;

/** The statistics of a week, in a store of its own. While the past is written, this program's clock is set to it. */
async function stats() {
  const place = join(folder, 'past', 'hive.db');
  mkdirSync(dirname(place), { mode: 0o700 });
  const Now = globalThis.Date;
  let ago = 0;
  globalThis.Date = class extends Now {
    constructor(...given) {
      super(...(given.length === 0 ? [Now.now() - ago] : given));
    }
    static now() {
      return Now.now() - ago;
    }
  };
  try {
    const past = await openHive({ store: place, env: {} });
    const introduce = (session_id, project) =>
      past.sessions.introduce({
        ...{ client: 'claude-code', source: 'main', branch: 'main', parent_session_id: null, pid: null },
        ...{
          session_id,
          project,
          project_dir: `/home/ada/${project}/.git`,
          machine: 'desk',
          name: session_id,
        },
      });
    const actor = { kind: 'human', by: 'Ada', via: 'emacs', confirmed: true };
    for (const [day, count] of DAYS.entries()) {
      ago = (DAYS.length - 1 - day) * DAY_MS + count * 20 * 60_000;
      for (let n = 0; n < count; n += 1) {
        const agent = ['reviewer', 'frontend', 'api', 'docs'][(day + n) % 4];
        const session = await introduce(agent, n % 3 === 0 ? 'rocket' : 'shop');
        const request = PAST[(day * 2 + n) % PAST.length];
        const { prompt } = await past.prompts.ask(request, session);
        // Most are answered within minutes, some after lunch.
        ago -= n % 7 === 3 ? 70 * 60_000 : (1 + ((n * 5) % 9)) * 60_000;
        if (day === DAYS.length - 1 && n >= count - 2) continue;
        const [first] = request.options ?? ['At the tests'];
        const displayed_digest = prompt.kind === 'permission' ? permissionDigest(prompt) : undefined;
        await past.prompts.respond({ ask_id: prompt.ask_id, decision: first, displayed_digest, actor });
      }
    }
    await past.close();
  } finally {
    globalThis.Date = Now;
  }
  await inThemes([IN_LIGHT], 'stats', { ...env, HIVE_STORE: place }, PAGE, async (terminal) => {
    await terminal.keys('M-x');
    await terminal.type('hive-stats');
    await terminal.keys('Enter');
    await terminal.until(/Questions per day/);
    await terminal.keys('C-x', '1', 'M-<', 'C-l');
    await terminal.until(/by agent[\s\S]*Asked most[\s\S]*\*hive stats\*/);
  });
}

/** Eight agents of three kinds in the status buffer, in an Emacs and a store of their own. */
async function status() {
  const place = join(folder, 'agents', 'hive.db');
  mkdirSync(dirname(place), { mode: 0o700 });
  const others = await openHive({ store: place, env: {} });
  const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
  const session = (client, client_title, project, more = {}) =>
    others.sessions.introduce({
      ...{ client, client_title, session_id: client_title, project, source: 'main', branch: 'main' },
      ...{
        project_dir: `/home/ada/${project}/.git`,
        parent_session_id: null,
        machine: hostname(),
        pid: null,
      },
      ...more,
    });
  const work = async ({ session_id }, minutes, { tool, said } = {}) => {
    const turn = await others.turns.start({ session_id });
    const open_tools = tool === undefined ? [] : [{ use_id: null, name: tool, since: ago(minutes / 3) }];
    const transcript_path = said === undefined ? null : join(folder, `${session_id}.jsonl`);
    const message = { role: 'assistant', content: [{ type: 'text', text: said }] };
    if (transcript_path !== null)
      writeFileSync(transcript_path, `${JSON.stringify({ type: 'assistant', message })}\n`);
    await others.store.write((tx) =>
      tx.turns.update({ ...turn, started_at: ago(minutes), open_tools, transcript_path }),
    );
    return turn;
  };
  const table = await session('claude-code', 'Session table', 'shop');
  const stages = await session('codex', 'Landing stages', 'rocket');
  const delivery = await session('opencode', 'Delivery date', 'shop');
  const tutorial = await session('claude-code', 'Tutorial', 'docs');
  const nightly = await session('claude-code', 'Nightly build', 'shop', { source: 'bg' });
  const release = await session('codex', 'Release notes', 'docs');
  const checkout = await session('claude-code', 'Checkout tests', 'shop');
  await work(table, 14);
  await work(stages, 6);
  await work(delivery, 41, { tool: 'Bash', said: 'The picker is in. Next: time zones.' });
  await work(nightly, 3, { tool: 'WebFetch', said: 'Main is red; I look for the commit.' });
  const notes = { said: 'The notes for 2.4 are written; two links are missing.\n\nShall I open them?' };
  await others.turns.end((await work(release, 70, notes)).turn_id);
  const allow = { kind: 'permission', options: ['Allow', 'Deny'] };
  const drop = { question: 'Drop the old sessions table now?', options: ['yes', 'keep it a week', 'no'] };
  await others.prompts.ask({ ...drop, urgency: 'critical' }, table);
  await others.prompts.ask({ question: 'Run npm install?', ...allow }, stages);
  await others.prompts.ask({ question: 'Which of the two titles do you want?' }, tutorial);
  await others.prompts.ask({ question: 'Shall I keep the old fixtures?' }, checkout);
  await others.sessions.end(checkout.session_id);
  const post = ({ session_id, handle, title, project, project_dir }, body, request = {}) =>
    others.messages.post({
      ...request,
      body,
      author: { kind: 'agent', session_id, handle, title, project, project_dir, via: 'mcp' },
    });
  await post(delivery, '@Human the date picker is in, please have a look');
  await post(table, '@Delivery-date which column holds the date?');
  const shown = async (name, theme, background, screen) => {
    const coloured = start.map((word) => word.replace("'light", `'${background}`));
    const where = mkdtempSync(join(folder, 'a'));
    const terminal = await openTerminal(where, { ...env, HIVE_STORE: place }, coloured, screen);
    try {
      const done = await work(tutorial, 25);
      await terminal.until(/hive 3\b/);
      await terminal.keys('M-x');
      await terminal.type('hive');
      await terminal.keys('Enter');
      await terminal.until(/\*hive\*/);
      await terminal.keys('C-x', '1');
      await terminal.until(/▾ Working {2}5/);
      // Everything that ends or is posted from now on is unread.
      await others.turns.end(done.turn_id);
      await post(stages, 'The tanks are full.');
      await terminal.until(/▾ Working {2}4[\s\S]*The tanks are/);
      await terminal.keys('C-l', 'C-f', 'C-b');
      await terminal.until(/^(?![\s\S]*Mark set)[\s\S]*▸ Ended/);
      await picture(terminal, name, theme, screen);
    } finally {
      await terminal.close();
    }
  };
  // The shared buffer, with messages that were posted while another buffer was displayed.
  const room = async (name, theme, background, mentions) => {
    const coloured = start.map((word) => word.replace("'light", `'${background}`));
    const where = mkdtempSync(join(folder, 'r'));
    const terminal = await openTerminal(where, { ...env, HIVE_STORE: place }, coloured, ROOM);
    try {
      await terminal.until(new RegExp(` ${mentions}@`));
      // Only then does Emacs know which projects have agents.
      await terminal.keys('M-x');
      await terminal.type('hive');
      await terminal.keys('Enter');
      await terminal.until(/▾ Working/);
      await terminal.keys('M-x');
      await terminal.type('hive-shared');
      await terminal.keys('Enter');
      await terminal.until(/Shared buffer of [^\n]*:/);
      await terminal.type('shop');
      await terminal.keys('Enter');
      await terminal.until(/ shown[\s\S]*write below/);
      await terminal.keys('C-x', '1', 'C-x', 'b');
      await terminal.type('*scratch*');
      await terminal.keys('Enter');
      await terminal.until(/\*scratch\*/);
      const { message } = await post(table, '@Delivery-date The table is ready. Which column do you read?');
      await post(
        delivery,
        '`orders.deliver_on`, as in https://example.org/shop/214. The query is\n\n```sql\nSELECT deliver_on FROM orders\n```',
        { reply_to: message.message_id },
      );
      await post(
        nightly,
        '@override and @Session-table: main is red since this morning. @Human may I revert it?',
      );
      await terminal.until(new RegExp(` ${mentions + 1}@`));
      await terminal.keys('C-x', 'b');
      await terminal.type('*hive-shared: shop*');
      await terminal.keys('Enter');
      await terminal.until(/new since[\s\S]*may I revert it/);
      await terminal.until(/\(held\)/);
      await terminal.keys('M->');
      await terminal.type('@Nightly-build yes, and');
      await terminal.until(/build yes, and/);
      await picture(terminal, name, theme, ROOM);
      // Otherwise the draft would appear in the next Emacs.
      await terminal.keys('C-c', 'C-k');
      await terminal.until(/Draft discarded/);
    } finally {
      await terminal.close();
    }
  };
  try {
    // First, while all of it fits on a screen: the pictures of the room post more.
    await shown('status', LIGHT, 'light', STATUS);
    await shown('status-dark', DARK, 'dark', STATUS);
    await shown('status-narrow', LIGHT, 'light', { ...STATUS, columns: 80 });
    await room('room', LIGHT, 'light', 1);
    await room('room-dark', DARK, 'dark', 2);
  } finally {
    await others.close();
  }
}

const DELIVERY = `import { hour, today, tomorrow } from './clock';

/** The first day on which an order can be delivered. */
export function firstDay(order: Order): Day {
  const earliest = today();
  return order.express ? earliest : workday(earliest, 2);
}

export function days(order: Order): Day[] {
  return week(firstDay(order)).filter(isOpen);
}
`;

const start = ['emacs', '-Q', '-nw', '-L', join(root, 'elisp'), '--eval', setup];
const emacs = await openTerminal(folder, env, start, SCREEN);
try {
  const command = async (name) => {
    await emacs.keys('M-x');
    await emacs.type(name);
    await emacs.keys('Enter');
  };
  const evaluate = async (form) => {
    await emacs.keys('M-:');
    await emacs.until(/Eval:/);
    await emacs.type(form);
    await emacs.keys('Enter');
    await emacs.until(/^(?![\s\S]*Eval:)/);
    await emacs.keys('C-f', 'C-b'); // no value in the echo area
  };
  const agent = (client, client_title, project, source = 'main') =>
    hive.sessions.introduce({
      ...{
        client,
        client_title,
        session_id: client_title,
        project,
        source,
        project_dir: `/home/ada/${project}/.git`,
      },
      ...{ branch: 'main', parent_session_id: null, machine: hostname(), pid: null },
    });
  const claude = await agent('claude-code', 'Session table', 'shop');
  const codex = await agent('codex', 'Landing stages', 'rocket');
  const nightly = await agent('claude-code', 'Nightly build', 'shop', 'bg');
  const ask = (request, session) => hive.prompts.ask(request, session);
  const table = await ask(
    {
      question: 'Drop the old sessions table now?',
      options: ['yes', 'keep it a week', 'no'],
      urgency: 'critical',
    },
    claude,
  );
  await ask(
    { question: 'Run npm install in /home/ada/rocket?', kind: 'permission', options: ['yes', 'no'] },
    codex,
  );
  await ask({ question: 'Which of the two date pickers do you want?', timeout_ms: 7_200_000 }, claude);
  await ask({ question: 'What shall the release be called?', urgency: 'low' }, codex);
  await emacs.until(/hive 4\b/);
  // The first notice names the machine.
  await evaluate(
    '(progn (while (null hive-notify--list) (accept-process-output nil 0.1)) (setq hive-notify--list nil) (message nil))',
  );

  await hive.outreach.card(
    {
      title: 'Nightly build failed',
      color: 'red',
      description: 'Three tests of the checkout fail since the new date picker.',
      fields: [
        { name: 'Failed', value: '3 of 1,204', inline: true },
        { name: 'Took', value: '4 min', inline: true },
        { name: 'First', value: 'checkout/delivery-date.test.ts' },
      ],
      actions: [
        { label: 'Retry', ask: 'Run the three again' },
        { label: 'Bisect', ask: 'Find the commit' },
      ],
    },
    nightly,
  );
  await emacs.until(/sends a card/);
  await command('hive-list');
  await emacs.until(/\*hive\*/);
  await emacs.keys('M-<', 'C-n', 'm');
  await emacs.keys('C-x', '1', 'C-l');
  await emacs.until(/release be called[\s\S]*1 marked/);
  await picture(emacs, 'list');
  await evaluate("(progn (setq frame-background-mode 'dark) (frame-set-background-mode nil) (message nil))");
  await picture(emacs, 'list-dark', DARK);
  await evaluate("(progn (setq frame-background-mode 'light) (frame-set-background-mode nil) (message nil))");
  await emacs.keys('U', 'q');

  await next();

  await command('hive-outreach');
  await emacs.until(/Nightly build failed\n +Three/);
  await emacs.keys('C-x', '1', 'C-l', 'Tab');
  await emacs.until(/^(?![\s\S]*scratch)/);
  await picture(emacs, 'card');
  await emacs.keys('q');

  // The Stop guard gave up and notifies the human; then the agent reports.
  await hive.store.write((tx) =>
    tx.events.append({
      type: 'desk/notice',
      session_id: nightly.session_id,
      subject: nightly.session_id,
      data: {
        severity: 'warning',
        text: '[bg] Nightly build stopped with an unreported card: Nightly build failed',
      },
    }),
  );
  await emacs.until(/stopped with an unreported card/);
  await hive.outreach.report(
    { message: 'Bisected: the date picker broke it. The fix waits on a branch.' },
    nightly,
  );
  await command('hive-outreach');
  await emacs.keys('C-x', '1', 'g');
  await emacs.until(/Bisected/);
  await emacs.keys('M-<', 'C-n');
  await emacs.until(/^(?![\s\S]*Mark set)/);
  await picture(emacs, 'report');
  await emacs.keys('q');
  // The oldest notice names the machine; it may come late.
  await evaluate('(progn (setcdr hive-notify--list nil) (message nil))');
  await command('hive-notices');
  await emacs.until(/unreported card/);
  await emacs.keys('C-x', '1', 'C-l');
  await picture(emacs, 'notices');
  await inThemes([IN_LIGHT], 'question', env, STATUS, (terminal) =>
    inFull(terminal, table.prompt, /keep it a week[\s\S]*seen[\s\S]*From the same agent/),
  );
  await diffs(claude);
  await status();
  await stats();
} finally {
  await hive.close();
  await emacs.close();
  rmSync(folder, { recursive: true, force: true });
}
