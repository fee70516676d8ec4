/** Which schema this code knows, apart from how one is brought about (migrations.ts): few processes ever migrate. */
import { HiveError } from '../../domain/errors.ts';

/** The schema that this code reads and writes: the number of the last migration. */
export const SCHEMA_VERSION = 16;

/** The refusal of a store that a newer Hive has written. */
export function tooNew(where: string, found: number): HiveError {
  return new HiveError(
    'store_too_new',
    `The store ${where} was written by a newer Hive (schema ${found}, this one knows ${SCHEMA_VERSION}). Nothing was changed; update hive-sidecar here.`,
    { found, known: SCHEMA_VERSION },
  );
}
