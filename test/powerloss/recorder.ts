import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Builds the recorder into `folder`. @throws Error with what the compiler said. */
export function buildRecorder(folder: string): string {
  const library = join(folder, 'recorder.so');
  const source = join(import.meta.dirname, 'recorder.c');
  const made = spawnSync(
    'gcc',
    ['-O2', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'],
    { encoding: 'utf8' },
  );
  if (made.status !== 0)
    throw new Error(
      `The recorder needs gcc (Debian: apt install gcc libc6-dev): ${made.error?.message ?? made.stderr}`,
    );
  return library;
}
