/** How this program can be started, and how a command runs and ends. */
import { isUtf8 } from 'node:buffer';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { Examination } from '../application/world.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { installedNode, lastingPath } from '../infrastructure/installation/versions.ts';
import { type OpenHiveOptions, openHive } from '../open-hive.ts';
import { type ExitCode, exitCodeOfError } from './exit-codes.ts';
import { type Format, printJson, remark } from './output.ts';

/** `bin/hive`, resolved through any link by which it was called. */
export function thisFile(): string {
  return realpathSync(process.argv[1] ?? '');
}

/** The folder of the package, by a path that outlives its updates. */
export function packageFolder(): string {
  return dirname(dirname(lastingPath(thisFile())));
}

/**
 * The command that starts it, with full paths: a program that runs the command may have another PATH, or none.
 * @throws HiveError `invalid_input` if npx runs it, because npx eventually deletes its copy.
 */
export function thisProgram(): string[] {
  const file = lastingPath(thisFile());
  if (/[/\\]_npx[/\\]/.test(file)) {
    throw new HiveError(
      'invalid_input',
      'npx deletes this copy of Hive later, so no configuration may point to it. Run hive install through npx first; it installs Hive permanently.',
    );
  }
  return [installedNode(file) ?? process.execPath, file];
}

// ---- The doctor's checks of the agents' own files, loaded on demand ----

export async function examineAgentFiles(): Promise<readonly Examination[]> {
  const { examineAgents } = await import('../infrastructure/installation/examinations.ts');
  return examineAgents(process.env, process.cwd());
}

// ---- A text that a person passes as a file ----

/**
 * The text of a file; `-` is stdin. `outcome` ends the sentence of an error.
 * @throws HiveError `invalid_input` if it cannot be read, or is not UTF-8: bytes would be lost silently.
 */
export function readInput(file: string, outcome: string): string {
  const name = file === '-' ? 'The text on stdin' : `The file ${file}`;
  let bytes: Buffer;
  try {
    bytes = readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw invalidInput(`${name} cannot be read: ${error.message}. ${outcome}`);
  }
  if (!isUtf8(bytes))
    throw invalidInput(`${name} is not UTF-8. ${outcome} Convert it first, for example with iconv.`);
  return bytes.toString('utf8');
}

// ---- How a short command runs ----
// It opens the hive, does one thing, reports the result and closes everything.

/** Uses what `work` returns as the exit code. Prints an error on stderr, and with --json on stdout as well. */
export async function reportErrors({ json = false }: Format, work: () => Promise<ExitCode>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!(error instanceof HiveError)) throw error;
    process.exitCode = exitCodeOfError(error);
    const { code, message, details } = error;
    const { retry_after_s } = details;
    if (json) printJson({ error: { code, message, ...(retry_after_s !== undefined && { retry_after_s }) } });
    remark(message);
  }
}

/** The same, with the hive open. */
export async function withHive(format: Format, work: (hive: Hive) => Promise<ExitCode>): Promise<void> {
  await reportErrors(format, () => usingHive({ examinations: examineAgentFiles }, work));
}

/** Gives a command its `--json` and its action: `work` gets the open hive, the arguments, the options and the command. */
export function perform<Given extends readonly unknown[]>(
  command: Command,
  work: (hive: Hive, ...given: Given) => Promise<ExitCode>,
): Command {
  return command.option('--json', 'print JSON').action((...given) => {
    // A command and one below it may both have --json; the upper one then takes it.
    const options: Format = command.optsWithGlobals();
    const all: unknown = given.toSpliced(-2, 1, options);
    return withHive(options, (hive) => work(hive, ...(all as Given)));
  });
}

/** Opens the hive for this work alone. */
export async function usingHive<T>(options: OpenHiveOptions, work: (hive: Hive) => Promise<T>): Promise<T> {
  const hive = await openHive(options);
  try {
    return await work(hive);
  } finally {
    await hive.close();
  }
}

// ---- How a long-running command ends ----
// SIGINT, SIGTERM and SIGHUP abort one signal, and the process exits within 1 s.

const GRACE_MS = 900;

/** Aborts at the first of these signals. If the process is still running after `GRACE_MS`, it exits. */
export function untilSignalled(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      controller.abort();
      endSoon();
    });
  }
  return controller.signal;
}

/** How often a server checks that its client is still there. */
const LOOK_MS = 5_000;

/**
 * The same, also aborted when the process that started us is gone. Our input may stay open longer, because another of its
 * children may hold it open. A wrapper that only starts us has ended before we run.
 */
export function untilAbandoned(): AbortSignal {
  const gone = new AbortController();
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) gone.abort();
  }, LOOK_MS).unref();
  return AbortSignal.any([untilSignalled(), gone.signal]);
}

/** Limits the time that shutting down may take, so that a locked store or a client that hangs cannot keep the process alive. */
export function endSoon(): void {
  setTimeout(() => process.exit(0), GRACE_MS).unref();
}
