/**
 * Coordinators (domain/coordinators.ts): decides whether a session is one now and whose questions it may answer, and asks the
 * human.
 */
import { type AgentActor, refuse, type Via } from '../domain/actors.ts';
import { coordinatorRequest, grants, type Holder, isRequest } from '../domain/coordinators.ts';
import { HiveError } from '../domain/errors.ts';
import { isTitle } from '../domain/names.ts';
import { permissionDigest } from '../domain/permissions.ts';
import type { AskRequest, Prompt } from '../domain/prompts.ts';
import type { Seat } from '../domain/seats.ts';
import { hostOf, isRemote, type Session } from '../domain/sessions.ts';
import { namesOfHumans } from './humans.ts';
import type { ReadTx, Store } from './ports.ts';
import type { PromptService } from './prompts.ts';
import { seatThatAnswered } from './signatures.ts';
import type { Processes } from './world.ts';

/** The facts that decide whether a session may coordinate. */
export interface StandingParts {
  store: Pick<Store, 'store_id' | 'name'>;
  processes: Processes;
  /** This process, which acts for the session. */
  pid: number;
  /** The seats that the human's file lists. */
  seats: () => readonly Seat[];
  /** The names of the person who owns this process. */
  humans: readonly string[];
}

/** Only this many of the newest sessions are compared; older ones have no coordinator. */
const MOST_SESSIONS = 1_000;
/** How often a request that ended without an answer is repeated at most. */
const MOST_ATTEMPTS = 50;

/** The sessions whose questions this session may answer; undefined if the human does not let it coordinate now. */
export async function standingOf(
  tx: ReadTx,
  session_id: string,
  parts: StandingParts,
): Promise<AgentActor['coordinates']> {
  const session = await hostSession(tx, session_id);
  if (session === undefined) return undefined;
  const holder = await holderOf(tx, session, parts);
  if (typeof holder === 'string' || (await grantTo(tx, session, holder, parts)) === null) return undefined;
  return othersThan(tx, session, parts.processes);
}

/** The request of this session that its human has granted; null if there is none. */
async function grantTo(
  tx: ReadTx,
  session: Session,
  holder: Holder,
  { store, seats }: Pick<StandingParts, 'store' | 'seats'>,
): Promise<Prompt | null> {
  const { prompt } = await latestRequest(tx, session, holder);
  if (prompt === undefined || !grants(prompt)) return null;
  const against = { store, displayed_digest: permissionDigest(prompt), seats: seats() };
  return (await seatThatAnswered(tx, prompt, against)) === null ? null : prompt;
}

/** The session in whose process this one runs. */
async function hostSession(tx: ReadTx, session_id: string): Promise<Session | undefined> {
  const session = await tx.sessions.get(session_id);
  const host = session === undefined ? session_id : hostOf(session);
  return host === session_id ? session : tx.sessions.get(host);
}

/** The process or token that a grant to this session would be bound to, or a sentence that says why there can be none. */
async function holderOf(
  tx: ReadTx,
  session: Session,
  { processes, pid: own, humans }: StandingParts,
): Promise<Holder | string> {
  const { handle, pid } = session;
  if ([...humans, ...(await namesOfHumans(tx))].some((name) => isTitle(handle, name)))
    return `This session has the name of a person (${handle}), so nobody could tell its answers from theirs. Your human gives it another name: HIVE_AGENT.`;
  const holder = clientOf(session, processes);
  if (holder === null)
    return 'Hive does not know the process of this session, and the role is given to a process.';
  if ('token' in holder || pid === null || pid === own || processes.ancestors(own).includes(pid))
    return holder;
  return `This process does not belong to process ${pid}, the client of this session.`;
}

/** The running client of a session; null if unknown. */
function clientOf({ machine, pid }: Session, processes: Processes): Holder | null {
  if (isRemote(machine)) return { token: machine.slice(machine.indexOf(':') + 1) };
  const started = pid === null ? null : processes.startedAt(pid);
  return pid === null || started === null ? null : { machine, pid, started };
}

/** The last request of this session that still counts, undefined if none, and the request that would come next. */
async function latestRequest(
  tx: ReadTx,
  { session_id }: Session,
  holder: Holder,
): Promise<{ prompt: Prompt | undefined; request: AskRequest }> {
  let request = coordinatorRequest(holder, 0);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    request = coordinatorRequest(holder, attempt);
    const prompt = await tx.prompts.byKey(session_id, request.idempotency_key);
    if (prompt === undefined) return { prompt, request };
    if (!isRequest(prompt, request)) continue;
    if (prompt.status === 'pending' || prompt.status === 'responded') return { prompt, request };
  }
  return { prompt: undefined, request };
}

