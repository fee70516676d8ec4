/**
 * Callbacks: a program is notified once when its question is settled, by anyone in any process. One watcher serves all
 * callbacks, and runs only while there are any. A callback that fails does not prove that the answer was read
 * (invariant 6): the answer stays uncollected, and the next process that asks for it gets it again.
 */
import { HiveError } from '../domain/errors.ts';
import type { HiveEvent } from '../domain/events.ts';
import type { Prompt } from '../domain/prompts.ts';
import { beside } from './background.ts';
import type { DeliveryService } from './delivery.ts';
import type { Following } from './feed.ts';
import type { Parts } from './parts.ts';
import type { PromptService } from './prompts.ts';

/** Receives the settled prompt: its `status` says whether there is a decision. */
export type ResponseCallback = (prompt: Prompt) => void | Promise<void>;

interface CallbackParts extends Pick<Parts, 'feed' | 'ids' | 'log'> {
  prompts: PromptService;
  delivery: DeliveryService;
}

const GONE: ReadonlySet<string> = new Set(['prompt_not_found', 'store_foreign']);
const SETTLING: ReadonlySet<string> = new Set([
  'prompt/responded',
  'prompt/expired',
  'prompt/cancelled',
  'prompt/late_response',
] satisfies HiveEvent['type'][]);

export function createCallbacks({ feed, prompts, delivery, ids, log }: CallbackParts) {
  const waiting = new Map<string, Set<ResponseCallback>>();
  /** The session of the program, by question. */
  const readers = new Map<string, string>();
  let watcher: Following | null = null;

  function watch(): Following {
    return feed.follow({
      onEvents: async (events) => {
        const settled = events.filter(({ type }) => SETTLING.has(type)).map(({ subject }) => subject);
        for (const ask_id of new Set(settled)) if (ask_id !== null) await settle(ask_id);
      },
      onResync: async () => {
        for (const ask_id of [...waiting.keys()]) await settle(ask_id);
      },
    });
  }

  async function unwatch(): Promise<void> {
    const stop = watcher;
    watcher = null;
    await stop?.();
  }

  function drop(ask_id: string, callback: ResponseCallback): void {
    const registered = waiting.get(ask_id);
    registered?.delete(callback);
    if (registered?.size === 0) {
      waiting.delete(ask_id);
      readers.delete(ask_id);
    }
    if (waiting.size === 0) void unwatch();
  }

  /** Passes a settled prompt to its callbacks. If the store fails, they stay registered for the next try. */
  async function settle(ask_id: string): Promise<void> {
    if (!waiting.has(ask_id)) return;
    const prompt = await find(ask_id);
    if (prompt === undefined || prompt.status === 'pending') return;
    const carrier = `callback:${ids.make('call')}`;
    const [delivered] = await delivery.hand([ask_id], carrier, readers.get(ask_id));
    for (const callback of [...(waiting.get(ask_id) ?? [])]) {
      drop(ask_id, callback);
      void call(callback, delivered?.prompt ?? prompt, carrier);
    }
  }

  /** Reads the prompt; drops the callbacks of one that retention has removed, or that is damaged. */
  async function find(ask_id: string): Promise<Prompt | undefined> {
    try {
      return await prompts.get(ask_id);
    } catch (error) {
      if (!(error instanceof HiveError) || !GONE.has(error.code)) throw error;
      for (const callback of waiting.get(ask_id) ?? []) drop(ask_id, callback);
      return undefined;
    }
  }

  function call(callback: ResponseCallback, prompt: Prompt, carrier: string): Promise<void> {
    const work = async (): Promise<void> => {
      await callback(prompt);
      await delivery.collect(carrier);
    };
    const { ask_id } = prompt;
    return beside(log, 'A callback failed; its answer counts as not read.', work, { ask_id }, 'error');
  }

  return {
    /**
     * Calls `callback` once when the prompt is settled, or at once if it already is. Calling the returned function
     * cancels the registration. `reader`: the session of the program; a question of another session is not handed over by this.
     * @throws HiveError `prompt_not_found`.
     */
    async onResponse(ask_id: string, callback: ResponseCallback, reader: string): Promise<() => void> {
      // Each registration counts separately, even of the same function.
      const once: ResponseCallback = (prompt) => callback(prompt);
      await prompts.get(ask_id);
      waiting.set(ask_id, (waiting.get(ask_id) ?? new Set()).add(once));
      readers.set(ask_id, reader);
      watcher ??= watch();
      try {
        // The prompt is read after the feed has begun, so that no event is missed.
        await watcher.caughtUp();
        await settle(ask_id);
      } catch (error) {
        drop(ask_id, once);
        throw error;
      }
      return () => drop(ask_id, once);
    },

    /** No callback is called after this. */
    async close(): Promise<void> {
      waiting.clear();
      readers.clear();
      await unwatch();
    },
  };
}
