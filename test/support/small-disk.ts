/** A file system of a few hundred KB that only one child sees: a full disk without filling a real one. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Mount and user namespaces; as root no user namespace is needed. */
const UNSHARE = process.getuid?.() === 0 ? ['-m'] : ['-r', '-m'];
const MOUNT = 'mount -t tmpfs -o size="$SIZE",mode=0700 none "$DISK" && exec "$@"';

export interface SmallDisk {
  /** The command prefix that mounts the disk and then becomes the program. */
  command(program: string, args: readonly string[]): { program: string; args: string[] };
  env: Record<string, string>;
  /** The path as that process sees it. */
  path(name: string): string;
}

/** A disk of `size` (`600k`) mounted on an existing folder. */
export function smallDisk(folder: string, size: string): SmallDisk {
  return {
    env: { SIZE: size, DISK: folder },
    path: (name) => join(folder, name),
    command: (program, args) => ({
      program: 'unshare',
      args: [...UNSHARE, 'sh', '-c', MOUNT, 'sh', program, ...args],
    }),
  };
}

/** Fills the disk that the process sees at `folder` completely; returns a function that frees the space. */
export function fillDisk(pid: number, folder: string): () => void {
  const filler = `/proc/${pid}/root${join(folder, 'filler')}`;
  for (const size of [64 * 1024, 4 * 1024, 1]) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  return () => rmSync(filler);
}
