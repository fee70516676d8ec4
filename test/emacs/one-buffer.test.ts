/**
 * A person with six agents answers, reads why, jumps to one in tmux, writes to the idle one and to one that works, and sees a loop
 * stopped, without leaving the status buffer: real keys in a real terminal, the hooks and MCP connections of six clients, each a
 * process. Every key is counted, and the table below is all that a person presses.
 *
 * @module-tag undisturbed
 * @module-tag emacs
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Agent, startAgent } from '../spec/support/agents.ts';
import { lisp, openEmptyHome } from '../support/emacs.ts';
import { clientAt, clientSocket, FAKE_CLIENT } from '../support/fake-client.ts';
import { eventually } from '../support/wait.ts';

/** The person's acts, and the keys of each; the text of a message is not counted, its RET is. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  'open the status buffer': ['M-x', 'h', 'i', 'v', 'e', 'Enter'],
  'see what six agents do': [],
  'read why one asks': ['a', 'Space'],
  'answer it': ['1'],
  'jump to one in tmux, and return with the keys of tmux': ['n', 'j', 'C-b', 'l'],
  'write to the one that works': ['w', 'TEXT', 'Enter'],
  'write to the idle one': ['M-n', 'n', 'w', 'TEXT', 'Enter'],
  'see that a loop was stopped': [],
  'mute it': ['M-<', 'n', 'a', 'm'],
};
const COUNTS: readonly (readonly [string, number])[] = Object.entries(KEYS).map(([step, keys]) => [
  step,
  keys.filter((key) => key !== 'TEXT').length,
]);

test('six agents, one buffer', async () => {
  const home = await openEmptyHome();
  const { folder, store } = home;
  const project = join(folder, 'shop');
  mkdirSync(join(project, '.git'), { recursive: true });
  writeFileSync(join(project, '.git/HEAD'), 'ref: refs/heads/main\n');

  // ---- The person: Emacs in one window of tmux, and a terminal that shows it. ----

  const trail = join(folder, 'selected');
  const note = `(lambda () (unless (minibufferp) (write-region (concat (buffer-name (window-buffer)) "\\n") nil ${lisp(trail)} t 0)))`;
  const emacs = await home.emacs(
    `(progn (setq hive-undo-seconds nil) (cd ${lisp(project)}) (add-hook 'post-command-hook ${note}))`,
    { columns: 120, lines: 36 },
  );
  const typeInTmux = await emacs.watch();
  /** The line of the cursor. */
  const line = async (): Promise<string> => {
    const [, row] = (await emacs.cursor()).split(',');
    return (await emacs.screen())[Number(row)] ?? '';
  };
  const at = (pattern: RegExp): Promise<void> =>
    eventually(async () => pattern.test(await line()), 20_000, `the cursor at ${pattern}`);
  let pressed = 0;
  async function press(...keys: string[]): Promise<void> {
    pressed += keys.length;
    await emacs.keys(...keys);
  }
  /** A key that counts only once what it is about was shown for a moment; a person waits for that, and presses it once. */
  async function once(key: string, before: RegExp): Promise<void> {
    pressed += 1;
    await emacs.answer(before, key);
  }

  // ---- The six agents. ----

  const transcripts = new Map<string, string>();
  /** Writes a line into the transcript of a session, as Claude Code does. */
  function transcript(session_id: string, entry: object): string {
    const path = transcripts.get(session_id) ?? join(folder, `${session_id}.jsonl`);
    transcripts.set(session_id, path);
    appendFileSync(path, `${JSON.stringify(entry)}\n`);
    return path;
  }
  const speak = (session_id: string, text: string): string =>
    transcript(session_id, {
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'text', text }] },
    });
  const named = (session_id: string, aiTitle: string): string =>
    transcript(session_id, { type: 'ai-title', aiTitle, sessionId: session_id });

  async function agent(session_id: string, title: string): Promise<Agent> {
    const transcript_path = named(session_id, title);
    const started = await startAgent(store, session_id, { env: { CLAUDE_PROJECT_DIR: project } });
    await started.hook('SessionStart', { source: 'startup', transcript_path, cwd: project });
    return started;
  }
  const prompted = { prompt: 'go on', cwd: project };
  const begin = (one: Agent): Promise<unknown> =>
    one.hook('UserPromptSubmit', { ...prompted, transcript_path: transcripts.get(one.session_id) });

  // The one in tmux is a client in another window of the same tmux.
  const socket = clientSocket();
  const pid = await emacs.openWindow('picker', [process.execPath, FAKE_CLIENT, socket]);
  await eventually(() => existsSync(socket), 20_000, 'the client in tmux');
  const inTmux = clientAt(store, socket, pid);
  const picker = {
    session_id: 'abc12-picker',
    prompt_id: 'prompt-1',
    cwd: project,
    transcript_path: named('abc12-picker', 'Date picker'),
  };
  await inTmux.hook({ ...picker, hook_event_name: 'SessionStart', source: 'startup' });
  await inTmux.hook({ ...picker, hook_event_name: 'UserPromptSubmit', prompt: 'go on' });
  const running = { tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: { command: 'npm test' } };
  await inTmux.hook({ ...picker, hook_event_name: 'PreToolUse', ...running });

  const checkout = await agent('bcd23-checkout', 'Checkout');
  await begin(checkout);
  speak(
    checkout.session_id,
    'The tests fail because the cache holds prices of last week. The prices come from the table of offers, which ' +
      'changes on Mondays. Removing it costs a slow first request.',
  );
  const { ask_id } = await checkout.use('hivemind_ask_async', {
    question: 'Remove the cache?',
    options: ['Remove it', 'Keep it'],
  });
  /** A call waits for 25 seconds, and the agent calls again. */
  async function answer(): Promise<{ status: string; decision: string }> {
    const polled = await checkout.use('hivemind_poll', { ask_id, wait_ms: 25_000 });
    return polled.status === 'pending' ? answer() : polled;
  }
  const answered = answer();

  const docs = await agent('cde34-docs', 'Write docs');
  await begin(docs);
  speak(docs.session_id, 'The page of prices is written.\nNothing is left.');
  const [left, right] = [await agent('def45-left', 'Reviewer'), await agent('efa56-right', 'Author')];
  await begin(left);
  await begin(right);
  await agent('fab67-spare', 'Spare');

  /** The mentions that an agent reads. */
  async function read(one: Agent): Promise<string> {
    return JSON.stringify(await one.use('hivemind_get_unprocessed_mentions'));
  }

  /** Every step leaves the status buffer selected. */
  const steps: [string, number][] = [];
  async function step(name: string, doIt: (keys: string[]) => Promise<void>): Promise<void> {
    pressed = 0;
    await doIt([...(KEYS[name] ?? [])]);
    steps.push([name, pressed]);
    await emacs.until(/^-.*\*hive\*/m);
  }

  // ---- What the person does. ----

  await step('open the status buffer', async () => {
    await press('M-x');
    await emacs.until(/^M-x/m);
    await press('h', 'i', 'v', 'e', 'Enter');
    await emacs.until(/▾ Needs you {2}1 question[\s\S]*▾ Working {2}5 agents/);
  });
  // It ends its turn while the person looks.
  await docs.hook('Stop', { transcript_path: transcripts.get(docs.session_id), cwd: project });
  const waiter = docs.waiter();
  await step('see what six agents do', async () => {
    const screen = (await emacs.until(/▾ Idle and done {2}2 agents \(1 unread\)/)).join('\n');
    expect(screen).toMatch(/▾ Needs you {2}1 question\n.*Checkout .*blocked for .*Remove the cache\?\n/);
    expect(screen).toMatch(/▾ Working {2}4 agents\n.*Date picker .* Bash\b.*\n/);
    expect(screen).toMatch(/\n.*Checkout .*It said: …/);
    expect(screen).toMatch(/\n • Write docs .* The page of prices is written\.\n/);
    expect(screen).toMatch(/\n {3}Spare /);
  });
  await at(/Checkout .*Remove the cache\?/);
  await step('read why one asks', async ([answer = '', all = '']) => {
    await press(answer);
    await emacs.until(/Remove the cache\?\n +It said: ….* slow first request\.\n/);
    await once(all, /^(?![\s\S]*The tests fail because)/);
  });
  await step('answer it', async ([option = '']) => {
    await once(option, /1 {2}Remove it[\s\S]*TAB skip/);
    expect(await answered).toMatchObject({ status: 'responded', decision: 'Remove it' });
    await emacs.until(/^(?![\s\S]*Needs you)/);
  });
  await step('jump to one in tmux, and return with the keys of tmux', async ([next = '', jump = '']) => {
    await press(next);
    await at(/Date picker/);
    await press(jump);
    await emacs.until(/^client ready$/m);
    typeInTmux('\x02l');
    pressed += 2;
    await emacs.until(/Date picker is in the tmux session 0/);
    await at(/Date picker/);
  });
  await step('write to the one that works', async ([write = '', , send = '']) => {
    await press(write);
    await emacs.until(/^Message to @Date picker .*: *$/m);
    await emacs.type('Keep the old picker.');
    await press(send);
    await emacs.until(/Date picker .*1 mention[\s\S]*▾ The room/);
    const { out } = await inTmux.hook({ ...picker, hook_event_name: 'PreToolUse', ...running });
    expect(out).toMatch(/Human mentioned you .*Keep the old picker\./);
  });
  await step('write to the idle one', async ([section = '', next = '', write = '', , send = '']) => {
    await press(section, next);
    await at(/Write docs/);
    await press(write);
    await emacs.until(/^Message to @Write docs .*: *$/m);
    await emacs.type('Please add the changelog.');
    await press(send);
    const woken = await waiter.ended;
    expect(woken.code).toBe(2);
    expect(woken.said).toMatch(/^Human mentioned you \[mention-/);
    // That is its next prompt, and it reads what is said there to be read.
    await docs.hook('UserPromptSubmit', { prompt: woken.said, cwd: project });
    expect(await read(docs)).toContain('Please add the changelog.');
  });
  for (let n = 0; n < 8; n += 1) {
    const [from, to] = n % 2 === 0 ? [left, right] : [right, left];
    await from.use('hivemind_post', { body: `@${to.handle} no, after you` });
  }
  await step('see that a loop was stopped', async () => {
    await emacs.until(/▾ Needs you.*\n.*Reviewer and Author .*keep replying to each other/);
  });
  await step('mute it', async ([section = '', next = '', decide = '', mute = '']) => {
    await press(section, next);
    await at(/Reviewer and Author/);
    await press(decide);
    await emacs.until(/\[m\] mute this pair/);
    await press(mute);
    await emacs.said(
      /Muted the pair Reviewer and Author: mentions of each other reach neither \(hive mentions allow \S+ \S+ ends that\)/,
    );
    await emacs.until(/^(?![\s\S]*keep replying)/);
  });

  console.log(steps.map(([name, count]) => `${String(count).padStart(3)}  ${name}`).join('\n'));
  expect(steps).toEqual(COUNTS);
  // Of each command since the first one that showed it, the selected buffer.
  const selected = readFileSync(trail, 'utf8').trim().split('\n');
  expect(new Set(selected.slice(selected.indexOf('*hive*')))).toEqual(new Set(['*hive*']));
});
