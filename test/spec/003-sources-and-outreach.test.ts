/** Source Indicators + Bg Fork Stop Guard, requirement by requirement. */
import { expect } from 'vitest';
import { type Shell, shell } from '../support/cli.ts';
import { type Desktop, startDesktop } from '../support/desktop.ts';
import { openTestHive } from '../support/hive.ts';
import { beforeFile, closedAtEnd } from '../support/lifetime.ts';
import { creditsOf } from '../support/outreach.ts';
import { isTold, type Sidecar, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { type Agent, fireHook, type Loose, startAgent } from './support/agents.ts';
import { type Editor, startEditor } from './support/editor.ts';
import { everyRequirementOf, requirement } from './support/requirement.ts';

let store: string;
let emacs: Editor;
let main: Agent;
let fork: Agent;
let desk: Sidecar;
let human: Shell;
let desktop: Desktop;

const MAIN = 'main1-session';

beforeFile(async () => {
  emacs = await startEditor();
  store = emacs.store;
  human = shell(store);
  desktop = closedAtEnd(await startDesktop());
  [main, fork, desk] = await Promise.all([
    startAgent(store, MAIN),
    startAgent(store, 'fork1-session', { env: { HIVE_SOURCE: 'fork' } }),
    startSidecar(store),
  ]);
});

let agents = 0;

/** A session in the background that owes nothing yet; the main session is behind it. */
async function background(place: string = store, source = 'bg'): Promise<Agent> {
  agents += 1;
  const env = { HIVE_SOURCE: source, HIVE_PARENT: MAIN };
  return startAgent(place, `${source}${String(agents).padStart(3, '0')}-session`, { env });
}

/** The same on a separate store whose desk shows popups: several popups in a row would become one. */
async function poppingUp(source = 'bg'): Promise<Agent> {
  await desktop.forget();
  const own = tempStore();
  await startSidecar(own, { env: desktop.env });
  return background(own, source);
}

const popup = async (): Promise<Loose> => {
  await eventually(() => desktop.sent.length > 0, 6_000, 'a popup');
  return desktop.sent[0];
};

const ping = (agent: Agent, message = 'check your tasks', more: object = {}): Promise<Loose> =>
  agent.use('hivemind_ping_user', { message, ...more });
const card = (agent: Agent, title = 'Tasks', more: object = {}): Promise<Loose> =>
  agent.use('hivemind_send_card', { title, ...more });
const report = (agent: Agent, message = 'summary'): Promise<Loose> =>
  agent.use('hivemind_report_updates', { message });
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'It was not refused.',
    (error: unknown) => String(error),
  );
const stop = (agent: Agent): Promise<Loose> =>
  agent.hook('Stop', { stop_hook_active: false, background_tasks: [] });

/** The text of `M-x hive-outreach`, once this card is there. */
async function cardsInEmacs(title: string): Promise<string> {
  await emacs.calm();
  await emacs.command('hive-outreach');
  const shows = `(and (get-buffer "*hive outreach*") (with-current-buffer "*hive outreach*" (save-excursion (goto-char (point-min)) (and (search-forward "${title}" nil t) t))))`;
  await eventually(async () => (await emacs.evaluate(shows)) === 't', 10_000, title);
  return emacs.text('*hive outreach*');
}

requirement('003-01 Every session has a source: main, background or fork', async () => {
  const bg = await background();
  const { sessions } = await main.use('hivemind_sessions');
  const source = (handle: string): string => sessions.find((one: Loose) => one.handle === handle)?.source;
  expect([source(main.handle), source(bg.handle), source(fork.handle)]).toEqual(['main', 'bg', 'fork']);
});

