/** `hive sidecar`: spawned by Emacs, JSON-RPC on stdio, a desk while it lives. */
import { serveEmacs } from '../adapters/emacs/connection.ts';
import { thisSeat } from '../infrastructure/platform/seat.ts';
import { openHive } from '../open-hive.ts';
import { untilSignalled } from './lifetime.ts';

export async function runSidecar(): Promise<void> {
  const stop = untilSignalled();
  const hive = await openHive();
  hive.startExpiry();
  try {
    const { stdin: input, stdout: output, pid } = process;
    await serveEmacs(hive, { seat: thisSeat(), pid, input, output, stop });
  } finally {
    await hive.close();
  }
  // A client that is gone can leave our stdin open in the middle of a read.
  process.exit(0);
}
