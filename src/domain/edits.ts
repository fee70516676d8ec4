/**
 * Edits: the effect of a tool call on files, as unified diffs against the current files. A diff claims what the files will
 * contain, so it is shown only for client versions that were compared with Hive's model of them (claude-edits.ts,
 * codex-patches.ts). Otherwise both texts are shown in full with the reason, and the client decides the effect. Pure:
 * `EditTools` read and compare the files.
 */

import {
  type Effect,
  editedByClaude,
  FILE_ARGUMENTS,
  LONG_DIFF,
  NO_SUCH_FILE,
  type Replacement,
  timesIn,
  writtenByClaude,
} from './claude-edits.ts';
import {
  addedText,
  type FilePatch,
  filesOfPatch,
  newSearch,
  type Search,
  updatedText,
} from './codex-patches.ts';
import { revealedSource, spelledLine } from './display.ts';
import type { HookClient } from './hooks.ts';
import { type Raw, textIn } from './json.ts';
import { digestOf } from './permissions.ts';
import { indented, isAtLeast } from './text.ts';

/** A file as it is now. `link` is its real path where its path contains a link. */
export type FileState = { link: string | null } & (
  | { kind: 'text'; text: string }
  | { kind: 'missing' }
  /** `why` completes "The file …". */
  | { kind: 'unread'; why: string }
);

/** The I/O that diffs need: reading and comparing files. */
export interface EditTools {
  /**
   * The version of the client that writes this transcript, waiting briefly for it; null if the transcript does not contain it.
   */
  versionIn(client: HookClient, transcript_path: string): Promise<string | null>;
  /**
   * The directory in which Codex applies a patch, waiting briefly for the call in this transcript; null if it does not say.
   */
  directoryOfPatch(transcript_path: string, patch: string): Promise<string | null>;
  /** Reads a file; a relative path is resolved in the directory in which the tool works. Never throws. */
  read(path: string): FileState;
  /** The real path of a file, the same for all names of it. */
  realPath(path: string): string;
  /** A text, compressed for the store; null if it is too large to be kept. */
  packed(text: string): string | null;
  unpacked(packed: string): string;
  /** The hunks of a unified diff with this many unchanged lines around each change; empty if nothing changes. */
  compare(before: string, after: string, context: number): string;
  /** The text after a unified diff, in which every line must match; null if one does not. */
  patched(text: string, diff: string): string | null;
}

/** An edit as a person reads it. */
export interface ShownEdit {
  /** Hive's remarks, at the beginning of a line, then the diffs. */
  shown: string;
  /** The arguments that are shown in full here. */
  named: readonly string[];
  /** The files before and after, as the diffs claim them; empty if no diff is claimed. */
  claimed: readonly ClaimedFile[];
}

/** A file before and after a call; null if the file does not exist then. */
export interface ClaimedFile {
  path: string;
  before: string | null;
  after: string | null;
}

/** One file as Codex itself says it is about to change it. */
export interface FileChange {
  type: 'add' | 'delete' | 'update';
  /** Absolute, as is `to`. */
  path: string;
  /** The path to which it moves the file; null if it does not. */
  to: string | null;
  /** The text of an added or deleted file, else a unified diff. */
  diff: string;
}

/** A call that edits files, and the version of the client that makes it; null if that is not known. */
export interface EditCall {
  client: HookClient;
  version: string | null;
  /** The directory in which the tool works; null if the client does not report it. */
  directory: string | null;
  name: string;
  input: Raw;
}

const CONTEXT = 3;
const NO_FILE = '/dev/null';

