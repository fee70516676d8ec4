/**
 * Text from agents and people is untrusted (invariant 12). It is made storable once, at the boundary:
 * NUL breaks Emacs' parser and PostgreSQL, a lone surrogate breaks JSON on the Emacs side.
 */

const NUL = /\u0000/g;

/** The same text, well-formed and without NUL; each replaced character becomes U+FFFD. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(NUL, '\uFFFD');
}

/** `cleanText` for a field that may be missing; missing and empty are both null. */
export function cleanOptional(text: string | null | undefined): string | null {
  return text === undefined || text === null || text === '' ? null : cleanText(text);
}

const VISIBLE = /[^\s\p{Cf}\p{Cc}]/u;

/** Whether nobody would see anything: white space, zero-width and control characters only. */
export function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

/** Cleans every string inside a JSON-like value, keys included. Depth is bounded by JSON parsing before us. */
export function cleanDeep<T>(value: T): T {
  if (typeof value === 'string') return cleanText(value) as T;
  if (Array.isArray(value)) return value.map((item) => cleanDeep(item)) as T;
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [cleanText(key), cleanDeep(item)]),
    ) as T;
  }
  return value;
}

/** What search compares: NFKC, lower case, white space folded. Done in JS so that every engine agrees. */
export function searchText(...parts: (string | null | undefined)[]): string {
  return parts
    .filter((part): part is string => typeof part === 'string' && part !== '')
    .join(' ')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
}

/** The first `length` characters on one line, with an ellipsis where text was left out. */
export function excerpt(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join('')}…`;
}

/** Length in Unicode code points, which is what the limits on questions and answers count. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
