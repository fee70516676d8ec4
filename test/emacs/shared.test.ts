/**
 * The shared buffer with real keys in a real terminal, its real sidecar, agents that post over the same store,
 * and another program that writes into the buffer through emacsclient. One Emacs is followed from the first test
 * to the last.
 *
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { agentAuthor, type Message } from '../../src/domain/messages.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment } from '../support/children.ts';
import {
  demoProject,
  type EmacsTerminal,
  type Home,
  lisp,
  openHome,
  startsOverAfterFailure,
} from '../support/emacs.ts';
import { openTestHive } from '../support/hive.ts';
import { beforeFile } from '../support/lifetime.ts';
import * as shared from '../support/messages.ts';
import { eventually } from '../support/wait.ts';

/** Whether a mention waits until the human is free, and then shows its buffer. */
const PLANNED = "(hive-rpc-planned-p #'hive-notify--if-free #'hive-shared--show)";

let home: Home;
let hive: OpenedHive;
let claude: Session;
let emacs: EmacsTerminal;

beforeFile(async () => {
  home = await openHome();
  hive = await openTestHive(home.store);
  const { where, notes } = demoProject(home);
  writeFileSync(notes, 'notes\n');
  claude = await shared.join(hive, 'abc12-session', where);
  await shared.join(hive, 'def34-session', where);
  emacs = await home.emacs(
    `(progn (require 'server) (setq server-socket-dir ${lisp(home.folder)} server-name "test") (server-start)
       (setq hive-shared-position 'current)
       (find-file ${lisp(notes)}))`,
  );
});
startsOverAfterFailure(() => ({ home, emacs }));

/** A Lisp form evaluated as another program does, while Emacs waits for keys. */
async function evaluate(form: string): Promise<string> {
  const env = childEnvironment(home.store);
  const args = ['-s', join(home.folder, 'test'), '--eval', form];
  return (await promisify(execFile)('emacsclient', args, { env })).stdout.trim();
}

const inBuffer = (form: string) => evaluate(`(with-current-buffer "*hive-shared: demo*" ${form})`);
const draft = () => inBuffer('(hive-shared-draft)');

/** Until every change of the buffer was examined, and what was to be posted is stored. */
const examined = () =>
  eventually(
    async () =>
      (await inBuffer(
        '(or hive-detect--timer hive-detect--changes (hive-outbox-entries (quote pending)))',
      )) === 'nil',
  );

let drawings = 0;
/** Until the screen shows what Emacs has: a line in the echo area is drawn last. */
async function drawn(): Promise<void> {
  drawings += 1;
  await evaluate(`(progn (redisplay t) (message "drawing %d." ${drawings}) nil)`);
  await emacs.until(new RegExp(`drawing ${drawings}\\.`));
}

async function stored(): Promise<Message[]> {
  return (await hive.messages.read({ limit: 500 })).items;
}

/** Waits until a message with this body is stored, and returns all that have it. */
async function posted(body: string): Promise<Message[]> {
  const having = async () => (await stored()).filter((message) => message.body === body);
  await eventually(async () => (await having()).length > 0, 10_000, body);
  return having();
}

async function says(body: string): Promise<void> {
  await hive.messages.post({ body, author: agentAuthor(claude, 'mcp') });
}

/** The agent says something, and the buffer has it. */
async function saysAndShows(body: string): Promise<void> {
  await says(body);
  await eventually(
    async () => (await inBuffer(`(string-search ${lisp(body)} (buffer-string))`)) !== 'nil',
    5_000,
    body,
  );
}

const block = (handle: string, body: string) => `## 2026-01-11 18:00:00 ${handle}\n\n${body}\n`;

