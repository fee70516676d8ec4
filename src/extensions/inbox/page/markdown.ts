/**
 * Markdown of agents and people, for the page: every character of the source stays in it, in order. Formatting only
 * changes how it is drawn: marked words are bold, a table has columns, and the markup itself is paler. So no text can hide a
 * part of itself, such as a link definition or a surplus cell. There is one pass over the lines, and one over the characters of
 * each paragraph, without recursion, so a hostile text takes no longer than any other text of its length.
 */

/** A part of a line. `mark` is markup, `break` the end of a line that Markdown keeps. */
export type Inline =
  | string
  | { as: 'strong' | 'em' | 'del'; of: Inline[] }
  | { as: 'mark' | 'code' | 'link'; of: string }
  | { as: 'break' };

export type Block =
  | { as: 'heading'; level: number; of: Inline[] }
  | { as: 'paragraph'; of: Inline[] }
  /** By line. */
  | { as: 'quote'; of: Inline[][] }
  | { as: 'list'; of: { depth: number; of: Inline[] }[] }
  /** By row and cell, the row below the heading included. */
  | { as: 'table'; of: Inline[][][] }
  /** The lines of the fences are marks; without fences it was indented. */
  | { as: 'code'; language: string; opened: string | null; of: string; closed: string | null }
  /** The rest of a text that has more parts than a page draws quickly. */
  | { as: 'plain'; of: string };

/** A text's blocks; after `most_parts` formatted parts the rest is plain. */
export function blocksOf(text: string, most_parts: number): Block[] {
  const lines = text.split('\n');
  const budget = { left: most_parts };
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    if (isBlankLine(lines[at] ?? '')) {
      at += 1;
      continue;
    }
    if (budget.left <= 0) {
      blocks.push({ as: 'plain', of: lines.slice(at).join('\n') });
      break;
    }
    budget.left -= 1;
    const { block, end } = blockAt(lines, at, budget, blocks.at(-1));
    blocks.push(block);
    at = end;
  }
  return blocks;
}

/** How many more parts may be formatted. */
interface Budget {
  left: number;
}

interface Found {
  block: Block;
  /** The first line after the block. */
  end: number;
}

const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const QUOTE = /^ {0,3}>/;
const ITEM = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)/;
const INDENTED = /^(?: {4}|\t)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;

const isBlankLine = (line: string): boolean => line.trim() === '';

function blockAt(lines: readonly string[], at: number, budget: Budget, before: Block | undefined): Found {
  const line = lines[at] ?? '';
  if (isFence(line)) return codeAt(lines, at);
  if (HEADING.test(line)) return { block: headingOf(line, HEADING, budget), end: at + 1 };
  if (QUOTE.test(line)) return quoteAt(lines, at, budget);
  if (isRule(line)) return { block: { as: 'paragraph', of: [{ as: 'mark', of: line }] }, end: at + 1 };
  if (ITEM.test(line)) return listAt(lines, at, budget);
  if (isTable(line, lines[at + 1])) return tableAt(lines, at, budget);
  if (INDENTED.test(line) && before?.as !== 'list') return indentedAt(lines, at);
  return paragraphAt(lines, at, budget);
}

function isFence(line: string): boolean {
  const fence = FENCE.exec(line);
  // Three backticks around something in one line are code of that line.
  return fence !== null && (fence[1]?.startsWith('~') === true || !line.slice(fence[0].length).includes('`'));
}

/** A line across the page. */
function isRule(line: string): boolean {
  return /^(?:-{3,}|\*{3,}|_{3,})$/.test(line.replace(/[ \t]/g, ''));
}

/** Whether a line ends the paragraph or the item before it. */
function isBeginning(line: string): boolean {
  return (
    isBlankLine(line) ||
    isFence(line) ||
    HEADING.test(line) ||
    QUOTE.test(line) ||
    isRule(line) ||
    ITEM.test(line)
  );
}

