/** Sessions: who the agents are. Registered by whatever sees them first; a handle is given once. */
import { HiveError } from '../domain/errors.ts';
import {
  handleCandidates,
  type Session,
  type SessionIntroduction,
  startSession,
} from '../domain/sessions.ts';
import type { Store, WriteTx } from './ports.ts';

export interface SessionService {
  /** The session of this introduction, registered on first sight, reopened when it had ended. */
  introduce(introduction: SessionIntroduction): Promise<Session>;
  get(session_id: string): Promise<Session | undefined>;
  /** By handle or by id. @throws HiveError `session_not_found`. */
  find(handle_or_id: string): Promise<Session>;
  list(filter?: { state?: 'alive' | 'ended' | undefined; limit?: number | undefined }): Promise<Session[]>;
  /** The ids of every session this one descends from, nearest first. */
  ancestors(session_id: string): Promise<string[]>;
}

/** A parent chain longer than this is a mistake in the data, not a family. */
const MAX_GENERATIONS = 32;

export function createSessions(store: Store): SessionService {
  return {
    async introduce(introduction) {
      const known = await store.read((tx) => tx.sessions.get(introduction.session_id));
      if (known !== undefined && known.state !== 'ended' && isSame(known, introduction)) return known;
      return store.write((tx) => register(tx, introduction));
    },

    get: (session_id) => store.read((tx) => tx.sessions.get(session_id)),

    async find(handle_or_id) {
      const found = await store.read(
        async (tx) => (await tx.sessions.byHandle(handle_or_id)) ?? (await tx.sessions.get(handle_or_id)),
      );
      if (found === undefined)
        throw new HiveError(
          'session_not_found',
          `There is no session "${handle_or_id}". See them with: hive sessions`,
        );
      return found;
    },

    list: ({ state, limit = 200 } = {}) => store.read((tx) => tx.sessions.list({ state, limit })),

    ancestors: (session_id) =>
      store.read(async (tx) => {
        const chain: string[] = [];
        let next = (await tx.sessions.get(session_id))?.parent_session_id ?? null;
        while (next !== null && chain.length < MAX_GENERATIONS && !chain.includes(next)) {
          chain.push(next);
          next = (await tx.sessions.get(next))?.parent_session_id ?? null;
        }
        return chain;
      }),
  };
}

/** What an introduction may correct on a session that is known already. */
function isSame(known: Session, given: SessionIntroduction): boolean {
  return (
    known.pid === given.pid &&
    known.source === given.source &&
    known.project_dir === given.project_dir &&
    known.machine === given.machine
  );
}

async function register(tx: WriteTx, introduction: SessionIntroduction): Promise<Session> {
  const known = await tx.sessions.get(introduction.session_id);
  if (known !== undefined) {
    const { client: _, parent_session_id, ...fresh } = introduction;
    const session: Session = {
      ...known,
      ...fresh,
      parent_session_id: parent_session_id ?? known.parent_session_id,
      state: 'active',
      ended_at: null,
      last_seen_at: tx.now,
    };
    await tx.sessions.upsert(session);
    await tx.events.append({
      type: 'session/changed',
      session_id: session.session_id,
      subject: session.session_id,
      data: { state: session.state },
    });
    return session;
  }
  const session = startSession(introduction, await freeHandle(tx, introduction), tx.now);
  await tx.sessions.upsert(session);
  await tx.events.append({
    type: 'session/started',
    session_id: session.session_id,
    subject: session.session_id,
    data: {
      handle: session.handle,
      client: session.client,
      project: session.project,
      source: session.source,
    },
  });
  return session;
}

async function freeHandle(tx: WriteTx, { client, session_id }: SessionIntroduction): Promise<string> {
  for (const handle of handleCandidates(client, session_id)) {
    if ((await tx.sessions.byHandle(handle)) === undefined) return handle;
  }
  throw new HiveError('internal', `No handle is left for session ${session_id}.`);
}
