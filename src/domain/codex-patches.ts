/**
 * The effect of Codex's apply_patch on files. Codex parses patches leniently and searches for the lines of a chunk in several
 * ways, each less exact than the one before. This models only plain patches whose lines all occur exactly. For anything else
 * there is no result, because the effect is up to Codex. `test/clients/edits.test.ts` compares this with the real program. Pure.
 */
import { objectIn, objectInText, type Raw, textIn } from './json.ts';

/** The part of a patch that concerns one file. */
export interface FilePatch {
  kind: 'Add' | 'Delete' | 'Update';
  path: string;
  /** The path to which the patch moves the file; the same path if it does not. */
  to: string;
  /** The lines of a new file. */
  added: string[];
  chunks: Chunk[];
}

interface Chunk {
  /** A line above the chunk, such as the head of a function; null without one. */
  below: string | null;
  lines: { mark: ' ' | '-' | '+'; text: string }[];
  at_end: boolean;
}

// ---- Reading a patch ----

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const END_OF_FILE = '*** End of File';
const FILE_HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;

/** The files of a patch, in their order; null where Codex may read it in another way. */
export function filesOfPatch(text: string): FilePatch[] | null {
  if (!isPlain(text)) return null;
  const lines = text.trim().split('\n');
  if (lines[0] !== BEGIN || lines.at(-1) !== END) return null;
  const patches: FilePatch[] = [];
  for (const line of lines.slice(1, -1)) {
    if (isDisguised(line)) return null;
    const [, kind, path] = FILE_HEADER.exec(line) ?? [];
    const patch = patches.at(-1);
    if (kind !== undefined && path !== undefined) {
      if (hasOuterBlanks(path)) return null;
      patches.push({ kind: kind as FilePatch['kind'], path, to: path, added: [], chunks: [] });
    } else if (patch === undefined || !takeLine(patch, line)) return null;
  }
  return patches.length > 0 && patches.every(isWhole) ? patches : null;
}

/** Whether a text has no character that only some programs take for a line ending, and none that cannot be in a file. */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !/[\0\r]/.test(text);
}

/** Whether Codex might read a line of text as a marker, because it is one apart from the white space around it. */
function isDisguised(line: string): boolean {
  const bare = line.trim();
  return line !== bare && (bare.startsWith('*** ') || bare === '@@' || bare.startsWith('@@ '));
}

/** Codex strips what Unicode calls white space, which is not quite what JavaScript does. */
function hasOuterBlanks(text: string): boolean {
  return /^[\s\u0085]|[\s\u0085]$/.test(text);
}

function isWhole({ kind, chunks, added }: FilePatch): boolean {
  if (kind === 'Update') return chunks.length > 0 && chunks.every(({ lines }) => lines.length > 0);
  return kind === 'Delete' || added.length > 0;
}

/** Adds a line to a patch; false if it does not belong there. */
function takeLine(patch: FilePatch, line: string): boolean {
  const { kind, added, chunks } = patch;
  const mark = line.slice(0, 1);
  const rest = line.slice(1);
  if (kind === 'Add') return mark === '+' && added.push(rest) > 0;
  if (kind === 'Delete') return false;
  const move = MOVE.exec(line)?.[1];
  if (move !== undefined) {
    const isFirst = chunks.length === 0 && patch.to === patch.path;
    patch.to = move;
    // Codex moves a file to its own path by deleting it.
    return isFirst && move !== patch.path && !hasOuterBlanks(move);
  }
  if (line === '@@' || line.startsWith('@@ ')) {
    const below = line === '@@' ? null : line.slice(3);
    return (
      (below === null || !/[\s\u0085]$/.test(below)) && chunks.push({ below, lines: [], at_end: false }) > 0
    );
  }
  // An empty line that begins the first chunk is skipped by some versions.
  if (chunks.length === 0 && line === '') return false;
  if (chunks.length === 0) chunks.push({ below: null, lines: [], at_end: false });
  const chunk = chunks.at(-1);
  if (chunk === undefined || chunk.at_end) return false;
  if (line === END_OF_FILE) chunk.at_end = true;
  else if (mark === '') chunk.lines.push({ mark: ' ', text: '' });
  else if (mark === ' ' || mark === '-' || mark === '+') chunk.lines.push({ mark, text: rest });
  else return false;
  return true;
}