function headingOf(line: string, markup: RegExp, budget: Budget): Block {
  const [mark = '', hashes = ''] = markup.exec(line) ?? [];
  return {
    as: 'heading',
    level: hashes.length,
    of: [{ as: 'mark', of: mark }, ...inlineOf(line.slice(mark.length), budget)],
  };
}

/** To the end of the text if nothing closes it. */
function codeAt(lines: readonly string[], at: number): Found {
  const opened = lines[at] ?? '';
  const [markup = '', fence = ''] = FENCE.exec(opened) ?? [];
  const language = opened.slice(markup.length).trim().split(/\s/, 1)[0] ?? '';
  let end = at + 1;
  while (end < lines.length && !closes(lines[end] ?? '', fence)) end += 1;
  return {
    block: {
      as: 'code',
      language,
      opened,
      of: lines.slice(at + 1, end).join('\n'),
      closed: lines[end] ?? null,
    },
    end: end + 1,
  };
}

function closes(line: string, fence: string): boolean {
  const own = line.trim();
  return own.length >= fence.length && own.startsWith(fence) && own === fence.charAt(0).repeat(own.length);
}

function indentedAt(lines: readonly string[], at: number): Found {
  let end = at;
  while (end < lines.length && INDENTED.test(lines[end] ?? '')) end += 1;
  return {
    block: { as: 'code', language: '', opened: null, of: lines.slice(at, end).join('\n'), closed: null },
    end,
  };
}

function quoteAt(lines: readonly string[], at: number, budget: Budget): Found {
  const of: Inline[][] = [];
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] ?? '') && (end === at || budget.left > 0)) {
    const line = lines[end] ?? '';
    const [mark = ''] = /^[ \t>]*/.exec(line) ?? [];
    of.push([{ as: 'mark', of: mark }, ...inlineOf(line.slice(mark.length), budget)]);
    budget.left -= 1;
    end += 1;
  }
  return { block: { as: 'quote', of }, end };
}

/** Deeper items are shown at this depth. */
const DEEPEST_ITEM = 6;

function listAt(lines: readonly string[], at: number, budget: Budget): Found {
  const of: { depth: number; of: Inline[] }[] = [];
  let end = at;
  while (end < lines.length && (end === at || budget.left > 0)) {
    const line = lines[end] ?? '';
    const [mark = '', indent = ''] = isRule(line) ? [] : (ITEM.exec(line) ?? []);
    if (mark === '') break;
    const first = end;
    end += 1;
    while (end < lines.length && !isBeginning(lines[end] ?? '')) end += 1;
    const depth = Math.min(DEEPEST_ITEM, Math.floor(indent.replaceAll('\t', '    ').length / 2));
    const text = lines.slice(first, end).join('\n').slice(mark.length);
    of.push({ depth, of: [{ as: 'mark', of: mark }, ...inlineOf(text, budget)] });
    budget.left -= 1;
  }
  return { block: { as: 'list', of }, end };
}

function isTable(line: string, next: string | undefined): boolean {
  return (
    line.includes('|') && next !== undefined && /^[ \t|:-]*$/.test(next) && /-/.test(next) && /\|/.test(next)
  );
}

function tableAt(lines: readonly string[], at: number, budget: Budget): Found {
  const of: Inline[][][] = [];
  let end = at;
  while (end < lines.length && (lines[end] ?? '').includes('|') && (end === at || budget.left > 0)) {
    of.push(cellsOf(lines[end] ?? '', end === at + 1, budget));
    end += 1;
  }
  return { block: { as: 'table', of }, end };
}

/** The cells of a row, each with the bar before it, and the last one also with the bar after it. */
function cellsOf(line: string, isRuler: boolean, budget: Budget): Inline[][] {
  const parts = line.split(/(?<!\\)\|/);
  budget.left -= parts.length;
  if (budget.left < 0) return [[line]];
  const [first = '', ...rest] = parts;
  const cells: Inline[][] = isBlankLine(first) ? [] : [inlineOf(first, budget)];
  for (const [index, text] of rest.entries()) {
    const last = cells.at(-1);
    if (index === rest.length - 1 && isBlankLine(text) && last !== undefined)
      last.push({ as: 'mark', of: '|' });
    else if (isRuler) cells.push([{ as: 'mark', of: `|${text}` }]);
    else {
      const words = text.trimStart();
      const bar: Inline = { as: 'mark', of: `|${text.slice(0, text.length - words.length)}` };
      cells.push([bar, ...inlineOf(words, budget)]);
    }
  }
  return cells;
}

