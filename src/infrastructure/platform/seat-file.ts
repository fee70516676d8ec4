/**
 * The person's secret keys, and the entry of their seat in their file of trust (domain/seats.ts). All keys are next to that file,
 * and only the person can read them.
 */
import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HiveError } from '../../domain/errors.ts';
import { SECRET_KEY, type Seat } from '../../domain/seats.ts';
import type { Environment } from '../../domain/sources.ts';
import { makeFolders, readFileOnly, syncPath, writeDurably } from './files.ts';
import { readPrivately } from './human-file.ts';
import { runsKeyFile, seatKeyFile, trustFile } from './paths.ts';

/**
 * The secret key of the person's seat, made when there is none. Emacs reads and makes the same file (hive-seat.el).
 * @throws HiveError `not_allowed` for a file that others could have read or written.
 */
export function seatSecret(env: Environment): string {
  return secretIn(seatKeyFile(env), 'the key of a seat');
}

/** The key that the records of runs are marked with (runs.ts), made when there is none. @throws HiveError like `seatSecret`. */
export function runsSecret(env: Environment): string {
  return secretIn(runsKeyFile(env), 'the key of runs');
}

function secretIn(path: string, what: string): string {
  if (!existsSync(path)) {
    makeFolders(dirname(path));
    try {
      // Most processes make no key, and loading node:crypto takes a fifth of a bare start.
      const { randomBytes } = process.getBuiltinModule('node:crypto');
      writeDurably(path, randomBytes(32).toString('hex'));
    } catch (error) {
      // Another process has made it since.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  const { text, problems } = readPrivately(path);
  const [problem] = problems;
  if (problem !== undefined) throw new HiveError('not_allowed', problem);
  if (text === null || !SECRET_KEY.test(text))
    throw new HiveError('not_allowed', `${path} is not ${what}: put it aside, and Hive makes a new one.`);
  return text;
}

/**
 * Writes a seat into the person's file, which must be valid or missing, and replaces a seat with the same key. The rest of the
 * file stays unchanged.
 */
export function addSeat(env: Environment, seat: Seat): void {
  rewriteTrust(env, (text) => withSeat(text, seat));
}

/** Removes the seat with this key from the person's file. An empty list stays: without it, the next key would register itself. */
export function removeSeat(env: Environment, key: string): void {
  rewriteTrust(env, (text) => {
    const content = JSON.parse(text) as { seats?: Seat[] };
    const seats = (content.seats ?? []).filter((seat) => seat.key !== key);
    return `${JSON.stringify({ ...content, seats }, null, 2)}\n`;
  });
}

/**
 * Replaces or creates the person's file: `change` returns its new text. Nobody ever reads half of it, and a change that somebody
 * else has made in the meantime is not overwritten.
 * @throws HiveError `store_busy` in that case.
 */
export function rewriteTrust(env: Environment, change: (text: string) => string): void {
  const given = trustFile(env);
  const path = existsSync(given) ? realpathSync.native(given) : given;
  const read = (): string => (existsSync(path) ? readFileOnly(path) : '{}');
  const before = read();
  makeFolders(dirname(path));
  const beside = join(dirname(path), `.trust-${process.getBuiltinModule('node:crypto').randomUUID()}`);
  try {
    writeDurably(beside, change(before));
    if (read() !== before)
      throw new HiveError(
        'store_busy',
        `${path} was changed at the same time: nothing was written. Try again.`,
      );
    renameSync(beside, path);
    syncPath(dirname(path));
  } finally {
    rmSync(beside, { force: true });
  }
}

/** The text of the file with this seat. A first seat is added at its end; the person's formatting stays. */
function withSeat(text: string, seat: Seat): string {
  const content = JSON.parse(text) as Record<string, unknown>;
  const { seats } = content;
  if (Array.isArray(seats)) {
    const others = (seats as Seat[]).filter(({ key }) => key !== seat.key);
    return `${JSON.stringify({ ...content, seats: [...others, seat] }, null, 2)}\n`;
  }
  const rest = text.slice(0, text.lastIndexOf('}')).trimEnd();
  const comma = Object.keys(content).length === 0 ? '' : ',';
  return `${rest}${comma}\n  "seats": [\n    ${JSON.stringify(seat)}\n  ]\n}\n`;
}
