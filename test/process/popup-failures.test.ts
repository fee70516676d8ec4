import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promptPopup } from '../../src/domain/popups.ts';
import { DEFAULT_PREFERENCES } from '../../src/domain/preferences.ts';
import { NO_AUTHORITY } from '../../src/domain/trust.ts';
import { createDesktopNotifier } from '../../src/infrastructure/desktop/notifier.ts';
import { childEnvironment } from '../support/children.ts';
import { type Desktop, startBareBus, useDesktop } from '../support/desktop.ts';
import { ask, HUMAN, openTestHive, recordingLog } from '../support/hive.ts';
import { trusting } from '../support/human-file.ts';
import { recorded, type Trail } from '../support/popup-trail.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually, sleep } from '../support/wait.ts';

let desktop: Desktop;
useDesktop((started) => {
  desktop = started;
});

describe('where nothing can be shown, the trail says so and the prompt is none the worse', () => {
  async function failing(env: Record<string, string>): Promise<Trail> {
    const store = tempStore();
    await startSidecar(store, { env });
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
      expect(await failing(bus.env)).toMatchObject({
        outcome: 'failed',
        reason: expect.stringContaining('org.freedesktop.Notifications'),
      });
    } finally {
      await bus.close();
    }
  });

  it('no notify-send', async () => {
    const line = await failing({ ...desktop.env, PATH: pathWith('dbus-send') });
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
    await ask(await openTestHive(store));
    await sleep(300);
    expect(await sidecar.end()).toMatchObject({ code: 0 });
  });

  it('a server that cannot be asked what it can still gets the plain popup, through node-notifier', async () => {
    const store = tempStore();
    await startSidecar(store, { env: { ...desktop.env, PATH: pathWith('notify-send', 'sh') } });
    const hive = await openTestHive(store);
    const question = '-a <b> $(id) "quoted" `x`';
    const { ask_id } = await ask(hive, { question, options: ['yes'], urgency: 'critical' });
    expect(await recorded(hive, ask_id)).toMatchObject({ outcome: 'sent' });
    await eventually(() => desktop.sent.length === 1, 6_000);
    expect(desktop.sent[0]).toMatchObject({
      app: 'Hive',
      title: 'Claude-sessi · demo',
      body: ' -a &lt;b&gt; $(id) "quoted" `x`',
      actions: [],
      urgency: 2,
      timeout: 0,
    });
  });
});

describe('a process that ends', () => {
  it('shows nothing more, since nobody would be there to take it down', async () => {
    const notifier = createDesktopNotifier({ env: childEnvironment('', desktop.env), log: recordingLog() });
    const hive = await openTestHive();
    const popup = promptPopup(await ask(hive), { ...DEFAULT_PREFERENCES, ...NO_AUTHORITY }, true);
    const late = expect(notifier.show(popup)).rejects.toThrow(/has ended/);
    await notifier.close();
    await late;
    await expect(notifier.show(popup)).rejects.toThrow(/has ended/);
    await sleep(100);
    expect(desktop.sent).toEqual([]);
  });
});

/** A PATH with these programs and Node, and no other. */
function pathWith(...programs: string[]): string {
  const folder = join(tempFolder(), 'bin');
  mkdirSync(folder);
  for (const program of programs) symlinkSync(join('/usr/bin', program), join(folder, program));
  return `${folder}:${dirname(process.execPath)}`;
}