function paragraphAt(lines: readonly string[], at: number, budget: Budget): Found {
  let end = at + 1;
  const isPart = (line: string, next: string | undefined): boolean =>
    !UNDERLINE.test(line) && !isBeginning(line) && !isTable(line, next);
  while (end < lines.length && isPart(lines[end] ?? '', lines[end + 1])) end += 1;
  const of = inlineOf(lines.slice(at, end).join('\n'), budget);
  const underline = lines[end];
  const sign = underline === undefined ? undefined : UNDERLINE.exec(underline)?.[1]?.charAt(0);
  if (underline === undefined || sign === undefined) return { block: { as: 'paragraph', of }, end };
  return {
    block: {
      as: 'heading',
      level: sign === '=' ? 1 : 2,
      of: [...of, { as: 'break' }, { as: 'mark', of: underline }],
    },
    end: end + 1,
  };
}

// ---- In a line ----

/** A piece of a paragraph; a `delimiter` becomes emphasis if another one closes it. */
type Piece = Inline | Delimiter;
interface Delimiter {
  delimiter: string;
  opens: boolean;
  closes: boolean;
  /** The index of the piece that closes it, or that it closes. */
  pair: number | null;
}

/** The places at which markup, an address or a new line may begin. The rest is text. */
const SPECIAL = /[`\\*_~\n]|https?:\/\//g;

function inlineOf(text: string, budget: Budget): Inline[] {
  const pieces = piecesOf(text, budget.left);
  if (pieces === null) {
    budget.left = 0;
    return [text];
  }
  budget.left -= pieces.length;
  pairDelimiters(pieces);
  return nested(pieces);
}

/** Null if there are more of them than `most`. */
function piecesOf(text: string, most: number): Piece[] | null {
  const pieces: Piece[] = [];
  const closing = closingTicks(text);
  let done = 0;
  const push = (start: number, end: number, ...piece: Piece[]): void => {
    if (start > done) pieces.push(text.slice(done, start));
    pieces.push(...piece);
    done = end;
  };
  SPECIAL.lastIndex = 0;
  for (let found = SPECIAL.exec(text); found !== null; found = SPECIAL.exec(text)) {
    if (pieces.length > most) return null;
    const { index } = found;
    const sign = found[0];
    let end = index + sign.length;
    if (sign === '`') {
      end = endOfRun(text, index);
      const close = closing.get(index);
      if (close !== undefined) {
        const closed = close + end - index;
        push(
          index,
          closed,
          { as: 'mark', of: text.slice(index, end) },
          { as: 'code', of: text.slice(end, close) },
          { as: 'mark', of: text.slice(close, closed) },
        );
        end = closed;
      }
    } else if (sign === '\\') {
      if (/[!-/:-@[-`{-~]/.test(text.charAt(end))) {
        push(index, end, { as: 'mark', of: sign });
        end += 1;
      } else if (text.charAt(end) === '\n') push(index, end, { as: 'mark', of: sign }, { as: 'break' });
    } else if (sign === '\n') {
      if (text.slice(index - 2, index) === '  ') push(index, index, { as: 'break' });
    } else if (sign.length > 1) {
      const address = addressAt(text, index);
      end = address.end;
      if (address.isLink) push(index, end, { as: 'link', of: text.slice(index, end) });
    } else {
      end = endOfRun(text, index);
      const delimiters = delimitersOf(text, index, end);
      if (delimiters.length > 0) push(index, end, ...delimiters);
    }
    SPECIAL.lastIndex = end;
  }
  if (done < text.length) pieces.push(text.slice(done));
  return pieces.length > most ? null : pieces;
}

function endOfRun(text: string, index: number): number {
  let end = index + 1;
  while (text.charAt(end) === text.charAt(index)) end += 1;
  return end;
}

/** For each run of backticks the index of the next one of its length. */
function closingTicks(text: string): Map<number, number> {
  const closing = new Map<number, number>();
  const next = new Map<number, number>();
  const runs = [...text.matchAll(/`+/g)];
  for (const { index, 0: ticks } of runs.reverse()) {
    const after = next.get(ticks.length);
    if (after !== undefined) closing.set(index, after);
    next.set(ticks.length, index);
  }
  return closing;
}

/** In characters. No browser needs a longer one. */
const LONGEST_ADDRESS = 2_000;

/** A web address and its end, without punctuation that follows it. */
function addressAt(text: string, index: number): { end: number; isLink: boolean } {
  const [run = ''] = /^[^\s<>"'`|]+/.exec(text.slice(index, index + LONGEST_ADDRESS + 1)) ?? [];
  if (run.length > LONGEST_ADDRESS || !/^[!-~]+$/.test(run))
    return { end: index + run.length, isLink: false };
  let open = run.split('(').length - run.split(')').length;
  let { length } = run;
  while (/[.,:;!?*_~)\]}]/.test(run.charAt(length - 1))) {
    if (run.charAt(length - 1) === ')') {
      if (open >= 0) break;
      open += 1;
    }
    length -= 1;
  }
  return { end: index + length, isLink: URL.canParse(run.slice(0, length)) };
}

