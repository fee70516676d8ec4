/**
 * How an interrupt reaches a client through its hooks, and how the session hears of it afterwards. What each
 * client takes, and what it does with it, was tried: docs/turns.md.
 */

import { readUntil, type Verdict } from '../domain/hooks.ts';
import {
  type Interrupt,
  interruptedBy,
  stopPrinted,
  stopWasLost,
  wasInterrupted,
} from '../domain/interrupts.ts';
import { runsInside } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import { pleaseStop, stopLostSentence, stopSentence, toldSentence } from '../domain/turn-sentences.ts';
import type { Turn } from '../domain/turns.ts';
import { giveNotice } from './notices.ts';
import type { WriteTx } from './ports.ts';
import type { Station, Visit } from './station.ts';
import { closeTurn, turnOf } from './turn-records.ts';

/** Before the gates: a turn that is to stop does nothing else. */
export const deliverInterrupts: Station = async (visit) => {
  const { tx, event, session } = visit;
  const turn = await turnOf(tx, session.session_id, event.client_turn_id);
  if (turn === undefined) return null;
  const asked = turn.state === 'in_progress' ? await askedFor(visit, turn) : null;
  const stopped = wasInterrupted(turn) && turn.stopped_at !== null;
  if (asked === null && !stopped) return null;
  if (HOLDABLE.has(event.name)) return { let_go: true };
  if (!canStop(visit)) return null;
  if (asked !== null) await closeTurn(tx, stopPrinted(turn, tx.now), interruptedBy(asked));
  else if (event.name === 'PreToolUse') await stopAgain(visit, turn);
  return stopVerdict(event.name, asked ?? { by: turn.by ?? 'client', note: turn.note });
};

const HOLDABLE: ReadonlySet<string> = new Set(['Stop', 'SubagentStop', 'StopFailure']);

/** Codex goes on after whatever a PostToolUse says; Claude Code stops at each of these. */
function canStop({ event }: Visit): boolean {
  if (event.name === 'PreToolUse') return true;
  return event.client === 'claude-code' && (event.name === 'PostToolUse' || event.name === 'PostToolBatch');
}

/** Every further call of a batch is denied as well: `continue:false` alone lets a tool run. */
function stopVerdict(name: string, asked: Pick<Interrupt, 'by' | 'note'>): Partial<Verdict> {
  const end_turn = stopSentence(asked);
  return name === 'PreToolUse' ? { deny: pleaseStop(asked), end_turn } : { end_turn };
}

/** The first request for this turn, or for the one that a subagent works for. */
async function askedFor({ tx, event, session }: Visit, turn: Turn): Promise<Interrupt | null> {
  const [own] = await tx.turns.pendingInterrupts(turn.turn_id);
  if (own !== undefined) return own;
  const host = event.agent_id === null ? undefined : await tx.sessions.get(event.session_id);
  if (host === undefined || !runsInside(session, host)) return null;
  const parent = await tx.turns.current(host.session_id);
  const [above] = parent === undefined ? [] : await tx.turns.pendingInterrupts(parent.turn_id);
  return above ?? null;
}

/** Codex cannot be stopped by a denial, only asked: the human hears of one that goes on asking for tools. */
const CODEX_PATIENCE = 10;

/** A tool of a stopped turn: one more of the batch that was in flight, or proof that the client never read the stop. */
async function stopAgain({ tx, event, session }: Visit, turn: Turn): Promise<void> {
  const lost = event.client === 'claude-code' && stopWasLost(turn, tx.now);
  const again =
    event.client === 'codex' || lost ? stopPrinted(turn, tx.now) : { ...turn, stops: turn.stops + 1 };
  await tx.turns.update(again);
  if (!lost && !(event.client === 'codex' && again.stops === CODEX_PATIENCE)) return;
  const { session_id } = session;
  const { turn_id, stops } = again;
  await tx.events.append({ type: 'turn/stopped_again', session_id, subject: turn_id, data: { stops } });
  await giveNotice(tx, {
    severity: 'warning',
    text: stopLostSentence(labelled(session), stops),
    session_id,
    data: { turn_id, stops },
  });
}

const TOLD_AT_ONCE = 5;

/** With the next prompt, or a new start, the session hears once what became of its last turn. */
export const tellAborted: Station = async ({ tx, event, session, verdict, proves }) => {
  const { session_id } = session;
  const untold = event.agent_id === null ? await tx.turns.untold(session_id, TOLD_AT_ONCE) : [];
  if (untold.length === 0) return null;
  // A session that begins anew from its transcript may have lost what was printed last.
  const proven = event.name === 'SessionStart' || !proves ? null : readUntil(event, tx.now);
  const context: string[] = [];
  for (const turn of untold) {
    if (turn.told_handed_at !== null && proven !== null && turn.told_handed_at < proven) {
      await tx.turns.update({ ...turn, told_collected_at: tx.now });
    } else if (!isWorthTelling(turn)) {
      await tx.turns.update({ ...turn, told_collected_at: tx.now });
    } else if (isTelling(event.name) && verdict.block === null) {
      const repeated = turn.told_handed_at !== null;
      await tx.turns.update({ ...turn, told_handed_at: tx.now });
      await tx.events.append({ type: 'turn/told', session_id, subject: turn.turn_id, data: { repeated } });
      context.push(toldSentence(turn, repeated));
    }
  }
  return { context, carries: context.length > 0 };
};

/** What a hook was to tell and never printed is told with the next. */
export async function releaseTold(tx: WriteTx, session_id: string): Promise<void> {
  for (const turn of await tx.turns.untold(session_id, TOLD_AT_ONCE)) {
    if (turn.told_handed_at !== null) await tx.turns.update({ ...turn, told_handed_at: null });
  }
}

function isTelling(name: string): boolean {
  return name === 'SessionStart' || name === 'UserPromptSubmit';
}

/** A turn that did nothing, and that nobody stopped, left nothing half done. */
function isWorthTelling({ abort_reason, steps }: Turn): boolean {
  return (abort_reason !== 'unknown' && abort_reason !== 'replaced') || steps > 0;
}
