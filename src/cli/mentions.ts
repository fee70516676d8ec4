/**
 * `hive mentions`: lists the mentions that nobody has processed yet. A person sees the human's or any session's, an
 * agent its own. `process` marks them processed; `allow` and `mute` settle a loop of two agents.
 */
import { type Command, Option } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { Actor } from '../domain/actors.ts';
import { HUMAN_ADDRESSEE } from '../domain/actors.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { MentionInFull, MentionStatus } from '../domain/mentions.ts';
import { authorName } from '../domain/messages.ts';
import { didYouMean, nearestNames } from '../domain/names.ts';
import { HUMAN_HANDLE, UNVERIFIED_HANDLE } from '../domain/sessions.ts';
import { type Caller, carrierOf, findActor, findCaller, refuseAgents, registerCaller } from './actor.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { wholeNumber } from './list.ts';
import { age, doneAsJson, type Format, print, printJson, remark, say } from './output.ts';
import { perform } from './program.ts';
import { more, SOMEBODY } from './sentences.ts';

const loopActions = ([a, b]: readonly [string, string]): string =>
  `Let them continue: hive mentions allow ${a} ${b}\n  Mute this pair: hive mentions mute ${a} ${b}\n  Write to them: hive post "@${a} @${b} …"`;

const mutedActions = ([a, b]: readonly [string, string]): string =>
  `Let them mention each other again: hive mentions allow ${a} ${b}`;

interface MentionsOptions extends Format {
  asAgent?: boolean;
  session?: string;
  status: MentionStatus | 'any';
  limit: number;
  all?: boolean;
  note?: string;
}

export function defineMentions(command: Command): void {
  perform(command, mentions)
    .usage('[options] [process <id...> | process --all | allow <a> <b> | mute <a> <b> | loops]')
    .argument(
      '[action]',
      'list (the default); process; mute: two sessions no longer reach each other; allow: they do again; loops: list the pairs that are stopped or muted',
    )
    .argument('[names...]', 'for process: mention_ids or message_ids; for allow and mute: two sessions')
    .option('--session <handle>', "whose mentions; default: the human's, or under an agent its own")
    .addOption(
      new Option('--status <status>', 'the state to list')
        .choices(['unprocessed', 'processed', 'expired', 'any'])
        .default('unprocessed'),
    )
    .option('--limit <n>', 'the largest number to list', wholeNumber, 50)
    .option('--all', 'process all unprocessed ones')
    .option('--note <text>', 'what was done about them')
    .option('--as-agent', "an agent processes another session's mentions, which is recorded");
}

async function mentions(
  hive: Hive,
  action = 'list',
  names: string[],
  options: MentionsOptions,
  command: Command,
): Promise<ExitCode> {
  const given = Object.keys(options).filter((name) => command.getOptionValueSource(name) === 'cli');
  refuseUnused(action, names, options, given);
  const caller = await findCaller(hive);
  if (action === 'allow' || action === 'mute' || action === 'loops')
    return loops(hive, action, names, options);
  const whose = await addresseeOf(hive, caller, options);
  if (action === 'list') return list(hive, whose, options);
  if (action === 'process') return processThem(hive, whose, names, options);
  const hint = didYouMean(nearestNames(action, ['list', 'process', ...SETTLING]));
  throw invalidInput(
    `There is no "hive mentions ${action}".${hint} Use list, process, allow, mute or loops.`,
  );
}

const LISTING = ['status', 'limit'];
const SETTLING = ['allow', 'mute', 'loops'];

/** @throws HiveError `invalid_input` for what another action would use. */
function refuseUnused(
  action: string,
  names: readonly string[],
  { all, note }: MentionsOptions,
  given: readonly string[],
): void {
  if (action === 'list' && names.length > 0)
    throw invalidInput('hive mentions list takes no names; --session HANDLE lists those of one session.');
  if (action === 'loops' && names.length > 0)
    throw invalidInput('hive mentions loops takes no names: it lists every loop and every muted pair.');
  if (action !== 'list' && given.some((name) => LISTING.includes(name)))
    throw invalidInput(
      `--status and --limit are for the list, not for hive mentions ${action}. Nothing was done.`,
    );
  if (SETTLING.includes(action) && given.includes('session'))
    throw invalidInput(
      `hive mentions ${action} takes no --session: it is not about the mentions of one session. Nothing was done.`,
    );
  if (action !== 'process' && (all === true || note !== undefined))
    throw invalidInput('--all and --note are for hive mentions process. To list more, add --limit N.');
  if (action === 'process' && names.length > 0 && all === true)
    throw invalidInput('Give either the ids of the mentions or --all, not both. Nothing was processed.');
  if (action === 'process' && names.length === 0 && all !== true)
    throw invalidInput(
      'Give the ids of the mentions, or --all for all of them. Nothing was processed. hive mentions shows the ids.',
    );
}

