/** Looking into JSON that a client or a file gave, of which nothing is known. Pure. */
import type { Raw } from './hooks.ts';
import { isSource } from './json-numbers.ts';

/** The value as an object; null for anything else. */
export function objectIn(value: unknown): Raw | null {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
  return isObject && !isSource(value) ? (value as Raw) : null;
}

/** The objects in a list; empty for anything that is not a list. */
export function objectsIn(value: unknown): Raw[] {
  if (!Array.isArray(value)) return [];
  return value.map(objectIn).filter((item) => item !== null);
}

/** The first of these fields that holds text that is not blank; null when none does. */
export function textIn(raw: Raw, ...fields: readonly string[]): string | null {
  for (const field of fields) {
    const value = raw[field];
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return null;
}