requirement('003-02 Background wins over fork', async () => {
  const start = (session_id: string, env: Record<string, string>): Promise<Loose> =>
    fireHook(store, { session_id, hook_event_name: 'SessionStart', source: 'fork' }, env);
  await start('forked-bg', { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli', CLAUDE_CODE_SESSION_ATTENDED: '0' });
  await start('forked-only', { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' });
  const { sessions } = await desk.request('session/list', {});
  const source = (id: string): string => sessions.find((one: Loose) => one.session_id === id)?.source;
  expect([source('forked-bg'), source('forked-only')]).toEqual(['bg', 'fork']);
});

requirement(
  ['003-03 A tool pings the human', '003-07 The agent reads that its message was sent'],
  async () => {
    const { outreach_id, status, source, next } = await ping(await background());
    expect({ status, source }).toEqual({ status: 'sent', source: 'bg' });
    expect(next).toMatch(/^Sent\. .*hivemind_report_updates/);
    const { params } = await desk.seen(
      isTold('outreach/received', (item) => item.outreach_id === outreach_id),
    );
    expect(params).toMatchObject({ kind: 'ping', message: 'check your tasks', source: 'bg' });
  },
);

requirement(['003-04 A main session cannot ping', '003-05 Nor can an interactive fork'], async () => {
  expect(await refusal(ping(main))).toMatch(/only available in background sessions.*main session/);
  expect(await refusal(ping(fork))).toMatch(/only available in background sessions.*fork/);
});

requirement('003-06 A ping of a background session is labelled so', async () => {
  const bg = await background();
  await emacs.calm();
  await ping(bg);
  await emacs.said(new RegExp(`\\[bg\\] ${await bg.title()}: check your tasks`));
  const popping = await poppingUp();
  await ping(popping);
  expect(await popup()).toMatchObject({
    title: expect.stringContaining(`[bg] ${await popping.title()}`),
    body: 'check your tasks',
  });
});

requirement('003-08 Where nobody can see a ping, the agent reads that at once', async () => {
  const empty = tempStore();
  const bg = await background(empty);
  const sent = await ping(bg);
  expect(sent.status).toBe('unseen');
  expect(sent.next).toMatch(/^Nobody is there to see this ping/);
  expect(await stop(bg)).toEqual({});
  const hive = await openTestHive(empty);
  expect(await creditsOf(hive)).toBeNull();
  const back = await startSidecar(empty);
  await back.seen(isTold('outreach/received', ({ outreach_id }) => outreach_id === sent.outreach_id));
});

requirement('003-09 A background session pings and sends cards as it likes', async () => {
  const own = tempStore();
  await startSidecar(own);
  const bg = await background(own);
  const shown = [await ping(bg), await card(bg), await ping(bg), await card(bg, 'More')];
  expect(shown.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent', 'sent']);
  let refused = '';
  for (let count = shown.length; refused === '' && count < 130; count += 1)
    refused = await ping(bg, `Number ${count}`).then(() => '', String);
  expect(refused).toMatch(/budget/);
});

requirement('003-10 What a background session may show can be set', async () => {
  const { settings } = (await human.hive('config', '--json')).json();
  const keys = settings.map(({ key }: Loose) => key);
  for (const key of ['allow_ping', 'report_policy']) {
    expect(keys).toContain(key);
    expect(await emacs.evaluate(`(and (assq '${key} hive-attention-settings) t)`)).toBe('t');
  }
  await emacs.evaluate("(hive-settings 'allow_ping nil)");
  await eventually(async () => (await human.hive('config', 'allow_ping')).out === 'no\n');
  try {
    expect(await refusal(card(await background()))).toContain('allow_ping');
  } finally {
    await human.hive('config', 'allow_ping', 'default');
  }
});

requirement(
  [
    '003-12 A card has a title, a description, a color, fields and buttons',
    '003-11 A tool sends the human a card',
    '003-13 A card without a color has a default',
  ],
  async () => {
    const { outreach_id, ask_id, status } = await card(main, 'Deploy', {
      description: 'All green.',
      color: 'green',
      fields: [{ name: 'Failed', value: '0', inline: true }],
      buttons: [{ label: 'ok', ask: 'Deploy it?' }],
    });
    expect(status).toBe('sent');
    const received = async (id: string): Promise<Loose> =>
      (await desk.seen(isTold('outreach/received', (item) => item.outreach_id === id))).params;
    expect(await received(outreach_id)).toMatchObject({
      kind: 'card',
      title: 'Deploy',
      description: 'All green.',
      color: 'green',
      fields: [{ name: 'Failed', value: '0', inline: true }],
      actions: [{ label: 'ok', ask: 'Deploy it?' }],
      ask_id,
    });
    const { prompt } = await desk.request('prompt/get', { ask_id });
    expect(prompt.options.map(({ label }: Loose) => label)).toEqual(['ok']);
    const colorless = await card(main, 'Colorless');
    expect((await received(colorless.outreach_id)).color).toBeNull();
  },
);

requirement('003-14 Colors have names', async () => {
  for (const color of ['blue', 'green', 'red', 'yellow'])
    expect((await card(main, `In ${color}`, { color })).status).toBe('sent');
  expect(await refusal(card(main, 'In purple', { color: 'purple' }))).toMatch(/blue.*green.*yellow|color/s);
});

/** A card of this source as its result, Emacs and its popups show it. */
async function footers(source: 'bg' | 'fork'): Promise<void> {
  const title = `A card of ${source}`;
  const sent = await card(await background(store, source), title, { description: 'All green.' });
  expect(sent).toMatchObject({ source, footer: source });
  expect(await cardsInEmacs(title)).toMatch(new RegExp(`${title}\\n {2}All green\\.\\n {2}${source}\\n`));
  for (const actions of [[], [{ label: 'ok' }]]) {
    await card(await poppingUp(source), title, { description: 'All green.', actions });
    const { title: line, body } = await popup();
    expect(line).toMatch(new RegExp(`^\\[${source}\\] `));
    expect(body).toMatch(new RegExp(`\\n${source}$`, 'm'));
  }
}

requirement(
  [
    '003-15 A card of a background session has the footer bg',
    '003-16 A card of an interactive fork has the footer fork',
  ],
  async () => {
    await footers('bg');
    await footers('fork');
  },
);

requirement('003-17 A card of a main session has no footer', async () => {
  const title = 'A card without a footer';
  expect((await card(main, title, { description: 'All green.' })).footer ?? null).toBeNull();
  expect(await cardsInEmacs(title)).not.toMatch(
    new RegExp(`${title}\\n {2}All green\\.\\n {2}(main|bg|fork)\\n`),
  );
  const popping = await poppingUp('main');
  await card(popping, title, { description: 'All green.' });
  const { title: line, body } = await popup();
  expect(line.startsWith(await popping.title())).toBe(true);
  expect(body).not.toMatch(/\n(main|bg|fork)$/m);
});

requirement(
  ['003-18 A button of a card answers it', '003-19 The popup of a card with buttons shows its text'],
  async () => {
    const bg = await poppingUp();
    const { ask_id } = await card(bg, 'Deploy', {
      description: 'All 40 tests pass.',
      actions: [{ label: 'ok' }, { label: 'later' }],
    });
    const { body, actions } = await popup();
    expect(body).toContain('Deploy');
    expect(body).toContain('All 40 tests pass.');
    expect(actions.join()).toContain('ok');
    await desktop.press('ok');
    expect(await bg.use('hivemind_poll', { ask_id, wait_ms: 10_000 })).toMatchObject({
      status: 'responded',
      decision: 'ok',
    });
  },
);

requirement('003-20 A tool reports to the main session', async () => {
  expect((await report(await background())).status).toBe('sent');
  expect((await report(fork)).status).toBe('sent');
  expect(await refusal(report(main))).toMatch(/main session/);
});

requirement('003-21 What was reported reaches the main session', async () => {
  const says = async (prompt_id: string): Promise<string> => {
    const { hookSpecificOutput } = await main.hook('UserPromptSubmit', { prompt: 'go on', prompt_id });
    return hookSpecificOutput?.additionalContext ?? '';
  };
  // Reports of earlier tests are read first.
  while ((await says('prompt-before')) !== '') await main.hook('Stop', { prompt_id: 'prompt-before' });
  const bg = await background();
  const { outreach_id } = await report(bg, 'The cache was stale.');
  const read = await says('prompt-report');
  expect(read).toContain(`Report from ${bg.handle} (bg)`);
  expect(read).toContain('The cache was stale.');
  await main.hook('Stop', { prompt_id: 'prompt-report' });
  const { outreach } = await desk.request('outreach/list', { kind: 'report' });
  expect(outreach.find((one: Loose) => one.outreach_id === outreach_id).status).toBe('delivered');
  expect(await says('prompt-after')).not.toContain('The cache was stale.');
});

const HELD = {
  hookSpecificOutput: {
    hookEventName: 'Stop',
    additionalContext: expect.stringContaining('hivemind_report_updates'),
  },
};

requirement(
  [
    '003-22 After a ping a background session owes a report',
    '003-23 After a card it owes one, too',
    '003-24 A report settles what was owed',
    '003-28 A background session with output that it has not reported is held, and reads what to call',
    '003-29 The Stop hook answers in the form that holds the session',
  ],
  async () => {
    const bg = await background();
    await ping(bg, 'The build is red.');
    const printed = await stop(bg);
    expect(printed).toEqual(HELD);
    expect(printed.hookSpecificOutput.additionalContext).toMatch(
      /ping "The build is red\."[\s\S]*hivemind_report_updates \{"message"/,
    );
    await report(bg);
    expect(await stop(bg)).toEqual({});
    await card(bg);
    expect(await stop(bg)).toEqual(HELD);
  },
);

requirement(
  [
    '003-25 A main session may stop',
    '003-26 A background session that has shown nothing may stop',
    '003-27 An interactive fork may stop',
  ],
  async () => {
    await card(main, 'Shown by main');
    await card(fork, 'Shown by a fork');
    for (const agent of [main, fork, await background()]) expect(await stop(agent)).toEqual({});
  },
);

requirement('003-30 A background session cannot stop without its report', async () => {
  const bg = await background();
  await ping(bg, 'Nobody will report this.');
  for (let count = 0; count < 3; count += 1) expect(await stop(bg)).toEqual(HELD);
  expect(await stop(bg)).toEqual({});
  const title = await bg.title();
  // The titles of other sessions may begin with this one's.
  const said = `${title} stopped with unreported output although it was held 3 times: `;
  await desk.seen(isTold('desk/notice', ({ text }) => text.includes(said)));
});

requirement('003-31 A reminder after a tool call can take the place of holding', async () => {
  const bg = await background();
  await desk.request('session/configure', { session_id: bg.session_id, report_policy: 'remind' });
  await ping(bg);
  const tool = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1', tool_response: {} };
  const { hookSpecificOutput } = await bg.hook('PostToolUse', tool);
  expect(hookSpecificOutput.additionalContext).toContain('hivemind_report_updates');
  expect(await stop(bg)).toEqual({});
});

requirement('003-32 What one session owes is no other session’s business', async () => {
  const [talks, silent] = [await background(), await background()];
  await ping(talks);
  expect([await stop(silent), await stop(talks)]).toEqual([{}, HELD]);
  await talks.crash();
  const again = await startAgent(store, talks.session_id, { env: { HIVE_SOURCE: 'bg' } });
  expect(await stop(again)).toEqual(HELD);
});

requirement(
  '003-33 All of it together: a background session pings, sends a card, reports and stops',
  async () => {
    const bg = await background();
    await bg.hook('UserPromptSubmit', { prompt: 'look after the build' });
    await emacs.calm();
    await ping(bg, 'The build is red.');
    await emacs.said(new RegExp(`\\[bg\\] ${await bg.title()}: The build is red\\.`));
    expect((await card(bg, 'Build', { color: 'red' })).footer).toBe('bg');
    expect(await stop(bg)).toEqual(HELD);
    await report(bg, 'The build is red: a test of dates fails in winter.');
    expect(await stop(bg)).toEqual({});
    const { hookSpecificOutput } = await main.hook('UserPromptSubmit', {
      prompt: 'what is new?',
      prompt_id: 'prompt-news',
    });
    expect(hookSpecificOutput.additionalContext).toContain('a test of dates fails in winter');
    expect(await refusal(ping(main))).toContain('only available in background sessions');
  },
);

everyRequirementOf('003', 33);
