/** `hive sidecar`: spawned by Emacs, JSON-RPC on stdio, a desk while it lives. */
import type { Command } from 'commander';
import { serveEmacs } from '../adapters/emacs/connection.ts';
import type { Hive } from '../application/hive.ts';
import { invalidInput } from '../domain/errors.ts';
import { isLoopback } from '../domain/tokens.ts';
import { humanName, thisSeat } from '../infrastructure/platform/paths.ts';
import { openHive } from '../open-hive.ts';
import { refuseAgents } from './actor.ts';
import { endSoon, examineAgentFiles, JOBS, untilSignalled } from './program.ts';
import { ACTION, SERVE, SIDECAR } from './sentences.ts';

interface SidecarOptions {
  serve?: string;
}

export function defineSidecar(command: Command): void {
  command
    .option('--serve <address>', 'also do what hive serve does, at PORT or HOST:PORT')
    .action((options: SidecarOptions) => runSidecar(options));
}

async function runSidecar({ serve }: SidecarOptions): Promise<void> {
  const stop = untilSignalled();
  const hive = await openHive({ examinations: examineAgentFiles });
  const refuse = (unknown: 'refused' | 'allowed'): Promise<void> =>
    refuseAgents(hive, ACTION.desk, { unknown, advice: SIDECAR.startYourself });
  // Again at each act: an agent may have registered its session only after it had started this. By then Emacs may have
  // died, and what it had sent before that counts.
  const check = (): Promise<void> => refuse('allowed');
  try {
    await refuse('refused');
  } catch (error) {
    await hive.close();
    throw error;
  }
  hive.startExpiry();
  hive.startSweep();
  hive.startProposals();
  hive.startCodexAnswers();
  hive.startRetention();
  hive.startRuns({ jobs: JOBS });
  try {
    const { stdin: input, stdout: output, pid } = process;
    const here = { seat: thisSeat(), human: humanName(process.env), pid, check };
    let serving: Promise<(() => Promise<void>) | null> | null = null;
    // Only once the desk is open: problems are reported there.
    const opened = (): void => {
      if (serve !== undefined) serving = serveAgents(hive, serve);
    };
    await serveEmacs(hive, { ...here, input, output, stop, opened, ending: endSoon });
    const stopServing = await (serving as Promise<(() => Promise<void>) | null> | null);
    await stopServing?.();
  } finally {
    await hive.close();
  }
  // A client that is gone can leave our stdin open, in the middle of a read.
  process.exit(0);
}

/** Returns what ends it. The address may be taken, perhaps by another Emacs; that must not cost the human their desk. */
async function serveAgents(hive: Hive, address: string): Promise<(() => Promise<void>) | null> {
  const colon = address.lastIndexOf(':');
  const host = colon === -1 ? '127.0.0.1' : address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  try {
    const { startServing, portOf } = await import('./serve.ts');
    const port = portOf('--serve', address.slice(colon + 1));
    if (!isLoopback(host)) throw invalidInput(SERVE.sidecarPlainHttp(host));
    const serving = await startServing(hive, { host, port, allowHost: [] });
    hive.log.info(SIDECAR.serving, { url: serving.url });
    return () => serving.close();
  } catch (error) {
    const text = SIDECAR.notServing(error instanceof Error ? error.message : String(error));
    hive.log.error(text);
    await hive.notices
      .give({ severity: 'warning', session_id: null, text })
      .catch((oops: unknown) => hive.log.error(SIDECAR.noticeFailed, { error: String(oops) }));
    return null;
  }
}
