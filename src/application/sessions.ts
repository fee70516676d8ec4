/**
 * Sessions: registers and looks up agents' conversations. The first hook or call registers a session; a handle is never reused.
 * callers.ts finds the session that makes a call.
 */
import { type Actor, type AgentActor, refuse, type Via } from '../domain/actors.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { foldHandle } from '../domain/mention-parser.ts';
import {
  checkRoles,
  cleanTitle,
  didYouMean,
  explainAmbiguous,
  givenCandidates,
  givenHandle,
  handleCandidates,
  hasOwnHandle,
  isNamed,
  isReserved,
  isTitle,
  lookOf,
  matchHandle,
  refusalOfTitle,
  titleOf,
} from '../domain/names.ts';
import { applyOutreachChanges } from '../domain/outreach.ts';
import { OPEN_LIMIT } from '../domain/prompts.ts';
import {
  editorSession,
  hostOf,
  isUnchanged,
  keepsProcess,
  refusalToSet,
  type Session,
  type SessionChanges,
  type SessionIntroduction,
  type SettingContext,
  settingsIn,
  sourceAfter,
  startSession,
} from '../domain/sessions.ts';
import { ENDED_WITH_SESSION, type Turn, type TurnEnd } from '../domain/turns.ts';
import { type StandingParts, standingOf } from './coordinators.ts';
import { namesOfHumans } from './humans.ts';
import { refusalToSpeak, runsStill, sessionBehind, sessionsAmong, withParent } from './identity.ts';
import { noticingRefusals } from './notices.ts';
import { passReportsOn, reconcileUnreported } from './outreach.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { recordCancel } from './prompts.ts';
import { chargeNewSession } from './quotas.ts';
import { recordSession } from './session-state.ts';
import { takeOver } from './takeovers.ts';
import { recordTurnEnd } from './turns.ts';
import { sessionIsGone } from './waits.ts';
import type { Processes } from './world.ts';

/** In ms: a session on another machine, or without a process, counts as gone after this much silence. */
const SILENCE_MS = 24 * 60 * 60 * 1000;

/** Every session that this one descends from, nearest first. An agent decides how many there are, so none is left out. */
async function ancestorsOf(tx: ReadTx, session_id: string): Promise<string[]> {
  const chain = new Set<string>();
  let next = (await tx.sessions.get(session_id))?.parent_session_id ?? null;
  while (next !== null && !chain.has(next)) {
    chain.add(next);
    next = (await tx.sessions.get(next))?.parent_session_id ?? null;
  }
  return [...chain];
}

/** In ms: how often a session without hooks is recorded as alive, so that it need not write with each call. */
const TOUCH_MS = 60 * 1000;

export type SessionService = ReturnType<typeof createSessions>;

