/**
 * The D-Bus session bus of the person, and what the notification server on it can do. `hive mcp` often
 * starts without the variable that names the bus, so its usual place is tried as well.
 */
import { existsSync } from 'node:fs';
import { type Environment, onPath, runProgram } from './children.ts';

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
