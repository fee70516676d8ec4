/** `hive doctor`: checks everything that Hive needs and says how to fix each problem. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, print, printJson } from './output.ts';
import { withHive } from './program.ts';
import { DOCTOR } from './sentences.ts';

export function defineDoctor(command: Command): void {
  command
    .option('--json', 'print JSON')
    .action((options: Format) => withHive(options, (hive) => doctor(hive, options)));
}

async function doctor(hive: Hive, { json }: Format): Promise<ExitCode> {
  const checks = await hive.doctor.run();
  if (json === true) printJson({ checks });
  else {
    for (const check of checks) print(DOCTOR.check(check));
    print(DOCTOR.summary(checks));
  }
  return checks.every(({ state }) => state !== 'broken') ? EXIT.done : EXIT.error;
}
