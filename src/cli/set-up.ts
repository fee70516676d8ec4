/** What `hive init` and `hive uninit` do with a client's files: show what would change, ask, write. */
import { createInterface } from 'node:readline/promises';
import { HiveError } from '../domain/errors.ts';
import { createInstaller, readText } from '../infrastructure/installation/files.ts';
import { type FileChange, type Part, planInit, planUninit } from '../infrastructure/installation/parts.ts';
import { diffLines } from './diff.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, print, printJson, remark } from './output.ts';

export interface SetUpOptions extends Format {
  /** The person has said yes already. */
  yes?: boolean | undefined;
  /** Show what belongs there, and write nothing. */
  print?: boolean | undefined;
}

export type Direction = 'init' | 'uninit';

/** Nothing is written unless the person agrees, and then all of it. */
export async function setUp(
  direction: Direction,
  parts: readonly Part[],
  options: SetUpOptions,
  done: string,
): Promise<ExitCode> {
  if (options.print === true) {
    for (const { path, fragment } of parts) print(`# ${path}\n${fragment}\n`);
    return EXIT.done;
  }
  const installer = createInstaller(process.env);
  const plan = direction === 'init' ? planInit : planUninit;
  const changes = parts.flatMap(
    (part) => plan(part, readText(part.path), installer.receiptOf(part.path)) ?? [],
  );
  if (options.json !== true) for (const change of changes) show(change);
  if (changes.length > 0 && options.yes !== true && !(await agrees())) {
    remark('Nothing was written.');
    return EXIT.notAccepted;
  }
  // The file that a folder was made for is taken back last, when nothing else of ours lies there.
  if (direction === 'uninit') changes.reverse();
  for (const change of changes) {
    if (!installer.write(change)) {
      throw new HiveError('invalid_input', `${change.path} has changed meanwhile: run this again.`);
    }
  }
  if (options.json === true) printJson({ changed: changes.map(({ path }) => path) });
  else print(changes.length === 0 ? 'Nothing to do.' : done);
  return EXIT.done;
}

function show({ path, before, after }: FileChange): void {
  print(before === null ? `${path} (new)` : after === null ? `${path} (removed)` : path);
  for (const line of diffLines(before, after)) print(`  ${line}`);
  print('');
}

async function agrees(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    remark('There is no terminal to ask at: --yes says yes, --print only shows what belongs where.');
    return false;
  }
  return /^y(es)?$/i.test(await ask('Write this? [y/N] '));
}

/** A line that the person at the terminal types. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}
