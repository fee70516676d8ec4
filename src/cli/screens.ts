/** Long text at a terminal, a screen at a time: what scrolls past unread was not displayed. */

/** Lines as screens of a terminal of this size. A terminal that does not know its size is taken for a small one. */
export function screensOf(
  lines: readonly string[],
  { columns, rows }: { columns: number | undefined; rows: number | undefined },
): string[][] {
  // The heading, the line that asks for more and the question at the end stay on the screen with the text.
  const room = Math.max(1, (rows || 24) - 3);
  const wrapped = lines.flatMap((text) => wrap(text, Math.max(20, columns || 80)));
  const screens: string[][] = [];
  for (let start = 0; start < wrapped.length; start += room) screens.push(wrapped.slice(start, start + room));
  return screens;
}

function wrap(text: string, columns: number): string[] {
  const characters = Array.from(text.replaceAll('\t', '        '));
  // Half as many characters as columns fit, however wide they are.
  const length = characters.some((character) => character > '\u02ff') ? Math.floor(columns / 2) : columns;
  const parts: string[] = [];
  for (let start = 0; start < characters.length; start += length)
    parts.push(characters.slice(start, start + length).join(''));
  return parts.length === 0 ? [''] : parts;
}
