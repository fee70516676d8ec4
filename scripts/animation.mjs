// Records the animation at the top of the README: one minute in a real Emacs in a terminal, with real keys, and agents
// that ask through their hooks and over MCP's services. Each change of the screen is a frame; ImageMagick joins them.
// node --import ./test/support/sql-loader.mjs scripts/animation.mjs
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEvent } from '../src/adapters/hooks/hook.ts';
import { openHive } from '../src/open-hive.ts';
import { openTerminal } from '../test/support/tmux.ts';
import { DARK, drawPicture } from './terminal-picture.mjs';

const SCREEN = { columns: 100, lines: 22 };
/** The terminal, and two lines below it: what happens, and the keys that were pressed. */
const FRAME = { ...SCREEN, lines: SCREEN.lines + 2, theme: DARK };
const MOST_BYTES = 1024 * 1024;
/** In ms, between two reads of the screen. */
const SAMPLE_MS = 350;
/** In ms: how long a frame is shown at least and at most, so that nobody has to wait. */
const SHORTEST_MS = 200;
const LONGEST_MS = 2_600;

const root = join(import.meta.dirname, '..');
const target = join(root, 'docs/images/one-minute.gif');
const folder = mkdtempSync(join(tmpdir(), 'hive-animation-'));
const store = join(folder, 'store', 'hive.db');
mkdirSync(dirname(store), { mode: 0o700 });

const file = join(folder, 'delivery.js');
writeFileSync(
  file,
  `// The date on which an order arrives.
export function deliveryDate(order, calendar) {
  let day = calendar.next(order.paidAt);
  for (let left = order.days; left > 0; left -= 1) {
    day = calendar.next(day);
  }
  return day;
}
`,
);
const sidecar = [process.execPath, join(root, 'bin/hive'), 'sidecar'].map((word) => JSON.stringify(word));
const setup = `(progn
  (menu-bar-mode -1)
  (setq inhibit-startup-screen t suggest-key-bindings nil make-backup-files nil auto-save-default nil
        create-lockfiles nil js-indent-level 2 frame-background-mode 'dark hive-user-name "Ada"
        hive-reply-templates '(("question" nil "Look at the tests first."))
        hive-sidecar-command (list ${sidecar.join(' ')}))
  (frame-set-background-mode nil)
  (require 'hive-mode)
  (global-set-key (kbd "C-c h") 'hive-prefix-map)
  (hive-mode 1)
  (find-file ${JSON.stringify(file)}))`;
const env = {
  PATH: '/usr/bin:/bin',
  HOME: folder,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  HIVE_STORE: store,
};
const start = ['emacs', '-Q', '-nw', '-L', join(root, 'elisp'), '--eval', setup];
const hive = await openHive({ store, env: {} });
const emacs = await openTerminal(folder, env, start, SCREEN);

// ---- Recording ----

const frames = [];
let caption = '';
let keys = '';

/** Adds a frame if the screen, the cursor or a line below it has changed. */
async function look() {
  const [painted, cursor] = [(await emacs.painted()).slice(0, SCREEN.lines), await emacs.cursor()];
  const below = `\x1b[0m\x1b[7m ${`${caption.padEnd(76)}${keys.padStart(22)}`.slice(0, SCREEN.columns - 2)} \x1b[0m`;
  const shown = { painted: [...painted, '\x1b[0m', below], cursor: cursor.split(',').map(Number) };
  const last = frames.at(-1);
  if (last === undefined || JSON.stringify(shown) !== JSON.stringify(last.shown))
    frames.push({ shown, at: Date.now() });
}

/** True once there is something to see. */
let ready = false;
let recording = true;
const recorder = (async () => {
  while (recording) {
    if (ready) await look();
    await sleep(SAMPLE_MS);
  }
})();

/** Time to read. */
const read = (ms) => sleep(ms);

async function press(...pressed) {
  for (const key of pressed) {
    keys = key === 'Enter' ? 'RET' : key === 'Tab' ? 'TAB' : key;
    await emacs.keys(key);
    await sleep(240);
  }
}

async function type(text) {
  for (const character of text) {
    keys = text;
    await emacs.type(character);
    await sleep(55);
  }
}

// ---- The agents ----

const agents = ['api', 'docs', 'frontend', 'tests'];

/** A permission that the agent's client asks, as its hook reports it. */
function permission(agent, tool_name, tool_input) {
  const raw = {
    ...{ session_id: agent, hook_event_name: 'PermissionRequest', permission_mode: 'default' },
    ...{ cwd: `/home/ada/${agent}`, transcript_path: null, tool_name, tool_input },
  };
  const own = { HIVE_AGENT: agent };
  const place = { project: 'shop', project_dir: '/home/ada/shop/.git', branch: 'main' };
  const host = {
    machine: hostname(),
    pid: process.pid,
    above: [],
    findProject: () => place,
    readTail: () => null,
  };
  const event = parseEvent(JSON.stringify(raw), own, 'claude-code');
  // The hook waits until the person has answered.
  hive.hooks.handle(event, { env: own, seats: () => [], ...host }).catch(() => undefined);
}

