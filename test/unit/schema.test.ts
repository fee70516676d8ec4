/** The schema's number is stated once, in the list of migrations; the names of their files must agree. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MIGRATION_NAMES, OLDEST_SCHEMA, SCHEMA_VERSION } from '../../src/infrastructure/store/schema.ts';
import { ROOT } from '../support/children.ts';

test('each migration is a file with the number of the schema that it produces', () => {
  const files = readdirSync(join(ROOT, 'sql/migrations')).sort((a, b) => a.localeCompare(b));
  expect(files).toEqual(MIGRATION_NAMES.map((name, index) => `${OLDEST_SCHEMA + index + 1}_${name}.sql`));
  expect(files.at(-1)).toMatch(new RegExp(`^${SCHEMA_VERSION}_`));
});
