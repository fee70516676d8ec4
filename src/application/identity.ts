/**
 * Identity: who somebody is, according to the environment and the processes above, and who may speak for a session
 * (invariant 9). callers.ts finds the session that makes an MCP call.
 */
import {
  isRemote,
  remoteId,
  reportedId,
  type Session,
  type SessionIntroduction,
} from '../domain/sessions.ts';
import { decideSource, type Environment } from '../domain/sources.ts';
import { cleanOptional } from '../domain/text.ts';
import type { ReadTx } from './ports.ts';
import type { Processes } from './world.ts';

/**
 * Each of these variables shows that an agent's process started us; a person's own settings (CODEX_HOME, …) do not. Every command
 * and every sidecar checks this list before it lets anybody act as the human.
 */
export const AGENT_VARIABLES: readonly string[] = [
  'HIVE_AGENT',
  'HIVE_SESSION',
  'CLAUDECODE',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_PID',
  'CODEX_SESSION_ID',
  'CODEX_THREAD_ID',
  'CODEX_TOOL_CALL_ID',
  'CODEX_CI',
  'CODEX_VERSION',
  'CODEX_SANDBOX',
  'CODEX_SANDBOX_NETWORK_DISABLED',
  'GEMINI_CLI',
  'CURSOR_AGENT',
  'OPENCODE',
  'AI_AGENT',
];

/** The first variable that shows that an agent started us; null in a person's environment. */
export function agentVariable(env: Environment): string | null {
  return AGENT_VARIABLES.find((name) => text(env[name]) !== null) ?? null;
}

/**
 * The variable of an agent in the environment of a process above this one; null if there is none. `env -i` clears only the
 * variables of the command itself, and this check does not depend on which store is open.
 */
export function agentVariableAbove(
  processes: Pick<Processes, 'ancestors' | 'environment'>,
  pid: number,
): string | null {
  for (const above of processes.ancestors(pid)) {
    const variable = agentVariable(processes.environment(above));
    if (variable !== null) return variable;
  }
  return null;
}

/** The sessions that a shell's environment names, most likely first: agents started by agents leave several. */
export function sessionsInEnvironment(env: Environment): NamedSession[] {
  const named: NamedSession[] = [];
  const name = agentName(env);
  const claude = reported(env['CLAUDE_CODE_SESSION_ID']);
  if (claude !== null) named.push({ session_id: claude, client: 'claude-code', name });
  const codex = reported(env['CODEX_SESSION_ID']) ?? reported(env['CODEX_THREAD_ID']);
  const thread = text(env['CODEX_THREAD_ID']) ?? codex;
  if (codex !== null)
    named.push(
      thread === codex
        ? { session_id: codex, client: 'codex', name }
        : { session_id: `${codex}:${thread}`, client: 'codex', name: null },
    );
  if (name !== null) named.push({ session_id: name, client: name, name });
  return named;
}

/** A session named by an environment. `name` was given by its person, and is not shared by subagents. */
interface NamedSession {
  session_id: string;
  client: string;
  name: string | null;
}

/** Untrusted text, cleaned; null if there is none. */
export function text(value: unknown): string | null {
  return typeof value === 'string' ? cleanOptional(value) : null;
}

/** An id that a client reports. @throws HiveError `not_allowed` for an id that only Hive may make. */
export function reported(value: unknown): string | null {
  const id = text(value);
  return id === null ? null : reportedId(id);
}

/**
 * The name that a person gave an agent, which may be its id. It is in composed form, because programs write the same letters in
 * two ways.
 * @throws HiveError `not_allowed` for an id that only Hive may make.
 */
export function agentName(env: Environment): string | null {
  return reported(env['HIVE_AGENT']?.normalize('NFC'));
}

/** The session that a person named as the parent, in composed form as well; null if none. */
export function parentNamed(env: Environment): string | null {
  return text(env['HIVE_PARENT']?.normalize('NFC'));
}

/** The id under which a call is recorded. The hooks of a token cannot record an id that a call of another machine could have. */
export function toolUseKey(machine: string, use_id: string): string {
  return isRemote(machine) ? remoteId(machine, use_id) : use_id;
}

// ---- Sessions above a process (invariant 9) ----
// The registered sessions among a process's ancestors. They are looked up only for a new session, and before a shell acts for the
// human.

