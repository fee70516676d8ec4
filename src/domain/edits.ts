/**
 * Edits: what a tool is about to do to files, as unified diffs against the files as they are. A diff is made from the
 * exact input of the tool. Where the input does not fit the file, or the file cannot be read, both texts are shown in full
 * with the reason. Pure: `EditTools` read and compare.
 */

import { revealedSource, shownWithin, spelledLine } from './display.ts';
import type { Raw } from './hooks.ts';

/** A file as it is now. `link` is its real path where its path contains a link. */
export type FileState =
  | { kind: 'text'; text: string; link: string | null }
  | { kind: 'missing'; link: string | null }
  /** `why` completes "The file …". */
  | { kind: 'unread'; why: string };

/** What makes a diff. */
export interface EditTools {
  /** Reads a file; a relative path belongs to the directory in which the tool works. Never throws. */
  read(path: string): FileState;
  /** The real path of a file, the same for all names of it. */
  realPath(path: string): string;
  /** The hunks of a unified diff with this many unchanged lines around each change; empty if nothing changes. */
  compare(before: string, after: string, context: number): string;
}

/** What a person reads of an edit. */
export interface ShownEdit {
  /** Remarks of Hive at the beginning of a line, then the diffs. */
  shown: string;
  /** The arguments that are shown in full here. */
  named: readonly string[];
}

const CONTEXT = 3;
/** Of a file after the change: nobody reads the diff of a larger one. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
const NO_FILE = '/dev/null';

const WORDS = {
  missing: 'There is no such file.',
  empty: 'The text to replace is empty, but the file is not.',
  absent: 'The text to replace does not occur in the file as it is now.',
  several: (count: number, lines: string) =>
    `The text to replace occurs ${count} times (lines ${lines}), and replace_all is not set.`,
  unread: (why: string) => `The file ${why}, so this is no diff of the file.`,
  long: 'The diff of the file is too long to be shown here.',
  asTold: 'This is the change as the tool was given it:',
  all: (count: number, of: string) => `All ${count} occurrences${of} are replaced.`,
  link: (real: string) => `The path contains a link. The file is ${real}`,
  returns: 'The lines of the file end with CR LF, which is not shown.',
  nothing: 'Nothing changes in this file.',
  replaced: 'The file exists. All of it is replaced.',
  moved: (to: string) => `The file ${to} exists. All of it is replaced.`,
  noCell: 'The notebook has no such cell as it is now.',
  cell: (number: number, count: number, type: string) => `This is cell ${number} of ${count} (${type}).`,
  newCell: (number: number) => `This is a new cell after cell ${number}.`,
  patch: 'The patch cannot be placed exactly in the files as they are now. This is its text:',
} as const;

/**
 * What the call shows to the person who has to permit it; null for a tool that edits no file, and for input that has not
 * the expected form. A diff that needs more than `room` bytes is replaced by both texts of the change.
 */
export function editShown(name: string, input: Raw, tools: EditTools, room: number): ShownEdit | null {
  if (name === 'apply_patch') return patchShown(input, tools);
  const path = input[name === 'NotebookEdit' ? 'notebook_path' : 'file_path'];
  if (typeof path !== 'string' || path === '') return null;
  const edit = editOf(name, input);
  if (edit === null) return null;
  const state = tools.read(path);
  const change = edit.change(state);
  const sections = 'problem' in change ? null : sectionOf({ ...change, path }, state, tools);
  const named = [...edit.named, ...(spelledLine(path) === path ? [edit.path] : [])];
  if (sections !== null && sizeOf(sections) <= room) return { shown: sections, named };
  const problem = 'problem' in change ? change.problem : WORDS.long;
  return { shown: textsShown(path, problem, edit.texts, state, tools), named };
}

// ---- The tools ----

interface Edit {
  named: readonly string[];
  /** The argument that names the file. */
  path: string;
  change(state: FileState): Change | Problem;
  /** The texts of the call, for where the file itself is not compared. */
  texts: readonly Replacement[];
}

