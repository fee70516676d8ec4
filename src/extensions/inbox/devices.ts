/** Devices as their human sees them: in lists, during pairing, and in a QR code. */

import { inboxAddress } from '../../adapters/inbox.ts';
import type { Hive } from '../../application/hive.ts';
import type { Device } from '../../domain/devices.ts';
import { invalidInput } from '../../domain/errors.ts';
import {
  cleanCode,
  type DeviceState,
  pairingAddress,
  phraseOf,
  phraseText,
  shownCode,
  stateOf,
  whyOutOfReach,
} from './device.ts';
import { devicesOf } from './service.ts';

/** A device in a list. The address for its notifications is left out, because it is secret. */
export interface Phone {
  device_id: string;
  name: string;
  human: string;
  key: string;
  state: DeviceState;
  paired_at: string;
  seen_at: string | null;
  revoked_at: string | null;
  /** Whether it may allow permissions: its key is in the human's file. */
  may_allow: boolean;
  push: 'on' | 'off' | 'failed';
  /** Why its notifications fail, as a sentence. */
  push_failed: string | null;
}

export function phoneOf({ seats }: Pick<Hive, 'seats'>, device: Device): Phone {
  const { device_id, name, human, key, paired_at, seen_at, revoked_at, push, push_failed } = device;
  return {
    device_id,
    name,
    human,
    key,
    state: stateOf(device),
    paired_at,
    seen_at,
    revoked_at,
    may_allow: revoked_at === null && seats.counts(key),
    push: push_failed !== null ? 'failed' : push === null ? 'off' : 'on',
    push_failed,
  };
}

/**
 * Makes a pairing code, in the form that people type: 7K3M-9Q2X. `url`: the inbox, if its address is not recorded. `address` is
 * that in the QR code: the inbox, with the code in the part that no server gets. `warning`: why a phone cannot use that address,
 * as a sentence; null if it can. @throws HiveError `invalid_input` if the address is unknown.
 */
export async function invite(
  hive: Hive,
  { human, seat, url: given }: { human: string; seat: string | null; url: string | null },
): Promise<Record<'code' | 'expires_at' | 'url' | 'address', string> & { warning: string | null }> {
  const url = given === null ? devicesOf(hive).served() : inboxAddress(given);
  if (url === null)
    throw invalidInput(
      'No inbox is served on this machine now. Start it with: hive serve --inbox. If another machine serves it, name its address with --url.',
    );
  const { code, expires_at } = await devicesOf(hive).invite(human, seat);
  return {
    code: shownCode(code),
    expires_at,
    url,
    address: pairingAddress(url, code),
    warning: whyOutOfReach(url),
  };
}

/** The phrase that is shown by the device that used this code. */
export async function phraseFor({ key }: Pick<Device, 'key'>, code: string): Promise<string> {
  const { wordlist } = await import('@scure/bip39/wordlists/english.js');
  const text = phraseText({ code: cleanCode(code) ?? code, key });
  return phraseOf(process.getBuiltinModule('node:crypto').hash('sha256', text, 'buffer'), wordlist);
}

/** The border that readers of QR codes need. */
const BORDER = 4;

/** A QR code as a picture, and as lines of blocks, whose light parts are in the foreground. */
export async function qrOf(text: string): Promise<{ svg: string; blocks: string }> {
  const { renderSVG, renderUnicodeCompact } = await import('uqr');
  const options = { border: BORDER } as const;
  return { svg: renderSVG(text, { ...options, pixelSize: 6 }), blocks: renderUnicodeCompact(text, options) };
}

const ON_BLACK = '\u001b[97;40m';
const [LIGHT, DARK, PLAIN] = ['\u001b[47m', '\u001b[40m', '\u001b[0m'];

/** A terminal that a code is shown in. */
export interface Screen {
  /** It shows characters beyond ASCII. */
  utf8: boolean;
  columns: number;
  rows: number;
}

/**
 * The blocks of a QR code in a terminal, light on black whatever its colours are. Without UTF-8 it consists of blanks, which need twice the
 * room; null if it is too large then.
 */
export function codeOn({ utf8, columns, rows }: Screen, blocks: string): string | null {
  const lines = blocks.split('\n');
  if (utf8) return lines.map((row) => `${ON_BLACK}${row}${PLAIN}`).join('\n');
  const size = lines[0]?.length ?? 0;
  if (2 * size > columns || size > rows) return null;
  const cells = (row: string, light: string): string =>
    `${[...row].map((block) => `${light.includes(block) ? LIGHT : DARK}  `).join('')}${PLAIN}`;
  // A code has an odd number of rows: below the last one there is nothing.
  return lines
    .flatMap((row) => [cells(row, '█▀'), cells(row, '█▄')])
    .slice(0, size)
    .join('\n');
}

/** Revokes a device, and takes its key out of the human's file if it is there. */
export async function revoke(
  hive: Hive,
  { device, by }: { device: string; by: string },
): Promise<{ device: Device; problem: string | null }> {
  const { seats, trust } = hive;
  const revoked = await devicesOf(hive).revoke(device, by);
  const { name, key } = revoked;
  try {
    if (await seats.expel(key)) return { device: revoked, problem: null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const { path } = trust.file();
    return {
      device: revoked,
      problem: `${name} no longer has access, but its key could not be removed from ${path} (${why}). Remove the seat with the key ${key} there yourself.`,
    };
  }
  return { device: revoked, problem: null };
}

/** Whether a device can be used to allow permissions. */
export interface Allowed {
  registered: boolean;
  /** A sentence for the human. */
  text: string;
}

/**
 * Lets a device allow permissions: adds its key to the seats in the human's file, which only a process may do whose own
 * key is there. Otherwise `text` says what the human can write there themselves.
 */
export async function allow(
  hive: Hive,
  { device: given, pid, via }: { device: string; pid: number; via: 'emacs' | 'cli' },
): Promise<Allowed> {
  const { seats, trust } = hive;
  const devices = devicesOf(hive);
  const device = await devices.find(given);
  const { name, key, device_id } = device;
  if ((await devices.admitted(device_id)) === undefined)
    throw invalidInput(`${name} is not paired: it was revoked, or nobody has confirmed it.`);
  devices.requireConfirmed(device);
  if (!seats.isRegistered()) {
    const entry = JSON.stringify({ name, key });
    const { path } = trust.file();
    return {
      registered: false,
      text: `What you allow here does not count, so you cannot let ${name} allow permissions from here. Do it in an Emacs whose key is registered, or add ${entry} to the list "seats" in ${path} yourself.`,
    };
  }
  const { registered, text } = await seats.admit({ name, key }, { pid, via });
  await trust.note();
  return { registered, text: text ?? `${name} may already allow permissions.` };
}
