/** ADR 008, the shared buffer of several agents, requirement by requirement. */
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect } from 'vitest';
import { childEnvironment, ROOT } from '../support/children.ts';
import { type Desktop, startDesktop } from '../support/desktop.ts';
import { lisp } from '../support/emacs.ts';
import { startClient } from '../support/fake-client.ts';
import { openTestHive } from '../support/hive.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { join as introduceAs } from '../support/messages.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually, isBetween } from '../support/wait.ts';
import { type Agent, fireHook, type Loose, startAgent, told } from './support/agents.ts';
import { everyRequirementOf, requirement } from './support/requirement.ts';
import { clearMentions, post, startTeam, type Team, waiting } from './support/team.ts';

let team: Team;
let { store, abc, def, xyz, desk, emacs, human } = {} as Team;
let desktop: Desktop;
let shared: string;

beforeFile(async () => {
  team = await startTeam();
  ({ store, abc, def, xyz, desk, emacs, human } = team);
  shared = `*hive-shared: ${emacs.project}*`;
  desktop = closedAtEnd(await startDesktop());
});

beforeEach(() => clearMentions(team));

const sessionsOf = async (agent: Agent): Promise<Loose[]> => (await agent.use('hivemind_sessions')).sessions;
/** The message with this body, as a desk sees it, once it is stored. */
async function stored(body: string): Promise<Loose> {
  let found: Loose;
  await eventually(
    async () => {
      const { messages } = await desk.request('message/list', {
        query: body,
        directory: childEnvironment(store)['HOME'],
      });
      found = messages.find((message: Loose) => message.body === body);
      return found !== undefined;
    },
    10_000,
    body,
  );
  return found;
}
/** Opens the shared buffer in the only window. */
async function openHere(): Promise<void> {
  await emacs.evaluate("(setq hive-shared-position 'current)");
  await emacs.command('hive-shared');
}
/** Another program writes into the shared buffer of the Emacs. */
const insert = (text: string): Promise<string> =>
  emacs.evaluate(
    `(with-current-buffer ${lisp(shared)} (save-excursion (goto-char (point-max)) (insert ${lisp(text)})) nil)`,
  );
const block = (handle: string, body: string): string => `## 2026-01-11 18:00:00 ${handle}\n\n${body}\n`;

requirement(
  [
    '004-01 One agent writes, another one notices it',
    '004-04 A mention reaches an agent in the middle of its work',
  ],
  async () => {
    expect((await def.tries()).verdict).toBe('pass');
    await post(abc, '@Claude-def34 The login is done, please review src/auth/login.ts');
    const { verdict, text } = await def.tries();
    expect(verdict).toBe('deny');
    expect(text).toContain('please review src/auth/login.ts');
    expect(text).toContain('Claude-abc12');
  },
);

requirement(
  [
    '004-02 All agents write into one shared buffer',
    '004-26 A message is a record of its time, author, mentions and text',
  ],
  async () => {
    await post(abc, 'from the first of two');
    const { message_id, mentioned } = await post(def, '@Claude-abc12 from the second of two');
    expect(mentioned).toEqual(['Claude-abc12']);
    const { messages } = await xyz.use('hivemind_read', { limit: 2 });
    expect(messages.map(({ from, body }: Loose) => [from, body])).toEqual([
      ['Claude-abc12', 'from the first of two'],
      ['Claude-def34', '@Claude-abc12 from the second of two'],
    ]);
    expect(messages[1]).toMatchObject({ message_id, at: expect.any(String) });
    await emacs.calm();
    await openHere();
    await emacs.until(/from the first of two[\s\S]*from the second of two/);
  },
);

