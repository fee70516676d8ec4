/** What a command says: results to stdout, remarks to stderr, JSON when asked for. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { HiveError } from '../domain/errors.ts';
import type { Prompt, PromptAnswer } from '../domain/prompts.ts';
import { sourcePrefix } from '../domain/sources.ts';
import { HIDDEN, revealed } from '../domain/text.ts';

/** Every command has it. */
export interface Format {
  json?: boolean | undefined;
}

/** How wide a row may be; what goes into a pipe is not cut. */
function columns(): number {
  return process.stdout.isTTY ? Math.max(20, process.stdout.columns) : Number.POSITIVE_INFINITY;
}

/** The reader of a pipe may leave early (`| head`): that is no fault of ours, and the rest goes nowhere. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Text of ours or of anybody's, on stdout. */
export function print(text: string): void {
  process.stdout.write(`${revealed(text)}\n`);
}

export function printRows(rows: readonly (readonly string[])[], indent = ''): void {
  for (const row of table(rows, columns() - indent.length)) process.stdout.write(`${indent}${row}\n`);
}

/** One value: indented for a person, one line for a pipe. */
export function printJson(value: unknown): void {
  process.stdout.write(`${visibleJson(value, process.stdout.isTTY ? 2 : 0)}\n`);
}

/** One value of a stream: always one line. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${visibleJson(value, 0)}\n`);
}

/** What a person should know beside the result; never part of it. */
export function remark(sentence: string): void {
  process.stderr.write(`hive: ${revealed(sentence)}\n`);
}

// ---------------------------------------------------------------------------
// Text from agents on a terminal (invariant 12): what a terminal would obey, reorder by or hide is shown
// as what it is; rows are cut at the terminal's width, and stay whole when they go into a pipe.

/** One line of visible text, cut to `columns` where given. */
export function line(text: string, columns: number = Number.POSITIVE_INFINITY): string {
  return cut(revealed(text.replace(/[ \t\r\n]+/g, ' ').trim()), columns);
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const COMBINING = /[\p{Mn}\p{Me}]/u;

/** Columns that a text takes on a terminal. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
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

/** Rows of cells as aligned lines, two spaces apart; the last column takes what room is left. */
export function table(rows: readonly (readonly string[])[], columns: number): string[] {
  const cells = rows.map((row) => row.map((cell) => line(cell)));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [index, cell] of row.slice(0, -1).entries())
      widths[index] = Math.max(widths[index] ?? 0, width(cell));
  }
  return cells.map((row) => {
    const aligned = row.map((cell, index) =>
      index === row.length - 1 ? cell : cell + ' '.repeat((widths[index] ?? 0) - width(cell)),
    );
    return cut(aligned.join('  ').trimEnd(), columns);
  });
}

