/** `hive sidecar`: spawned by Emacs, JSON-RPC on stdio, a desk while it lives. */
import { hostname, userInfo } from 'node:os';
import { serveEmacs } from '../adapters/emacs/connection.ts';
import { openHive } from '../open-hive.ts';
import { untilSignalled } from './lifetime.ts';

export async function runSidecar(): Promise<void> {
  const stop = untilSignalled();
  const hive = await openHive();
  hive.startExpiry();
  try {
    const seat = `${userInfo().username}@${hostname()}`;
    await serveEmacs(hive, { seat, pid: process.pid, input: process.stdin, output: process.stdout, stop });
  } finally {
    await hive.close();
  }
  // A client that is gone can leave our stdin open in the middle of a read.
  process.exit(0);
}
