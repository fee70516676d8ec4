/**
 * Codex has no hook that could wake it: its own `hive mcp` waits beside it and queues a message for a session
 * of the daemon. That message is no word of the human's, and is written so that our hooks know it.
 */
import { type Session, threadOf } from '../domain/sessions.ts';
import { mentionWakes, wakeLifeMs } from '../domain/wakes.ts';
import type { Feed } from './feed.ts';
import type { CodexControl, Logger, Store } from './ports.ts';
import type { WakeService } from './wakes.ts';

export interface CodexWaker {
  /** This session speaks through this process. */
  note(session: Session): void;
  /**
   * The client of this process has said its name. A session that has never called a tool of ours is known by its hooks
   * alone, and not which process is its own: any one of Codex' on the machine wakes it, the last to wait.
   */
  greet(client: string): void;
  close(): void;
}

export interface CodexWakerParts {
  store: Store;
  feed: Pick<Feed, 'follow'>;
  wakes: WakeService;
  codex: Pick<CodexControl, 'queue'>;
  /** This machine: the daemon of another is out of reach. */
  machine: string;
  log: Logger;
}

const CODEX = /codex/i;

export function createCodexWaker(
  { store, feed, wakes, codex, machine, log }: CodexWakerParts,
  env: Readonly<Record<string, string | undefined>>,
): CodexWaker {
  const life_ms = wakeLifeMs(env['HIVE_WAKE']);
  const stop = new AbortController();
  const waitsFor = new Set<string>();
  let unfollow: Promise<() => Promise<void>> | null = null;

  async function wait(session: Session): Promise<void> {
    const { session_id } = session;
    for (;;) {
      const text = await wakes.untilWanted({
        session_id,
        life_ms: life_ms ?? 0,
        mentions: mentionWakes(env),
        signal: stop.signal,
      });
      if (text === null || stop.signal.aborted) return;
      const message = `<task-notification>Hive: ${text}</task-notification>`;
      // One that no daemon hosts cannot be woken; it gets what there is with its next turn.
      if (!(await codex.queue({ thread_id: threadOf(session), message }))) return;
    }
  }

  function waitFor(session: Session): void {
    const { session_id, client, parent_session_id } = session;
    if (life_ms === null || stop.signal.aborted || waitsFor.has(session_id) || !CODEX.test(client)) return;
    // A subagent does not idle: it ends.
    if (parent_session_id !== null && threadOf(session) !== session_id) return;
    waitsFor.add(session_id);
    wait(session)
      .catch((error: unknown) => log.warn('A wait for an idle Codex has ended.', { error: String(error) }))
      .finally(() => waitsFor.delete(session_id));
  }

  async function followMentions(): Promise<() => Promise<void>> {
    return feed.follow({
      cursor: await store.read((tx) => tx.events.head()),
      async onEvents(events) {
        const mentioned = events.filter(({ type }) => type === 'mention/created');
        for (const session_id of new Set(mentioned.map((event) => event.session_id))) {
          if (session_id === null) continue;
          const session = await store.read((tx) => tx.sessions.get(session_id));
          if (session?.machine === machine && session.state !== 'ended') waitFor(session);
        }
      },
      // What was missed comes with the next turn.
      onResync: async () => undefined,
    });
  }

  return {
    note: waitFor,
    greet(client) {
      if (life_ms === null || !CODEX.test(client)) return;
      unfollow ??= followMentions();
      unfollow.catch((error: unknown) =>
        log.warn('Mentions of idle Codex sessions are not followed.', { error: String(error) }),
      );
    },
    close() {
      stop.abort();
      unfollow?.then((end) => end()).catch(() => undefined);
    },
  };
}
