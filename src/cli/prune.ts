/**
 * `hive store prune`: retention by hand. The sidecar does the same every hour. With --mentions it removes mentions only,
 * processed or not, after a person has confirmed. No agent may remove anything: the store is the human's record.
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
import { DEED, PRUNE } from './sentences.ts';

interface PruneOptions extends Format {
  dryRun?: boolean;
  days?: string;
  mentions?: boolean;
  yes?: boolean;
}

export function definePrune(command: Command): void {
  command
    .option('--dry-run', 'show what would be removed, and remove nothing')
    .option('--days <n>', 'records settled more than N days ago; default: the setting retention_days')
    .option('--mentions', 'only mentions, processed or not; --days 0 removes all of them')
    .option('-y, --yes', 'remove mentions without asking')
    .option('--json', 'print JSON')
    .action((options: PruneOptions) => withHive(options, (hive) => prune(hive, options)));
}

async function prune(hive: Hive, options: PruneOptions): Promise<ExitCode> {
  const { dryRun = false, days: given, mentions = false, yes = false } = options;
  if (yes && !mentions) throw invalidInput(PRUNE.yesNeedsMentions);
  if (!dryRun) await refuseAgents(hive, DEED.prune);
  if (mentions) return pruneMentions(hive, options);
  const days = given === undefined ? await hive.retention.days() : parseRetentionDays('--days', given);
  const counts = dryRun ? await hive.retention.preview(days) : await hive.retention.sweep(days);
  return report(counts, days, PRUNE.settled(days), options);
}

async function pruneMentions(hive: Hive, options: PruneOptions): Promise<ExitCode> {
  const { dryRun = false, days: given, yes = false } = options;
  if (given === undefined) throw invalidInput(PRUNE.mentionsNeedDays);
  const days = parseRetentionDays('--days', given, 0);
  const what = PRUNE.mentions(days);
  const found = await hive.retention.previewMentions(days);
  if (dryRun || (found['mentions'] ?? 0) === 0) return report(found, days, what, options);
  if (!yes && !(await agrees(found['mentions'] ?? 0, what, options))) {
    remark(PRUNE.nothingRemoved);
    return EXIT.notAccepted;
  }
  return report(await hive.retention.clearMentions(days, humanActor({})), days, what, options);
}

/** @throws HiveError `not_allowed` where nobody can be asked. */
async function agrees(count: number, what: string, { json }: PruneOptions): Promise<boolean> {
  if (json === true || !process.stdin.isTTY || !process.stdout.isTTY)
    throw new HiveError('not_allowed', PRUNE.cannotAsk(what, count));
  print(PRUNE.about(what, count));
  return (await ask(PRUNE.confirm)) === 'yes';
}

function report(counts: PruneCounts, days: number, what: string, options: PruneOptions): ExitCode {
  const { dryRun = false, json } = options;
  if (json === true) {
    printJson({ dry_run: dryRun, days, records: counts });
    return EXIT.done;
  }
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  if (rows.length === 0) print(PRUNE.nothing(what));
  else print(dryRun ? PRUNE.wouldRemove(what) : PRUNE.removed(what));
  printRows(
    rows.map(([kind, count]) => [kind, String(count)]),
    '  ',
  );
  return EXIT.done;
}
