/** Devices: pairing, confirming and revoking are the same on both engines. */
import { expect, test } from 'vitest';
import { isAdmitted, shownCode } from '../../src/domain/devices.ts';
import { newKey, pair } from '../support/devices.ts';
import { eventsOf, openTestHive } from '../support/hive.ts';
import { eventually } from '../support/wait.ts';
import type { StoreEngine } from './store-contract.ts';

export function devicesContract(engine: StoreEngine): void {
  test('a device may come in from its confirmation to its revocation, and each step is an event', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { code } = await hive.devices.invite('ada');
    expect(await hive.devices.paired(code)).toBeUndefined();
    const { key } = newKey();
    const { device_id } = await hive.devices.pair({ code: shownCode(code), name: ' Phone ', key });
    expect(await hive.devices.paired(code)).toMatchObject({ device_id, name: 'Phone', human: 'ada', key });
    expect(await hive.devices.admitted(device_id)).toBeUndefined();
    await hive.devices.confirm({ device_id, key }, 'ada');
    await hive.devices.seen(device_id);
    expect(await hive.devices.admitted(device_id)).toMatchObject({ seen_at: expect.any(String) });
    await hive.devices.revoke('Phone', 'grace');
    expect(await hive.devices.admitted(device_id)).toBeUndefined();
    await expect(hive.devices.confirm({ device_id, key }, 'ada')).rejects.toMatchObject({
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
    const { code } = await hive.devices.invite('ada');
    const { key } = newKey();
    const both = await Promise.allSettled(
      [key, newKey().key].map((key) => hive.devices.pair({ code, name: 'Phone', key })),
    );
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [only] = await hive.devices.list();
    const { code: next } = await hive.devices.invite('ada');
    const again = hive.devices.pair({ code: next, name: 'Again', key: only?.key ?? '' });
    await expect(again).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await hive.devices.list()).toHaveLength(1);
  });

  test('where its notifications go is kept as the browser gives it, and forgotten when it is revoked', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const { device } = await pair(hive);
    const push = { endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } };
    await hive.devices.setPush(device.device_id, push);
    expect(await hive.devices.find(device.device_id)).toMatchObject({ push, push_failed: null });
    await hive.devices.setPush(device.device_id, null, 'The phone is gone.');
    expect(await hive.devices.find(device.device_id)).toMatchObject({
      push: null,
      push_failed: 'The phone is gone.',
    });
    await hive.devices.setPush(device.device_id, push);
    expect(await hive.devices.revoke(device.device_id, 'ada')).toMatchObject({ push: null });
  });

  test('a name that several devices have names none of them', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const [first] = [await pair(hive, 'Phone'), await pair(hive, 'Phone')];
    await expect(hive.devices.revoke('Phone', 'ada')).rejects.toMatchObject({ code: 'device_not_found' });
    await hive.devices.revoke(first.device.device_id, 'ada');
    // A revoked one no longer has a claim to its name.
    expect(await hive.devices.find('Phone')).not.toMatchObject({ device_id: first.device.device_id });
    await expect(hive.devices.find('Tablet')).rejects.toMatchObject({ code: 'device_not_found' });
  });

  test('whoever watches learns which devices may come in', async () => {
    const hive = await openTestHive(await engine.freshAddress());
    const before = await pair(hive);
    let admitted: string[] = [];
    const stop = hive.devices.watch((devices) => {
      admitted = devices.filter(isAdmitted).map(({ device_id }) => device_id);
    });
    const isIn = ({ device }: typeof before): boolean => admitted.includes(device.device_id);
    // Those that were paired before, too.
    await eventually(() => isIn(before));
    const paired = await pair(hive);
    await eventually(() => isIn(paired));
    await hive.devices.revoke(paired.device.device_id, 'ada');
    await eventually(() => !isIn(paired));
    expect(isIn(before)).toBe(true);
    stop();
  });
}
