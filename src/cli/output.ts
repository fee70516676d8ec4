/** What a command says: results to stdout, remarks to stderr, JSON when asked for. */
import { revealed } from '../domain/text.ts';
import { table, visibleJson } from './text.ts';

/** Every command has it. */
export interface Format {
  json?: boolean | undefined;
}

/** How wide a row may be; what goes into a pipe is not cut. */
function columns(): number {
  return process.stdout.isTTY ? Math.max(20, process.stdout.columns) : Number.POSITIVE_INFINITY;
}

/** The reader of a pipe may leave early (`| head`): that is no fault of ours, and the rest goes nowhere. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Text of ours or of anybody's, on stdout. */
export function print(text: string): void {
  process.stdout.write(`${revealed(text)}\n`);
}

export function printRows(rows: readonly (readonly string[])[], indent = ''): void {
  for (const row of table(rows, columns() - indent.length)) process.stdout.write(`${indent}${row}\n`);
}

/** One value: indented for a person, one line for a pipe. */
export function printJson(value: unknown): void {
  process.stdout.write(`${visibleJson(value, process.stdout.isTTY ? 2 : 0)}\n`);
}

/** One value of a stream: always one line. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${visibleJson(value, 0)}\n`);
}

/** What a person should know beside the result; never part of it. */
export function remark(sentence: string): void {
  process.stderr.write(`hive: ${revealed(sentence)}\n`);
}
