/** What is refused about prompts, as sentences that say what to do. */
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { Prompt } from '../domain/prompts.ts';
import type { Turn } from '../domain/turns.ts';
import type { StoredResponse } from './ports.ts';

export function tooLate({ turn_id, abort_reason }: Turn): HiveError {
  return new HiveError(
    'turn_not_current',
    `The turn ${turn_id} is over (${abort_reason}): what belongs to it is asked no more. Nothing was asked.`,
    { turn_id },
  );
}

export function notFound(ask_id: string): HiveError {
  return new HiveError(
    'prompt_not_found',
    `There is no prompt ${ask_id}: check the id; settled prompts are kept until retention removes them.`,
    { ask_id },
  );
}

export function conflict(before: Prompt): HiveError {
  return new HiveError(
    'idempotency_conflict',
    `The idempotency_key "${before.idempotency_key}" was used for another question (${before.ask_id}). Use a new key for a new question.`,
    { ask_id: before.ask_id },
  );
}

export function usedBefore({ response_id, ask_id }: StoredResponse): HiveError {
  return invalidInput(
    `The response_id ${response_id} was used for another answer, to ${ask_id}. Give each answer an id of its own.`,
    { response_id, ask_id },
  );
}

export function wrongStore(given: string, own: string, what: 'answer' | 'message' = 'answer'): HiveError {
  return new HiveError(
    'wrong_store',
    `The ${what} was written for the store ${given}; this is ${own}. It was not taken here.`,
    { given, own },
  );
}