/** One text in the place of another. */
interface Replacement {
  from: string;
  to: string;
  every: boolean;
}

/** A file before and after; null where there is none. */
interface Change {
  before: string | null;
  after: string | null;
  remarks: readonly string[];
  /** What the line numbers belong to if it is not the whole file. */
  part?: string;
}

interface Problem {
  problem: string;
}

function editOf(name: string, input: Raw): Edit | null {
  const text = (field: string): string | null => {
    const value = input[field];
    return typeof value === 'string' ? value : null;
  };
  switch (name) {
    case 'Write': {
      const content = text('content');
      if (content === null) return null;
      const texts = [{ from: '', to: content, every: false }];
      return { named: ['content'], path: 'file_path', texts, change: (state) => written(state, content) };
    }
    case 'Edit': {
      const replacement = replacementOf(input);
      if (replacement === null) return null;
      const texts = [replacement];
      const named = ['old_string', 'new_string'];
      return { named, path: 'file_path', texts, change: (state) => replaced(state, texts) };
    }
    case 'MultiEdit': {
      const { edits } = input;
      if (!Array.isArray(edits) || edits.length === 0) return null;
      const texts = edits.map((edit: unknown) => (isPlainEdit(edit) ? replacementOf(edit) : null));
      if (!texts.every((one) => one !== null)) return null;
      return { named: ['edits'], path: 'file_path', texts, change: (state) => replaced(state, texts) };
    }
    case 'NotebookEdit': {
      const source = text('new_source');
      if (source === null) return null;
      const texts = [{ from: '', to: source, every: false }];
      return {
        named: ['new_source'],
        path: 'notebook_path',
        texts,
        change: (state) => cellChanged(state, input, source),
      };
    }
    default:
      return null;
  }
}

const FIELDS_OF_EDIT: ReadonlySet<string> = new Set(['old_string', 'new_string', 'replace_all']);

/** Whether every field of it is shown in a diff: an unknown one must not be hidden. */
function isPlainEdit(edit: unknown): edit is Raw {
  return (
    edit !== null && typeof edit === 'object' && Object.keys(edit).every((field) => FIELDS_OF_EDIT.has(field))
  );
}

function replacementOf({ old_string: from, new_string: to, replace_all = false }: Raw): Replacement | null {
  if (typeof from !== 'string' || typeof to !== 'string' || typeof replace_all !== 'boolean') return null;
  return { from, to, every: replace_all };
}

function written(state: FileState, content: string): Change | Problem {
  if (state.kind === 'unread') return { problem: WORDS.unread(state.why) };
  if (state.kind === 'missing') return { before: null, after: content, remarks: [] };
  const { text, remarks } = withoutReturns(state.text, [content]);
  return { before: text, after: content, remarks };
}

function replaced(state: FileState, replacements: readonly Replacement[]): Change | Problem {
  if (state.kind === 'unread') return { problem: WORDS.unread(state.why) };
  const given = replacements.flatMap(({ from, to }) => [from, to]);
  const { text, remarks } = withoutReturns(state.kind === 'text' ? state.text : '', given);
  let after = text;
  for (const [n, { from, to, every }] of replacements.entries()) {
    if (from === '') {
      if (after !== '') return { problem: WORDS.empty };
      after = to;
      continue;
    }
    if (state.kind === 'missing' && n === 0) return { problem: WORDS.missing };
    const parts = after.split(from);
    const count = parts.length - 1;
    if (count === 0) return { problem: WORDS.absent };
    if (count > 1 && !every) return { problem: WORDS.several(count, linesOf(parts, from)) };
    if (count > 1) remarks.push(WORDS.all(count, replacements.length > 1 ? ` of edit ${n + 1}` : ''));
    // A few edits that double a text would fill the memory.
    if (after.length + count * (to.length - from.length) > MOST_CHARACTERS) return { problem: WORDS.long };
    after = parts.join(to);
  }
  return { before: state.kind === 'missing' ? null : text, after, remarks };
}

