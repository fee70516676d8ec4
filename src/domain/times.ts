/** Times as they are stored: ISO-8601 UTC, which compares as text. Pure. */

/** The time so many milliseconds after another; before it, if the number is negative. */
export function timeAfter(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}