describe('writing', () => {
  test('a message is typed, its handle completed, and posted', async () => {
    await says('the first');
    await emacs.command('hive-shared');
    await emacs.until(/^## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d Claude-abc12 {2}\(demo\)$/m);
    await emacs.until(/^the first$/m);
    await emacs.type('100% done; look @claude-d');
    await emacs.keys('Tab');
    await emacs.until(/look @Claude-def34/);
    await emacs.type('please');
    await emacs.keys('C-c', 'C-c');
    const [message] = await posted('100% done; look @Claude-def34 please');
    expect(message).toMatchObject({ author: 'human', from_handle: 'Human', via: 'emacs', project: 'demo' });
    await emacs.until(/Human {2}\(Ada\)\n\n100% done; look @Claude-def34 please/);
    expect((await hive.mentions.summary('def34-session')).unprocessed).toBe(1);
    expect(await draft()).toBe('""');
  });

  test('messages arrive while typing: keys, point and undo are untouched', async () => {
    await emacs.type('half a sent');
    await emacs.keys('C-b', 'C-b');
    const point = String('half a sent'.length - 2);
    await eventually(async () => (await inBuffer('(- (point) (hive-shared-start))')) === point);
    for (let n = 0; n < 10; n += 1) await saysAndShows(`arrival ${n}`);
    expect(await inBuffer('(- (point) (hive-shared-start))')).toBe(point);
    await emacs.keys('C-e');
    await emacs.type('ence');
    await emacs.press(/^half a sentence$/m, 'C-/');
    await emacs.until(/^half a sent$/m);
    await saysAndShows('between two undos');
    await emacs.keys('C-/');
    await eventually(async () => (await draft()) === '""');
    await emacs.until(/^(?![\s\S]*half a sent)[\s\S]*\nbetween two undos\n/);
  });

  test('a half-typed M-x goes on, and the line being written stays visible', async () => {
    await emacs.type('before the command');
    await emacs.keys('M-x', 'goto-li');
    await emacs.until(/M-x goto-li/);
    for (let n = 0; n < 15; n += 1) await saysAndShows(`during M-x ${n}`);
    await emacs.until(/during M-x 14/);
    await emacs.until(/M-x goto-li$/m);
    await emacs.until(/^before the command$/m);
    await emacs.answer(/M-x goto-li/, 'C-g');
    await emacs.keys('C-c', 'C-k');
    await eventually(async () => (await draft()) === '""');
  });

  test('a reader above is not moved', async () => {
    await emacs.keys('M-<', 'C-s');
    await emacs.type('arrival 3');
    await emacs.keys('Enter', 'C-l');
    await eventually(async () => (await evaluate('real-last-command')) === 'recenter-top-bottom');
    await emacs.until(/arrival 3\n[\s\S]*arrival 4/);
    await drawn();
    const before = { cursor: await emacs.cursor(), text: await textOf(await emacs.screen()) };
    for (let n = 0; n < 5; n += 1) await saysAndShows(`below ${n}`);
    await drawn();
    const after = { cursor: await emacs.cursor(), text: await textOf(await emacs.screen()) };
    await emacs.keys('M->');
    expect(after).toEqual(before);
  });
});

/** The screen but for its header and mode lines and the echo area. */
async function textOf(screen: string[]): Promise<string[]> {
  return screen.slice(2, -3);
}

describe('another program writes into the buffer', () => {
  const append = (text: string) =>
    inBuffer(`(save-excursion (goto-char (point-max)) (insert ${lisp(text)}) nil)`);

  test('its message is posted once, and what is half-typed stays', async () => {
    await emacs.type('my half of a');
    await append(block('Claude-zzz', '@Claude-abc12 written by a program'));
    const found = await posted('@Claude-abc12 written by a program');
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      author: 'unverified',
      from_handle: 'unverified',
      as_handle: 'Claude-zzz',
    });
    await emacs.until(/unverified {2}\(as Claude-zzz\)\n\n@Claude-abc12 written by a program/);
    await emacs.type(' sentence');
    await emacs.until(/^my half of a sentence$/m);
    expect(await draft()).toBe('"my half of a sentence"');
    await emacs.keys('C-/');
    await eventually(async () => (await draft()) !== '"my half of a sentence"');
    await examined();
    expect(await posted('@Claude-abc12 written by a program')).toHaveLength(1);
    expect((await stored()).filter((message) => message.body.includes('my half'))).toEqual([]);
    await emacs.keys('C-c', 'C-k');
  });

  test("under the human's heading it is not the human's, even while a command of the human waits for keys", async () => {
    await append(block('Human', 'while nobody types'));
    expect(await posted('while nobody types')).toMatchObject([{ author: 'unverified', as_handle: 'Human' }]);
    await emacs.keys('M-x');
    await emacs.until(/^M-x$/m);
    await append(block('Human', 'during M-x'));
    expect(await posted('during M-x')).toMatchObject([{ author: 'unverified', as_handle: 'Human' }]);
    await emacs.keys('ignore', 'Enter');
    await emacs.until(/^(?![\s\S]*\nM-x)/);
  });
});

