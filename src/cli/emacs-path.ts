/** `hive emacs-path`, an old spelling; `hive init emacs --print` shows the folder now. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Format, print, printJson } from './output.ts';
import { packageFolder } from './program.ts';

export function defineEmacsPath(command: Command): void {
  command.option('--json', 'print JSON').action(({ json }: Format) => {
    const path = join(packageFolder(), 'elisp');
    if (json === true) printJson({ path });
    else print(path);
  });
}
