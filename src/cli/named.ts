/** Finds the question that a person names at a shell: by its ask_id, or by the beginning of it. */
import type { Hive } from '../application/hive.ts';
import type { PromptFilter } from '../application/ports.ts';
import { invalidInput } from '../domain/errors.ts';
import type { Prompt } from '../domain/prompts.ts';

/** An argument that matches is never an answer. */
export const ID = /^ask-/;
/** How many questions are searched for a beginning. */
const MOST = 1_000;
/** How many of those that a short beginning may mean are listed. */
const MOST_NAMED = 10;

/** The question with this ask_id, or the only one within the filter whose ask_id begins like this, with or without `ask-`. */
export async function promptNamed(
  hive: Hive,
  id: string,
  filter: Pick<PromptFilter, 'status'> = {},
): Promise<Prompt> {
  if ((await hive.prompts.find(id)) !== undefined) return hive.prompts.get(id);
  const { items } = await hive.prompts.list({ ...filter, limit: MOST });
  const prefix = ID.test(id) ? id : `ask-${id}`;
  const found = items.filter(({ ask_id }) => ask_id.startsWith(prefix));
  // An empty variable in a script names no question, even if there is only one.
  const isNamed = found.length === 1 && prefix !== 'ask-';
  if (found.length > 0 && !isNamed) {
    const ids = found.slice(0, MOST_NAMED).map(({ ask_id }) => ask_id);
    const more = found.length - ids.length;
    const list = `${ids.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
    throw invalidInput(
      prefix === 'ask-'
        ? `"${id}" names no question. Give an id, or its beginning: ${list}.`
        : `${found.length} questions have ids that begin with "${prefix}": ${list}. Give more of the id.`,
    );
  }
  return found[0] ?? hive.prompts.get(id);
}
