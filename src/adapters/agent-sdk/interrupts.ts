/** `onInterrupt`: an interrupt stops a `query` of the SDK at once, instead of with its next hook. */
import type { StopOrder } from '../../application/turn-records.ts';
import type { AgentHive } from './agent-hive.ts';

/** As far as we use what the SDK's `query` returns. */
export interface Interruptible {
  /** Stops the query. */
  interrupt(): Promise<unknown>;
}

/**
 * Calls `query.interrupt()` when somebody wants a turn of this program's agents stopped, and ends the turn: the
 * SDK fires no Stop hook then. Needs `hiveHooks`, which hear of the turns. The SDK takes interrupts only of a
 * query whose prompt is a stream of messages. Returns how to stop listening.
 */
export function onInterrupt(
  hive: AgentHive,
  query: Interruptible,
  callback: (order: StopOrder) => void = () => undefined,
): () => void {
  const { turns, interrupts, log } = hive.hive;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, hive.closing]);
  const watched = new Set<string>();

  async function watch(session_id: string): Promise<void> {
    const turn = await turns.current(session_id);
    if (turn === undefined || watched.has(turn.turn_id)) return;
    watched.add(turn.turn_id);
    const order = await interrupts.untilInterrupted(turn.turn_id, signal);
    if (order === null) return;
    // Told first: with the interrupt the query ends, and its program with it.
    callback(order);
    await query.interrupt();
    await turns.end(turn.turn_id, { aborted: 'interrupted' });
  }

  const unlisten = hive.onHandled(({ name, session_id, agent_id }) => {
    if (agent_id !== null || (name !== 'UserPromptSubmit' && name !== 'PreToolUse')) return;
    const watching = watch(session_id).catch((error: unknown) =>
      log.error('An interrupt did not reach its query.', { error: String(error) }),
    );
    hive.track(watching);
  });
  return () => {
    unlisten();
    stop.abort();
  };
}
