/** The texts that a denying permission rule is compared with: everything in the agent's input that the rule could mean. */
import { commandStarts } from './allowed-commands.ts';
import type { HookTool } from './hooks.ts';
import { STAR } from './patterns.ts';
import { asWritten, atHome, type Place } from './places.ts';

/** The texts of an input that a denying rule is compared with. */
export function deniableTexts({ input }: HookTool, place: Place): string[] {
  const whole = JSON.stringify(input) ?? '';
  const texts = new Set([whole]);
  const most = Math.max(FEWEST_READINGS, Math.floor(MOST_CHARACTERS / (whole.length + 1)));
  for (const { text } of textsIn(input)) {
    // A shell joins a line that ends with a backslash and the next one.
    const line = text.replace(/\\\n/g, '');
    const plain = withoutQuotes(line);
    for (const one of [text, plain, ...plain.split(/[;&|\n(){}`]/)])
      texts
        .add(one)
        .add(inOneLine(one))
        .add(inOneLine(withoutBeginning(one)));
    // Of a command with a substitution, first as a whole and then what is in it.
    const commands = new Set([line, ...line.split(/[()`]/)].flatMap((one) => [...wholeCommands(one)]));
    const isRead = [...commands].some((one) => READS_COMMANDS.test(withoutBeginning(withoutQuotes(one))));
    for (const one of commands) {
      texts.add(inOneLine(withoutQuotes(one)));
      let count = 0;
      for (const reading of readingsOf(withoutBeginning(one), isRead)) {
        const plain = inOneLine(withoutQuotes(reading));
        texts.add(plain).add(plain.replace(/^\S*\//, ''));
        count += 1;
        if (count >= most) break;
      }
    }
  }
  for (const path of new Set(pathsIn(input))) for (const file of filesMeant(path, place)) texts.add(file);
  return [...texts];
}

/**
 * In characters: each reading of a command has almost its length, so a command has fewer readings in a long input, and the work
 * is bounded.
 */
const MOST_CHARACTERS = 1_000_000;
const FEWEST_READINGS = 4;

/** A shell without a file or a command: it takes its commands from a pipe, or from what is behind `<<`. */
const READS_COMMANDS = /^(?:\S*\/)?(?:ba|da|a|z|k)?sh(?:\s+-\S*)*\s*(?:$|<\s*[<(])/;

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
  return text.replace(/\$(?=\\?["'])|["'\\]/g, '');
}

function withoutBeginning(command: string): string {
  return command.trimStart().replace(BEFORE_PROGRAM, '');
}

/** The command, and the commands that its program may run, each with fewer and fewer of its options. */
function* readingsOf(command: string, isRead: boolean): Generator<string> {
  yield* withoutFirstOptions(command);
  for (const inner of commandsIn(command, isRead)) yield* withoutFirstOptions(withoutBeginning(inner));
}

/**
 * A command without the options after its program, so that a rule about `git push` covers `git -C . push`. Whether an option takes
 * the word after it as its value is not known, so there is one text for each reading.
 */
function* withoutFirstOptions(command: string): Generator<string> {
  yield command;
  const [program = '', ...words] = command.match(WORD) ?? [];
  for (const [at, word] of program.startsWith('-') ? [] : words.entries()) {
    if (!word.startsWith('-') && words[at - 1]?.startsWith('-') !== true) return;
    yield [program, ...words.slice(at + 1)].join(' ');
  }
}

/**
 * The command without its redirections, and the commands that its program may run: `timeout 60 git push` runs `git push`. Which of
 * the next words begins that command is not known, so there is one text for each. `isRead`: a shell may read any of its words.
 */
function* commandsIn(command: string, isRead = false): Generator<string> {
  const all = command.match(WORD) ?? [];
  const words = all.filter((word, at) => !REDIRECTION.test(word) && !IS_REDIRECTION.test(all[at - 1] ?? ''));
  if (words.length < all.length) yield words.join(' ');
  yield* commandsFrom(words, commandStarts(words.map(withoutQuotes)));
  if (isRead)
    yield* commandsFrom(
      all.map((word) => word.replace(REDIRECTION, '')),
      all.keys(),
    );
}

function* commandsFrom(words: readonly string[], starts: Iterable<number>): Generator<string> {
  for (const start of starts) {
    const [program = '', ...more] = words.slice(start);
    // `bash -c "cd x && git push"`, `alias x="git push"`, `env -S"git push"`: what is in quotes are commands.
    const quoted = /\s/.test(program) ? withoutQuotes(program) : null;
    for (const text of quoted === null ? [] : new Set([quoted, quoted.replace(/^(?:-\w|[\w-]+=)/, '')]))
      for (const inner of [...wholeCommands(text)].map(withoutBeginning)) {
        yield inner;
        // Its quotes are gone, so this goes no deeper.
        yield* commandsIn(inner);
      }
    if (quoted === null) yield [program, ...more].join(' ');
  }
}

const REDIRECTION = /^(?:\d+|\{\w+\}|&)?[<>][<>&|]*/;
const IS_REDIRECTION = new RegExp(`${REDIRECTION.source}$`);
/** A word, or a redirection with its file if there is no blank between them. */
const WORD =
  /(?:(?:\d+|\{\w+\}|&)?[<>][<>&|]*)?(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\<>&])+|(?:\d+|\{\w+\}|&)?[<>][<>&|]*/gs;

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
  /^(?:(?:[!{-]|noglob|nocorrect|if|then|elif|else|while|until|do|time(?:\s+-p)?|coproc|command|builtin|exec|env|nohup|sudo)\s+(?![-\s])|[A-Za-z_]\w*(?:\[[^\]\s]*\])?\+?=(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])*\s+|\d*(?:&?>>?|>\||[<>]&|<)\s*\S+\s+)+/s;

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
