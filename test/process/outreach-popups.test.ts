/** Pings and cards on a real desktop: once a seat, labelled, as the human wishes; showing settles them. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Desktop, useDesktop } from '../support/desktop.ts';
import { openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { agent, tokensOf } from '../support/outreach.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually, sleep } from '../support/wait.ts';

let desktop: Desktop;
useDesktop((started) => {
  desktop = started;
});

const shown = (count: number): Promise<void> =>
  eventually(() => desktop.sent.length === count, 6_000, `${count} popups`);

test('a ping from the background says so first; two desks and an agent show it once', async () => {
  const store = tempStore();
  await Promise.all([startSidecar(store, { env: desktop.env }), startSidecar(store, { env: desktop.env })]);
  const caller = await connectMcp({
    store,
    env: { HIVE_AGENT: 'agent-1', HIVE_SOURCE: 'bg', ...desktop.env },
  });
  await caller.call('hivemind_ping_user', { message: '<b>Deployed</b> & well.', critical: true });
  await shown(1);
  await sleep(2_500);
  expect(desktop.sent).toHaveLength(1);
  expect(desktop.sent[0]).toMatchObject({
    title: expect.stringMatching(/^\[bg\] agent-1 · /),
    body: '&lt;b&gt;Deployed&lt;/b&gt; &amp; well.',
    actions: ['default', 'Close'],
    urgency: 2,
  });
});

test("with no desk the agent's own process shows it, which pays for it", async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const caller = await connectMcp({
    store,
    env: { HIVE_AGENT: 'agent-1', HIVE_SOURCE: 'bg', ...desktop.env },
  });
  const { outreach_id } = await caller.call('hivemind_ping_user', { message: 'Deployed.' });
  await shown(1);
  const status = async () => (await hive.outreach.get(String(outreach_id)))?.status;
  await eventually(async () => (await status()) === 'shown', 3_000, 'the ping to be shown');
  expect(await hive.outreach.get(String(outreach_id))).toMatchObject({ shown_via: 'notification' });
  expect(await tokensOf(hive)).toBe(119);
});

test('with no desk, what you want no popups of is kept, costs nothing, and the agent is told why', async () => {
  const store = tempStore();
  const desk = await startSidecar(store, { env: desktop.env });
  await desk.request('desk/preferences', { notify_when: 'never' });
  await desk.end();
  const hive = await openTestHive(store);
  const caller = await connectMcp({
    store,
    env: { HIVE_AGENT: 'agent-1', HIVE_SOURCE: 'bg', ...desktop.env },
  });
  const sent = await caller.call('hivemind_ping_user', { message: 'Deployed.' });
  expect(sent).toMatchObject({ status: 'unseen', next: expect.stringContaining('they want no popups') });
  expect(await tokensOf(hive)).toBeNull();
  expect(await hive.outreach.get(String(sent['outreach_id']))).toMatchObject({ reason: 'notify_never' });
  expect(desktop.sent).toEqual([]);
});

test('a card carries its footer; one with buttons is the popup of its prompt, and no second one', async () => {
  const store = tempStore();
  await startSidecar(store, { env: desktop.env });
  const hive = await openTestHive(store);
  const fork = await agent(hive, 'fork-1', 'fork');
  await hive.outreach.card({ title: 'Build', description: 'All green.' }, fork);
  await shown(1);
  expect(desktop.sent[0]).toMatchObject({
    title: '[fork] Claude-fork1 · demo',
    body: 'Build\nAll green.\nfork',
  });
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
    title: '[fork] Claude-fork1 · demo · card',
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
  await startSidecar(store, { env: { ...desktop.env, ...trusting({ notify_command: `cat >> '${file}'` }) } });
  const hive = await openTestHive(store);
  const main = await agent(hive, 'main-1', 'main');
  for (let n = 0; n < 20; n += 1) await hive.outreach.card({ title: `card ${n}` }, main);
  await eventually(
    async () => desktop.sent.at(-1)?.title === '20 messages from agents' && (await desktop.displayed()) === 1,
    15_000,
    'one popup for all of them',
  );
  const told = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  await eventually(() => existsSync(file) && told().length === desktop.sent.length);
  expect(told()).toContainEqual(
    expect.objectContaining({ type: 'outreach', title: '20 messages from agents', count: 20, prompts: [] }),
  );
});
