/** Names that come near a mistyped one: those it begins, those at most two slips away, and those it begins but for a slip. */
import { foldHandle } from './mention-parser.ts';

const MOST = 3;
const SLIPS = 2;
/** Longer than any handle that somebody mistypes; keeps the comparison cheap whatever comes in. */
const LONGEST = 64;
/** Fewer characters begin too many names. */
const BEGINNING = 3;
/** From here on the beginning of a name may have a slip, and one name may be another's beginning. */
const LONG_BEGINNING = 5;

/** The nearest first, at most three. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const given = foldHandle(name);
  if (given.length > LONGEST) return [];
  return names
    .map((candidate) => ({ candidate, distance: distanceTo(given, foldHandle(candidate)) }))
    .filter(({ distance }) => distance <= SLIPS)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST)
    .map(({ candidate }) => candidate);
}

/** A beginning with a slip in it counts as two slips: whole names come first. */
function distanceTo(given: string, candidate: string): number {
  if (given.length >= BEGINNING && candidate.startsWith(given)) return 0;
  if (candidate.length >= LONG_BEGINNING && given.startsWith(candidate)) return 1;
  const row = lastRow(given, candidate.slice(0, LONGEST));
  const whole = candidate.length > LONGEST ? SLIPS + 1 : (row.at(-1) ?? 0);
  // The last character typed is one of the name's: else all that begin alike would come near.
  const begins =
    given.length >= LONG_BEGINNING &&
    row.some((slips, column) => slips <= 1 && candidate[column - 1] === given.at(-1));
  return Math.min(whole, begins ? SLIPS : SLIPS + 1);
}

/** How many characters to add, drop or change (Levenshtein); more than `SLIPS` may be any larger number. */
export function editDistance(from: string, to: string): number {
  return Math.abs(from.length - to.length) > SLIPS ? SLIPS + 1 : (lastRow(from, to).at(-1) ?? 0);
}

/** How many characters to add, drop or change (Levenshtein) to get to each beginning of `to`. */
function lastRow(from: string, to: string): number[] {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const change = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(change, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row;
}
