/** Chance that can be had again: the same seed and name give the same numbers (mulberry32 over an FNV-1a hash). */

export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** A whole number, at least `from`, less than `to`. */
  between(from: number, to: number): number;
  /** @throws Error when there is nothing to pick from. */
  pick<T>(from: readonly T[]): T;
  /** True `part` of the time, 0 to 1. */
  chance(part: number): boolean;
}

/** `name` separates the users of one seed: what one of them draws changes nothing for the others. */
export function randomOf(seed: number, name: string): Random {
  let state = hash(`${seed} ${name}`);
  const random: Random = {
    next() {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
    between: (from, to) => from + Math.floor(random.next() * (to - from)),
    pick(from) {
      const picked = from[random.between(0, from.length)];
      if (picked === undefined) throw new Error('There is nothing to pick from.');
      return picked;
    },
    chance: (part) => random.next() < part,
  };
  return random;
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of Buffer.from(text)) value = Math.imul(value ^ character, 0x01000193);
  return value;
}
