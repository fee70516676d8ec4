/**
 * The mention gate as hook handlers: which calls are held, what is only reminded of, and when the gate gives up. These apply the
 * rules of domain/mention-gate.ts to the store and the client.
 */
import { acceptsContext, isHumanPrompt } from '../domain/hooks.ts';
import {
  carriedNotice,
  closeStep,
  decideGate,
  decideHumanPrompt,
  denialReason,
  type GateRecord,
  holdOfTurn,
  isExempt,
  MENTIONS_LISTED,
  newGate,
  PROMPT_REFUSALS,
  recordProgress,
  reminder,
  shownInFull,
} from '../domain/mention-gate.ts';
import type { MentionInFull } from '../domain/mentions.ts';
import { authorName } from '../domain/messages.ts';
import type { GateMode } from '../domain/preferences.ts';
import { isRemote } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import { hookCarrier } from './delivery.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import { codexAbove } from './identity.ts';
import { deliverMentions, titledAuthor } from './mentions.ts';
import { giveNotice } from './notices.ts';
import type { Connection, WriteTx } from './ports.ts';

/**
 * With a `strict` gate, the human's messages are refused too until the mentions are processed. Runs first, because a refused
 * prompt begins no turn, and nothing is handed over with it.
 */
export const refuseHumanPrompts: HookHandler = async (context) => {
  const { tx, event, session, log } = context;
  if (!isHumanPrompt(event) || (await gateModeOf(context)) !== 'strict') return null;
  const { session_id } = session;
  const counted = await tx.mentions.countUnprocessed(session_id);
  if (counted.gating === 0) return null;
  const record = (await tx.gates.get(session_id)) ?? newGate(session_id);
  const decision = decideHumanPrompt(counted, record, event.prompt ?? '');
  if (decision.record !== record) await tx.gates.put(decision.record);
  if (decision.gave_up_now) {
    log.warn('The mention gate lets prompts through.', { session: session.handle });
    await noticeGivenUp(
      context,
      (count, from) =>
        `Your messages reach ${labelled(session)} again, although ${count} mention(s) of it are unprocessed, the first from ${from}: ${PROMPT_REFUSALS} of your messages in a row were refused. The gate now only reminds the agent of its mentions.`,
    );
  }
  return decision.refused ? { block: refusal(await waiting(context), context) } : null;
};

/** Decides tool calls, and delivers mentions if nothing is held. */
export const gateMentions: HookHandler = async (context) => {
  const { tx, event, session, verdict } = context;
  // A person typed a prompt to this agent, which resets its loops.
  if (isHumanPrompt(event)) await tx.loops.humanSpoke(session.session_id);
  switch (event.name) {
    case 'PreToolUse':
      return decide(context);
    case 'PostToolBatch': {
      const record = await tx.gates.get(session.session_id);
      if (record !== undefined && record.step_until !== null) await tx.gates.put(closeStep(record));
      return null;
    }
    case 'UserPromptSubmit':
      // A new prompt repeats all unprocessed mentions, including those that were already shown.
      return verdict.block === null ? remind(context, unprocessed, isHumanPrompt(event)) : null;
    case 'SessionStart':
      // A prompt follows, which repeats them all. Only after a compaction, a turn may go on without one.
      return event.reason === 'compact' ? remind(context, fresh) : null;
    default:
      return acceptsContext(event) ? remind(context, fresh) : null;
  }
};

async function decide(context: HookContext): Promise<{ deny?: string; context?: string[] } | null> {
  const { tx, event, session, verdict, log } = context;
  if (event.tool === null || isExempt(event.tool) || verdict.deny !== null) return null;
  const { session_id } = session;
  const counted = await tx.mentions.countUnprocessed(session_id);
  const before = await tx.gates.get(session_id);
  if (counted.count === 0) return before?.held === true ? reopen(context, before) : null;
  // Only a session that was held before can still count as held from an earlier turn.
  const turn = before?.held_since == null ? undefined : await tx.turns.current(session_id);
  const record = holdOfTurn(before ?? newGate(session_id), turn?.started_at ?? null);
  const mode = await gateModeOf(context);
  const can_clear = await canCallUs(context);
  const decision = decideGate(counted, record, { mode, can_clear, now: tx.now });
  if (decision.record !== record) await tx.gates.put(decision.record);
  if (decision.gave_up_now) {
    log.warn('The mention gate gave up.', { session: session.handle });
    await noticeGivenUp(
      context,
      (count, from) =>
        `${labelled(session)} went on without processing ${count} mention(s), the first from ${from}. The gate now only reminds it.`,
    );
  }
  if (decision.opinion === 'pass') return null;
  if (decision.opinion === 'remind') return remind(context, fresh);
  const first = await tx.mentions.unprocessedOf(session_id, MENTIONS_LISTED);
  await deliver(context, first);
  await tx.mentions.deny(session_id);
  return { deny: denialReason(first, counted.count) };
}

/**
 * Notifies the human that the gate has given up. `sentence` gets the number of unprocessed mentions and the author of the
 * first.
 */
async function noticeGivenUp(
  context: HookContext,
  sentence: (count: number, from: string | undefined) => string,
): Promise<void> {
  const mentions = await waiting(context);
  await giveNotice(context.tx, {
    severity: 'warning',
    session_id: context.session.session_id,
    text: sentence(mentions.length, mentions[0] && (await titledAuthor(context.tx, mentions[0]))),
    data: { guard: 'mentions', mention_ids: mentions.map((mention) => mention.mention_id) },
  });
}