/** The living sessions among these processes of one machine, in their order. */
export async function sessionsAmong(
  tx: ReadTx,
  machine: string,
  pids: readonly number[],
  processes: Processes,
): Promise<Session[]> {
  const found: Session[] = [];
  for (const pid of pids) {
    if (pid <= INIT) continue;
    const session = await tx.sessions.byProcess(machine, pid);
    if (session !== undefined && !(await isReused(tx, session, processes))) found.push(session);
  }
  return found;
}

/**
 * A new session with its parent: the nearest process above it that is another session, else the session that its environment
 * names. The parent of a subagent is already known, and is closer than any process. Below a process in the background nobody
 * watches it either, and a `HIVE_SOURCE` that says otherwise may be inherited.
 */
export async function withParent(
  tx: ReadTx,
  introduction: SessionIntroduction,
  pids: readonly number[],
  processes: Processes,
): Promise<SessionIntroduction> {
  const { session_id, machine, parent_session_id: named } = introduction;
  if (named !== null && session_id.startsWith(`${named}:`)) return introduction;
  const above = await sessionsAmong(tx, machine, pids, processes);
  const over = above.find((session) => session.session_id !== session_id);
  const parent = over?.session_id ?? named;
  const source = decideSource({ reported: introduction.source, backgrounded: over?.source === 'bg' });
  return { ...introduction, source, parent_session_id: parent === session_id ? null : parent };
}

// ---- Who may speak for a session ----
// A report of a hook, an MCP server or a shell about itself is a claim: any process of this user can start `hive hook` with any
// event and any variable. The process tree is harder to forge, so it decides.

/** Every process descends from this one; it is never a client. */
const INIT = 1;

/** A process that claims to belong to a session. */
export interface Speaker {
  machine: string;
  /** Its own process; null if that is on another machine. */
  pid: number | null;
  /** The processes that it descends from, nearest first. */
  above: readonly number[];
}

/** How much two readings of the clock may differ. */
const CLOCKS_MS = 1_000;

/** Whether the process that a session was registered with is still running. */
export async function runsStill(tx: ReadTx, session: Session, processes: Processes): Promise<boolean> {
  const { pid } = session;
  return pid !== null && processes.alive(pid) && !(await isReused(tx, session, processes));
}

/**
 * Whether a later process has the pid of a session, that is, one that began after the session was last seen. The processes of
 * remote agents cannot be examined.
 */
export async function isReused(
  tx: ReadTx,
  { machine, pid, last_seen_at }: Session,
  processes: Processes,
): Promise<boolean> {
  const age_ms = pid === null || isRemote(machine) ? null : processes.ageMs(pid);
  if (pid === null || age_ms === null) return false;
  if (Date.parse(tx.now) - age_ms <= Date.parse(last_seen_at) + CLOCKS_MS) return false;
  // After a pause, a virtual machine sets its clock forward, but process ages do not change. An earlier server reveals this.
  const connections = await tx.sessions.connections(machine);
  return !connections.some(
    (server) =>
      server.parent_pid === pid &&
      server.opened_at <= last_seen_at &&
      processes.alive(server.pid) &&
      processes.ancestors(server.pid).includes(pid),
  );
}

/**
 * The client process that a hook names, if it is one; null for pid 1 and for a process that the hook does not descend
 * from, since a hook is started by its client. A program that runs the client itself, such as one built on the agent
 * SDK, is above its client instead.
 */
export async function provenClient(
  tx: ReadTx,
  pid: number | null,
  speaker: Speaker,
  processes: Processes,
): Promise<number | null> {
  if (pid === null || pid <= INIT) return null;
  // Its process runs on another machine; the token limits it to its own sessions.
  if (isRemote(speaker.machine)) return pid;
  const at = speaker.above.indexOf(pid);
  if (at === -1) return isAbove(speaker, pid, processes) ? pid : null;
  const nearer = await otherClient(tx, pid, speaker, speaker.above.slice(0, at), processes);
  return nearer === undefined ? pid : null;
}

/**
 * The session whose process decides who may speak under this id. A subagent has no process of its own: it runs in that of the
 * session that its id names (`SESSION:AGENT_ID`), also before anybody has introduced it. Undefined if neither is known.
 */
