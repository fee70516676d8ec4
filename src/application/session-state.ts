/** How a change of a session is recorded. A session is active while it has a running turn, and idle once it has none. */
import type { Session } from '../domain/sessions.ts';
import type { WriteTx } from './ports.ts';

/** Stores a session and appends the event; `trail` has additional data for the event. */
export async function recordSession(
  tx: WriteTx,
  type: 'session/started' | 'session/changed' | 'session/ended',
  session: Session,
  trail: Readonly<Record<string, unknown>> = {},
): Promise<Session> {
  await tx.sessions.upsert(session);
  const { session_id, handle, state, source, project } = session;
  const data = { handle, state, source, project, ...trail };
  await tx.events.append({ type, session_id, subject: session_id, data });
  return session;
}

/** Records that a turn of this session has begun or ended. */
export async function recordWork(
  tx: WriteTx,
  session_id: string,
  state: Exclude<Session['state'], 'ended'>,
): Promise<void> {
  const session = await tx.sessions.get(session_id);
  if (session === undefined || session.state === 'ended' || session.state === state) return;
  await recordSession(tx, 'session/changed', { ...session, state });
}
