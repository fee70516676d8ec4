/**
 * `hive store prune`: retention by hand. The sidecar does the same by itself every hour. With --mentions it removes mentions
 * alone, dealt with or not, which a person confirms. What was said is the human's record: no agent removes any of it.
 */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { PruneCounts } from '../application/ports.ts';
import { parseRetentionDays } from '../application/retention.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { humanActor, refuseAgents } from './actor.ts';
import { ask } from './init.ts';
import { type Format, print, printJson, printRows, remark } from './output.ts';
import { EXIT, type ExitCode, withHive } from './program.ts';

interface PruneOptions extends Format {
  dryRun?: boolean;
  days?: string;
  mentions?: boolean;
  yes?: boolean;
}

export function definePrune(command: Command): void {
  command
    .option('--dry-run', 'say what would go, and remove nothing')
    .option('--days <n>', 'what settled longer ago; default: the setting retention_days')
    .option('--mentions', 'mentions alone, dealt with or not; with --days 0 all of them, to test anew')
    .option('-y, --yes', 'remove mentions without asking')
    .option('--json', 'print JSON')
    .action((options: PruneOptions) => withHive(options, (hive) => prune(hive, options)));
}

async function prune(hive: Hive, options: PruneOptions): Promise<ExitCode> {
  const { dryRun = false, days: given, mentions = false, yes = false } = options;
  if (yes && !mentions) throw invalidInput('--yes belongs to --mentions. Nothing was removed.');
  if (!dryRun) await refuseAgents(hive, "What was asked and said is the human's to remove");
  if (mentions) return pruneMentions(hive, options);
  const days = given === undefined ? await hive.retention.days() : parseRetentionDays('--days', given);
  const counts = dryRun ? await hive.retention.preview(days) : await hive.retention.sweep(days);
  return tell(counts, days, `what settled more than ${days} days ago`, options);
}

async function pruneMentions(hive: Hive, options: PruneOptions): Promise<ExitCode> {
  const { dryRun = false, days: given, yes = false } = options;
  if (given === undefined)
    throw invalidInput('Say how old: --mentions --days 0 removes all mentions. Nothing was removed.');
  const days = parseRetentionDays('--days', given, 0);
  const what = days === 0 ? 'all mentions' : `mentions of more than ${days} days ago`;
  const found = await hive.retention.previewMentions(days);
  if (dryRun || (found['mentions'] ?? 0) === 0) return tell(found, days, what, options);
  if (!yes && !(await agrees(found['mentions'] ?? 0, what, options))) {
    remark('Nothing was removed.');
    return EXIT.notAccepted;
  }
  return tell(await hive.retention.clearMentions(days, humanActor({})), days, what, options);
}

/** @throws HiveError `not_allowed` where nobody can be asked. */
async function agrees(count: number, what: string, { json }: PruneOptions): Promise<boolean> {
  if (json === true || !process.stdin.isTTY || !process.stdout.isTTY)
    throw new HiveError(
      'not_allowed',
      `This would remove ${what} (${count}), also those that nobody has dealt with, and there is no terminal to ask at: --yes says yes, --dry-run only looks. Nothing was removed.`,
    );
  print(`This removes ${what} from this store (${count}), also those that nobody has dealt with.`);
  return (await ask('The messages stay. Type yes to remove them: ')) === 'yes';
}

function tell(counts: PruneCounts, days: number, what: string, options: PruneOptions): ExitCode {
  const { dryRun = false, json } = options;
  if (json === true) {
    printJson({ dry_run: dryRun, days, records: counts });
    return EXIT.done;
  }
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  if (rows.length === 0) print(`There is nothing to remove of ${what}.`);
  else print(`${dryRun ? 'This would remove' : 'Removed'} ${what}:`);
  printRows(
    rows.map(([kind, count]) => [kind, String(count)]),
    '  ',
  );
  return EXIT.done;
}
