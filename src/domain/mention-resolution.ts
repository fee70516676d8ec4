/**
 * Whom the names in a message reach: sessions by handle, sessions by role, everyone, the human. Pure: who is
 * there is given. What reaches nobody comes back with the reason and the names that come near.
 */
import { foldHandle } from './mention-parser.ts';
import type { Addressee } from './mentions.ts';
import type { Message } from './messages.ts';
import { nearestNames } from './near-names.ts';
import { HUMAN_ADDRESSEE, HUMAN_HANDLE, type Session, subagentId } from './sessions.ts';

export const EVERYONE = 'All';

/** What there is to be mentioned: the living, and those ended sessions whose handle was looked up. */
export interface Directory {
  alive: readonly Session[];
  ended: readonly Session[];
  /** Whether the human has muted mentions between the author and this session. */
  isMuted(session_id: string): boolean;
}

/**
 * `unknown`: nobody has the name. `ended`: its session is gone. `not_shared`: it takes no mentions of agents.
 * `elsewhere`: only sessions of other projects carry the role. `muted`: the human stopped this pair.
 * `own_heading`: the message stands under the heading of that session.
 */
export type UnresolvedReason = 'unknown' | 'ended' | 'not_shared' | 'elsewhere' | 'muted' | 'own_heading';

export interface Unresolved {
  handle: string;
  reason: UnresolvedReason;
  near: string[];
}

const REASONS: Readonly<Record<UnresolvedReason, string>> = {
  unknown: 'nobody has that name',
  ended: 'that session has ended',
  not_shared: 'that session takes no mentions',
  elsewhere: 'only sessions of other projects have that role, which scope "all" reaches',
  muted: 'the human has muted mentions between these two',
  own_heading: 'the heading names that session as the author',
};

