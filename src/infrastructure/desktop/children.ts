/** The programs we start for the desktop: bounded in time, and none of them left when we end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** How much of what a program prints is kept. */
const KEPT = 4_096;

/** Resolves when the program has ended and its pipes are drained; never rejects. */
export function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    if (stdout.length < KEPT) stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    if (stderr.length < KEPT) stderr += chunk.toString();
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, stdout, stderr: error.message }));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs a program without a shell, for at most `limit_ms`. */
export async function runProgram(
  program: string,
  args: readonly string[],
  env: Environment,
  limit_ms: number,
): Promise<Finished> {
  const child = spawn(program, args, {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limit_ms,
    killSignal: 'SIGKILL',
  });
  return finished(child);
}

/** Whether PATH leads to such a program. */
export function onPath(program: string, env: Environment): boolean {
  return (env['PATH'] ?? '').split(delimiter).some((folder) => {
    if (folder === '') return false;
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The reason a program gives for failing, on one line. */
export function complaint({ code, stderr }: Finished, program: string): string {
  const said = stderr.replace(/\s+/g, ' ').trim().slice(0, 300);
  return said === '' ? `${program} ended with code ${code ?? 'none'}.` : `${program}: ${said}`;
}