async function ask(agent, request) {
  const session = await hive.sessions.introduce({
    ...{ client: 'claude-code', session_id: agent, project: 'shop', source: 'main', branch: 'main' },
    ...{ project_dir: '/home/ada/shop/.git', parent_session_id: null, machine: hostname(), pid: null },
  });
  await hive.prompts.ask(request, session);
}

// ---- The minute ----

try {
  await emacs.until(/deliveryDate[\s\S]*delivery\.js/);
  await emacs.until(/Registered this seat/);
  await emacs.keys('C-g');
  caption = 'You work. Your agents ask, and nothing interrupts you.';
  await emacs.keys('M-<', 'C-n', 'C-n', 'C-n', 'C-e');
  ready = true;
  await read(1_600);
  for (const agent of agents) permission(agent, 'Bash', { command: 'npm install date-fns' });
  await emacs.keys('Enter', 'Tab');
  await type('if (calendar.closed(day)) left += 1');
  await emacs.until(/hive 4/);
  await ask('api', {
    question: 'Drop the old sessions table in this release?',
    options: ['yes', 'no', 'keep it a week'],
    context: 'Nothing has read it since March.',
  });
  await ask('docs', { question: 'Which heading for the new page?' });
  permission('tests', 'Bash', { command: 'rm -rf fixtures/' });
  await emacs.until(/hive 5/);
  await read(1_500);

  caption = 'When it suits you: C-c h n. Agents that ask for the same are one question.';
  await press('C-c', 'h', 'n');
  await emacs.until(/4 agents ask the same thing/);
  await read(3_500);
  caption = 'One key answers all four, once all of it was on the screen.';
  await press('1');
  await emacs.until(/rm -rf fixtures/);
  caption = 'A wrong key? What allows something is held for three seconds.';
  await read(1_600);
  await press('1');
  await emacs.until(/u takes it back/);
  await emacs.until(/Drop the old sessions table/);
  await read(900);
  await press('u');
  await emacs.until(/Run rm -rf fixtures/);
  caption = 'u has taken it back. The agent never saw it.';
  await read(1_500);
  caption = '+ answers with an option and words of your own.';
  await press('+');
  await read(600);
  await press('2');
  await emacs.until(/with these words/);
  await type('move them to /tmp first');
  await read(500);
  await press('Enter');
  await emacs.until(/Drop the old sessions table/);
  await read(1_800);
  await press('3');
  await emacs.until(/Which heading/);
  caption = 'Your own words, or a template with one key.';
  await read(1_000);
  await press('Enter');
  await emacs.until(/asks: Which heading/);
  await type('When will it arrive?');
  await read(400);
  await press('Enter');
  await emacs.until(/no other questions/);
  caption = 'The agents go on, and so do you.';
  await read(2_500);

  for (const agent of ['docs', 'frontend']) permission(agent, 'Bash', { command: 'git push origin HEAD' });
  await ask('frontend', { question: 'Which of the two date pickers?', options: ['native', 'ours'] });
  await ask('tests', { question: 'Is 80 % coverage enough?', options: ['yes', 'no'] });
  await emacs.until(/hive 2\S+2/);
  caption = 'The list: sections that fold, marks, a region; = marks what is alike.';
  await press('C-c', 'h', 'l');
  await emacs.until(/git push origin HEAD[\s\S]*coverage/);
  await emacs.keys('C-x', '1');
  await read(1_800);
  await press('=');
  await emacs.until(/Marked 2 alike/);
  await read(1_500);
  await press('U');
  await emacs.keys('M-<');
  await read(500);
  await press('Tab');
  await emacs.until(/4 questions \(2 permissions\)/);
  await read(1_500);
  await press('Tab');
  await read(800);
  caption = 'The same list by agent.';
  await press('G');
  await emacs.until(/▾ docs/);
  await read(2_500);
  caption = 'Answers are on disk before Emacs says so. None is ever lost.';
  await read(2_500);
} finally {
  recording = false;
  await recorder;
  await hive.close();
  await emacs.close();
}

// ---- Joining the frames ----

process.stdout.write(`${frames.length} frames are drawn.\n`);

const options = ['-loop', '0'];
for (const [number, { shown, at }] of frames.entries()) {
  const png = join(folder, `${String(number).padStart(4, '0')}.png`);
  drawPicture(shown.painted, png, { ...FRAME, cursor: shown.cursor });
  const lasts = (frames[number + 1]?.at ?? at + LONGEST_MS) - at;
  const delay = Math.round(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, lasts)) / 10);
  options.push('-delay', String(delay), png);
}
execFileSync('/usr/bin/convert', [...options, '+dither', '-colors', '16', '-layers', 'optimize', target]);
rmSync(folder, { recursive: true, force: true });
const { size } = statSync(target);
process.stdout.write(`${target}: ${frames.length} frames, ${Math.round(size / 1024)} KB\n`);
if (size > MOST_BYTES) throw new Error('It is larger than 1 MB; leave something out.');
