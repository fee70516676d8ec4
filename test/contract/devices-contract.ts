/** Devices: pairing, confirming and revoking are the same on both engines. */
import { expect, test } from 'vitest';
import { isAdmitted, shownCode } from '../../src/extensions/inbox/device.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { newKey, pair } from '../support/devices.ts';
import { eventsOf, openTestHive } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import type { StoreEngine } from './store-contract.ts';

export function devicesContract(engine: StoreEngine): void {
  test('a device may come in from its confirmation to its revocation, and each step is an event', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { code } = await devicesOf(hive).invite('ada');
    expect(await devicesOf(hive).paired(code)).toBeUndefined();
    const { key } = newKey();
    const { device_id } = await devicesOf(hive).pair({ code: shownCode(code), name: ' Phone ', key });
    expect(await devicesOf(hive).paired(code)).toMatchObject({ device_id, name: 'Phone', human: 'ada', key });
    expect(await devicesOf(hive).admitted(device_id)).toBeUndefined();
    await devicesOf(hive).confirm({ device_id, key }, 'ada');
    await devicesOf(hive).seen(device_id);
    expect(await devicesOf(hive).admitted(device_id)).toMatchObject({ seen_at: expect.any(String) });
    await devicesOf(hive).revoke('Phone', 'grace');
    expect(await devicesOf(hive).admitted(device_id)).toBeUndefined();
    await expect(devicesOf(hive).confirm({ device_id, key }, 'ada')).rejects.toMatchObject({
      code: 'not_allowed',
    });
    const events = await eventsOf(hive, 'device/changed');
    expect(events.map(({ subject, data }) => [subject, data['change'], data['by']])).toEqual([
      [device_id, 'paired', undefined],
      [device_id, 'confirmed', 'ada'],
      [device_id, 'revoked', 'grace'],
    ]);
  });

  test('a code is for one device, and a key for one pairing', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { code } = await devicesOf(hive).invite('ada');
    const { key } = newKey();
    const both = await Promise.allSettled(
      [key, newKey().key].map((key) => devicesOf(hive).pair({ code, name: 'Phone', key })),
    );
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [only] = await devicesOf(hive).list();
    const { code: next } = await devicesOf(hive).invite('ada');
    const again = devicesOf(hive).pair({ code: next, name: 'Again', key: only?.key ?? '' });
    await expect(again).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await devicesOf(hive).list()).toHaveLength(1);
  });

  test('where its notifications go is kept as the browser gives it, and forgotten when it is revoked', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { device } = await pair(hive);
    const push = { endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } };
    await devicesOf(hive).setPush(device.device_id, push);
    expect(await devicesOf(hive).find(device.device_id)).toMatchObject({ push, push_failed: null });
    await devicesOf(hive).setPush(device.device_id, null, 'The phone is gone.');
    expect(await devicesOf(hive).find(device.device_id)).toMatchObject({
      push: null,
      push_failed: 'The phone is gone.',
    });
    await devicesOf(hive).setPush(device.device_id, push);
    expect(await devicesOf(hive).revoke(device.device_id, 'ada')).toMatchObject({ push: null });
  });

  test('a name that several devices have names none of them', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [first] = [await pair(hive, 'Phone'), await pair(hive, 'Phone')];
    await expect(devicesOf(hive).revoke('Phone', 'ada')).rejects.toMatchObject({ code: 'device_not_found' });
    await devicesOf(hive).revoke(first.device.device_id, 'ada');
    // A revoked one no longer has a claim to its name.
    expect(await devicesOf(hive).find('Phone')).not.toMatchObject({ device_id: first.device.device_id });
    await expect(devicesOf(hive).find('Tablet')).rejects.toMatchObject({ code: 'device_not_found' });
  });

  test('whoever watches learns which devices may come in', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const before = await pair(hive);
    let admitted: string[] = [];
    const stop = devicesOf(hive).watch((devices) => {
      admitted = devices.filter(isAdmitted).map(({ device_id }) => device_id);
    });
    const isIn = ({ device }: typeof before): boolean => admitted.includes(device.device_id);
    // Those that were paired before, too.
    await eventually(() => isIn(before));
    const paired = await pair(hive);
    await eventually(() => isIn(paired));
    await devicesOf(hive).revoke(paired.device.device_id, 'ada');
    await eventually(() => !isIn(paired));
    expect(isIn(before)).toBe(true);
    stop();
  });
}
