/**
 * The Stop guard as a hook handler: finds out what a session still has to do, and holds its Stop or lets it stop. The rule itself
 * is in domain/stop-guard.ts. An error here rolls back the transaction, and the hook fails open.
 */
import type { HookWait, Verdict } from '../domain/hooks.ts';
import { describeMentions } from '../domain/mention-gate.ts';
import type { Outreach, OutreachSettings } from '../domain/outreach.ts';
import { OPEN_LIMIT } from '../domain/prompts.ts';
import {
  answersReason,
  decideStop,
  inChain,
  mayHold,
  mentionsReason,
  newStopGuard,
  type Owed,
  owesReport,
  reportReason,
  type StopGuardRecord,
  unfetchedNotice,
  unprocessedNotice,
  unreportedNotice,
} from '../domain/stop-guard.ts';
import type { Turn } from '../domain/turns.ts';
import { hookCarrier, undelivered } from './delivery.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import { gateModeOf } from './mention-gate.ts';
import { deliverMentions } from './mentions.ts';
import { giveUp, settingsOf } from './outreach.ts';
import type { ReadTx } from './ports.ts';

/** Holds a Stop while the session still has something to do. */
export const guardStop: HookHandler = async (hook) => {
  const { event, session, verdict } = hook;
  const stops =
    event.name === 'Stop' || (event.name === 'SubagentStop' && session.session_id !== event.session_id);
  // An interrupted session stops, whatever it still has to do.
  if (!stops || verdict.no_hold || verdict.end_turn !== null || verdict.block !== null) return null;
  return judge(hook);
};

async function judge(hook: HookContext): Promise<Partial<Verdict> | null> {
  const { tx, event, session } = hook;
  if (!(await hook.preferences()).stop_guard) return null;
  const { session_id } = session;
  const settings = await settingsOf(tx, session);
  const turn = await turnOf(hook);
  const stored = (await tx.outreach.guard(session_id)) ?? newStopGuard(session_id);
  const record = inChain(stored, turn?.chain_id ?? event.client_turn_id);
  const unreported = await tx.outreach.unreported(session_id);
  const owed = [
    ...(await owedAnswers(hook)),
    ...(await owedMentions(hook, record)),
    ...(await owedReport(hook, settings, record, unreported, turn)),
  ];
  const decision = decideStop(owed, record, tx.now);
  // Most sessions have nothing left to do when they stop and need no row.
  if (decision.record !== record) await tx.outreach.putGuard(decision.record);
  switch (decision.opinion) {
    case 'block': {
      const holds = owed.map(({ hold }) => hold);
      const data = {
        change: 'held',
        holds,
        blocks: decision.record.blocks,
        stop_hook_active: event.stop_hook_active,
      };
      await tx.events.append({ type: 'stop/guarded', session_id, subject: session_id, data });
      return { block: decision.reason };
    }
    case 'let_go':
      await giveUp(tx, session, {
        how: 'stopped',
        unreported: owed.some(({ hold }) => hold === 'report') ? unreported : [],
        text: owed.map(({ undone }) => undone).join(' '),
      });
      return null;
    default:
      return waitForHuman(hook, record);
  }
}

/** Settled questions that the agent has not fetched. Nothing is handed over here: the call that the reason names fetches them. */
async function owedAnswers(hook: HookContext): Promise<Owed[]> {
  const settled = await undelivered(hook);
  if (settled.length === 0) return [];
  const ask_ids = settled.map(({ ask_id }) => ask_id);
  return [{ hold: 'answers', text: answersReason(settled), undone: unfetchedNotice(hook.session, ask_ids) }];
}

async function owedMentions(hook: HookContext, record: StopGuardRecord): Promise<Owed[]> {
  if ((await gateModeOf(hook)) === 'off') return [];
  const { tx, session } = hook;
  const unprocessed = await tx.mentions.unprocessedOf(session.session_id);
  const urgent = unprocessed.filter(
    ({ priority, gates, expires_at }) =>
      priority === 'urgent' && gates && (expires_at === null || expires_at > tx.now),
  );
  if (urgent.length === 0) return [];
  // If the Stop is not held, the reason is not printed.
  if (mayHold(record)) await deliverMentions(tx, urgent, hookCarrier(session.session_id));
  const mention_ids = urgent.map(({ mention_id }) => mention_id);
  const text = mentionsReason(describeMentions(urgent, urgent.length), mention_ids);
  return [{ hold: 'mentions', text, undone: unprocessedNotice(session, urgent.length) }];
}

async function owedReport(
  { tx, session }: HookContext,
  settings: OutreachSettings,
  { reported_at }: StopGuardRecord,
  unreported: readonly Outreach[],
  turn: Turn | undefined,
): Promise<Owed[]> {
  const since = await chainStart(tx, turn);
  const reported_in_turn = reported_at !== null && (since === null || reported_at >= since);
  return owesReport(session.source, settings, unreported, { reported_in_turn })
    ? [
        {
          hold: 'report',
          text: reportReason(unreported),
          undone: unreportedNotice(session, unreported, 'stopped'),
        },
      ]
    : [];
}

/**
 * With `stop_wait`, an unattended session that would stop with an open question waits for its human instead. In a terminal, this
 * would delay the person's input.
 */
async function waitForHuman(
  { tx, event, session, preferences, waited }: HookContext,
  record: StopGuardRecord,
): Promise<{ wait: HookWait } | null> {
  const { stop_wait: seconds } = await preferences();
  const unattended = event.attended === null ? session.source === 'bg' : !event.attended;
  if (waited !== null || !(seconds > 0) || !unattended || !mayHold(record)) return null;
  const open = await tx.prompts.openOf(session.session_id, OPEN_LIMIT);
  const pending = open.filter(({ status }) => status === 'pending');
  return pending.length === 0
    ? null
    : { wait: { ask_ids: pending.map(({ ask_id }) => ask_id), wait_ms: seconds * 1_000 } };
}

/** The turn that is about to stop: the running turn, else the one that the client names. */
async function turnOf({ tx, event, session: { session_id } }: HookContext): Promise<Turn | undefined> {
  const { client_turn_id } = event;
  const named = client_turn_id === null ? undefined : await tx.turns.byClientTurn(session_id, client_turn_id);
  return (await tx.turns.current(session_id)) ?? named ?? (await tx.turns.last(session_id));
}

/** When the chain of turns began that this turn continues. */
async function chainStart(tx: ReadTx, turn: Turn | undefined): Promise<string | null> {
  if (turn === undefined) return null;
  const first = turn.chain_id === turn.turn_id ? turn : await tx.turns.get(turn.chain_id);
  return (first ?? turn).started_at;
}
