/**
 * Our tables in somebody else's TOML file. No library edits TOML in place, so whole tables are appended and cut out as
 * lines, and a parser checks before and after that nothing else has changed.
 *
 * Each table has its own mark, a comment above it, instead of one mark around all of them: when Codex rewrites its file, it
 * inserts text between a table and a comment at the end, but keeps a table and the comment above it together.
 */
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { HiveError } from '../../domain/errors.ts';
import { applyEdits, type TextEdit } from '../../domain/text.ts';

/** A table and its keys, each on one line. */
export interface TomlTable {
  path: readonly string[];
  values: Readonly<Record<string, string | readonly string[]>>;
}

type Toml = Record<string, unknown>;

const MARK = '# written by hive init; hive uninit takes it back';

/** The content of the file. @throws HiveError `invalid_input` when it is not TOML. */
export function readToml(text: string): Toml {
  try {
    return parse(text.replace(/^\uFEFF/, ''), { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    const [sentence] = String(error instanceof Error ? error.message : error).split('\n');
    throw new HiveError('invalid_input', `This is not TOML that Hive can add to: ${sentence}`);
  }
}

/** The value at a path; undefined when there is none. */
export function tomlAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isTable(at) ? at[key] : undefined), value);
}

/** Appends the tables. @throws HiveError `invalid_input` when the file does not allow it, because of an inline table for example. */
export function appendToml(text: string, tables: readonly TomlTable[]): TextEdit[] {
  if (tables.length === 0) return [];
  const before = readToml(text);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  const edits = [
    {
      offset: text.length,
      removed: '',
      inserted: gap + tables.map(linesOf).join('\n').replaceAll('\n', eol),
    },
  ];
  const after = readEdited(applyEdits(text, edits));
  for (const { path, values } of tables) {
    if (!isDeepStrictEqual({ ...(tomlAt(after, path) as object) }, { ...values })) throw cannot();
  }
  if (!isDeepStrictEqual(without(after, tables), without(before, []))) throw cannot();
  return edits;
}

/** Parses the edited text. It was valid before, so an error is due to the edit. */
function readEdited(text: string): Toml {
  try {
    return readToml(text);
  } catch {
    throw cannot();
  }
}

/** The paths of all tables with our mark: those that `removeToml` would remove. */
export function markedTables(text: string): string[][] {
  return stanzasOf(text)
    .filter(({ isMarked }) => isMarked)
    .map(({ path }) => path);
}

/** Removes the tables with our mark, and tables that were added below them. */
export function removeToml(text: string): TextEdit[] {
  const marked = markedTables(text);
  const isBelow = (path: readonly string[], mine: readonly string[]): boolean =>
    path.length > mine.length && mine.every((key, n) => path[n] === key);
  const ours = stanzasOf(text).filter(
    ({ path, isMarked }) => isMarked || marked.some((mine) => isBelow(path, mine)),
  );
  const edits = ours.map(({ start, end }) => ({
    offset: start,
    removed: text.slice(start, end),
    inserted: '',
  }));
  // From the end, so that no cut moves another one.
  edits.reverse();
  const tables = marked.map((path) => ({ path, values: {} }));
  const rest = without(readEdited(applyEdits(text, edits)), []);
  if (!isDeepStrictEqual(rest, without(readToml(text), tables))) throw cannot();
  return edits;
}

/** The text of a table, as it is appended. */
export function linesOf({ path, values }: TomlTable): string {
  const header = path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join('.');
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${tomlValue(value)}`);
  return [MARK, `[${header}]`, ...lines, ''].join('\n');
}

/** JSON's strings are also TOML's, except for one character that JSON does not escape. */
function tomlValue(value: string | readonly string[]): string {
  return typeof value === 'string'
    ? JSON.stringify(value).replaceAll('\u007F', '\\u007F')
    : `[${value.map(tomlValue).join(', ')}]`;
}

/** A table's lines in a file. */
interface Stanza {
  path: string[];
  isMarked: boolean;
  start: number;
  end: number;
}

/** Each `[table]` with the comment above it, up to the first line that is not one of its keys. */
function stanzasOf(text: string): Stanza[] {
  const found: Stanza[] = [];
  const header =
    /(\r?\n)?^(?:(# written by hive init;)[^\n]*\n)?(\[[^[\n][^\n]*\])[ \t]*\r?(?:\n|$)((?:[^\s#[][^\n]*(?:\n|$))*)/gm;
  for (const match of text.matchAll(header)) {
    const [all, gap = '', mark, name = ''] = match;
    const path = pathOf(name);
    // The empty line above belongs to our table.
    const isGap = gap !== '' && (match.index === 0 || text[match.index - 1] === '\n');
    const start = match.index + (isGap ? 0 : gap.length);
    if (path !== null)
      found.push({ path, isMarked: mark !== undefined, start, end: match.index + all.length });
  }
  return found;
}

/** The keys of `[a."b c"]`; null for a line that only looks like a header. */
function pathOf(header: string): string[] | null {
  try {
    const path: string[] = [];
    for (let at: unknown = parse(header); isTable(at); ) {
      const [key] = Object.keys(at);
      if (key === undefined) break;
      path.push(key);
      at = at[key];
    }
    return path;
  } catch {
    return null;
  }
}

/** A copy without these tables, and without empty tables. */
function without(value: Toml, tables: readonly { path: readonly string[] }[]): Toml {
  const copy = (at: unknown, path: readonly string[]): unknown => {
    if (!isTable(at)) return at;
    const kept = Object.entries(at)
      .filter(([key]) => !tables.some((table) => isDeepStrictEqual(table.path, [...path, key])))
      .map(([key, inner]) => [key, copy(inner, [...path, key])] as const)
      .filter(([, inner]) => !isTable(inner) || Object.keys(inner).length > 0);
    return Object.fromEntries(kept);
  };
  return copy(value, []) as Toml;
}

function isTable(value: unknown): value is Toml {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}

function cannot(): HiveError {
  return new HiveError(
    'invalid_input',
    'This TOML file is written in a way that Hive cannot change without touching what is yours: change it by hand (hive init codex --print shows the lines).',
  );
}
