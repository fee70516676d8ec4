/** `hive post`: posts to the shared buffer, from a person's terminal as the human, from an agent's shell as that agent. */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import { type PostCommand, type Posted, reachedBy } from '../application/messages.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { bounded, boundedBytes } from '../domain/limits.ts';
import { explainUndecided, explainUnresolved } from '../domain/mentions.ts';
import {
  type Author,
  authorName,
  authorOfBlock,
  type Block,
  MESSAGE_LIMITS,
  type MessageScope,
  parseShared,
} from '../domain/messages.ts';
import { humanName } from '../infrastructure/platform/paths.ts';
import { findAuthor } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { doneAsJson, type Format, print, remark } from './output.ts';
import { perform, readInput } from './program.ts';

const EXAMPLE_BLOCK =
  'A block is a heading such as "## 2026-01-11 18:00:00 Claude-abc12" with the message below it';

interface PostOptions extends Format {
  asHeading?: boolean;
  replyTo?: string;
  thread?: string;
  urgent?: boolean;
  expectsReply?: boolean;
  scope?: MessageScope;
  asAgent?: boolean;
}

export function definePost(command: Command): void {
  perform(command, post)
    .argument('<body>', 'Markdown with @mentions; - reads stdin')
    .option(
      '--as-heading',
      'post each block of the text under its own heading: ## YYYY-MM-DD HH:MM:SS HANDLE',
    )
    .option('--reply-to <id>', 'the message_id of the message that this replies to')
    .option('--thread <name>', 'the conversation that it belongs to')
    .option('--urgent', 'hold those it mentions, even where mentions only remind')
    .option('--expects-reply', 'ask for a reply')
    .addOption(new Option('--scope <scope>', 'whom @All and roles reach').choices(['project', 'all']))
    .option('--as-agent', 'post as the agent, or not at all');
}

async function post(hive: Hive, argument: string, options: PostOptions): Promise<ExitCode> {
  const body = argument === '-' ? readInput('-', 'Nothing was posted.') : argument;
  // Report a mistake in the text before registering a session.
  const blocks = options.asHeading === true ? blocksIn(body) : null;
  const author = await findAuthor(hive, options.asAgent === true);
  const by = author.kind === 'human' ? humanName(process.env) : author.handle;
  const common: Omit<PostCommand, 'body'> = {
    reply_to: options.replyTo,
    thread: options.thread,
    priority: options.urgent === true ? 'urgent' : 'normal',
    expects_reply: options.expectsReply === true,
    scope: options.scope,
    author,
    by,
  };
  if (blocks !== null) return postBlocks(hive, blocks, common, options);
  const posted = await hive.messages.post({ ...common, body });
  if (options.json === true) return doneAsJson(postedView(posted));
  print(posted.message.message_id);
  reportMentions(posted);
  return EXIT.done;
}

function postedView(posted: Posted): Record<string, unknown> {
  const { message_id, at, thread, from_handle } = posted.message;
  return { message_id, at, from: from_handle, thread, ...reachedBy(posted) };
}

function reportMentions({ mentions, unresolved, undecided, trips }: Posted): void {
  if (mentions.length > 0) remark(`Mentioned: ${mentions.map((mention) => mention.handle).join(', ')}.`);
  for (const name of unresolved) remark(explainUnresolved(name));
  const open = explainUndecided(undecided);
  if (open !== null) remark(open);
  if (trips.length > 0)
    remark(
      `Mentioned but not held, because the conversation looks like a loop: ${trips.map((trip) => trip.addressee.handle).join(', ')}.`,
    );
}

/** The blocks of a text or of a saved file. @throws HiveError `invalid_input` if a part of it could not be posted. */
function blocksIn(text: string): Block[] {
  const { front, lead, blocks, empty } = parseShared(text);
  if (lead !== '' && front['type'] !== 'shared') {
    throw invalidInput(`The text does not begin with a heading. ${EXAMPLE_BLOCK}. Nothing was posted.`);
  }
  const [bare] = empty;
  if (bare !== undefined) {
    throw invalidInput(
      `There is no message below the heading "## ${bare.stamp} ${bare.handle}". Nothing was posted.`,
    );
  }
  if (blocks.length === 0)
    throw invalidInput(`The text contains no block. ${EXAMPLE_BLOCK}. Nothing was posted.`);
  return blocks.map((block) => ({
    stamp: block.stamp,
    handle: bounded('handle', block.handle, MESSAGE_LIMITS.thread),
    body: boundedBytes('body', block.body, MESSAGE_LIMITS.bodyBytes, 'message'),
  }));
}

/** Posts each block by the author in its heading if that is the caller, else as unverified. */
async function postBlocks(
  hive: Hive,
  blocks: readonly Block[],
  common: Omit<PostCommand, 'body'>,
  { asAgent, json }: PostOptions,
): Promise<ExitCode> {
  const { author: writer, by = writer.handle } = common;
  const headed = blocks.map(({ body, ...heading }) => ({
    body,
    heading: { ...heading, origin: 'inserted' as const },
  }));
  const foreign = headed.find(
    ({ heading }) => authorOfBlock(writer, heading, by).kind === 'unverified',
  )?.heading;
  if (asAgent === true && foreign !== undefined) {
    throw new HiveError(
      'not_allowed',
      `This shell belongs to ${writer.handle}, so it cannot post as ${foreign.handle}. Nothing was posted. Leave out --as-agent to post it as unverified.`,
    );
  }
  const all: Posted[] = [];
  for (const block of headed) all.push(await hive.messages.post({ ...common, ...block }));
  if (json === true)
    return doneAsJson({
      posted: all.map((posted) => ({
        ...postedView(posted),
        author: posted.message.author,
        written_as: posted.message.as_handle,
        existing: posted.existing,
      })),
    });
  for (const posted of all) {
    print(posted.message.message_id);
    reportAuthor(posted, writer);
    reportMentions(posted);
  }
  return EXIT.done;
}

function reportAuthor({ message, existing }: Posted, writer: Author): void {
  const { message_id, author } = message;
  if (existing) remark(`${message_id} was posted before and was not posted again.`);
  else if (author === 'unverified') {
    const where = writer.kind === 'agent' ? `${writer.handle}'s shell` : "a person's terminal";
    remark(`Posted as ${authorName(message)}. The name is unverified, because it was posted from ${where}.`);
  }
}