// ---- Applying it ----

export function addedText({ added }: Pick<FilePatch, 'added'>): string {
  return added.map((line) => `${line}\n`).join('');
}

interface Replaced {
  start: number;
  count: number;
  by: readonly string[];
}

/**
 * How many more lines may be compared to place the chunks of a patch: even a small chunk may be compared with every place of a
 * file.
 */
export interface Search {
  lines_left: number;
}

/** The search for the chunks of one patch. This many lines take a tenth of a second at most. */
export function newSearch(): Search {
  return { lines_left: 5_000_000 };
}

/**
 * The file after an update; null if Codex would have to search less exactly, the chunks are out of order, or the search takes
 * too long.
 */
export function updatedText(
  text: string,
  { chunks }: Pick<FilePatch, 'chunks'>,
  search = newSearch(),
): string | null {
  // Codex does not add its line ending to such a last line.
  if (text.endsWith('\r')) return null;
  const { lines, ends } = linesWithEnds(text);
  const replaced: Replaced[] = [];
  let next = 0;
  for (const chunk of chunks) {
    if (chunk.below !== null) {
      const found = placeOf(search, lines, [chunk.below], next);
      if (found === null) return null;
      next = found + 1;
    }
    const old = chunk.lines.filter(({ mark }) => mark !== '+').map(({ text: line }) => line);
    // With no line to replace, the new ones are added at the end of the file.
    const start =
      old.length === 0
        ? lines.length
        : placeOf(search, lines, old, chunk.at_end ? lines.length - old.length : next);
    if (start === null || start < next) return null;
    replaced.push(...changesIn(chunk, start));
    if (old.length > 0) next = start + old.length;
  }
  return withReplaced(lines, ends, replaced);
}

/** The lines of a text and the ending of each; the last one may have none. */
function linesWithEnds(text: string): { lines: string[]; ends: string[] } {
  const parts = text.split('\n');
  const last = parts.pop() ?? '';
  const ends = parts.map((line) => (line.endsWith('\r') ? '\r\n' : '\n'));
  const lines = parts.map((line, n) => (ends[n] === '\n' ? line : line.slice(0, -1)));
  return last === '' ? { lines, ends } : { lines: [...lines, last], ends };
}

/** The changes of a chunk, between its unchanged lines. */
function changesIn({ lines }: Chunk, start: number): Replaced[] {
  const changes: Replaced[] = [];
  let at = start;
  let change: { start: number; count: number; by: string[] } | null = null;
  for (const { mark, text } of lines) {
    if (mark === ' ') {
      change = null;
    } else {
      if (change === null) {
        change = { start: at, count: 0, by: [] };
        changes.push(change);
      }
      if (mark === '+') change.by.push(text);
      else change.count += 1;
    }
    if (mark !== '+') at += 1;
  }
  return changes;
}

function placeOf(
  search: Search,
  lines: readonly string[],
  part: readonly string[],
  start: number,
): number | null {
  for (let place = Math.max(start, 0); place <= lines.length - part.length; place += 1) {
    const other = part.findIndex((line, n) => lines[place + n] !== line);
    search.lines_left -= other === -1 ? part.length : other + 1;
    if (search.lines_left < 0) return null;
    if (other === -1) return place;
  }
  return null;
}

/** New lines end as the first line of the file does, and so does a last one without an end. */
function withReplaced(
  lines: readonly string[],
  ends: readonly string[],
  replaced: readonly Replaced[],
): string | null {
  const [end = '\n'] = ends;
  const made: string[] = [];
  let next = 0;
  const keepUntil = (to: number): void => {
    for (; next < to; next += 1) made.push(lines[next] + (ends[next] ?? end));
  };
  for (const { start, count, by } of [...replaced].sort((a, b) => a.start - b.start)) {
    if (start < next) return null;
    keepUntil(start);
    for (const line of by) made.push(line + end);
    next = start + count;
  }
  keepUntil(lines.length);
  return made.join('');
}

// ---- Where it is applied ----

