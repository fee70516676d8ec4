/**
 * SQL that both engines accept: statements with `$n` placeholders, over a small driver for each engine. A row and its
 * domain object have the same field names; a `Table` only knows which of them are booleans (0/1) or JSON (text).
 */
import type { Page, PageAfter, Store } from '../../application/ports.ts';
import type { Check } from '../../application/world.ts';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import type { Environment } from '../../domain/sources.ts';
import { cleanText, searchText } from '../../domain/text.ts';

export type SqlValue = string | number | null;
export type Row = Record<string, SqlValue>;

/** A statement's text, with `$1`, `$2`, … for its parameters. */
export interface Statement {
  readonly text: string;
}

/**
 * Declares a statement once, at module load. A text that must be composed is given as a function, which is called at the
 * first use: a hook declares two hundred statements and uses twelve.
 */
export function statement(text: string | (() => string)): Statement {
  return typeof text === 'string' ? { text } : new LateStatement(text);
}

class LateStatement implements Statement {
  readonly #make: () => string;
  #text: string | undefined;

  constructor(make: () => string) {
    this.#make = make;
  }

  get text(): string {
    this.#text ??= this.#make();
    return this.#text;
  }
}

/** How many parameters a statement takes: SQLite would silently bind a missing one as NULL. */
export function arityOf(text: string): number {
  return Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])));
}

/** Runs statements: a transaction of one of the drivers. */
export interface Sql {
  all(statement: Statement, params: readonly SqlValue[]): Promise<Row[]>;
  /** Runs a statement that returns no rows; resolves to the number of rows changed. */
  run(statement: Statement, params: readonly SqlValue[]): Promise<number>;
  /**
   * Runs a statement whose result nobody needs. A server gets it together with the next statement or the commit, so an error may
   * come as late as that; the transaction fails with it.
   */
  change(statement: Statement, params: readonly SqlValue[]): Promise<void>;
}

/** The first row, decoded; undefined if there is none. */
export async function one<T>(
  sql: Sql,
  query: Statement,
  params: readonly SqlValue[],
  decode: (row: Row) => T,
): Promise<T | undefined> {
  const [row] = await sql.all(query, params);
  return row === undefined ? undefined : decode(row);
}

/** The rows, decoded. A damaged one is left out: it must not hide the others. */
export async function many<T>(
  sql: Sql,
  query: Statement,
  params: readonly SqlValue[],
  decode: (row: Row) => T,
): Promise<T[]> {
  return decodeIntact(await sql.all(query, params), decode);
}

/** The number `n` in the only row; 0 if there is no row. */
export async function numberIn(sql: Sql, query: Statement, params: readonly SqlValue[]): Promise<number> {
  return (await one(sql, query, params, ({ n }) => Number(n ?? 0))) ?? 0;
}

/** The column `at` of the only row: the first time of some records, null if there are none. */
export async function firstTime(sql: Sql, query: Statement): Promise<string | null> {
  return (await one(sql, query, [], ({ at }) => (at == null ? null : String(at)))) ?? null;
}

/** The ids in a column. */
export async function ids(
  sql: Sql,
  query: Statement,
  params: readonly SqlValue[],
  column: string,
): Promise<string[]> {
  return (await sql.all(query, params)).map((row) => String(row[column]));
}

export interface WriteOptions<T> {
  /** Called after the commit: whether to ring the doorbell for every process. Default: no. */
  rings?: () => boolean;
  /**
   * Called after the commit: whether the result acknowledges something and waits for the disk (`Store.writeUnflushed`). Without it
   * the commit itself waits, and nobody sees data that is not on disk. A driver may always wait.
   */
  acknowledges?: ((result: T) => boolean) | undefined;
  /**
   * Called first in a transaction with `acknowledges`: whether others may see its commit before it is on disk. If not, the commit
   * waits as others do.
   */
  mayLag?: ((sql: Sql) => Promise<boolean>) | undefined;
}

/**
 * Whether a statement failed because there is no such table. SQLite reports it only in the message (its code is that of any
 * error in a statement); PostgreSQL has a code (Appendix A: undefined_table).
 */
export function isTableMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '42P01') || error.message.startsWith('no such table: ');
}

/** A driver owns its connections, the write queue and the doorbell. */
export interface Driver extends Pick<Store, 'watch' | 'close' | 'leave'> {
  /**
   * Identifies the current boot of the machine, if a commit may be visible before it is on disk: visible data may then be lost
   * at the next boot. Null if nothing is visible before it is on disk.
   */
  readonly boot: string | null;
  write<T>(work: (sql: Sql, now: string) => Promise<T>, options?: WriteOptions<T>): Promise<T>;
  read<T>(work: (sql: Sql, now: string) => Promise<T>): Promise<T>;
  /** A read while the store is opened, over the connection that writes: a process that only writes needs no other. */
  inspect<T>(work: (sql: Sql, now: string) => Promise<T>): Promise<T>;
}

