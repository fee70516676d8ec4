/** `hive prune`: retention by hand. The sidecar does the same by itself every hour. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { parseRetentionDays, retentionDays } from '../application/retention.ts';
import { type Format, print, printJson, printRows } from './output.ts';
import { EXIT, type ExitCode, withHive } from './program.ts';

interface PruneOptions extends Format {
  dryRun?: boolean;
  days?: string;
}

export function definePrune(command: Command): void {
  command
    .option('--dry-run', 'say what would go, and remove nothing')
    .option('--days <n>', 'what settled longer ago; default: HIVE_RETENTION_DAYS, else 90')
    .option('--json', 'print JSON')
    .action((options: PruneOptions) => withHive(options, (hive) => prune(hive, options)));
}

async function prune(hive: Hive, { dryRun = false, days: given, json }: PruneOptions): Promise<ExitCode> {
  const days = given === undefined ? retentionDays(process.env) : parseRetentionDays('--days', given);
  const counts = dryRun ? await hive.retention.preview(days) : await hive.retention.sweep(days);
  if (json === true) {
    printJson({ dry_run: dryRun, days, records: counts });
    return EXIT.done;
  }
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  const what = `what settled more than ${days} days ago`;
  if (rows.length === 0) print(`There is nothing to remove of ${what}.`);
  else print(`${dryRun ? 'This would remove' : 'Removed'} ${what}:`);
  printRows(
    rows.map(([kind, count]) => [kind, String(count)]),
    '  ',
  );
  return EXIT.done;
}
