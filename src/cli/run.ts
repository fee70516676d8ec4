/** How a short command runs: opens the hive, does one thing, says how it ended, leaves nothing open. */
import type { Hive } from '../application/hive.ts';
import { HiveError } from '../domain/errors.ts';
import { openHive } from '../open-hive.ts';
import { examineAgentFiles } from './agent-files.ts';
import { type ExitCode, exitCodeOfError } from './exit-codes.ts';
import { endWithReader, type Format, printJson, remark } from './output.ts';

/** What `work` returns is the exit code; an error is said on stderr, and with --json on stdout too. */
export async function reportErrors({ json = false }: Format, work: () => Promise<ExitCode>): Promise<void> {
  endWithReader();
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!(error instanceof HiveError)) throw error;
    process.exitCode = exitCodeOfError(error);
    if (json) printJson({ error: { code: error.code, message: error.message } });
    remark(error.message);
  }
}

/** The same, with the hive open. */
export async function withHive(format: Format, work: (hive: Hive) => Promise<ExitCode>): Promise<void> {
  await reportErrors(format, async () => {
    const hive = await openHive({ examinations: examineAgentFiles });
    try {
      return await work(hive);
    } finally {
      await hive.close();
    }
  });
}
