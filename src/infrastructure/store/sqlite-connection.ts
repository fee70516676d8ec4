/** A connection of `node:sqlite` to a store file, as statements run on it. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { checkArity, type Row, type Sql, type SqlValue, type Statement } from './sql.ts';
import { translateSqliteError } from './sqlite-errors.ts';

/** How long opening, and a reader, wait for a lock that belongs to no writer. */
const OPENING_MS = 2_000;

/** A statement as `node:sqlite` runs it; `places[i]` is the parameter that its i-th `?` stands for, from 0. */
interface Prepared {
  readonly text: string;
  readonly arity: number;
  readonly statement: StatementSync;
  readonly places: readonly number[];
}

/** One connection: its statements, prepared once, and how its commits wait. */
export class Connection implements Sql {
  readonly database: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();
  #waitsForDisk: boolean | null = null;

  constructor(path: string, readOnly: boolean) {
    // Only recovery and the last one to close ever lock a reader out, and opening: both are short.
    this.database = new DatabaseSync(path, { readOnly, timeout: OPENING_MS });
  }

  /**
   * Whether the next commits end with an fsync: to be said before each write. Without it they are in the log as much as
   * any other: a process that dies loses none, and the next commit with one takes them along
   * (sqlite.org/pragma.html#pragma_synchronous).
   */
  waitForDisk(wait: boolean): void {
    if (wait === this.#waitsForDisk) return;
    this.database.exec(`PRAGMA synchronous = ${wait ? 'FULL' : 'NORMAL'}`);
    this.#waitsForDisk = wait;
  }

  #prepare({ text }: Statement): Prepared {
    let prepared = this.#prepared.get(text);
    if (prepared === undefined) {
      const places: number[] = [];
      const positional = text.replace(/\$(\d+)/g, (_, number: string) => {
        places.push(Number(number) - 1);
        return '?';
      });
      const arity = Math.max(-1, ...places) + 1;
      prepared = { text, arity, statement: this.database.prepare(positional), places };
      this.#prepared.set(text, prepared);
    }
    return prepared;
  }

  async all(given: Statement, params: readonly SqlValue[]): Promise<Row[]> {
    const prepared = this.#prepare(given);
    return prepared.statement.all(...bound(params, prepared)) as Row[];
  }

  async run(given: Statement, params: readonly SqlValue[]): Promise<number> {
    const prepared = this.#prepare(given);
    return Number(prepared.statement.run(...bound(params, prepared)).changes);
  }

  /** Leaves whatever transaction is open. The engine may have done so itself, and on a broken disk it cannot. */
  end(how: 'COMMIT' | 'ROLLBACK'): void {
    try {
      if (this.database.isTransaction) this.database.exec(how);
    } catch {
      // The error that led here says more than this one.
    }
  }

  close(): void {
    this.#prepared.clear();
    if (this.database.isOpen) this.database.close();
  }
}

/** Opening looks into the file: a damaged one is found here already. */
export function connect(path: string, readOnly: boolean): Connection {
  try {
    return new Connection(path, readOnly);
  } catch (error) {
    throw translateSqliteError(error, path);
  }
}

/** By position: `node:sqlite` binds `$1` by the name "1" only, which takes six times as long for a row of 52 columns. */
function bound(params: readonly SqlValue[], prepared: Prepared): SqlValue[] {
  checkArity(prepared.text, prepared.arity, params);
  return prepared.places.map((place) => params[place] ?? null);
}
