/** Questions on a real desktop, one for all of them: shown once a seat, answered, as the human wishes, gone in time. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { type Desktop, useDesktop } from '../support/desktop.ts';
import { ask, HUMAN, openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { recorded, trail } from '../support/popup-trail.ts';
import { INITIALIZE, startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually, sleep } from '../support/wait.ts';
import { expectGolden } from '../wire/golden.ts';

let desktop: Desktop;
useDesktop((started) => {
  desktop = started;
});

const shown = (count: number): Promise<void> =>
  eventually(() => desktop.sent.length === count, 6_000, `${count} popups`);
const onScreen = (count: number): Promise<void> =>
  eventually(async () => (await desktop.displayed()) === count, 3_000, `${count} popups on the screen`);

describe('with a desk and dunst', () => {
  it('a question pops up with its agent, project and buttons; a pressed button is the answer', async () => {
    const store = tempStore();
    await startSidecar(store, { env: desktop.env });
    const hive = await openTestHive(store);
    const { ask_id } = await ask(hive, { question: 'Which database?', options: ['SQLite', 'PostgreSQL'] });
    await shown(1);
    expect(desktop.sent[0]).toEqual({
      app: 'Hive',
      title: 'Claude-sessi · demo',
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
    const sidecar = await startSidecar(store, { env: desktop.env });
    const hive = await openTestHive(store);
    const { ask_id } = await ask(hive);
    await onScreen(1);
    await desktop.clickBody();
    const { params } = await sidecar.seen((frame) => frame.method === 'desk/open_prompt');
    expect(params).toEqual({ ask_id });
    expectGolden('sidecar/desk/open_prompt', { notification: { method: 'desk/open_prompt', params } });
    expect(await hive.prompts.get(ask_id)).toMatchObject({ status: 'pending' });
  });

  it('a popup goes when its prompt is answered elsewhere; closing one decides nothing', async () => {
    const store = tempStore();
    await startSidecar(store, { env: desktop.env });
    const hive = await openTestHive(store);
    const first = await ask(hive);
    await onScreen(1);
    await hive.prompts.respond({ ask_id: first.ask_id, decision: 'yes', actor: HUMAN });
    await onScreen(0);
    const second = await ask(hive, { question: 'And now?' });
    await onScreen(1);
    await desktop.forget();
    await onScreen(0);
    await sleep(100);
    expect(await hive.prompts.get(second.ask_id)).toMatchObject({ status: 'pending' });
  });

  it('two desks and an agent of one seat show it exactly once, the focused desk first', async () => {
    const store = tempStore();
    const [one, two] = await Promise.all([
      startSidecar(store, { env: desktop.env }),
      startSidecar(store, { env: desktop.env }),
    ]);
    const agent = await connectMcp({ store, env: { HIVE_AGENT: 'agent-1', ...desktop.env } });
    await two.request('desk/focus', { focused: true });
    const hive = await openTestHive(store);
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Once?' });
    expect(await recorded(hive, String(ask_id))).toMatchObject({
      outcome: 'sent',
      claimed_by: two.hello.desk_id,
    });
    await sleep(2_300);
    expect(await trail(hive, String(ask_id))).toHaveLength(1);
    expect(desktop.sent).toHaveLength(1);
    expect(one.hello.desk_id).not.toBe(two.hello.desk_id);
  });

  it('a storm becomes one popup with its count, and goes with its last prompt', async () => {
    const store = tempStore();
    await startSidecar(store, { env: desktop.env });
    const hive = await openTestHive(store);
    const asked = await Promise.all(
      Array.from({ length: 12 }, (_, n) => ask(hive, { question: `Question ${n}?` })),
    );
    for (const { ask_id } of asked) expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
    const title = '12 questions wait for you';
    await eventually(() => desktop.sent.at(-1)?.title === title, 6_000, 'the popup of all twelve');
    expect(desktop.sent.at(-1)).toMatchObject({
      title,
      body: '12 from Claude-sessi · demo',
    });
    const [last, ...others] = asked;
    for (const { ask_id } of others) await hive.prompts.cancel(ask_id, HUMAN, 'human');
    await onScreen(1);
    await hive.prompts.cancel(last?.ask_id ?? '', HUMAN, 'human');
    await onScreen(0);
  });

  it('hostile text is shown as text, and disables nothing', async () => {
    const store = tempStore();
    await startSidecar(store, { env: desktop.env });
    const hive = await openTestHive(store);
    const hostile = [
      '--urgency=critical\u0000<b>bold</b> & $(touch /tmp/owned) `id` \u202eevil\u202c',
      `-${'é'.repeat(7_999)}`,
    ];
    for (const question of hostile) {
      const { ask_id } = await ask(hive, { question, options: ['-x=<y>', 'a\nb'] });
      expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
    }
    await shown(2);
    expect(desktop.sent[0]).toMatchObject({
      body: ' --urgency=critical\uFFFD&lt;b&gt;bold&lt;/b&gt; &amp; $(touch /tmp/owned) `id` &lt;U+202E&gt;evil&lt;U+202C&gt;',
      actions: ['0', '-x=<y>', '1', 'a b', 'default', 'Open'],
      urgency: 1,
    });
    expect(Buffer.byteLength(desktop.sent[1]?.body ?? '')).toBeLessThanOrEqual(1_025);
    expect(existsSync('/tmp/owned')).toBe(false);
  });

  it('a popup goes with its process, also when that is killed', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
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

describe('without a desk', () => {
  it("an agent's own process shows it after two seconds, and takes no answer", async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    const agent = await connectMcp({
      store,
      env: { HIVE_AGENT: 'agent-1', HIVE_SOURCE: 'bg', ...desktop.env },
    });
    const { ask_id } = await agent.call('hivemind_ask_async', { question: 'Go?', options: ['yes', 'no'] });
    await sleep(1_500);
    expect(desktop.sent).toEqual([]);
    await shown(1);
    expect(desktop.sent[0]).toMatchObject({ actions: ['default', 'Close'] });
    expect(desktop.sent[0]?.title).toMatch(/^\[bg\] /);
    await desktop.clickBody();
    expect(await agent.call('hivemind_poll', { ask_id })).toMatchObject({ status: 'pending' });
    expect(await recorded(hive, String(ask_id))).toMatchObject({ outcome: 'sent' });
  });

  it('the wishes of the human bind it as well', async () => {
    const store = tempStore();
    const hive = await openTestHive(store);
    await hive.desks.setPreferences(thisSeat(), { muted_projects: ['demo'] });
    await connectMcp({ store, env: { HIVE_AGENT: 'agent-1', ...desktop.env } });
    // By another process, as a hook or a script would: any live process of the seat takes it up.
    const { ask_id } = await ask(hive);
    expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'suppressed', reason: 'muted_project' });
    expect(desktop.sent).toEqual([]);
  });
});

describe('the wishes of the human', () => {
  it('bind the desk: suppressed, and why, stands on the trail; critical comes through', async () => {
    const store = tempStore();
    const desk = await startSidecar(store, { env: desktop.env });
    const hive = await openTestHive(store);
    const { preferences } = await desk.request('desk/preferences', { do_not_disturb: true });
    expect(preferences).toMatchObject({ do_not_disturb: true, notify_when: 'always' });
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
    await desk.request('desk/preferences', { do_not_disturb: null, notify_when: 'unfocused' });
    await desk.request('desk/focus', { focused: true });
    const seen = await ask(hive);
    expect(await recorded(hive, seen.ask_id)).toMatchObject({ outcome: 'suppressed', reason: 'focused' });
  });

  it('give a permission buttons only when turned on', async () => {
    const store = tempStore();
    const desk = await startSidecar(store, { env: desktop.env });
    const hive = await openTestHive(store);
    const first = await ask(hive, { kind: 'permission', options: ['allow', 'deny'] });
    await shown(1);
    expect(desktop.sent[0]?.actions).toEqual(['default', 'Open']);
    expect(desktop.sent[0]?.title).toBe('Claude-sessi asks permission · demo');
    await hive.prompts.cancel(first.ask_id, HUMAN, 'human');
    await desk.request('desk/preferences', { popup_permissions: true });
    const second = await ask(hive, { kind: 'permission', options: ['allow', 'deny'] });
    await shown(2);
    await onScreen(1);
    await desktop.press('deny');
    const [answered] = await hive.prompts.wait([second.ask_id], { wait_ms: 5_000 });
    expect(answered).toMatchObject({ decision: 'deny', via: 'notification' });
  });

  it('are refused in a sentence when nobody knows them', async () => {
    const desk = await startSidecar(tempStore(), { env: desktop.env });
    await expect(desk.request('desk/preferences', { noise: 1 })).rejects.toThrow(
      /There is no preference "noise"; there are notify_when, do_not_disturb/,
    );
    await expect(
      desk.request('desk/preferences', { quiet_hours: { from: '25:00', to: '7' } }),
    ).rejects.toThrow(/HH:MM/);
    await expect(desk.request('desk/preferences', {})).resolves.toMatchObject({
      preferences: { sound: false },
    });
  });

  it('hand each notification to a program of their own, as JSON on its stdin', async () => {
    const store = tempStore();
    const file = join(tempFolder(), 'told.json');
    await startSidecar(store, {
      env: {
        ...desktop.env,
        ...trusting({ notify_command: `cat > '${file}.part' && mv '${file}.part' '${file}'` }),
      },
    });
    const hive = await openTestHive(store);
    const { ask_id } = await ask(hive, { question: "It's $(id)?", options: ['a'] });
    await eventually(() => existsSync(file));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      type: 'prompt',
      title: 'Claude-sessi · demo',
      count: 1,
      prompts: [{ ask_id, question: "It's $(id)?", options: ['a'], project: 'demo' }],
    });
    await shown(1);
  });
});
