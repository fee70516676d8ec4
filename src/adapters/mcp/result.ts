/** What results have in common. */

/** What a client passes on to its model whole: Claude Code cuts results at 25,000 tokens. */
export const RESULT_BYTES: number = 48 * 1024;

/** Sentences as one text; what is null is left out. */
export function sentences(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(' ');
}