/** `standing`: the facts that decide whether a session is a coordinator; without it, none is. */
export function createSessions(store: Store, processes: Processes, standing?: StandingParts) {
  /** Sessions whose process was found to be theirs; while it lives, no other process can have its pid. */
  let compared: ReadonlySet<string> = new Set();

  async function isGone(tx: ReadTx, session: Session, machine: string): Promise<boolean> {
    const { session_id, machine: place, pid, shell_pid, last_seen_at } = session;
    if (place === machine && pid !== null) {
      // Without /proc, reading the start time of a process starts another process.
      if (compared.has(`${session_id} ${pid}`)) return !processes.alive(pid);
      return !(await runsStill(tx, session, processes));
    }
    if (place === machine && shell_pid !== null && !processes.alive(shell_pid)) return true;
    return Date.parse(tx.now) - Date.parse(last_seen_at) > SILENCE_MS;
  }

  const service = {
    /**
     * The session of this introduction: registered when first seen, reopened if it had ended. The parent of a new one is
     * looked up among the processes above `pid`: the client's own, unless the caller passes another.
     */
    async introduce(introduction: SessionIntroduction, pid = introduction.pid): Promise<Session> {
      const known = await store.read((tx) => tx.sessions.get(introduction.session_id));
      if (known !== undefined && isUnchanged(known, introduction)) return known;
      const above = known === undefined && pid !== null ? processes.ancestors(pid) : [];
      return noticingRefusals(store, () => store.write((tx) => register(tx, introduction, above, processes)));
    },

    /** The living sessions among the processes that `pid` descends from, nearest first. */
    above({ machine, pid }: { machine: string; pid: number }): Promise<Session[]> {
      const pids = processes.ancestors(pid);
      return store.read((tx) => sessionsAmong(tx, machine, pids, processes));
    },

    /** Why this process may not speak for the session with this id, as a sentence; null when it may (identity.ts). */
    refusalToSpeak: (session_id: string, { machine, pid }: { machine: string; pid: number }) =>
      store.read(async (tx) => {
        const session = await sessionBehind(tx, session_id, await tx.sessions.get(session_id));
        if (session === undefined) return null;
        return refusalToSpeak(tx, session, { machine, pid, above: processes.ancestors(pid) }, processes);
      }),

    find: (session_id: string) => store.read((tx) => tx.sessions.get(session_id)),

    /** Finds a session by handle or id. @throws HiveError `session_not_found`. */
    resolve: (handle_or_id: string): Promise<Session> => store.read((tx) => findSession(tx, handle_or_id)),

    /**
     * The session with this id while it is alive; undefined if it has ended or never existed. Records that it is in use, as
     * `seen` does. `shell_pid` is the shell that uses it now, which is recorded if the session has no client process.
     */
    async returning(session_id: string, shell_pid: number | null = null): Promise<Session | undefined> {
      const { known, now } = await store.read(async (tx) => ({
        known: await tx.sessions.get(session_id),
        now: tx.now,
      }));
      if (known === undefined || known.state === 'ended') return undefined;
      if (shell_pid !== null && known.pid === null && known.shell_pid !== shell_pid)
        return store.write(async (tx) => {
          const session = {
            ...((await tx.sessions.get(session_id)) ?? known),
            shell_pid,
            last_seen_at: tx.now,
          };
          await tx.sessions.upsert(session);
          return session;
        });
      await service.seen(known, now);
      return known;
    },

    /**
     * Records, at most once a minute, that a session without hooks is in use: others see when it was last seen, and one that is
     * silent for long counts as gone. `now` is the store's time.
     */
    async seen(
      { session_id, last_seen_at }: Pick<Session, 'session_id' | 'last_seen_at'>,
      now: string,
    ): Promise<void> {
      if (Date.parse(now) - Date.parse(last_seen_at) > TOUCH_MS)
        await store.write((tx) => tx.sessions.touch(session_id, tx.now));
    },

    list: (filter: { state?: 'alive' | 'ended' | undefined; limit?: number | undefined } = {}) =>
      store.read((tx) => tx.sessions.list({ ...filter, limit: filter.limit ?? 200 })),

    /**
     * The session as an `Actor`, with every session that it descends from, nearest first. This is the only place that makes an
     * agent an `Actor`. `above`: further sessions that are known to have started it.
     */
    actor: (
      { session_id, handle }: Pick<Session, 'session_id' | 'handle'>,
      via: Via,
      above: readonly string[] = [],
    ): Promise<AgentActor> =>
      store.read(async (tx) => {
        const chains = [...above];
        for (const one of [session_id, ...above]) chains.push(...(await ancestorsOf(tx, one)));
        const ancestors = [...new Set(chains)];
        const coordinates = standing === undefined ? undefined : await standingOf(tx, session_id, standing);
        return { kind: 'agent', by: handle, via, session_id, ancestors, coordinates };
      }),

    /** @throws HiveError `session_not_found`, `invalid_input`, `not_allowed` when the actor may not make the change. */
    async configure(handle_or_id: string, changes: SessionChanges, actor: Actor): Promise<Session> {
      const { name, shared, roles, gate, room, source, ...outreach } = changes;
      const { session_id } = await service.resolve(handle_or_id);
      checkRoles(roles ?? []);
      return store.write(async (tx) => {
        const session = await tx.sessions.get(session_id);
        if (session === undefined)
          throw new HiveError('session_not_found', `The session ${handle_or_id} is gone.`);
        if (actor.kind === 'agent') refuse(refusalToSet(actor, changes, await settingContext(tx, session)));
        const set = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
        const trail = { set, by: actor.by, via: actor.via, by_kind: actor.kind };
        const changed = {
          ...session,
          shared: shared ?? session.shared,
          roles: roles === undefined ? session.roles : [...new Set(roles)],
          gate: gate === undefined ? session.gate : gate,
          room: room === undefined ? session.room : room,
          source: source === null ? await uncorrected(tx, session) : (source ?? session.source),
          source_fixed: source === undefined ? session.source_fixed : source !== null,
          outreach: applyOutreachChanges(session.outreach, outreach),
        };
        // Earlier messages do not count as new.
        if (room === 'count' || room === 'text') await tx.sessions.beginRoom(session_id);
        if (name === undefined) return recordSession(tx, 'session/changed', changed, trail);
        const named = { ...changed, name: await checkedName(tx, name) };
        return recordTitle(tx, await titled(tx, named), trail);
      });
    },

    /** Ends sessions of this machine whose process or shell is gone, and those that have been silent for too long; returns them. */
    async sweep(machine: string): Promise<Session[]> {
      const gone = await store.read(async (tx) => {
        const found: Session[] = [];
        const known = new Set<string>();
        for (const session of await tx.sessions.list({ state: 'alive', limit: SWEEP_LIMIT })) {
          const { session_id, pid } = session;
          if (await isGone(tx, session, machine)) found.push(session);
          else known.add(`${session_id} ${pid}`);
        }
        compared = known;
        return found;
      });
      if (gone.length === 0) return [];
      return store.write(async (tx) => {
        const ended: Session[] = [];
        for (const { session_id, last_seen_at } of gone) {
          const session = await tx.sessions.get(session_id);
          // The session was active in the meantime: it was resumed, perhaps in another process.
          if (session === undefined || session.last_seen_at !== last_seen_at) continue;
          ended.push(await endSession(tx, session));
        }
        return ended;
      });
    },

    /** Ends a session that is known to be gone. */
    end: (session_id: string): Promise<void> =>
      store.write(async (tx) => {
        const session = await tx.sessions.get(session_id);
        if (session !== undefined) await endSession(tx, session);
      }),
  };
  return service;
}