/** An engine on a server: the stores whose address has `://`. */
export interface StoreServer {
  /** @throws HiveError with a sentence that says what to do. */
  open(address: string, env: Environment, options: { busy_ms?: number | undefined }): Promise<Driver>;
  /** The doctor's checks of the server. */
  examine(address: string, env: Environment): Promise<Check[]>;
}

/**
 * The parameters of a statement in the form that both engines accept. PostgreSQL refuses a NUL, which may be in an id or in a
 * search text. It is replaced as in stored text (`cleanText`), so both engines find the same. Throws if a parameter is missing.
 */
export function checkedParams(text: string, arity: number, params: readonly SqlValue[]): readonly SqlValue[] {
  if (params.length !== arity) {
    throw new Error(`A statement takes ${arity} parameters and got ${params.length}: ${text}`);
  }
  return params.some(hasNul) ? params.map((value) => (hasNul(value) ? cleanText(value) : value)) : params;
}

function hasNul(value: SqlValue): value is string {
  return typeof value === 'string' && value.includes('\0');
}

export type Codec = 'plain' | 'boolean' | 'json' | 'list';

type Words<Text extends string> = Text extends `${infer Line}\n${infer Rest}`
  ? Words<Line> | Words<Rest>
  : Text extends `${infer Word} ${infer Rest}`
    ? Exclude<Word, ''> | Words<Rest>
    : Exclude<Text, ''>;

/** The codec of each column, given the names of the columns that have it. The first of all columns is the key. */
export function columns<const Named extends Readonly<Partial<Record<Codec, string>>>>(
  named: Named,
): { [Name in keyof Named & Codec as Words<Named[Name] & string>]: Name } {
  const pairs = Object.entries(named).flatMap(([codec, names]) =>
    names.split(/\s+/).map((name) => [name, codec]),
  );
  return Object.fromEntries(pairs);
}

export interface Table<T> {
  readonly columns: readonly (keyof T & string)[];
  encode(item: T): SqlValue[];
  decode(row: Row): T;
  /** `t."a", t."b"`, for a SELECT from the table `t` and the tables joined with it. */
  readonly list: string;
  /** `SELECT t."a", t."b" FROM t`. */
  readonly select: string;
  /** The row with this key, the first column; undefined if there is none. */
  get(sql: Sql, key: SqlValue): Promise<T | undefined>;
  add(sql: Sql, item: T): Promise<void>;
  /** Adds a row, or replaces the one with the same key. */
  put(sql: Sql, item: T): Promise<void>;
  /** Replaces the row with the same key. */
  update(sql: Sql, item: T): Promise<void>;
  /** Reads a page for the doctor. Rows without a checksum are damaged if they cannot be read. */
  damaged(sql: Sql, after: string | null, prefix?: string): Promise<PageAfter<string, string>>;
  /** `INSERT INTO …` of all columns plus `extra` ones, whose values follow the encoded ones. */
  insert(extra?: readonly string[]): string;
  /** `"b" = $2, "c" = $3` for every column except the first one and `without`, with the placeholders of `encode`. */
  assignments(without?: readonly string[]): string;
  /** An INSERT that updates the row with the same key, the first column, except for the columns `without`. */
  upsert(without?: readonly string[]): string;
}

