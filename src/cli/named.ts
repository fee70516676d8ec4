/** A question that a person names at a shell: by its ask_id, or by the beginning of it. */
import type { Hive } from '../application/hive.ts';
import type { PromptFilter } from '../application/ports.ts';
import { invalidInput } from '../domain/errors.ts';
import type { Prompt } from '../domain/prompts.ts';

/** Such an argument is never an answer. */
export const ID = /^ask-/;
/** How many are searched for a beginning. */
const MOST = 1_000;

/** The question with this ask_id, or else the only one that the filter leaves and whose ask_id begins so, with or without `ask-`. */
export async function promptNamed(
  hive: Hive,
  id: string,
  filter: Pick<PromptFilter, 'status'> = {},
): Promise<Prompt> {
  if ((await hive.prompts.find(id)) !== undefined) return hive.prompts.get(id);
  const { items } = await hive.prompts.list({ ...filter, limit: MOST });
  const prefix = ID.test(id) ? id : `ask-${id}`;
  const found = items.filter(({ ask_id }) => ask_id.startsWith(prefix));
  // An empty variable of a script names no question, even if there is only one.
  const isNamed = found.length === 1 && prefix !== 'ask-';
  if (found.length > 0 && !isNamed) {
    const ids = found.map(({ ask_id }) => ask_id);
    throw invalidInput(`"${id}" does not name one of these: ${ids.join(', ')}. Give one more letter.`);
  }
  return found[0] ?? hive.prompts.get(id);
}