export async function sessionBehind(
  tx: ReadTx,
  session_id: string,
  known: Session | undefined,
): Promise<Session | undefined> {
  if (isRemote(session_id) || (known !== undefined && known.pid !== null)) return known;
  for (let end = session_id.lastIndexOf(':'); end > 0; end = session_id.lastIndexOf(':', end - 1)) {
    const host = await tx.sessions.get(session_id.slice(0, end));
    if (host !== undefined) return host;
  }
  return known;
}

/**
 * Why this process may not speak for this session, as a sentence; null if it may. While a session's client process runs, only its
 * descendants may speak for it, and for its subagents, except other agents that it started. Nothing is known about a session
 * without a running process, so anybody may resume it.
 */
export async function refusalToSpeak(
  tx: ReadTx,
  session: Session,
  speaker: Speaker,
  processes: Processes,
): Promise<string | null> {
  const { session_id, handle, machine, pid } = session;
  const behind = await sessionBehind(tx, session_id, session);
  if (behind !== undefined && behind !== session) return refusalToSpeak(tx, behind, speaker, processes);
  if (machine !== speaker.machine)
    return isRemote(machine) || isRemote(speaker.machine)
      ? `The session ${session_id} is not of ${speaker.machine}.`
      : null;
  if (isRemote(machine) || pid === null || session.state === 'ended') return null;
  if (!(await runsStill(tx, session, processes))) return null;
  const at = speaker.above.indexOf(pid);
  const nearer = at === -1 ? speaker.above : speaker.above.slice(0, at);
  const other = await otherClient(tx, pid, speaker, nearer, processes);
  if (other === undefined && (at !== -1 || isAbove(speaker, pid, processes))) return null;
  if (other === undefined && !isProven(session) && isRelated(session.client, speaker, pid, processes))
    return null;
  // Unless hooks have proved otherwise, a session that an agent started under its own name belongs to that agent.
  if (other !== undefined && !isProven(session) && other.session_id === session.parent_session_id)
    return null;
  const whose =
    other === undefined ? 'which did not start this one' : `and this one belongs to ${other.handle}`;
  return `The session ${session_id} is ${handle}'s. It runs in process ${pid}, ${whose}: only ${handle} speaks for itself.`;
}

/**
 * Whether hooks have reported the session's client process. Otherwise its process is the parent of an MCP server, perhaps a
 * wrapper.
 */
function isProven({ client, hooks_seen_at }: Session): boolean {
  return client === 'claude-code' && hooks_seen_at !== null;
}

/** Processes that adopt those whose parent is gone. */
const ADOPTERS = /^(systemd|launchd|init)$/;

/**
 * Whether a process that does not descend from the recorded one may still belong to the same client. The recorded process is the
 * parent of an MCP server: the client, or a wrapper that the client started. In the second case both descend from the client.
 * Codex's process has its name; otherwise a process that is not an adopter of orphans must be above both. A process cannot be
 * inserted above a running one. For other clients nothing is known.
 */
function isRelated(client: string, speaker: Speaker, pid: number, processes: Processes): boolean {
  if (client !== 'codex') return true;
  const line = [pid, ...processes.ancestors(pid)];
  const named = line.filter((one) => /codex/i.test(processes.nameOf(one)));
  const common =
    named.length > 0 ? named : line.filter((one) => one > INIT && !ADOPTERS.test(processes.nameOf(one)));
  return common.some((one) => speaker.above.includes(one));
}

/**
 * The Codex among the processes above a hook of it, which does not report it; null for another client. All that it decides is
 * whether its sessions live, because one daemon hosts several.
 */
export function codexAbove(client: string, above: readonly number[], processes: Processes): number | null {
  return (client === 'codex' && above.find((pid) => /codex/i.test(processes.nameOf(pid)))) || null;
}

function isAbove(speaker: Speaker, pid: number, processes: Processes): boolean {
  return speaker.pid !== null && processes.ancestors(pid).includes(speaker.pid);
}

/** A running client among these processes, other than `pid`. */
async function otherClient(
  tx: ReadTx,
  pid: number,
  { machine }: Speaker,
  among: readonly number[],
  processes: Processes,
): Promise<Session | undefined> {
  const found = await sessionsAmong(tx, machine, among, processes);
  return found.find((other) => other.pid !== null && other.pid !== pid && processes.alive(other.pid));
}
