/** Files: reading those of other programs, writing ours so that a power cut loses none, recognizing network file systems. */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Files } from '../../application/world.ts';

export const files: Files = {
  flushFolders(folders) {
    const flushed = new Set<string>();
    for (const given of folders)
      for (let folder = resolve(given); !flushed.has(folder); folder = dirname(folder)) {
        flushed.add(folder);
        try {
          syncPath(folder, constants.O_DIRECTORY);
        } catch {
          // It may not exist, or belong to somebody else; then its names are none of ours.
        }
      }
  },

  readTail(path, bytes) {
    try {
      const file = openSync(path, 'r');
      try {
        const { size } = fstatSync(file);
        const tail = Buffer.alloc(Math.min(bytes, size));
        readSync(file, tail, 0, tail.length, size - tail.length);
        return tail.toString('utf8');
      } finally {
        closeSync(file);
      }
    } catch {
      return null;
    }
  },
};

/** Flushes a file, or the names in a folder. */
export function syncPath(path: string, flags = 0): void {
  const file = openSync(path, constants.O_RDONLY | flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes a folder with those above it, readable only by its owner, and waits until their names are on disk. One level at a
 * time: where none can be made, as in /proc, Node's recursive mkdir never returns.
 */
export function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  syncPath(dirname(folder));
}

/** Writes a new file, complete and on disk when this returns. @throws the system's error, `EEXIST` if there is one. */
export function writeDurably(path: string, text: string, mode = 0o600): void {
  const file = openSync(path, 'wx', mode);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncPath(dirname(path));
}

/** Puts a complete new file, with its name on disk, in the place of whatever was there. */
export function replaceDurably(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.${process.pid}`;
  // One that a process left behind which had this id before.
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, text, { mode, flag: 'wx', flush: true });
    // Set again, because the umask applies to a new file.
    chmodSync(draft, mode);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncPath(dirname(path));
}

// ---- Network file systems ----
// Recognized by the type number of statfs(2).

const NETWORK_TYPES: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB2',
  0x01021997: '9P',
  0x5346414f: 'AFS',
  0x00c36400: 'Ceph',
  0x0bd00bd0: 'Lustre',
  0x01161970: 'GFS2',
  0x7461636f: 'OCFS2',
};
const FUSE = 0x65735546;
const NETWORK_FUSE = /^fuse\.(sshfs|s3fs|rclone|glusterfs|gcsfuse|goofys|davfs|curlftpfs|cephfs|juicefs)/;

/** The name of the network file system, or null for a local one. FUSE can be either, so its mount entry decides. */
export function networkFileSystem(
  type: number,
  folder: string,
  mountinfo: () => string = readMountinfo,
): string | null {
  const unsigned = type >>> 0;
  if (unsigned !== FUSE) return NETWORK_TYPES[unsigned] ?? null;
  const kind = mountOf(folder, mountinfo());
  return kind !== null && NETWORK_FUSE.test(kind) ? kind : null;
}

function readMountinfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

/** The file system type of the longest mount point that `folder` lies under (proc(5), mountinfo). */
function mountOf(folder: string, mountinfo: string): string | null {
  let best: { point: string; kind: string } | null = null;
  for (const line of mountinfo.split('\n')) {
    const [left, right] = line.split(' - ');
    const point = left?.split(' ')[4]?.replace(/\\040/g, ' ');
    const kind = right?.split(' ')[0];
    if (point === undefined || kind === undefined) continue;
    const under = folder === point || point === '/' || folder.startsWith(`${point}/`);
    if (under && (best === null || point.length >= best.point.length)) best = { point, kind };
  }
  return best?.kind ?? null;
}
