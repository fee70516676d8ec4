/**
 * `hive hook --wake`: a hook that its client runs alongside the session (asyncRewake). When the session is idle and an answer
 * or a mention has arrived, it wakes the session: exit code 2 and a sentence on stderr. Otherwise it ends silently.
 */
import { hostname } from 'node:os';
import { parseEvent } from '../adapters/hooks/hook.ts';
import type { WakeWait } from '../application/wakes.ts';
import { editorIn, idlesUnwatched } from '../domain/sources.ts';
import { otherMachine } from '../extensions.ts';
import { thisSeat } from '../infrastructure/platform/paths.ts';
import { processes } from '../infrastructure/platform/processes.ts';
import { openWakes } from '../open-hive.ts';

/** How often a waiting hook checks whether its client is gone. */
const LOOK_MS = 15_000;

export async function wake(stdin: string, env: NodeJS.ProcessEnv, args: readonly string[]): Promise<void> {
  const event = parseEvent(stdin, env, 'claude-code');
  // `claude -p` would wait for this hook before it ends, and it is never idle. An editor begins turns itself.
  const idles = event.attended === true || idlesUnwatched(env);
  if (!idles || editorIn(env) !== null || event.agent_id !== null) return;
  const gone = new AbortController();
  process.once('SIGTERM', () => gone.abort());
  const looking = setInterval(() => {
    if (event.pid !== null && !processes.alive(event.pid)) gone.abort();
  }, LOOK_MS);
  let woken = false;
  const deliver = async (text: string): Promise<boolean> => {
    await new Promise<void>((resolve) => process.stderr.write(`${text}\n`, () => resolve()));
    woken = true;
    return true;
  };
  try {
    if (args.includes('--url')) {
      // The last words of its agent may be more than the server reads.
      const { session_id, name: hook_event_name } = event;
      const text = await otherMachine.awaitWake(args, { session_id, hook_event_name }, gone.signal);
      if (text !== null) await deliver(text);
    } else await untilWanted(event.session_id, env, { signal: gone.signal, deliver });
  } finally {
    // Even if it could not be recorded: at worst the session is woken once more.
    if (woken) process.exit(2);
    clearInterval(looking);
  }
}

async function untilWanted(
  session_id: string,
  env: NodeJS.ProcessEnv,
  wait: Pick<WakeWait, 'signal' | 'deliver'>,
): Promise<void> {
  const wakes = await openWakes({ env });
  await wakes.untilWanted({
    session_id,
    speaker: { machine: hostname(), pid: process.pid, above: processes.ancestors(process.pid) },
    seat: thisSeat(),
    ...wait,
  });
}
