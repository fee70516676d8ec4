/** `hive config`: shows and sets a person's preferences. An agent may only read them. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { StoredSetting } from '../application/settings.ts';
import type { Device } from '../domain/devices.ts';
import { invalidInput } from '../domain/errors.ts';
import {
  EMACS_OPTION,
  isOfPhones,
  type Origin,
  parseSetting,
  type Setting,
  settingNamed,
  showSetting,
} from '../domain/settings.ts';
import { humanName, thisSeat } from '../infrastructure/platform/paths.ts';
import { terminalName } from '../infrastructure/platform/processes.ts';
import { refuseAgents } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { findPhone } from './extensions.ts';
import { doneAsJson, type Format, print, printJson, printRows, remark } from './output.ts';
import { perform } from './program.ts';

/** The value that restores the default, as with `hive sessions set`. */
const DEFAULT = 'default';

export function defineConfig(command: Command): void {
  perform(command, config)
    .argument('[key]', 'the setting; without one, all of them')
    .argument('[value]', `what to set it to, or ${DEFAULT}; without one, it is shown`)
    .option('--phone <phone>', 'the settings of a phone, in place of yours');
}

async function config(
  hive: Hive,
  key: string | undefined,
  value: string | undefined,
  { json = false, phone: given }: Format & { phone?: string },
): Promise<ExitCode> {
  const phone = given === undefined ? null : await findPhone(hive, given);
  if (key === undefined) return showAll(hive, { phone, json });
  const setting = settingNamed(key);
  if (phone !== null && !isOfPhones(setting))
    throw invalidInput(
      `A phone has no ${setting.key} of its own. hive config --phone PHONE lists what it may have.`,
    );
  if (value === undefined) return showOne(hive, setting, { phone, json });
  await refuseAgents(hive, 'change settings');
  return set(hive, setting, value === DEFAULT ? null : value, { phone, json });
}

/** `phone`: the phone whose settings these are; null means this seat. */
type ShowOptions = { phone: Device | null; json: boolean };

function settingsAt(hive: Hive, phone: Device | null): Promise<StoredSetting[]> {
  return phone === null ? hive.settings.list(thisSeat()) : hive.settings.ofPhone(phone);
}

const ORIGINS: Readonly<Record<Origin, string>> = {
  default: 'default',
  stored: 'stored',
  emacs: 'Emacs',
  inherited: 'seat',
};

async function showAll(hive: Hive, { phone, json }: ShowOptions): Promise<ExitCode> {
  const settings = await settingsAt(hive, phone);
  if (json) return doneAsJson({ settings });
  const rows = settings.map(({ key, value, origin, text }) => [
    key,
    showSetting(value),
    ORIGINS[origin],
    text,
  ]);
  printRows([['KEY', 'VALUE', 'ORIGIN', 'DESCRIPTION'], ...rows], '', true);
  return EXIT.done;
}

async function showOne(hive: Hive, { key }: Setting, { phone, json }: ShowOptions): Promise<ExitCode> {
  const setting = (await settingsAt(hive, phone)).find((one) => one.key === key);
  if (setting === undefined) throw invalidInput(`There is no setting "${key}". hive config lists them.`);
  if (json) printJson({ setting });
  else {
    print(showSetting(setting.value));
    remark(`${setting.text}. ${source(setting)}`);
  }
  return EXIT.done;
}

/** Where a value comes from, in a sentence. */
function source({ origin, default: fallback }: StoredSetting): string {
  if (origin === 'default') return 'This is the default.';
  if (origin === 'inherited') return 'The phone has it from the seat at which it was paired.';
  return origin === 'emacs'
    ? `Set in Emacs; the default is ${showSetting(fallback)}.`
    : `Set with hive config; the default is ${showSetting(fallback)}.`;
}

async function set(
  hive: Hive,
  setting: Setting,
  value: string | null,
  { phone, json }: ShowOptions,
): Promise<ExitCode> {
  const find = async (): Promise<StoredSetting | undefined> =>
    (await settingsAt(hive, phone)).find(({ key }) => key === setting.key);
  const seat = phone?.device_id ?? thisSeat();
  const now = new Date().toISOString();
  const parsed = value === null ? null : parseSetting(setting, value, now);
  if (phone !== null && value !== null && parsed === null)
    throw invalidInput(
      `A phone without ${setting.key} of its own has those of the seat at which it was paired. To go back to them, set it to ${DEFAULT}.`,
    );
  const before = await find();
  const stored = await hive.settings.set(setting, parsed, seat, 'cli', {
    by: humanName(process.env),
    pid: process.pid,
    from: terminalName(),
  });
  const after = (await find()) ?? stored;
  if (json) printJson({ setting: after });
  else print(`${after.key}: ${showSetting(after.value)}`);
  // Emacs sends an option each time it connects, but a setting made by a command only once.
  if (before?.origin === 'emacs' && setting.emacs === EMACS_OPTION)
    remark(
      `Emacs set this. If it is in the option ${EMACS_OPTION} there, Emacs sets it again when it next connects.`,
    );
  return EXIT.done;
}
