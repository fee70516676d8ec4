/**
 * `hive mentions`: lists the mentions that nobody has processed yet. A person sees the human's or any session's, an
 * agent its own. `process` marks them processed; `allow` and `mute` settle a loop of two agents.
 */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { Actor } from '../domain/actors.ts';
import { HUMAN_ADDRESSEE } from '../domain/actors.ts';
import { invalidInput } from '../domain/errors.ts';
import type { MentionInFull, MentionStatus } from '../domain/mentions.ts';
import { authorName } from '../domain/messages.ts';
import { HUMAN_HANDLE, UNVERIFIED_HANDLE } from '../domain/sessions.ts';
import {
  type ActorOptions,
  BY,
  type Caller,
  carrierOf,
  findActor,
  findCaller,
  refuseAgents,
  registerCaller,
} from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { wholeNumber } from './list.ts';
import { age, type Format, print, printJson, remark } from './output.ts';
import { withHive } from './program.ts';
import { ACTION, MENTIONS } from './sentences.ts';

interface MentionsOptions extends Format, ActorOptions {
  session?: string;
  status: MentionStatus | 'any';
  limit: number;
  cursor?: string;
  all?: boolean;
  note?: string;
}

export function defineMentions(command: Command): void {
  command
    .usage('[options] [process <id...> | process --all | allow <a> <b> | mute <a> <b> | loops]')
    .argument('[action]', 'list (the default), process, allow, mute or loops')
    .argument('[names...]', 'for process: mention_ids or message_ids; for allow and mute: two sessions')
    .option('--session <handle>', "whose mentions; default: the human's, or under an agent its own")
    .addOption(
      new Option('--status <status>', 'the state to list')
        .choices(['unprocessed', 'processed', 'expired', 'any'])
        .default('unprocessed'),
    )
    .option('--limit <n>', 'the largest number to list', wholeNumber, 50)
    .option('--cursor <cursor>', 'continue where the last list ended (its next_cursor)')
    .option('--all', 'process all unprocessed ones')
    .option('--note <text>', 'what was done about them')
    .option('--by <name>', BY)
    .option('--as-agent', "an agent processes another session's mentions, which is recorded")
    .option('--json', 'print JSON')
    .action((action: string | undefined, names: string[], options: MentionsOptions) =>
      withHive(options, (hive) => mentions(hive, action ?? 'list', names, options)),
    );
}

async function mentions(
  hive: Hive,
  action: string,
  names: string[],
  options: MentionsOptions,
): Promise<ExitCode> {
  const caller = await findCaller(hive);
  if (action === 'allow' || action === 'mute' || action === 'loops')
    return loops(hive, action, names, options);
  const whose = await addresseeOf(hive, caller, options);
  if (action === 'list') return list(hive, whose, options);
  if (action === 'process') return processThem(hive, whose, names, options);
  throw invalidInput(MENTIONS.noAction(action));
}

interface Whose {
  session_id: string;
  handle: string;
  actor: Actor;
  /** The carrier, if this prints to the addressee itself; it records what was shown. */
  carrier: string | null;
}

async function addresseeOf(hive: Hive, caller: Caller, options: MentionsOptions): Promise<Whose> {
  const { session } = options;
  const isAgent = caller.agent_because !== null;
  const human = session === undefined ? !isAgent : [HUMAN_HANDLE, HUMAN_ADDRESSEE].includes(session);
  const named = human
    ? undefined
    : session === undefined
      ? await registerCaller(hive, caller)
      : await hive.sessions.resolve(session);
  const session_id = named?.session_id ?? HUMAN_ADDRESSEE;
  const action = {
    action: ACTION.mentions,
    isOwn: (one: Caller) => one.session_id === session_id,
  };
  const actor = await findActor(hive, action, options);
  const own = isAgent ? session_id === caller.session_id : human;
  return {
    session_id,
    handle: named?.handle ?? HUMAN_HANDLE,
    actor,
    carrier: own ? await carrierOf(hive, caller) : null,
  };
}

