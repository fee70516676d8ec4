/**
 * Callers: which session makes a call over an MCP connection, and in which turn. It is derived from data that the client
 * reports, never from an argument or a focused window (invariant 9). Recordings of the real clients are in test/wire/fixtures,
 * and the reasons in docs/internals/architecture.md ("The client says who is calling").
 */
import { refuse } from '../domain/actors.ts';
import { initName } from '../domain/installation.ts';
import {
  editorSession,
  isRemote,
  isUnchanged,
  remoteId,
  type Session,
  type SessionIntroduction,
  sourceAfter,
} from '../domain/sessions.ts';
import { decideSource, type Environment, type Source, sourceEvidence } from '../domain/sources.ts';
import { cleanText } from '../domain/text.ts';
import type { Turn } from '../domain/turns.ts';
import {
  agentName,
  isReused,
  parentNamed,
  refusalToSpeak,
  reported,
  type Speaker,
  sessionBehind,
  text,
  toolUseKey,
} from './identity.ts';
import { closeConnection, closeDead } from './lost-servers.ts';
import type { Connection, ReadTx, Store } from './ports.ts';
import { recordSession } from './session-state.ts';
import type { SessionService } from './sessions.ts';
import { type CallTrace, turnOfCall } from './turns.ts';
import type { Processes } from './world.ts';

/** The evidence of an MCP connection about its caller, before and with each call. */
export interface CallerEvidence {
  env: Environment;
  /** `_meta` of the call. */
  meta: Readonly<Record<string, unknown>>;
  /** `clientInfo.name` of the initialize request. */
  client: string;
  /** Unique to this connection; the identity of a caller that reports none. */
  connection_id: string;
  project: { project: string; project_dir: string; branch: string | null };
  machine: string;
  /** The process that started us: the client itself, unless a wrapper started us. */
  parent_pid: number | null;
}

/** The session that makes a call, with other facts about the call. */
export interface Caller {
  session: Session;
  /** How the caller can get an identity; null when it has one. */
  advice: string | null;
  /** The turn in which it calls; undefined when none is known. */
  turn: Turn | undefined;
}

export function createCallers(
  store: Store,
  processes: Processes,
  sessions: Pick<SessionService, 'introduce' | 'seen'>,
) {
  /** The session that each connection was last found to belong to, as this process recorded it. */
  const names = new Map<string, string>();

  /** A client's configuration may set HIVE_SOURCE for the server alone, so this may change the source that hooks recorded. */
  async function withDeclaredSource(known: Session, declared: Source): Promise<Session> {
    if (sourceAfter(known, declared) === known.source) return known;
    return store.write(async (tx) => {
      const session = (await tx.sessions.get(known.session_id)) ?? known;
      return recordSession(tx, 'session/changed', { ...session, source: sourceAfter(session, declared) });
    });
  }

  /** The process that makes a call, as a `Speaker`. */
  function speakerOf({ machine, parent_pid }: CallerEvidence): Speaker {
    const above = parent_pid === null ? [] : [parent_pid, ...processes.ancestors(parent_pid)];
    return { machine, pid: null, above };
  }

  return {
    /** Finds the session that makes a call: by its hook, else by the client's process, else by the client's own report. */
    async resolve(evidence: CallerEvidence): Promise<Caller> {
      const { connection_id } = evidence;
      const { introduction, advice, hooks_id } = identifyCaller(evidence);
      const { known, introduced, turn, named, now } = await store.read(async (tx) => {
        const by_hook = toolUseOf(evidence);
        const session_id = by_hook === null ? undefined : await tx.sessions.callerOf(by_hook);
        const hooked = session_id === undefined ? undefined : await tx.sessions.get(session_id);
        // A hook on another machine may record any id, so a record counts only for calls from the same machine.
        const own = hooked?.machine === evidence.machine ? hooked : undefined;
        const known =
          own ?? (await byHooks(tx, hooks_id, evidence)) ?? (await byProcess(tx, evidence, processes));
        const introduced = known === undefined ? await tx.sessions.get(introduction.session_id) : undefined;
        const claimed = known ?? (await sessionBehind(tx, introduction.session_id, introduced));
        // If the session's own client started us, no other session can be closer. This decides most calls.
        if (claimed !== undefined && (claimed.pid !== evidence.parent_pid || claimed.pid === null))
          refuse(await refusalToSpeak(tx, claimed, speakerOf(evidence), processes));
        const { session_id: caller } = known ?? introduced ?? introduction;
        const turn = await turnOfCall(tx, caller, traceOf(evidence));
        const named = names.get(connection_id) ?? (await tx.sessions.connection(connection_id))?.session_id;
        return { known, introduced, turn, named, now: tx.now };
      });
      let session: Session;
      if (known !== undefined)
        session = await withDeclaredSource(known, decideSource({ variable: evidence.env['HIVE_SOURCE'] }));
      else if (introduced !== undefined && isUnchanged(introduced, introduction)) {
        session = introduced;
        // A call that only reads works where nothing can be written, such as on a full disk.
        await sessions.seen(session, now).catch(() => undefined);
      } else session = await sessions.introduce(introduction);
      if (named !== undefined && named !== session.session_id) {
        await store.write((tx) => tx.sessions.nameConnection(connection_id, session.session_id));
        names.set(connection_id, session.session_id);
      }
      return { session, advice: known === undefined ? advice : null, turn };
    },

    /** Records an open MCP connection, and closes those of this machine whose process is gone. */
    openConnection: (connection: Omit<Connection, 'opened_at' | 'session_id'>): Promise<void> =>
      store.write(async (tx) => {
        await closeDead(tx, connection.machine, processes);
        await tx.sessions.openConnection({ ...connection, session_id: null, opened_at: tx.now });
      }),

    /** Also ends the sessions of callers whose only identity was one of these connections. */
    async closeConnections(connection_ids: readonly string[]): Promise<void> {
      for (const connection_id of connection_ids) names.delete(connection_id);
      await store.write(async (tx) => {
        for (const connection_id of connection_ids) await closeConnection(tx, connection_id);
      });
    },
  };
}

