/**
 * notify-send called directly, without a shell: the way to buttons, to a click, and to taking a popup down.
 * With actions it waits and prints the key of the one chosen; SIGINT closes its popup (SIGTERM would leave
 * it). Needs libnotify 0.8.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { PopupEnd, ShownPopup } from '../../application/ports.ts';
import type { Popup } from '../../domain/popups.ts';
import { revealed } from '../../domain/text.ts';
import { complaint, type Environment, type Finished, finished, onPath, runProgram } from './command.ts';

/** A failure is clean and quick (measured: under 50 ms), success is silent: who lives so long has shown it. */
const SHOWN_AFTER_MS = 250;
/** How long a popup may take to go before its process is killed. */
const CLOSE_MS = 400;

export interface WaitingPopup extends ShownPopup {
  /** Resolves when its process is gone. */
  readonly gone: Promise<void>;
}

/** @throws Error with what notify-send complained of. */
export async function showWaiting(popup: Popup, markup: boolean, env: Environment): Promise<WaitingPopup> {
  const child = spawnTied(
    [...argumentsOf(popup), '--', plainTitle(popup.title), plainBody(popup.body, markup)],
    env,
  );
  const end = finished(child);
  const early = await Promise.race([end, after(SHOWN_AFTER_MS)]);
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
  // Also where it leads nowhere: only a notification with an action is waited for and can be taken down.
  if (openable || buttons.length === 0) args.push(`--action=default=${openable ? 'Open' : 'Close'}`);
  return args;
}

/** Where setpriv exists, the kernel interrupts notify-send when we die, however we die: no popup stays whose buttons do nothing. */
function spawnTied(args: readonly string[], env: Environment): ChildProcess {
  const command = onPath('setpriv', env)
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

function after(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), ms));
}

// ---------------------------------------------------------------------------
// Agents' text on its way to a notification server (invariant 12). Measured: a NUL or a text of 130 kB as
// the first call disables node-notifier for the life of the process, later it throws; a text that starts
// with `-` is read as an option; `<tags>` in the body vanish as markup.

const MAX_BYTES = 1_024;
/** What becomes a space where all is to stand on one line. */
const LINE_SPACE = /[\t\r\n]+/g;

function plain(text: string, space: RegExp): string {
  const cut = cutBytes(revealed(text.toWellFormed().replace(space, ' ').trim()), MAX_BYTES);
  return cut.startsWith('-') ? ` ${cut}` : cut;
}

/** One line, never an option; what would be hidden is shown as what it is. */
export function plainTitle(text: string): string {
  return plain(text, LINE_SPACE) || ' ';
}

/** Lines are kept; `markup` says whether the server would read tags. An empty body is an error to node-notifier. */
export function plainBody(text: string, markup: boolean): string {
  const body = plain(text, /[\t\r]+/g) || ' ';
  return markup ? body.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;') : body;
}

/** A button: short, one line. */
export function plainLabel(text: string): string {
  return cutBytes(plain(text, LINE_SPACE), 60) || '…';
}

function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  // A character that the cut went through becomes U+FFFD, which goes with the ellipsis.
  return `${bytes
    .subarray(0, limit - 3)
    .toString()
    .replace(/\ufffd+$/, '')}…`;
}

// ---------------------------------------------------------------------------
// The D-Bus session bus of the person, and what the notification server on it can do. `hive mcp` often
// starts without the variable that names the bus, so its usual place is tried as well.

/**
 * The bus's address, or null where there is none; `disabled:` is the custom for wanting none. `users` is the folder with
 * one folder of each user who has logged in, named by the number.
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
  '--reply-timeout=2000',
  '--dest=org.freedesktop.Notifications',
  '/org/freedesktop/Notifications',
  'org.freedesktop.Notifications.GetCapabilities',
];
const LIMIT_MS = 3_000;

/** What the server can (`actions`, `body-markup`, …), or null when nobody answers or dbus-send is missing. */
export async function serverCapabilities(env: Environment): Promise<ReadonlySet<string> | null> {
  const { code, stdout } = await runProgram('dbus-send', ASK, env, LIMIT_MS);
  if (code !== 0) return null;
  return new Set([...stdout.matchAll(/^\s*string "([^"]*)"$/gm)].map(([, name]) => name ?? ''));
}

/** Whether a notification server answers. Where nothing can tell, it is taken to: a popup will show. */
export async function answersOnBus(env: Environment): Promise<boolean> {
  if (process.platform === 'darwin' || process.platform === 'win32' || !onPath('dbus-send', env)) return true;
  return (await serverCapabilities(env)) !== null;
}
