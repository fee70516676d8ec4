/** What services, hooks and the end of a session do to turns, inside a transaction of theirs. */
import { answerInterrupt, interruptedBy, wasInterrupted } from '../domain/interrupts.ts';
import { isExpired, type Prompt } from '../domain/prompts.ts';
import { runsInside } from '../domain/sessions.ts';
import {
  DISPLACED_TAIL_BYTES,
  type Displacing,
  rolloutSays,
  saysInterrupted,
  saysReplaced,
  TRANSCRIPT_TAIL_BYTES,
} from '../domain/transcripts.ts';
import {
  durationMs,
  endKind,
  endTurn,
  FALLS,
  INTERRUPTED_AT_TERMINAL,
  REPLACED,
  startTurn,
  type Turn,
  type TurnEnd,
  type TurnStart,
} from '../domain/turns.ts';
import type { CallTrace } from './identity.ts';
import type { Files, ReadTx, WriteTx } from './ports.ts';
import { recordCancel } from './prompt-records.ts';

export type Beginning = Omit<TurnStart, 'turn_id' | 'number'>;

/** Begins a turn; whoever calls has ended the one before. */
export async function beginTurn(tx: WriteTx, turn_id: string, beginning: Beginning): Promise<Turn> {
  const { session_id, client_turn_id, continues } = beginning;
  const data = { state: 'in_progress', client_turn_id, continues: continues?.turn_id ?? null };
  const number = await tx.events.append({ type: 'turn/changed', session_id, subject: turn_id, data });
  const turn = startTurn({ ...beginning, turn_id, number }, tx.now);
  await tx.turns.insert(turn);
  return turn;
}

/**
 * Ends a turn, with what its end does to the questions asked in it and to whoever waits for it: all in one
 * transaction, so that nobody reads one of these without the others. One that has ended stays as it is.
 */
export async function closeTurn(tx: WriteTx, turn: Turn, end: TurnEnd): Promise<Turn> {
  if (turn.state !== 'in_progress') return turn;
  const ended = endTurn(turn, end, await cancelFalling(tx, turn, end), tx.now);
  await tx.turns.update(ended);
  const { turn_id, session_id, state, abort_reason, by, via, started_at, ended_at, cancelled_prompts } =
    ended;
  const duration_ms = durationMs(ended, tx.now);
  const data = { state, abort_reason, by, via, started_at, ended_at, duration_ms, cancelled_prompts };
  await tx.events.append({ type: 'turn/changed', session_id, subject: turn_id, data });
  for (const interrupt of await tx.turns.pendingInterrupts(turn_id))
    await tx.turns.updateInterrupt(answerInterrupt(interrupt, ended, tx.now));
  if (state === 'aborted') await closeWithParent(tx, ended, end);
  return ended;
}

async function cancelFalling(tx: WriteTx, turn: Turn, end: TurnEnd): Promise<string[]> {
  const kind = endKind(end);
  const cancelled: string[] = [];
  for (const prompt of await tx.prompts.pendingOfTurn(turn.turn_id)) {
    // What is due expires by itself, and says so.
    if (!FALLS[kind](prompt) || isExpired(prompt, tx.now)) continue;
    await cancelOne(tx, prompt, end);
    cancelled.push(prompt.ask_id);
  }
  return cancelled;
}

async function cancelOne(tx: WriteTx, prompt: Prompt, end: TurnEnd): Promise<void> {
  if (end.state !== 'aborted' || end.abort_reason === 'ended') return;
  const { abort_reason: reason } = end;
  await recordCancel(tx, prompt, { by: end.by ?? prompt.agent, via: end.via ?? 'hook', reason });
}

/** The subagents that ran inside the turn go with it; those in the background, and Codex's, run on. */
async function closeWithParent(tx: WriteTx, parent: Turn, end: TurnEnd): Promise<void> {
  const session = await tx.sessions.get(parent.session_id);
  for (const child of await tx.sessions.childrenOf(parent.session_id)) {
    if (session === undefined || child.client === 'codex' || !runsInside(child, session)) continue;
    const turn = await tx.turns.current(child.session_id);
    if (turn === undefined) continue;
    const { stopped_at, batch_at } = parent;
    await closeTurn(tx, { ...turn, stopped_at, batch_at }, end);
  }
}

/** The turn that an event of a client is about: by the client's id, else the one that runs, else the last. */
export async function turnOf(
  tx: ReadTx,
  session_id: string,
  client_turn_id: string | null,
): Promise<Turn | undefined> {
  const named = client_turn_id === null ? undefined : await tx.turns.byClientTurn(session_id, client_turn_id);
  if (named !== undefined) return named;
  const current = await tx.turns.current(session_id);
  if (current !== undefined)
    return client_turn_id === null || current.client_turn_id === null ? current : undefined;
  return client_turn_id === null ? tx.turns.last(session_id) : undefined;
}

/** The turn in which a tool of ours is called; undefined where none is known. */
export async function turnOfCall(
  tx: ReadTx,
  session_id: string,
  { client_turn_id, tool_use_id }: CallTrace,
): Promise<Turn | undefined> {
  if (client_turn_id !== null) return turnOf(tx, session_id, client_turn_id);
  const current = await tx.turns.current(session_id);
  if (current !== undefined || tool_use_id === null) return current;
  // Its turn was stopped while this very call was on its way.
  const last = await tx.turns.last(session_id);
  return last?.open_tools.some(({ use_id }) => use_id === tool_use_id) === true ? last : undefined;
}

/** Somebody stopped the client itself: whoever asked for that through Hive, else the person at its terminal. */
export async function stoppedInClient(tx: ReadTx, turn: Turn): Promise<TurnEnd> {
  const pushed = (await tx.turns.pendingInterrupts(turn.turn_id)).find(({ pushed_at }) => pushed_at !== null);
  return pushed === undefined ? INTERRUPTED_AT_TERMINAL : interruptedBy(pushed);
}

/**
 * What the client's own record says of a turn that runs as far as the store knows: how it ended, or null for nothing.
 * `next` is the turn that begins in its place, if one does.
 */
export async function toldByTranscript(
  tx: ReadTx,
  turn: Turn,
  readTail: Files['readTail'],
  next: Displacing | null = null,
): Promise<TurnEnd | null> {
  if (turn.state !== 'in_progress' || turn.transcript_path === null) return null;
  const tail = readTail(turn.transcript_path, next === null ? TRANSCRIPT_TAIL_BYTES : DISPLACED_TAIL_BYTES);
  if (tail === null) return null;
  const rollout = rolloutSays(tail, turn);
  if (rollout === 'interrupted' || saysInterrupted(tail, turn)) return stoppedInClient(tx, turn);
  return rollout === 'replaced' || (next !== null && saysReplaced(tail, turn, next)) ? REPLACED : null;
}

/** Why a turn is to stop, or was stopped. */
export interface StopOrder {
  /** Who wants it. */
  by: string;
  /** Why; at most 2,000 characters. */
  note: string | null;
}

/** Null when nobody wants it to. */
export async function readOrder(tx: ReadTx, turn_id: string): Promise<StopOrder | null> {
  const turn = await tx.turns.get(turn_id);
  if (turn === undefined) return null;
  if (wasInterrupted(turn)) return { by: turn.by ?? 'client', note: turn.note };
  const [asked] = turn.state === 'in_progress' ? await tx.turns.pendingInterrupts(turn_id) : [];
  return asked === undefined ? null : { by: asked.by, note: asked.note };
}
