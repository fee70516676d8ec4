/** The seat of this process: the person on this machine, for whom popups are shown once. */
import { hostname, userInfo } from 'node:os';

/** `user@machine`; a user without a name (a container's bare number) is known by the number. */
export function thisSeat(): string {
  return `${userName()}@${hostname()}`;
}

/** The person as their system knows them. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'user');
  }
}
