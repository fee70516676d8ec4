/** `hive sidecar`: spawned by Emacs, JSON-RPC on stdio, a desk while it lives. */
import type { Command } from 'commander';
import { serveEmacs } from '../adapters/emacs/connection.ts';
import type { Hive } from '../application/hive.ts';
import { retentionDays } from '../application/retention.ts';
import { humanName, thisSeat } from '../infrastructure/platform/seat.ts';
import { openHive } from '../open-hive.ts';
import { examineAgentFiles } from './agent-files.ts';
import { endSoon, untilSignalled } from './lifetime.ts';

export function defineSidecar(command: Command): void {
  command.action(runSidecar);
}

async function runSidecar(): Promise<void> {
  const stop = untilSignalled();
  const hive = await openHive({ examinations: examineAgentFiles });
  hive.startExpiry();
  hive.startSweep();
  startRetention(hive);
  try {
    const { stdin: input, stdout: output, pid } = process;
    const here = { seat: thisSeat(), human: humanName(process.env), pid };
    await serveEmacs(hive, { ...here, input, output, stop, ending: endSoon });
  } finally {
    await hive.close();
  }
  // A client that is gone can leave our stdin open in the middle of a read.
  process.exit(0);
}

/** A retention that makes no sense must not cost the human their desk: nothing is removed, and the log says why. */
function startRetention(hive: Hive): void {
  try {
    hive.startRetention(retentionDays(process.env));
  } catch (error) {
    hive.log.error('Old records are not removed.', { error: String(error) });
  }
}
