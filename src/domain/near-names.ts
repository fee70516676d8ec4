/** Names that come near a mistyped one: those it begins, and those at most two slips away. */
import { foldHandle } from './mention-parser.ts';

const MOST = 3;
const SLIPS = 2;
/** Longer than any handle that somebody mistypes; keeps the comparison cheap whatever comes in. */
const LONGEST = 64;

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

function distanceTo(given: string, candidate: string): number {
  if (given.length >= 3 && candidate.startsWith(given)) return 0;
  return editDistance(given, candidate);
}

/** How many characters to add, drop or change (Levenshtein); more than `SLIPS` may be any larger number. */
export function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > SLIPS) return SLIPS + 1;
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const change = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(change, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