async function list(
  hive: Hive,
  { session_id, handle, carrier }: Whose,
  { status, limit, cursor, json }: MentionsOptions,
): Promise<ExitCode> {
  const open = status === 'unprocessed' && cursor === undefined;
  const { items, next_cursor } = open
    ? { items: await hive.mentions.unprocessed(session_id, carrier, limit), next_cursor: null }
    : await hive.mentions.history({
        session_id,
        status: status === 'any' ? undefined : status,
        limit,
        cursor,
      });
  const summary = await hive.mentions.summary(session_id);
  if (json === true) {
    printJson({ mentions: items, next_cursor, handle, summary });
    return EXIT.done;
  }
  for (const mention of items) show(mention);
  if (items.length === 0) remark(MENTIONS.nothing(handle, status));
  else if (open) remark(MENTIONS.howToProcess);
  const left = summary.unprocessed - items.length;
  if (open && left > 0) remark(MENTIONS.moreUnprocessed(left, limit));
  if (next_cursor !== null) remark(MENTIONS.more(next_cursor));
  return EXIT.done;
}

function show(mention: MentionInFull): void {
  const { mention_id, at, status, priority, processed_by, note, thread, body } = mention;
  const marks = [
    mention.by,
    priority === 'urgent' ? MENTIONS.urgent : null,
    mention.expects_reply ? MENTIONS.expectsReply : null,
    status === 'processed' ? MENTIONS.processed(processed_by, note) : null,
    status === 'expired' ? MENTIONS.expired : null,
    thread === null ? null : MENTIONS.thread(thread),
  ].filter((mark) => mark !== null);
  print(
    `${authorName(mention)}, ${age(at)} ago [${mention_id}]${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`,
  );
  print(`${body.replace(/^(?=.)/gm, '  ')}\n`);
}

async function processThem(
  hive: Hive,
  { session_id, handle, actor, carrier }: Whose,
  mention_ids: string[],
  { all, note, json }: MentionsOptions,
): Promise<ExitCode> {
  const command = { session_id, actor, mention_ids, all, note, carrier };
  const { processed, unread, already, remaining } = await hive.mentions.process(command);
  const shown = carrier === null ? [] : unread;
  if (json === true) {
    const ids = (some: readonly MentionInFull[]): string[] => some.map((mention) => mention.mention_id);
    printJson({ processed: ids(processed), unread: shown, already: ids(already), remaining, handle });
    return EXIT.done;
  }
  for (const mention of shown) show(mention);
  print(MENTIONS.done(processed.length, handle, remaining));
  return EXIT.done;
}

/** Only a human settles a loop: an agent must not switch its own gate off. */
async function loops(
  hive: Hive,
  action: 'allow' | 'mute' | 'loops',
  [a, b, ...more]: string[],
  options: MentionsOptions,
): Promise<ExitCode> {
  if (action === 'loops') {
    const found = await hive.loops.list();
    if (options.json === true) printJson({ loops: found });
    else if (found.length === 0) remark(MENTIONS.noLoops);
    else
      for (const { handles, state, reason } of found) {
        print(MENTIONS.loop(handles.join(' and '), state, reason));
        print(`  ${state === 'tripped' ? MENTIONS.loopActions(handles) : MENTIONS.mutedActions(handles)}`);
      }
    return EXIT.done;
  }
  await refuseAgents(hive, ACTION.loops);
  if (a === undefined || b === undefined || more.length > 0) throw invalidInput(MENTIONS.nameTwo(action));
  const named = async (name: string): Promise<string> =>
    name === UNVERIFIED_HANDLE ? name : (await hive.sessions.resolve(name)).handle;
  const pair = [await named(a), await named(b)] as const;
  await hive.loops[action](pair);
  if (options.json === true) printJson({ sessions: pair, state: action === 'allow' ? 'allowed' : 'muted' });
  else print(action === 'allow' ? MENTIONS.allowed(pair.join(' and ')) : MENTIONS.muted(pair.join(' and ')));
  return EXIT.done;
}
