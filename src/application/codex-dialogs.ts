/**
 * The carrier of Codex's questions. When Codex asks its person (request_user_input), a hook cannot answer, because the terminal
 * shows no question while a hook waits. So the hook only stores the questions (hook-dialogs.ts). Once all of them are answered at
 * a desk, that desk's process answers the dialog through the control socket, if it is still open.
 */

import { OPEN_LIMIT, type Prompt } from '../domain/prompts.ts';
import { type Session, threadOf } from '../domain/sessions.ts';
import { type Delivered, type DeliveryService, handPrompt, hookCarrier } from './delivery.ts';
import type { Parts } from './parts.ts';
import type { WriteTx } from './ports.ts';

/** Answers until the returned function is called. */
export function startCodexAnswers(
  { store, feed, codex, machine, log }: Pick<Parts, 'store' | 'feed' | 'codex' | 'machine' | 'log'>,
  delivery: DeliveryService,
): () => Promise<void> {
  async function answer(ask_id: string): Promise<void> {
    const answered = await store.write((tx) => handAnswered(tx, ask_id, machine));
    if (answered === null) return;
    const { session, delivered } = answered;
    const answers = new Map(delivered.map(({ prompt }) => [prompt.question, wordsOf(prompt)]));
    if (await (await codex()).answer({ thread_id: threadOf(session), answers })) return;
    // The terminal was first, or the dialog is gone: the session's next hook delivers the answer.
    log.info('A dialog of Codex could not be answered any more.', { ask_id });
    const handed = delivered.map(({ prompt }) => ({
      ask_id: prompt.ask_id,
      handed_at: prompt.handed_at ?? '',
    }));
    await delivery.markLost(hookCarrier(session.session_id), handed);
  }

  return feed.follow({
    async onEvents(events) {
      for (const { type, subject } of events)
        if (type === 'prompt/responded' && subject !== null) await answer(subject);
    },
    // Hooks deliver missed answers, like any others.
    onResync: async () => undefined,
  });
}

/** Hands over the answers of a dialog, once it is complete, to one process only; null if it cannot be answered here now. */
async function handAnswered(
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
  for (const one of group) delivered.push(await handPrompt(tx, one, hookCarrier(session.session_id)));
  return delivered.length === 0 ? null : { session, delivered };
}

/** The answer as text for the model: the chosen labels or the free text, then the comment. */
function wordsOf({ selected, decision, comment }: Prompt): string[] {
  const chosen = selected.length > 0 ? selected : [decision ?? ''];
  return comment === null ? chosen : [...chosen, comment];
}
