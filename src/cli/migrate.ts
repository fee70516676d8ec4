/** `hive store migrate`: the store goes to another place, or from SQLite to PostgreSQL and back. The old one stays as it is. */
import type { Command } from 'commander';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { storeAddress } from '../infrastructure/platform/paths.ts';
import { copyStore } from '../open-hive.ts';
import { type Format, print, printJson, printRows, remark } from './output.ts';
import { EXIT, exitCodeOfError } from './program.ts';

interface MigrateOptions extends Format {
  to: string;
  from?: string;
  inUse?: boolean;
}

export function defineMigrate(command: Command): void {
  command
    .requiredOption('--to <address>', 'where the copy is to be: a path or a postgres:// URL')
    .option('--from <address>', 'what is copied; default: HIVE_STORE')
    .option('--in-use', 'copy although somebody seems to work with it')
    .option('--json', 'print JSON')
    .action(migrate);
}

async function migrate({ to, from, inUse = false, json = false }: MigrateOptions): Promise<void> {
  const { env } = process;
  const source = storeAddress(from === undefined ? env : { ...env, HIVE_STORE: from });
  const target = storeAddress({ ...env, HIVE_STORE: to });
  try {
    if (to === '' || source === target) throw invalidInput('--to must name another place than --from.');
    const tables = await copyStore({ from: source, to: target, env, in_use: inUse });
    if (json) return printJson({ tables });
    print('Copied, and read once more, row by row:');
    printRows(
      tables.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, String(rows)]),
      '  ',
    );
    remark('Set HIVE_STORE to the new address everywhere. The old store stays as it is: put it aside.');
  } catch (error) {
    if (!(error instanceof HiveError)) throw error;
    process.exitCode = exitCodeOfError(error);
    if (json) printJson({ error: { code: error.code, message: error.message } });
    remark(error.message);
    return;
  }
  process.exitCode = EXIT.done;
}
