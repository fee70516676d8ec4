/**
 * Popups on a real desktop, whatever they are about: shown once per seat, answered, subject to preferences, taken down in time.
 *
 * @module-tag one-winner
 * @module-tag silence
 * @module-tag popup
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { NO_DESK_MS } from '../../src/application/popups.ts';
import { popupOf, tellPrompt } from '../../src/domain/popups.ts';
import { DEFAULT_PREFERENCES } from '../../src/domain/preferences.ts';
import { NO_AUTHORITY } from '../../src/domain/trust.ts';
import { createDesktopNotifier } from '../../src/infrastructure/desktop/notifier.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import type { OpenedHive } from '../../src/open-hive.ts';
import { childEnvironment, type Environment } from '../support/children.ts';
import { type Desktop, startBareBus, useDesktop } from '../support/desktop.ts';
import { leasedAt, refreshLeases } from '../support/fake-notifier.ts';
import { ask, HUMAN, newHive, openTestHive, recordingLog } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { agent, creditsOf } from '../support/outreach.ts';
import { leased, recorded, type Trail, trail } from '../support/popup-trail.ts';
import { INITIALIZE, openDeskHere, type RpcClient, startSidecar } from '../support/sidecar.ts';
import { suspend } from '../support/suspend.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { clockPasses, eventually, textOf } from '../support/wait.ts';
import { expectGolden } from '../wire/golden.ts';

const BACKGROUND = { HIVE_AGENT: 'agent-1', HIVE_SOURCE: 'bg' };
const PREFERENCES = { ...DEFAULT_PREFERENCES, ...NO_AUTHORITY };

let desktop: Desktop;
useDesktop((started) => {
  desktop = started;
});

const shown = (count: number): Promise<void> =>
  eventually(() => desktop.sent.length === count, 6_000, `${count} popups`);
const onScreen = (count: number): Promise<void> =>
  eventually(async () => (await desktop.displayed()) === count, 3_000, `${count} popups on the screen`);

/** A desk in this process: for what does not end with a process. */
const openDesk = (store: string, env: Environment = desktop.env): Promise<RpcClient> =>
  openDeskHere(store, { env });

