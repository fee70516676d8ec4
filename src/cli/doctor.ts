/** `hive doctor`: checks everything that Hive needs and says how to fix each problem. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, print, printJson } from './output.ts';
import { withHive } from './program.ts';

export function defineDoctor(command: Command): void {
  command
    .option('--json', 'print JSON')
    .action((options: Format) => withHive(options, (hive) => doctor(hive, options)));
}

async function doctor(hive: Hive, { json }: Format): Promise<ExitCode> {
  const checks = await hive.doctor.run();
  if (json === true) printJson({ checks });
  else {
    for (const { name, ok, text, advice } of checks) {
      print(`${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(17)} ${text}`);
      if (!ok && advice !== null) print(`      → ${advice}`);
    }
  }
  return checks.every((check) => check.ok) ? EXIT.done : EXIT.error;
}