const WORDS = {
  unread: (why: string) => `The file ${why}, so this is not a diff of the file.`,
  decides: 'The exact effect is decided by the client.',
  asTold: 'The change, as passed to the tool:',
  all: (count: number) => `All ${count} occurrences are replaced.`,
  link: (real: string) => `The path contains a link. The file is ${real}`,
  up: 'The path has .. in it. If that comes after a link, the file may be another one than it seems.',
  returns: 'The lines of the file end with CR LF, which is not shown.',
  nothing: 'Nothing changes in this file.',
  replaced: 'The file exists. All of it is replaced.',
  moved: (to: string) => `The file ${to} exists. All of it is replaced.`,
  own: 'Claude Code itself may change what is written into its own folder .claude.',
  severalEdits: 'What several edits in one call do was not measured.',
  noCell: 'The notebook has no such cell as it is now.',
  cell: (number: number, count: number, type: string) =>
    `This is cell ${number} of ${count} (${type}). The client writes the whole notebook again, without the results of this cell.`,
  newCell: (number: number) =>
    `This is a new cell after cell ${number}. The client writes the whole notebook again.`,
  patch: 'The patch cannot be placed exactly in the files as they are now.',
  patchText: 'This is its text:',
  place: 'Codex does not say in which directory it applies this patch.',
  unmeasured: (client: string, version: string, first: string, last: string) =>
    `What an edit does was measured with ${client} ${first} to ${last}, and this is ${version}.`,
  unknown: (client: string) => `Hive does not know which version of ${client} this is.`,
} as const;

// ---- The versions whose edits were compared with the models ----

const MEASURED: Readonly<Record<HookClient, { name: string; first: string; last: string }>> = {
  'claude-code': { name: 'Claude Code', first: '2.1.330', last: '2.1.332' },
  codex: { name: 'Codex', first: '0.169.0', last: '0.171.0' },
};

/** Why no diff is claimed for a call by this version, as a sentence; null for a version that was measured. */
export function whyUnmeasured(client: HookClient, version: string | null): string | null {
  const { name, first, last } = MEASURED[client];
  if (version === null) return WORDS.unknown(name);
  const isPlain = /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version);
  return isPlain && isAtLeast(version, first) && isAtLeast(last, version)
    ? null
    : WORDS.unmeasured(name, spelledLine(version), first, last);
}

/**
 * The version of the client that wrote these lines of its transcript, newest last; null if none contains it. Claude Code writes
 * it into each line, Codex into the first one of a conversation.
 */
export function versionInTranscript(client: HookClient, lines: readonly string[]): string | null {
  const key = client === 'codex' ? '"cli_version"' : '"version"';
  for (const line of lines.toReversed()) {
    if (!line.includes(key)) continue;
    const version = versionInLine(client, line);
    if (version !== null) return version;
  }
  return null;
}

/** The version in a field of the line itself; an agent's text is nested deeper. */
function versionInLine(client: HookClient, line: string): string | null {
  try {
    const { version, type, payload } = JSON.parse(line) as Raw & { payload?: Raw };
    const found = client !== 'codex' ? version : type === 'session_meta' ? payload?.['cli_version'] : null;
    return typeof found === 'string' ? found : null;
  } catch {
    return null;
  }
}

// ---- The tools ----

/**
 * The text of the call for the person who has to permit it; null for a tool that edits no file, and for input of an unexpected
 * form. A diff that needs more than `room` bytes is replaced by both texts of the change.
 */
export function editShown(call: EditCall, tools: EditTools, room: number): ShownEdit | null {
  const { client, version, directory, name, input } = call;
  const unmeasured = whyUnmeasured(client, version);
  if (name === 'apply_patch')
    return patchShown(input, unmeasured ?? (directory === null ? WORDS.place : null), tools, room);
  const field = FILE_ARGUMENTS.get(name);
  const path = field === undefined ? undefined : input[field];
  if (field === undefined || typeof path !== 'string' || path === '') return null;
  const edit = editOf(name, input);
  if (edit === null) return null;
  const state = tools.read(path);
  const named = [...edit.named, ...(spelledLine(path) === path ? [field] : [])];
  const change =
    unmeasured === null || state.kind === 'unread' ? changeOf(edit, path, state) : { problem: unmeasured };
  const shown = 'problem' in change ? null : sectionOf({ ...change, path }, state, tools);
  if (!('problem' in change) && shown !== null && sizeOf(shown) <= room)
    return { shown, named, claimed: [{ path, before: change.before, after: change.after }] };
  const problem = 'problem' in change ? change.problem : LONG_DIFF;
  return { shown: textsShown(path, problem, edit, state, tools), named, claimed: [] };
}

interface Edit {
  named: readonly string[];
  /** The text that the client would make of the file, which is null if it does not exist. */
  effect(before: string | null): Effect;
  /** The texts of the call, which are shown if the file itself is not compared. */
  texts(state: FileState): readonly Replacement[];
  /** The remarks above a diff of the file. */
  remarks(state: FileState): readonly string[];
  /** The remarks above both texts. */
  about(state: FileState): readonly string[];
}

