/**
 * Codex has no hook that could wake it: its own `hive mcp` waits beside it and queues a message for a session
 * of the daemon. That message is no word of the human's, and is written so that our hooks know it.
 */
import { type Session, threadOf } from '../domain/sessions.ts';
import { wakeLifeMs } from '../domain/wakes.ts';
import type { CodexControl, Logger } from './ports.ts';
import type { WakeService } from './wakes.ts';

export interface CodexWaker {
  /** This session speaks through this process. */
  note(session: Session): void;
  close(): void;
}

export function createCodexWaker(
  { wakes, codex, log }: { wakes: WakeService; codex: CodexControl; log: Logger },
  env: Readonly<Record<string, string | undefined>>,
): CodexWaker {
  const life_ms = wakeLifeMs(env['HIVE_WAKE']);
  const stop = new AbortController();
  let waitsFor: string | null = null;

  async function wait(session: Session): Promise<void> {
    const { session_id } = session;
    for (;;) {
      const text = await wakes.untilWanted({ session_id, life_ms: life_ms ?? 0, signal: stop.signal });
      if (text === null || stop.signal.aborted) return;
      const message = `<task-notification>Hive: ${text}</task-notification>`;
      // One that no daemon hosts cannot be woken; it gets its answers with its next turn.
      if (!(await codex.queue({ thread_id: threadOf(session), message }))) return;
    }
  }

  return {
    note(session) {
      const { session_id, client, parent_session_id } = session;
      if (life_ms === null || waitsFor === session_id || !/codex/i.test(client)) return;
      // A subagent does not idle: it ends.
      if (parent_session_id !== null && threadOf(session) !== session_id) return;
      waitsFor = session_id;
      wait(session)
        .catch((error: unknown) => log.warn('A wait for an idle Codex has ended.', { error: String(error) }))
        .finally(() => {
          if (waitsFor === session_id) waitsFor = null;
        });
    },
    close: () => stop.abort(),
  };
}
