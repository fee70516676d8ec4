/** Source Indicators + Bg Fork Stop Guard, requirement by requirement. */
import { expect } from 'vitest';
import { type Shell, shell } from '../support/cli.ts';
import { type Desktop, startDesktop } from '../support/desktop.ts';
import { openTestHive } from '../support/hive.ts';
import { beforeFile, whenFinished } from '../support/lifetime.ts';
import { creditsOf } from '../support/outreach.ts';
import { isTold, type Sidecar, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';
import { type Agent, fireHook, type Loose, startAgent } from './support/agents.ts';
import { type Editor, startEditor } from './support/editor.ts';
import { requirement } from './support/requirement.ts';

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
  desktop = await startDesktop();
  whenFinished(() => desktop.close());
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

requirement(
  {
    id: '003-01',
    title: 'Every session has a source: main, background or fork.',
    source: '_source() returns "main", "bg", or "fork"',
    lives: ['`hivemind_sessions`', '`session/list`', '`hive sessions`', 'docs/sources.md'],
    verdict: 'works',
  },
  async () => {
    const bg = await background();
    const { sessions } = await main.use('hivemind_sessions');
    const source = (handle: string): string => sessions.find((one: Loose) => one.handle === handle)?.source;
    expect([source(main.handle), source(bg.handle), source(fork.handle)]).toEqual(['main', 'bg', 'fork']);
  },
);

requirement(
  {
    id: '003-02',
    title: 'Background wins over fork.',
    source: 'in_bg_fork() is asked before in_interactive_fork()',
    lives: ['SessionStart hook', '`HIVE_SOURCE`', 'docs/sources.md'],
    verdict: 'works',
  },
  async () => {
    const start = (session_id: string, env: Record<string, string>): Promise<Loose> =>
      fireHook(store, { session_id, hook_event_name: 'SessionStart', source: 'fork' }, env);
    await start('forked-bg', { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli', CLAUDE_CODE_SESSION_ATTENDED: '0' });
    await start('forked-only', { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_CODE_SESSION_ATTENDED: '1' });
    const { sessions } = await desk.request('session/list', {});
    const source = (id: string): string => sessions.find((one: Loose) => one.session_id === id)?.source;
    expect([source('forked-bg'), source('forked-only')]).toEqual(['bg', 'fork']);
  },
);

requirement(
  [
    {
      id: '003-03',
      title: 'A tool pings the human.',
      source: 'ping_user',
      lives: ['`hivemind_ping_user`'],
      verdict: 'neutral',
      because: 'All tools of Hive begin with `hivemind_`.',
    },
    {
      id: '003-07',
      title: 'The agent reads that its message was sent.',
      source: '"Message sent."',
      lives: ['`hivemind_ping_user` (`status`, `next`)'],
      verdict: 'neutral',
      because:
        'The result is structured: `status: "sent"`, and in `next` what the agent is to do before it stops.',
    },
  ],
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

requirement(
  [
    {
      id: '003-04',
      title: 'A main session cannot ping.',
      source: 'test_ping_user_blocked_on_main: "only available in background forks"',
      lives: ['`hivemind_ping_user`'],
      verdict: 'works',
    },
    {
      id: '003-05',
      title: 'Nor can an interactive fork.',
      source: 'test_ping_user_blocked_on_interactive_fork',
      lives: ['`hivemind_ping_user`'],
      verdict: 'works',
    },
  ],
  async () => {
    expect(await refusal(ping(main))).toMatch(/only available in background sessions.*main session/);
    expect(await refusal(ping(fork))).toMatch(/only available in background sessions.*fork/);
  },
);

requirement(
  {
    id: '003-06',
    title: 'A ping of a background session is labelled so.',
    source: '"[bg] check your tasks"',
    lives: ['Emacs’ echo area', 'the title of its popup'],
    verdict: 'works',
  },
  async () => {
    const bg = await background();
    await emacs.calm();
    await ping(bg);
    await emacs.announces(new RegExp(`\\[bg\\] ${await bg.title()}: check your tasks`));
    const popping = await poppingUp();
    await ping(popping);
    expect(await popup()).toMatchObject({
      title: expect.stringContaining(`[bg] ${await popping.title()}`),
      body: 'check your tasks',
    });
  },
);

requirement(
  {
    id: '003-08',
    title: 'Where nobody can see a ping, the agent reads that at once.',
    source: '"Error: no active channel"',
    lives: ['`hivemind_ping_user` (`status`, `next`)', 'Stop hook'],
    verdict: 'better',
    because:
      'It is no error: the ping is kept and shown to the human when they are back. It costs nothing, and no report is owed for it.',
  },
  async () => {
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
  },
);

requirement(
  {
    id: '003-09',
    title: 'A background session pings and sends cards as it likes.',
    source: 'no limit in ping_user and discord_embed',
    lives: ['`hivemind_ping_user`', '`hivemind_send_card`', 'docs/outreach.md'],
    verdict: 'better',
    because:
      'Work that is honest meets no limit; a loop that runs away is stopped by a budget that all background sessions share.',
  },
  async () => {
    const own = tempStore();
    await startSidecar(own);
    const bg = await background(own);
    const shown = [await ping(bg), await card(bg), await ping(bg), await card(bg, 'More')];
    expect(shown.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent', 'sent']);
    let refused = '';
    for (let count = shown.length; refused === '' && count < 130; count += 1)
      refused = await ping(bg, `Number ${count}`).then(() => '', String);
    expect(refused).toMatch(/budget/);
  },
);

requirement(
  {
    id: '003-10',
    title: 'What a background session may show can be set.',
    source: '(no settings in the source: a refinement of the limits above)',
    lives: ['`hive config`', '`M-x hive-settings`', '`desk/preferences`', 'docs/outreach.md'],
    verdict: 'works',
  },
  async () => {
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
  },
);

requirement(
  [
    {
      id: '003-12',
      title: 'A card has a title, a description, a color, fields and buttons.',
      source: 'EmbedConfig(title, description, color, fields, buttons)',
      lives: ['`hivemind_send_card`'],
      verdict: 'works',
    },
    {
      id: '003-11',
      title: 'A tool sends the human a card.',
      source: 'discord_embed',
      lives: ['`hivemind_send_card`', '`M-x hive-outreach`'],
      verdict: 'neutral',
      because: 'It is called a card, because it is shown in Emacs and not on Discord.',
    },
    {
      id: '003-13',
      title: 'A card without a color has a default.',
      source: 'color=args.get("color", "blue")',
      lives: ['`hivemind_send_card` (`color`)', '`M-x hive-outreach`'],
      verdict: 'neutral',
      because: 'Its title is plain bold: blue says "for information", and only the agent can know that.',
    },
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

requirement(
  {
    id: '003-14',
    title: 'Colors have names.',
    source: 'EmbedConfig.color: blue, green, red, yellow',
    lives: ['`hivemind_send_card` (`color`)'],
    verdict: 'works',
  },
  async () => {
    for (const color of ['blue', 'green', 'red', 'yellow'])
      expect((await card(main, `In ${color}`, { color })).status).toBe('sent');
    expect(await refusal(card(main, 'In purple', { color: 'purple' }))).toMatch(/blue.*green.*yellow|color/s);
  },
);

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
    {
      id: '003-15',
      title: 'A card of a background session has the footer bg.',
      source: 'test_embed_footer_bg_fork',
      lives: ['`hivemind_send_card` (`footer`)', '`M-x hive-outreach`', 'the popup of a card'],
      verdict: 'works',
    },
    {
      id: '003-16',
      title: 'A card of an interactive fork has the footer fork.',
      source: 'test_embed_footer_interactive_fork',
      lives: ['`hivemind_send_card` (`footer`)', '`M-x hive-outreach`', 'the popup of a card'],
      verdict: 'works',
    },
  ],
  async () => {
    await footers('bg');
    await footers('fork');
  },
);

requirement(
  {
    id: '003-17',
    title: 'A card of a main session has no footer.',
    source: 'test_embed_no_footer_on_main',
    lives: ['`hivemind_send_card` (`footer`)', '`M-x hive-outreach`', 'the popup of a card'],
    verdict: 'works',
  },
  async () => {
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
  },
);

requirement(
  [
    {
      id: '003-18',
      title: 'A button of a card answers it.',
      source: 'view = build_view(config.buttons)',
      lives: ['the popup of a card', '`M-x hive-outreach`', '`hivemind_poll`'],
      verdict: 'works',
    },
    {
      id: '003-19',
      title: 'The popup of a card with buttons shows its text.',
      source: 'channel.send(embed=embed, view=view)',
      lives: ['the popup of a card'],
      verdict: 'works',
    },
  ],
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

requirement(
  {
    id: '003-20',
    title: 'A tool reports to the main session.',
    source: 'report_updates',
    lives: ['`hivemind_report_updates`'],
    verdict: 'works',
  },
  async () => {
    expect((await report(await background())).status).toBe('sent');
    expect((await report(fork)).status).toBe('sent');
    expect(await refusal(report(main))).toMatch(/main session/);
  },
);

requirement(
  {
    id: '003-21',
    title: 'What was reported reaches the main session.',
    source: 'bridge your findings to the main session',
    lives: ['SessionStart hook', 'UserPromptSubmit hook', 'PostToolUse hook'],
    verdict: 'works',
  },
  async () => {
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
  },
);

const HELD = {
  hookSpecificOutput: {
    hookEventName: 'Stop',
    additionalContext: expect.stringContaining('hivemind_report_updates'),
  },
};

requirement(
  [
    {
      id: '003-22',
      title: 'After a ping a background session owes a report.',
      source: 'test_bg_output_flag_set_on_ping',
      lives: ['Stop hook'],
      verdict: 'works',
    },
    {
      id: '003-23',
      title: 'After a card it owes one, too.',
      source: '_bg_output_sent_var.set(True) in discord_embed',
      lives: ['Stop hook'],
      verdict: 'works',
    },
    {
      id: '003-24',
      title: 'A report settles what was owed.',
      source: 'test_bg_output_flag_cleared_on_report',
      lives: ['`hivemind_report_updates`', 'Stop hook'],
      verdict: 'works',
    },
    {
      id: '003-28',
      title: 'A background session with output that it has not reported is held, and reads what to call.',
      source: 'test_stop_hook_blocks_stop_in_bg_with_unreported_output',
      lives: ['Stop hook'],
      verdict: 'works',
    },
    {
      id: '003-29',
      title: 'The Stop hook answers in the form that holds the session.',
      source: '{"systemMessage": …}, continue_ to be verified',
      lives: ['Stop hook'],
      verdict: 'better',
      because:
        'The document’s form holds nothing: Claude Code shows a systemMessage to the human and stops. Additional context of the Stop holds it, and its terminal reports no problem.',
    },
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
    {
      id: '003-25',
      title: 'A main session may stop.',
      source: 'test_stop_hook_allows_stop_on_main',
      lives: ['Stop hook'],
      verdict: 'works',
    },
    {
      id: '003-26',
      title: 'A background session that has shown nothing may stop.',
      source: 'test_stop_hook_allows_stop_in_bg_no_output',
      lives: ['Stop hook'],
      verdict: 'works',
    },
    {
      id: '003-27',
      title: 'An interactive fork may stop.',
      source: 'require_report_hook: not in_bg_fork()',
      lives: ['Stop hook'],
      verdict: 'works',
    },
  ],
  async () => {
    await card(main, 'Shown by main');
    await card(fork, 'Shown by a fork');
    for (const agent of [main, fork, await background()]) expect(await stop(agent)).toEqual({});
  },
);

requirement(
  {
    id: '003-30',
    title: 'A background session cannot stop without its report.',
    source: 'prevent bg forks from stopping without calling report_updates',
    lives: ['Stop hook', '`desk/notice`'],
    verdict: 'better',
    because:
      'It is held three times and then let go, with a notice to the human that names what was not reported: an agent that does not understand is not held for ever.',
  },
  async () => {
    const bg = await background();
    await ping(bg, 'Nobody will report this.');
    for (let count = 0; count < 3; count += 1) expect(await stop(bg)).toEqual(HELD);
    expect(await stop(bg)).toEqual({});
    const title = await bg.title();
    // The titles of other sessions may begin with this one's.
    const said = `${title} stopped with unreported output although it was held 3 times: `;
    await desk.seen(isTold('desk/notice', ({ text }) => text.includes(said)));
  },
);

requirement(
  {
    id: '003-31',
    title: 'A reminder after a tool call can take the place of holding.',
    source: 'fallback: PostToolUse hook … additionalContext reminding the agent (soft nudge)',
    lives: ['`report_policy: remind`', 'PostToolUse hook'],
    verdict: 'works',
  },
  async () => {
    const bg = await background();
    await desk.request('session/configure', { session_id: bg.session_id, report_policy: 'remind' });
    await ping(bg);
    const tool = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1', tool_response: {} };
    const { hookSpecificOutput } = await bg.hook('PostToolUse', tool);
    expect(hookSpecificOutput.additionalContext).toContain('hivemind_report_updates');
    expect(await stop(bg)).toEqual({});
  },
);

requirement(
  {
    id: '003-32',
    title: 'What one session owes is no other session’s business.',
    source: 'ContextVar per fork',
    lives: ['Stop hook'],
    verdict: 'better',
    because:
      'It is kept in the store for each session, so it also survives the process: a restarted agent still owes its report.',
  },
  async () => {
    const [talks, silent] = [await background(), await background()];
    await ping(talks);
    expect([await stop(silent), await stop(talks)]).toEqual([{}, HELD]);
    await talks.crash();
    const again = await startAgent(store, talks.session_id, { env: { HIVE_SOURCE: 'bg' } });
    expect(await stop(again)).toEqual(HELD);
  },
);

requirement(
  {
    id: '003-33',
    title: 'All of it together: a background session pings, sends a card, reports and stops.',
    source: 'Task 4: Verify Stop hook behavior end-to-end',
    lives: ['`hivemind_ping_user`', '`hivemind_send_card`', '`hivemind_report_updates`', 'Stop hook'],
    verdict: 'works',
  },
  async () => {
    const bg = await background();
    await bg.hook('UserPromptSubmit', { prompt: 'look after the build' });
    await emacs.calm();
    await ping(bg, 'The build is red.');
    await emacs.announces(new RegExp(`\\[bg\\] ${await bg.title()}: The build is red\\.`));
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
