/** Characters of Markdown by name, as UTF-16 code units. */
export const CODE = {
  tab: 9,
  lineFeed: 10,
  carriageReturn: 13,
  space: 32,
  doubleQuote: 34,
  hash: 35,
  openParenthesis: 40,
  closeParenthesis: 41,
  star: 42,
  plus: 43,
  dash: 45,
  dot: 46,
  slash: 47,
  colon: 58,
  less: 60,
  greater: 62,
  at: 64,
  backslash: 92,
  underscore: 95,
  backtick: 96,
  bar: 124,
  tilde: 126,
} as const;

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** ASCII letters, digits and the underscore. */
export function isWordCode(code: number): boolean {
  return (
    isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === CODE.underscore
  );
}

/** Where a run of one character ends. */
export function runEnd(text: string, start: number, end: number): number {
  const code = text.charCodeAt(start);
  let index = start + 1;
  while (index < end && text.charCodeAt(index) === code) index += 1;
  return index;
}
