/** `hive history`: everything that was asked, answered and posted, newest first; also as Org or Markdown. */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { HistoryEntry } from '../domain/history.ts';
import { calledBy, sourcePrefix } from '../domain/sources.ts';
import { excerpt } from '../domain/text.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { wholeNumber } from './list.ts';
import { doneAsJson, type Format, moment, parseDuration, print, printRows, remark } from './output.ts';
import { perform } from './program.ts';
import { more, SOMEBODY, UNATTESTED } from './sentences.ts';

interface HistoryOptions extends Format {
  agent?: string;
  project?: string;
  since?: string;
  limit: number;
  format: 'text' | 'org' | 'markdown';
}

export function defineHistory(command: Command): void {
  perform(command, history)
    .argument('[query]', 'words that an entry must contain')
    .option('--agent <handle>', 'only of this agent')
    .option('--project <name>', 'only of this project')
    .option('--since <duration>', 'only entries of this last period: 90m, 2h, 7d')
    .option('--limit <n>', 'the largest number to list', wholeNumber, 50)
    .addOption(
      new Option('--format <format>', 'the output format')
        .choices(['text', 'org', 'markdown'])
        .default('text'),
    );
}

async function history(hive: Hive, query: string | undefined, options: HistoryOptions): Promise<ExitCode> {
  const { agent, project, since, limit, format, json } = options;
  const from = since === undefined ? undefined : new Date(Date.now() - parseDuration(since)).toISOString();
  const { items, next_cursor } = await hive.history.search({
    query,
    agent,
    project,
    since: from,
    limit,
  });
  if (json === true) return doneAsJson({ entries: items, more: next_cursor !== null });
  if (items.length === 0) remark('Nothing in the history matches.');
  if (format === 'text') printRows(items.map(toRow));
  else for (const entry of items) print(toSection(entry, format));
  if (next_cursor !== null) remark(more(limit));
  return EXIT.done;
}

/** The author, with the label of its source, or, for a human, with their name. */
function author(entry: HistoryEntry): string {
  const { kind, source, by } = entry;
  const person = kind === 'message' && by !== null ? ` (${by})` : '';
  return `${source === null ? '' : sourcePrefix(source)}${calledBy(entry)}${person}`;
}

/** Whether it was answered after it had expired or been cancelled. */
function isLate({ decision, status }: HistoryEntry): boolean {
  return decision !== null && status !== 'responded';
}

function toRow(entry: HistoryEntry): string[] {
  const { at, project, text, decision, attested, status } = entry;
  const late = isLate(entry) ? `${status}; late ` : '';
  const outcome =
    decision === null ? (status ?? '') : `${late}→ ${excerpt(decision, 60)}${attested ? '' : UNATTESTED}`;
  return [moment(at), author(entry), project ?? '', excerpt(text, 80), outcome];
}

/** One entry as a section. Text from agents is quoted, so that none of it is read as a heading or a drawer. */
function toSection(entry: HistoryEntry, format: 'org' | 'markdown'): string {
  const { at, kind, text, decision, by, attested, status } = entry;
  const heading = format === 'org' ? '*' : '##';
  const quote = format === 'org' ? ': ' : '> ';
  const quoted = (body: string): string =>
    body
      .split('\n')
      .map((line) => `${quote}${line}`)
      .join('\n');
  const outcome =
    decision === null
      ? kind === 'prompt'
        ? `(${status})`
        : ''
      : `${by ?? SOMEBODY} answered${isLate(entry) ? ' late' : ''}${attested ? '' : UNATTESTED}:\n\n${quoted(decision)}`;
  return [`${heading} ${moment(at)} ${author(entry)}`, quoted(text), outcome, '']
    .filter((part, index) => part !== '' || index === 3)
    .join('\n\n');
}
