/**
 * Text from agents on a terminal (invariant 12): what a terminal would obey, reorder by or hide is shown
 * as what it is; rows are cut at the terminal's width, and stay whole when they go into a pipe.
 */
import { HIDDEN, revealed } from '../domain/text.ts';

/** One line of visible text, cut to `columns` where given. */
export function line(text: string, columns: number = Number.POSITIVE_INFINITY): string {
  return cut(revealed(text.replace(/[ \t\r\n]+/g, ' ').trim()), columns);
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const COMBINING = /[\p{Mn}\p{Me}]/u;

/** Columns that a text takes on a terminal. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = '';
  let used = 0;
  for (const character of text) {
    const wide = width(character);
    if (used + wide > columns - 1) break;
    kept += character;
    used += wide;
  }
  return `${kept.trimEnd()}…`;
}

/** Rows of cells as aligned lines, two spaces apart; the last column takes what room is left. */
export function table(rows: readonly (readonly string[])[], columns: number): string[] {
  const cells = rows.map((row) => row.map((cell) => line(cell)));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [index, cell] of row.slice(0, -1).entries())
      widths[index] = Math.max(widths[index] ?? 0, width(cell));
  }
  return cells.map((row) => {
    const aligned = row.map((cell, index) =>
      index === row.length - 1 ? cell : cell + ' '.repeat((widths[index] ?? 0) - width(cell)),
    );
    return cut(aligned.join('  ').trimEnd(), columns);
  });
}

/** JSON that a terminal can show: what is hidden is escaped, which no parser minds. */
export function visibleJson(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent).replace(HIDDEN, (character) =>
    character === '\n' || character === '\t' ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
