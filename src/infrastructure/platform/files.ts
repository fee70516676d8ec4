/** Files: reading those of other programs, which are never written, and recognizing network file systems. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Files } from '../../application/world.ts';

export const files: Files = {
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
