/** Long text at a terminal, one screen at a time: text that scrolls past unread does not count as displayed. */

/** Lines as screens of a terminal of this size. A terminal of unknown size is assumed to be small. */
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
  // Half as many characters as there are columns always fit, however wide the characters are.
  const length = characters.some((character) => character > '\u02ff') ? Math.floor(columns / 2) : columns;
  const parts: string[] = [];
  for (let start = 0; start < characters.length; start += length)
    parts.push(characters.slice(start, start + length).join(''));
  return parts.length === 0 ? [''] : parts;
}