/** In which lines a text occurs: the first few, which say where to look. */
function linesOf(parts: readonly string[], between: string): string {
  let line = 1;
  const lines = parts.slice(0, 10).map((part) => {
    const at = line + newlinesIn(part);
    line = at + newlinesIn(between);
    return at;
  });
  const shown = lines.slice(0, Math.min(9, parts.length - 1)).join(', ');
  return parts.length - 1 > 9 ? `${shown}, …` : shown;
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}

/** Clients give texts with LF for files with CR LF, and keep the ends of the lines when they write. */
function withoutReturns(text: string, given: readonly string[]): { text: string; remarks: string[] } {
  if (!text.includes('\r\n') || given.some((one) => one.includes('\r'))) return { text, remarks: [] };
  return { text: text.replaceAll('\r\n', '\n'), remarks: [WORDS.returns] };
}

// ---- Notebooks ----

interface Cell {
  id?: unknown;
  cell_type?: unknown;
  source?: unknown;
}

function cellChanged(state: FileState, input: Raw, source: string): Change | Problem {
  if (state.kind === 'unread') return { problem: WORDS.unread(state.why) };
  if (state.kind === 'missing') return { problem: WORDS.missing };
  const cells = cellsIn(state.text);
  const { cell_id, edit_mode: mode = 'replace' } = input;
  const at = cells === null ? -1 : cellAt(cells, cell_id);
  const cell = cells?.[at];
  if (cells === null) return { problem: WORDS.noCell };
  if (mode === 'insert') {
    if (cell === undefined && cell_id !== undefined) return { problem: WORDS.noCell };
    const remarks = [WORDS.newCell(at + 1)];
    return { before: null, after: source, remarks, part: 'new cell' };
  }
  if (cell === undefined || (mode !== 'replace' && mode !== 'delete')) return { problem: WORDS.noCell };
  const before = Array.isArray(cell.source) ? cell.source.join('') : String(cell.source ?? '');
  return {
    before,
    after: mode === 'delete' ? null : source,
    remarks: [WORDS.cell(at + 1, cells.length, String(cell.cell_type))],
    part: `cell ${at + 1}`,
  };
}

function cellsIn(text: string): Cell[] | null {
  try {
    const { cells } = JSON.parse(text) as { cells?: unknown };
    return Array.isArray(cells) ? cells.map((cell) => (cell ?? {}) as Cell) : null;
  } catch {
    return null;
  }
}

/** Cells have ids since version 4.5 of the format; before, the client counts them from 0. */
function cellAt(cells: readonly Cell[], id: unknown): number {
  const found = cells.findIndex((cell) => cell.id === id && id !== undefined);
  const counted = /^cell-(\d+)$/.exec(String(id))?.[1];
  return found === -1 && counted !== undefined && Number(counted) < cells.length ? Number(counted) : found;
}

// ---- What is shown ----

/** The diff of one file, with what is to be known about it. */
function sectionOf(
  change: Change & { path: string; to?: string },
  state: FileState,
  tools: EditTools,
): string {
  const { path, to = path, before, after, remarks, part } = change;
  const of = part === undefined ? '' : `\t${part}`;
  const hunks = tools.compare(before ?? '', after ?? '', CONTEXT);
  return [
    ...linked(state),
    ...remarks,
    ...(hunks === '' && before !== null && after !== null ? [WORDS.nothing] : []),
    `--- ${before === null ? NO_FILE : spelledLine(path) + of}`,
    `+++ ${after === null ? NO_FILE : spelledLine(to) + of}`,
    ...(hunks === '' ? [] : [sourceShown(hunks)]),
  ].join('\n');
}

/** No desk shows more of a permission. */
const LONGEST_SOURCE = 56_000;

function sourceShown(text: string): string {
  return shownWithin(LONGEST_SOURCE, text, revealedSource);
}

