/**
 * `hive hook`: one command for every hook event of Claude Code and Codex. It has its own bundle, which starts about as
 * fast as Node itself, because nothing here or below imports a package. It prints only what the client reads, and exits
 * with 0 unless it fails closed.
 */
import { writeSync } from 'node:fs';
import { parseEvent, sayVerdict } from '../adapters/hooks/hook.ts';
import { type HookClient, hookClient } from '../domain/hooks.ts';
import { otherMachine } from '../extensions.ts';
import { thisSeat } from '../infrastructure/platform/paths.ts';
import { findProject } from '../infrastructure/platform/project.ts';
import { hookMachine, openHooks } from '../open-hive.ts';

/** The client waits for the hook, so a store that is locked or gone must not delay it longer than this. */
const LIMIT_MS = 2_000;
/** Shorter than `LIMIT_MS`, to leave time to print the reason. */
const BUSY_MS = 1_500;

/** The program that started the hook (bin/hive). */
interface Host {
  /** Starts the same event again in the complete program (scripts/build.mjs). */
  startAgain(): void;
  /** Called when the work is done, just before the process ends. */
  finished(): void;
}

/** Handles the event from stdin and ends the process. */
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
  const failed = (reason: string): never => fail(reason, env, name ?? nameIn(text));
  const asked = args.includes('--url') ? 'server' : 'store';
  const setLimit = (): NodeJS.Timeout =>
    setTimeout(() => failed(`no reply from the ${asked} within ${LIMIT_MS / 1000} s`), LIMIT_MS);
  let limit = setLimit();
  try {
    if (args.includes('--wake')) {
      const { wake } = await import('./wake.ts');
      clearTimeout(limit);
      // This hook only wakes agents, so a failure blocks nobody.
      await wake(text, env, args).catch((error: unknown) =>
        process.stderr.write(
          `hive hook: idle agents will not be woken: ${error instanceof Error ? error.message : String(error)}\n`,
        ),
      );
      process.exit(0);
    }
    const event = parseEvent(text, env, clientOf(args));
    name = event.name;
    if (args.includes('--url')) {
      const cwd = env['CLAUDE_PROJECT_DIR'] ?? event.cwd;
      const sent = { text, client: clientOf(args), env, cwd, signal: untilTerminated() };
      const reply = await otherMachine.send(args, sent, () => clearTimeout(limit));
      await say(reply.stdout);
      await reply.printed().catch(() => undefined);
      process.exit(0);
    }
    const hooks = await openHooks({ env, busy_ms: BUSY_MS });
    const verdict = await hooks.handle(event, {
      ...hookMachine(env),
      findProject: () => findProject(env['CLAUDE_PROJECT_DIR'] ?? event.cwd),
      get seat() {
        return thisSeat();
      },
      // A hook may wait for the human for as long as it is configured to; the limit applies only to the store.
      async withoutTimeLimit(work) {
        clearTimeout(limit);
        try {
          return await work(untilTerminated());
        } finally {
          limit = setLimit();
        }
      },
    });
    // Durable before told: the hand-over that this announces is already on disk.
    await say(sayVerdict(event, verdict));
    // Without this record it is handed over again: better twice than never.
    await hooks.printed(verdict).catch(() => undefined);
    await hooks.leave().catch(() => undefined);
    host.finished();
    process.exit(0);
  } catch (error) {
    // Nothing is recorded yet: a lazy import comes before the transaction, or the error has rolled it back.
    const failure = isLeftOut(error) ? startedAgain(host) : error;
    if (failure !== null) failed(failure instanceof Error ? failure.message : String(failure));
  } finally {
    clearTimeout(limit);
  }
}

/** Whether the smaller program lacks what this event needs. */
function isLeftOut(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'LEFT_OUT';
}

/** Null if it could start. If the other program's file is missing, that fails as configured, too. */
function startedAgain(host: Host): unknown {
  try {
    host.startAgain();
    return null;
  } catch (error) {
    return error;
  }
}

/** The client ends a waiting hook when its question was answered in the terminal or cancelled. */
function untilTerminated(): AbortSignal {
  const terminated = new AbortController();
  process.once('SIGTERM', () => terminated.abort());
  return terminated.signal;
}

/** Writes directly, because creating `process.stdout` takes 3 ms. Only a full pipe needs it, to wait. */
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
  return args.includes('--client') ? hookClient(args[args.indexOf('--client') + 1]) : null;
}

/** The name of an event that cannot be read; null if it names several, because an agent writes the input of its tools. */
function nameIn(text: string): string | null {
  const found = [...text.matchAll(/"hook_event_name"\s*:\s*"(\w+)"/g)].map(([, name]) => name);
  return found.length === 1 ? (found[0] ?? null) : null;
}

const FAILED =
  'Hive failed on this message, and the agent goes on: a mention, an interrupt or an answer may not have reached it. ';

/**
 * Guards fail open unless they are configured to fail closed (invariant 11); then exit code 2 denies, with this reason.
 * A Stop always fails open: otherwise an agent whose store is gone could never end.
 */
function fail(reason: string, env: NodeJS.ProcessEnv, name: string | null): never {
  const closed = env['HIVE_GATE_FAIL'] === 'closed' && name !== 'Stop' && name !== 'SubagentStop';
  const why = closed ? `HIVE_GATE_FAIL=closed blocks this, because Hive failed on it: ${reason}` : reason;
  process.stderr.write(`hive hook: ${why}\n`);
  // The clients keep stderr to themselves. A person who has just typed is there to read this, and it comes once a turn.
  if (!closed && name === 'UserPromptSubmit')
    writeSync(1, JSON.stringify({ systemMessage: FAILED + reason }));
  process.exit(closed ? 2 : 0);
}