/** Describes a table whose columns are the fields of `T`, all of them, checked by the compiler. */
export function table<T extends object>(name: string, codecs: Record<keyof T & string, Codec>): Table<T> {
  const columns = Object.keys(codecs) as (keyof T & string)[];
  const [key = ''] = columns;
  const quoted = (): string[] => columns.map((column) => `"${column}"`);
  const found: Table<T> = {
    columns,
    get list() {
      return quoted()
        .map((column) => `${name}.${column}`)
        .join(', ');
    },
    get select() {
      return `SELECT ${this.list} FROM ${name}`;
    },
    get: (sql, key) => one(sql, GET, [key], found.decode),
    add: (sql, item) => sql.change(ADD, found.encode(item)),
    put: (sql, item) => sql.change(PUT, found.encode(item)),
    update: (sql, item) => sql.change(UPDATE, found.encode(item)),
    async damaged(sql, after, prefix = '') {
      const rows = await sql.all(FROM_KEY, [after ?? '', DOCTORED]);
      const damaged = rows.filter((row) => decodeIntact([row], found.decode).length === 0);
      return pageOfDamaged(rows, damaged, key, prefix);
    },
    assignments: (without = []) =>
      columns
        .map((column, index) =>
          index === 0 || without.includes(column) ? null : `"${column}" = $${index + 1}`,
        )
        .filter((assignment) => assignment !== null)
        .join(', '),
    upsert(without) {
      return `${this.insert()} ON CONFLICT (${key}) DO UPDATE SET ${this.assignments(without)}`;
    },
    insert(extra = []) {
      const all = [...quoted(), ...extra];
      return `INSERT INTO ${name} (${all.join(', ')}) VALUES (${all.map((_, index) => `$${index + 1}`).join(', ')})`;
    },
    encode: (item) => columns.map((column) => encodeValue(codecs[column], item[column])),
    decode(row) {
      const item: Record<string, unknown> = {};
      for (const column of columns) item[column] = decodeValue(codecs[column], row[column] ?? null);
      return item as T;
    },
  };
  const FROM_KEY = statement(() => `${found.select} WHERE ${key} > $1 ORDER BY ${key} LIMIT $2`);
  const ofKey = `WHERE "${key}" = $1`;
  const GET = statement(() => `${found.select} ${ofKey}`);
  const ADD = statement(() => found.insert());
  const PUT = statement(() => found.upsert());
  const UPDATE = statement(() => `UPDATE ${name} SET ${found.assignments()} ${ofKey}`);
  return found;
}

function encodeValue(codec: Codec, value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (codec === 'json' || codec === 'list') return JSON.stringify(value);
  if (codec === 'boolean') return value === true ? 1 : 0;
  return value as SqlValue;
}

function decodeValue(codec: Codec, value: SqlValue): unknown {
  if (value === null) return null;
  if (codec === 'json') return parseStored(value);
  if (codec === 'list') return parseStoredList(value);
  if (codec === 'boolean') return value === 1;
  return value;
}

/** Reads JSON from a row. @throws HiveError `store_foreign` if it is not JSON, which only a damaged file contains. */
export function parseStored(value: SqlValue): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    throw damagedField();
  }
}

function parseStoredList(value: SqlValue): unknown[] {
  const list = parseStored(value);
  if (!Array.isArray(list)) throw damagedField();
  return list;
}

function damagedField(): HiveError {
  return new HiveError(
    'store_foreign',
    'The store is damaged: a field with JSON cannot be read. Stop every Hive and restore a backup.',
  );
}

/** How many rows the doctor reads at once. Until they are read, its process does nothing else. */
export const DOCTORED = 200;

/** A page of rows as the doctor reads them, by their key. `prefix` is put before a key that is not recognizable by itself. */
export function pageOfDamaged(
  rows: readonly Row[],
  damaged: readonly Row[],
  key: string,
  prefix = '',
): PageAfter<string, string> {
  const last = rows.length < DOCTORED ? undefined : rows.at(-1);
  return {
    items: damaged.map((row) => `${prefix}${row[key]}`),
    next: last === undefined ? null : String(last[key]),
  };
}

/** The intact rows, decoded. A damaged row is left out: it must not hide the others. */
export function decodeIntact<T>(rows: readonly Row[], decode: (row: Row) => T): T[] {
  const found: T[] = [];
  for (const row of rows)
    try {
      found.push(decode(row));
    } catch (error) {
      if (!(error instanceof HiveError) || error.code !== 'store_foreign') throw error;
    }
  return found;
}

// ---- The WHERE of a list, and its cursors ----
// Each filter is optional. Every value is a parameter; only our own text is spliced into a statement.

export interface Conditions {
  readonly text: string;
  readonly params: readonly SqlValue[];
  /** The next unused placeholder, for example `$4`. */
  readonly next: string;
  /** Adds a condition with one `?`, unless its value is undefined. */
  and(condition: string, value: SqlValue | undefined): Conditions;
  /** Continues after a cursor's row, in the given order; null begins at the first. */
  after(
    columns: readonly string[],
    direction: 'ASC' | 'DESC',
    cursor: readonly SqlValue[] | null,
  ): Conditions;
}

export function conditions(text: string, params: readonly SqlValue[] = []): Conditions {
  return {
    text,
    params,
    next: `$${params.length + 1}`,
    and(condition, value) {
      if (value === undefined) return this;
      return conditions(`${text} AND ${condition.replace('?', `$${params.length + 1}`)}`, [...params, value]);
    },
    after(columns, direction, cursor) {
      if (cursor === null) return this;
      const placeholders = cursor.map((_, index) => `$${params.length + index + 1}`).join(', ');
      const sign = direction === 'ASC' ? '>' : '<';
      return conditions(`${text} AND (${columns.join(', ')}) ${sign} (${placeholders})`, [
        ...params,
        ...cursor,
      ]);
    },
  };
}

