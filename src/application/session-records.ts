/** What the session service and the hooks both do to sessions, inside a transaction of theirs. */
import { HiveError, invalidInput } from '../domain/errors.ts';
import {
  explainAmbiguous,
  givenCandidates,
  givenHandle,
  hasOwnHandle,
  isNamed,
  isReserved,
  matchHandle,
} from '../domain/handles.ts';
import { foldHandle } from '../domain/mention-parser.ts';
import {
  HUMAN_HANDLE,
  handleCandidates,
  type Session,
  type SessionIntroduction,
  startSession,
} from '../domain/sessions.ts';
import { ENDED_WITH_SESSION } from '../domain/turns.ts';
import { reconcileUnreported } from './outreach-records.ts';
import type { ReadTx, WriteTx } from './ports.ts';
import { closeTurn } from './turn-records.ts';

/**
 * By handle, by id, or by the first letters of one handle.
 * @throws HiveError `session_not_found`, `invalid_input` for letters that begin several.
 */
export async function findSession(tx: ReadTx, handle_or_id: string): Promise<Session> {
  const known = (await tx.sessions.byHandle(handle_or_id)) ?? (await tx.sessions.get(handle_or_id));
  if (known !== undefined) return known;
  const match = matchHandle(handle_or_id, await tx.sessions.handles());
  if ('ambiguous' in match) throw invalidInput(explainAmbiguous(handle_or_id, match.ambiguous));
  const found = 'found' in match ? await tx.sessions.get(match.found.session_id) : undefined;
  if (found !== undefined) return found;
  const hint = 'near' in match && match.near.length > 0 ? ` Did you mean ${match.near.join(' or ')}?` : '';
  throw new HiveError(
    'session_not_found',
    `There is no session "${handle_or_id}".${hint} See them with: hive sessions`,
  );
}

/**
 * The handle by which what a session wrote is filtered; the first letters of one are enough. What is no session's
 * stays as it is.
 * @throws HiveError `invalid_input` for letters that begin several.
 */
export async function authorNamed(tx: ReadTx, typed: string): Promise<string> {
  const text = typed.replace(/^@/, '');
  if (foldHandle(text) === foldHandle(HUMAN_HANDLE)) return HUMAN_HANDLE;
  if ((await tx.sessions.byHandle(text)) !== undefined) return text;
  // A session may be gone before what it wrote.
  if ((await tx.history.search({ agent: text, limit: 1 })).items.length > 0) return text;
  const match = matchHandle(text, await tx.sessions.handles());
  if ('ambiguous' in match) throw invalidInput(explainAmbiguous(text, match.ambiguous));
  return 'found' in match ? match.found.handle : text;
}

type SessionEvent = 'session/started' | 'session/changed' | 'session/ended';

/** Writes a session down and tells what became of it; `trail` says who has done what. */
export async function recordSession(
  tx: WriteTx,
  type: SessionEvent,
  session: Session,
  trail: Readonly<Record<string, unknown>> = {},
): Promise<Session> {
  await tx.sessions.upsert(session);
  const { session_id, handle, state, source, project } = session;
  const data = { handle, state, source, project, ...trail };
  await tx.events.append({ type, session_id, subject: session_id, data });
  return session;
}

/** A session seen for the first time, under its given name, else the shortest handle that is free. `before` is the one it goes on from. */
export async function newSession(
  tx: WriteTx,
  introduction: SessionIntroduction,
  before?: Session,
): Promise<Session> {
  const given = await takeName(tx, introduction, before);
  return startSession(introduction, given ?? (await ownHandle(tx, introduction)), tx.now);
}

/** The shortest handle made of its id that is free. */
async function ownHandle(
  tx: WriteTx,
  { client, session_id }: Pick<Session, 'client' | 'session_id'>,
): Promise<string> {
  for (const handle of handleCandidates(client, session_id)) {
    if ((await tx.sessions.byHandle(handle)) === undefined) return handle;
  }
  throw new HiveError('internal', `No handle is left for session ${session_id}.`);
}

type Named = Pick<SessionIntroduction, 'session_id' | 'parent_session_id' | 'name'>;

/**
 * The handle of the name that a session was given; null where it gets one of its id. An ended session passes its
 * name on, and is called by its id from then on: nobody can be reached by it, and what it wrote stays its own.
 * @throws HiveError `invalid_input` for a session that has nothing but a name, and that is somebody else's.
 */
async function takeName(tx: WriteTx, named: Named, before?: Session): Promise<string | null> {
  const { session_id, parent_session_id, name } = named;
  const base = name === null || name === undefined ? null : givenHandle(name);
  if (base === null) return null;
  if (isReserved(base)) {
    if (session_id !== name) return null;
    throw invalidInput(
      `No session may be called "${name}": @${base} reaches others. Set HIVE_AGENT to another name.`,
    );
  }
  const parent = parent_session_id === null ? undefined : await tx.sessions.get(parent_session_id);
  // What it has from its parent's environment was meant for the parent.
  if (parent !== undefined && session_id !== name && isNamed(parent.handle, base)) return null;
  const held = new Map((await tx.sessions.handles()).map((one) => [foldHandle(one.handle), one]));
  for (const handle of givenCandidates(base)) {
    const holder = held.get(foldHandle(handle));
    if (holder === undefined || holder.session_id === session_id) return handle;
    const leaves = !holder.alive || holder.session_id === before?.session_id;
    const other = leaves ? await tx.sessions.get(holder.session_id) : undefined;
    if (other === undefined || hasOwnHandle(other)) continue;
    await recordSession(tx, 'session/changed', { ...other, handle: await ownHandle(tx, other) });
    return handle;
  }
  return null;
}

/** A session that had ended speaks again: whatever had declared it gone was wrong, or it was resumed, with a name maybe. */
export async function reopenSession(tx: WriteTx, session: Session, name?: string | null): Promise<Session> {
  await markOrphaned(tx, session.session_id, false);
  const given = await takeName(tx, { ...session, name });
  const isNew = given !== null && name != null && given === givenHandle(name);
  return recordSession(tx, 'session/changed', {
    ...session,
    handle: isNew ? given : session.handle,
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