const SWEEP_LIMIT = 1_000;

/** The source of a session whose correction is taken back: what a session starts with, until the evidence says otherwise. */
async function uncorrected(
  tx: ReadTx,
  { source, source_fixed, parent_session_id }: Session,
): Promise<Session['source']> {
  if (!source_fixed) return source;
  const parent = parent_session_id === null ? undefined : await tx.sessions.get(parent_session_id);
  return parent?.source ?? 'main';
}

/** The facts for `refusalToSet`. The events of the session, and of those it continues, show which settings a human has set. */
async function settingContext(tx: ReadTx, session: Session): Promise<SettingContext> {
  const setByHuman = new Map<string, string>();
  const seen = new Set<string>();
  for (let one: Session | undefined = session; one !== undefined && !seen.has(one.session_id); ) {
    seen.add(one.session_id);
    for (const { data } of await tx.events.of(one.session_id, Number.MAX_SAFE_INTEGER)) {
      const { set, by, by_kind } = data;
      if (by_kind !== 'human' || set === null || typeof set !== 'object') continue;
      for (const setting of settingsIn(set)) setByHuman.set(setting, String(by));
    }
    one = one.continues === null ? undefined : await tx.sessions.get(one.continues);
  }
  const handles = await tx.sessions.handles();
  const others = handles.filter(({ session_id, alive }) => alive && session_id !== session.session_id);
  return { session, setByHuman, others: others.map(({ handle }) => handle) };
}