/** A file before and after; null if the file does not exist then. */
interface Change {
  before: string | null;
  after: string | null;
  remarks: readonly string[];
}

interface Problem {
  problem: string;
}

function changeOf(edit: Edit, path: string, state: FileState): Change | Problem {
  if (state.kind === 'unread') return { problem: WORDS.unread(state.why) };
  if (`${path}/${state.link ?? ''}/`.includes('/.claude/')) return { problem: WORDS.own };
  const before = state.kind === 'missing' ? null : state.text;
  const effect = edit.effect(before);
  return 'problem' in effect ? effect : { before, after: effect.after, remarks: edit.remarks(state) };
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
      return {
        named: ['content'],
        texts: () => [{ from: '', to: content, every: false }],
        effect: (before) => writtenByClaude(before, content),
        remarks: () => [],
        about: () => [],
      };
    }
    case 'Edit': {
      const replacement = replacementOf(input);
      if (replacement === null) return null;
      const { from, every } = replacement;
      return {
        named: ['old_string', 'new_string'],
        texts: () => [replacement],
        effect: (before) => editedByClaude(before, replacement),
        remarks(state) {
          const count = state.kind === 'text' && every ? timesIn(state.text, from) : 0;
          return count > 1 ? [WORDS.all(count)] : [];
        },
        about: () => [],
      };
    }
    case 'MultiEdit': {
      const { edits } = input;
      if (!Array.isArray(edits) || edits.length === 0) return null;
      const texts = edits.map((edit: unknown) => (isPlainEdit(edit) ? replacementOf(edit) : null));
      if (!texts.every((one) => one !== null)) return null;
      const effect = (): Problem => ({ problem: WORDS.severalEdits });
      const none = (): readonly string[] => [];
      return { named: ['edits'], texts: () => texts, effect, remarks: none, about: none };
    }
    case 'NotebookEdit': {
      const source = text('new_source');
      return source === null ? null : notebookEdit(input, source);
    }
    default:
      return null;
  }
}

const FIELDS_OF_EDIT: ReadonlySet<string> = new Set(['old_string', 'new_string', 'replace_all']);

/** Whether a diff shows every field of the edit: an unknown one must not be hidden. */
function isPlainEdit(edit: unknown): edit is Raw {
  return (
    edit !== null && typeof edit === 'object' && Object.keys(edit).every((field) => FIELDS_OF_EDIT.has(field))
  );
}

function replacementOf({ old_string: from, new_string: to, replace_all = false }: Raw): Replacement | null {
  if (typeof from !== 'string' || typeof to !== 'string' || typeof replace_all !== 'boolean') return null;
  return { from, to, every: replace_all };
}

// ---- Notebooks ----

interface Cell {
  id?: unknown;
  cell_type?: unknown;
  source?: unknown;
}

/**
 * A cell is compared by itself. There is no diff of the file, because the client rewrites the whole notebook in its own format.
 */
function notebookEdit(input: Raw, source: string): Edit {
  const { cell_id, edit_mode: mode = 'replace' } = input;
  const cellOf = (state: FileState): { at: number; cell: Cell | undefined; count: number } => {
    const cells = (state.kind === 'text' ? cellsIn(state.text) : null) ?? [];
    const at = cellAt(cells, cell_id);
    return { at, cell: cells[at], count: cells.length };
  };
  return {
    named: ['new_source'],
    effect: () => ({ problem: '' }),
    texts(state) {
      const { cell } = cellOf(state);
      const from = mode === 'insert' || cell === undefined ? '' : sourceOf(cell);
      return [{ from, to: mode === 'delete' ? '' : source, every: false }];
    },
    remarks: () => [],
    about(state) {
      const { at, cell, count } = cellOf(state);
      if (mode === 'insert' && (cell !== undefined || cell_id === undefined)) return [WORDS.newCell(at + 1)];
      return [
        cell === undefined ? WORDS.noCell : WORDS.cell(at + 1, count, spelledLine(String(cell.cell_type))),
      ];
    },
  };
}

function sourceOf({ source }: Cell): string {
  return Array.isArray(source) ? source.join('') : String(source ?? '');
}

