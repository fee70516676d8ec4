/** Looking at prompts, and waiting until there is something to see; what is due is settled before anybody reads it. */
import { isEscalationDue } from '../domain/humans.ts';
import { OPEN_LIMIT } from '../domain/prompt-limits.ts';
import { isExpired, isUncollected, type Prompt } from '../domain/prompts.ts';
import type { Feed } from './feed.ts';
import type { Store } from './ports.ts';
import { findPrompt } from './prompt-records.ts';
import { notFound } from './prompt-refusals.ts';
import type { Open, PromptService } from './prompts.ts';

/** `settleDue` writes down what has expired, and of what everybody is to be asked now. */
export function createLooking(
  store: Store,
  feed: Feed,
  settleDue: () => Promise<void>,
): Pick<PromptService, 'get' | 'wait' | 'waitForOpen'> {
  async function read(ask_ids: readonly string[]): Promise<Prompt[]> {
    const { prompts, now } = await store.read(async (tx) => ({
      now: tx.now,
      prompts: await Promise.all(ask_ids.map((ask_id) => findPrompt(tx, ask_id))),
    }));
    const due = (prompt: Prompt): boolean => isExpired(prompt, now) || isEscalationDue(prompt, now);
    if (!prompts.some(due)) return prompts;
    await settleDue();
    return store.read((tx) => Promise.all(ask_ids.map((ask_id) => findPrompt(tx, ask_id))));
  }

  async function readOpen(session_id: string): Promise<Open> {
    await settleDue();
    return store.read(async (tx) => {
      const prompts = await tx.prompts.openOf(session_id, OPEN_LIMIT);
      if (prompts.length === OPEN_LIMIT) return { prompts, ...(await tx.prompts.countOpenOf(session_id)) };
      const pending = prompts.filter(({ status }) => status === 'pending').length;
      return { prompts, settled: prompts.length - pending, pending };
    });
  }

  return {
    async get(ask_id) {
      const [prompt] = await read([ask_id]);
      return prompt ?? Promise.reject(notFound(ask_id));
    },

    async wait(ask_ids, options) {
      const settled = await feed.until(
        async () => {
          const prompts = await read(ask_ids);
          const done = prompts.some(isUncollected) || prompts.every((prompt) => prompt.status !== 'pending');
          return done ? prompts : undefined;
        },
        { ...options, subjects: ask_ids },
      );
      return settled ?? read(ask_ids);
    },

    async waitForOpen(session_id, options) {
      const first = await readOpen(session_id);
      const isDone = ({ settled, pending }: Open): boolean => settled > 0 || pending === 0;
      if (isDone(first) || options.wait_ms <= 0) return first;
      // What is not listed may be answered just as well: then any event is a reason to look.
      const listed = first.prompts.length === first.pending;
      const subjects = listed ? first.prompts.map(({ ask_id }) => ask_id) : undefined;
      const done = await feed.until(
        async () => {
          const open = await readOpen(session_id);
          return isDone(open) ? open : undefined;
        },
        { ...options, subjects },
      );
      return done ?? readOpen(session_id);
    },
  };
}