/** The session of a caller whose own hooks report it under another id: an agent in an editor, or Codex on another machine. */
async function byHooks(
  tx: ReadTx,
  hooks_id: string | null,
  { machine }: CallerEvidence,
): Promise<Session | undefined> {
  const found = hooks_id === null ? undefined : await tx.sessions.get(hooks_id);
  const isHooked = found?.hooks_seen_at != null && found.state !== 'ended' && found.machine === machine;
  return isHooked ? found : undefined;
}

/**
 * The session of the client's process. Claude Code's MCP child keeps its first session id after /clear and /resume, but its
 * parent is the hooks' CLAUDE_PID.
 */
async function byProcess(
  tx: ReadTx,
  { meta, machine, parent_pid }: CallerEvidence,
  processes: Processes,
): Promise<Session | undefined> {
  if (typeof meta['sessionId'] === 'string' || parent_pid === null) return undefined;
  const found = await tx.sessions.hookedByProcess(machine, parent_pid);
  return found !== undefined && !(await isReused(tx, found, processes)) ? found : undefined;
}

// ---- What a client reports about itself ----

interface Identity {
  introduction: SessionIntroduction;
  /** How the caller can get an identity next time; null when it has one. */
  advice: string | null;
  /** For an agent in an editor or a remote Codex: the id under which its hooks would report it; null if it has none. */
  hooks_id: string | null;
}

/** How an agent can get a lasting identity if its client reports no session. */
function adviceFor(client: string): string {
  const named = initName(client);
  return `Your client reports no session, so this connection has one of its own: you can poll answers by their ask_id, but they reach you in no other way. For a lasting identity, your human sets HIVE_AGENT in the environment of the MCP server${named === null ? '.' : `, or runs: hive init ${named}`}`;
}

/** The caller's session: Codex reports it with each call, Claude Code in the environment, others by `HIVE_AGENT`. */
export function identifyCaller(evidence: CallerEvidence): Identity {
  const { env, meta, connection_id, project: place, machine, parent_pid } = evidence;
  const client = cleanText(evidence.client);
  const source = decideSource(sourceEvidence(env));
  const parent_session_id = parentNamed(env);
  const common = { ...place, machine, pid: parent_pid, source, parent_session_id };
  const codexSession = reported(meta['sessionId']);
  const thread = text(meta['threadId']) ?? codexSession;
  const isSubagent = thread !== codexSession;
  const within = (session: string): string => (isSubagent ? `${session}:${thread}` : session);
  // The name of a remote agent comes from its token, which a human created.
  if (isRemote(machine)) {
    const agent = text(env['HIVE_AGENT']) ?? connection_id;
    const introduction = { ...common, session_id: remoteId(machine, agent), client, name: agent };
    const hooks_id = codexSession === null ? null : remoteId(machine, within(codexSession));
    return { ...known(introduction), hooks_id };
  }
  const name = agentName(env);
  const editor = editorSession(env['HIVE_SESSION']);
  if (codexSession !== null) {
    // Codex does not pass this variable on by default, so it was set for this session.
    const main = editor ?? codexSession;
    const introduction = {
      ...common,
      // If another client started Codex, the environment may contain that client's entry point.
      source: decideSource({ variable: env['HIVE_SOURCE'] }),
      session_id: within(main),
      client: 'codex',
      name: isSubagent ? null : name,
      parent_session_id: isSubagent ? main : parent_session_id,
    };
    return { ...known(introduction), hooks_id: editor === null ? null : within(codexSession) };
  }
  if (editor !== null) return known({ ...common, session_id: editor, client, name });
  const claudeSession = reported(env['CLAUDE_CODE_SESSION_ID']);
  if (claudeSession !== null)
    return known({ ...common, session_id: claudeSession, client: 'claude-code', name });
  if (name !== null)
    return known({
      ...common,
      session_id: name,
      client: client === '' ? name : client,
      name,
    });
  return {
    introduction: { ...common, session_id: connection_id, client },
    advice: adviceFor(client),
    hooks_id: null,
  };
}

function known(introduction: SessionIntroduction): Identity {
  return { introduction, advice: null, hooks_id: null };
}

/** The id of the call in Claude Code's hooks. The session that PreToolUse recorded under it is the most reliable identity. */
function toolUseOf({ meta, machine }: CallerEvidence): string | null {
  const use_id = text(meta['claudecode/toolUseId']);
  return use_id === null ? null : toolUseKey(machine, use_id);
}

/** Codex reports its turn with each call; Claude Code the call's own id, which its hook has reported to us. */
function traceOf(evidence: CallerEvidence): CallTrace {
  const codex = evidence.meta['x-codex-turn-metadata'];
  const turn_id = codex !== null && typeof codex === 'object' && 'turn_id' in codex ? codex.turn_id : null;
  return { client_turn_id: text(turn_id), tool_use_id: text(evidence.meta['claudecode/toolUseId']) };
}