/** Lifts the hold after the last mention was processed or has expired. The agent is notified with this call, which passes. */
async function reopen({ tx }: HookContext, record: GateRecord): Promise<{ context: string[] }> {
  await tx.gates.put({ ...recordProgress(record), held: false });
  // Processing one ends the hold; with none processed, they have expired.
  const why =
    record.held_since === null ? 'Your mentions are processed' : 'The mentions that held you have expired';
  return { context: [`${why}, so your tool calls are allowed again. Continue where you stopped.`] };
}

/** The refusal for the human at the terminal: the prompt was not sent, and how to continue. */
function refusal(mentions: readonly MentionInFull[], { session: { handle } }: HookContext): string {
  const lines = mentions.map((mention) => `  - ${mention.at} from ${authorName(mention)}`);
  return [
    `You have ${mentions.length} unprocessed mention(s). See them with: hive mentions --session ${handle}`,
    ...lines,
    `When you have dealt with them: hive mentions process --all --session ${handle}`,
    // A prompt that names the tool passes, in every client and without any command of ours.
    'To have the agent deal with them, send: Deal with your mentions and call hivemind_process_mentions.',
    'Your message was not sent. Send it again afterwards.',
  ].join('\n');
}

/** The session's own setting, else the preference of the seat. */
export async function gateModeOf({
  session,
  preferences,
}: Pick<HookContext, 'session' | 'preferences'>): Promise<GateMode> {
  return session.gate ?? (await preferences()).gate;
}

/** The mentions that a reminder shows, and the total number. Only the shown ones are read, to keep hooks cheap. */
interface Reminded {
  first: MentionInFull[];
  count: number;
}

async function remind(
  context: HookContext,
  read: (context: HookContext) => Promise<Reminded>,
  typed = false,
): Promise<{ context: string[]; notice: string | null } | null> {
  const { first, count } = await read(context);
  if (count === 0 || (await gateModeOf(context)) === 'off') return null;
  await deliver(context, first);
  return { context: [reminder(first, count)], notice: typed ? carriedNotice(first, count) : null };
}

async function deliver({ tx, session }: HookContext, mentions: readonly MentionInFull[]): Promise<void> {
  await deliverMentions(tx, shownInFull(mentions), hookCarrier(session.session_id));
}

/** All of the session's unprocessed mentions. */
function waiting({ tx, session }: HookContext): Promise<MentionInFull[]> {
  return tx.mentions.unprocessedOf(session.session_id);
}

async function unprocessed({ tx, session: { session_id } }: HookContext): Promise<Reminded> {
  const first = await tx.mentions.unprocessedOf(session_id, MENTIONS_LISTED);
  if (first.length < MENTIONS_LISTED) return { first, count: first.length };
  return { first, count: (await tx.mentions.countUnprocessed(session_id)).count };
}

/** The mentions for a reminder that were not shown in full before; a prompt repeats them all. */
async function fresh({ tx, session: { session_id } }: HookContext): Promise<Reminded> {
  const first = await tx.mentions.freshOf(session_id, MENTIONS_LISTED);
  const count = first.length < MENTIONS_LISTED ? first.length : await tx.mentions.countFresh(session_id);
  return { first, count };
}

/** Whether a living `hive mcp` serves this session. Without one, the session could not make the call that clears the gate. */
async function canCallUs(context: HookContext): Promise<boolean> {
  const { tx, event, session, surroundings, processes } = context;
  const connections = await tx.sessions.connections(surroundings.machine);
  const living = connections.filter((connection) => processes.alive(connection.pid));
  const own = [session.session_id, event.session_id];
  if (isRemote(surroundings.machine)) return isServedRemotely(tx, living, own, event.pid);
  if (
    living.some(
      ({ session_id, parent_pid }) =>
        own.includes(session_id ?? '') || (parent_pid !== null && parent_pid === event.pid),
    )
  )
    return true;
  if (living.length === 0) return false;
  const above = processes.ancestors(surroundings.pid);
  if (living.some(({ parent_pid }) => parent_pid !== null && above.includes(parent_pid))) return true;
  for (const connection of living)
    if (connection.session_id === null && (await isBehindWrapper(context, connection, above))) return true;
  return false;
}

/**
 * Whether the process above `hive mcp` is a wrapper, such as a shell, between it and this hook's client. If another client is in
 * between, the connection belongs to that client.
 */
async function isBehindWrapper(
  { tx, event, surroundings, processes }: HookContext,
  { pid }: Connection,
  above: readonly number[],
): Promise<boolean> {
  const line = processes.ancestors(pid);
  const client = event.pid ?? codexAbove(event.client, above, processes);
  if (client === null || !line.includes(client)) return false;
  for (const between of line.slice(0, line.indexOf(client)))
    if ((await tx.sessions.byProcess(surroundings.machine, between)) !== undefined) return false;
  return true;
}

/**
 * The same over HTTP, where the client's processes cannot be examined. A connection of the same token counts if the session
 * called through it or the same client started it. A connection without any call yet may belong to any agent on that machine.
 * It counts as well; if it belongs to another agent, the gate gives up after its usual number of steps.
 */
async function isServedRemotely(
  tx: WriteTx,
  living: readonly Connection[],
  own: readonly string[],
  pid: number | null,
): Promise<boolean> {
  for (const { session_id, parent_pid } of living) {
    // Codex's hooks do not name their process.
    const mayBeOwn = parent_pid === null || pid === null || parent_pid === pid;
    if (session_id === null ? mayBeOwn : own.includes(session_id)) return true;
    // After /clear, the same client continues over the same connection under a new id.
    if (pid !== null && parent_pid === pid) return true;
    const caller = session_id === null ? undefined : await tx.sessions.get(session_id);
    if (pid !== null && caller?.pid === pid) return true;
  }
  return false;
}
