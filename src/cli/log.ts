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
}

const PAGE = 500;

export function defineLog(command: Command): void {
  perform(command, log)
    .option('--follow', 'wait for new events; starts now unless --after is given')
    .option('--after <seq>', 'only events after this number', sequence);
}

async function log(hive: Hive, options: LogOptions): Promise<ExitCode> {
  const head = await hive.history.head();
  const from = options.after ?? (options.follow === true ? head : 0);
  const last = await printSince(hive, from, options);
  if (options.follow !== true) return EXIT.done;
  hive.feed.follow({
    cursor: last,
    onEvents: async (events) => show(events, options),
    onResync: async () =>
      remark('Some events are missing here: retention removed them before they could be shown.'),
  });
  // Ends with the process: on a signal, or when the reader of stdout is gone.
  return new Promise<never>(() => {});
}

/** The number of the last event. */
async function printSince(hive: Hive, after: number, options: LogOptions): Promise<number> {
  let cursor = after;
  const pruned = await hive.history.prunedUpTo();
  if (options.after !== undefined && pruned > after)
    remark(`Retention has removed the events up to ${pruned}; the rest follows.`);
  for (;;) {
    const events = await hive.history.eventsAfter(cursor, PAGE);
    show(events, options);
    cursor = events.at(-1)?.seq ?? Math.max(cursor, pruned);
    if (events.length < PAGE) return cursor;
  }
}

function show(events: readonly HiveEvent[], { json }: LogOptions): void {
  if (json === true) for (const event of events) printJsonLine(event);
  else
    printRows(
      events.map(({ seq, at, type, subject, data }) => [
        String(seq),
        at,
        type,
        subject ?? '-',
        JSON.stringify(data),
      ]),
    );
}

function sequence(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  return Number(text);
}
