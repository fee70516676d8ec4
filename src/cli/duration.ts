/** Durations as people type and read them. */
export { parseDuration } from '../domain/durations.ts';

/** A moment for a person, by the clock of where they are: `2026-11-22 08:37`. */
export function moment(at: string): string {
  const date = new Date(at);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** How long, as `parseDuration` reads it: `90 s`, `10 min`, `2 h`, `7 d`. */
export function duration(ms: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
  ] as const;
  const [length, name] = units.find(([length]) => ms >= length && ms % length === 0) ?? [1_000, 's'];
  return `${ms / length} ${name}`;
}

/** How long ago, short: `12 s`, `5 min`, `3 h`, `8 d`. */
export function age(since: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