requirement(
  ['004-03 A mention calls one agent or all of them', '004-28 A name that nobody has mentions nobody'],
  async () => {
    expect((await post(abc, '@Claude-def34 you')).mentioned).toEqual(['Claude-def34']);
    expect((await post(abc, '@claude-DEF34 you again')).mentioned).toEqual(['Claude-def34']);
    const { mentioned } = await post(abc, '@all everybody');
    expect(mentioned).toEqual(expect.arrayContaining(['Claude-def34', 'Claude-xyz56']));
    expect(mentioned).not.toContain('Claude-abc12');
    expect(await post(abc, '@Claude-def35 and @Claude-99999')).toMatchObject({
      mentioned: [],
      unresolved: [
        { handle: 'Claude-def35', reason: 'unknown', near: expect.arrayContaining(['Claude-def34']) },
        { handle: 'Claude-99999', reason: 'unknown' },
      ],
    });
  },
);

requirement('004-05 A mention reaches an agent that idles', async () => {
  const ATTENDED = { CLAUDE_CODE_SESSION_ATTENDED: '1' };
  const idle = await startAgent(store, 'idle2-session', { env: ATTENDED });
  await idle.hook('SessionStart', { source: 'startup' });
  await idle.hook('UserPromptSubmit', { prompt: 'go' });
  await idle.hook('Stop', { stop_hook_active: false, background_tasks: [] });
  const waiter = idle.waiter();
  await post(abc, '@Claude-idle2 wake up, please');
  const { code, said } = await waiter.ended;
  expect(code).toBe(2);
  expect(said).toContain('hivemind_get_unprocessed_mentions');
  expect(said).not.toContain('wake up, please');
});