async function register(
  tx: WriteTx,
  introduction: SessionIntroduction,
  above: readonly number[],
  processes: Processes,
): Promise<Session> {
  const known = await tx.sessions.get(introduction.session_id);
  if (known === undefined) {
    const introduced = await withParent(tx, introduction, above, processes);
    return recordSession(tx, 'session/started', await newSession(tx, introduced));
  }
  const { client: _, name, client_title, parent_session_id, source, ...rest } = introduction;
  const session = {
    ...known,
    ...rest,
    pid: keepsProcess(known) ? known.pid : rest.pid,
    shell_pid: rest.shell_pid ?? known.shell_pid,
    client_title: client_title ?? known.client_title,
    source: sourceAfter(known, source),
    parent_session_id: parent_session_id ?? known.parent_session_id,
    last_seen_at: tx.now,
  };
  return session.state === 'ended'
    ? reopenSession(tx, session, name)
    : recordSession(tx, 'session/changed', await titled(tx, session));
}

// ---- Steps inside a caller's transaction ----

/**
 * The session with this handle or id, or the only one whose handle begins with this text.
 * @throws HiveError `session_not_found`, `invalid_input` when several handles begin with it.
 */
export async function findSession(tx: ReadTx, handle_or_id: string): Promise<Session> {
  const known = (await tx.sessions.byHandle(handle_or_id)) ?? (await tx.sessions.get(handle_or_id));
  if (known !== undefined) return known;
  const match = matchHandle(handle_or_id, await tx.sessions.handles());
  if ('ambiguous' in match) throw invalidInput(explainAmbiguous(handle_or_id, match.ambiguous));
  const found = 'found' in match ? await tx.sessions.get(match.found.session_id) : undefined;
  if (found !== undefined) return found;
  const hint = didYouMean('near' in match ? match.near : []);
  throw new HiveError(
    'session_not_found',
    `There is no session "${handle_or_id}".${hint} See them with: hive sessions`,
  );
}

/**
 * Registers a session seen for the first time, under its given name, else the shortest free handle. `before` is the session
 * that it continues.
 */
export async function newSession(
  tx: WriteTx,
  introduction: SessionIntroduction,
  before?: Session,
): Promise<Session> {
  const given = await chooseName(tx, introduction, before);
  const started = startSession(introduction, given ?? (await ownHandle(tx, introduction)), tx.now);
  const name = given === null ? null : cleanTitle(introduction.name ?? given);
  const session = await titled(tx, { ...started, name: before?.name ?? name }, before?.session_id);
  await chargeNewSession(tx, session);
  return session;
}

/**
 * The session with its current title. Another session with the same title that its person did not give gets a number. `leaving`:
 * the session that this one replaces.
 */
async function titled(tx: WriteTx, session: Session, leaving: string | null = null): Promise<Session> {
  const living = (await tx.sessions.titles()).filter(({ session_id }) => session_id !== leaving);
  const humans = await namesOfHumans(tx);
  const except = (...ids: string[]): typeof living =>
    living.filter(({ session_id }) => !ids.includes(session_id));
  const { session_id } = session;
  const host = await hostTitle(tx, session);
  const title = titleOf({ session, host, others: except(session_id), humans });
  const now = title === session.title ? session : { ...session, title };
  for (const other of except(session_id).filter((one) => isTitle(title, one.title))) {
    const called = await tx.sessions.get(other.session_id);
    if (called === undefined) continue;
    const others = [...except(session_id, called.session_id), now];
    const next = titleOf({ session: called, host: await hostTitle(tx, called), others, humans });
    await recordTitle(tx, { ...called, title: next });
  }
  return now;
}

/** The title of the session that a subagent is part of; null for any other session. */
async function hostTitle(tx: ReadTx, session: Session): Promise<string | null> {
  const host = hostOf(session);
  return host === session.session_id ? null : ((await tx.sessions.get(host))?.title ?? host);
}

