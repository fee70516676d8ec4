/** `hive config`: values, their origins, and that an agent cannot set them. */
import { describe, expect, test } from 'vitest';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { shell } from '../support/cli.ts';
import { newKey } from '../support/devices.ts';
import { eventsOf, newHive, openTestHive } from '../support/hive.ts';
import { startSidecar } from '../support/sidecar.ts';
import { tempStore } from '../support/temp.ts';

describe('hive config', () => {
  test('lists settings with their value, origin and a description', async () => {
    const person = shell(tempStore());
    await person.hive('config', 'retention_days', '20');
    const { out, code } = await person.hive('config');
    expect(code).toBe(0);
    expect(out).toMatch(/^KEY +VALUE +ORIGIN +DESCRIPTION$/m);
    expect(out).toMatch(/^retention_days +20 +stored +days that/m);
    expect(out).toMatch(/^notify_when +unfocused +default +when popups/m);
    const { settings } = (await person.hive('config', '--json')).json();
    expect(out.trim().split('\n')).toHaveLength(settings.length + 1);
    expect(settings).toContainEqual(
      expect.objectContaining({
        key: 'retention_days',
        value: 20,
        default: 90,
        origin: 'stored',
        scope: 'everywhere',
      }),
    );
  });

  test('shows and sets what a phone has of its own, over what its seat has', async () => {
    const store = tempStore();
    const person = shell(store);
    const hive = await openTestHive(store);
    const { code } = await devicesOf(hive).invite('bob', 'bob@test');
    await devicesOf(hive).pair({ code, name: 'Phone', key: newKey().key });
    await hive.desks.setPreferences('bob@test', { quiet_hours: { from: '22:00', to: '07:30' } });
    const config = (...args: string[]) => person.hive('config', '--phone', 'Phone', ...args);
    expect((await config()).out).toMatch(/^quiet_hours +22:00-07:30 +seat +the time of day/m);
    expect((await config()).out).not.toContain('stop_guard');
    expect((await config('phone_after', '0')).out).toBe('phone_after: 0\n');
    expect((await config('quiet_hours', '23:00-06:00')).out).toBe('quiet_hours: 23:00-06:00\n');
    expect((await config()).out).toMatch(/^phone_after +0 +stored/m);
    expect(await hive.desks.preferences('bob@test')).toMatchObject({
      phone_after: 60,
      quiet_hours: { from: '22:00', to: '07:30' },
    });
    const none = await config('quiet_hours', 'none');
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.err).toContain('has those of the seat at which it was paired');
    const unset = await config('quiet_hours', 'default');
    expect(unset.out).toBe('quiet_hours: 22:00-07:30\n');
    expect((await config('quiet_hours')).err).toContain('from the seat at which it was paired');
    const refused = await config('gate', 'off');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('A phone has no gate of its own');
    expect((await person.hive('config', '--phone', 'Nobody')).err).toContain('There is no phone "Nobody"');
    const agent = person.as({ CLAUDECODE: '1' });
    expect((await agent.hive('config', '--phone', 'Phone', 'phone_after', '9')).code).toBe(7);
  });

  test('prints one value, sets it, and resets it', async () => {
    const person = shell(tempStore());
    expect(await person.hive('config', 'quiet-hours')).toMatchObject({ code: 0, out: 'none\n' });
    expect(await person.hive('config', 'quiet_hours', '22:00-07:30')).toMatchObject({
      code: 0,
      out: 'quiet_hours: 22:00-07:30\n',
    });
    const shown = await person.hive('config', 'quiet_hours');
    expect(shown.out).toBe('22:00-07:30\n');
    expect(shown.err).toContain('Set with hive config; the default is none.');
    expect((await person.hive('config', 'quiet_hours', 'none')).out).toBe('quiet_hours: none\n');
    expect((await person.hive('config', 'quiet_hours')).err).toContain('This is the default.');
    await person.hive('config', 'quiet_hours', '22:00-07:30');
    expect((await person.hive('config', 'quiet_hours', 'default')).out).toBe('quiet_hours: none\n');
    const until = /^do_not_disturb: until (\d{4}-\d\d-\d\d \d\d:\d\d)\n$/;
    const set = (await person.hive('config', 'do_not_disturb', '2h')).out;
    const [, time = ''] = until.exec(set) ?? [];
    const { setting } = (await person.hive('config', 'do_not_disturb', '--json')).json();
    expect(new Date(time).toISOString().slice(0, 16)).toBe(setting.value.slice(0, 16));
    expect((await person.hive('config', 'do_not_disturb')).out).toBe(`until ${time}\n`);
    await person.hive('config', 'do_not_disturb', '0s');
    expect((await person.hive('config', 'do_not_disturb')).out).toBe('no\n');
    expect((await person.hive('config', 'quiet_hours', '--json')).json()).toMatchObject({
      setting: { value: null, origin: 'default' },
    });
  });

  test('the doctor names those that differ from their defaults', async () => {
    const person = shell(tempStore());
    await person.hive('config', 'gate', 'remind');
    expect((await person.hive('doctor')).out).toMatch(
      /^ok {4}Settings +gate remind \(stored\); hive config shows all$/m,
    );
  });

  test.each([
    [['nonsense'], 2, 'There is no setting "nonsense"'],
    [['gat'], 2, 'There is no setting "gat". Did you mean gate?'],
    [['sound', 'loud'], 2, 'sound takes yes or no'],
    [['notify_command', 'curl x'], 2, 'trust.json, or set it with hive-settings in Emacs'],
    [['permission_rules', '[]'], 2, 'permits or runs something'],
    [['popup_permissions', 'yes'], 2, 'permits or runs something'],
  ])('%j ends with %d and a sentence, and sets nothing', async (args, code, sentence) => {
    const store = tempStore();
    const person = shell(store);
    const refused = await person.hive('config', ...args);
    expect(refused.code).toBe(code);
    expect(refused.err).toContain(sentence);
    expect(await eventsOf(await openTestHive(store), 'desk/preferences_changed')).toEqual([]);
  });

  test('an agent may read settings, and sets none', async () => {
    const store = tempStore();
    const agent = shell(store, { HIVE_AGENT: 'agent-1' });
    expect((await agent.hive('config', 'retention_days')).out).toBe('90\n');
    for (const args of [
      ['retention_days', '1000'],
      ['allow_ping', 'default'],
    ]) {
      const refused = await agent.hive('config', ...args);
      expect(refused.code).toBe(7);
      expect(refused.err).toContain(
        'Only a human may change settings. This process belongs to an agent (HIVE_AGENT is set).',
      );
    }
    expect((await shell(store).hive('config', 'retention_days')).out).toBe('90\n');
  });
});

