/** `hive doctor`: checks everything that Hive needs and explains how to fix each problem. */
import type { Command } from 'commander';
import type { Check } from '../application/world.ts';
import { HiveError } from '../domain/errors.ts';
import { examineWithoutStore } from '../open-hive.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, printJson, say } from './output.ts';
import { examineAgentFiles, reportErrors, usingHive } from './program.ts';
import { checkLine, checksSummary } from './sentences.ts';

export function defineDoctor(command: Command): void {
  command
    .option('--json', 'print JSON')
    .action((options: Format) => reportErrors(options, () => doctor(options)));
}

async function doctor({ json }: Format): Promise<ExitCode> {
  const checks = await examineAll();
  if (json === true) printJson({ checks });
  else {
    for (const check of checks) say(checkLine(check));
    say(checksSummary(checks));
  }
  return checks.every(({ state }) => state !== 'broken') ? EXIT.done : EXIT.error;
}

async function examineAll(): Promise<readonly Check[]> {
  const options = { examinations: examineAgentFiles };
  try {
    return await usingHive(options, (hive) => hive.doctor.run());
  } catch (error) {
    if (error instanceof HiveError) return examineWithoutStore(error, options);
    throw error;
  }
}
