/** Patterns of permission rules, in which a star means any characters. */

/** Marks a star in a path: no path contains this character. */
export const STAR = '\0';

/** Whether a text matches a pattern in which a star means any characters. */
export function fits(pattern: string, text: string): boolean {
  return fill(pattern.split('*'), text) !== null;
}

/** The text that each star between the pieces matches; null when the text does not consist of them. */
export function fill(pieces: readonly string[], text: string): string[] | null {
  const [first = ''] = pieces;
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return text === first ? [] : null;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return null;
  const end = text.length - last.length;
  const filled: string[] = [];
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return null;
    filled.push(text.slice(at, found));
    at = found + piece.length;
  }
  return [...filled, text.slice(at, end)];
}
