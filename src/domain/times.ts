/** Times as they are stored: ISO-8601 UTC, which compares as text; and as people read them. */

export const DAY_MS = 86_400_000;

/** The time `ms` milliseconds after another one; before it if `ms` is negative. */
export function timeAfter(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

/** The day of a time in the time zone of this process, such as `2026-11-23`. */
export function localDay(time: string): string {
  const date = new Date(time);
  const two = (number: number): string => String(number).padStart(2, '0');
  return [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
}

/** A time of day as people read it, `HH:MM`, in the time zone of this machine. */
export function clockOf(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** A time in the time zone of this process: `2026-11-22 08:37`. */
export function moment(at: string): string {
  return `${localDay(at)} ${clockOf(new Date(at))}`;
}
