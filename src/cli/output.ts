/** Output of commands: results go to stdout, remarks to stderr; JSON on request. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { isHidden, revealed } from '../domain/display.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { parseDuration } from '../domain/limits.ts';
import { permissionLines } from '../domain/permissions.ts';
import { againstNotes, PROMPT_LIMITS, type Prompt, type PromptAnswer } from '../domain/prompts.ts';
import { calledBy, sourcePrefix } from '../domain/sources.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { fitted, inLines, SOMEBODY, UNATTESTED, width } from './sentences.ts';

/** Every command has it. */
export interface Format {
  json?: boolean | undefined;
}

/** The maximum width of a row; output into a pipe is not cut. */
function columns(): number {
  // Some terminals report a size of 0.
  return process.stdout.isTTY ? Math.max(20, process.stdout.columns || 80) : Number.POSITIVE_INFINITY;
}

/** Prints text to stdout; it may come from an agent. */
export function print(text: string): void {
  process.stdout.write(`${revealed(text)}\n`);
}

/** Prints prose for the person at the terminal; it may come from an agent. */
export function say(text: string): void {
  process.stdout.write(`${fitted(revealed(text), process.stdout)}\n`);
}

/** Prints rows; with `wraps`, a long last column continues on the next line instead of being cut. */
export function printRows(rows: readonly (readonly string[])[], indent = '', wraps = false): void {
  for (const row of table(rows, columns() - indent.length, wraps)) process.stdout.write(`${indent}${row}\n`);
}

/** Prints one value: indented on a terminal, one line into a pipe. */
export function printJson(value: unknown): void {
  process.stdout.write(`${visibleJson(value, process.stdout.isTTY ? 2 : 0)}\n`);
}

/** The same, with the exit code of a command that has done its work. */
export function doneAsJson(value: unknown): ExitCode {
  printJson(value);
  return EXIT.done;
}

/** Prints one value of a stream, always on one line. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${visibleJson(value, 0)}\n`);
}

/** Prints something for a person on stderr that is not part of the result. */
export function remark(sentence: string): void {
  process.stderr.write(`${fitted(`hive: ${revealed(sentence)}`, process.stderr)}\n`);
}

// ---- Text from agents on a terminal (invariant 12) ----
// Control characters, bidirectional marks and invisible characters are shown as escapes. Rows are cut at the width of
// the terminal, and never in a pipe.

/** The text on one line, with hidden characters shown, cut to `columns` if given. */
export function line(text: string, columns: number = Number.POSITIVE_INFINITY): string {
  return cut(revealed(text.replace(/[ \t\r\n]+/g, ' ').trim()), columns);
}

function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = '';
  let used = 0;
  for (const character of text) {
    const wide = width(character);
    if (used + wide > columns - 1) break;
    kept += character;
    used += wide;
  }
  return `${kept.trimEnd()}…`;
}

/** The least that is shown of a path. */
const LEAST_PATH = 12;

/** Cuts a row at the width. A path at its end loses its beginning, because the end tells files apart. */
function shorten(row: string, columns: number): string {
  const [, before = '', path = '', mark = ''] = /^(.*\s)(\S*\/\S*?)(\??)$/.exec(row) ?? [];
  const room = columns - width(before) - width(mark) - 1;
  if (width(row) <= columns || path === '' || room < LEAST_PATH) return cut(row, columns);
  const characters = Array.from(path);
  while (width(characters.join('')) > room) characters.shift();
  return `${before}…${characters.join('')}${mark}`;
}

/** A last column that is narrower than this gets a line of its own: it is the main content of the row. */
const LEAST_LAST = 20;
const BELOW = '  ';

