/**
 * Our tables in somebody else's TOML file. No library edits TOML in place, so whole tables are appended and cut out as
 * lines, and a parser checks before and after that nothing else has changed.
 *
 * Each table has its own mark, a comment above it, instead of one mark around all of them: when Codex rewrites its file, it
 * inserts text between a table and a comment at the end, but keeps a table and the comment above it together.
 */
import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import { HiveError } from '../../domain/errors.ts';
import { applyEdits, type TextEdit } from '../../domain/text.ts';
import { valueAt } from './json-edits.ts';

/** A table and its keys, each on one line. */
export interface TomlTable {
  path: readonly string[];
  values: Readonly<Record<string, string | readonly string[]>>;
  others?: OthersKeys;
}

/** The keys that others have set in a table of ours and below it, and the lines that set them. */
interface OthersKeys {
  values: Toml;
  lines: string;
}

type Toml = Record<string, unknown>;

const MARK = '# written by hive init; hive uninit takes it back';

/** The content of the file. @throws HiveError `invalid_input` when it is not TOML. */
export function readToml(text: string): Toml {
  try {
    return parse(text.replace(/^\uFEFF/, ''), { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    const [sentence] = String(error instanceof Error ? error.message : error).split('\n');
    const where = error instanceof TomlError ? `in line ${error.line}: ` : '';
    throw new HiveError('invalid_input', `This is not TOML that Hive can add to: ${where}${sentence}`);
  }
}

/** Appends the tables. @throws HiveError `invalid_input` if an inline table, for example, prevents it. */
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
  if (!tables.every((table) => hasTable(after, table))) throw cannot();
  if (!isDeepStrictEqual(without(after, tables), without(before, []))) throw cannot();
  return edits;
}

/** Whether this table is there, with exactly these keys. */
export function hasTable(toml: Toml, { path, values, others }: TomlTable): boolean {
  return isDeepStrictEqual({ ...(valueAt(toml, path) as object) }, { ...values, ...others?.values });
}

/** The keys that others have set in our table at this path: all but our own. */
export function othersIn(text: string, path: readonly string[], keys: readonly string[]): OthersKeys {
  const table = valueAt(readToml(text), path);
  const values = Object.entries(isTable(table) ? table : {}).filter(([key]) => !keys.includes(key));
  const isOurs = new RegExp(`^(["']?)(?:${keys.join('|')})\\1[ \\t]*=`);
  const stanzas = stanzasOf(text);
  const within = stanzas
    .filter(({ isMarked, path: where }) => isMarked && isDeepStrictEqual(where, path))
    .flatMap(({ keys: lines }) => lines.split('\n').filter((line) => line !== '' && !isOurs.test(line)));
  const below = stanzas
    .filter(({ path: where }) => isBelow(where, path))
    .map(({ start, end }) => `\n${text.slice(start, end).trim()}`);
  const lines = [...within, ...below].map((line) => `${line}\n`).join('');
  return { values: Object.fromEntries(values), lines: lines.replaceAll('\r\n', '\n') };
}

function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return path.length > above.length && above.every((key, n) => path[n] === key);
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
  const ours = stanzasOf(text).filter(
    ({ path, isMarked }) => isMarked || marked.some((mine) => isBelow(path, mine)),
  );
  const edits = ours.map(({ start, end }) => ({
    offset: start,
    removed: text.slice(start, end),
    inserted: '',
  }));
  // From the end, so that no cut moves the next one.
  edits.reverse();
  const tables = marked.map((path) => ({ path, values: {} }));
  const rest = without(readEdited(applyEdits(text, edits)), []);
  if (!isDeepStrictEqual(rest, without(readToml(text), tables))) throw cannot();
  return edits;
}

/** The text of a table, as it is appended. */
export function linesOf({ path, values, others }: TomlTable): string {
  const header = path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join('.');
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${tomlValue(value)}`);
  return [MARK, `[${header}]`, ...lines, others?.lines ?? ''].join('\n');
}

/** JSON's strings are also TOML's, except for one character that JSON does not escape. */
function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (!isTable(value)) return JSON.stringify(value).replaceAll('\u007F', '\\u007F');
  const keys = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)} = ${tomlValue(inner)}`);
  return `{ ${keys.join(', ')} }`;
}

/** A table's lines in a file. */
interface Stanza {
  path: string[];
  isMarked: boolean;
  /** The lines of its keys. */
  keys: string;
  start: number;
  end: number;
}

/** Each `[table]` with the comment above it, up to the first line that is not one of its keys. */
function stanzasOf(text: string): Stanza[] {
  const found: Stanza[] = [];
  const header =
    /(\r?\n)?^(?:(# written by hive init;)[^\n]*\n)?(\[[^[\n][^\n]*\])[ \t]*\r?(?:\n|$)((?:[^\s#[][^\n]*(?:\n|$))*)/gm;
  for (const match of text.matchAll(header)) {
    const [all, gap = '', mark, name = '', keys = ''] = match;
    const path = pathOf(name);
    // The empty line above belongs to our table.
    const isGap = gap !== '' && (match.index === 0 || text[match.index - 1] === '\n');
    const start = match.index + (isGap ? 0 : gap.length);
    if (path !== null)
      found.push({ path, isMarked: mark !== undefined, keys, start, end: match.index + all.length });
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
