/**
 * Which sessions a process runs under (invariant 9): the processes above it that are registered sessions.
 * The walk is taken only where it matters: when a session is new, and before a shell acts for the human.
 */
import type { Session, SessionIntroduction } from '../domain/sessions.ts';
import type { ReadTx } from './ports.ts';

/** The living sessions among these processes of one machine, in their order. */
export async function sessionsAmong(
  tx: ReadTx,
  machine: string,
  pids: readonly number[],
): Promise<Session[]> {
  const found: Session[] = [];
  for (const pid of pids) {
    const session = await tx.sessions.byProcess(machine, pid);
    if (session !== undefined) found.push(session);
  }
  return found;
}

/**
 * A new session with its parent: the nearest process above it that is another session, else the one its
 * environment named. A subagent's parent is known already, and nearer than any process.
 */
export async function withParent(
  tx: ReadTx,
  introduction: SessionIntroduction,
  pids: readonly number[],
): Promise<SessionIntroduction> {
  const { session_id, machine, parent_session_id: named } = introduction;
  if (named !== null && session_id.startsWith(`${named}:`)) return introduction;
  const above = await sessionsAmong(tx, machine, pids);
  const parent = above.find((session) => session.session_id !== session_id)?.session_id ?? named;
  return { ...introduction, parent_session_id: parent === session_id ? null : parent };
}