function delimitersOf(text: string, start: number, end: number): Delimiter[] {
  const sign = text.charAt(start);
  const length = end - start;
  if (length > 3 || (sign === '~' && length !== 2)) return [];
  const [before, after] = [text.charAt(start - 1), text.charAt(end)];
  let opens = after.trim() !== '';
  let closes = before.trim() !== '';
  // `snake_case` is a word.
  if (sign === '_') [opens, closes] = [opens && !isWord(before), closes && !isWord(after)];
  if (!opens && !closes) return [];
  const delimiter = (own: string): Delimiter => ({ delimiter: own, opens, closes, pair: null });
  if (length < 3) return [delimiter(text.slice(start, end))];
  const two = [delimiter(sign.repeat(2)), delimiter(sign)];
  return closes && !opens ? two.reverse() : two;
}

const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** Each kind of delimiter is open once at most, so emphasis is at most five deep. */
function pairDelimiters(pieces: readonly Piece[]): void {
  const open: number[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (typeof piece === 'string' || !('delimiter' in piece)) continue;
    const level = open.findIndex((one) => delimiterAt(pieces, one)?.delimiter === piece.delimiter);
    const opener = delimiterAt(pieces, open[level]);
    if (opener === null) {
      if (piece.opens) open.push(index);
    } else if (piece.closes) {
      piece.pair = open[level] ?? null;
      opener.pair = index;
      open.length = level;
    }
  }
}

function delimiterAt(pieces: readonly Piece[], index: number | undefined): Delimiter | null {
  const piece = index === undefined ? undefined : pieces[index];
  return typeof piece === 'object' && 'delimiter' in piece ? piece : null;
}

function nested(pieces: readonly Piece[]): Inline[] {
  const root: Inline[] = [];
  const open: Inline[][] = [root];
  for (const [index, piece] of pieces.entries()) {
    const inner = open.at(-1) ?? root;
    if (typeof piece === 'string' || !('delimiter' in piece)) {
      inner.push(piece);
      continue;
    }
    const { delimiter, pair } = piece;
    const mark: Inline = { as: 'mark', of: delimiter };
    if (pair === null) inner.push(delimiter);
    else if (pair > index) {
      const of: Inline[] = [mark];
      inner.push({ as: delimiter.startsWith('~') ? 'del' : delimiter.length === 2 ? 'strong' : 'em', of });
      open.push(of);
    } else {
      inner.push(mark);
      open.pop();
    }
  }
  return root;
}