/** Rows of cells as aligned lines, two spaces apart; the last column takes the rest of the width. */
export function table(rows: readonly (readonly string[])[], columns: number, wraps = false): string[] {
  const cells = rows.map((row) => row.map((cell) => line(cell)));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [index, cell] of row.slice(0, -1).entries())
      widths[index] = Math.max(widths[index] ?? 0, width(cell));
  }
  const before = widths.reduce((sum, each) => sum + each + 2, 0);
  const widest = Math.max(0, ...cells.map((row) => width(row.at(-1) ?? '')));
  const isBelow = columns - before < LEAST_LAST && before + widest > columns;
  const indent = isBelow ? BELOW : ' '.repeat(before);
  return cells.flatMap((row) => {
    const aligned = row.slice(0, -1).map((cell, n) => cell + ' '.repeat((widths[n] ?? 0) - width(cell)));
    const last = row.at(-1) ?? '';
    const [first = '', ...rest] = wraps ? inLines(last, columns - indent.length) : [last];
    const shown = isBelow ? [aligned, [indent + first]] : [[...aligned, first]];
    return [
      ...shown
        .map((parts) => parts.join('  ').trimEnd())
        .filter((text) => text !== '')
        .map((text) => (wraps ? text : shorten(text, columns))),
      ...rest.map((text) => indent + text),
    ];
  });
}

/** JSON that is safe on a terminal: hidden characters are escaped, which every parser accepts. */
export function visibleJson(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent).replace(/[^\n\x20-\x7e]/gu, (character) =>
    isHidden(character) ? escapeUnits(character) : character,
  );
}

function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

// ---- Durations and times ----

/** Durations as people type and read them. */
export { parseDuration } from '../domain/limits.ts';
export { moment } from '../domain/times.ts';

/**
 * The ms of a duration that an option was given. `done`: what the command does, as in "Nothing was asked".
 * @throws HiveError `invalid_input` in the words of the command line.
 */
export function parsePeriod(option: string, given: string | undefined, done: string): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseDuration(given);
  if (ms < PROMPT_LIMITS.minTimeoutMs || ms > PROMPT_LIMITS.maxTimeoutMs)
    throw invalidInput(`${option} is ${given}: give 1s to 30d. Nothing was ${done}.`);
  return ms;
}

/** A duration as `parseDuration` reads it: `90 s`, `10 min`, `2 h`, `7 d`. */
export function duration(ms: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
  ] as const;
  const [length, name] = units.find(([length]) => ms >= length && ms % length === 0) ?? [1_000, 's'];
  return `${ms / length} ${name}`;
}

