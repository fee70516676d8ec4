/** `hive store log`: the raw events, one line each; with --follow until its reader ends. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { HiveEvent } from '../domain/events.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Format, printJsonLine, printRows, remark } from './output.ts';
import { perform } from './program.ts';

interface LogOptions extends Format {
  follow?: boolean;
  after?: number;
  subject?: string;
}

const PAGE = 500;

export function defineLog(command: Command): void {
  perform(command, log)
    .option('--follow', 'wait for new events; starts now unless --after is given')
    .option('--after <seq>', 'only events after this number', sequence)
    .option('--subject <id>', 'only events of this question, session or desk');
}

async function log(hive: Hive, options: LogOptions): Promise<ExitCode> {
  const head = await hive.history.head();
  const from = options.after ?? (options.follow === true ? head : 0);
  const { last, found } = await printSince(hive, from, options);
  if (options.follow !== true) {
    if (!found && options.subject !== undefined)
      remark(
        `There are no events about "${options.subject}". Give the whole id of a question, session or desk.`,
      );
    return EXIT.done;
  }
  hive.feed.follow({
    cursor: last,
    onEvents: async (events) => void show(events, options),
    onResync: async () =>
      remark('Some events are missing here: retention removed them before they could be shown.'),
  });
  // Ends with the process: on a signal, or when the reader of stdout is gone.
  return new Promise<never>(() => {});
}

async function printSince(
  hive: Hive,
  after: number,
  options: LogOptions,
): Promise<{ last: number; found: boolean }> {
  let cursor = after;
  let found = false;
  const pruned = await hive.history.prunedUpTo();
  if (options.after !== undefined && pruned > after)
    remark(`Retention has removed the events up to ${pruned}; the rest follows.`);
  for (;;) {
    const events = await hive.history.eventsAfter(cursor, PAGE);
    found = show(events, options) || found;
    cursor = events.at(-1)?.seq ?? Math.max(cursor, pruned);
    if (events.length < PAGE) return { last: cursor, found };
  }
}

/** False if none of the events is wanted. */
function show(events: readonly HiveEvent[], { subject, json }: LogOptions): boolean {
  const wanted = events.filter((event) => subject === undefined || event.subject === subject);
  if (json === true) for (const event of wanted) printJsonLine(event);
  else
    printRows(
      wanted.map(({ seq, at, type, subject: id, data }) => [
        String(seq),
        at,
        type,
        id ?? '-',
        JSON.stringify(data),
      ]),
    );
  return wanted.length > 0;
}

function sequence(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  return Number(text);
}
