/**
 * `hive store`: prints its events (`log`), makes a backup and restores it, removes old records by hand (`prune`), or copies
 * the store (`migrate`).
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { PruneCounts } from '../application/ports.ts';
import { parseRetentionDays } from '../application/retention.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { addressArgument, storeAddress } from '../infrastructure/platform/paths.ts';
import { backUpStore, copyStore, openHive, restoreStore } from '../open-hive.ts';
import { humanActor, refuseAgents } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { defineLog } from './log.ts';
import { doneAsJson, type Format, print, printJson, printRows, remark, say } from './output.ts';
import { perform, reportErrors } from './program.ts';
import { ask, hasTerminal } from './questions.ts';

export function defineStore(command: Command): void {
  defineLog(command.command('log').description('Print the event log'));
  defineBackup(command.command('backup').description('Write a backup while Hive runs'));
  defineRestore(command.command('restore').description('Put a backup in the place of the store'));
  definePrune(command.command('prune').description('Remove old records'));
  defineMigrate(command.command('migrate').description('Copy the store to another place or engine'));
}

// ---- hive store backup, hive store restore ----

function defineBackup(command: Command): void {
  command
    .argument('<file>', 'the new file')
    .option('--json', 'print JSON')
    .action((given: string, options: Format) =>
      reportErrors(options, async () => {
        const store = storeAddress(process.env);
        const file = fileArgument(given);
        await backUpStore(store, file);
        if (options.json === true) printJson({ store, file });
        else print(`Backed up ${store} to ${file}, and checked the copy.`);
        return EXIT.done;
      }),
    );
}

function defineRestore(command: Command): void {
  command
    .argument('<file>', 'the backup; the store itself: set only its log aside')
    .option('--json', 'print JSON')
    .action((given: string, options: Format) =>
      reportErrors(options, async () => {
        const store = storeAddress(process.env);
        const file = fileArgument(given);
        const aside = await restoreStore(store, file, (hive) => refuseAgents(hive, 'restore a backup'));
        // The restore has succeeded only if the store can be opened in its place.
        await (await openHive()).close();
        if (options.json === true) printJson({ store, file, aside });
        else
          say(
            `Restored ${store} from ${file}.${aside === null ? '' : ` What was there before is ${aside}; delete it when you no longer need it.`}`,
          );
        return EXIT.done;
      }),
    );
}

/** @throws HiveError `invalid_input` for a URL and the like. */
function fileArgument(given: string): string {
  if (given.includes('://'))
    throw invalidInput('A backup is a file. hive store migrate copies a store to a database or from one.');
  // A file name may contain blanks, or a time, such as hive-12:30.db, which is not an address.
  const isName = /^[^\s~="'$\p{Cc}][^="'$\p{Cc}]*(?<!\s)$/u.test(given);
  return addressArgument('FILE', isName ? resolve(given) : given, process.env);
}

// ---- hive store prune ----
// `hive store prune`: retention by hand. The sidecar does the same every hour. With --mentions it removes mentions
// only, processed or not, after a person has confirmed. No agent may remove anything: the store is the human's record.

interface PruneOptions extends Format {
  dryRun?: boolean;
  days?: string;
  mentions?: boolean;
  yes?: boolean;
}

function definePrune(command: Command): void {
  perform(command, prune)
    .option('--dry-run', 'show what would be removed, and remove nothing')
    .option('--days <n>', 'records settled more than N days ago; default: the setting retention_days')
    .option('--mentions', 'only mentions, processed or not; --days 0 removes all of them')
    .option('-y, --yes', 'remove mentions without asking');
}

async function prune(hive: Hive, options: PruneOptions): Promise<ExitCode> {
  const { dryRun = false, days: given, mentions = false, yes = false } = options;
  if (yes && !mentions) throw invalidInput('--yes needs --mentions. Nothing was removed.');
  if (!dryRun) await refuseAgents(hive, 'remove old records');
  if (mentions) return pruneMentions(hive, options);
  const days = given === undefined ? await hive.retention.days() : parseRetentionDays(given);
  const counts = dryRun ? await hive.retention.preview(days) : await hive.retention.sweep(days);
  return report(counts, days, `records settled more than ${days} days ago`, options);
}

async function pruneMentions(hive: Hive, options: PruneOptions): Promise<ExitCode> {
  const { dryRun = false, days: given, yes = false } = options;
  if (given === undefined)
    throw invalidInput('Give an age in days: --mentions --days 0 removes all mentions. Nothing was removed.');
  const days = parseRetentionDays(given, 0);
  const what = days === 0 ? 'mentions of any age' : `mentions more than ${days} days old`;
  const found = await hive.retention.previewMentions(days);
  if (dryRun || (found['mentions'] ?? 0) === 0) return report(found, days, what, options);
  if (!yes && !(await agrees(found['mentions'] ?? 0, what, options))) {
    remark('Nothing was removed.');
    return EXIT.notAccepted;
  }
  return report(await hive.retention.clearMentions(days, humanActor()), days, what, options);
}

/** @throws HiveError `not_allowed` if nobody can be asked. */
async function agrees(count: number, what: string, { json }: PruneOptions): Promise<boolean> {
  if (json === true || !hasTerminal())
    throw new HiveError(
      'not_allowed',
      `This would remove ${what} (${count}), including unprocessed ones. Hive cannot ask for confirmation without a terminal. Use --yes to confirm, or --dry-run to only look. Nothing was removed.`,
    );
  say(`This removes ${what} from this store (${count}), including unprocessed ones. The messages stay.`);
  return (await ask('Type yes to remove them: ')) === 'yes';
}

function report(counts: PruneCounts, days: number, what: string, options: PruneOptions): ExitCode {
  const { dryRun = false, json } = options;
  if (json === true) return doneAsJson({ dry_run: dryRun, days, records: counts });
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  if (rows.length === 0) print(`Nothing to remove: found no ${what}.`);
  else print(dryRun ? `This would remove ${what}:` : `Removed ${what}:`);
  printRows(
    rows.map(([kind, count]) => [kind, String(count)]),
    '  ',
  );
  return EXIT.done;
}

// ---- hive store migrate ----
// `hive store migrate`: copies the store to another place, or between SQLite and PostgreSQL. The old store is not
// changed.

interface MigrateOptions extends Format {
  to: string;
  inUse?: boolean;
}

function defineMigrate(command: Command): void {
  command
    .requiredOption('--to <address>', 'where to copy it: a path or a postgres:// URL')
    .option('--in-use', 'copy even if the store seems to be in use')
    .option('--json', 'print JSON')
    .action((options: MigrateOptions) => reportErrors(options, () => migrate(options)));
}

async function migrate({ to, inUse = false, json = false }: MigrateOptions): Promise<ExitCode> {
  const { env } = process;
  const source = storeAddress(env);
  const target = addressArgument('--to', to, env);
  if (source === target)
    throw invalidInput('--to must name another store than HIVE_STORE, which is the one to copy.');
  const tables = await copyStore({ from: source, to: target, env, in_use: inUse });
  if (json) return doneAsJson({ tables });
  print('Copied and verified, row by row:');
  printRows(
    tables.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, String(rows)]),
    '  ',
  );
  // HIVE_STORE takes no relative path, and a URL may contain a password.
  const address = target.includes('://') ? 'the new address' : target;
  remark(
    `Set HIVE_STORE to ${address} everywhere. The old store is unchanged; keep it as a backup or delete it.`,
  );
  return EXIT.done;
}