/** A page of what a list has found, which asked for one more than `limit`. */
export function pageOf<T>(found: readonly T[], limit: number, keyOf: (last: T) => SqlValue[]): Page<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, next_cursor: more ? encodeCursor(keyOf(last)) : null };
}

/** A cursor is opaque to callers: the sort key of the last row they saw. */
export function encodeCursor(key: readonly SqlValue[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * The sort key in a cursor, which has values of these types.
 * @throws HiveError `invalid_input` for a cursor that does not come from this list.
 */
export function decodeCursor(
  cursor: string | null | undefined,
  types: readonly ('string' | 'number')[],
): SqlValue[] | null {
  if (cursor === null || cursor === undefined || cursor === '') return null;
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (
      Array.isArray(key) &&
      key.length === types.length &&
      key.every(
        (part, n) => typeof part === types[n] && (types[n] === 'string' || Number.isSafeInteger(part)),
      )
    ) {
      return key as SqlValue[];
    }
  } catch {
    // The refusal below covers this too.
  }
  throw invalidInput('This cursor does not belong to this list. Start again without a cursor.', {
    field: 'cursor',
  });
}

/** SQLite refuses a pattern of more than 50,000 bytes, and one character may become eighteen bytes of it. */
const LONGEST_QUERY = 1_000;
const LONGEST_PATTERN_BYTES = 49_000;

/**
 * A LIKE pattern (ESCAPE '\') that finds the words of a query in `search_text`. @throws HiveError `invalid_input` for one that is
 * too long.
 */
export function likePattern(query: string): string {
  if (query.length > LONGEST_QUERY) throw tooLong();
  return `%${escapeLike(searchText(query))}%`;
}

/** A LIKE pattern (ESCAPE '\') that matches exactly this text. @throws HiveError `invalid_input` for one that is too long. */
export function escapeLike(text: string): string {
  const pattern = text.replace(/[\\%_]/g, '\\$&');
  if (Buffer.byteLength(pattern) > LONGEST_PATTERN_BYTES) throw tooLong();
  return pattern;
}

function tooLong(): HiveError {
  return invalidInput('The text to search for is too long: at most 1,000 characters.', { field: 'query' });
}

// ---- One piece of work at a time ----

/** Runs one piece of work at a time: the next starts when the previous one has ended, with or without an error. */
export function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  let unfinished = 0;
  function ended(): void {
    unfinished -= 1;
  }
  return {
    run<T>(work: () => Promise<T>): Promise<T> {
      unfinished += 1;
      const next = last.then(work, work);
      last = next.then(ended, ended);
      return next;
    },
    /** Whether nothing is running or waiting. */
    get idle(): boolean {
      return unfinished === 0;
    },
    /** Resolves when everything queued has ended, including work that is queued in the meantime. */
    async drained(): Promise<void> {
      let waited: unknown;
      do {
        waited = last;
        await waited;
      } while (waited !== last);
    },
  };
}

/** A time in ms that no clock change affects. Unlike this, the first use of `performance` takes a millisecond to load. */
export function monotonic(): number {
  return process.uptime() * 1_000;
}

/**
 * How long the members of a queue wait for a resource that others hold: each from the time it was queued, and all of them anew
 * whenever the queue moves, because a long queue alone does not mean that anybody blocks it.
 */
export function createPatience(limit_ms: number) {
  let moved_at = 0;
  let failure: unknown = null;
  return {
    /** The milliseconds left for a member that was queued at this `monotonic` time; its time is up at 0 or less. */
    left: (queued_at: number): number => limit_ms - (monotonic() - Math.max(queued_at, moved_at)),
    /** The queue has moved. */
    moved(): void {
      moved_at = monotonic();
      failure = null;
    },
    /** A member's turn came, but failed before it began. */
    failed(error: unknown): void {
      failure = error;
    },
    /** Why the last turn failed, as the answer to every member whose time is up; null if it did not fail. */
    get failure(): unknown {
      return failure;
    },
  };
}

// ---- Titles ----
// Records of an agent show the title that its session has now, so nothing has to be rewritten when that changes.

/** The title of the session that a row of this table belongs to, as `agent_title`; to be selected. */
export function titleOfSession(name: string): string {
  return `(SELECT sessions.title FROM sessions WHERE sessions.session_id = ${name}.session_id) AS agent_title`;
}

/** That title; null if the session was removed. */
export function titleIn(row: Row): string | null {
  const title = row['agent_title'] ?? null;
  return title === null ? null : String(title);
}