test('a setting from Emacs is shown as such; the last write wins, and the other side is notified', async () => {
  const { store, hive } = await newHive();
  const desk = await startSidecar(store, { env: { DBUS_SESSION_BUS_ADDRESS: 'disabled:' } });
  await desk.request('desk/preferences', { notify_when: 'never', outreach: { allow_ping: false } });
  const person = shell(store);
  expect((await person.hive('config')).out).toMatch(/^notify_when +never +Emacs/m);
  const set = await person.hive('config', 'notify_when', 'unfocused');
  expect(set.err).toContain(
    'If it is in the option hive-settings there, Emacs sets it again when it next connects',
  );
  const { params } = await desk.seen(
    (frame) =>
      frame.method === 'desk/preferences_changed' && frame.params.preferences.notify_when === 'unfocused',
  );
  expect(params.preferences).toMatchObject({ notify_when: 'unfocused', outreach: { allow_ping: false } });
  const again = await person.hive('config', 'allow_ping', 'default');
  expect(again.err).toContain('Emacs set this.');
  expect((await desk.request('desk/preferences', {})).preferences.outreach.allow_ping).toBe(true);
  // Emacs sends its values again at each connection; values that are stored already change nothing and cause no event.
  const before = (await eventsOf(hive, 'desk/preferences_changed')).length;
  await desk.request('desk/preferences', { notify_when: 'unfocused' });
  expect(await eventsOf(hive, 'desk/preferences_changed')).toHaveLength(before);
  expect((await person.hive('config', 'notify_when')).err).toContain(
    'Set in Emacs; the default is unfocused.',
  );
});