/** The time since then, in short: `12 s`, `5 min`, `3 h`, `8 d`. */
export function age(since: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

// ---- Prompts ----
// One prompt in full, several as rows, and the JSON that every command prints for them.

/** Leaves out the fields that only the store uses. */
export function promptJson(prompt: Prompt): Record<string, unknown> {
  const { fingerprint: _, carrier: __, ...shown } = prompt;
  return shown;
}

/** The current answer, including a late one; null if there is none. */
export function currentAnswer(
  prompt: Prompt,
): Pick<PromptAnswer, 'decision' | 'comment' | 'by' | 'via' | 'attested'> | null {
  const { decision, comment, by, via, attested } = prompt;
  if (prompt.status === 'responded' && decision !== null && by !== null && via !== null)
    return { decision, comment, by, via, attested };
  return prompt.late_response;
}

/** The mark after an answer that no key of a person signed. */
export function mark(answer: Pick<PromptAnswer, 'attested'> | null): string {
  return answer === null || answer.attested ? '' : UNATTESTED;
}

/** The state of a prompt, as a row shows it. */
function stateOf(prompt: Prompt): string {
  const { status, by, late_response } = prompt;
  const late = late_response === null ? '' : `; ${late_response.by} answered late${mark(late_response)}`;
  switch (status) {
    case 'responded':
      return `answered by ${by ?? SOMEBODY}${prompt.amended ? ', corrected' : ''}${mark(prompt)}`;
    case 'expired':
      return `expired without an answer${late}`;
    case 'cancelled':
      return (by === null ? 'cancelled' : `cancelled by ${by}`) + late;
    default:
      return (
        `pending for ${age(prompt.created_at)}` +
        (prompt.orphaned ? ', its session has ended' : '') +
        describeAddressee(prompt)
      );
  }
}

/** The state of a prompt, as it follows "ask-…" in a sentence. */
export function hasState(prompt: Prompt): string {
  const verb = { pending: 'has been ', expired: '', responded: 'was ', cancelled: 'was ' }[prompt.status];
  return verb + stateOf(prompt);
}

/** The addressees of a question, and the human who has begun to answer. */
function describeAddressee({ to, escalated_at, claimed_by }: Prompt): string {
  const addressee =
    to === null ? '' : `, addressed to ${to}${escalated_at !== null ? ', now to everybody' : ''}`;
  return addressee + (claimed_by === null ? '' : `, ${claimed_by} is answering`);
}

export function showPrompt(prompt: Prompt): void {
  const answer = currentAnswer(prompt);
  print(`${prompt.ask_id}  ${stateOf(prompt)}`);
  const rows: [string, string][] = [['question', prompt.question]];
  if (prompt.status === 'pending' && prompt.options.length > 0)
    rows.push(['options', prompt.options.map((option) => option.label).join(' | ')]);
  for (const { text, at } of prompt.notes) rows.push([`note, ${age(at)} ago`, text]);
  if (prompt.expires_at !== null && prompt.status === 'pending') rows.push(['expires', prompt.expires_at]);
  if (answer !== null) rows.push(['decision', answer.decision]);
  if (answer?.comment != null) rows.push(['comment', answer.comment]);
  const warning = againstNotes(prompt).trim();
  if (warning !== '') rows.push(['warning', warning]);
  printRows(rows, '  ', true);
}

function statusOf({ status, late_response, attested, orphaned }: Prompt): string {
  if (status === 'pending' && orphaned) return 'pending, ended';
  if (late_response !== null) return `${status}, late${late_response.attested ? '' : ', unattested'}`;
  return status === 'responded' && !attested ? `${status}, unattested` : status;
}

export function showPrompts(prompts: readonly Prompt[]): void {
  printRows([
    ['ASK', 'STATUS', 'AGE', 'URGENCY', 'FOR', 'AGENT', 'PROJECT', 'QUESTION'],
    ...prompts.map((prompt) => [
      prompt.ask_id,
      statusOf(prompt),
      age(prompt.created_at),
      prompt.kind === 'permission' ? `${prompt.urgency}, permission` : prompt.urgency,
      `${prompt.to ?? '-'}${prompt.escalated_at === null ? '' : ', now everybody'}${prompt.claimed_by === null || prompt.status !== 'pending' ? '' : ` (${prompt.claimed_by} is answering)`}`,
      `${sourcePrefix(prompt.source)}${calledBy(prompt)}`,
      prompt.project,
      `${noteCount(prompt)}${prompt.question}`,
    ]),
  ]);
}

/** In front of the question, because the end of a long row is cut. */
function noteCount({ notes }: Prompt): string {
  return notes.length === 0 ? '' : `[${notes.length} note${notes.length === 1 ? '' : 's'}] `;
}

// ---- Confirming an answer ----
// The person sees the request at a terminal and types yes. Nothing else confirms it.

/**
 * True if the person typed `yes` or the ask_id; false without a terminal. The line is read from the terminal itself: whatever
 * stdin is, only what was typed there counts. A permission is shown in full, a screen at a time.
 * `isShown`: `readAnswer` has shown the prompt and read the answer, which counts as a yes for a question.
 * @throws HiveError `not_allowed` for any other line.
 */
export function confirmAnswer(prompt: Prompt, decision: string, isShown: boolean): boolean {
  return atTerminal(false, (terminal) => {
    if (isShown && prompt.kind === 'question') return true;
    if (!isShown) showToConfirm(terminal, prompt);
    writeSync(terminal, `Answer "${line(decision)}"? Type yes to confirm: `);
    const typed = readLine(terminal);
    if (typed === 'yes' || typed === prompt.ask_id) return true;
    throw new HiveError('not_allowed', `Not confirmed. ${prompt.ask_id} was not answered.`);
  });
}

/** Shows a prompt at the terminal, and returns the answer that the person types there; empty if there is no terminal. */
export function readAnswer(prompt: Prompt): string {
  return atTerminal('', (terminal) => {
    showToConfirm(terminal, prompt);
    writeSync(terminal, `Your answer${howToAnswer(prompt)}: `);
    return readLine(terminal);
  });
}

/** An option is typed in full: `1` would be an answer of the person's own. */
function howToAnswer({ multi_select, options, allow_free_text }: Prompt): string {
  if (multi_select) return ' (separate several options with commas)';
  if (options.length === 0) return '';
  return allow_free_text ? ' (an option, or your own words)' : ' (an option)';
}

function showToConfirm(terminal: number, prompt: Prompt): void {
  const { kind, project, orphaned } = prompt;
  writeSync(
    terminal,
    `${line(calledBy(prompt))} (${line(project)}) asks${kind === 'permission' ? ' for permission' : ''}:\n`,
  );
  if (orphaned) writeSync(terminal, 'Its session has ended.\n');
  if (prompt.status !== 'pending') {
    // Of the settled ones, only --amend shows an answered one.
    const effect = prompt.status === 'responded' ? 'corrects that one' : 'is kept as a late one';
    writeSync(terminal, `It ${hasState(prompt)}. Your answer ${effect}.\n`);
  }
  const { columns, rows } = process.stdout;
  for (const [n, screen] of screensOf(linesToConfirm(prompt), { columns, rows }).entries()) {
    if (n > 0) {
      writeSync(terminal, '-- Press Enter for more --');
      readLine(terminal);
    }
    writeSync(terminal, `${screen.join('\n')}\n`);
  }
}

/** Shows these lines at the terminal of this process; true if the person typed `yes` there. */
export function confirmTyped(lines: readonly string[], question: string): boolean {
  return atTerminal(false, (terminal) => {
    writeSync(terminal, `${lines.join('\n')}\n${question}`);
    return readLine(terminal) === 'yes';
  });
}

function linesToConfirm(prompt: Prompt): string[] {
  if (prompt.kind === 'permission') return permissionLines(prompt).map((text) => `  ${revealed(text)}`);
  const { question, context, notes, options } = prompt;
  const indented = (text: string): string[] =>
    revealed(text)
      .replace(/^(?=.)/gm, '  ')
      .split('\n');
  const labels = options.map(({ label }) => line(label)).join(' | ');
  return [
    ...revealed(question).split('\n'),
    ...(context === null ? [] : ['', ...indented(context.trimEnd()), '']),
    ...notes.flatMap(({ text, at }) => indented(`Added ${age(at)} ago: ${text}`)),
    ...(labels === '' ? [] : [`Options: ${labels}`]),
    ...options.flatMap(({ label, description }) =>
      description === null ? [] : indented(`${line(label)}: ${description}`),
    ),
  ].flatMap((text) => fitted(text, process.stdout).split('\n'));
}

/** Opens the terminal of this process and works there; returns `without` if there is none. */
function atTerminal<T>(without: T, work: (terminal: number) => T): T {
  if (!process.stdin.isTTY) return without;
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', 'r+');
  } catch {
    return without;
  }
  try {
    return work(terminal);
  } finally {
    closeSync(terminal);
  }
}