describe('with a desk and dunst', () => {
  it('a question pops up with its agent, project and buttons; a pressed button is the answer', async () => {
    const store = tempStore();
    await startSidecar(store, { env: desktop.env });
    const hive = await openTestHive(store);
    const { ask_id } = await ask(hive, { question: 'Which database?', options: ['SQLite', 'PostgreSQL'] });
    await shown(1);
    expect(desktop.sent[0]).toEqual({
      app: 'Hive',
      title: 'demo',
      body: 'Which database?',
      actions: ['0', 'SQLite', '1', 'PostgreSQL', 'default', 'Open'],
      urgency: 1,
      timeout: -1,
    });
    expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent', reason: null });
    await desktop.press('PostgreSQL');
    const [answered] = await hive.prompts.wait([ask_id], { wait_ms: 5_000 });
    expect(answered).toMatchObject({
      status: 'responded',
      decision: 'PostgreSQL',
      selected: ['PostgreSQL'],
      via: 'notification',
      by: INITIALIZE.human,
    });
  });

  it('a click on the body opens the prompt in that Emacs, and decides nothing', async () => {
    const store = tempStore();
    const sidecar = await openDesk(store);
    const hive = await openTestHive(store);
    const { ask_id } = await ask(hive);
    await onScreen(1);
    await desktop.clickBody();
    const { params } = await sidecar.seen((frame) => frame.method === 'desk/open_prompt');
    expect(params).toEqual({ ask_id });
    expectGolden('sidecar/desk/open_prompt', { notification: { method: 'desk/open_prompt', params } });
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
  });

  it('a popup is taken down when its prompt is answered elsewhere; closing one decides nothing', async () => {
    const store = tempStore();
    await openDesk(store);
    const hive = await openTestHive(store);
    const first = await ask(hive);
    await onScreen(1);
    await hive.prompts.respond({ ask_id: first.ask_id, decision: 'yes', actor: HUMAN });
    await onScreen(0);
    const second = await ask(hive, { question: 'And now?' });
    await onScreen(1);
    await desktop.forget();
    await onScreen(0);
    // The next one is shown by the same process, so that process has handled the closing of this one.
    await ask(hive, { question: 'And then?' });
    await onScreen(1);
    expect(await hive.prompts.get(second.ask_id)).toMatchObject({ status: 'pending' });
  });

  // popup-engine.test.ts shows that the focused desk goes first: by a time only, which a busy machine may take from it.
  it('two desks and an agent of one seat show a question and a ping exactly once', async () => {
    const store = tempStore();
    const [one, two] = await Promise.all([
      startSidecar(store, { env: desktop.env }),
      startSidecar(store, { env: desktop.env }),
    ]);
    const agent = await connectMcp({ store, env: { ...BACKGROUND, ...desktop.env } });
    await two.request('desk/preferences', { notify_when: 'always' });
    await two.request('desk/focus', { focused: true });
    const hive = await openTestHive(store);
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Once?' });
    const { outcome, claimed_by } = await recorded(hive, String(ask_id));
    expect(outcome).toBe('sent');
    expect([one.hello.desk_id, two.hello.desk_id]).toContain(claimed_by);
    expect(one.hello.desk_id).not.toBe(two.hello.desk_id);
    await agent.call('hivemind_ping_user', { message: '<b>Deployed</b> & well.', critical: true });
    await shown(2);
    // The time of the agent's process has come, and it did not show them as well.
    await clockPasses(NO_DESK_MS);
    await recorded(hive, (await ask(hive, { question: 'And now?' })).ask_id);
    expect(await trail(hive, String(ask_id))).toHaveLength(1);
    await agent.call('hivemind_send_card', { title: 'Later' });
    await shown(4);
    const bodies = ['Once?', '&lt;b&gt;Deployed&lt;/b&gt; &amp; well.', 'And now?', 'Later\nbg'];
    expect(desktop.sent.map(({ body }) => body)).toEqual(bodies);
    expect(desktop.sent[1]).toMatchObject({
      title: expect.stringMatching(/^\[bg\] agent-1 · /),
      actions: ['default', 'Close'],
      urgency: 2,
    });
  });

  it('a storm becomes one popup with its count, and is taken down with its last prompt', async () => {
    const store = tempStore();
    await openDesk(store);
    const hive = await openTestHive(store);
    const asked = await Promise.all(
      Array.from({ length: 12 }, (_, n) => ask(hive, { question: `Question ${n}?` })),
    );
    for (const { ask_id } of asked) expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
    const title = '12 questions wait for you';
    await eventually(() => desktop.sent.at(-1)?.title === title, 6_000, 'the popup of all twelve');
    expect(desktop.sent.at(-1)).toMatchObject({ title, body: '12 from demo' });
    const [last, ...others] = asked;
    for (const { ask_id } of others) await hive.prompts.cancel(ask_id, HUMAN, 'human');
    await onScreen(1);
    await hive.prompts.cancel(last?.ask_id ?? '', HUMAN, 'human');
    await onScreen(0);
  });

  it('hostile text is shown as text, and disables nothing', async () => {
    const store = tempStore();
    await openDesk(store);
    const hive = await openTestHive(store);
    const hostile = [
      '--urgency=critical\u0000<b>bold</b> & $(touch /tmp/owned) `id` \u202eevil\u202c',
      `-${'é'.repeat(7_999)}`,
      String.raw`C:\new '\74span alpha="1%"\76' \342\200\256 end\\`,
    ];
    for (const question of hostile) {
      const { ask_id } = await ask(hive, { question, options: ['-x=<y>', 'a\nb'] });
      expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
    }
    await shown(3);
    expect(desktop.sent[0]).toMatchObject({
      body: ' --urgency=critical\uFFFD&lt;b&gt;bold&lt;/b&gt; &amp; $(touch /tmp/owned) `id` &lt;U+202E&gt;evil&lt;U+202C&gt;',
      actions: ['0', '-x=<y>', '1', 'a b', 'default', 'Open'],
      urgency: 1,
    });
    expect(Buffer.byteLength(desktop.sent[1]?.body ?? '')).toBeLessThanOrEqual(1_025);
    expect(desktop.sent[2]?.body).toBe(hostile[2]);
    expect(existsSync('/tmp/owned')).toBe(false);
  });

  it('a popup disappears with its process, also when that is killed', async () => {
    const { store, hive } = await newHive();
    const ended = await startSidecar(store, { env: desktop.env });
    await ask(hive);
    await onScreen(1);
    await ended.end();
    await onScreen(0);
    const killed = await startSidecar(store, { env: desktop.env });
    await ask(hive, { question: 'Again?' });
    await onScreen(1);
    await killed.child.kill('SIGKILL');
    await onScreen(0);
  });
});

