/** `hive post`: a message in the shared buffer; a person's terminal posts as the human, an agent's as that agent. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { Posted } from '../application/messages.ts';
import { invalidInput } from '../domain/errors.ts';
import { explainUnresolved } from '../domain/mentions.ts';
import { type Author, agentAuthor, humanAuthor, type MessageScope } from '../domain/messages.ts';
import { humanName } from '../infrastructure/platform/paths.ts';
import { findProject } from '../infrastructure/platform/project.ts';
import { BY, findCaller, registerCaller } from './actor.ts';
import { type Format, print, printJson, remark } from './output.ts';
import { EXIT, type ExitCode, withHive } from './program.ts';

interface PostOptions extends Format {
  replyTo?: string;
  thread?: string;
  urgent?: boolean;
  expectsReply?: boolean;
  scope?: MessageScope;
  by?: string;
  asAgent?: boolean;
}

export function definePost(command: Command): void {
  command
    .argument('<body>', 'Markdown with @mentions; - reads stdin')
    .option('--reply-to <id>', 'the message_id that this answers')
    .option('--thread <name>', 'the conversation that it belongs to')
    .option('--urgent', 'hold up whom it mentions even where mentions only remind')
    .option('--expects-reply', 'you want an answer')
    .addOption(new Option('--scope <scope>', 'whom @All and roles reach').choices(['project', 'all']))
    .option('--by <name>', BY)
    .option('--as-agent', "post in an agent's name or not at all")
    .option('--json', 'print JSON')
    .action((body: string, options: PostOptions) => withHive(options, (hive) => post(hive, body, options)));
}

async function post(hive: Hive, body: string, options: PostOptions): Promise<ExitCode> {
  const author = await findAuthor(hive, options);
  const posted = await hive.messages.post({
    body: body === '-' ? readFileSync(0, 'utf8') : body,
    reply_to: options.replyTo,
    thread: options.thread,
    priority: options.urgent === true ? 'urgent' : 'normal',
    expects_reply: options.expectsReply === true,
    scope: options.scope,
    author,
    by: author.kind === 'human' ? (options.by ?? humanName(process.env)) : author.handle,
  });
  const { message, mentions, unresolved, answered, trips } = posted;
  const { message_id, at, thread, from_handle } = message;
  if (options.json === true) {
    printJson({
      message_id,
      at,
      from: from_handle,
      thread,
      mentioned: mentions.map((mention) => mention.handle),
      unresolved,
      answered: answered?.mention_id ?? null,
      not_held: trips.map((trip) => trip.addressee.handle),
    });
    return EXIT.done;
  }
  print(message_id);
  sayWhom(posted);
  return EXIT.done;
}

/** Only a person at a person's terminal is the human; whoever runs under an agent is that agent. */
async function findAuthor(hive: Hive, { asAgent }: PostOptions): Promise<Author> {
  const caller = await findCaller(hive);
  if (caller.agent_because !== null) return agentAuthor(await registerCaller(hive, caller), 'cli');
  if (asAgent === true) throw invalidInput('There is no agent here to post as: leave --as-agent out.');
  return humanAuthor('cli', findProject(process.cwd()));
}

function sayWhom({ mentions, unresolved, trips }: Posted): void {
  if (mentions.length > 0) remark(`Told: ${mentions.map((mention) => mention.handle).join(', ')}.`);
  for (const name of unresolved) remark(explainUnresolved(name));
  if (trips.length > 0)
    remark(`Told but not held up: ${trips.map((trip) => trip.addressee.handle).join(', ')}.`);
}
