/** `hive messages`: the shared buffer of this project, as text, as JSON, or as a file that can be read back. */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { MessageFilter, MessagePage } from '../application/ports.ts';
import { invalidInput } from '../domain/errors.ts';
import { blockOf, type Message, renderShared, stampOf } from '../domain/messages.ts';
import { findProject } from '../infrastructure/platform/project.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { wholeNumber } from './list.ts';
import { doneAsJson, type Format, print, remark, say } from './output.ts';
import { perform } from './program.ts';

interface MessagesOptions extends Format {
  after?: string;
  before?: string;
  thread?: string;
  from?: string;
  query?: string;
  limit: number;
  all?: boolean;
  format: 'text' | 'shared';
}

/** A file in the shared format holds the whole buffer, which is read in pages of this size. */
const PAGE = 500;

export function defineMessages(command: Command): void {
  perform(command, messages)
    .option('--after <cursor>', 'messages since an earlier call (its next_cursor)')
    .option('--before <cursor>', 'older messages (the previous_cursor of an earlier call)')
    .option('--thread <name>', 'only this thread, or a message_id and the replies to it')
    .option('--from <handle>', 'only messages of this author')
    .option('--query <words>', 'only messages that contain these words')
    .option('--limit <n>', 'the largest number to list', wholeNumber, 50)
    .option('--all', 'the messages of every project')
    .addOption(
      new Option('--format <format>', 'shared: the whole buffer, as a file that can be read back')
        .choices(['text', 'shared'])
        .default('text'),
    );
}

async function messages(hive: Hive, options: MessagesOptions, command: Command): Promise<ExitCode> {
  const { after, before, thread, from, query, limit, all = false } = options;
  const here = findProject(process.cwd());
  const filter = {
    project_dir: all || thread?.startsWith('msg-') === true ? undefined : here.project_dir,
    thread,
    from_handle: from?.replace(/^@/, ''),
    query,
  };
  const isLimited = command.getOptionValueSource('limit') === 'cli';
  const isFile = options.format === 'shared';
  if (isFile && (after !== undefined || before !== undefined || isLimited || options.json === true))
    throw invalidInput(
      'The shared format has the whole buffer: leave out --after, --before, --limit and --json, or --format.',
    );
  if (isFile) return printShared(hive, filter, all ? null : here.project);
  const page = await hive.messages.read({ ...filter, after, before, limit });
  if (options.json === true) {
    const { items, next_cursor, previous_cursor, more } = page;
    return doneAsJson({ messages: items, next_cursor, previous_cursor, more });
  }
  for (const message of page.items) show(message);
  reportMore(page, after !== undefined, filter.project_dir === undefined);
  return EXIT.done;
}

function show(message: Message): void {
  const { message_id, at, from_handle, agent_title, by, as_handle, priority, thread } = message;
  const marks = [
    agent_title === from_handle ? null : agent_title,
    by,
    as_handle === null ? null : `as ${as_handle}`,
    priority === 'urgent' ? 'urgent' : null,
    thread === null ? null : `in ${thread}`,
  ].filter((mark) => mark !== null);
  const rest = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
  print(`${stampOf(at, zoneOf(at))} ${from_handle}${rest} [${message_id}]`);
  say(`${message.body.replace(/^(?=.)/gm, '  ')}\n`);
}

function reportMore(
  { items, more, next_cursor, previous_cursor }: MessagePage,
  forward: boolean,
  isEverywhere: boolean,
): void {
  if (items.length === 0)
    remark(
      isEverywhere
        ? 'No messages were found.'
        : 'No messages were found in this project. To see those of every project, add --all',
    );
  else if (more && forward) remark(`There are more. To see them, add --after ${next_cursor}`);
  else if (more) remark(`There are older ones. To see them, add --before ${previous_cursor}`);
}

async function printShared(
  hive: Hive,
  filter: Omit<MessageFilter, 'limit'>,
  project: string | null,
): Promise<ExitCode> {
  const found: Message[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await hive.messages.read({ ...filter, before, limit: PAGE });
    found.unshift(...page.items);
    before = page.previous_cursor;
  }
  const begun = found[0]?.at ?? new Date().toISOString();
  const created = stampOf(begun, zoneOf(begun));
  const blocks = found.map((message) => blockOf(message, zoneOf(message.at)));
  const text = renderShared(blocks, { created, project });
  if (process.stdout.isTTY) print(text.trimEnd());
  // Unchanged into a pipe, so that it can be read back.
  else process.stdout.write(text);
  return EXIT.done;
}

/** How many minutes this machine's time zone was ahead of UTC at that time. */
function zoneOf(at: string): number {
  return -new Date(at).getTimezoneOffset();
}