/** JSON that a terminal can show: what is hidden is escaped, which no parser minds. */
export function visibleJson(value: unknown, indent: number): string {
  return JSON.stringify(value, null, indent).replace(HIDDEN, (character) =>
    character === '\n' || character === '\t' ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

// ---------------------------------------------------------------------------
// duration

/** Durations as people type and read them. */
export { parseDuration } from '../domain/limits.ts';

/** A moment for a person, by the clock of where they are: `2026-11-22 08:37`. */
export function moment(at: string): string {
  const date = new Date(at);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** How long, as `parseDuration` reads it: `90 s`, `10 min`, `2 h`, `7 d`. */
export function duration(ms: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
  ] as const;
  const [length, name] = units.find(([length]) => ms >= length && ms % length === 0) ?? [1_000, 's'];
  return `${ms / length} ${name}`;
}

/** How long ago, short: `12 s`, `5 min`, `3 h`, `8 d`. */
export function age(since: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

// ---------------------------------------------------------------------------
// Prompts on a terminal: one in full, many as rows; and the JSON that every command prints of them.

/** What is the store's own business stays there. */
export function promptJson(prompt: Prompt): Record<string, unknown> {
  const { fingerprint: _, carrier: __, ...shown } = prompt;
  return shown;
}

/** Behind an answer that Hive did not see a person give: a script's, an agent's, a library's. */
export const UNATTESTED = ' (unattested)';

/** The current answer, including a late one; null when there is none. */
export function standingAnswer(
  prompt: Prompt,
): Pick<PromptAnswer, 'decision' | 'comment' | 'by' | 'via' | 'attested'> | null {
  const { decision, comment, by, via, attested } = prompt;
  if (prompt.status === 'responded' && decision !== null && by !== null && via !== null)
    return { decision, comment, by, via, attested };
  return prompt.late_response;
}

/** Where a prompt stands, in a sentence without its subject. */
export function standing(prompt: Prompt): string {
  const { status, by, late_response } = prompt;
  const late =
    late_response === null
      ? ''
      : `; ${late_response.by} answered late${late_response.attested ? '' : UNATTESTED}`;
  switch (status) {
    case 'responded':
      return `answered by ${by}${prompt.amended ? ', amended' : ''}${prompt.attested ? '' : UNATTESTED}`;
    case 'expired':
      return `expired without an answer${late}`;
    case 'cancelled':
      return `cancelled by ${by}${late}`;
    default:
      return `waiting for ${age(prompt.created_at)}${address(prompt)}`;
  }
}

/** Whom it waits for, and who is at it. */
function address({ to, escalated_at, claimed_by }: Prompt): string {
  const whom = to === null ? '' : `, for ${to}${escalated_at === null ? '' : ' and by now everybody'}`;
  return `${whom}${claimed_by === null ? '' : `, taken up by ${claimed_by}`}`;
}

export function showPrompt(prompt: Prompt): void {
  const answer = standingAnswer(prompt);
  print(`${prompt.ask_id}  ${standing(prompt)}`);
  const rows: [string, string][] = [['question', prompt.question]];
  if (prompt.status === 'pending' && prompt.options.length > 0)
    rows.push(['options', prompt.options.map((option) => option.label).join(' | ')]);
  if (prompt.expires_at !== null && prompt.status === 'pending') rows.push(['expires', prompt.expires_at]);
  if (answer !== null) rows.push(['decision', answer.decision]);
  if (answer?.comment != null) rows.push(['comment', answer.comment]);
  printRows(rows, '  ');
}

function statusOf({ status, late_response, attested }: Prompt): string {
  const late = late_response === null ? '' : ', late';
  const isAnswered = status === 'responded' || late_response !== null;
  return `${status}${late}${!isAnswered || (late_response ?? { attested }).attested ? '' : ', unattested'}`;
}

export function showPrompts(prompts: readonly Prompt[]): void {
  printRows([
    ['ASK', 'STATUS', 'AGE', 'URGENCY', 'FOR', 'AGENT', 'PROJECT', 'QUESTION'],
    ...prompts.map((prompt) => [
      prompt.ask_id,
      statusOf(prompt),
      age(prompt.created_at),
      prompt.kind === 'permission' ? `${prompt.urgency}!` : prompt.urgency,
      `${prompt.to ?? '-'}${prompt.claimed_by === null || prompt.status !== 'pending' ? '' : ` (${prompt.claimed_by} is at it)`}`,
      `${sourcePrefix(prompt.source)}${prompt.agent}`,
      prompt.project,
      prompt.question,
    ]),
  ]);
}

// ---------------------------------------------------------------------------
// An answer at a terminal: the person sees what is asked and types yes. Nothing else counts.

/**
 * True when the person typed `yes` or the ask_id; false where there is no terminal to read from. What is read comes from the
 * terminal itself: whatever stdin is, only keys that were pressed there count. @throws HiveError `not_allowed`.
 */
export function confirmAnswer(prompt: Prompt, decision: string): boolean {
  const terminal = process.stdin.isTTY ? openTerminal() : null;
  if (terminal === null) return false;
  const asks = prompt.kind === 'permission' ? 'asks for permission' : 'asks';
  const options = prompt.options.map(({ label }) => line(label)).join(' | ');
  try {
    const lines = [
      `${line(prompt.agent)} (${line(prompt.project)}) ${asks}:`,
      revealed(prompt.question),
      ...(options === '' ? [] : [`Options: ${options}`]),
      `Answer "${line(decision)}"? Type yes to give it: `,
    ];
    writeSync(terminal, lines.join('\n'));
    const typed = readLine(terminal);
    if (typed === 'yes' || typed === prompt.ask_id) return true;
  } finally {
    closeSync(terminal);
  }
  throw new HiveError('not_allowed', `Not confirmed: ${prompt.ask_id} was not answered.`);
}

/** The terminal of this process; null where it has none. */
function openTerminal(): number | null {
  try {
    return openSync('/dev/tty', 'r+');
  } catch {
    return null;
  }
}

/** Waits for one line; nothing else is to happen meanwhile. */
function readLine(terminal: number): string {
  const bytes = Buffer.alloc(4_096);
  return bytes.toString('utf8', 0, readSync(terminal, bytes)).trim();
}