/** Records a session's new title, and those of its subagents, which contain it. */
async function recordTitle(
  tx: WriteTx,
  session: Session,
  trail: Readonly<Record<string, unknown>> = {},
): Promise<Session> {
  await recordSession(tx, 'session/changed', session, { ...trail, title: session.title });
  for (const child of await tx.sessions.childrenOf(session.session_id))
    if (hostOf(child) === session.session_id)
      await recordSession(tx, 'session/changed', await titled(tx, child));
  return session;
}

/** Checks a name that a person gives a session. @throws HiveError `invalid_input`. */
async function checkedName(tx: ReadTx, name: string | null): Promise<string | null> {
  if (name === null) return null;
  const title = cleanTitle(name);
  const refusal =
    title === null ? 'A name needs a letter or digit.' : refusalOfTitle(title, await namesOfHumans(tx));
  if (refusal !== null) throw invalidInput(`${refusal} Nothing was changed; choose another name.`);
  return title;
}

/** The names that a hook event gives a session. */
export type TitleReport = Partial<Pick<Session, 'client_title' | 'first_words'>>;

/** Records a session's names if they have changed, and the titles of its subagents. */
export async function retitle(tx: WriteTx, session: Session, report: TitleReport): Promise<Session> {
  const { client_title = session.client_title, first_words = session.first_words } = report;
  if (client_title === session.client_title && first_words === session.first_words) return session;
  const now = await titled(tx, { ...session, client_title, first_words });
  if (now.title !== session.title) return recordTitle(tx, now);
  await tx.sessions.upsert(now);
  return now;
}

/** The shortest free handle that can be made from the session's id. */
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
 * The handle for the name that a session was given; null if it gets one made from its id. An ended session gives up its name and
 * gets a handle made from its id, so its messages stay its own.
 * @throws HiveError `invalid_input` for a session that has only a name, when the name is reserved.
 */
async function chooseName(tx: WriteTx, named: Named, before?: Session): Promise<string | null> {
  const { session_id, parent_session_id, name } = named;
  const base = name === null || name === undefined ? null : givenHandle(name);
  if (base === null) return null;
  if (isReserved(base)) {
    if (session_id !== name) return null;
    throw invalidInput(
      `No session may be called "${name}": @${base} is reserved. Set HIVE_AGENT to another name.`,
    );
  }
  const parent = parent_session_id === null ? undefined : await tx.sessions.get(parent_session_id);
  // A name inherited through the parent's environment was meant for the parent.
  if (parent !== undefined && session_id !== name && isNamed(parent.handle, base)) return null;
  const handles = await tx.sessions.handles();
  const held = new Map(handles.map((one) => [foldHandle(one.handle), one]));
  const living = handles.filter(
    (one) => one.alive && one.session_id !== session_id && one.session_id !== before?.session_id,
  );
  const looks = new Set(living.map(({ handle }) => lookOf(handle)));
  for (const handle of givenCandidates(base)) {
    if (looks.has(lookOf(handle))) continue;
    const owner = held.get(foldHandle(handle));
    if (owner === undefined || owner.session_id === session_id) return handle;
    const other = await tx.sessions.get(owner.session_id);
    if (other === undefined || hasOwnHandle(other)) continue;
    await recordSession(tx, 'session/changed', { ...other, handle: await ownHandle(tx, other) });
    return handle;
  }
  return null;
}

/** Reopens an ended session: it was taken for gone by mistake, or it was resumed, perhaps with a name. */
export async function reopenSession(tx: WriteTx, session: Session, name?: string | null): Promise<Session> {
  await markOrphaned(tx, session.session_id, false);
  const { session_id, ended_at } = session;
  // The agent is back, so it owes the reports that its end gave up. Those that its Stop guard gave up stay given up.
  if (ended_at !== null && (await tx.outreach.guard(session_id))?.let_go_at !== ended_at)
    await tx.outreach.oweAgain(session_id, ended_at);
  return recordSession(tx, 'session/changed', {
    ...(await renamed(tx, session, name)),
    state: 'active',
    ended_at: null,
    last_seen_at: tx.now,
  });
}

