/** Phones over JSON-RPC: pairing one at the desk, listing them, revoking one, letting one allow permissions. */
import { confirmParams, deviceParams, inviteParams, pairedParams } from '../../schemas/devices.ts';
import { allow, invite, phoneOf, phraseFor, qrOf, revoke } from '../phones.ts';
import { acting, type EventNotifier, type Methods, subjectsOf, takes, withoutParams } from './method.ts';

export const phoneMethods: Methods = {
  'phone/list': withoutParams(async ({ hive }) => ({
    phones: (await hive.devices.list()).map((device) => phoneOf(hive, device)),
  })),

  'phone/invite': acting(
    takes(inviteParams, async ({ url }, { hive, human, seat }) => {
      const invited = await invite(hive, { human, seat, url: url ?? null });
      const { svg, blocks } = await qrOf(invited.address);
      return { ...invited, qr_svg: svg, qr_blocks: blocks };
    }),
  ),

  'phone/paired': takes(pairedParams, async ({ code }, { hive }) => {
    const device = await hive.devices.paired(code);
    if (device === undefined) return { phone: null, phrase: null };
    return {
      phone: phoneOf(hive, device),
      phrase: await phraseFor(device, { code, store_id: hive.store_id }),
    };
  }),

  'phone/confirm': acting(
    takes(confirmParams, async (device, { hive, human }) => ({
      phone: phoneOf(hive, await hive.devices.confirm(device, human)),
    })),
  ),

  'phone/revoke': acting(
    takes(deviceParams, async ({ device_id }, { hive, human }) => {
      const { device, problem } = await revoke(hive, { device: device_id, by: human });
      return { phone: phoneOf(hive, device), problem };
    }),
  ),

  'phone/allow': acting(
    takes(deviceParams, async ({ device_id }, { hive, pid }) => ({
      ...(await allow(hive, { device: device_id, pid, via: 'emacs' })),
    })),
  ),
};

/** A phone was paired, confirmed, revoked, or its notifications changed. */
export const notifyPhones: EventNotifier = async (events, { hive }, notify) => {
  const changed = new Set(subjectsOf(events, (type) => type === 'device/changed'));
  if (changed.size === 0) return;
  for (const device of await hive.devices.list())
    if (changed.has(device.device_id)) notify('phone/changed', phoneOf(hive, device));
};