it("without a desk an agent's own process shows a question and a ping after two seconds, takes no answer, and follows your preferences", async () => {
  const { store, hive } = await newHive();
  await hive.desks.setPreferences(thisSeat(), { muted_projects: ['demo'] });
  const agent = await connectMcp({ store, env: { ...BACKGROUND, ...desktop.env } });
  // By another process, as a hook or a script would: any live process of the seat may show it.
  const muted = await ask(hive);
  const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Go?', options: ['yes', 'no'] });
  const { outreach_id } = await agent.call('hivemind_ping_user', { message: 'Deployed.' });
  await shown(2);
  const { created_at } = await hive.prompts.get(String(ask_id));
  // Times in the store have no fraction of a millisecond, and a timer may fire one early.
  expect(leasedAt(store, String(ask_id)) - Date.parse(created_at)).toBeGreaterThanOrEqual(NO_DESK_MS - 2);
  for (const { actions, title } of desktop.sent) {
    expect(actions).toEqual(['default', 'Close']);
    expect(title).toMatch(/^\[bg\] /);
  }
  expect(desktop.sent.map(({ body }) => body).sort()).toEqual(['Deployed.', 'Go?']);
  const ping = async () => hive.outreach.find(String(outreach_id));
  await eventually(async () => (await ping())?.status === 'shown', 3_000, 'the ping to be shown');
  expect(await ping()).toMatchObject({ shown_via: 'notification' });
  expect(await creditsOf(hive)).toBe(119);
  await desktop.clickBody();
  expect(await agent.call('hivemind_poll', { ask_id })).toMatchObject({ status: 'pending' });
  expect(await recorded(hive, String(ask_id))).toMatchObject({ outcome: 'sent' });
  expect(await recorded(hive, muted.ask_id)).toMatchObject({
    outcome: 'suppressed',
    reason: 'muted_project',
  });
});

