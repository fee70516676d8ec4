/** `hive store migrate`: copies the store to another place, or between SQLite and PostgreSQL. The old store is not changed. */
import type { Command } from 'commander';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { storeAddress } from '../infrastructure/platform/paths.ts';
import { copyStore } from '../open-hive.ts';
import { type Format, print, printJson, printRows, remark } from './output.ts';
import { EXIT, exitCodeOfError } from './program.ts';
import { MIGRATE } from './sentences.ts';

interface MigrateOptions extends Format {
  to: string;
  from?: string;
  inUse?: boolean;
}

export function defineMigrate(command: Command): void {
  command
    .requiredOption('--to <address>', 'where to copy it: a path or a postgres:// URL')
    .option('--from <address>', 'the store to copy; default: HIVE_STORE')
    .option('--in-use', 'copy even if the store seems to be in use')
    .option('--json', 'print JSON')
    .action(migrate);
}

async function migrate({ to, from, inUse = false, json = false }: MigrateOptions): Promise<void> {
  const { env } = process;
  const source = storeAddress(from === undefined ? env : { ...env, HIVE_STORE: from });
  const target = storeAddress({ ...env, HIVE_STORE: to });
  try {
    if (to === '' || source === target) throw invalidInput(MIGRATE.samePlace);
    const tables = await copyStore({ from: source, to: target, env, in_use: inUse });
    if (json) return printJson({ tables });
    print(MIGRATE.copied);
    printRows(
      tables.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, String(rows)]),
      '  ',
    );
    remark(MIGRATE.next);
  } catch (error) {
    if (!(error instanceof HiveError)) throw error;
    process.exitCode = exitCodeOfError(error);
    if (json) printJson({ error: { code: error.code, message: error.message } });
    remark(error.message);
    return;
  }
  process.exitCode = EXIT.done;
}
