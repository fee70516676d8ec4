/** Parses JSON without changing numbers and names that JavaScript would change. Pure. */

/** Two functions that the compiler's types do not have yet. */
const json = JSON as typeof JSON & {
  rawJSON(source: string): object;
  /** Missing in older browsers, which therefore have no such numbers either. */
  isRawJSON?(value: unknown): boolean;
};

/**
 * Parses JSON from a client. A number that JavaScript would write differently, such as 9007199254740993, 1e400, -0 or 1.0, is
 * kept as it was written: `JSON.stringify` writes the same text again, and no check takes it for a number. So the call that a
 * person is shown and allows is the call that the client sent. @throws SyntaxError if it is not JSON, RangeError if it nests
 * for thousands of levels.
 */
export function parseJson(text: string): unknown {
  // This only checks the text. A reviver would take ten times as long, and in Node 24.21, after a few calls, it passes the wrong
  // name for a field whose name has an escape ({"\\":1}, then {"\"":1}).
  JSON.parse(text);
  return new Reader(text).read();
}

/** Whether a value is a number that was kept as it was written. */
export function isSource(value: unknown): boolean {
  return json.isRawJSON?.(value) === true;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
/** The words of JSON by their first letter. */
const WORDS: ReadonlyMap<number, { word: string; value: boolean | null }> = new Map(
  [true, false, null].map((value) => [String(value).charCodeAt(0), { word: String(value), value }]),
);

/** Reads a text that is known to be JSON. */
class Reader {
  readonly #text: string;
  #at = 0;
  /** Numbers by their source text, because a text may repeat the same one very often. */
  readonly #numbers = new Map<string, unknown>();

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const next = this.#next();
    switch (next) {
      case QUOTE:
        return this.#string();
      case BRACE:
        return this.#object();
      case BRACKET:
        return this.#list();
      default: {
        const known = WORDS.get(next);
        if (known === undefined) return this.#number();
        this.#at += known.word.length;
        return known.value;
      }
    }
  }

  /** The next character that is neither a blank nor a separator. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code > 0x20 && code !== COMMA && code !== COLON) return code;
      this.#at += 1;
    }
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at += 1;
    while (this.#next() !== BRACE_END) {
      const name = this.#string();
      this.#next();
      const value = this.read();
      // As in JSON.parse, this name is a field like any other.
      if (name === '__proto__')
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      else object[name] = value;
    }
    this.#at += 1;
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#at += 1;
    while (this.#next() !== BRACKET_END) list.push(this.read());
    this.#at += 1;
    return list;
  }

  #string(): string {
    const from = this.#at;
    let code = 0;
    let isPlain = true;
    this.#at += 1;
    for (;;) {
      code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) isPlain = false;
      this.#at += code === BACKSLASH ? 2 : 1;
    }
    this.#at += 1;
    return isPlain
      ? this.#text.slice(from + 1, this.#at - 1)
      : String(JSON.parse(this.#text.slice(from, this.#at)));
  }

  #number(): unknown {
    const from = this.#at;
    while (isOfNumber(this.#text.charCodeAt(this.#at))) this.#at += 1;
    const source = this.#text.slice(from, this.#at);
    const known = this.#numbers.get(source);
    if (known !== undefined) return known;
    const value = JSON.stringify(Number(source)) === source ? Number(source) : json.rawJSON(source);
    this.#numbers.set(source, value);
    return value;
  }
}

/** A digit, a sign, a point or an exponent. */
function isOfNumber(code: number): boolean {
  const isDigit = code >= 0x30 && code <= 0x39;
  return isDigit || code === 0x2b || code === 0x2d || code === 0x2e || code === 0x45 || code === 0x65;
}
