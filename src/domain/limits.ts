/**
 * Limits on input, on how long a call waits, and on the size of one reply. Each input check returns the cleaned value, or throws
 * an error whose sentence names the field.
 */

import { isBlank } from './display.ts';
import { invalidInput } from './errors.ts';
import { characterCount, cleanText } from './text.ts';
import { DAY_MS } from './times.ts';

/** A text of at most `limit` characters, cleaned. @throws HiveError `invalid_input` that names the field. */
export function bounded(field: string, text: string, limit: number): string {
  if (text.length > limit && characterCount(text) > limit) {
    throw invalidInput(`The ${field} is too long: at most ${limit.toLocaleString('en')} characters.`, {
      field,
    });
  }
  return cleanText(text);
}

/** Like `bounded`, for a field that may be missing. Empty counts as missing. */
export function boundedOptional(
  field: string,
  text: string | null | undefined,
  limit: number,
): string | null {
  return text === null || text === undefined ? null : bounded(field, text, limit) || null;
}

/** The text itself, if it has at most `limit` bytes; the error calls it `name`. @throws HiveError `invalid_input`. */
export function boundedBytes(field: string, text: string, limit: number, name = field): string {
  if (Buffer.byteLength(text) > limit) {
    const most = `${limit / 1024} KB`;
    throw invalidInput(`The ${name} is too long: at most ${most}. Put the rest into a file and name it.`, {
      field,
    });
  }
  return text;
}

/** Like `bounded`, for a field that must contain something visible. @throws HiveError `invalid_input`. */
export function required(field: string, text: string, limit: number): string {
  return visible(field, bounded(field, text, limit));
}

/** The text itself. @throws HiveError `invalid_input` when nothing in it is visible. */
export function visible(field: string, text: string): string {
  if (isBlank(text)) throw invalidInput(`The ${field} is empty: fill it in.`, { field });
  return text;
}

/** The list itself, if it has at most `limit` items. @throws HiveError `invalid_input` that names the field. */
export function atMost<T>(field: string, items: readonly T[], limit: number): readonly T[] {
  if (items.length > limit)
    throw invalidInput(`There are ${items.length} ${field}: at most ${limit} are possible.`, { field });
  return items;
}

// ---- Durations ----
// As people write them: `90s`, `10m`, `2h`, `1d`, `500ms`.

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
};

/** A hundred years, in days: later times would be written with more digits than others, and sorted wrongly. */
const LONGEST_DURATION_D = 36_500;

/** The duration in milliseconds. @throws HiveError `invalid_input` that shows how a duration is written. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  const unit = UNITS[match?.[2] ?? ''];
  if (match === null || unit === undefined)
    throw invalidInput(`"${text}" is not a duration: write 90s, 10m, 2h or 1d.`);
  const ms = Math.round(Number(match[1]) * unit);
  if (ms > LONGEST_DURATION_D * DAY_MS)
    throw invalidInput(`"${text}" is too long: at most ${LONGEST_DURATION_D}d.`);
  return ms;
}

/**
 * The longest wait of a tool call in ms, except for the blocking ask, and for hivemind_await_ask where the client is
 * known to allow more: clients give up on calls that take longer.
 */
export const LONGEST_WAIT_MS = 25_000;

// ---- The size of one reply ----

/** How many of these, from the first on, fit into this many bytes of JSON; at least one. */
export function countThatFits(items: readonly unknown[], bytes: number): number {
  let room = bytes;
  const first = items.findIndex((item) => {
    room -= Buffer.byteLength(JSON.stringify(item)) + 1;
    return room < 0;
  });
  return first === -1 ? items.length : Math.max(1, first);
}
