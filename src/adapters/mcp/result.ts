/** What results have in common. */
import { UNVERIFIED_NOTE } from '../../domain/authors.ts';
import type { Message } from '../../domain/messages.ts';

/** What a client passes on to its model whole: Claude Code cuts results at 25,000 tokens. */
export const RESULT_BYTES: number = 48 * 1024;

/** Sentences as one text; what is null is left out. */
export function sentences(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(' ');
}

/** What a model has to know of unverified messages, where there is one among these. */
export function unverifiedNote(items: readonly Pick<Message, 'author'>[]): string | null {
  return items.some(({ author }) => author === 'unverified') ? UNVERIFIED_NOTE : null;
}