/**
 * The sessions that are known to be outside this session's process tree: of another client, not among the processes above or
 * below, and not descendants according to the store. For a remote agent, those of other tokens. Ended sessions are included,
 * because their questions can still be answered.
 */
async function othersThan(tx: ReadTx, session: Session, processes: Processes): Promise<string[]> {
  const { machine, pid } = session;
  const all = await tx.sessions.list({ limit: MOST_SESSIONS });
  const parents = new Map(all.map((one) => [one.session_id, one.parent_session_id]));
  const descends = (id: string): boolean => {
    let at: string | null | undefined = id;
    for (let n = 0; at != null && n <= all.length; n += 1) {
      if (at === session.session_id) return true;
      at = parents.get(at);
    }
    return false;
  };
  const above = pid === null ? [] : [pid, ...processes.ancestors(pid)];
  const isNear = (one: Session): boolean =>
    one.pid !== null &&
    pid !== null &&
    (above.includes(one.pid) || processes.ancestors(one.pid).includes(pid));
  const isOwn = (one: Session): boolean =>
    isRemote(machine) ? one.machine === machine : descends(one.session_id) || isNear(one);
  return all.filter((one) => !isOwn(one)).map(({ session_id }) => session_id);
}

interface CoordinatorParts extends StandingParts {
  store: Store;
  prompts: Pick<PromptService, 'ask' | 'wait'>;
  actor: (session: Pick<Session, 'session_id' | 'handle'>, via: Via) => Promise<AgentActor>;
}

export function createCoordinators(parts: CoordinatorParts) {
  const { store, prompts, actor } = parts;

  async function request(session_id: string): Promise<Prompt> {
    const found = await store.read(async (tx) => {
      const session = await hostSession(tx, session_id);
      if (session === undefined) return { refusal: `There is no session ${session_id}.` };
      const holder = await holderOf(tx, session, parts);
      if (typeof holder === 'string') return { refusal: holder };
      return { session, refusal: null, ...(await latestRequest(tx, session, holder)) };
    });
    refuse(found.refusal);
    if (found.refusal !== null) throw new HiveError('internal', found.refusal);
    if (found.prompt !== undefined) return found.prompt;
    // Asked outside of any turn, so that an interrupt of this agent does not withdraw it.
    return (await prompts.ask(found.request, found.session, null)).prompt;
  }

  return {
    /** The sessions that may coordinate now, each with the request that their human granted. */
    list: (sessions: readonly Session[]): Promise<ReadonlyMap<string, string>> =>
      store.read(async (tx) => {
        const found = new Map<string, string>();
        for (const session of sessions) {
          const holder = session.state === 'ended' ? null : clientOf(session, parts.processes);
          const grant = holder === null ? null : await grantTo(tx, session, holder, parts);
          if (grant !== null) found.set(session.session_id, grant.ask_id);
        }
        return found;
      }),

    /**
     * The session as an actor that may answer and interrupt. The human is asked once for each client process, and the call waits at
     * most `wait_ms` for the answer. @throws HiveError `not_allowed`, which says what to do.
     */
    async admit(
      session: Pick<Session, 'session_id' | 'handle'>,
      via: Via,
      { wait_ms, signal }: { wait_ms: number; signal?: AbortSignal | undefined },
    ): Promise<AgentActor> {
      const before = await actor(session, via);
      if (before.coordinates !== undefined) return before;
      const { ask_id } = await request(session.session_id);
      const [answered] = await prompts.wait([ask_id], { wait_ms, signal });
      const now = await actor(session, via);
      if (now.coordinates !== undefined) return now;
      throw new HiveError('not_allowed', refusalOf(ask_id, answered), { ask_id });
    },
  };
}

function refusalOf(ask_id: string, prompt: Prompt | undefined): string {
  if (prompt?.status === 'pending')
    return `Only a coordinator does this. Your human was asked whether you may be one (${ask_id}) and has not answered yet: call again later. Nothing was done.`;
  if (prompt !== undefined && grants(prompt))
    return `Only a coordinator does this, and no seat that your human has registered signed the answer to ${ask_id}. Tell your human. Nothing was done.`;
  return `Only a coordinator does this, and your human does not let you be one (${ask_id}). Nothing was done.`;
}
