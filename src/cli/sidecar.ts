/** `hive sidecar`: spawned by Emacs, JSON-RPC on stdio, a desk while it lives. */
import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { serveEmacs } from '../adapters/emacs/connection.ts';
import { beside } from '../application/background.ts';
import type { Hive } from '../application/hive.ts';
import { invalidInput } from '../domain/errors.ts';
import { humanName, thisSeat } from '../infrastructure/platform/paths.ts';
import { openHive } from '../open-hive.ts';
import { refuseAgents } from './actor.ts';
import { EXIT } from './exit-codes.ts';
import { emacsExtensions, resumeRuns, serveBeside } from './extensions.ts';
import { endSoon, examineAgentFiles, thisFile, untilSignalled } from './program.ts';

interface SidecarOptions {
  serve?: string;
  inbox?: true | string;
  opencode?: string[];
}

export function defineSidecar(command: Command): void {
  command
    .option('--serve <address>', 'also do what hive serve does, at PORT or HOST:PORT')
    .option('--inbox [url]', 'with --serve: serve the inbox too, which phones reach at this address')
    .option('--opencode <url...>', 'also do what hive attach opencode does, with these servers')
    .action((options: SidecarOptions) => runSidecar(options));
}

async function runSidecar({ serve, opencode = [], inbox }: SidecarOptions): Promise<void> {
  if (serve === undefined && inbox !== undefined)
    throw invalidInput('--inbox needs --serve, which names the port.');
  const stop = untilSignalled();
  const hive = await openHive({ examinations: examineAgentFiles });
  // Checked again at each action: an agent may have registered its session only after it had started this.
  const check = (): Promise<void> =>
    refuseAgents(hive, 'open a desk', 'Quit this Emacs and start it yourself, outside any agent.');
  try {
    await check();
  } catch (error) {
    await hive.close();
    throw error;
  }
  hive.startExpiry();
  hive.startSweep();
  hive.startProposals();
  hive.startCodexAnswers();
  hive.startRetention();
  await resumeRuns(hive);
  try {
    const { stdin: input, stdout: output, pid } = process;
    const here = { seat: thisSeat(), human: humanName(process.env), pid, check };
    let serving: Promise<(() => Promise<void>) | null> | null = null;
    // Only once the desk is open: problems are reported there.
    const opened = (): void => {
      if (serve !== undefined)
        serving = serveBeside(hive, serve, inbox).catch((error: unknown) => sayNotServing(hive, error));
      if (opencode.length > 0) attach(hive, opencode);
    };
    const extensions = await emacsExtensions();
    await serveEmacs(hive, { ...here, input, output, stop, extensions, opened, ending: endSoon });
    const stopServing = await (serving as Promise<(() => Promise<void>) | null> | null);
    await stopServing?.();
  } finally {
    await hive.close();
  }
  // A client that has died can leave our stdin open, in the middle of a read.
  process.exit(0);
}

/** Notifies the human, and goes on: a server that fails must not cost them their desk. */
async function sayNotServing(hive: Hive, error: unknown): Promise<null> {
  const text = `This Emacs does not serve agents on other machines: ${error instanceof Error ? error.message : String(error)}`;
  hive.log.error(text);
  const give = (): Promise<void> => hive.notices.give({ severity: 'warning', text });
  await beside(hive.log, 'A notice for the human could not be stored.', give, {}, 'error');
  return null;
}

/** A process of its own acts for the sessions of opencode; otherwise this process would count as one of them. */
function attach(hive: Hive, urls: readonly string[], after_ms = FIRST_PAUSE_MS): void {
  const began = performance.now();
  const child = spawn(process.execPath, [thisFile(), 'attach', '--until-stdin-ends', 'opencode', ...urls], {
    // It ends when its stdin does, also when we are killed.
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  let isOver = false;
  const again = (why: Record<string, unknown>): void => {
    if (isOver) return;
    isOver = true;
    hive.log.warn('hive attach has ended and is started again.', why);
    const pause_ms = performance.now() - began > LAST_PAUSE_MS ? FIRST_PAUSE_MS : after_ms;
    setTimeout(() => attach(hive, urls, Math.min(pause_ms * 2, LAST_PAUSE_MS)), pause_ms).unref();
  };
  child.once('error', (error) => again({ error: error.message }));
  // Exit code 2 means an invalid command line, which would be invalid the next time, too.
  child.once('exit', (code) => (code === EXIT.usage ? undefined : again({ code })));
  child.unref();
}

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;