describe('the preferences of the human', () => {
  it('apply to the desk: the event log has what was suppressed and why; critical ones are shown', async () => {
    const store = tempStore();
    const desk = await openDesk(store);
    const hive = await openTestHive(store);
    const { preferences } = await desk.request('desk/preferences', { do_not_disturb: true });
    expect(preferences).toMatchObject({ do_not_disturb: true, notify_when: 'unfocused' });
    const low = await ask(hive, { urgency: 'low' });
    expect(await recorded(hive, low.ask_id)).toMatchObject({ outcome: 'suppressed', reason: 'low_urgency' });
    const normal = await ask(hive);
    expect(await recorded(hive, normal.ask_id)).toMatchObject({
      outcome: 'suppressed',
      reason: 'do_not_disturb',
    });
    const critical = await ask(hive, { urgency: 'critical' });
    expect(await recorded(hive, critical.ask_id)).toMatchObject({ outcome: 'sent' });
    await shown(1);
    expect(desktop.sent[0]?.urgency).toBe(2);
    await desk.request('desk/preferences', { do_not_disturb: null });
    await desk.request('desk/focus', { focused: true });
    const seen = await ask(hive);
    expect(await recorded(hive, seen.ask_id)).toMatchObject({ outcome: 'suppressed', reason: 'focused' });
  });

  it('give a permission buttons only when turned on', async () => {
    const store = tempStore();
    const desk = await openDesk(store);
    const hive = await openTestHive(store);
    const first = await ask(hive, { kind: 'permission', options: ['allow', 'deny'] });
    await shown(1);
    expect(desktop.sent[0]?.actions).toEqual(['default', 'Open']);
    expect(desktop.sent[0]?.title).toBe('demo asks permission');
    await hive.prompts.cancel(first.ask_id, HUMAN, 'human');
    await desk.request('desk/preferences', { popup_permissions: true });
    const second = await ask(hive, { kind: 'permission', options: ['allow', 'deny'] });
    await shown(2);
    await onScreen(1);
    await desktop.press('deny');
    const [answered] = await hive.prompts.wait([second.ask_id], { wait_ms: 5_000 });
    expect(answered).toMatchObject({ decision: 'deny', via: 'notification' });
  });

  it('pass each notification to a program of their own, as JSON on its stdin', async () => {
    const store = tempStore();
    const file = join(tempFolder(), 'told.json');
    await openDesk(store, {
      ...desktop.env,
      ...trusting({ notify_command: `cat > '${file}.part' && mv '${file}.part' '${file}'` }),
    });
    const hive = await openTestHive(store);
    const { ask_id } = await ask(hive, { question: "It's $(id)?", options: ['a'] });
    expect(JSON.parse(await textOf(file))).toMatchObject({
      type: 'prompt',
      title: 'demo',
      count: 1,
      prompts: [{ ask_id, question: "It's $(id)?", options: ['a'], project: 'demo' }],
    });
    await shown(1);
  });
});