requirement(
  [
    '004-06 A message has a heading with its time and its author',
    '004-25 The file has a title',
    '004-23 The file begins with front matter',
    '004-24 The first lines say how to mention somebody',
  ],
  async () => {
    await post(abc, 'under a heading');
    const { out } = await human.hive('messages', '--format', 'shared');
    expect(out).toMatch(/^# Shared Buffer/m);
    expect(out).toMatch(/^## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d Claude-abc12\n\nunder a heading$/m);
    expect(out).toMatch(
      /^---\nhive: true\n(?:.*\n)*?type: shared\n(?:.*\n)*?created_at: \d{4}-\d\d-\d\dT.*\n(?:.*\n)*?---\n/,
    );
    const says = (text: string): string[] =>
      ['@Claude-', '@All', '@Human', '@reviewer'].filter((name) => text.slice(0, 700).includes(name));
    expect(says(out)).toEqual(['@Claude-', '@All', '@Human', '@reviewer']);
    await emacs.calm();
    await openHere();
    // The name that people call its author is behind it, and no part of the text.
    await emacs.until(/## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d Claude-abc12 {2}\(.+\)\n\nunder a heading/);
    expect(says(await emacs.text(shared))).toEqual(['@Claude-', '@All', '@Human', '@reviewer']);
  },
);

requirement(
  [
    '004-07 An agent is called by the first five characters of its session id',
    '004-14 Each registered session is found by its name',
  ],
  async () => {
    expect(abc.handle).toBe('Claude-abc12');
    const [one, other] = [await startAgent(store, 'same1-first'), await startAgent(store, 'same1-second')];
    expect(one.handle).toBe('Claude-same1');
    expect(other.handle).toMatch(/^Claude-same1\W?\w/);
    await post(abc, `@${one.handle} the first`);
    await post(abc, `@${other.handle} the second`);
    expect((await waiting(one)).map(({ body }) => body)).toEqual([`@${one.handle} the first`]);
    expect((await waiting(other)).map(({ body }) => body)).toEqual([`@${other.handle} the second`]);
  },
);

requirement('004-08 An agent without a session id has a name', async () => {
  const [one, other] = await Promise.all([startAgent(store, ''), startAgent(store, '')]);
  expect(one.handle).not.toBe(other.handle);
  expect(one.handle).not.toContain('unknown');
  expect((await post(abc, `@${one.handle} you without an id`)).mentioned).toEqual([one.handle]);
  expect(await waiting(one)).toHaveLength(1);
  expect(await waiting(other)).toEqual([]);
});

requirement(
  [
    '004-09 A mention is found wherever it is written in a message',
    '004-10 The author of a block is the one in its heading',
    '004-12 The time of a block is the one in its heading',
    '004-17 What is written into the buffer is noticed as it changes',
  ],
  async () => {
    await emacs.calm();
    await openHere();
    await emacs.until(/write below/);
    const before = new Date().toISOString();
    await insert(block('CI', 'The build is red.\n\nCould you look, @Claude-abc12?'));
    await eventually(async () => (await waiting(abc)).length === 1, 10_000, 'the mention');
    await insert(block('CI @Claude-def34', 'mentioned in the heading'));
    await eventually(async () => (await waiting(def)).length === 1, 10_000, 'the mention of the heading');
    await insert(block('CI', 'dated back'));
    const { at, as_stamp } = await stored('dated back');
    expect(as_stamp).toBe('2026-01-11 18:00:00');
    expect(isBetween(before, at, new Date().toISOString())).toBe(true);
    await insert(block('Claude-abc12', 'not written by that agent'));
    expect(await stored('not written by that agent')).toMatchObject({
      author: 'unverified',
      as_handle: 'Claude-abc12',
    });
    await abc.shell('post', '--as-heading', block('Claude-abc12', 'written by that agent'));
    expect(await stored('written by that agent')).toMatchObject({
      author: 'agent',
      from_handle: 'Claude-abc12',
    });
    const { out } = await human.hive('messages', '--query', 'not written by that agent', '--json');
    expect(JSON.parse(out).messages).toHaveLength(1);
  },
);

requirement('004-11 Nobody is notified of their own message', async () => {
  expect((await post(abc, '@All and @Claude-abc12, from me')).mentioned).not.toContain('Claude-abc12');
  await desk.request('mention/process', { session: 'Claude-def34', all: true, by: 'Ada' });
  await emacs.calm();
  await openHere();
  await emacs.until(/write below/);
  await insert(block('Claude-xyz56', '@All 全体的な進捗を確認したいです。'));
  await stored('@All 全体的な進捗を確認したいです。');
  const bodies = async (agent: Agent): Promise<string[]> => (await waiting(agent)).map(({ body }) => body);
  expect(await bodies(def)).toEqual(['@All 全体的な進捗を確認したいです。']);
  expect(await bodies(xyz)).not.toContain('@All 全体的な進捗を確認したいです。');
});

requirement('004-13 Sessions register themselves and leave again', async () => {
  const listed = async (...more: string[]): Promise<boolean> =>
    (await human.hive('sessions', ...more)).out.includes('Claude-guest');
  const session = { session_id: 'guest-session' };
  expect(await listed()).toBe(false);
  await fireHook(store, { ...session, hook_event_name: 'SessionStart', source: 'startup' });
  expect(await listed()).toBe(true);
  await fireHook(store, { ...session, hook_event_name: 'SessionEnd', reason: 'other' });
  expect(await listed()).toBe(false);
  expect(await listed('--ended')).toBe(true);
});

requirement('004-15 The human is notified of a mention, with its author and text', async () => {
  await emacs.calm();
  await post(abc, '@Human the build is done');
  await emacs.until(/hive 1@/);
  const title = await abc.title();
  await eventually(async () =>
    (await emacs.text('*Messages*')).includes(`${title} mentions you: @Human the build is done`),
  );
  await desktop.forget();
  const own = tempStore();
  await startSidecar(own, { env: desktop.env });
  const popping = await startAgent(own, 'popup-session');
  await post(popping, '@Human look here');
  await eventually(() => desktop.sent.length === 1, 8_000, 'a popup');
  expect(desktop.sent[0]).toMatchObject({
    title: expect.stringContaining(`${await popping.title()} mentions you`),
    body: expect.stringContaining('look here'),
  });
});

requirement('004-16 On request a mention shows the shared buffer', async () => {
  const isShown = async (): Promise<boolean> =>
    (await emacs.evaluate(`(and (get-buffer-window ${lisp(shared)} t) t)`)) === 't';
  await emacs.calm();
  await post(abc, '@Human nothing opens');
  await emacs.until(/hive 1@/);
  expect(await isShown()).toBe(false);
  await emacs.evaluate('(setq hive-shared-on-mention (quote right))');
  await post(abc, '@Human something opens');
  await eventually(isShown, 5_000, 'the shared buffer');
  await emacs.until(/something opens/);
  expect(await emacs.evaluate('(buffer-name (window-buffer))')).toBe('"notes.txt"');
  await emacs.evaluate('(setq hive-shared-on-mention nil)');
});

requirement(
  [
    '004-18 The shared buffer opens at the right, at the left or in the current window',
    '004-19 A command opens the shared buffer',
  ],
  async () => {
    const column = async (position?: string): Promise<[number, number]> => {
      await emacs.calm();
      if (position !== undefined) await emacs.evaluate(`(setq hive-shared-position '${position})`);
      await emacs.command('hive-shared');
      await eventually(
        async () => (await emacs.evaluate(`(and (get-buffer-window ${lisp(shared)}) t)`)) === 't',
      );
      const [left, windows] = await Promise.all([
        emacs.evaluate(`(window-left-column (get-buffer-window ${lisp(shared)}))`),
        emacs.evaluate('(length (window-list))'),
      ]);
      return [Number(left), Number(windows)];
    };
    await emacs.evaluate(
      "(setq split-width-threshold 80 hive-shared-position (eval (car (get 'hive-shared-position 'standard-value)) t))",
    );
    const [right, beside] = await column();
    expect(right).toBeGreaterThan(0);
    expect(beside).toBe(2);
    expect(await column('left')).toEqual([0, 2]);
    expect(await column('current')).toEqual([0, 1]);
    await emacs.until(/write below, C-c C-c posts/);
    expect(await emacs.evaluate('(buffer-name (window-buffer))')).toBe(`"${shared}"`);
    await emacs.evaluate('(progn (setq split-width-threshold 160) (delete-other-windows))');
  },
);

requirement('004-20 A command lists the sessions', async () => {
  await emacs.calm();
  await emacs.command('hive-sessions');
  await emacs.until(/Claude-abc12[\s\S]*Claude-def34|Claude-def34[\s\S]*Claude-abc12/);
  const { out } = await human.hive('sessions');
  expect(out).toContain('Claude-abc12');
  expect((await sessionsOf(abc)).map(({ handle }) => handle)).toEqual(
    expect.arrayContaining(['Claude-abc12', 'Claude-def34', 'Claude-xyz56']),
  );
});

requirement(['004-21 A command mentions one agent', '004-38 A session is picked from a list'], async () => {
  await emacs.calm();
  await emacs.command('hive-mention');
  await emacs.until(/Mention:/);
  await emacs.type('Claude-');
  await emacs.keys('Tab', 'Tab');
  const screen = (await emacs.until(/Possible completions|Completions/)).join('\n');
  for (const { handle } of [abc, def, xyz]) expect(screen).toContain(handle);
  await emacs.enter('abc12');
  await emacs.reply(/Message to @Claude-abc12 \(M-n: templates\):/, 'come here');
  await eventually(async () => (await waiting(abc)).length === 1, 5_000, 'the mention');
  expect(await waiting(abc)).toMatchObject([
    { from: 'Human', author: 'human', body: '@Claude-abc12 come here' },
  ]);
});

requirement('004-22 The buffer can be kept as a file with the date in its name', async () => {
  await post(abc, 'to be kept in a file');
  await emacs.calm();
  await openHere();
  await emacs.until(/to be kept in a file/);
  expect(await emacs.evaluate('(with-current-buffer (window-buffer) buffer-file-name)')).toBe('nil');
  const file = join(tempFolder(), 'from-emacs.md');
  await emacs.keys('C-c', 'C-s');
  await emacs.press(/Save messages to: .*shared-\d{8}\.md/, 'C-a', 'C-k');
  await emacs.enter(file);
  await eventually(() => existsSync(file) && readFileSync(file, 'utf8').includes('to be kept in a file'));
});

requirement('004-27 Mentions are found exactly', async () => {
  const bodies: [string, string[]][] = [
    ['mail to a@Allen and ada@Claude-def34.example', []],
    ['> @Claude-def34 said so', []],
    ['`@Claude-def34` in code', []],
    ['```\n@Claude-def34\n```', []],
    ['\\@Claude-def34 with a backslash', []],
    ['https://example.org/@Claude-def34', []],
    ['@Claude-def34、お願いします', ['Claude-def34']],
    ['(@Claude-def34)', ['Claude-def34']],
    ['@Claude-def34, @claude-def34!', ['Claude-def34']],
  ];
  for (const [body, found] of bodies)
    expect([body, (await post(abc, body)).mentioned]).toEqual([body, found]);
});

requirement('004-29 Several agents that write at once do not get into each other’s way', async () => {
  const { next_cursor: after } = await abc.use('hivemind_read');
  const writers = [abc, def, xyz];
  const sent = Array.from({ length: 40 }, (_, n) => `at once ${n}`);
  await Promise.all(sent.map((body, n) => post(writers[n % writers.length] ?? abc, body)));
  const read = async (agent: Agent): Promise<string[]> =>
    (await agent.use('hivemind_read', { after, limit: 100 })).messages.map(({ body }: Loose) => body);
  const order = await read(abc);
  expect(order.toSorted()).toEqual(sent.toSorted());
  expect(await read(def)).toEqual(order);
});

requirement('004-30 A chain of replies that gets too long is stopped', async () => {
  const ring = [abc, def, xyz];
  let last: Loose = await post(abc, '@Claude-def34 the first');
  const held: boolean[] = [];
  for (let n = 1; n <= 10; n += 1) {
    const [from, to] = [ring[n % 3] ?? abc, ring[(n + 1) % 3] ?? abc];
    last = await post(from, `@${to.handle} reply ${n}`, { reply_to: last.message_id });
    held.push(last.not_held.length === 0);
  }
  expect(held).toEqual([...Array(8).fill(true), false, false]);
  expect(last.next).toContain('replies');
});

requirement('004-31 Many messages in a short time raise an alarm', async () => {
  for (let n = 1; n <= 6; n += 1)
    expect(await post(abc, `@Claude-def34 number ${n}`)).toMatchObject({ not_held: [] });
  await waiting(def);
  await def.use('hivemind_process_mentions', { all: true });
  expect(await post(abc, '@Claude-def34 number 7')).toMatchObject({ not_held: ['Claude-def34'] });
  const { text } = await told(
    desk,
    'desk/notice',
    (notice) => notice.notice === 'loop_tripped' && /mentions of each other/.test(notice.text),
  );
  expect(text).toContain(await abc.title());
  expect(text).toContain(await def.title());
  expect((await def.tries()).verdict).toBe('pass');
});

requirement('004-32 The human can step in', async () => {
  await human.hive('mentions', 'mute', 'Claude-abc12', 'Claude-def34');
  expect(await post(abc, '@Claude-def34 do you hear me?')).toMatchObject({
    mentioned: [],
    unresolved: [{ handle: 'Claude-def34', reason: 'muted' }],
  });
  await human.hive('mentions', 'allow', 'Claude-abc12', 'Claude-def34');
  expect(await post(abc, '@Claude-def34 and now?')).toMatchObject({ mentioned: ['Claude-def34'] });
  expect((await def.tries()).verdict).toBe('deny');
});

requirement('004-33 Notifications can be looked up later', async () => {
  await post(abc, '@Claude-def34 look me up later');
  await waiting(def);
  await def.use('hivemind_process_mentions', { all: true });
  const words = ['mentions', '--session', 'Claude-def34', '--status', 'processed', '--limit', '1'];
  expect((await human.hive(...words)).out).toContain('look me up later');
});

requirement('004-34 Mentions stand out', async () => {
  await post(abc, 'one @Human and one @Claude-def34 stand out');
  await emacs.calm();
  await openHere();
  await emacs.until(/stand out/);
  const faceAt = (text: string): Promise<string> =>
    emacs.evaluate(
      `(with-current-buffer ${lisp(shared)} (save-excursion (goto-char (point-max)) (search-backward ${lisp(text)}) (get-text-property (1+ (point)) 'font-lock-face)))`,
    );
  expect(await faceAt('@Human and one')).toBe('hive-shared-mention-human');
  expect(await faceAt('@Claude-def34 stand')).toBe('hive-shared-mention');
  expect(await faceAt('and one')).toBe('nil');
});

requirement('004-35 A notification can make a sound', async () => {
  const folder = tempFolder();
  const [program, log] = [join(folder, 'notify-send'), join(folder, 'log')];
  writeFileSync(program, `#!/bin/sh\necho "$@" >> '${log}'\nexec /usr/bin/notify-send "$@"\n`);
  chmodSync(program, 0o755);
  const own = tempStore();
  const { PATH } = childEnvironment(own);
  const sidecar = await startSidecar(own, { env: { ...desktop.env, PATH: `${folder}:${PATH}` } });
  const agent = await startAgent(own, 'sound-session');
  const sent = (text: string): string | undefined =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .find((line) => line.includes(text))
      : undefined;
  await post(agent, '@Human silent');
  await eventually(() => sent('silent') !== undefined, 8_000, 'the first popup');
  await sidecar.request('desk/preferences', { sound: true });
  await post(agent, '@Human loud');
  await eventually(() => sent('loud') !== undefined, 8_000, 'the second popup');
  expect(sent('silent')).not.toContain('sound-name');
  expect(sent('loud')).toContain('sound-name');
});

requirement('004-36 Sessions that are gone are cleaned up', async () => {
  const ghost = await startClient(store);
  await ghost.hook({ session_id: 'ghost-session', hook_event_name: 'SessionStart', source: 'startup' });
  expect((await post(abc, '@Claude-ghost are you there?')).mentioned).toEqual(['Claude-ghost']);
  await ghost.end();
  // Each sidecar sweeps when it starts, and each minute.
  await startSidecar(store);
  await eventually(
    async () => !(await human.hive('sessions')).out.includes('Claude-ghost'),
    8_000,
    'the sweep',
  );
  expect((await post(abc, '@Claude-ghost and now?')).unresolved).toMatchObject([{ reason: 'ended' }]);
});

requirement('004-37 Names complete behind an @', async () => {
  await emacs.calm();
  await openHere();
  await emacs.press(/write below/, 'M->');
  await emacs.type('look @claude-d');
  await emacs.keys('Tab');
  await emacs.press(/look @Claude-def34/, 'C-c', 'C-k');
});

requirement('004-39 Use case: progress is shared without calling anybody', async () => {
  const { next_cursor: after } = await xyz.use('hivemind_read');
  const posted = await post(abc, '[進捗] バックエンド API の実装完了');
  expect(posted).toMatchObject({ mentioned: [], next: expect.stringContaining('mentions nobody') });
  expect((await def.tries()).verdict).toBe('pass');
  const { messages } = await xyz.use('hivemind_read', { after });
  expect(messages.map(({ body }: Loose) => body)).toEqual(['[進捗] バックエンド API の実装完了']);
});

requirement('004-40 Many sessions do not slow it down', async () => {
  const own = tempStore();
  const hive = await openTestHive(own);
  const agent = await startAgent(own, 'first-session');
  const [session] = await sessionsOf(agent);
  const place = { project: session.project, project_dir: childEnvironment(own)['HOME'] ?? '' };
  for (let n = 0; n < 200; n += 1) await introduceAs(hive, `${1000 + n}x-session`, place);
  // The bench measures its cost (100 mentions and more).
  const result = await post(agent, '@All how far are you?');
  expect(result.mentioned).toHaveLength(200);
  expect((await agent.tries()).verdict).toBe('pass');
});

requirement('004-41 There are a user guide, a reference of the interfaces and examples', async () => {
  const read = (page: string): string => readFileSync(join(ROOT, 'docs', page), 'utf8');
  const { tools } = await abc.client.listTools();
  const reference = read('internals/protocol.md');
  for (const { name } of tools) expect(reference).toContain(`### ${name}\n`);
  const commands = [...read('emacs-shared.md').matchAll(/M-x (hive-[a-z-]+)/g)].map(([, name]) => name);
  expect(commands).toContain('hive-shared');
  for (const name of new Set(commands))
    expect([name, await emacs.evaluate(`(commandp '${name})`)]).toEqual([name, 't']);
  expect(readdirSync(join(ROOT, 'examples')).length).toBeGreaterThan(0);
});

requirement('004-42 Future: several shared buffers, by project and by topic', async () => {
  await post(abc, 'about the release', { thread: 'release' });
  await post(abc, 'about something else');
  const { messages } = await def.use('hivemind_read', { thread: 'release' });
  expect(messages.map(({ body }: Loose) => body)).toEqual(['about the release']);
  const elsewhere = tempFolder();
  await desk.request('message/post', { body: 'in another project', by: 'Ada', directory: elsewhere });
  const here = await desk.request('message/list', {
    query: 'in another project',
    directory: childEnvironment(store)['HOME'],
  });
  const there = await desk.request('message/list', { query: 'in another project', directory: elsewhere });
  expect([here.messages.length, there.messages.length]).toEqual([0, 1]);
});

requirement('004-43 Future: agents are mentioned by their role', async () => {
  await desk.request('session/configure', { session_id: 'Claude-xyz56', roles: ['reviewer'] });
  expect((await post(abc, '@reviewer please')).mentioned).toEqual(['Claude-xyz56']);
  await desk.request('session/configure', { session_id: 'Claude-xyz56', roles: [] });
  expect((await post(abc, '@reviewer anybody?')).mentioned).toEqual([]);
});

requirement('004-44 Future: mentions have a priority', async () => {
  await post(abc, '@Claude-def34 whenever');
  await post(xyz, '@Claude-def34 at once', { priority: 'urgent' });
  expect((await waiting(def)).map(({ priority }) => priority ?? 'normal')).toEqual(['urgent', 'normal']);
  await human.hive('config', 'gate', 'remind');
  expect((await def.tries('Bash')).verdict).toBe('deny');
  await human.hive('config', 'gate', 'default');
});

requirement('004-45 Future: the mentioned agent decides whether it replies', async () => {
  await post(abc, '@Claude-def34 what do you think?', { expects_reply: true });
  const { next_cursor: after } = await abc.use('hivemind_read');
  expect(await waiting(def)).toMatchObject([{ expects_reply: true }]);
  await def.use('hivemind_process_mentions', { all: true, note: 'nothing to add' });
  expect((await def.tries()).verdict).toBe('pass');
  expect((await abc.use('hivemind_read', { after })).messages).toEqual([]);
});

requirement('004-46 Future: the history of the buffer can be searched and filtered', async () => {
  await post(abc, 'a needle in the hay');
  await post(def, 'another needle in the hay');
  const found = await xyz.use('hivemind_read', { query: 'needle', from: 'Claude-def34' });
  expect(found.messages.map(({ body }: Loose) => body)).toEqual(['another needle in the hay']);
  expect((await human.hive('history', 'needle')).out).toContain('a needle in the hay');
  expect((await human.hive('messages', '--query', 'another needle')).out).not.toContain(
    'a needle in the hay',
  );
});

requirement('004-47 It needs no WebSocket and no tmux', async () => {
  const own = tempStore();
  const bare = { PATH: join(process.execPath, '..') };
  const [sidecar, agent] = await Promise.all([
    startSidecar(own, { env: bare }),
    connectMcp({ store: own, env: { ...bare, HIVE_AGENT: 'bare' } }),
  ]);
  await agent.call('hivemind_post', { body: 'over the store alone' });
  await told(sidecar, 'message/posted', ({ body }) => body === 'over the store alone');
  expect(internetSockets(sidecar.child.pid)).toEqual([]);
  expect(internetSockets(agent.pid)).toEqual([]);
});

/** The inodes of a process's sockets that belong to TCP or UDP. */
function internetSockets(pid: number): string[] {
  const known = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/)[9] ?? ''),
  );
  const own = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
    return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
  });
  return own.filter((inode) => known.includes(inode));
}

everyRequirementOf('004', 47);
