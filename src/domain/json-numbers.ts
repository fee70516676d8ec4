/** Numbers in JSON as they were written, because JavaScript would change some of them. Pure. */

/** Two functions that the compiler's types do not have yet. */
const json = JSON as typeof JSON & {
  rawJSON(source: string): object;
  /** Older browsers have none, nor any such number. */
  isRawJSON?(value: unknown): boolean;
};

/**
 * Parses JSON from a client. A number that JavaScript would write in another way, such as 9007199254740993, 1e400, -0 or 1.0,
 * stays as it was written: `JSON.stringify` writes it so again, and no check takes it for a number. What a person is shown of a
 * call, and allows, is what the client sent. @throws SyntaxError for what is no JSON.
 */
export function parseJson(text: string): unknown {
  return MAY_CHANGE.test(text) ? JSON.parse(text, withSource) : JSON.parse(text);
}

/** A number with a fraction, an exponent or many digits, or below zero without a digit that says so; perhaps inside a string. */
const MAY_CHANGE = /\d[.eE]|\d{16}|-0/;

function withSource(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  return JSON.stringify(value) === source ? value : json.rawJSON(source);
}

/** Whether a value is a number that stays as it was written. */
export function isSource(value: unknown): boolean {
  return json.isRawJSON?.(value) === true;
}
