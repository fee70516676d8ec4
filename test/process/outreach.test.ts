/**
 * Outreach: agents over MCP, Emacs over its wire, and real processes where they matter: who is there, and who gets the last credit.
 *
 * @module-tag one-winner
 * @module-tag undisturbed
 * @module-tag mcp
 */

import { describe, expect, test } from 'vitest';
import type { OpenedHive } from '../../src/open-hive.ts';
import { shell } from '../support/cli.ts';
import { startBareBus } from '../support/desktop.ts';
import { eventsOf, newHive, openTestHive } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { closedAtEnd } from '../support/lifetime.ts';
import { raceForCredit } from '../support/many-processes.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { type CallerInProcess, callInProcess } from '../support/mcp-in-process.ts';
import { agent, creditsOf, leaveCredits } from '../support/outreach.ts';
import { isTold, type RpcClient, serveInProcess, startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

/** No desktop: everything is shown in Emacs. */
const NO_DESKTOP = { DBUS_SESSION_BUS_ADDRESS: 'disabled:' };
const BACKGROUND = { HIVE_AGENT: 'agent-1', HIVE_SOURCE: 'bg' };
/** An agent in the background, in this process. */
const background = (hive: OpenedHive): Promise<CallerInProcess> =>
  callInProcess(hive, 'agent', { connection: { env: BACKGROUND } });

/** A desk and an agent in the background, on connections of their own to one store. */
async function deskAndAgent(): Promise<{ hive: OpenedHive; desk: RpcClient; caller: CallerInProcess }> {
  const { store, hive } = await newHive();
  const desk = await serveInProcess(hive);
  return { hive, desk, caller: await background(await openTestHive(store)) };
}

test('the last credit goes to one of three processes that race for it', () => raceForCredit(tempStore(), 3));

describe('an agent over MCP', () => {
  test('pings from the background, and is told to report', async () => {
    const { hive, caller } = await deskAndAgent();
    const result = await caller.call('hivemind_ping_user', { message: 'Deployed.' });
    expect(result).toMatchObject({ status: 'sent', source: 'bg', critical: false });
    expect(result['next']).toContain('hivemind_report_updates');
    await leaveCredits(hive, 0);
    await expect(caller.call('hivemind_ping_user', { message: 'Again.' })).rejects.toThrow(
      /^outreach_refused: The ping was not shown \(rule budget\).*A report is always possible/,
    );
    const report = await caller.call('hivemind_report_updates', { message: 'All is up.' });
    expect(report).toMatchObject({ status: 'sent', reported: 1 });
    expect(report).not.toHaveProperty('reader');
    expect(report['next']).toContain('the main session of this project');
  });

  test.each([
    ['main', null],
    ['bg', 'bg'],
    ['fork', 'fork'],
  ] as const)('a card from %s has the footer %s', async (source, footer) => {
    const env = { HIVE_AGENT: 'agent-1', HIVE_SOURCE: source };
    const caller = await callInProcess(await openTestHive(), 'agent', { connection: { env } });
    const card = await caller.call('hivemind_send_card', { title: 'Tasks' });
    expect([card['source'], card['footer'] ?? null]).toEqual([source, footer]);
    expect(card).not.toHaveProperty('ask_id');
  });
});

test('Emacs is notified of what was sent, and shows it; then of its status, and of what a rule suppressed', async () => {
  const { desk, caller } = await deskAndAgent();
  const { outreach_id } = await caller.call('hivemind_ping_user', { message: 'Deployed.' });
  const { params } = await desk.seen((frame) => frame.method === 'outreach/received');
  expect(params).toMatchObject({
    outreach_id,
    kind: 'ping',
    source: 'bg',
    message: 'Deployed.',
    status: 'sent',
  });
  const shown = await desk.seen((frame) => frame.method === 'outreach/changed');
  expect(shown.params).toMatchObject({ outreach_id, status: 'shown', shown_via: 'emacs' });
  await desk.request('desk/preferences', { outreach: { allow_ping: false } });
  await expect(caller.call('hivemind_ping_user', { message: 'Again.' })).rejects.toThrow();
  await desk.seen(
    ({ method, params: item }) => method === 'outreach/changed' && item.status === 'suppressed',
  );
  const { outreach } = await desk.request('outreach/list', {});
  expect(outreach.map(({ status }: { status: string }) => status)).toEqual(['suppressed', 'shown']);
  expect((await desk.request('outreach/list', { kind: 'card' })).outreach).toEqual([]);
});

describe('with nobody there', () => {
  test('a ping and a card say so at once: nothing is spent, nothing is owed, and a desk shows them later', async () => {
    const { store, hive } = await newHive();
    const caller = await connectMcp({ store, env: { ...BACKGROUND, ...NO_DESKTOP } });
    const card = { title: 'Build', actions: [{ label: 'Ship' }] };
    const sent = [
      await caller.call('hivemind_ping_user', { message: 'Deployed.' }),
      await caller.call('hivemind_send_card', card),
    ];
    for (const [n, kind] of ['ping', 'card'].entries()) {
      expect(sent[n]).toMatchObject({ status: 'unseen', source: 'bg' });
      expect(sent[n]?.['next']).toContain(
        `Nobody is there to see this ${kind}: no Emacs is open and no desktop`,
      );
      expect(sent[n]?.['next']).not.toContain('Before you stop');
    }
    expect(await creditsOf(hive)).toBeNull();
    expect(await hive.store.read((tx) => tx.outreach.unreported('agent-1'))).toEqual([]);

    const desk = await startSidecar(store, { env: NO_DESKTOP });
    for (const { outreach_id } of sent) {
      const of = (name: string) => isTold(name, (item) => item.outreach_id === outreach_id);
      const { params } = await desk.seen(of('outreach/received'));
      expect(params).toMatchObject({ status: 'unseen', reason: 'nobody_there' });
      const shown = await desk.seen(of('outreach/changed'));
      expect(shown.params).toMatchObject({ status: 'shown', shown_via: 'emacs' });
    }
    // Their agent learned that it need not report, and that remains true.
    expect(await hive.store.read((tx) => tx.outreach.unreported('agent-1'))).toEqual([]);
    // Once: the next desk has seen them.
    await desk.end();
    const next = await startSidecar(store, { env: NO_DESKTOP });
    const { outreach } = await next.request('outreach/list', {});
    expect(outreach).toMatchObject([{ status: 'shown' }, { status: 'shown' }]);
    expect(next.frames.filter(({ method }) => method === 'outreach/received')).toEqual([]);
  });

  test('a person reads it in a shell, which settles it; an agent that reads it does not', async () => {
    const { store, hive } = await newHive();
    const fork = await agent(hive, 'fork-1', 'fork');
    const { outreach_id, ask_id } = await hive.outreach.card(
      {
        title: 'Build',
        description: 'Seven failed.',
        color: 'red',
        fields: [{ name: 'Took', value: '3 s' }],
        actions: [{ label: 'Again' }],
      },
      fork,
    );
    const person = shell(store);
    expect((await person.hive('status')).out).toContain(
      '1 unseen message from agents; run hive outreach to read it',
    );
    await person.as({ HIVE_AGENT: 'other' }).hive('outreach');
    expect(await hive.outreach.find(outreach_id)).toMatchObject({ status: 'unseen' });
    const { out } = await person.hive('outreach');
    expect(out).toMatch(
      /^\[fork\] demo · red card · \d+ s ago · unseen \(nobody_there\)\n {2}Build\n {2}Seven failed\.\n\n {2}Took: 3 s\n/,
    );
    expect(out).toContain(`  [Again] Answer with: hive respond ${ask_id} LABEL\n  fork\n`);
    expect(await hive.outreach.find(outreach_id)).toMatchObject({ status: 'shown', shown_via: 'cli' });
    expect((await person.hive('status', '--json')).json()).toMatchObject({ unseen: 0 });
    const { outreach } = (await person.hive('outreach', '--kind', 'card', '--json')).json();
    expect(outreach).toMatchObject([{ outreach_id, status: 'shown' }]);
    expect((await person.hive('outreach', '--kind', 'ping')).err).toContain('There are no pings.');
  });

  test("a bus without a notification server counts as nobody; a program of the user's own does not", async () => {
    const bus = closedAtEnd(await startBareBus());
    const env = { ...BACKGROUND, ...bus.env };
    const caller = await connectMcp({ store: tempStore(), env });
    expect(await caller.call('hivemind_ping_user', { message: 'x' })).toMatchObject({ status: 'unseen' });
    const store = tempStore();
    const told = await connectMcp({
      store,
      env: { ...env, ...trusting({ notify_command: 'cat >/dev/null' }) },
    });
    const { outreach_id, status } = await told.call('hivemind_ping_user', { message: 'x' });
    expect(status).toBe('sent');
    const hive = await openTestHive(store);
    await eventually(
      async () => (await hive.outreach.find(String(outreach_id)))?.status === 'shown',
      8_000,
      'the program to be told',
    );
  });

  test('what could not be shown in the end is kept, and its token is returned', async () => {
    const { store, hive } = await newHive();
    const env = { ...BACKGROUND, ...NO_DESKTOP, ...trusting({ notify_command: 'exit 1' }) };
    const caller = await connectMcp({ store, env });
    const { outreach_id, status } = await caller.call('hivemind_ping_user', { message: 'Deployed.' });
    expect(status).toBe('sent');
    expect(await creditsOf(hive)).toBe(119);
    await eventually(async () => (await creditsOf(hive)) === 120, 6_000, 'the token');
    expect(await hive.outreach.find(String(outreach_id))).toMatchObject({ status: 'unseen' });
    expect((await eventsOf(hive, 'outreach/unseen'))[0]?.data['reason']).toContain('no D-Bus session bus');
  });
});