/** Reads one line, and blocks the process until it is typed. */
function readLine(terminal: number): string {
  const bytes = Buffer.alloc(4_096);
  return bytes.toString('utf8', 0, readSync(terminal, bytes)).trim();
}

// ---- Screens ----
// Long text at a terminal, one screen at a time: text that scrolls past unread does not count as displayed.

/** Lines as screens of a terminal of this size. A terminal of unknown size is assumed to be small. */
export function screensOf(
  lines: readonly string[],
  { columns, rows }: { columns: number | undefined; rows: number | undefined },
): string[][] {
  // The heading, the line that asks for more and the question at the end stay on the screen with the text.
  const room = Math.max(1, (rows || 24) - 3);
  const wrapped = lines.flatMap((text) => wrap(text, Math.max(20, columns || 80)));
  const screens: string[][] = [];
  for (let start = 0; start < wrapped.length; start += room) screens.push(wrapped.slice(start, start + room));
  return screens;
}

function wrap(text: string, columns: number): string[] {
  const characters = Array.from(text.replaceAll('\t', '        '));
  // Half as many characters as there are columns always fit, however wide the characters are.
  const length = characters.some((character) => character > '\u02ff') ? Math.floor(columns / 2) : columns;
  const parts: string[] = [];
  for (let start = 0; start < characters.length; start += length)
    parts.push(characters.slice(start, start + length).join(''));
  return parts.length === 0 ? [''] : parts;
}
