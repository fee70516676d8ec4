/**
 * An answer that was clicked on a popup goes to the service that every answer goes through; a click that did
 * not become the answer is told to the person.
 */
import { isTransient } from '../domain/errors.ts';
import { noticePopup } from '../domain/popups.ts';
import { type Preferences, preferencesFrom } from '../domain/preferences.ts';
import type { Prompt } from '../domain/prompts.ts';
import { excerpt } from '../domain/text.ts';
import { humanOf, type PopupParts, type PopupParty } from './popups.ts';

const ANSWER_TRIES = 10;
const ANSWER_RETRY_MS = 1_000;

/** Gives what answers with the label of a button; it resolves when everything about that is said. */
export function answerFromPopups(
  { store, prompts: service, notifier, log }: PopupParts,
  { seat, human }: PopupParty,
  stopping: AbortSignal,
): (prompt: Prompt, label: string) => Promise<void> {
  const readPreferences = async (): Promise<Preferences> =>
    preferencesFrom(await store.read((tx) => tx.desks.preferences(seat)));

  async function answer(prompt: Prompt, label: string): Promise<void> {
    const response_id = `popup-${crypto.randomUUID()}`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { popup_permissions } = await readPreferences();
        const { outcome, prompt: standing } = await service.respond({
          ask_id: prompt.ask_id,
          selected: [label],
          response_id,
          actor: {
            kind: 'human',
            by: humanOf({ human, seat }),
            via: 'notification',
            confirmed: popup_permissions,
          },
        });
        if (outcome === 'lost')
          await tell(prompt, `${standing.by ?? 'Somebody'} answered "${standing.decision ?? ''}" before.`);
        if (outcome === 'late')
          await tell(
            prompt,
            `It was ${standing.status} before; "${label}" is kept as a late answer for the agent.`,
          );
        return;
      } catch (error) {
        // The person has clicked and believes it done: a busy store is tried again, anything else is said.
        if (isTransient(error) && attempt < ANSWER_TRIES && !stopping.aborted) {
          await sleep(ANSWER_RETRY_MS, stopping);
          continue;
        }
        log.warn('An answer from a popup was not taken.', { ask_id: prompt.ask_id, error: String(error) });
        await tell(
          prompt,
          `"${label}" was not taken: ${error instanceof Error ? error.message : String(error)}`,
        );
        return;
      }
    }
  }

  async function tell(prompt: Prompt, sentence: string): Promise<void> {
    if (stopping.aborted) return;
    const { outcome } = await notifier.show(
      noticePopup(prompt, excerpt(sentence, 400), await readPreferences()),
    );
    await outcome;
  }

  return answer;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
