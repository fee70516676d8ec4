/**
 * The Stop guard holds an agent that wants to stop while it has something left to do, with a sentence that names the exact
 * call. It counts its own holds and gives up after three a turn (invariant 11). The client's `stop_hook_active` is logged but
 * decides nothing, because another hook may have set it. Pure: no clock, no ids, no I/O.
 */
import { holdAtMost } from './guards.ts';
import { describeOutreach, type Outreach, type OutreachSettings } from './outreach.ts';
import { hasAnswer, type Prompt } from './prompts.ts';
import { labelled, type Source } from './sources.ts';

/** The guard's state for one session. */
export interface StopGuardRecord {
  session_id: string;
  /** The chain of turns over which blocks are counted (`chain_id` of a turn). */
  chain: string | null;
  /** How often it held a Stop in this chain. */
  blocks: number;
  /** When it gave up in this chain. */
  let_go_at: string | null;
  /** When the session's last report was sent. */
  reported_at: string | null;
  /** The agent was already reminded of output sent before this time. */
  reminded_at: string | null;
}

/** How many Stops of one chain of turns are held at most. */
export const STOP_BLOCKS = 3;

/** The state of a guard that has held nothing yet. */
export function newStopGuard(session_id: string): StopGuardRecord {
  return {
    session_id,
    chain: null,
    blocks: 0,
    let_go_at: null,
    reported_at: null,
    reminded_at: null,
  };
}

/** The state for this chain of turns: a new chain starts at zero. */
export function inChain(record: StopGuardRecord, chain: string | null): StopGuardRecord {
  return record.chain === chain ? record : { ...record, chain, blocks: 0, let_go_at: null };
}

/** Whether the guard may still hold this chain. */
export function mayHold(record: StopGuardRecord): boolean {
  return nextHold(record).opinion === 'hold';
}

function nextHold({ blocks, let_go_at }: StopGuardRecord): ReturnType<typeof holdAtMost> {
  return holdAtMost(STOP_BLOCKS, { holds: blocks, gave_up: let_go_at !== null });
}

/** Why a Stop is held. */
export type Hold = 'answers' | 'mentions' | 'report';

/** Something that the agent still has to do, with the sentence about it. */
export interface Owed {
  hold: Hold;
  text: string;
  /** The sentence for the human if the agent stops without doing it. */
  undone: string;
}

/** Whether a session must report before it stops. Main sessions and forks never must. */
export function owesReport(
  source: Source,
  { report_policy }: Pick<OutreachSettings, 'report_policy'>,
  unreported: readonly Outreach[],
  { reported_in_turn }: { reported_in_turn: boolean },
): boolean {
  if (source !== 'bg') return false;
  if (report_policy === 'on_ping') return unreported.length > 0;
  return report_policy === 'always' && (unreported.length > 0 || !reported_in_turn);
}

/** The decision about a Stop. */
export type StopDecision =
  | { opinion: 'pass'; record: StopGuardRecord }
  | { opinion: 'block'; record: StopGuardRecord; reason: string }
  /** It has been held often enough: the human is notified instead, once. */
  | { opinion: 'let_go'; record: StopGuardRecord };

/** Decides one Stop, given what the agent still has to do. */
export function decideStop(owed: readonly Owed[], record: StopGuardRecord, now: string): StopDecision {
  if (owed.length === 0) return { opinion: 'pass', record };
  const { opinion, holds } = nextHold(record);
  switch (opinion) {
    case 'pass':
      return { opinion, record };
    case 'give_up':
      return { opinion: 'let_go', record: { ...record, let_go_at: now } };
    case 'hold': {
      const reason = owed.map(({ text }) => text).join('\n\n');
      return { opinion: 'block', record: { ...record, blocks: holds }, reason };
    }
  }
}

const REPORT_CALL = 'hivemind_report_updates {"message": "what you found and did, and what is still open"}';

/** Why a Stop is held for a report, and the call that clears it. */
export function reportReason(unreported: readonly Outreach[]): string {
  if (unreported.length === 0)
    return `Before you stop, report what this turn did: your session's report_policy asks for a report each turn. Call ${REPORT_CALL}. Then stop.`;
  return `You showed your human ${listOutreach(unreported)} and have not reported it, so the session that you report to knows nothing about it. Before you stop, call ${REPORT_CALL}. Then stop.`;
}

/** The same as a reminder, if nothing is held. */
export function reportReminder(unreported: readonly Outreach[]): string {
  return `You showed your human ${listOutreach(unreported)}. Before you stop, report it to the session that you work for: ${REPORT_CALL}.`;
}

/**
 * Why a Stop is held for settled questions. It never contains an answer: a client may mark the text of a Stop hook as not the
 * human's (invariant 18), so the agent fetches the answer. In Claude Code's terminal, the person reads this sentence as well.
 */
export function answersReason(settled: readonly Prompt[]): string {
  const one = settled.length === 1;
  const what = settled.some(hasAnswer)
    ? `${one ? 'An answer is' : 'Answers are'} waiting`
    : `${one ? 'A question of yours was' : 'Questions of yours were'} settled without an answer`;
  const args = one ? `{"ask_id": "${settled[0]?.ask_id}"}` : '{}';
  return `${what}: call hivemind_poll ${args}. Act on the result, then stop.`;
}

/** Why a Stop is held for urgent mentions. */
export function mentionsReason(mentions: string, mention_ids: readonly string[]): string {
  return `You have urgent mentions that are not processed:\n\n${mentions}\n\nAct on them, then call hivemind_process_mentions {"mention_ids": ${JSON.stringify(mention_ids)}}. Then stop.`;
}

/** How many items a sentence names. */
const NAMED = 5;

/** The items as a phrase: `ping "…", card "…" and 2 more`. */
export function listOutreach(items: readonly Outreach[]): string {
  const named = items.slice(0, NAMED).map(describeOutreach);
  if (items.length > NAMED) named.push(`${items.length - NAMED} more`);
  return named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}

/** A session, as a notice names it. */
type Named = Parameters<typeof labelled>[0];

const HELD = ` although it was held ${STOP_BLOCKS} times`;

/** The notice for the human about an agent that stopped without fetching settled questions. */
export function unfetchedNotice(who: Named, ask_ids: readonly string[]): string {
  const what = ask_ids.length === 1 ? `what became of ${ask_ids[0]}` : `${ask_ids.length} settled questions`;
  const it = ask_ids.length === 1 ? 'It comes' : 'They come';
  return `${labelled(who)} stopped without fetching ${what}${HELD}. ${it} with its next message.`;
}

/** The notice for the human about an agent that stopped with unprocessed urgent mentions. */
export function unprocessedNotice(who: Named, count: number): string {
  return `${labelled(who)} stopped with ${count === 1 ? 'an urgent mention' : `${count} urgent mentions`} unprocessed${HELD}.`;
}

/** The notice for the human about an agent that stopped or ended without a report. */
export function unreportedNotice(
  who: Named,
  unreported: readonly Outreach[],
  how: 'stopped' | 'ended',
): string {
  const name = labelled(who);
  const held = how === 'stopped' ? HELD : '';
  return unreported.length === 0
    ? `${name} ${how} without the required report${held}.`
    : `${name} ${how} with unreported output${held}: ${listOutreach(unreported)}.`;
}
