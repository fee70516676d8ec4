/** This very program, as others can start it, and what lies beside it in its package. */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Hive } from '../application/hive.ts';
import type { Examination } from '../application/ports.ts';
import { HiveError } from '../domain/errors.ts';
import type { Prompt } from '../domain/prompts.ts';
import { openHive } from '../open-hive.ts';
import { endWithReader, type Format, printJson, remark } from './output.ts';

/** `bin/hive`, whatever link it was called by. */
function thisFile(): string {
  return realpathSync(process.argv[1] ?? '');
}

/** The folder of the package. */
export function packageFolder(): string {
  return dirname(dirname(thisFile()));
}

/**
 * By its full path and with this Node: whoever starts it may have another PATH, or none.
 * @throws HiveError `invalid_input` where npx runs it, whose copy is gone one day without a word.
 */
export function thisProgram(): string[] {
  const file = thisFile();
  if (/[/\\]_npx[/\\]/.test(file)) {
    throw new HiveError(
      'invalid_input',
      'npx keeps this Hive only for a while, and a configuration must not name it: npm install -g hive-sidecar, then run this again.',
    );
  }
  return [process.execPath, file];
}

export function isOnPath(name: string, env: NodeJS.ProcessEnv = process.env): boolean {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, name)));
}

// ---------------------------------------------------------------------------
// What the doctor looks at in the agents' own files; loaded when it is asked.

export async function examineAgentFiles(): Promise<readonly Examination[]> {
  const { examineAgents } = await import('../infrastructure/installation/examinations.ts');
  return examineAgents(process.env, process.cwd());
}

// ---------------------------------------------------------------------------
// How a short command runs: opens the hive, does one thing, says how it ended, leaves nothing open.

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

// ---------------------------------------------------------------------------
// How a long-lived command ends: one abort signal for SIGINT, SIGTERM and SIGHUP, and a hard stop within 1 s.

const GRACE_MS = 900;

/** Aborts at the first signal to end. A process that has not ended `GRACE_MS` later is ended. */
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

/** Call it when the end has begun: what still holds then, a locked store or a client that hangs, holds no longer. */
export function endSoon(): void {
  setTimeout(() => process.exit(0), GRACE_MS).unref();
}

// ---------------------------------------------------------------------------
// What a command's exit says, for scripts. One table: docs/cli.md shows the same.
// A command that looks at several prompts exits with the first of pending, expired, cancelled that is among them.

export const EXIT = {
  /** It was done; of questions: answered. */
  done: 0,
  /** It failed; stderr says why. */
  error: 1,
  /** The command line, or a value on it, makes no sense. Nothing was done. */
  usage: 2,
  /** No answer yet, or the time to wait for one is up. */
  pending: 3,
  /** The question expired: no decision. */
  expired: 4,
  /** The question was taken back: no decision. */
  cancelled: 5,
  /** Somebody was first: the answer or the cancel changed nothing, or was kept as a late answer. */
  notAccepted: 6,
  /** This caller may not (agents for what is the human's, permissions without a terminal). */
  notAllowed: 7,
  /** bin/hive: this Node is too old. It cannot import this table, so a test compares the two. */
  nodeTooOld: 8,
  /** bin/hive: the package is not built. */
  notBuilt: 9,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOfError(error: HiveError): ExitCode {
  if (error.code === 'invalid_input') return EXIT.usage;
  if (error.code === 'not_allowed') return EXIT.notAllowed;
  return EXIT.error;
}

const OF_STATUS: readonly (readonly [Prompt['status'], ExitCode])[] = [
  ['pending', EXIT.pending],
  ['expired', EXIT.expired],
  ['cancelled', EXIT.cancelled],
];

export function exitCodeOfPrompts(prompts: readonly Pick<Prompt, 'status'>[]): ExitCode {
  for (const [status, code] of OF_STATUS) {
    if (prompts.some((prompt) => prompt.status === status)) return code;
  }
  return EXIT.done;
}