describe('when nothing can be shown', () => {
  describe('the event log says so, and the prompt is not affected', () => {
    // node-notifier starts what is on the PATH of its process: then that of a sidecar.
    const sidecar = (store: string, env: Environment) => startSidecar(store, { env });

    async function failing(
      env: Environment,
      open: (store: string, env: Environment) => Promise<unknown> = openDesk,
    ): Promise<Trail> {
      const store = tempStore();
      await open(store, env);
      const hive = await openTestHive(store);
      const { ask_id } = await ask(hive);
      const line = await recorded(hive, ask_id);
      const { outcome } = await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
      expect(outcome).toBe('accepted');
      return line;
    }

    it('no bus', async () => {
      expect(await failing({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' })).toMatchObject({
        outcome: 'failed',
        reason: expect.stringMatching(/connect/i),
      });
      expect(await failing({ DBUS_SESSION_BUS_ADDRESS: 'disabled:' })).toMatchObject({
        outcome: 'failed',
        reason: expect.stringContaining('no D-Bus session bus'),
      });
    });

    it('no daemon', async () => {
      const bus = await startBareBus();
      try {
        expect(await failing(bus.env, sidecar)).toMatchObject({
          outcome: 'failed',
          // On a busy machine it is ended before it says what it misses.
          reason: expect.stringMatching(
            /^notify-send: .*org\.freedesktop\.Notifications|^The notification program did not end/,
          ),
        });
      } finally {
        await bus.close();
      }
    });

    it('no notify-send', async () => {
      const line = await failing({ ...desktop.env, PATH: pathWith('dbus-send') }, sidecar);
      expect(line).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/notify-send/) });
    });

    it('a program of their own that fails or never ends', async () => {
      const line = await failing({
        DBUS_SESSION_BUS_ADDRESS: 'disabled:',
        ...trusting({ notify_command: 'echo no >&2; exit 3' }),
      });
      expect(line.outcome).toBe('failed');
      const store = tempStore();
      const env = { DBUS_SESSION_BUS_ADDRESS: 'disabled:', ...trusting({ notify_command: 'sleep 600' }) };
      const sidecar = await startSidecar(store, { env });
      const hive = await openTestHive(store);
      await leased(hive, (await ask(hive)).ask_id, thisSeat());
      expect(await sidecar.end()).toMatchObject({ code: 0 });
    });

    it('a server that does not report its capabilities gets a plain popup, through node-notifier', async () => {
      const store = tempStore();
      await startSidecar(store, { env: { ...desktop.env, PATH: pathWith('notify-send', 'sh') } });
      const hive = await openTestHive(store);
      const question = '-a <b> $(id) "quoted" `x` \\74b\\76 \\n';
      const { ask_id } = await ask(hive, { question, options: ['yes'], urgency: 'critical' });
      expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
      await eventually(() => desktop.sent.length === 1, 6_000);
      expect(desktop.sent[0]).toMatchObject({
        app: 'Hive',
        title: 'demo',
        body: ' -a &lt;b&gt; $(id) "quoted" `x` \\74b\\76 \\n',
        actions: [],
        urgency: 2,
        timeout: 0,
      });
    });
  });

  describe('a notification server that does not answer', () => {
    /** A PATH with these shell scripts before everything else. */
    function pathWithScripts(scripts: Record<string, string>): string {
      const folder = join(tempFolder(), 'bin');
      mkdirSync(folder);
      for (const [name, text] of Object.entries(scripts))
        writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      return `${folder}:${process.env['PATH']}`;
    }
    const onePopup = async (hive: OpenedHive) =>
      popupOf('prompt', [tellPrompt(await ask(hive), PREFERENCES)], PREFERENCES, true);
    const NO_REPLY = 'echo "Error org.freedesktop.DBus.Error.NoReply: Did not receive a reply." >&2; exit 1';

    it('gets no popup, which it would show whenever it goes on', async () => {
      const trace = join(tempFolder(), 'started');
      const PATH = pathWithScripts({ 'dbus-send': NO_REPLY, 'notify-send': `: > '${trace}'` });
      const env = childEnvironment('', { ...desktop.env, PATH });
      const notifier = closedAtEnd(createDesktopNotifier({ env, log: recordingLog() }));
      const popup = await onePopup(await openTestHive());
      await expect(notifier.show(popup)).rejects.toThrow('does not answer');
      expect(existsSync(trace)).toBe(false);
      expect(await notifier.reachable(null)).toBe(false);
    });

    it('is asked again for the next popup', async () => {
      const first = join(tempFolder(), 'first');
      const PATH = pathWithScripts({
        'dbus-send': `[ -e '${first}' ] && exec /usr/bin/dbus-send "$@"; : > '${first}'; ${NO_REPLY}`,
      });
      const env = childEnvironment('', { ...desktop.env, PATH });
      const notifier = closedAtEnd(createDesktopNotifier({ env, log: recordingLog() }));
      const popup = await onePopup(await openTestHive());
      await expect(notifier.show(popup)).rejects.toThrow('does not answer');
      await notifier.show(popup);
      await onScreen(1);
    });

    it('leaves no helper: one that hangs is ended with what it has started', async () => {
      const pids = join(tempFolder(), 'pids');
      const PATH = pathWithScripts({
        'dbus-send': 'exit 1',
        'notify-send': `echo $$ > '${pids}'; exec sleep 600`,
      });
      // node-notifier starts what it finds on our own PATH.
      const before = process.env['PATH'];
      process.env['PATH'] = PATH;
      onTestFinished(() => {
        process.env['PATH'] = before;
      });
      const env = childEnvironment('', { ...desktop.env, PATH });
      const notifier = closedAtEnd(createDesktopNotifier({ env, log: recordingLog() }));
      const popup = await onePopup(await openTestHive());
      await expect(notifier.show(popup)).rejects.toThrow('and was ended');
      const pid = Number(readFileSync(pids, 'utf8'));
      await eventually(() => !existsSync(`/proc/${pid}`), 5_000, 'the end of the helper');
    });

    it('what was settled while it was asked never pops up', async () => {
      const gate = join(tempFolder(), 'gate');
      const asked = join(tempFolder(), 'asked');
      const PATH = pathWithScripts({
        'dbus-send': `: > '${asked}'; while [ ! -e '${gate}' ]; do sleep 0.05; done; exec /usr/bin/dbus-send "$@"`,
      });
      const store = tempStore();
      await openDesk(store, { ...desktop.env, PATH });
      const hive = await openTestHive(store);
      const { ask_id } = await ask(hive);
      await eventually(() => existsSync(asked), 10_000, 'the question to the server');
      await hive.prompts.respond({ ask_id, decision: 'yes', actor: HUMAN });
      const next = await ask(hive, { question: 'And this?' });
      // The sidecar has read both events then: they come in their order.
      await leased(hive, next.ask_id, thisSeat());
      writeFileSync(gate, '');
      await eventually(() => desktop.sent.length > 0, 10_000);
      expect(desktop.sent.map(({ body }) => body)).toEqual(['And this?']);
      expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'suppressed', reason: 'settled' });
      expect(await recorded(hive, next.ask_id)).toMatchObject({ outcome: 'sent' });
    });
  });

  it('a process that ends shows nothing more, because nothing would take it down', async () => {
    const notifier = createDesktopNotifier({ env: childEnvironment('', desktop.env), log: recordingLog() });
    const hive = await openTestHive();
    const popup = popupOf('prompt', [tellPrompt(await ask(hive), PREFERENCES)], PREFERENCES, true);
    const late = expect(notifier.show(popup)).rejects.toThrow(/has ended/);
    await notifier.close();
    await late;
    await expect(notifier.show(popup)).rejects.toThrow(/has ended/);
    // A process that started later has shown its first popup.
    const other = closedAtEnd(
      createDesktopNotifier({ env: childEnvironment('', desktop.env), log: recordingLog() }),
    );
    await other.show({ ...popup, body: 'Of the other.' });
    await eventually(() => desktop.sent.length > 0);
    expect(desktop.sent.map(({ body }) => body)).toEqual(['Of the other.']);
  });

  /** A PATH with these programs and Node, and no other. */
  function pathWith(...programs: string[]): string {
    const folder = join(tempFolder(), 'bin');
    mkdirSync(folder);
    for (const program of programs) symlinkSync(join('/usr/bin', program), join(folder, program));
    return `${folder}:${dirname(process.execPath)}`;
  }
});

