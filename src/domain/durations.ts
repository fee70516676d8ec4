/** Durations as people write them: `90s`, `10m`, `2h`, `1d`, `500ms`. */
import { invalidInput } from './errors.ts';

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
