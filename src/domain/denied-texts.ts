/** The texts that a denying permission rule is compared with: everything in the agent's input that the rule could mean. */
import { commandStarts } from './allowed-commands.ts';
import type { HookTool } from './hooks.ts';
import { STAR } from './patterns.ts';
import { asWritten, atHome, type Place } from './places.ts';

/** The texts of an input that a denying rule is compared with. */
export function deniableTexts({ input }: HookTool, place: Place): string[] {
  const texts = new Set([JSON.stringify(input) ?? '']);
  for (const { text } of textsIn(input)) {
    // A shell joins a line that ends with a backslash and the next one.
    const line = text.replace(/\\\n/g, '');
    const plain = withoutQuotes(line);
    for (const one of [text, plain, ...plain.split(/[;&|\n(){}`]/)])
      texts
        .add(one)
        .add(inOneLine(one))
        .add(inOneLine(one.trimStart().replace(BEFORE_PROGRAM, '')));
    for (const one of wholeCommands(line)) {
      const command = one.trimStart().replace(BEFORE_PROGRAM, '');
      texts.add(inOneLine(withoutQuotes(one)));
      for (const inner of [command, ...commandsIn(command)])
        for (const reading of [inner, ...withoutFirstOptions(inner)]) {
          const plain = inOneLine(withoutQuotes(reading));
          texts.add(plain).add(plain.replace(/^\S*\//, ''));
        }
    }
  }
  for (const path of new Set(pathsIn(input))) for (const file of filesMeant(path, place)) texts.add(file);
  return [...texts];
}

/**
 * The patterns that a denying rule's `input` stands for. A relative path is tried from the agent's directory, as in an allowing
 * rule, and from the project's. If the path contains a link, the link's target is tried as well.
 */
export function deniedPatterns(input: string, place: Place): string[] {
  const { cwd, project_dir = null } = place;
  const around = input.startsWith('*') ? [] : [cwd, project_dir?.replace(/\/\.git$/, '') ?? null];
  const folders = input.startsWith('/') ? [''] : around;
  // Claude Code writes a prefix as `git push:*`, so a person may have meant a prefix.
  const prefix = input.endsWith(':*') ? [input.slice(0, -2), `${input.slice(0, -2)} *`] : [];
  const whole = folders.flatMap((folder) => {
    const written = folder === null ? null : asWritten(atHome(input, place).replaceAll('*', STAR), folder);
    return written === null ? [] : written.replaceAll(STAR, '*');
  });
  const all = new Set([input, ...prefix, ...whole]);
  for (const pattern of whole) {
    const star = pattern.indexOf('*');
    const path = star === -1 ? pattern : pattern.slice(0, Math.max(0, pattern.lastIndexOf('/', star)));
    const real = path !== '' && path.length <= LONGEST_PATH ? place.resolve(path) : null;
    if (real !== null) all.add(`${real}${pattern.slice(path.length)}`);
  }
  return [...all];
}

/** The files that the words of a command may name. Most words without a dot or a folder name none. */
export function filesInCommand({ input }: HookTool, place: Place): string[] {
  const words = [...textsIn(input)].flatMap(({ name, text }) =>
    /command|cmd/i.test(name) ? withoutQuotes(text).split(/[\s;&|(){}`<>=]+/) : [],
  );
  const names = [...new Set(words)].filter((word) => /[./~]/.test(word)).slice(0, MOST_NAMES);
  return names.flatMap((name) => [...filesMeant(name, place)]);
}

const MOST_NAMES = 1_000;

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function withoutQuotes(text: string): string {
  return text.replace(/["'\\]/g, '');
}

/**
 * A command without the options after its program, so that a rule about `git push` covers `git -C . push`. Whether an option takes
 * the word after it as its value is not known, so there is one text for each reading.
 */
function* withoutFirstOptions(command: string): Generator<string> {
  if (command.length > LONGEST_COMMAND) return;
  const [program = '', ...words] = command.match(WORD) ?? [];
  for (let at = 0; at < MOST_OPTIONS && at < words.length; at += 1) {
    const isOption = words[at]?.startsWith('-') === true;
    if (!isOption && words[at - 1]?.startsWith('-') !== true) return;
    yield [program, ...words.slice(at + 1)].join(' ');
  }
}

/**
 * The command without its redirections, and the commands that its program may run: `timeout 60 git push` runs `git push`. Which of
 * the next words begins that command is not known, so there is one text for each.
 */
function* commandsIn(command: string): Generator<string> {
  if (command.length > LONGEST_COMMAND) return;
  const all = command.match(WORD) ?? [];
  const words = all.filter((word, at) => !REDIRECTION.test(word) && !/^\d*[<>&|]+$/.test(all[at - 1] ?? ''));
  if (words.length < all.length) yield words.join(' ');
  const most = Math.floor(MOST_CHARACTERS / command.length);
  for (const start of commandStarts(words.map(withoutQuotes)).slice(0, most)) {
    const [program = '', ...more] = words.slice(start);
    // `bash -c "cd x && git push"`: what is in quotes are commands.
    if (/\s/.test(program))
      for (const one of wholeCommands(withoutQuotes(program))) {
        const inner = one.trimStart();
        yield inner;
        // Its quotes are gone, so this goes no deeper.
        yield* commandsIn(inner);
      }
    else yield [program, ...more].join(' ');
  }
}

const REDIRECTION = /^\d*(?:&>|[<>])/;
/** Each start makes a text of almost the length of the command, so a short command has as many as it has words. */
const MOST_CHARACTERS = 160_000;

const WORD = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/gs;
const MOST_OPTIONS = 16;
/** Each reading has almost the length of the command. */
const LONGEST_COMMAND = 20_000;

/** The commands of a line, each with all of its words: nothing in quotes or in a substitution ends a command. */
function* wholeCommands(line: string): Generator<string> {
  let start = 0;
  let quote = '';
  let depth = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    const before = line[at - 1] ?? '';
    if (character === '\\' && quote !== "'") at += 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (/["'`]/.test(character)) quote = character;
    else if (character === '(' && (depth > 0 || /[$<>]/.test(before))) depth += 1;
    else if (character === ')' && depth > 0) depth -= 1;
    else if (depth === 0 && ENDS_COMMAND.includes(character) && !isOfRedirection(line, at)) {
      yield line.slice(start, at);
      start = at + 1;
    }
  }
  yield line.slice(start);
}

const ENDS_COMMAND = ';&|\n()';

/** Whether a `&` or `|` belongs to a redirection: `2>&1`, `&> log`, `>| log`. */
function isOfRedirection(line: string, at: number): boolean {
  return line[at] === '&'
    ? /[<>]/.test(line[at - 1] ?? '') || line[at + 1] === '>'
    : line[at] === '|' && line[at - 1] === '>';
}

/** Words that may stand before the program of a command: keywords and commands of a shell, variables, redirections. */
const BEFORE_PROGRAM =
  /^(?:(?:[!{]|if|then|elif|else|while|until|do|time(?:\s+-p)?|coproc|command|builtin|exec|env|nohup|sudo)\s+(?![-\s])|[A-Za-z_]\w*\+?=(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])*\s+|\d*(?:&?>>?|>\||[<>]&|<)\s*\S+\s+)+/s;

/**
 * The files that an input names: text that begins like a path with a folder, arguments named like a path, and files of a patch.
 */
function* pathsIn(input: unknown): Generator<string> {
  for (const { name, text } of textsIn(input)) {
    if (/path|file|dir|folder/i.test(name) || /^[^\s]*\//.test(text)) yield text;
    for (const [, path = ''] of text.matchAll(PATCHED_FILE)) yield path;
  }
}

/**
 * The files that a path may mean to a client. Clients trim white space, compose letters and expand `~`; some remove `..` from the
 * text without resolving links.
 */
function* filesMeant(path: string, place: Place): Generator<string> {
  const bare = withoutOuterBlanks(path);
  for (const one of new Set([bare, bare.normalize('NFC')].map((text) => atHome(text, place)))) {
    const written = asWritten(one, place.cwd);
    // Both lead to the same file unless one of them goes up from a link.
    const names = written !== null && !one.split('/').includes('..') ? [written] : [one, written];
    for (const name of names) {
      if (name === null || name.length > LONGEST_PATH) continue;
      if (name.startsWith('/')) yield name;
      const real = place.resolve(name);
      if (real !== null) yield real;
    }
  }
}

/** Codex trims Unicode white space, which differs slightly from what JavaScript trims. */
function withoutOuterBlanks(text: string): string {
  const isBlank = (at: number): boolean => /[\s\u0085]/.test(text[at] ?? '');
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start += 1;
  while (start < end && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}

const PATCHED_FILE =
  /^(?:[^\S\n\r\u2028\u2029]|\u0085)*\*\*\* (?:(?:Add|Delete|Update) File|Move to): (.+)$/gm;
const LONGEST_PATH = 4_096;

/** Every text in an input, with the name of the argument that holds it, directly or in a list. */
function* textsIn(input: unknown): Generator<{ name: string; text: string }> {
  const open = [{ name: '', value: input }];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { name, value } = one;
    if (typeof value === 'string') yield { name, text: value };
    else if (value !== null && typeof value === 'object')
      for (const [key, inner] of Object.entries(value))
        open.push({ name: Array.isArray(value) ? name : key, value: inner });
  }
}