describe('several real processes of one seat', () => {
  /** Waits until exactly one popup is on the screen, with this text. */
  const onScreen = (title: string): Promise<void> =>
    eventually(
      async () => desktop.sent.at(-1)?.title === title && (await desktop.displayed()) === 1,
      15_000,
      title,
    );

  it('a storm is one popup with all of them; it grows, and outlives the process that held it', async () => {
    const { store, hive } = await newHive();
    const one = await startSidecar(store, { env: desktop.env });
    const first = [await ask(hive, { question: '1?' }), await ask(hive, { question: '2?' })];
    for (const { ask_id } of first) await recorded(hive, ask_id);
    const two = await startSidecar(store, { env: desktop.env });
    // With the focus it goes first, so that both have shown part of the storm.
    await two.request('desk/preferences', { notify_when: 'always' });
    await two.request('desk/focus', { focused: true });
    await connectMcp({ store, env: { HIVE_AGENT: 'agent-1', ...desktop.env } });
    refreshLeases(store);
    const [third] = await Promise.all(['3?', '4?'].map((question) => ask(hive, { question })));
    await onScreen('4 questions wait for you');
    refreshLeases(store);
    await ask(hive, { question: '5?' });
    await onScreen('5 questions wait for you');
    const { claimed_by } = await recorded(hive, third?.ask_id ?? '');
    const holder = [one, two].find(({ hello }) => hello.desk_id === claimed_by);
    refreshLeases(store);
    await ask(hive, { question: '6?' });
    await onScreen('6 questions wait for you');
    await holder?.child.kill('SIGKILL');
    await eventually(async () => (await desktop.displayed()) === 0, 5_000);
    refreshLeases(store);
    await ask(hive, { question: '7?' });
    await onScreen('7 questions wait for you');
  });

  it('a process without the variable for the bus finds it in the folder of its user', async () => {
    const { store, hive } = await newHive();
    const folder = tempFolder();
    const socket = /unix:path=([^,]+)/.exec(desktop.env['DBUS_SESSION_BUS_ADDRESS'] ?? '')?.[1] ?? '';
    symlinkSync(socket, join(folder, 'bus'));
    await openDesk(store, { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: folder });
    const { ask_id } = await ask(hive, { question: 'Where?' });
    expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent', reason: null });
    await onScreen('demo');
  });
});

