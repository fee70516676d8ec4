/** Answering a prompt, and correcting an answer: one transaction each, which also remembers the answer by its id. */
import { refusalToAnswer, refuse } from '../domain/actors.ts';
import { resolveAnswer } from '../domain/prompt-answers.ts';
import { amendPrompt } from '../domain/prompts.ts';
import type { Ids, Store } from './ports.ts';
import { appendPrompt, findCurrent, findPrompt, recordAnswer } from './prompt-records.ts';
import { usedBefore, wrongStore } from './prompt-refusals.ts';
import type { AnswerCommand, PromptService } from './prompts.ts';

export function createAnswering(store: Store, ids: Ids): Pick<PromptService, 'respond' | 'amend'> {
  /** What was written for another store would meet another prompt here, or none. */
  function refuseForeign({ store_id }: AnswerCommand): void {
    if (store_id === undefined || store_id === null || store_id === store.store_id) return;
    throw wrongStore(store_id, store.store_id);
  }

  return {
    respond: (command) =>
      store.write(async (tx) => {
        const { ask_id, actor } = command;
        refuseForeign(command);
        const response_id = command.response_id ?? ids.make('response');
        const known = await tx.prompts.response(response_id);
        if (known !== undefined) {
          if (known.ask_id !== ask_id) throw usedBefore(known);
          const prompt = await findPrompt(tx, ask_id);
          return { outcome: known.outcome === 'amendment' ? 'accepted' : known.outcome, prompt };
        }
        const prompt = await findCurrent(tx, ask_id);
        refuse(refusalToAnswer(actor, prompt));
        const answer = resolveAnswer(prompt, command, {
          by: actor.by,
          via: actor.via,
          response_id,
          responded_at: tx.now,
        });
        return recordAnswer(tx, prompt, answer);
      }),

    amend: (command) =>
      store.write(async (tx) => {
        const { ask_id, actor } = command;
        refuseForeign(command);
        const response_id = command.response_id ?? ids.make('response');
        const prompt = await findCurrent(tx, ask_id);
        const known = await tx.prompts.response(response_id);
        if (known !== undefined) {
          if (known.ask_id !== ask_id || known.outcome !== 'amendment') throw usedBefore(known);
          return prompt;
        }
        refuse(refusalToAnswer(actor, prompt));
        const answer = resolveAnswer(prompt, command, {
          by: actor.by,
          via: actor.via,
          response_id,
          responded_at: tx.now,
        });
        const amended = amendPrompt(prompt, answer);
        await tx.prompts.update(amended);
        await tx.prompts.addResponse({ ...answer, ask_id, outcome: 'amendment' });
        const before = prompt.decision ?? prompt.late_response?.decision ?? null;
        await appendPrompt(tx, 'prompt/amended', amended, {
          decision: answer.decision,
          before,
          by: answer.by,
          via: answer.via,
          response_id,
        });
        return amended;
      }),
  };
}
