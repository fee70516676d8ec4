/** Several real processes of one seat on a real desktop: one popup for a storm, whichever of them is killed. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Desktop, useDesktop } from '../support/desktop.ts';
import { refreshLeases } from '../support/fake-notifier.ts';
import { ask, openTestHive } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { recorded } from '../support/popup-trail.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

let desktop: Desktop;
useDesktop((started) => {
  desktop = started;
});

/** Waits until one popup is all there is on the screen, and it says this. */
const onScreen = (title: string): Promise<void> =>
  eventually(
    async () => desktop.sent.at(-1)?.title === title && (await desktop.displayed()) === 1,
    15_000,
    title,
  );

it('a storm is one popup with all of them; it grows, and outlives the process that held it', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const one = await startSidecar(store, { env: desktop.env });
  const first = [await ask(hive, { question: '1?' }), await ask(hive, { question: '2?' })];
  for (const { ask_id } of first) await recorded(hive, ask_id);
  const two = await startSidecar(store, { env: desktop.env });
  // With the focus it goes first, so that both have shown something of the storm.
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
}, 60_000);

it('eight questions in a second and a half are one popup where three processes serve the seat', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  await Promise.all([1, 2].map(() => startSidecar(store, { env: desktop.env })));
  await connectMcp({ store, env: { HIVE_AGENT: 'agent-1', ...desktop.env } });
  for (let n = 1; n <= 8; n += 1) {
    await ask(hive, { question: `${n}?` });
    refreshLeases(store);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await onScreen('8 questions wait for you');
}, 60_000);

it('a process that is not told where the bus is finds it in the folder of its user', async () => {
  const store = tempStore();
  const hive = await openTestHive(store);
  const folder = tempFolder();
  const socket = /unix:path=([^,]+)/.exec(desktop.env['DBUS_SESSION_BUS_ADDRESS'] ?? '')?.[1] ?? '';
  symlinkSync(socket, join(folder, 'bus'));
  await startSidecar(store, { env: { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: folder } });
  const { ask_id } = await ask(hive, { question: 'Where?' });
  expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent', reason: null });
  await onScreen('Claude-sessi · demo');
});
