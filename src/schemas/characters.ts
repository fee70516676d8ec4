/** Texts bounded as the domain bounds them: in characters, of which an emoji is one. */
import { z } from 'zod';
import { characterCount } from '../domain/text.ts';

/**
 * A string of at most `limit` characters. zod's own `max` counts UTF-16 units and would refuse what the domain takes;
 * a JSON schema's `maxLength` counts characters, so that is what a client is told.
 */
export function characters(limit: number): z.ZodString {
  const fits = (text: string): boolean =>
    text.length <= limit || (text.length <= 2 * limit && characterCount(text) <= limit);
  return z
    .string()
    .refine(fits, `Too long: at most ${limit.toLocaleString('en')} characters`)
    .meta({ maxLength: limit });
}
