/**
 * The calls that a device may make: methods of a desk, with the same params and replies as in Emacs (docs/internals/protocol.md).
 * A method that is not listed here is not for devices: seats, rules, preferences and everything that permits something.
 */

import { METHODS } from '../../adapters/emacs/connection.ts';
import type { DeskConnection } from '../../adapters/emacs/method.ts';
import type { Hive } from '../../application/hive.ts';
import type { Device } from '../../domain/devices.ts';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import { excerpt } from '../../domain/text.ts';
import { callParams } from './params.ts';
import { devicesOf } from './service.ts';

/** `by`: done in the human's name, which is always the human of the device. */
const ALLOWED: Readonly<Record<string, 'reads' | 'by'>> = {
  'hivemind-response': 'by',
  'prompt/list': 'reads',
  'prompt/get': 'reads',
  'prompt/seen': 'reads',
  'prompt/snooze': 'reads',
  'prompt/cancel': 'by',
  'prompt/amend': 'by',
  'session/list': 'reads',
  'turn/interrupt': 'by',
  'turn/interrupt_all': 'by',
  'message/list': 'reads',
  'message/post': 'by',
  'mention/list': 'reads',
  'mention/process': 'by',
  'mention/loops': 'reads',
  'mention/settle_loop': 'by',
  'outreach/list': 'reads',
  'notice/list': 'reads',
  'history/search': 'reads',
};

interface InboxSeat {
  seat: string;
  pid: number;
}

export function createInboxCalls(hive: Hive, seat: InboxSeat) {
  return {
    /** The reply of a method. @throws HiveError like the method. */
    async call(device: Device, json: unknown): Promise<object | null> {
      const { method: name, params = {} } = callParams.parse(json);
      const kind = Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : undefined;
      const method = kind === undefined ? undefined : METHODS[name];
      if (method === undefined) throw invalidInput(`A device has no method "${excerpt(name, 100)}".`);
      return method(
        kind === 'by' ? { ...params, by: device.human } : params,
        connectionOf(hive, seat, device),
      );
    },
  };
}

/** A device as a desk that nobody sits at, so nothing counts as offered there. */
export function connectionOf(hive: Hive, { seat, pid }: InboxSeat, device: Device): DeskConnection {
  return {
    hive,
    seat,
    human: device.human,
    via: 'inbox',
    device: { key: device.key },
    pid,
    // It may have been revoked a moment ago.
    async check() {
      if ((await devicesOf(hive).admitted(device.device_id)) === undefined)
        throw new HiveError('not_allowed', `${device.name} was revoked: pair it again.`, { door: true });
    },
    desk: null,
    opening: false,
    head_seq: 0,
    following: null,
    notify: async () => undefined,
  };
}
