/**
 * What a mention of the human does in a real terminal: the shared buffer that shows itself and takes no key,
 * and answers with templates, typed with real keys. One Emacs is followed from the first test to the last.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { agentAuthor, type Message } from '../../src/domain/messages.ts';
import type { Session } from '../../src/domain/sessions.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { openHive } from '../../src/open-hive.ts';
import { childEnvironment } from '../support/children.ts';
import { command, type Home, lisp, openHome, startsOverAfterFailure } from '../support/emacs.ts';
import * as shared from '../support/messages.ts';
import type { Terminal } from '../support/tmux.ts';
import { eventually } from '../support/wait.ts';

let home: Home;
let hive: OpenedHive;
let claude: Session;
let emacs: Terminal;

beforeAll(async () => {
  home = await openHome();
  hive = await openHive({ store: home.store, env: {} });
  const project = join(home.folder, 'demo');
  mkdirSync(join(project, '.git'), { recursive: true });
  writeFileSync(join(project, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(project, 'notes.txt'), 'notes of the human\n');
  const place = { project: 'demo', project_dir: join(project, '.git'), machine: 'elsewhere' };
  claude = await shared.join(hive, 'abc12-session', place);
  emacs = await home.emacs(
    `(progn (require 'server) (setq server-socket-dir ${lisp(home.folder)} server-name "test") (server-start)
       (setq hive-reply-templates '(("mention" nil "I will look today.")) hive-shared-on-mention 'right)
       (find-file ${lisp(join(project, 'notes.txt'))}))`,
  );
});
startsOverAfterFailure(() => ({ home, emacs }));
afterAll(async () => {
  await hive.close();
  await home.close();
});

/** A Lisp form evaluated as another program does, while Emacs waits for keys. */
async function evaluate(form: string): Promise<string> {
  const args = ['-s', join(home.folder, 'test'), '--eval', form];
  return (
    await promisify(execFile)('emacsclient', args, { env: childEnvironment(home.store) })
  ).stdout.trim();
}

/** Each test begins with nothing pending, and with the notes in the only window. */
beforeEach(async () => {
  await hive.mentions.process({
    session_id: 'human',
    actor: { kind: 'human', by: 'Ada', via: 'emacs', confirmed: true },
    all: true,
  });
  await eventually(async () => (await evaluate('(hive-mentions-count)')) === '0');
  await evaluate(
    `(progn (delete-other-windows) (switch-to-buffer "notes.txt") (goto-char 7)
       (when (get-buffer "*hive-shared: demo*") (kill-buffer "*hive-shared: demo*")) nil)`,
  );
});

async function mention(body: string): Promise<Message> {
  return (await hive.messages.post({ body, author: agentAuthor(claude, 'mcp') })).message;
}

/** How many windows show the buffer. */
const shownIn = `(let ((buffer (get-buffer "*hive-shared: demo*")))
  (if buffer (length (get-buffer-window-list buffer nil t)) 0))`;
const counted = (count: number) =>
  eventually(async () => (await evaluate('(hive-mentions-count)')) === String(count));

async function answerTo(message: Message): Promise<Message | undefined> {
  const answer = async () =>
    (await hive.messages.read({ limit: 100 })).items.find(({ reply_to }) => reply_to === message.message_id);
  await eventually(async () => (await answer()) !== undefined, 10_000, 'the answer');
  return answer();
}

test('a mention shows the buffer beside what the human types in, where every key still goes', async () => {
  await emacs.type('my ');
  await mention('@Human which colour?');
  await emacs.until(/which colour\?/);
  await emacs.type('words');
  await emacs.until(/notes my wordsof the human/);
  expect(await evaluate('(buffer-name (window-buffer (selected-window)))')).toBe('"notes.txt"');
  const text = '(with-current-buffer "*hive-shared: demo*" (buffer-string))';
  expect(await evaluate(text)).toContain('Agents and their human share this buffer.');
  expect(await evaluate('(with-current-buffer "*hive-shared: demo*" (hive-shared-draft))')).toBe('""');
});

