/** Looking into JSON that a client or a file gave, of which nothing is known. Pure. */
import { isSource } from './json-numbers.ts';
import { DEEPEST, TOO_DEEP } from './text.ts';

/** An object of which nothing is known. */
export type Raw = Readonly<Record<string, unknown>>;

/** Whether a value has fields: an object, and no list. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The value as an object; null for anything else. */
export function objectIn(value: unknown): Raw | null {
  return isFields(value) && !isSource(value) ? value : null;
}

/** The object that a text is; null for any other text, such as a line that its program is still writing. */
export function objectInText(text: string): Raw | null {
  try {
    return objectIn(JSON.parse(text));
  } catch {
    return null;
  }
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

/** No call has as many; the time that a request takes grows with them, whatever its size. */
const MOST_VALUES = 20_000;
/** A function: a number written for people loads 5 MB of tables, which a program that only starts does not need. */
const tooMany = (): string =>
  `The JSON has too many values: at most ${MOST_VALUES.toLocaleString('en')}. Send less, or send it as text.`;

/**
 * Why JSON of somebody else takes too long to read, found before it is parsed; null if it does not. Lists, objects and commas are
 * counted, wherever they are but in a text, so what is no JSON is bounded, too.
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
