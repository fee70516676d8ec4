/** What the session service and the hooks both do to sessions, inside a transaction of theirs. */
import { HiveError } from '../domain/errors.ts';
import {
  handleCandidates,
  type Session,
  type SessionIntroduction,
  startSession,
} from '../domain/sessions.ts';
import { ENDED_WITH_SESSION } from '../domain/turns.ts';
import { reconcileUnreported } from './outreach-records.ts';
import type { ReadTx, WriteTx } from './ports.ts';
import { closeTurn } from './turn-records.ts';

/** By handle or by id. @throws HiveError `session_not_found`. */
export async function findSession(tx: ReadTx, handle_or_id: string): Promise<Session> {
  const found = (await tx.sessions.byHandle(handle_or_id)) ?? (await tx.sessions.get(handle_or_id));
  if (found !== undefined) return found;
  throw new HiveError(
    'session_not_found',
    `There is no session "${handle_or_id}". See them with: hive sessions`,
  );
}

type SessionEvent = 'session/started' | 'session/changed' | 'session/ended';

/** Writes a session down and tells what became of it. */
export async function recordSession(tx: WriteTx, type: SessionEvent, session: Session): Promise<Session> {
  await tx.sessions.upsert(session);
  const { session_id, handle, state, source, project } = session;
  await tx.events.append({ type, session_id, subject: session_id, data: { handle, state, source, project } });
  return session;
}

/** A session seen for the first time, with the shortest handle that is free. */
export async function newSession(tx: WriteTx, introduction: SessionIntroduction): Promise<Session> {
  for (const handle of handleCandidates(introduction.client, introduction.session_id)) {
    if ((await tx.sessions.byHandle(handle)) === undefined) return startSession(introduction, handle, tx.now);
  }
  throw new HiveError('internal', `No handle is left for session ${introduction.session_id}.`);
}

/** A session that had ended speaks again: whatever had declared it gone was wrong, or it was resumed. */
export async function reopenSession(tx: WriteTx, session: Session): Promise<Session> {
  await markOrphaned(tx, session.session_id, false);
  return recordSession(tx, 'session/changed', {
    ...session,
    state: 'active',
    ended_at: null,
    last_seen_at: tx.now,
  });
}

/** A session went away, and its subagents with it: its prompts stay answerable, until another continues it or it is resumed. */
export async function endSession(tx: WriteTx, session: Session): Promise<Session> {
  if (session.state === 'ended') return session;
  await markOrphaned(tx, session.session_id, true);
  await reconcileUnreported(tx, session);
  const turn = await tx.turns.current(session.session_id);
  if (turn !== undefined) await closeTurn(tx, turn, ENDED_WITH_SESSION);
  const ended = await recordSession(tx, 'session/ended', {
    ...session,
    state: 'ended',
    ended_at: tx.now,
    last_seen_at: tx.now,
  });
  for (const child of await tx.sessions.childrenOf(session.session_id)) {
    // A child with a process of its own ends when that process does.
    if (child.pid === null) await endSession(tx, child);
  }
  return ended;
}

async function markOrphaned(tx: WriteTx, session_id: string, orphaned: boolean): Promise<void> {
  for (const ask_id of await tx.prompts.setOrphaned(session_id, orphaned)) {
    await tx.events.append({ type: 'prompt/orphaned', session_id, subject: ask_id, data: { orphaned } });
  }
}
