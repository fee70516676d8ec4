/**
 * Turns as the hooks of a client tell them (docs/turns.md): the first station knows which turn an event is
 * about and lets it begin; the last but one lets it end, since a Stop that is held ends nothing.
 */
import { type HookEvent, isHumanPrompt } from '../domain/hooks.ts';
import { type ArrivalKind, meaningOf } from '../domain/turn-arrivals.ts';
import {
  batchClosed,
  ENDED_UNKNOWN,
  ENDED_WITH_SESSION,
  type Turn,
  type TurnEnd,
  toolEnded,
  toolStarted,
} from '../domain/turns.ts';
import type { Station, Visit } from './station.ts';
import { beginTurn, closeTurn, stoppedInClient, toldByTranscript, turnOf } from './turn-records.ts';

const KINDS: Readonly<Record<string, ArrivalKind>> = {
  UserPromptSubmit: 'prompt',
  SubagentStart: 'tool',
  PreToolUse: 'tool',
  PermissionRequest: 'tool',
  PostToolUse: 'after',
  PostToolUseFailure: 'after',
  PostToolBatch: 'after',
  Stop: 'stop',
  StopFailure: 'stop',
  SubagentStop: 'stop',
};

/** First of all but a refusal: the turn of this event runs, if the event says so. */
export const beginTurns: Station = async (visit) => {
  const { tx, event, session } = visit;
  // A prompt that was refused never reaches the agent.
  if (isForeign(visit) || visit.verdict.block !== null) return null;
  const { session_id } = session;
  const kind = KINDS[event.name];
  const current = (await tx.turns.current(session_id)) ?? null;
  if (kind === undefined) {
    if (current !== null && showsThatNothingRuns(event)) await closeAsFound(visit, current, event.name);
    return null;
  }
  const { client_turn_id } = event;
  const named =
    client_turn_id === null ? null : ((await tx.turns.byClientTurn(session_id, client_turn_id)) ?? null);
  const last = current ?? (await tx.turns.last(session_id)) ?? null;
  const meaning = meaningOf({ kind, client_turn_id }, { current, named, last });
  if (meaning.kind === 'begin' || meaning.kind === 'continue') {
    if (current !== null) await closeTurn(tx, current, await endBefore(visit, current));
    await begin(visit, meaning.kind === 'continue' ? meaning.turn : null);
  } else if (meaning.kind === 'steer' && event.agent_id === null) await steer(visit, meaning.turn);
  return null;
};

/** /compact fires a SubagentStop for a subagent that never was: it says nothing about the session's own turn. */
function isForeign({ event, session }: Visit): boolean {
  return event.agent_id !== null && session.session_id === event.session_id;
}

/** A client that starts, or that waits for its person, has no turn under way, whatever the store believes. */
function showsThatNothingRuns({ name, reason, raw }: HookEvent): boolean {
  if (name === 'SessionStart') return reason === 'startup' || reason === 'resume';
  return name === 'Notification' && raw['notification_type'] === 'idle_prompt';
}

async function closeAsFound({ tx, settings }: Visit, turn: Turn, name: string): Promise<void> {
  const told = await toldByTranscript(tx, turn, settings.readTail);
  if (told !== null) await closeTurn(tx, turn, told);
  else if (name === 'SessionStart') await closeTurn(tx, turn, ENDED_WITH_SESSION);
}

/** How a turn ended that no hook has ended before the next one begins. */
async function endBefore({ tx, event, settings }: Visit, turn: Turn): Promise<TurnEnd> {
  const { client_turn_id } = event;
  const next = { client_turn_id, prompted: isHumanPrompt(event) };
  return (await toldByTranscript(tx, turn, settings.readTail, next)) ?? ENDED_UNKNOWN;
}

async function begin({ tx, ids, event, session, processes }: Visit, continues: Turn | null): Promise<void> {
  const unattended = event.agent_id === null && event.attended === false ? event.pid : null;
  await beginTurn(tx, ids.make('turn'), {
    session_id: session.session_id,
    client_turn_id: event.client_turn_id,
    continues,
    // A subagent's hooks name its parent's transcript, where Esc is about the parent.
    transcript_path: event.agent_id === null ? event.transcript_path : null,
    client_pid: unattended,
    client_started_at: unattended === null ? null : processes.startedAt(unattended),
  });
}

async function steer(visit: Visit, turn: Turn): Promise<void> {
  const { tx, session } = visit;
  // Without ids only the transcript tells a message to a running turn from the first after Esc.
  if (turn.state === 'in_progress' && visit.event.client_turn_id === null) {
    const told = await toldByTranscript(tx, turn, visit.settings.readTail);
    if (told !== null) {
      await closeTurn(tx, turn, told);
      await begin(visit, null);
      return;
    }
  }
  const { session_id } = session;
  await tx.events.append({
    type: 'turn/steered',
    session_id,
    subject: turn.turn_id,
    data: { state: turn.state },
  });
}

/** After the judges: what the event, and what was said to it, make of its turn. */
export const endTurns: Station = async (visit) => {
  const { tx, event, session, verdict } = visit;
  if (isForeign(visit)) return null;
  const turn = await turnOf(tx, session.session_id, event.client_turn_id);
  if (turn === undefined) return null;
  switch (event.name) {
    case 'PreToolUse':
    case 'PostToolUse':
    case 'PostToolUseFailure':
    case 'PermissionDenied':
    case 'PostToolBatch': {
      const changed = afterTool(turn, event, verdict.deny !== null, tx.now);
      if (changed !== turn) await tx.turns.update(changed);
      break;
    }
    case 'Stop':
    case 'StopFailure':
    case 'SubagentStop':
      if (verdict.block === null) await closeTurn(tx, turn, { state: 'completed' });
      // Somebody else had held its last Stop, and this one is held by us: it goes on.
      else if (turn.state === 'completed' && !(await isBusy(visit))) await begin(visit, turn);
      break;
    case 'Interrupt':
      await closeTurn(tx, turn, await stoppedInClient(tx, turn));
      break;
    case 'SessionEnd':
      await endWithSession(visit);
      break;
    default:
  }
  return null;
};

/** A late Stop of an earlier turn begins nothing beside the one that runs. */
async function isBusy({ tx, session }: Visit): Promise<boolean> {
  return (await tx.turns.current(session.session_id)) !== undefined;
}

/** What is under way, and how far the turn has come; a call that was denied never starts. */
function afterTool(turn: Turn, event: HookEvent, denied: boolean, now: string): Turn {
  if (event.name === 'PostToolBatch') return batchClosed(turn, event.batch, now);
  if (event.tool === null) return turn;
  const { use_id, name } = event.tool;
  if (event.name !== 'PreToolUse') return toolEnded(turn, { use_id, name }, now);
  return denied ? turn : toolStarted(turn, { use_id, name }, now);
}

/** The session ends with whatever runs; its id is that of no turn that matters (recorded). */
async function endWithSession({ tx, session, settings }: Visit): Promise<void> {
  const current = await tx.turns.current(session.session_id);
  if (current === undefined) return;
  const told = await toldByTranscript(tx, current, settings.readTail);
  await closeTurn(tx, current, told ?? ENDED_WITH_SESSION);
}
