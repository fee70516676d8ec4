/** `hive phone`: pairs a phone or a browser with this hive, lists those that are paired, and revokes them. Only for humans. */
import type { Command } from 'commander';
import { allow, invite, phoneOf, phraseFor, qrOf, revoke } from '../adapters/phones.ts';
import type { Hive } from '../application/hive.ts';
import { type Device, PAIRING_MS } from '../domain/devices.ts';
import { HiveError } from '../domain/errors.ts';
import { foldName } from '../domain/humans.ts';
import { humanName, thisSeat } from '../infrastructure/platform/paths.ts';
import { seatSecret } from '../infrastructure/platform/seat-file.ts';
import { humanCommands } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import {
  age,
  confirmTyped,
  type Format,
  line,
  moment,
  print,
  printJson,
  printRows,
  remark,
} from './output.ts';
import { ACTION, PHONE } from './sentences.ts';

interface AddOptions extends Format {
  url?: string;
  by?: string;
}

export function definePhone(command: Command): void {
  const define = humanCommands(command, { action: ACTION.phones, unnamed: '' });
  define<AddOptions>('add', 'pair a phone: shows a QR code and waits for it', (hive, _device, options) =>
    add(hive, options),
  )
    .option('--url <url>', 'the address of the inbox, if another machine serves it')
    .option('--by <name>', 'whose phone it is; default: HIVE_USER, else your login name');
  define<Format>('list', 'list the phones', (hive, _device, options) => list(hive, options));
  define<Format>('allow <phone>', 'let a phone allow permissions', allowPhone);
  define<Format>(
    'revoke <phone>',
    'take away the access of a phone, at once',
    async (hive, given, { json }) => {
      const { device, problem } = await revoke(hive, { device: given, by: humanName(process.env) });
      if (json === true) printJson({ phone: phoneOf(hive, device) });
      else print(PHONE.revoked(device.name));
      if (problem !== null) remark(problem);
      return problem === null ? EXIT.done : EXIT.error;
    },
  );
}

async function add(hive: Hive, { url, by, json }: AddOptions): Promise<ExitCode> {
  requireTerminal();
  const own = humanName(process.env);
  const human = by ?? own;
  const seat = foldName(human) === foldName(own) ? thisSeat() : null;
  const { code, address, warning } = await invite(hive, { human, seat, url: url ?? null });
  if (warning !== null) remark(warning);
  // With --json stdout has the result only.
  const say = (text: string): void =>
    void (json === true ? process.stderr : process.stdout).write(`${text}\n`);
  const { blocks } = await qrOf(address);
  say(`${onBlack(blocks)}\n${PHONE.scan(address, code)}`);
  const device = await hive.feed.until(() => hive.devices.paired(code), { wait_ms: PAIRING_MS });
  if (device === undefined) {
    remark(PHONE.nobodyCame);
    return EXIT.expired;
  }
  const phrase = await phraseFor(device, { code, store_id: hive.store_id });
  const text = PHONE.compare(line(device.name, LONGEST_NAME), phrase);
  if (!confirmTyped([text], PHONE.confirm)) {
    await revoke(hive, { device: device.device_id, by: human });
    throw new HiveError('not_allowed', PHONE.refused(device.name));
  }
  const confirmed = await hive.devices.confirm(device, human);
  if (json === true) printJson({ phone: phoneOf(hive, confirmed) });
  else print(PHONE.paired(confirmed.name));
  return EXIT.done;
}

/** In columns. */
const LONGEST_NAME = 60;

/** Light blocks on black, whatever colours the terminal has; plain in a pipe. */
function onBlack(blocks: string): string {
  if (!process.stdout.isTTY) return blocks;
  return blocks
    .split('\n')
    .map((row) => `\u001b[97;40m${row}\u001b[0m`)
    .join('\n');
}

/** A command that lets somebody in is typed by a person. @throws HiveError `not_allowed` without a terminal. */
function requireTerminal(): void {
  if (!process.stdin.isTTY) throw new HiveError('not_allowed', PHONE.needsTerminal);
}

async function list(hive: Hive, { json }: Format): Promise<ExitCode> {
  const phones = (await hive.devices.list()).map((device) => phoneOf(hive, device));
  if (json === true) {
    printJson({ phones });
    return EXIT.done;
  }
  if (phones.length === 0) remark(PHONE.none);
  else
    printRows([
      PHONE.columns,
      ...phones.map(({ device_id, name, human, state, revoked_at, seen_at, may_allow, push }) => [
        device_id,
        name,
        human,
        PHONE.state(state, revoked_at === null ? '' : moment(revoked_at)),
        seen_at === null ? '-' : PHONE.ago(age(seen_at)),
        may_allow ? PHONE.mayAllow : PHONE.mayAnswer,
        PHONE.push[push],
      ]),
    ]);
  return EXIT.done;
}

async function allowPhone(hive: Hive, given: string, { json }: Format): Promise<ExitCode> {
  const { terminal_may_allow, path, ssh_agent_key } = hive.trust.file();
  const device = await hive.devices.find(given);
  if (terminal_may_allow) requireTerminal();
  hive.devices.requireConfirmed(device);
  if (!terminal_may_allow) throw new HiveError('not_allowed', PHONE.onlyEmacsAllows(entryOf(device), path));
  if (!confirmTyped(PHONE.allowing(line(device.name, LONGEST_NAME), device.key), PHONE.confirmAllow))
    throw new HiveError('not_allowed', PHONE.notAllowed(device.name));
  if (ssh_agent_key === null) hive.seats.useKey(seatSecret(process.env));
  const { registered, text } = await allow(hive, { device: device.device_id, pid: process.pid, via: 'cli' });
  if (json === true) printJson({ phone: phoneOf(hive, device), allowed: registered });
  if (!registered) throw new HiveError('not_allowed', text);
  if (json !== true) print(text);
  return EXIT.done;
}

/** A seat as it is in the human's file. */
function entryOf({ name, key }: Device): string {
  return JSON.stringify({ name, key });
}
