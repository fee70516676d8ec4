/**
 * Adds a value to a JSON file, with comments or without, leaving every other byte in place; and removes it again.
 * jsonc-parser finds the positions. Its own `modify` would reformat the lines it touches, which belong to others.
 */
import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parse,
  parseTree,
} from 'jsonc-parser';
import { HiveError } from '../../domain/errors.ts';
import { isFields } from '../../domain/json.ts';
import { applyEdits, type TextEdit } from '../../domain/text.ts';

export type JsonPath = readonly (string | number)[];

/** jsonc-parser's SyntaxKind, a const enum that single-file compilation cannot use. */
const TOKEN = { comma: 5, lineComment: 12, lineBreak: 14, blank: 15, end: 17 };

const OPTIONS = { allowTrailingComma: true, disallowComments: false };

/** The content of the file. @throws HiveError `invalid_input` when it is not a JSON object. */
export function readJson(text: string): Record<string, unknown> {
  const errors: ParseError[] = [];
  const value: unknown = parse(withoutMark(text), errors, OPTIONS);
  const [first] = errors;
  if (first !== undefined) throw notJson(`in line ${text.slice(0, first.offset).split('\n').length}`);
  if (!isFields(value)) throw notJson('it is not an object');
  return value;
}

/** The value at a path in the content of a file; undefined when there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isFields(at) ? at[key] : undefined), value);
}

/** Sets a property, and creates missing objects on the way to it. */
export function setJson(text: string, path: JsonPath, value: unknown): TextEdit[] {
  const root = treeOf(text);
  const node = findNodeAtLocation(root, [...path]);
  if (node !== undefined) return [replacement(text, node, value)];
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(root, path.slice(0, depth)) === undefined) depth -= 1;
  const container = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth));
  if (container?.type !== 'object') throw notJson(`${path.slice(0, depth).join('.')} is not an object`);
  const nested = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return insertion(text, container, nested, String(path[depth]));
}

/** Appends to the array at `path`; creates it, and missing objects on the way to it. */
export function appendJson(text: string, path: JsonPath, value: unknown): TextEdit[] {
  const node = findNodeAtLocation(treeOf(text), [...path]);
  if (node === undefined) return setJson(text, path, [value]);
  if (node.type !== 'array') throw notJson(`${path.join('.')} is not a list`);
  return insertion(text, node, value, null);
}

/** Removes the value at `path` with its comma, then each container that this has left empty, except the root. */
export function removeJson(text: string, path: JsonPath): TextEdit[] {
  const found = findNodeAtLocation(treeOf(text), [...path]);
  if (found === undefined) return [];
  const node = found.parent?.type === 'property' ? found.parent : found;
  const container = node.parent;
  if (container === undefined) return [];
  const edits = cut(text, container, node);
  const left = path.slice(0, -1);
  if (container.children?.length !== 1 || left.length === 0) return edits;
  // A container with a comment in it is not empty.
  const now = applyEdits(text, edits);
  const emptied = findNodeAtLocation(treeOf(now), [...left]);
  const isBare = emptied !== undefined && now.slice(...spanOf(emptied)).trim().length === 2;
  return isBare ? [...edits, ...removeJson(now, left)] : edits;
}

function insertion(text: string, container: Node, value: unknown, key: string | null): TextEdit[] {
  const [start, end] = spanOf(container);
  const last = container.children?.at(-1);
  const from = last === undefined ? start + 1 : spanOf(last)[1];
  const { comma, solidEnd, hasLineComment } = trivia(text, from, end - 1);
  const first = container.children?.[0];
  const isSpread =
    first === undefined ? text.length === 2 || !isMinified(text) : startsLine(text, spanOf(first)[0]);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const outer = indentationAt(text, start);
  const unit = unitOf(text);
  const inner = first !== undefined && isSpread ? indentationAt(text, spanOf(first)[0]) : outer + unit;
  const label = key === null ? '' : `${JSON.stringify(key)}:${isSpread || !isMinified(text) ? ' ' : ''}`;
  const body = isSpread
    ? JSON.stringify(value, null, unit).replaceAll('\n', eol + inner)
    : JSON.stringify(value);
  const before =
    isSpread || hasLineComment ? eol + inner : last !== undefined && !isMinified(text) ? ' ' : '';
  const tail = text.slice(solidEnd, end - 1);
  const after = isSpread && !tail.includes('\n') ? eol + outer : '';
  const separate = last !== undefined && comma === null;
  // If the file ends its lists with a comma, so does ours.
  const inserted = before + label + body + (comma === null ? '' : ',') + after;
  if (separate && solidEnd === from) return [{ offset: from, removed: '', inserted: `,${inserted}` }];
  return [
    ...(separate ? [{ offset: from, removed: '', inserted: ',' }] : []),
    { offset: solidEnd + (separate ? 1 : 0), removed: '', inserted },
  ];
}