/** The session with its current title, and with this name if its person has given it and no other living session has it. */
export async function renamed(tx: WriteTx, session: Session, name?: string | null): Promise<Session> {
  const given = await chooseName(tx, { ...session, name });
  const isNew = given !== null && name != null && given === givenHandle(name);
  return titled(tx, {
    ...session,
    handle: isNew ? given : session.handle,
    name: isNew ? cleanTitle(name) : session.name,
  });
}

/**
 * Ends a turn that the client's own record shows as over, and with it a subagent of Codex: no hook reports that a review has ended.
 */
export async function recordFoundEnd(tx: WriteTx, turn: Turn, end: TurnEnd): Promise<void> {
  await recordTurnEnd(tx, turn, end);
  const session = await tx.sessions.get(turn.session_id);
  if (session?.client === 'codex' && hostOf(session) !== session.session_id) await endSession(tx, session);
}

/**
 * Ends a session and its subagents. Its prompts stay answerable until another session continues it or it is resumed. `is_left`:
 * its client has opened another one, in which its subagents in the background go on.
 */
export async function endSession(
  tx: WriteTx,
  session: Session,
  { goes_on = false, is_left = false }: { goes_on?: boolean; is_left?: boolean } = {},
): Promise<Session> {
  if (session.state === 'ended') return session;
  for (const child of await tx.sessions.childrenOf(session.session_id)) {
    // Any other child ends with its own process.
    const isSubagent = hostOf(child) === session.session_id;
    if (isSubagent && !(is_left && child.source === 'bg')) await endSession(tx, child);
  }
  await markOrphaned(tx, session.session_id, true);
  await reconcileUnreported(tx, session);
  if (!goes_on) await passReportsOn(tx, session);
  const turn = await tx.turns.current(session.session_id);
  if (turn !== undefined) await recordTurnEnd(tx, turn, ENDED_WITH_SESSION);
  if (editorSession(session.session_id) !== null) await cancelDialogs(tx, session);
  const ended = await recordSession(tx, 'session/ended', {
    ...session,
    state: 'ended',
    ended_at: tx.now,
    last_seen_at: tx.now,
  });
  // The answers to an ended subagent's questions go to its parent, because nobody else could read them.
  const host = hostOf(ended) === ended.session_id ? undefined : await tx.sessions.get(hostOf(ended));
  if (host !== undefined) await takeOver(tx, ended, host);
  return ended;
}

/** Cancels the dialogs of an editor's agent, because they end with the proxy that could pass the answer on. */
async function cancelDialogs(tx: WriteTx, { session_id }: Session): Promise<void> {
  for (const prompt of await tx.prompts.openOf(session_id, OPEN_LIMIT))
    if (prompt.dialog && prompt.status === 'pending')
      await recordCancel(tx, prompt, { by: 'editor', via: 'terminal', reason: 'unknown' });
}

/** Records whether the questions of this session are orphaned. */
export async function markOrphaned(tx: WriteTx, session_id: string, orphaned: boolean): Promise<void> {
  const ask_ids = await tx.prompts.setOrphaned(session_id, orphaned);
  for (const ask_id of ask_ids) {
    await tx.events.append({ type: 'prompt/orphaned', session_id, subject: ask_id, data: { orphaned } });
  }
  if (!orphaned) return;
  await sessionIsGone(tx, ask_ids);
  for (const ask_id of ask_ids) {
    const prompt = await tx.prompts.intact(ask_id);
    // The terminal of the dialog is gone as well. A dialog of a run outlives its agent.
    if (prompt?.dialog === true && prompt.when_turn_aborted === 'cancelled')
      await recordCancel(tx, prompt, { by: 'terminal', via: 'terminal', reason: 'unknown' });
  }
}
