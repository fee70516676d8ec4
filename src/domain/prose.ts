/**
 * Prose: the parts of a Markdown text that are neither code fences nor quoted lines. Pure and linear: each line is
 * classified by its beginning, and nothing looks ahead.
 */
import { CODE, isDigit, runEnd } from './text.ts';

interface Fence {
  character: number;
  length: number;
}

/** The ranges of a text that may contain mentions: one per paragraph, heading or list item, because code spans end there. */
export function* proseIn(text: string): Generator<[number, number]> {
  let fence: Fence | null = null;
  let open = -1;
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    const first = skipBlanks(text, start, end);
    const line: Fence | null = fence === null ? openingFence(text, first, end) : null;
    const outside = fence === null && line === null && first < end && text.charCodeAt(first) !== CODE.greater;
    if (open !== -1 && (!outside || beginsBlock(text, first, end))) {
      yield [open, start];
      open = -1;
    }
    if (outside && open === -1) open = start;
    if (outside && text.charCodeAt(first) === CODE.hash) {
      yield [open, end];
      open = -1;
    }
    if (fence === null) fence = line;
    else if (closesFence(text, first, end, fence)) fence = null;
    start = nextLine(text, end);
  }
  if (open !== -1) yield [open, text.length];
}

function lineEnd(text: string, start: number): number {
  let index = start;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === CODE.lineFeed || code === CODE.carriageReturn) break;
    index += 1;
  }
  return index;
}

function nextLine(text: string, end: number): number {
  if (end >= text.length) return end;
  return text.charCodeAt(end) === CODE.carriageReturn && text.charCodeAt(end + 1) === CODE.lineFeed
    ? end + 2
    : end + 1;
}

function skipBlanks(text: string, start: number, end: number): number {
  let index = start;
  while (index < end) {
    const code = text.charCodeAt(index);
    if (code !== CODE.space && code !== CODE.tab) break;
    index += 1;
  }
  return index;
}

/** A fence may be indented, as inside a list. If another backtick follows on the line, it is inline code. */
function openingFence(text: string, first: number, end: number): Fence | null {
  const character = first < end ? text.charCodeAt(first) : 0;
  if (character !== CODE.backtick && character !== CODE.tilde) return null;
  const after = runEnd(text, first, end);
  if (after - first < 3) return null;
  if (character === CODE.backtick) {
    for (let index = after; index < end; index += 1)
      if (text.charCodeAt(index) === CODE.backtick) return null;
  }
  return { character, length: after - first };
}

function closesFence(text: string, first: number, end: number, fence: Fence): boolean {
  if (first >= end || text.charCodeAt(first) !== fence.character) return false;
  const after = runEnd(text, first, end);
  return after - first >= fence.length && skipBlanks(text, after, end) === end;
}

/** A heading or a list item: the text before it is another paragraph. */
function beginsBlock(text: string, first: number, end: number): boolean {
  const code = text.charCodeAt(first);
  if (code === CODE.hash) return true;
  if (code === CODE.dash || code === CODE.star || code === CODE.plus) return isBlankAt(text, first + 1, end);
  let index = first;
  while (index < end && index - first < 9 && isDigit(text.charCodeAt(index))) index += 1;
  if (index === first || index >= end) return false;
  const mark = text.charCodeAt(index);
  return (mark === CODE.dot || mark === CODE.closeParenthesis) && isBlankAt(text, index + 1, end);
}

function isBlankAt(text: string, index: number, end: number): boolean {
  const code = index < end ? text.charCodeAt(index) : CODE.space;
  return code === CODE.space || code === CODE.tab;
}
