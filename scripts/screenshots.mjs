// Makes the pictures in docs/images: a real Emacs in a terminal, as tmux shows it, drawn by ImageMagick.
// node --import ./test/support/sql-loader.mjs scripts/screenshots.mjs
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openHive } from '../src/open-hive.ts';
import { openTerminal } from '../test/support/tmux.ts';

const SCREEN = { columns: 110, lines: 14 };
const CELL = { width: 9, height: 19 };
const FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSansMono';
const PALETTE = ['#000000', '#b21818', '#1a7f37', '#9a6700', '#1f5fbf', '#8250df', '#0b7285', '#d0d7de'];
const BRIGHT = ['#57606a', '#cf222e', '#2da44e', '#bf8700', '#218bff', '#a475f9', '#3192aa', '#ffffff'];
const images = join(import.meta.dirname, '../docs/images');

/** A colour of the 256. */
function indexed(n) {
  if (n < 8) return PALETTE[n];
  if (n < 16) return BRIGHT[n - 8];
  const level = (step) => (step === 0 ? 0 : 55 + 40 * step);
  const grey = 8 + 10 * (n - 232);
  const [r, g, b] =
    n >= 232
      ? [grey, grey, grey]
      : [Math.floor((n - 16) / 36), Math.floor((n - 16) / 6) % 6, (n - 16) % 6].map(level);
  return `rgb(${r},${g},${b})`;
}

/** The colours after one escape sequence. */
function turned(pen, codes) {
  const next = { ...pen };
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i];
    if (code === 0)
      Object.assign(next, { fg: null, bg: null, bold: false, underline: false, inverse: false });
    else if (code === 1) next.bold = true;
    else if (code === 22) next.bold = false;
    else if (code === 4) next.underline = true;
    else if (code === 24) next.underline = false;
    else if (code === 7) next.inverse = true;
    else if (code === 27) next.inverse = false;
    else if (code === 39) next.fg = null;
    else if (code === 49) next.bg = null;
    else if (code === 38 || code === 48) {
      const colour = codes[i + 1] === 5 ? indexed(codes[i + 2]) : `rgb(${codes.slice(i + 2, i + 5)})`;
      next[code === 38 ? 'fg' : 'bg'] = colour;
      i += codes[i + 1] === 5 ? 2 : 4;
    } else if (code >= 30 && code <= 37) next.fg = PALETTE[code - 30];
    else if (code >= 40 && code <= 47) next.bg = PALETTE[code - 40];
    else if (code >= 90 && code <= 97) next.fg = BRIGHT[code - 90];
    else if (code >= 100 && code <= 107) next.bg = BRIGHT[code - 100];
  }
  return next;
}

/** The drawing of one line, and the colours at its end. */
function draw(line, row, pen) {
  const drawn = [];
  let column = 0;
  let now = pen;
  for (const [, codes, text] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
    if (text === undefined) {
      now = turned(now, codes.split(';').map(Number));
      continue;
    }
    const [ink, paper] = [now.fg ?? '#1f2328', now.bg ?? '#ffffff'];
    const [fill, ground] = now.inverse ? [paper, ink] : [ink, paper];
    const [x, y] = [10 + column * CELL.width, 10 + row * CELL.height];
    const width = [...text].length * CELL.width;
    drawn.push(`fill '${ground}' rectangle ${x},${y} ${x + width - 1},${y + CELL.height - 1}`);
    if (now.underline) drawn.push(`fill '${fill}' rectangle ${x},${y + 16} ${x + width - 1},${y + 16}`);
    drawn.push(`font '${FONT}${now.bold ? '-Bold' : ''}.ttf' font-size 15 fill '${fill}'`);
    // Drawn cell by cell, so that the columns of the terminal are exact.
    for (const [i, character] of [...text].entries()) {
      if (character === ' ') continue;
      const quoted = /['\\]/.test(character) ? `\\${character}` : character;
      drawn.push(`text ${x + i * CELL.width},${y + 15} '${quoted}'`);
    }
    column += [...text].length;
  }
  return { drawn, pen: now };
}

async function picture(terminal, name) {
  const painted = (await terminal.painted()).slice(0, SCREEN.lines);
  const drawing = [];
  let pen = turned({}, [0]);
  for (const [row, line] of painted.entries()) {
    const done = draw(line, row, pen);
    drawing.push(...done.drawn);
    pen = done.pen;
  }
  const size = `${SCREEN.columns * CELL.width + 20}x${SCREEN.lines * CELL.height + 20}`;
  const options = ['-size', size, 'xc:white', '-draw', drawing.join('\n'), '-colors', '64'];
  execFileSync('/usr/bin/convert', [...options, join(images, `${name}.png`)]);
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
const start = ['emacs', '-Q', '-nw', '-L', join(root, 'elisp'), '--eval', setup];
const emacs = await openTerminal(folder, env, start, SCREEN);
try {
  const command = async (name) => {
    await emacs.keys('M-x');
    await emacs.type(name);
    await emacs.keys('Enter');
  };
  const agent = (client, session_id, project, source = 'main') =>
    hive.sessions.introduce({
      ...{ client, session_id, project, source, project_dir: `/home/ada/${project}/.git` },
      ...{ branch: 'main', parent_session_id: null, machine: hostname(), pid: null },
    });
  const claude = await agent('claude-code', 'abc12f00', 'shop');
  const codex = await agent('codex', '7d90e100', 'rocket');
  const nightly = await agent('claude-code', 'f00dface', 'shop', 'bg');
  const ask = (request, session) => hive.prompts.ask(request, session);
  await ask(
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
  await emacs.until(/hive 4!/);

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
  await emacs.keys('M-<', 'm');
  await emacs.keys('C-x', '1', 'C-l');
  await emacs.until(/release be called[\s\S]*1 marked/);
  await picture(emacs, 'list');
  await emacs.keys('U', 'q');

  await command('hive-next');
  await emacs.until(/keep it a week/);
  await picture(emacs, 'next');
  await emacs.answer(/TAB skip/, 'q');

  await command('hive-outreach');
  await emacs.until(/Nightly build failed\n +Three/);
  await emacs.keys('C-x', '1', 'C-l', 'Tab');
  await emacs.until(/^(?![\s\S]*scratch)/);
  await picture(emacs, 'card');
  await emacs.keys('q');

  // The Stop guard gave up and says so; then the agent reports.
  await hive.store.write((tx) =>
    tx.events.append({
      type: 'desk/notice',
      session_id: nightly.session_id,
      subject: nightly.session_id,
      data: {
        severity: 'warning',
        text: '[bg] Claude-f00df stopped with an unreported card: Nightly build failed',
      },
    }),
  );
  await emacs.until(/stopped with an unreported card/);
  await hive.outreach.report(
    { message: 'Bisected: the date picker broke it. The fix waits on a branch.' },
    nightly,
  );
  await command('hive-outreach');
  await emacs.keys('C-x', '1', 'g', 'M-<');
  await emacs.until(/Bisected/);
  await picture(emacs, 'report');
  await emacs.keys('q');
  await command('hive-notices');
  await emacs.until(/unreported card/);
  await emacs.keys('C-x', '1', 'C-l');
  await picture(emacs, 'notices');
} finally {
  await hive.close();
  await emacs.close();
  rmSync(folder, { recursive: true, force: true });
}
