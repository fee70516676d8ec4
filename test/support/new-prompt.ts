/** A pending prompt as its service makes it. */
import {
  type Address,
  type Asker,
  type AskRequest,
  checkRequest,
  createPrompt,
  type Prompt,
} from '../../src/domain/prompts.ts';

export function newPrompt(
  request: AskRequest,
  asker: Asker,
  ask_id: string,
  now: string,
  address?: Address,
): Prompt {
  return createPrompt(checkRequest(request), asker, ask_id, now, address);
}
