/**
 * Codex asks its person by itself (request_user_input), and no hook could answer: while one waits its terminal
 * shows no question. So its hook only stores the questions; once all are answered at the desk, the desk's process
 * answers in their place through the control socket, where the dialog still stands. The first answer wins.
 */
import type { HiveEvent } from '../domain/events.ts';
import { OPEN_LIMIT } from '../domain/prompt-limits.ts';
import type { Prompt } from '../domain/prompts.ts';
import { type Session, threadOf } from '../domain/sessions.ts';
import { type Delivered, type DeliveryService, handOne, hookCarrier } from './delivery.ts';
import type { Feed } from './feed.ts';
import type { CodexControl, Logger, Store, WriteTx } from './ports.ts';

export interface CodexAnswerParts {
  store: Store;
  feed: Feed;
  delivery: DeliveryService;
  codex: CodexControl;
  /** This machine: the socket of another is out of reach. */
  machine: string;
  log: Logger;
}

/** Answers until the returned function is called. */
export function startCodexAnswers(parts: CodexAnswerParts): () => Promise<void> {
  const { store, feed, delivery, codex, machine, log } = parts;

  async function answer(ask_id: string): Promise<void> {
    const answered = await store.write((tx) => takeAnswered(tx, ask_id, machine));
    if (answered === null) return;
    const { session, delivered } = answered;
    const answers = new Map(delivered.map(({ prompt }) => [prompt.question, wordsOf(prompt)]));
    if (await codex.answer({ thread_id: threadOf(session), answers })) return;
    // Its terminal was first, or it is gone: the next hook of the session carries the answer in.
    log.info('A dialog of Codex could not be answered any more.', { ask_id });
    const handed = delivered.map(({ prompt }) => ({
      ask_id: prompt.ask_id,
      handed_at: prompt.handed_at ?? '',
    }));
    await delivery.release(hookCarrier(session.session_id), handed);
  }

  const following = (async () => {
    const cursor = await store.read((tx) => tx.events.head());
    return feed.follow({
      cursor,
      async onEvents(events: HiveEvent[]) {
        for (const { type, subject } of events)
          if (type === 'prompt/responded' && subject !== null) await answer(subject);
      },
      // What was missed is carried in by hooks, like any answer.
      onResync: async () => undefined,
    });
  })();
  following.catch((error: unknown) =>
    log.warn('Answers to the dialogs of Codex could not be followed.', { error: String(error) }),
  );
  return async () => {
    const unfollow = await following.catch(() => null);
    await unfollow?.();
  };
}

/** Hands the answers of a dialog that is answered whole, to one process only; null while it is not ours to answer. */
async function takeAnswered(
  tx: WriteTx,
  ask_id: string,
  machine: string,
): Promise<{ session: Session; delivered: Delivered[] } | null> {
  const prompt = await tx.prompts.get(ask_id);
  if (prompt?.dialog !== true || prompt.kind !== 'question') return null;
  const session = await tx.sessions.get(prompt.session_id);
  if (session?.client !== 'codex' || session.machine !== machine) return null;
  const open = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const group = open.filter((one) =>
    prompt.group_id === null ? one.ask_id === ask_id : one.group_id === prompt.group_id,
  );
  if (!group.every(({ status, handed_at }) => status === 'responded' && handed_at === null)) return null;
  const delivered: Delivered[] = [];
  for (const one of group) delivered.push(await handOne(tx, one, hookCarrier(session.session_id)));
  return delivered.length === 0 ? null : { session, delivered };
}

/** The model reads them as they stand: the chosen labels or the free text, then the comment. */
function wordsOf({ selected, decision, comment }: Prompt): string[] {
  const chosen = selected.length > 0 ? selected : [decision ?? ''];
  return comment === null ? chosen : [...chosen, comment];
}
