/**
 * notify-send, called directly without a shell: it allows buttons, a click, and taking a popup down. With actions it waits
 * and prints the key of the chosen one; SIGINT closes its popup (SIGTERM would leave it). Needs libnotify 0.8. This file also
 * makes text safe for a notification server, and finds out what the server can do.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PopupEnd, ShownPopup } from '../../application/world.ts';
import { revealed } from '../../domain/display.ts';
import { LONGEST_BUTTON, type Popup } from '../../domain/popups.ts';
import type { Environment } from '../../domain/sources.ts';
import { platform } from '../platform/platform.ts';
import { programFile } from '../platform/project-path.ts';
import { complaint, type Finished, finished } from './command.ts';

/** In ms. It fails quickly (measured: under 50 ms) and succeeds silently, so after this time a popup counts as shown. */
const SHOWN_AFTER_MS = 250;
/** How many ms a popup may take to close before its process is killed. */
const CLOSE_MS = 400;

/** A popup that is on the screen. */
export interface WaitingPopup extends ShownPopup {
  /** Resolves when its process is gone. */
  readonly gone: Promise<void>;
}

/** Shows a popup and waits for its end. @throws Error with notify-send's complaint. */
export async function showWaiting(popup: Popup, markup: boolean, env: Environment): Promise<WaitingPopup> {
  const child = spawnTied(
    [...argumentsOf(popup), '--', plainTitle(popup.title), bodyArgument(popup.body, markup)],
    env,
  );
  const end = finished(child);
  const early = await Promise.race([end, sleep(SHOWN_AFTER_MS, null)]);
  if (early !== null && early.code !== 0) throw new Error(complaint(early, 'notify-send'));
  return {
    outcome: end.then(endOf),
    gone: end.then(() => undefined),
    close: () => close(child),
  };
}

function argumentsOf({ urgency, buttons, openable, sound }: Popup): string[] {
  const args = ['--app-name=Hive', `--urgency=${urgency}`, '--category=im.received'];
  if (sound) args.push('--hint=string:sound-name:message-new-instant');
  for (const [index, label] of buttons.entries()) args.push(`--action=${index}=${plainLabel(label)}`);
  // Even an action that does nothing helps: only a notification with an action is waited for and can be removed.
  if (openable || buttons.length === 0) args.push(`--action=default=${openable ? 'Open' : 'Close'}`);
  return args;
}

/** If setpriv exists, the kernel interrupts notify-send when we die in any way, so that no popup with dead buttons stays. */
function spawnTied(args: readonly string[], env: Environment): ChildProcess {
  const command =
    programFile('setpriv', env) !== null
      ? ['setpriv', '--pdeathsig', 'INT', '--', 'notify-send', ...args]
      : ['notify-send', ...args];
  const [program = '', ...rest] = command;
  return spawn(program, rest, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

function endOf({ stdout }: Finished): PopupEnd {
  const key = stdout.trim();
  if (key === 'default') return { kind: 'opened' };
  return /^\d$/.test(key) ? { kind: 'button', index: Number(key) } : { kind: 'closed' };
}

function close(child: ChildProcess): void {
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
  child.once('close', () => clearTimeout(timer));
  if (child.exitCode !== null || child.signalCode !== null) clearTimeout(timer);
}

// ---- Text for a notification server (invariant 12) ----
// Measured: a NUL, or a text of 130 kB as the first call, disables node-notifier for the life of the process; later it
// throws. A text that starts with `-` is read as an option, and `<tags>` in the body vanish as markup.

const MAX_BYTES = 1_024;
/** Becomes a space in text of one line. */
const LINE_SPACE = /[\t\r\n]+/g;

function plain(text: string, space: RegExp): string {
  const cut = cutBytes(revealed(text.toWellFormed().replace(space, ' ').trim()), MAX_BYTES);
  return cut.startsWith('-') ? ` ${cut}` : cut;
}

/** One line that is never read as an option; hidden characters are spelled out. */
export function plainTitle(text: string): string {
  return plain(text, LINE_SPACE) || ' ';
}

/** Lines are kept. `markup`: the server reads tags. An empty body would be an error for node-notifier. */
export function plainBody(text: string, markup: boolean): string {
  const body = plain(text, /[\t\r]+/g) || ' ';
  return markup ? body.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;') : body;
}

/** `plainBody` as an argument of notify-send, which reads `\74` in a body as `<`, and so on. */
export function bodyArgument(text: string, markup: boolean): string {
  return plainBody(text, markup).replaceAll('\\', '\\\\');
}

/** The label of a button: short, one line. */
export function plainLabel(text: string): string {
  return cutBytes(plain(text, LINE_SPACE), LONGEST_BUTTON) || '…';
}

function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  // A character cut in half becomes U+FFFD, and is dropped before the ellipsis.
  return `${bytes
    .subarray(0, limit - 3)
    .toString()
    .replace(/\ufffd+$/, '')}…`;
}

// ---- The D-Bus session bus ----
// `hive mcp` often starts without the variable that names the bus, so its usual path is tried as well.

/**
 * The address of the person's session bus, or null when there is none; `disabled:` is the usual value for no bus. `users`
 * is the folder with one folder per logged-in user, named by number.
 */
export function sessionBus(
  env: Environment,
  uid: number = process.getuid?.() ?? 0,
  users = '/run/user',
): string | null {
  const given = env['DBUS_SESSION_BUS_ADDRESS'];
  if (given === 'disabled:') return null;
  if (given !== undefined && given !== '') return given;
  const runtime = env['XDG_RUNTIME_DIR'];
  const places = [...(runtime === undefined || runtime === '' ? [] : [runtime]), `${users}/${uid}`];
  const found = places.map((folder) => `${folder}/bus`).find((socket) => existsSync(socket));
  return found === undefined ? null : `unix:path=${found}`;
}

const ASK = [
  '--session',
  '--print-reply',
  '--reply-timeout=5000',
  '--dest=org.freedesktop.Notifications',
  '/org/freedesktop/Notifications',
  'org.freedesktop.Notifications.GetCapabilities',
];
/** In ms: long enough for a busy machine. */
const LIMIT_MS = 6_000;

/**
 * The capabilities of the notification server (`actions`, `body-markup`, …); `null` when there is none, or dbus-send is missing;
 * `silent` when it accepts the call but does not answer. A popup sent to such a server appears once it continues,
 * however late, and cannot be taken back.
 */
export async function serverCapabilities(env: Environment): Promise<ReadonlySet<string> | 'silent' | null> {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];
  const limited = { timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const;
  const { code, stdout, stderr } = await finished(
    spawn('dbus-send', ASK, { env: { ...env }, stdio, ...limited }),
  );
  if (code !== 0) return SILENT.test(stderr) || (code === null && stderr === '') ? 'silent' : null;
  return new Set([...stdout.matchAll(/^\s*string "([^"]*)"$/gm)].map(([, name]) => name ?? ''));
}

/** The message of dbus-send after its time limit; a dbus-send that hangs is killed, and prints nothing. */
const SILENT = /\bNoReply\b|[Dd]id not receive a reply/;

/** Whether a notification server answers. True if that cannot be determined. */
export async function answersOnBus(env: Environment): Promise<boolean> {
  if (platform.popups !== 'session-bus' || programFile('dbus-send', env) === null) return true;
  const capabilities = await serverCapabilities(env);
  return capabilities !== null && capabilities !== 'silent';
}
