/**
 * The schema that this code reads and writes. migrations.ts creates and updates a store and holds the text of every table. Few
 * processes need that, so it is imported on demand, and `hive hook` is built without it.
 */
import { HiveError } from '../../domain/errors.ts';

/** The oldest schema that is brought up to date. */
export const OLDEST_SCHEMA = 34;

/** The schema that this code reads and writes: the oldest one and the migrations since (a test counts them). */
export const SCHEMA_VERSION = 34;

/**
 * Refuses a store that this code can neither read nor bring up to date. `found` is its schema, 0 if there is none yet.
 * @throws HiveError `store_too_new`, `store_foreign`.
 */
export function checkSchema(where: string, found: number): void {
  if (found > SCHEMA_VERSION) {
    throw new HiveError(
      'store_too_new',
      `The store ${where} was written by a newer Hive (schema ${found}, this one knows ${SCHEMA_VERSION}). Nothing was changed; update hive-sidecar here.`,
      { found, known: SCHEMA_VERSION },
    );
  }
  if (found !== 0 && found < OLDEST_SCHEMA) {
    throw new HiveError(
      'store_foreign',
      `The store ${where} was made by a development version of Hive (schema ${found}), and this Hive can only update stores of schema ${OLDEST_SCHEMA} and later. Nothing was changed; move it away, and Hive makes a new one.`,
      { found, oldest: OLDEST_SCHEMA },
    );
  }
}