test('mentions of the human are counted, shown, answered and marked done', async () => {
  await saysAndShows('@Human which colour?');
  await emacs.until(/hive 1@/);
  await emacs.press(/\[reply\] \[done\]/, 'M-<', 'C-c', 'C-n');
  await eventually(async () => (await inBuffer('(looking-at "@Human which colour")')) === 't');
  await emacs.keys('C-c', 'C-r');
  await emacs.type('red');
  await emacs.keys('C-c', 'C-c');
  const [answer] = await posted('@Claude-abc12 red');
  expect(answer?.reply_to).toEqual(expect.any(String));
  await emacs.until(/^(?![\s\S]*hive \d+@)/);
  expect((await hive.mentions.summary('human')).unprocessed).toBe(0);

  await says('@Human one more');
  await emacs.until(/hive 1@/);
  await emacs.command('hive-check-mentions');
  await emacs.until(/Mentions of you: 2 in total, 1 done, 1 open/);
  await emacs.press(/@Human one more/, 'd');
  await emacs.until(/2 done, 0 open/);
  await emacs.press(/^(?![\s\S]*hive \d+@)/, 'q');
});

describe('a mention that shows the buffer', () => {
  /** How many windows show the buffer. */
  const shownIn = `(let ((buffer (get-buffer "*hive-shared: demo*")))
    (if buffer (length (get-buffer-window-list buffer nil t)) 0))`;
  const counted = (count: number) =>
    eventually(async () => (await evaluate('(hive-mentions-count)')) === String(count));

  /** Each test begins with nothing pending, and with the notes in the only window. */
  beforeEach(async () => {
    const actor = { kind: 'human', by: 'Ada', via: 'emacs', confirmed: true } as const;
    await hive.mentions.process({ session_id: 'human', actor, all: true });
    await counted(0);
    await evaluate(
      `(progn (setq hive-shared-on-mention 'right) (delete-other-windows) (switch-to-buffer "notes.txt") (goto-char 3)
         (when (get-buffer "*hive-shared: demo*") (kill-buffer "*hive-shared: demo*")) nil)`,
    );
  });

  test('does so beside what the human types in, where every key still goes', async () => {
    await emacs.type('my ');
    await says('@Human which size?');
    await emacs.until(/which size\?/);
    await emacs.type('words');
    await emacs.until(/nomy wordstes/);
    expect(await evaluate('(buffer-name (window-buffer (selected-window)))')).toBe('"notes.txt"');
    expect(await draft()).toBe('""');
  });

  test('waits until a half-typed M-x has ended', async () => {
    await emacs.keys('M-x', 'igno');
    await emacs.until(/^M-x igno$/m);
    await says('@Human during another M-x');
    await counted(1);
    // While the human is busy, Hive looks again and again; once the human is idle, it shows the buffer.
    await eventually(async () => (await evaluate(`(and ${PLANNED} t)`)) === 't');
    expect(await evaluate(shownIn)).toBe('0');
    await emacs.press(/^M-x igno$/m, 're', 'Enter');
    await emacs.until(/\|@Human during another M-x/);
  });

  test('changes only the selected frame', async () => {
    await evaluate('(progn (setq test-other (selected-frame)) nil)');
    await emacs.keys('C-x', '5', '2');
    await emacs.until(/- *F2 /);
    await evaluate('(progn (setq test-here (selected-frame)) nil)');
    await says('@Human in which frame?');
    await emacs.until(/in which frame\?/);
    expect(await evaluate('(list (eq test-here (selected-frame)) (length (frame-list)))')).toBe('(t 2)');
    expect(await evaluate('(length (window-list test-other))')).toBe('1');
    // Nor if this window has no room.
    await evaluate(
      `(progn (delete-window (get-buffer-window "*hive-shared: demo*"))
         (setq hive-shared-on-mention 'display split-window-preferred-function #'ignore) nil)`,
    );
    await says('@Human no room');
    await counted(2);
    await eventually(async () => (await evaluate(`(null ${PLANNED})`)) === 't');
    expect(await evaluate(shownIn.replace('nil t', 'nil 0'))).toBe('0');
    await emacs.keys('C-x', '5', '0');
    await emacs.until(/- *F1 /);
  });
});

test('no error was logged on the way', async () => {
  const messages = await evaluate('(with-current-buffer "*Messages*" (buffer-string))');
  expect(messages).not.toMatch(/error|wrong type|void|debugger/i);
  const log = await evaluate(
    '(if (get-buffer "*hive log*") (with-current-buffer "*hive log*" (buffer-string)))',
  );
  expect(log).not.toMatch(/ error: /);
  expect(log).not.toMatch(/parameters that this sidecar does not know/);
});
