/** Phones over JSON-RPC: pairs one at the desk, lists them, revokes one, lets one allow permissions. */

import {
  acts,
  type EmacsExtension,
  type EventNotifier,
  type Methods,
  subjectsOf,
  takes,
  withoutParams,
} from '../../adapters/emacs/method.ts';
import { allow, invite, phoneOf, phraseFor, qrOf, revoke } from './devices.ts';
import { confirmParams, deviceParams, inviteParams, pairedParams } from './params.ts';
import { devicesOf } from './service.ts';

const methods: Methods = {
  'phone/list': withoutParams(
    'Returns the phones that were paired, oldest first. `state` is `unconfirmed`, `confirmed` or `revoked`. `may_allow`: its key is listed among the seats. `push`: `on`, `off`, or `failed` with the reason in `push_failed`.',
    async ({ hive }) => ({
      phones: (await devicesOf(hive).list()).map((device) => phoneOf(hive, device)),
    }),
  ),

  'phone/invite': acts(
    inviteParams,
    'Makes a pairing code for a phone of this human: one use, ten minutes. Returns the `code` as people type it, the `address` with the code after `#`, which the QR code shows (`qr_svg`, `qr_blocks`), and a `warning` if no phone can use that address. Refused if the address of the inbox is unknown.',
    async ({ url }, { hive, human, seat }) => {
      const invited = await invite(hive, { human, seat, url: url ?? null });
      const { svg, blocks } = await qrOf(invited.address);
      return { ...invited, qr_svg: svg, qr_blocks: blocks };
    },
  ),

  'phone/paired': takes(
    pairedParams,
    'Returns the phone that has used this code, and the `phrase` that it shows; both null until one has.',
    async ({ code }, { hive }) => {
      const device = await devicesOf(hive).paired(code);
      if (device === undefined) return { phone: null, phrase: null };
      return {
        phone: phoneOf(hive, device),
        phrase: await phraseFor(device, code),
      };
    },
  ),

  'phone/confirm': acts(
    confirmParams,
    'Lets a phone in that has used a pairing code: its human has compared the phrases.',
    async (device, { hive, human }) => ({
      phone: phoneOf(hive, await devicesOf(hive).confirm(device, human)),
    }),
  ),

  'phone/revoke': acts(
    deviceParams,
    "Takes away the access of a phone, at once and for ever, and takes its key out of the human's own file. If that file could not be written, `problem` says what the human has to do.",
    async ({ device_id }, { hive, human }) => {
      const { device, problem } = await revoke(hive, { device: device_id, by: human });
      return { phone: phoneOf(hive, device), problem };
    },
  ),

  'phone/allow': acts(
    deviceParams,
    "Lets a phone allow permissions: lists its key among the seats in the human's own file, as `seat/register` does. `text` is for the human; if `registered` is false, it says what they can do.",
    async ({ device_id }, { hive, pid }) => ({
      ...(await allow(hive, { device: device_id, pid, via: 'emacs' })),
    }),
  ),
};

/** A phone was paired, confirmed, revoked, or its notifications changed. */
const notifyPhones: EventNotifier = async (events, { hive }, notify) => {
  const changed = new Set(subjectsOf(events, (type) => type === 'device/changed'));
  if (changed.size === 0) return;
  for (const device of await devicesOf(hive).list())
    if (changed.has(device.device_id)) notify('phone/changed', phoneOf(hive, device));
};

export const phonesInEmacs: EmacsExtension = { methods, notify: notifyPhones };
