/** `hive phone`: pairs a phone or a browser with this hive, lists those that are paired, and revokes them. Only for humans. */
import type { Command } from 'commander';
import type { Hive } from '../../application/hive.ts';
import { humanCommands } from '../../cli/actor.ts';
import { EXIT, type ExitCode } from '../../cli/exit-codes.ts';
import {
  age,
  confirmTyped,
  doneAsJson,
  type Format,
  line,
  moment,
  print,
  printJson,
  printRows,
  remark,
  say,
} from '../../cli/output.ts';
import type { Device } from '../../domain/devices.ts';
import { HiveError } from '../../domain/errors.ts';
import { foldName } from '../../domain/humans.ts';
import { humanName, thisSeat } from '../../infrastructure/platform/paths.ts';
import { seatSecret } from '../../infrastructure/platform/seat-file.ts';
import { PAIRING_MS } from './device.ts';
import { allow, codeOn, invite, phoneOf, phraseFor, qrOf, revoke } from './devices.ts';
import { devicesOf } from './service.ts';

const phoneState = (state: 'unconfirmed' | 'confirmed' | 'revoked', revoked_at: string): string =>
  ({ unconfirmed: 'not confirmed', confirmed: 'paired', revoked: `revoked ${revoked_at}` })[state];

export function definePhone(command: Command): void {
  const define = humanCommands(command, 'pair, list or revoke phones');
  define('add', 'Pair a phone: show a QR code and wait for the phone', add)
    .option('--url <url>', 'the address of the inbox, if another machine serves it')
    .option('--by <name>', 'whose phone it is; default: HIVE_USER, else your login name');
  define('list', 'List the phones', list);
  define('allow <phone>', 'Let a phone allow permissions', allowPhone);
  define(
    'revoke <phone>',
    'Take away the access of a phone, at once',
    async (hive, given: string, { json }: Format) => {
      const { device, problem } = await revoke(hive, { device: given, by: humanName(process.env) });
      if (json === true) printJson({ phone: phoneOf(hive, device) });
      else print(`Revoked ${device.name}. It no longer has access.`);
      if (problem !== null) remark(problem);
      return problem === null ? EXIT.done : EXIT.error;
    },
  );
}

async function add(hive: Hive, { url, by, json }: Format & { url?: string; by?: string }): Promise<ExitCode> {
  requireTerminal();
  const own = humanName(process.env);
  const human = by ?? own;
  const seat = foldName(human) === foldName(own) ? thisSeat() : null;
  const { code, address, warning } = await invite(hive, { human, seat, url: url ?? null });
  if (warning !== null) remark(warning);
  // With --json stdout has the result only.
  const say = (text: string): void =>
    void (json === true ? process.stderr : process.stdout).write(`${text}\n`);
  const shown = codeHere((await qrOf(address)).blocks);
  const scan = shown === null ? 'Open' : `${shown}\nScan this with the phone's camera, or open`;
  say(
    `${scan} this address on the phone:\n  ${address}\nThe code is ${code}; it can be used once, within 10 minutes. Waiting for the phone…`,
  );
  const device = await hive.feed.until(() => devicesOf(hive).paired(code), { wait_ms: PAIRING_MS });
  if (device === undefined) {
    remark('No phone used the code, and it is no longer valid. Try again with: hive phone add');
    return EXIT.expired;
  }
  const phrase = await phraseFor(device, code);
  const text = `${line(device.name, LONGEST_NAME)} has used the code. The phone shows four words; here they are:\n\n    ${phrase}\n`;
  if (
    !confirmTyped(
      [text],
      'Does your phone show the same four words? Type yes to let it in; anything else refuses it: ',
    )
  ) {
    await revoke(hive, { device: device.device_id, by: human });
    throw new HiveError('not_allowed', `Not confirmed: ${device.name} was refused.`);
  }
  const confirmed = await devicesOf(hive).confirm(device, human);
  if (json === true) printJson({ phone: phoneOf(hive, confirmed) });
  else
    say(
      `Paired ${confirmed.name}. It can answer questions. To let it allow permissions, too: hive phone allow, or M-x hive-phone-list in Emacs`,
    );
  return EXIT.done;
}

/** In columns. */
const LONGEST_NAME = 60;

/** The QR code for this terminal; plain in a pipe. */
function codeHere(blocks: string): string | null {
  const { isTTY, columns, rows } = process.stdout;
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  const utf8 = /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
  return isTTY ? codeOn({ utf8, columns, rows }, blocks) : blocks;
}

/** A command that lets somebody in is typed by a person. @throws HiveError `not_allowed` without a terminal. */
function requireTerminal(): void {
  if (!process.stdin.isTTY)
    throw new HiveError(
      'not_allowed',
      'Pairing a phone must be confirmed at a terminal, and there is none here. Run the command in a terminal, or use M-x hive-phone in Emacs.',
    );
}

async function list(hive: Hive, { json }: Format): Promise<ExitCode> {
  const phones = (await devicesOf(hive).list()).map((device) => phoneOf(hive, device));
  if (json === true) return doneAsJson({ phones });
  if (phones.length === 0) remark('No phone is paired. Pair one with: hive phone add');
  else
    printRows([
      ['PHONE', 'NAME', 'OWNER', 'STATE', 'SEEN', 'MAY', 'NOTIFICATIONS'],
      ...phones.map(({ device_id, name, human, state, revoked_at, seen_at, may_allow, push }) => [
        device_id,
        name,
        human,
        phoneState(state, revoked_at === null ? '' : moment(revoked_at)),
        seen_at === null ? '-' : `${age(seen_at)} ago`,
        may_allow ? 'answer and allow' : 'answer',
        push,
      ]),
    ]);
  return EXIT.done;
}

async function allowPhone(hive: Hive, given: string, { json }: Format): Promise<ExitCode> {
  const { terminal_may_allow, path, ssh_agent_key } = hive.trust.file();
  const device = await devicesOf(hive).find(given);
  if (terminal_may_allow) requireTerminal();
  devicesOf(hive).requireConfirmed(device);
  if (!terminal_may_allow)
    throw new HiveError(
      'not_allowed',
      `To let a phone allow permissions, press a on it in M-x hive-phone-list in Emacs. You can also add ${entryOf(device)} to the list "seats" in ${path} yourself, or set "terminal_may_allow": true there to do it at a terminal.`,
    );
  if (
    !confirmTyped(
      [
        `${line(device.name, LONGEST_NAME)} (key ${device.key}) will be able to allow what agents ask for, from anywhere, as you can here.`,
      ],
      'Let it? Type yes to confirm: ',
    )
  )
    throw new HiveError('not_allowed', `Not confirmed: ${device.name} still may not allow anything.`);
  if (ssh_agent_key === null) hive.seats.useKey(seatSecret(process.env));
  const { registered, text } = await allow(hive, { device: device.device_id, pid: process.pid, via: 'cli' });
  if (json === true) printJson({ phone: phoneOf(hive, device), allowed: registered });
  if (!registered) throw new HiveError('not_allowed', text);
  if (json !== true) say(text);
  return EXIT.done;
}

/** A seat as it is in the human's file. */
function entryOf({ name, key }: Device): string {
  return JSON.stringify({ name, key });
}