test('a half-typed M-x goes on, and the buffer comes when it has ended', async () => {
  await emacs.keys('M-x', 'igno');
  await emacs.until(/^M-x igno$/m);
  await mention('@Human during M-x');
  await counted(1);
  // While the human is busy, Hive looks again and again; once the human is idle, it shows the buffer.
  await eventually(async () => (await evaluate('(and hive-shared--timer t)')) === 't');
  expect(await evaluate(shownIn)).toBe('0');
  await emacs.until(/^M-x igno$/m);
  await emacs.keys('re', 'Enter');
  await emacs.until(/\|@Human during M-x/);
});

test('only the selected frame is changed', async () => {
  await evaluate('(progn (setq test-other (selected-frame)) nil)');
  await emacs.keys('C-x', '5', '2');
  await emacs.until(/- *F2 /);
  await evaluate('(progn (setq test-here (selected-frame)) nil)');
  await mention('@Human in which frame?');
  await emacs.until(/in which frame\?/);
  expect(await evaluate('(list (eq test-here (selected-frame)) (length (frame-list)))')).toBe('(t 2)');
  expect(await evaluate('(length (window-list test-other))')).toBe('1');
  // Nor if this window has no room.
  await evaluate(
    `(progn (delete-window (get-buffer-window "*hive-shared: demo*"))
       (setq hive-shared-on-mention 'display split-window-preferred-function #'ignore) nil)`,
  );
  await mention('@Human no room');
  await counted(2);
  await eventually(async () => (await evaluate('(null hive-shared--timer)')) === 't');
  expect(await evaluate(shownIn.replace('nil t', 'nil 0'))).toBe('0');
  await emacs.keys('C-x', '5', '0');
  await emacs.until(/- *F1 /);
});

test('a template answers from the list of mentions, in the shared buffer, and in the minibuffer', async () => {
  // The whole width, to read what is typed.
  await evaluate("(setq hive-shared-on-mention nil hive-shared-position 'current)");
  const first = await mention('@Human could you look?');
  await counted(1);
  await command(emacs, 'hive-check-mentions');
  await emacs.until(/^demo .* ago/m);
  await emacs.keys('t');
  await emacs.until(/Reply to demo:/);
  await emacs.type('I w');
  await emacs.keys('Tab');
  await emacs.until(/Reply to demo: I will look today\./);
  await emacs.keys('Enter');
  expect(await answerTo(first)).toMatchObject({
    author: 'human',
    body: '@Claude-abc12 I will look today.',
  });
  await counted(0);

  const second = await mention('@Human and the other one?');
  await emacs.until(/^@Human and the other one\?/m);
  await emacs.keys('r');
  await emacs.until(/C-c C-y inserts a template/);
  await emacs.keys('C-c', 'C-y');
  await emacs.until(/Insert template:/);
  await emacs.keys('Tab', 'Enter');
  await emacs.until(/^@Claude-abc12 I will look today\./m);
  await emacs.type(' Both.');
  await emacs.keys('C-c', 'C-c');
  expect((await answerTo(second))?.body).toBe('@Claude-abc12 I will look today. Both.');

  await command(emacs, 'hive-mention');
  await emacs.until(/Mention:/);
  await emacs.type('Claude-abc12');
  await emacs.keys('Enter');
  await emacs.until(/Message to @\S+ \(M-n: templates\):/);
  await emacs.keys('M-n');
  await emacs.until(/templates\): I will look today\./);
  await emacs.keys('Enter');
  const bodies = async () => (await hive.messages.read({ limit: 100 })).items.map(({ body }) => body);
  await eventually(
    async () => (await bodies()).filter((body) => body === '@Claude-abc12 I will look today.').length === 2,
  );
});

test('no error was logged on the way', async () => {
  const messages = await evaluate('(with-current-buffer "*Messages*" (buffer-string))');
  expect(messages).not.toMatch(/error|wrong type|void|debugger/i);
  const log = await evaluate(
    '(if (get-buffer "*hive log*") (with-current-buffer "*hive log*" (buffer-string)))',
  );
  expect(log).not.toMatch(/ error: /);
});
