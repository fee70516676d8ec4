/**
 * Which schema this code reads and writes. How a store gets there stands in migrations.ts, which holds the text of every
 * table: few processes ever need that, so it is imported at need, and `hive hook` goes without.
 */
import { HiveError } from '../../domain/errors.ts';

/** The oldest schema that is brought up to date; nothing older was ever released. */
export const OLDEST_SCHEMA = 17;

/** What has changed since, in order. Each is a file in sql/migrations/; the first brings a store from OLDEST_SCHEMA one on. */
export const MIGRATION_NAMES = ['checksums', 'deliveries', 'popup_subjects', 'notes', 'attested'] as const;

/** The schema that this code reads and writes. It is stated nowhere: it follows from how many migrations there are. */
export const SCHEMA_VERSION: number = OLDEST_SCHEMA + MIGRATION_NAMES.length;

/**
 * Refuses a store that this code can neither read nor bring up to date. `found` is its schema, 0 where there is none yet.
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
      `The store ${where} was made by a development version of Hive (schema ${found}), and this one brings only stores of schema ${OLDEST_SCHEMA} and later up to date. Nothing was changed; move it away, and a new one is made.`,
      { found, oldest: OLDEST_SCHEMA },
    );
  }
}