function cellsIn(text: string): Cell[] | null {
  try {
    const { cells } = JSON.parse(text) as { cells?: unknown };
    return Array.isArray(cells) ? cells.map((cell) => (cell ?? {}) as Cell) : null;
  } catch {
    return null;
  }
}

/** The index of a cell. Cells have ids since version 4.5 of the format; in older notebooks the client counts them from 0. */
function cellAt(cells: readonly Cell[], id: unknown): number {
  const found = cells.findIndex((cell) => cell.id === id && id !== undefined);
  const counted = /^cell-(\d+)$/.exec(String(id))?.[1];
  return found === -1 && counted !== undefined && Number(counted) < cells.length ? Number(counted) : found;
}

// ---- What is shown ----

/** The diff of one file, with its remarks. */
function sectionOf(
  change: Change & { path: string; to?: string },
  state: FileState,
  { compare }: EditTools,
): string {
  const { path, to = path, remarks } = change;
  const { before, after, returns } = withoutReturns(change);
  const hunks = compare(before ?? '', after ?? '', CONTEXT);
  return [
    ...linked(state),
    ...returns,
    ...remarks,
    ...(hunks === '' && before !== null && after !== null ? [WORDS.nothing] : []),
    `--- ${before === null ? NO_FILE : spelledLine(path)}`,
    `+++ ${after === null ? NO_FILE : spelledLine(to)}`,
    ...(hunks === '' ? [] : [sourceShown(hunks)]),
  ].join('\n');
}

/**
 * The diff of a whole file that an agent shows; null for a file that is not what the agent compares with, and for a long diff. The
 * diff leaves out lines that both texts have. The file must have them, too: otherwise they would be allowed unseen.
 */
export function wholeFileShown(
  { path, before, after }: { path: string; before: string | null; after: string },
  tools: EditTools,
): string | null {
  const state = before === null ? null : tools.read(path);
  if (state?.kind !== 'text' || state.text !== before) return null;
  const shown = sectionOf({ path, before, after, remarks: [] }, state, tools);
  return sizeOf(shown) <= DETAILS_BYTES ? shown : null;
}

/** If every line ends with CR LF both before and after, one remark says so; otherwise the diff shows each CR. */
function withoutReturns({ before, after }: Pick<Change, 'before' | 'after'>): Pick<
  Change,
  'before' | 'after'
> & {
  returns: readonly string[];
} {
  const texts = [before, after].filter((text) => text !== null);
  const isUniform = texts.every((text) => !/(?<!\r)\n|\r(?!\n)/.test(text));
  if (!isUniform || !texts.some((text) => text.includes('\r'))) return { before, after, returns: [] };
  const plain = (text: string | null): string | null => text?.replaceAll('\r\n', '\n') ?? null;
  return { before: plain(before), after: plain(after), returns: [WORDS.returns] };
}

/** In bytes: no desk shows more of a permission. A prompt's context holds 64 KB; the rest is for the lines around the details. */
export const DETAILS_BYTES = 56_000;

/**
 * Spelling out takes time for each character, and an agent may send a megabyte. A text that is longer than the details is returned
 * as it is, and the caller must not show it.
 */
function sourceShown(text: string): string {
  return text.length > DETAILS_BYTES ? text : revealedSource(text);
}

function linked({ link }: FileState): string[] {
  return link === null ? [] : [WORDS.link(spelledLine(link))];
}

/** Where a link in the path of a call leads that reads or searches it, or that `..` makes it unclear; null for a plain path. */
export function pathShown(input: Raw, tools: Pick<EditTools, 'read'>): ShownEdit | null {
  const path = textIn(input, 'file_path', 'notebook_path', 'path');
  const up = path?.split('/').includes('..') === true ? WORDS.up : null;
  const [shown = up] = path === null ? [] : linked(tools.read(path));
  return shown === null ? null : { shown, named: [], claimed: [] };
}