/** The sentence that an author reads. */
export function explainUnresolved({ handle, reason, near }: Unresolved): string {
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((name) => `@${name}`).join(' or ')}?`;
  return `@${handle} reached nobody: ${REASONS[reason]}.${hint}`;
}

export interface Resolution {
  addressees: Addressee[];
  unresolved: Unresolved[];
}

/** Near names are looked for this often a message: it is the only part that is not linear. */
const NEAR_LOOKUPS = 10;

type Origin = Pick<Message, 'session_id' | 'author' | 'as_handle' | 'scope' | 'project_dir'>;

/** Each addressee once; never the author, nor the session that the heading names as the author. */
export function resolveMentions(names: readonly string[], message: Origin, directory: Directory): Resolution {
  const book = createBook(message, directory);
  const addressees = new Map<string, Addressee>();
  const unresolved: Unresolved[] = [];
  for (const name of names) {
    const found = book.lookUp(name);
    if (typeof found === 'string') {
      const look = found === 'unknown' && unresolved.length < NEAR_LOOKUPS;
      unresolved.push({ handle: name, reason: found, near: look ? nearestNames(name, book.names) : [] });
      continue;
    }
    for (const addressee of found) {
      const by_name = addressee.by_name || addressees.get(addressee.session_id)?.by_name === true;
      addressees.set(addressee.session_id, { ...addressee, by_name });
    }
  }
  return { addressees: [...addressees.values()], unresolved };
}

interface Book {
  /** The addressees of a name, which may be none (the author alone), or why there are none. */
  lookUp(name: string): Addressee[] | UnresolvedReason;
  names: string[];
}

function createBook(message: Origin, { alive, ended, isMuted }: Directory): Book {
  const handles = new Map(alive.map((session) => [foldHandle(session.handle), session]));
  const gone = new Map(ended.map((session) => [foldHandle(session.handle), session]));
  const roles = Map.groupBy(
    alive.flatMap((session) => session.roles.map((role) => ({ role, session }))),
    ({ role }) => foldHandle(role),
  );
  const continuedBy = new Map(
    [...ended, ...alive].flatMap((session) =>
      session.continues === null ? [] : [[session.continues, session] as const],
    ),
  );
  const isNear = (session: Session): boolean =>
    message.scope === 'all' || session.project_dir === message.project_dir;
  const isAuthor = (session: Session): boolean => session.session_id === message.session_id;
  const headed = message.as_handle === null ? undefined : named(foldHandle(message.as_handle));
  const isHeaded = (session: Session): boolean => session.session_id === headed?.session_id;

  /** The living session of a handle, also where it goes on from the one that had it. */
  function named(key: string): Session | undefined {
    const past = gone.get(key);
    return handles.get(key) ?? (past && successor(past));
  }

  /** Those of a group who want mentions; of the muted and the author nothing is said. */
  function reach(group: readonly Session[], by_name: boolean): Addressee[] {
    return group
      .filter(
        (session) =>
          session.shared && !isAuthor(session) && !isHeaded(session) && !isMuted(session.session_id),
      )
      .map(({ session_id, handle }) => ({ session_id, handle, by_name }));
  }

  function lookUpExactly(name: string): Addressee[] | UnresolvedReason {
    const key = foldHandle(name);
    if (key === foldHandle(EVERYONE)) {
      const everyone = alive.filter((one) => isNear(one) && !isSubagent(one) && !isShell(one));
      return reach(everyone, false);
    }
    if (key === foldHandle(HUMAN_HANDLE)) {
      if (message.author === 'human') return [];
      return [{ session_id: HUMAN_ADDRESSEE, handle: HUMAN_HANDLE, by_name: true }];
    }
    // One word may be both: the name of a session, and the role of others. Then it reaches them all.
    const bearer = byName(key);
    const carriers = byRole(key);
    if (typeof bearer === 'string') return carriers === 'unknown' ? bearer : carriers;
    return typeof carriers === 'string' ? bearer : [...bearer, ...carriers];
  }

  function byName(key: string): Addressee[] | UnresolvedReason {
    const session = named(key);
    if (session === undefined) return gone.has(key) ? 'ended' : 'unknown';
    if (isAuthor(session)) return [];
    if (isHeaded(session)) return 'own_heading';
    // A session that takes no mentions still hears the human who calls it by name.
    if (!session.shared && message.author !== 'human') return 'not_shared';
    if (isMuted(session.session_id)) return 'muted';
    return [{ session_id: session.session_id, handle: session.handle, by_name: true }];
  }

  function byRole(key: string): Addressee[] | UnresolvedReason {
    const carriers = roles.get(key)?.map((carrier) => carrier.session);
    if (carriers === undefined) return 'unknown';
    const near = carriers.filter(isNear);
    return near.length === 0 ? 'elsewhere' : reach(near, true);
  }

  /** The living session that goes on from one that has ended under another id. */
  function successor(past: Session): Session | undefined {
    const seen = new Set<string>();
    let session: Session | undefined = past;
    while (session !== undefined && session.state === 'ended' && !seen.has(session.session_id)) {
      seen.add(session.session_id);
      session = continuedBy.get(session.session_id);
    }
    return session?.state === 'ended' ? undefined : session;
  }

  return {
    lookUp(name) {
      const found = lookUpExactly(name);
      // In scripts without spaces the sentence goes on right behind the handle: `@Claude-abc12に`.
      const latin = /^[\x21-\x7e]+/.exec(name)?.[0].replace(/[-_]+$/, '') ?? '';
      return found === 'unknown' && latin !== '' && latin !== name ? lookUpExactly(latin) : found;
    },
    names: [
      ...alive.map((session) => session.handle),
      ...new Set(alive.flatMap((session) => session.roles)),
      EVERYONE,
      HUMAN_HANDLE,
    ],
  };
}

/** A subagent is reached by its own handle and roles; what everyone is told, its session is told. */
function isSubagent({ session_id, parent_session_id }: Session): boolean {
  return parent_session_id !== null && session_id.startsWith(subagentId(parent_session_id, ''));
}

/** A shell in which somebody typed `hive ask`: there is no agent that would read it. */
function isShell({ client }: Session): boolean {
  return client === 'cli';
}
