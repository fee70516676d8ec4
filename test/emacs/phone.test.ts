/**
 * Pairing, allowing and revoking a phone with real keys in a real Emacs.
 *
 * @module-tag as-displayed
 * @module-tag emacs
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Device } from '../../src/domain/devices.ts';
import { phraseFor } from '../../src/extensions/inbox/devices.ts';
import { devicesOf } from '../../src/extensions/inbox/service.ts';
import { humanTrust } from '../../src/infrastructure/platform/human-file.ts';
import { type OpenedHive, openHive } from '../../src/open-hive.ts';
import { callAs, newKey, pair, signedParams } from '../support/devices.ts';
import { fireDialog } from '../support/dialogs.ts';
import { type EmacsTerminal, type Home, openHome } from '../support/emacs.ts';
import { openTestHive } from '../support/hive.ts';
import { recordedEvent, said } from '../support/hooks.ts';

let home: Home;
let hive: OpenedHive;
let emacs: EmacsTerminal;

beforeEach(async () => {
  home = await openHome();
  hive = await openTestHive(home.store);
  emacs = await home.emacs();
  await emacs.said(/Registered this seat/);
});

/** Shows a QR code in Emacs; a phone uses its code. Returns the phone and the phrase that it shows. */
async function used(): Promise<{ device: Device; phrase: string }> {
  await emacs.keys('C-u');
  await emacs.command('hive-phone');
  await emacs.reply(/Address of the inbox:/, 'https://hive.example.org');
  await emacs.press(/████[\s\S]*▄/, 'M->');
  const screen = (await emacs.until(/The code is \S+\./)).join('\n');
  expect(screen).toContain('https://hive.example.org/inbox#code=');
  const code = /The code is (\S+)\./.exec(screen)?.[1] ?? '';
  const device = await devicesOf(hive).pair({ code, name: "Ada's phone", key: newKey().key });
  return { device, phrase: await phraseFor(device, code) };
}

test.each([
  ['blanks where it fits', 60, '37', 'camera at the code'],
  ['nothing where it does not', 24, '0', 'Type this address on the phone:'],
])('in a terminal without UTF-8, the code consists of %s', async (_what, lines, rows, said) => {
  const ascii = await home.emacs("(set-terminal-coding-system 'us-ascii)", { columns: 100, lines });
  await ascii.keys('C-u');
  await ascii.command('hive-phone');
  await ascii.reply(/Address of the inbox:/, 'https://hive.example.org');
  const screen = (await ascii.until(/The code is \S+\./)).join('\n');
  expect(screen).toContain(said);
  expect(screen).not.toMatch(/[█▀▄]|\?\?/);
  await ascii.evaluate('(message "%d rows" (how-many "^    +$" (point-min) (point-max)))');
  await ascii.until(new RegExp(`^"${rows} rows`, 'm'));
});

test('a phone is let in once its human says that it shows the same phrase; nothing asks by itself', async () => {
  const { device, phrase } = await used();
  await emacs.until(new RegExp(`Ada's phone has used the code[\\s\\S]*${phrase}`));
  expect((await emacs.screen()).join('\n')).not.toContain('(yes or no)');
  // Keys that somebody may be typing do nothing. (Emacs drops the key after one that signals an error, such as RET here.)
  await emacs.keys('y', 'n');
  await emacs.keys('c');
  await emacs.until(new RegExp(`Does Ada's phone show the words "${phrase}"`));
  // By now it has handled those keys.
  expect(await devicesOf(hive).admitted(device.device_id)).toBeUndefined();
  await emacs.enter('yes');
  await emacs.until(/Paired Ada's phone/);
  expect(await devicesOf(hive).admitted(device.device_id)).toMatchObject({ name: "Ada's phone" });
});

test('where no inbox is served, hive-phone offers to serve it, asks for the address once, and then shows the code', async () => {
  await emacs.evaluate('(setq hive-serve "127.0.0.1:0")');
  await emacs.command('hive-phone-list');
  await emacs.press(/No phone is paired\. {2}\+ pairs one/, '+');
  await emacs.press(/No inbox is served on this machine[\s\S]*s +serve it from this Emacs/, 's');
  await emacs.reply(/Address at which phones reach it/, 'https://hive.example.org');
  await emacs.press(/Serve it from later sessions of Emacs, too\?/, 'n');
  await emacs.press(/████[\s\S]*▄/, 'M->');
  await emacs.until(/hive\.example\.org\/inbox#code=[\s\S]*The code is \S+\./);
});

test('a phone that shows another phrase is refused', async () => {
  const { device } = await used();
  await emacs.press(/has used the code/, 'c');
  await emacs.reply(/Does Ada's phone show/, 'no');
  await emacs.until(/Refused Ada's phone/);
  await expect(devicesOf(hive).confirm(device, 'ada')).rejects.toMatchObject({ code: 'not_allowed' });
});

test('a phone in the list is let allow permissions, which then counts, and is revoked', async () => {
  // In the home of the human, as Emacs does when they have compared the phrase.
  const desk = await openHive({ store: home.store, env: { HOME: home.folder } });
  await pair(desk, 'Old phone');
  const phone = await pair(desk, "Ada's phone");
  await desk.close();
  await emacs.command('hive-phone-list');
  await emacs.press(/Old phone[\s\S]*Ada's phone +ada +paired +answer$/m, 'n', 'a');
  await emacs.reply(/Let Ada's phone allow/, 'yes');
  await emacs.until(/answer and allow/);
  const seats = () => humanTrust({ HOME: home.folder }).seats;
  const event = recordedEvent('claude-code/PermissionRequest-Bash-addRules.json');
  const { prompts, printed } = await fireDialog(hive, event, { surroundings: { seats } });
  const [prompt] = prompts;
  if (prompt === undefined) throw new Error('Nothing was asked.');
  const given = { decision: 'Allow', response_id: 'r-1', responded_at: await hive.history.now() };
  const params = await signedParams(hive, phone.seat, prompt, given);
  // The process that serves the inbox reads the file that this Emacs has written.
  const serving = await openHive({ store: home.store, env: { HOME: home.folder } });
  await callAs(serving, phone.device, 'hivemind-response', params);
  await serving.close();
  expect(said(await printed)?.hookSpecificOutput).toMatchObject({ decision: { behavior: 'allow' } });
  // Point is still on its line.
  await emacs.keys('k');
  await emacs.press(/Revoke Ada's phone\?/, 'y');
  await emacs.until(/Ada's phone +ada +revoked/);
  expect(readFileSync(join(home.folder, '.config/hive/trust.json'), 'utf8')).not.toContain(phone.seat.key);
});
