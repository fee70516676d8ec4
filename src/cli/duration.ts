/** Durations as people type them: `90s`, `10m`, `2h`, `1d`, `500ms`. */
import { invalidInput } from '../domain/errors.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** @throws HiveError `invalid_input` that shows how a duration is written. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  const unit = UNITS[match?.[2] ?? ''];
  if (match === null || unit === undefined)
    throw invalidInput(`"${text}" is no duration: write 90s, 10m, 2h or 1d.`);
  return Math.round(Number(match[1]) * unit);
}

/** How long ago, short: `12 s`, `5 min`, `3 h`, `8 d`. */
export function age(since: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
