/** The number of the schema follows from the list of migrations, and so do the names of their files. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/infrastructure/store/migrations.ts';
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../src/infrastructure/store/schema.ts';
import { ROOT } from '../support/children.ts';

test('each migration is a file with the number of the schema that it leads to', () => {
  const folder = join(ROOT, 'sql/migrations');
  const files = existsSync(folder) ? readdirSync(folder).sort((a, b) => a.localeCompare(b)) : [];
  expect(files).toEqual(MIGRATIONS.map(({ name }, index) => `${OLDEST_SCHEMA + index + 1}_${name}.sql`));
  expect(SCHEMA_VERSION).toBe(OLDEST_SCHEMA + MIGRATIONS.length);
});
