/** Devices without the door: paired with a hive, and the answers that they sign. */
import { randomBytes } from 'node:crypto';
import type { Device } from '../../src/domain/devices.ts';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { type Prompt, resolveAnswer } from '../../src/domain/prompts.ts';
import { answerText, type SeatKey, seatKeyFrom } from '../../src/domain/seats.ts';
import { createInboxCalls } from '../../src/extensions/inbox/calls.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import type { OpenedHive } from '../../src/open-hive.ts';

export interface PairedDevice {
  device: Device;
  seat: SeatKey;
}

export function newKey(): SeatKey {
  return seatKeyFrom(randomBytes(32).toString('hex'));
}

/** A device of ada's that is confirmed. */
export async function pair(hive: OpenedHive, name = "Ada's phone"): Promise<PairedDevice> {
  const seat = newKey();
  const { code } = await devicesOf(hive).invite('ada');
  const paired = await devicesOf(hive).pair({ code, name, key: seat.key });
  return { device: await devicesOf(hive).confirm(paired, 'ada'), seat };
}

/** Calls a method as this device. */
export function callAs(
  hive: OpenedHive,
  device: Device,
  method: string,
  params: object,
): Promise<object | null> {
  return createInboxCalls(hive, { seat: 'ada@test', pid: process.pid }).call(device, { method, params });
}

export interface Said {
  decision: string;
  response_id: string;
  responded_at: string;
  comment?: string | null;
  store_id?: string;
  ask_id?: string;
  displayed_digest?: string;
  by?: string;
}

/** The params of an answer, as a device signs and sends it. */
export async function signedParams(
  hive: OpenedHive,
  seat: SeatKey,
  prompt: Prompt,
  { decision, comment = null, response_id, responded_at, by = 'ada', ...changes }: Said,
): Promise<Record<string, unknown>> {
  const stamp = { by, via: 'inbox' as const, attested: true, response_id, responded_at };
  const answer = resolveAnswer(prompt, { decision, comment }, stamp);
  const about = {
    store_id: hive.store_id,
    ask_id: prompt.ask_id,
    displayed_digest: permissionDigest(prompt),
    ...changes,
  };
  const signature = await seat.sign(answerText({ ...about, answer }));
  return { ...about, decision, comment, response_id, responded_at, signature };
}
