/** All characters of Unicode, for what must hold for each. */

/** Nine tenths of all code points are these, in long runs. */
const ALIKE = [/\p{Cn}/u, /\p{Co}/u, /\p{Cs}/u];
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * Every character that Unicode has assigned. Of each run of unassigned, private or surrogate code points, which are all
 * alike, the first and the last.
 */
export function everyCharacter(): readonly string[] {
  characters ??= findCharacters();
  return characters;
}

let characters: readonly string[] | undefined;

function findCharacters(): string[] {
  const found: string[] = [];
  let run = -1;
  let last = '';
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const kind = ALIKE.findIndex((one) => one.test(character));
    const now = kind === -1 ? -1 : kind * 2 + (IGNORABLE.test(character) ? 1 : 0);
    if (now !== run && last !== '') found.push(last);
    if (now === -1 || now !== run) found.push(character);
    last = now === -1 || now !== run ? '' : character;
    run = now;
  }
  if (last !== '') found.push(last);
  return found;
}