function replacement(text: string, node: Node, value: unknown): TextEdit {
  const [start, end] = spanOf(node);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const inserted = isMinified(text)
    ? JSON.stringify(value)
    : JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eol + indentationAt(text, start));
  return { offset: start, removed: text.slice(start, end), inserted };
}

/** Removes the node with the white space before it and one comma: the one after it, otherwise the one before it. */
function cut(text: string, container: Node, node: Node): TextEdit[] {
  const children = container.children ?? [];
  const at = children.indexOf(node);
  const [start, end] = spanOf(node);
  const [open, close] = spanOf(container);
  const next = children[at + 1];
  const after = trivia(text, end, next === undefined ? close - 1 : spanOf(next)[0]);
  const previous = children[at - 1];
  const from = previous === undefined ? open + 1 : spanOf(previous)[1];
  const before = trivia(text, from, start);
  const removal = (offset: number, to: number): TextEdit => ({
    offset,
    removed: text.slice(offset, to),
    inserted: '',
  });
  let blank = before.solidEnd;
  let until = end;
  const commas: { behind?: TextEdit; ahead?: TextEdit } = {};
  if (after.comma !== null) {
    if (text.slice(end, after.comma).trim() === '') until = after.comma + 1;
    else commas.behind = removal(after.comma, after.comma + 1);
  } else if (before.comma !== null) {
    if (before.solidEnd === before.comma + 1) blank = before.comma;
    else commas.ahead = removal(before.comma, before.comma + 1);
  }
  // A line comment extends to the end of its line, so the one before ours needs a line end after it.
  if (before.hasLineComment && !/^[ \t]*\r?\n/.test(text.slice(until)))
    blank = text.indexOf('\n', before.solidEnd) + 1;
  // A container that is empty now gets its shortest form.
  const isAlone = children.length === 1 && blank === open + 1;
  if (isAlone && text.slice(until, close - 1).trim() === '') until = close - 1;
  // Later positions first, so that a removal does not move the others.
  return [commas.behind, removal(blank, until), commas.ahead].filter((edit) => edit !== undefined);
}

/** The comma and comments between two values, or after the last one. */
function trivia(
  text: string,
  from: number,
  to: number,
): { comma: number | null; solidEnd: number; hasLineComment: boolean } {
  const scanner = createScanner(text.slice(from, to), false);
  let comma: number | null = null;
  let solidEnd = from;
  let hasLineComment = false;
  for (let token: number = scanner.scan(); token !== TOKEN.end; token = scanner.scan()) {
    if (token === TOKEN.blank || token === TOKEN.lineBreak) continue;
    if (token === TOKEN.comma) comma = from + scanner.getTokenOffset();
    hasLineComment = token === TOKEN.lineComment;
    solidEnd = from + scanner.getTokenOffset() + scanner.getTokenLength();
  }
  return { comma, solidEnd, hasLineComment };
}

function treeOf(text: string): Node {
  readJson(text);
  const root = parseTree(withoutMark(text), [], OPTIONS);
  if (root === undefined) throw notJson('it is not an object');
  return root;
}

/** The byte order mark becomes a blank, so that every offset stays the same. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text;
}

function spanOf({ offset, length }: Node): [start: number, end: number] {
  return [offset, offset + length];
}

function startsLine(text: string, offset: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, offset - 200), offset));
}

function indentationAt(text: string, offset: number): string {
  const line = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(line, offset))?.[0] ?? '';
}

function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

function isMinified(text: string): boolean {
  return !text.trim().includes('\n') && !/[:,] /.test(text);
}

function notJson(why: string): HiveError {
  return new HiveError('invalid_input', `This is not JSON that Hive can add to: ${why}.`);
}