function linked(state: FileState): string[] {
  return state.kind === 'unread' || state.link === null ? [] : [WORDS.link(spelledLine(state.link))];
}

/** Both texts of each replacement in full. The line numbers belong to the texts, which the headers say. */
function textsShown(
  path: string,
  problem: string,
  texts: readonly Replacement[],
  state: FileState,
  { compare }: EditTools,
): string {
  const sections = texts.map(({ from, to, every }, n) => {
    const number = texts.length > 1 ? `edit ${n + 1}: ` : '';
    const end = from === '' || from.endsWith('\n') || to.endsWith('\n') ? '' : '\n';
    const old = from === '' ? 'all of it' : every ? 'every occurrence of this text' : 'this text';
    return [
      `--- ${spelledLine(path)}\t${number}${old}`,
      `+++ ${spelledLine(path)}\t${number}becomes this`,
      // Where neither text ends its last line, that is no difference.
      sourceShown(compare(from + end, to + end, Number.POSITIVE_INFINITY)),
    ].join('\n');
  });
  return [...linked(state), `${problem} ${WORDS.asTold}`, ...sections].join('\n');
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The files whose diffs a context shows, by their absolute paths; not those of which both texts are shown instead. */
export function filesShown(context: string): { path: string; existed: boolean }[] {
  const directory = /^Directory: (\/.*)$/m.exec(context)?.[1] ?? '';
  const headers = context.matchAll(/^--- ([^\t\n]+)\n\+\+\+ ([^\t\n]+)\n@@ -/gm);
  return [...headers].map(([, before = '', after = '']) => {
    const existed = before !== NO_FILE;
    const path = existed ? before : after;
    return { path: path.startsWith('/') ? path : `${directory}/${path}`, existed };
  });
}

// ---- Patches ----
// The format of Codex. It looks for the lines of each chunk below the last one, and where they do not occur exactly it
// tries less exact ways. Only what is found exactly is shown as a diff of the files; the person sees the patch otherwise.

interface FilePatch {
  kind: 'Add' | 'Delete' | 'Update';
  path: string;
  to: string;
  added: string[];
  chunks: Chunk[];
}

interface Chunk {
  /** A line above the chunk, such as the head of a function; null without one. */
  below: string | null;
  from: string[];
  to: string[];
  at_end: boolean;
}

function patchShown({ command }: Raw, tools: EditTools): ShownEdit | null {
  if (typeof command !== 'string') return null;
  const patches = patchesIn(command);
  const sections = patches === null ? null : sectionsOf(patches, tools);
  const shown = sections === null ? [WORDS.patch, sourceShown(command).replace(/^/gm, '    ')] : sections;
  return { shown: shown.join('\n'), named: ['command'] };
}

/** The diffs of all files; null if one of them cannot be made exactly. */
function sectionsOf(patches: readonly FilePatch[], tools: EditTools): string[] | null {
  const sections: string[] = [];
  const touched = new Set<string>();
  for (const patch of patches) {
    // What one part of a patch leaves for the next one is not on the disk yet.
    const names = [patch.path, patch.to].map((path) => tools.realPath(path));
    if (names.some((name) => touched.has(name))) return null;
    for (const name of names) touched.add(name);
    const state = tools.read(patch.path);
    const change = state.kind === 'unread' ? null : changeOf(patch, state);
    const moved = patch.to === patch.path ? [] : movedTo(patch.to, tools.read(patch.to));
    if (change === null || moved === null) return null;
    const remarks = [...moved, ...change.remarks];
    sections.push(sectionOf({ ...change, remarks, path: patch.path, to: patch.to }, state, tools));
  }
  return sections;
}

/** What is to be known of the place to which a patch moves a file; null if it cannot be looked at. */
function movedTo(path: string, state: FileState): string[] | null {
  if (state.kind === 'unread') return null;
  return [...linked(state), ...(state.kind === 'text' ? [WORDS.moved(spelledLine(path))] : [])];
}

function changeOf({ kind, added, chunks }: FilePatch, state: FileState): Change | null {
  const before = state.kind === 'text' ? state.text : null;
  if (kind === 'Add') {
    const remarks = before === null ? [] : [WORDS.replaced];
    return { before, after: added.map((line) => `${line}\n`).join(''), remarks };
  }
  if (before === null) return null;
  if (kind === 'Delete') return { before, after: null, remarks: [] };
  const after = patched(before, chunks);
  return after === null ? null : { before, after, remarks: [] };
}

function patched(text: string, chunks: readonly Chunk[]): string | null {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const made: string[] = [];
  let next = 0;
  for (const { below, from, to, at_end } of chunks) {
    let start = next;
    if (below !== null) {
      const found = lines.indexOf(below, start);
      if (found === -1) return null;
      start = found + 1;
    }
    // Lines without any around them are added at the end, which must be after everything else here.
    const place = from.length === 0 ? lines.length : placeOf(lines, from, start, at_end);
    if (place === null) return null;
    made.push(...lines.slice(next, place), ...to);
    next = place + from.length;
  }
  made.push(...lines.slice(next));
  if (made.at(-1) !== '') made.push('');
  return made.join('\n');
}

function placeOf(
  lines: readonly string[],
  part: readonly string[],
  start: number,
  at_end: boolean,
): number | null {
  const last = lines.length - part.length;
  const isAt = (place: number): boolean => part.every((line, n) => lines[place + n] === line);
  if (at_end && last >= start && isAt(last)) return last;
  for (let place = start; place <= last; place += 1) if (isAt(place)) return place;
  return null;
}

const FILE_HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/;

/** The files of a patch; null for whatever is not plainly of this format. */
function patchesIn(text: string): FilePatch[] | null {
  const lines = text.trim().split('\n');
  if (lines[0] !== '*** Begin Patch' || lines.at(-1) !== '*** End Patch') return null;
  const patches: FilePatch[] = [];
  for (const line of lines.slice(1, -1)) {
    const [, kind, path] = FILE_HEADER.exec(line) ?? [];
    const patch = patches.at(-1);
    if (kind !== undefined && path !== undefined) {
      patches.push({ kind: kind as FilePatch['kind'], path, to: path, added: [], chunks: [] });
    } else if (patch === undefined || !takeLine(patch, line)) return null;
  }
  const isWhole = ({ kind, chunks, added }: FilePatch): boolean =>
    kind === 'Update'
      ? chunks.length > 0 && chunks.every(({ from, to }) => from.length + to.length > 0)
      : kind === 'Delete' || added.length > 0;
  return patches.length > 0 && patches.every(isWhole) ? patches : null;
}

/** Adds a line to a patch; false if it does not belong there. */
function takeLine(patch: FilePatch, line: string): boolean {
  const { kind, added, chunks } = patch;
  const mark = line.slice(0, 1);
  const rest = line.slice(1);
  if (kind === 'Add') return mark === '+' && added.push(rest) > 0;
  if (kind === 'Delete') return false;
  const move = /^\*\*\* Move to: (.+)$/.exec(line)?.[1];
  if (move !== undefined) {
    patch.to = move;
    return chunks.length === 0;
  }
  if (line === '@@' || line.startsWith('@@ ')) {
    const below = line === '@@' ? null : line.slice(3);
    return chunks.push({ below, from: [], to: [], at_end: false }) > 0;
  }
  if (chunks.length === 0) chunks.push({ below: null, from: [], to: [], at_end: false });
  const chunk = chunks.at(-1);
  if (chunk === undefined || chunk.at_end) return false;
  if (line === '*** End of File') chunk.at_end = true;
  else if (mark === '' || mark === ' ') {
    chunk.from.push(rest);
    chunk.to.push(rest);
  } else if (mark === '-') chunk.from.push(rest);
  else if (mark === '+') chunk.to.push(rest);
  else return false;
  return true;
}
