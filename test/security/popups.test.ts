/**
 * A popup of an agent's process: a program that the agent put on its PATH could press the buttons.
 *
 * @module-tag as-displayed
 * @module-tag silence
 * @module-tag popup
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HUNG_DESK_MS } from '../../src/application/popups.ts';
import { thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { childEnvironment } from '../support/children.ts';
import { seated } from '../support/coordinators.ts';
import { ask, newHive, SEAT_SECRET } from '../support/hive.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { recorded } from '../support/popup-trail.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempHome } from '../support/temp.ts';

/** A desktop that presses the first button of everything. */
function pressesAll(store: string): Record<string, string> {
  const bin = join(tempFolder(), 'bin');
  mkdirSync(bin);
  const program = (name: string, script: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  program('notify-send', 'echo 0');
  program('dbus-send', 'echo \'   string "actions"\'');
  return {
    PATH: `${bin}:${childEnvironment(store)['PATH']}`,
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere',
  };
}

test("a popup of an agent's process has no buttons: a notify-send of the agent's own answers nothing", async () => {
  const { store, hive } = await newHive();
  // Even where the human lets popups answer permissions.
  const home = tempHome();
  mkdirSync(join(home, '.config/hive'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, '.config/hive/trust.json'), '{"popup_permissions": true}', { mode: 0o600 });
  const agent = await connectMcp({ store, env: { HIVE_AGENT: 'agent-1', HOME: home, ...pressesAll(store) } });
  const asked = { question: 'Delete it?', options: ['Yes, delete it', 'No'] };
  const { ask_id } = await agent.call('hivemind_ask_async', asked);
  const permission = await ask(hive, { kind: 'permission', options: ['Allow', 'Deny'] });
  expect(await recorded(hive, String(ask_id))).toMatchObject({ outcome: 'sent' });
  expect(await recorded(hive, permission.ask_id)).toMatchObject({ outcome: 'sent' });
  for (const id of [String(ask_id), permission.ask_id])
    expect(await hive.prompts.get(id)).toMatchObject({ status: 'pending', decision: null });
});

test("the same program at a desk is the human's own: its button is the answer", async () => {
  const { store, hive } = await newHive();
  await startSidecar(store, { env: { ...pressesAll(store), ...seated() }, seat_key: SEAT_SECRET });
  const { ask_id } = await ask(hive, { options: ['yes', 'no'] });
  const [answered] = await hive.prompts.wait([ask_id], { wait_ms: 10_000 });
  expect(answered).toMatchObject({ decision: 'yes', via: 'notification', attested: true });
});

test("an agent's process leaves a question to a live desk, even if the desk is slower", async () => {
  const { store, hive } = await newHive();
  const desk = await hive.desks.open({ seat: thisSeat(), pid: process.pid, client: 'slow' });
  await connectMcp({ store, env: { HIVE_AGENT: 'agent-1', ...pressesAll(store) } });
  const { ask_id, created_at } = await ask(hive, { options: ['yes', 'no'] });
  await recorded(hive, ask_id);
  const [leased] = await hive.store
    .read((tx) => tx.events.after(0, 1_000))
    .then((events) => events.filter(({ type }) => type === 'prompt/popup'));
  expect(Date.parse(leased?.at ?? '') - Date.parse(created_at)).toBeGreaterThanOrEqual(HUNG_DESK_MS);
  await desk.close();
});