describe('pings and cards', () => {
  const shown = (count: number): Promise<void> =>
    eventually(() => desktop.sent.length === count, 6_000, `${count} popups`);

  test('with no desk, what you turned popups off for is kept, costs nothing, and the agent is told why', async () => {
    const store = tempStore();
    const desk = await startSidecar(store, { env: desktop.env });
    await desk.request('desk/preferences', { notify_when: 'never' });
    await desk.end();
    const hive = await openTestHive(store);
    const caller = await connectMcp({ store, env: { ...BACKGROUND, ...desktop.env } });
    const sent = await caller.call('hivemind_ping_user', { message: 'Deployed.' });
    expect(sent).toMatchObject({
      status: 'unseen',
      next: expect.stringContaining('your human has turned popups off'),
    });
    expect(await creditsOf(hive)).toBeNull();
    expect(await hive.outreach.find(String(sent['outreach_id']))).toMatchObject({ reason: 'notify_never' });
    expect(desktop.sent).toEqual([]);
  });

  test('a card shows its footer; one with buttons is the popup of its prompt, without a second one', async () => {
    const store = tempStore();
    await openDesk(store);
    const hive = await openTestHive(store);
    const fork = await agent(hive, 'fork-1', 'fork');
    await hive.outreach.card({ title: 'Build', description: 'All green.' }, fork);
    await shown(1);
    expect(desktop.sent[0]).toMatchObject({ title: '[fork] demo', body: 'Build\nAll green.\nfork' });
    const card = await hive.outreach.card(
      {
        title: 'Deploy?',
        description: 'Build 7 is <green>.',
        fields: [{ name: 'Took', value: '3 s' }],
        actions: [{ label: 'Now' }],
      },
      fork,
    );
    await shown(2);
    expect(desktop.sent[1]).toMatchObject({
      title: '[fork] demo · card',
      body: 'Deploy?\nBuild 7 is &lt;green&gt;.\nTook: 3 s\nfork',
      actions: ['0', 'Now', 'default', 'Open'],
    });
    await desktop.press('Now');
    const [answered] = await hive.prompts.wait([card.ask_id ?? ''], { wait_ms: 5_000 });
    expect(answered).toMatchObject({ status: 'responded', decision: 'Now', via: 'notification' });
    expect(desktop.sent).toHaveLength(2);
  });

  test('twenty cards at once are one popup with all of them, and one document for a program of your own', async () => {
    const store = tempStore();
    const file = join(tempFolder(), 'told.jsonl');
    const sidecar = await startSidecar(store, {
      env: { ...desktop.env, ...trusting({ notify_command: `cat >> '${file}'` }) },
    });
    const hive = await openTestHive(store);
    const main = await agent(hive, 'main-1', 'main');
    // However long it takes to store them, they arrive together.
    await suspend(sidecar.child.pid, store);
    for (let n = 0; n < 20; n += 1) await hive.outreach.card({ title: `card ${n}` }, main);
    process.kill(sidecar.child.pid, 'SIGCONT');
    await eventually(
      async () =>
        desktop.sent.at(-1)?.title === '20 messages from agents' && (await desktop.displayed()) === 1,
      15_000,
      'one popup for all of them',
    );
    const told = () =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
    await textOf(file);
    await eventually(() => told().length === desktop.sent.length);
    expect(told()).toContainEqual(
      expect.objectContaining({ type: 'outreach', title: '20 messages from agents', count: 20, prompts: [] }),
    );
  });
});
