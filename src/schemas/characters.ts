/** Strings whose length is limited as in the domain: in characters, so that an emoji counts as one. */
import { z } from 'zod';
import { characterCount } from '../domain/text.ts';

/**
 * A string of at most `limit` characters. zod's own `max` counts UTF-16 units and would refuse what the domain accepts.
 * The `maxLength` of a JSON schema counts characters, so docs/internals/protocol.md shows that.
 */
export function characters(limit: number): z.ZodString {
  const fits = (text: string): boolean =>
    text.length <= limit || (text.length <= 2 * limit && characterCount(text) <= limit);
  // The sentence is made only when it is needed, because formatting a number loads the rules of its language for each limit.
  const error = (): string => `Too long: at most ${limit.toLocaleString('en')} characters`;
  return z.string().refine(fits, { error }).meta({ maxLength: limit });
}
