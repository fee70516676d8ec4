/** The seat of this process: the person on this machine, for whom popups are shown once. */
import { hostname, userInfo } from 'node:os';

/** `user@machine`; a user without a name (a container's bare number) is known by the number. */
export function thisSeat(): string {
  return `${userName()}@${hostname()}`;
}

/** What the human is called: `HIVE_USER`, else as they have logged in. */
export function humanName(env: Readonly<Record<string, string | undefined>>): string {
  const given = env['HIVE_USER']?.trim();
  return given === undefined || given === '' ? userName() : given;
}

/** The person as their system knows them. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'user');
  }
}
