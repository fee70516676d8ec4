/** Reading JSON of unknown shape from a client or a file. Pure. */
import { isSource } from './json-numbers.ts';
import { DEEPEST, TOO_DEEP } from './text.ts';

/** An object of unknown shape. */
export type Raw = Readonly<Record<string, unknown>>;

/** Whether a value is an object and not a list. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The value as an object; null for anything else. */
export function objectIn(value: unknown): Raw | null {
  return isFields(value) && !isSource(value) ? value : null;
}

/** The object in a JSON text; null for any other text, such as a line that is still being written. */
export function objectInText(text: string): Raw | null {
  try {
    return objectIn(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * A name that an object in a JSON text has twice, of which readers take the first or the last; null if there is none. `content`
 * is the text, parsed.
 */
export function nameWrittenTwice(text: string, content: unknown): string | null {
  const left = new Map<string, number>();
  const count = (name: string, by: number): unknown => left.set(name, (left.get(name) ?? 0) + by);
  for (const [, name, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g))
    if (name !== undefined && colon !== undefined) count(JSON.parse(name), 1);
  // Without recursion, because a file may nest as deep as it likes.
  const values = [content];
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    if (isFields(value)) for (const name of Object.keys(value)) count(name, -1);
    if (typeof value === 'object' && value !== null)
      for (const item of Object.values(value)) values.push(item);
  }
  return [...left].find(([, more]) => more > 0)?.[0] ?? null;
}

/** The objects in a list; empty for anything that is not a list. */
export function objectsIn(value: unknown): Raw[] {
  if (!Array.isArray(value)) return [];
  return value.map(objectIn).filter((item) => item !== null);
}

/** The first of these fields that holds text that is not blank; null when none does. */
export function textIn(raw: Raw, ...fields: readonly string[]): string | null {
  for (const field of fields) {
    const value = raw[field];
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return null;
}

/** No real call has this many values. The time of a request grows with their number, whatever its size. */
const MOST_VALUES = 20_000;
/** A function, because formatting a number for people loads 5 MB of tables, which most processes never need. */
const tooMany = (): string =>
  `The JSON has too many values: at most ${MOST_VALUES.toLocaleString('en')}. Send less, or send it as text.`;

/**
 * Why untrusted JSON would take too long to read, determined before it is parsed; null if it would not. Brackets and commas
 * outside of strings are counted, so text that is not JSON is bounded as well.
 */
export function excessOf(text: string): string | null {
  let [values, depth, isInText] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInText = !isInText;
    else if (isInText) at += code === BACKSLASH ? 1 : 0;
    else if (code === BRACKET_END || code === BRACE_END) depth -= 1;
    else if (code === COMMA || code === BRACKET || code === BRACE) {
      values += 1;
      depth += code === COMMA ? 0 : 1;
      if (depth > DEEPEST) return TOO_DEEP;
      if (values > MOST_VALUES) return tooMany();
    }
  }
  return null;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
