/** How a short command runs: opens the hive, does one thing, says how it ended, leaves nothing open. */
import type { Hive } from '../application/hive.ts';
import { HiveError } from '../domain/errors.ts';
import { openHive } from '../open-hive.ts';
import { type ExitCode, exitCodeOfError } from './exit-codes.ts';
import { endWithReader, type Format, printJson, remark } from './output.ts';

/** What `work` returns is the exit code; an error is said on stderr, and with --json on stdout too. */
export async function withHive(
  { json = false }: Format,
  work: (hive: Hive) => Promise<ExitCode>,
): Promise<void> {
  endWithReader();
  try {
    const hive = await openHive();
    try {
      process.exitCode = await work(hive);
    } finally {
      await hive.close();
    }
  } catch (error) {
    if (!(error instanceof HiveError)) throw error;
    process.exitCode = exitCodeOfError(error);
    if (json) printJson({ error: { code: error.code, message: error.message } });
    remark(error.message);
  }
}
