/**
 * `hive hook`: one command for every hook event of Claude Code and Codex. A bundle of its own that starts
 * about as fast as Node itself: nothing here or below imports a package. It prints what the client reads and
 * nothing else, and ends with 0 unless it fails closed.
 */
import { existsSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { readHook, sayVerdict } from '../adapters/hooks/hook.ts';
import type { HookClient } from '../domain/hooks.ts';
import { files } from '../infrastructure/platform/files.ts';
import { codexSocket, thisSeat } from '../infrastructure/platform/paths.ts';
import { findProject } from '../infrastructure/platform/project.ts';
import { openHooks } from '../open-hive.ts';
import { readRulesFile } from './rules-file.ts';

/** The client waits for us: a store that is locked or gone must not hold it longer. */
const LIMIT_MS = 2_000;
/** Shorter than `LIMIT_MS`, so that the reason can still be said. */
const BUSY_MS = 1_500;

/** What started the hook (bin/hive). */
interface Host {
  /** Begins the same event anew with all that `dist/hook.cjs` leaves out (scripts/build.mjs). */
  handOver(): void;
  /** Told when the hook has done its work, just before it ends. */
  finished(): void;
}

/** Deals with the event that came on stdin, and ends the process. */
export function runHook(text: string, host: Host): void {
  const { argv, env } = process;
  main(argv.slice(3), env, text, host).catch((error: unknown) => {
    process.stderr.write(`hive hook: ${String(error)}\n`);
  });
}

async function main(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  text: string,
  host: Host,
): Promise<void> {
  let name: string | null = null;
  const setLimit = (): NodeJS.Timeout =>
    setTimeout(() => fail(`no answer from the store within ${LIMIT_MS / 1000} s`, env, name), LIMIT_MS);
  let limit = setLimit();
  try {
    if (args.includes('--wake')) {
      const { wake } = await import('./wake.ts');
      clearTimeout(limit);
      // Who only wakes others harms nobody by not waking them.
      await wake(text, env, args).catch((error: unknown) =>
        process.stderr.write(
          `hive hook: it will wake nobody: ${error instanceof Error ? error.message : String(error)}\n`,
        ),
      );
      process.exit(0);
    }
    const event = readHook(text, env, clientOf(args));
    name = event.name;
    if (args.includes('--url')) {
      const { remoteOf, sendHook } = await import('./hook-remote.ts');
      const remote = remoteOf(args);
      if (remote === null) throw new Error('--url needs an address.');
      const cwd = env['CLAUDE_PROJECT_DIR'] ?? event.cwd;
      const reply = await sendHook(remote, { text, client: clientOf(args), env, cwd }, () =>
        clearTimeout(limit),
      );
      await say(reply.stdout);
      await reply.printed().catch(() => undefined);
      process.exit(0);
    }
    const hooks = await openHooks({ env, busy_ms: BUSY_MS });
    const verdict = await hooks.handle(event, {
      env,
      machine: hostname(),
      pid: process.pid,
      findProject: () => findProject(env['CLAUDE_PROJECT_DIR'] ?? event.cwd),
      readTail: files.readTail,
      get seat() {
        return thisSeat();
      },
      readRules: () => readRulesFile(env),
      codexListens: () => existsSync(codexSocket(env) ?? ''),
      // A hook that waits for the human as it was told to is no store that is gone.
      async withoutTimeLimit(work) {
        clearTimeout(limit);
        try {
          return await work(untilTerminated());
        } finally {
          limit = setLimit();
        }
      },
    });
    // Durable before told: what this says was handed over is on disk by now.
    await say(sayVerdict(event, verdict));
    // What is not known to be printed is handed again: better twice than never.
    await hooks.printed(verdict).catch(() => undefined);
    await hooks.leave().catch(() => undefined);
    host.finished();
    process.exit(0);
  } catch (error) {
    // Nothing was written: what is loaded at need is asked for before a transaction, or ends it.
    if (isLeftOut(error)) return host.handOver();
    fail(error instanceof Error ? error.message : String(error), env, name);
  } finally {
    clearTimeout(limit);
  }
}

function isLeftOut(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'LEFT_OUT';
}

/** Whose question was answered at its terminal, or taken back, ends a hook that still waits. */
function untilTerminated(): AbortSignal {
  const terminated = new AbortController();
  process.once('SIGTERM', () => terminated.abort());
  return terminated.signal;
}

/** Past `process.stdout`, which takes 3 ms to come into being, unless the pipe is full and somebody must wait. */
async function say(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(1, bytes, written);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    await new Promise<void>((resolve) => process.stdout.write(bytes.subarray(written), () => resolve()));
  }
}

function clientOf(args: readonly string[]): HookClient | null {
  const given = args[args.indexOf('--client') + 1];
  return args.includes('--client') && (given === 'codex' || given === 'claude-code') ? given : null;
}

/**
 * Guards fail open unless configured to fail closed (invariant 11): then exit code 2 denies, with this reason.
 * A Stop always fails open: held by a store that is gone, an agent would never end.
 */
function fail(reason: string, env: NodeJS.ProcessEnv, name: string | null): never {
  process.stderr.write(`hive hook: ${reason}\n`);
  const closed = env['HIVE_GATE_FAIL'] === 'closed' && name !== 'Stop' && name !== 'SubagentStop';
  process.exit(closed ? 2 : 0);
}