/**
 * The directory in which Codex applies a patch, by the calls in the transcript of its turn. A shell command may contain a patch and
 * name a directory for it, and the hook that asks for permission reports neither. Null if the transcript does not say.
 */
export function directoryOfPatch(lines: readonly string[], patch: string, cwd: string): string | null {
  const found = openCalls(lines).flatMap((call) => directoriesIn(call, patch.trim(), cwd));
  const [first = null] = found;
  return found.every((directory) => directory === first) ? first : null;
}

/**
 * The directory in which Codex applies a patch, by the absolute paths of the files that it is about to change; null if the patch does
 * not name just these.
 */
export function directoryOfChanges(patch: string, changes: readonly { path: string }[]): string | null {
  const paths = changes.map(({ path }) => path);
  const files = filesOfPatch(patch) ?? [];
  const [first = ''] = files.map(({ path }) => path).filter((path) => !path.startsWith('/'));
  const places = paths.flatMap((path) =>
    path.endsWith(`/${first}`) ? path.slice(0, -first.length - 1) : [],
  );
  const isThere = (place: string) =>
    files.every(({ path }) => paths.includes(path.startsWith('/') ? path : `${place}/${path}`));
  return files.length === paths.length ? (places.find(isThere) ?? null) : null;
}

/** Whether the directory decides which files a patch names. */
export function isRelativePatch(patch: string): boolean {
  return filesOfPatch(patch)?.every(({ path, to }) => path.startsWith('/') && to.startsWith('/')) !== true;
}

/** The calls of the running turn that have not returned; none if its beginning is not there. */
function openCalls(lines: readonly string[]): Raw[] {
  let open: Map<unknown, Raw> | null = null;
  for (const line of lines) {
    if (!/"task_started"|_call(?:_output)?"/.test(line)) continue;
    const item = objectIn(objectInText(line)?.['payload']) ?? {};
    const type = textIn(item, 'type') ?? '';
    if (type === 'task_started') open = new Map();
    if (type.endsWith('_call')) open?.set(item['call_id'], item);
    if (type.endsWith('_call_output')) open?.delete(item['call_id']);
  }
  return [...(open?.values() ?? [])];
}

/** A command that does nothing but apply a patch, perhaps in another directory. */
const ONLY_PATCH =
  /^\s*(?:cd ([\w@%+=:,./][\w@%+=:,./-]*|'[^']*') && )?apply_patch <<(['"]?)(\w+)\2\n([\s\S]*)\n\3\s*$/;

/** Where a call applies this patch: nowhere, or in one directory, which is null if Codex might see another one. */
function directoriesIn(call: Raw, patch: string, cwd: string): (string | null)[] {
  const name = textIn(call, 'name');
  if (name === 'apply_patch' && textIn(call, 'input')?.trim() === patch) return [cwd];
  const given = textIn(call, 'arguments', 'input') ?? '';
  if (name === 'apply_patch' || !given.includes('apply_patch')) return [];
  const { cmd, workdir = '' } = objectInText(given) ?? {};
  const [, to = '', , , body] = ONLY_PATCH.exec(name === 'exec_command' ? String(cmd) : '') ?? [];
  if (body === undefined || typeof workdir !== 'string') return [null];
  if (body.trim() !== patch) return [];
  const place = below(cwd, workdir);
  return [place === null ? null : below(place, to.replaceAll("'", ''))];
}

/** A path from a directory; null where programs may read it in two ways. */
function below(directory: string, path: string): string | null {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || path.startsWith('~')) return null;
  return [path.startsWith('/') ? '' : directory, ...parts].join('/') || '/';
}

// ---- Permissions of a command ----

/**
 * The permissions that a running command asks for in addition to those of its sandbox, by the calls in the transcript of its turn;
 * null if it asks for none. The hook that asks for permission does not report them.
 */
export function permissionsOfCommand(lines: readonly string[], command: string | null): unknown {
  for (const call of openCalls(lines)) {
    const { cmd, additional_permissions = null } = objectInText(textIn(call, 'arguments') ?? '') ?? {};
    if (cmd === command && additional_permissions !== null) return additional_permissions;
  }
  return null;
}