/** Both texts of each replacement in full. As the headers say, the line numbers are those of the texts. */
function textsShown(
  path: string,
  problem: string,
  edit: Pick<Edit, 'texts' | 'about'>,
  state: FileState,
  { compare }: EditTools,
): string {
  const texts = edit.texts(state);
  const all = texts.flatMap(({ from, to }) => [from, to]).join('\n');
  const compared = (): string[] =>
    texts.map(({ from, to, every }, n) => {
      const number = texts.length > 1 ? `edit ${n + 1}: ` : '';
      const end = from === '' || from.endsWith('\n') || to.endsWith('\n') ? '' : '\n';
      const old = from === '' ? 'all of it' : every ? 'every occurrence of this text' : 'this text';
      return [
        `--- ${spelledLine(path)}\t${number}${old}`,
        `+++ ${spelledLine(path)}\t${number}becomes this`,
        // A missing last line ending in both texts is not a difference.
        sourceShown(compare(from + end, to + end, Number.POSITIVE_INFINITY)),
      ].join('\n');
    });
  // No desk could show more, so nothing is compared then.
  const sections = all.length > DETAILS_BYTES ? [all] : compared();
  const missing = state.kind === 'missing' && problem !== NO_SUCH_FILE ? [NO_SUCH_FILE] : [];
  const why = [problem, WORDS.decides, WORDS.asTold].filter((sentence) => sentence !== '').join(' ');
  return [...linked(state), ...missing, ...edit.about(state), why, ...sections].join('\n');
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The heading of a file; before the first one are only remarks of Hive, and none of them begins like this. */
const HEADING = /^--- ([^\t\n]+)(?:\t[^\n]*)?\n\+\+\+ ([^\t\n]+)/m;

/** The file of the first heading in a text that `editShown` made, as the call named it; null if there is no heading. */
export function fileHeaded(shown: string): string | null {
  const [, before, after] = HEADING.exec(shown) ?? [];
  return (before === NO_FILE ? after : before) ?? null;
}

/** The files whose diffs a context shows, by their absolute paths; not those for which both texts are shown instead. */
export function filesShown(context: string): { path: string; existed: boolean }[] {
  const directory = /^Directory: (\/.*)$/m.exec(context)?.[1] ?? '';
  const headers = context.matchAll(/^--- ([^\t\n]+)\n\+\+\+ ([^\t\n]+)\n@@ -/gm);
  return [...headers].map(([, before = '', after = '']) => {
    const existed = before !== NO_FILE;
    const path = existed ? before : after;
    return { path: path.startsWith('/') ? path : `${directory}/${path}`, existed };
  });
}

/** Whether these changes of Codex make exactly the files that the diffs of a patch claim, of the files as they are now. */
export function areClaimed(
  changes: readonly FileChange[],
  claimed: readonly ClaimedFile[],
  tools: EditTools,
): boolean {
  const files = claimed.map((file) => ({ ...file, place: tools.realPath(file.path) }));
  const made = changes.flatMap(({ type, path, to, diff }): { place: string; after?: string | null }[] => {
    const place = tools.realPath(path);
    const before = files.find((file) => file.place === place)?.before ?? null;
    const updated = type === 'update' && before !== null ? tools.patched(before, diff) : null;
    const after = type === 'add' ? diff : updated;
    // Anything that is uncertain matches no file.
    if (type === 'delete' ? before !== diff : after === null) return [{ place }];
    return to === null
      ? [{ place, after }]
      : [
          { place, after: null },
          { place: tools.realPath(to), after },
        ];
  });
  return (
    made.length === files.length &&
    files.every((file) => made.some(({ place, after }) => place === file.place && after === file.after))
  );
}

// ---- The effect of an allowed edit ----

/** The expected content of a file after a call, and its content before. */
export interface ExpectedFile {
  /** Its real path. */
  path: string;
  existed: boolean;
  /** The packed text before the call; null if there was no file, or it was too large to be kept. */
  before: string | null;
  /** The digest of the text; null for no file. */
  after: string | null;
}

/** The files as the diffs of a call claim them. */
export function expectedFiles(claimed: readonly ClaimedFile[], tools: EditTools): ExpectedFile[] {
  return claimed.map(({ path, before, after }) => ({
    path: tools.realPath(path),
    existed: before !== null,
    before: before === null ? null : tools.packed(before),
    after: after === null ? null : digestOf(after),
  }));
}

/** The diffs of the files that are not as expected after the call; null if all are as expected. */
export function unexpectedEffect(expected: readonly ExpectedFile[], tools: EditTools): string | null {
  const sections = expected.flatMap(({ path, existed, before, after }) => {
    const state = tools.read(path);
    const found = state.kind === 'text' ? state.text : null;
    if (state.kind !== 'unread' && (found === null ? null : digestOf(found)) === after) return [];
    if (state.kind === 'unread') return [`${spelledLine(path)}: ${WORDS.unread(state.why)}`];
    if (existed && before === null) return [`${spelledLine(path)}: ${LONG_DIFF}`];
    const old = before === null ? null : tools.unpacked(before);
    return [sectionOf({ path, before: old, after: found, remarks: [] }, state, tools)];
  });
  return sections.length === 0 ? null : sections.join('\n');
}

/** The most characters of each of the two diffs in a notice. */
const NOTICED = 8_000;

/** The sentence about an allowed edit that did something else, with what was shown and what happened. */
export function unexpectedSentence(agent: string, shown: string, made: string): string {
  const cut = (text: string): string =>
    text.length <= NOTICED ? text : `${text.slice(0, NOTICED)}\n(The rest is left out here.)`;
  return [
    `${agent} did not make the change that you allowed: a file is not what the diff showed. The client did something else, or another program, such as a formatter, wrote the file at once.`,
    `You were shown:\n${cut(shown)}`,
    `What happened:\n${cut(made)}`,
  ].join('\n\n');
}

// ---- Patches ----
// Only a patch that Codex places exactly is shown as diffs of the files; of any other patch the person sees the text.

function patchShown(
  { command }: Raw,
  unknown: string | null,
  tools: EditTools,
  room: number,
): ShownEdit | null {
  if (typeof command !== 'string') return null;
  const named = ['command'];
  const isLong = command.length > DETAILS_BYTES;
  const patches = unknown === null && !isLong ? filesOfPatch(command) : null;
  const changes = patches === null ? null : changesOf(patches, tools);
  const shown = changes?.map(({ section }) => section).join('\n') ?? null;
  if (changes !== null && shown !== null && sizeOf(shown) <= room)
    return { shown, named, claimed: changes.flatMap(({ files }) => files) };
  const problem = unknown ?? (shown === null && !isLong ? WORDS.patch : LONG_DIFF);
  const why = `${problem} ${WORDS.decides} ${WORDS.patchText}`;
  const text = isLong ? command : indented(revealedSource(command));
  return { shown: [why, text].join('\n'), named, claimed: [] };
}

interface PatchedFile {
  section: string;
  files: readonly ClaimedFile[];
}

/** All files of a patch as it would leave them; null if that is uncertain for any of them. */
function changesOf(patches: readonly FilePatch[], tools: EditTools): PatchedFile[] | null {
  const changes: PatchedFile[] = [];
  const touched = new Set<string>();
  const search = newSearch();
  for (const patch of patches) {
    const { path, to } = patch;
    // If two parts of a patch touch the same file, the result of the first is not on disk yet.
    const names = new Set([path, to].map((name) => tools.realPath(name)));
    if ([...names].some((name) => touched.has(name)) || (to !== path && names.size === 1)) return null;
    for (const name of names) touched.add(name);
    const state = tools.read(path);
    const change = patchedFile(patch, state, search);
    const moved = to === path ? [] : movedTo(to, tools.read(to));
    if (change === null || moved === null) return null;
    const { before, after } = change;
    changes.push({
      section: sectionOf({ ...change, remarks: [...moved, ...change.remarks], path, to }, state, tools),
      files:
        to === path
          ? [{ path, before, after }]
          : [
              { path, before, after: null },
              { path: to, before, after },
            ],
    });
  }
  return changes;
}

/** The remarks about the destination of a moved file; null if the destination cannot be examined. */
function movedTo(path: string, state: FileState): string[] | null {
  if (state.kind === 'unread') return null;
  return [...linked(state), ...(state.kind === 'text' ? [WORDS.moved(spelledLine(path))] : [])];
}

function patchedFile(patch: FilePatch, state: FileState, search: Search): Change | null {
  if (state.kind === 'unread') return null;
  const before = state.kind === 'text' ? state.text : null;
  const { kind, path, to } = patch;
  if (kind === 'Add')
    return { before, after: addedText(patch), remarks: before === null ? [] : [WORDS.replaced] };
  // If a file behind a link is removed, that may be the link or its target.
  if (before === null || (state.link !== null && (kind === 'Delete' || to !== path))) return null;
  const after = kind === 'Delete' ? null : updatedText(before, patch, search);
  return after === null && kind === 'Update' ? null : { before, after, remarks: [] };
}
