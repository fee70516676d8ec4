/** Durations as people type and read them. */
export { parseDuration } from '../domain/durations.ts';

/** How long ago, short: `12 s`, `5 min`, `3 h`, `8 d`. */
export function age(since: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