interface Whose {
  session_id: string;
  handle: string;
  actor: Actor;
  /** The carrier, if this prints to the addressee itself; it records what was shown. */
  carrier: string | null;
}

async function addresseeOf(hive: Hive, caller: Caller, options: MentionsOptions): Promise<Whose> {
  const { session, asAgent } = options;
  const isAgent = caller.agent_because !== null;
  const human = session === undefined ? !isAgent : [HUMAN_HANDLE, HUMAN_ADDRESSEE].includes(session);
  if (human && isAgent)
    throw new HiveError('not_allowed', "Only the human may read or process the human's mentions.");
  const named = human
    ? undefined
    : session === undefined
      ? await registerCaller(hive, caller)
      : await hive.sessions.resolve(session);
  const session_id = named?.session_id ?? HUMAN_ADDRESSEE;
  const action = {
    action: "read or process another session's mentions",
    isOwn: (one: Caller) => one.session_id === session_id,
    asAgent,
  };
  const actor = await findActor(hive, action);
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
  { status, limit, json, session, asAgent }: MentionsOptions,
): Promise<ExitCode> {
  const open = status === 'unprocessed';
  const { items, next_cursor = null } = open
    ? { items: await hive.mentions.unprocessed(session_id, carrier, limit) }
    : await hive.mentions.history({
        session_id,
        status: status === 'any' ? undefined : status,
        limit,
      });
  const summary = await hive.mentions.summary(session_id);
  const isCut = open ? items.length < summary.unprocessed : next_cursor !== null;
  if (json === true) return doneAsJson({ mentions: items, more: isCut, handle, summary });
  for (const mention of items) show(mention);
  if (items.length === 0)
    remark(`There are no ${status === 'any' ? '' : `${status} `}mentions of ${handle}.`);
  else if (open) {
    // Without it, the same commands would process the caller's own.
    const whose = `${session === undefined ? '' : ` --session ${handle}`}${asAgent === true ? ' --as-agent' : ''}`;
    remark(
      `Mark them processed with: hive mentions process ID…${whose}, or: hive mentions process --all${whose}`,
    );
  }
  if (isCut) remark(more(limit));
  return EXIT.done;
}

function show(mention: MentionInFull): void {
  const { mention_id, at, status, priority, processed_by, note, thread, body } = mention;
  const marks = [
    mention.by,
    priority === 'urgent' ? 'urgent' : null,
    mention.expects_reply ? 'expects a reply' : null,
    status === 'processed'
      ? `processed by ${processed_by ?? SOMEBODY}${note === null ? '' : `: ${note}`}`
      : null,
    status === 'expired' ? 'expired' : null,
    thread === null ? null : `in ${thread}`,
  ].filter((mark) => mark !== null);
  print(
    `${authorName(mention)}, ${age(at)} ago [${mention_id}]${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`,
  );
  say(`${body.replace(/^(?=.)/gm, '  ')}\n`);
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
    return doneAsJson({ processed: ids(processed), unread: shown, already: ids(already), remaining, handle });
  }
  for (const mention of shown) show(mention);
  say(`Processed ${processed.length} of ${handle}'s mentions; ${remaining} left.`);
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
    else if (found.length === 0) remark('There are no loops and no muted pairs.');
    else
      for (const { handles, state, reason } of found) {
        say(`${handles.join(' and ')}: ${state} (${reason})`);
        say(`  ${state === 'tripped' ? loopActions(handles) : mutedActions(handles)}`);
      }
    return EXIT.done;
  }
  await refuseAgents(hive, 'decide whether two agents may continue');
  if (a === undefined || b === undefined || more.length > 0)
    throw invalidInput(`Name two sessions, for example: hive mentions ${action} Claude-abc12 Claude-def34`);
  const named = async (name: string): Promise<string> =>
    name === UNVERIFIED_HANDLE ? name : (await hive.sessions.resolve(name)).handle;
  const pair = [await named(a), await named(b)] as const;
  const state = action === 'allow' ? 'allowed' : 'muted';
  await hive.loops.settle(pair, state);
  if (options.json === true) printJson({ sessions: pair, state });
  else
    say(
      state === 'allowed'
        ? `${pair.join(' and ')} may continue.`
        : `${pair.join(' and ')} are muted: neither is notified when the other mentions it.`,
    );
  return EXIT.done;
}
