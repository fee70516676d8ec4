/**
 * In whose name a command acts (invariant 9). A person's terminal acts for the human; under an agent it is refused,
 * unless --as-agent says that the agent itself means to, and then the event log says so.
 */
import { hostname } from 'node:os';
import type { Hive } from '../application/hive.ts';
import { agentVariable, sessionsInEnvironment } from '../application/identity.ts';
import type { Actor, HumanActor } from '../domain/actors.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { type Author, agentAuthor, humanAuthor } from '../domain/messages.ts';
import type { Prompt } from '../domain/prompts.ts';
import { explainHandle, type Session } from '../domain/sessions.ts';
import { decideSource, sourceEvidence } from '../domain/sources.ts';
import { humanName, thisSeat } from '../infrastructure/platform/paths.ts';
import { isOrphan } from '../infrastructure/platform/processes.ts';
import { findProject } from '../infrastructure/platform/project.ts';
import { confirmAnswer, remark } from './output.ts';
import { scriptsMayAnswer } from './scripts.ts';

/** What the help says of `--by`. */
export const BY = 'your name on the trail; default: HIVE_USER, else your login name';

export interface ActorOptions {
  asAgent?: boolean | undefined;
  /** The person's name on the trail. */
  by?: string | undefined;
}

/** What somebody is about to do. */
interface Deed {
  /** As a refusal begins: `Answering`. */
  what: string;
  /** Whether it concerns nobody but this caller: an agent does so freely. */
  isOwn?: (caller: Caller) => boolean;
}

/**
 * Who acts: every command asks here. An agent does what is its own freely, all else only with --as-agent; what it may
 * do then, the rules of the domain say (invariant 9). @throws HiveError `not_allowed`.
 */
export async function findActor(hive: Hive, { what, isOwn }: Deed, options: ActorOptions): Promise<Actor> {
  const caller = await findCaller(hive);
  const declared = options.asAgent === true;
  if (caller.agent_because === null) {
    if (declared) throw invalidInput('There is no agent here to act as: leave --as-agent out.');
    refuseOrphans(what);
    return humanActor(options);
  }
  if (!declared && isOwn?.(caller) !== true)
    throw new HiveError(
      'not_allowed',
      `${what} is the human's, and this is an agent's process (${caller.agent_because}). An agent that means to act in its own name says so with --as-agent; permissions stay the human's.`,
    );
  const session = await registerCaller(hive, caller);
  return { ...(await hive.sessions.actor(session, 'cli', caller.sessions)), declared };
}

/**
 * The actor of an answer. The person reads the question once more and types yes; without a terminal only the scripts of a
 * person who allows them answer, and never a permission. @throws HiveError `not_allowed`.
 */
export async function answeringActor(
  hive: Hive,
  prompt: Prompt,
  decision: string,
  options: ActorOptions,
): Promise<Actor> {
  const actor = await findActor(hive, { what: 'Answering' }, options);
  if (actor.kind !== 'human') return actor;
  if (confirmAnswer(prompt, decision)) return { ...actor, confirmed: true };
  if (prompt.kind === 'permission')
    throw new HiveError(
      'not_allowed',
      'A permission is answered at a terminal, where it asks for confirmation: not with a pipe for stdin, and not by a script. Answer it in Emacs or type the command in a terminal.',
    );
  const { allowed, path } = scriptsMayAnswer(process.env);
  if (allowed) return actor;
  throw new HiveError(
    'not_allowed',
    `An answer is typed at a terminal, and there is none here to read it from. Answer in Emacs, or type the command in a terminal. To let your scripts answer questions, put {"allow_scripts_to_answer": true} into ${path}, a file that only you can read.`,
  );
}

/** The author of a message: the human at a person's terminal, the agent under an agent. */
export async function findAuthor(hive: Hive, { asAgent }: ActorOptions): Promise<Author> {
  const caller = await findCaller(hive);
  if (caller.agent_because !== null) return agentAuthor(await registerCaller(hive, caller), 'cli');
  if (asAgent === true) throw invalidInput('There is no agent here to act as: leave --as-agent out.');
  refuseOrphans('Writing as the human');
  return humanAuthor('cli', findProject(process.cwd()));
}

/**
 * For what no agent may do at all; `whose` begins the sentence that it reads. A process whose parent is gone is refused as
 * well, unless `orphans` says that a service manager may start this. @throws HiveError `not_allowed`.
 */
export async function refuseAgents(
  hive: Hive,
  whose: string,
  { orphans = 'refused', advice }: { orphans?: 'refused' | 'allowed'; advice?: string } = {},
): Promise<void> {
  const { agent_because } = await findCaller(hive);
  if (agent_because !== null)
    throw new HiveError(
      'not_allowed',
      `${whose}, and this process belongs to an agent (${agent_because}).${advice === undefined ? '' : ` ${advice}`}`,
    );
  if (orphans === 'refused' && isOrphan(process.pid))
    throw new HiveError('not_allowed', `${whose}, ${ORPHAN}`);
}

/** A process that has lost its ancestors may be an agent's that hides them. */
function refuseOrphans(what: string): void {
  if (isOrphan(process.pid)) throw new HiveError('not_allowed', `${what} is the human's, ${ORPHAN}`);
}

const ORPHAN =
  'and whoever started this process is gone: nothing shows that it was you. Run the command in a terminal.';

/** The person at this terminal, once `refuseAgents` has let them through. */
export function humanActor({ by }: ActorOptions): HumanActor {
  return { kind: 'human', by: by ?? humanName(process.env), via: 'cli', confirmed: false };
}

// ---------------------------------------------------------------------------
// Who runs this command (invariant 9): the agent that its environment or a process above it tells, else the
// person at this terminal. An agent's word for who it is would be worth nothing, so there is no option for it.

export interface Caller {
  session_id: string;
  client: string;
  /** What its person calls it (`HIVE_AGENT`). */
  name: string | null;
  /** What shows that this is an agent, `CLAUDECODE is set`; null for a person. */
  agent_because: string | null;
  /** Every session that the environment tells or that a process above is. */
  sessions: readonly string[];
}

export async function findCaller(hive: Hive, env: NodeJS.ProcessEnv = process.env): Promise<Caller> {
  const above = await hive.sessions.above({ machine: hostname(), pid: process.pid });
  const told = sessionsInEnvironment(env);
  const variable = agentVariable(env);
  const nearest = above[0];
  const because =
    variable !== null
      ? `${variable} is set`
      : nearest !== undefined
        ? `it runs under ${nearest.handle}`
        : null;
  // An agent started by an agent inherits its variables: the process above says which of them is meant.
  const named = told.find(({ session_id }) => session_id === nearest?.session_id) ?? told[0] ?? nearest;
  const nameless = because === null ? `cli-${thisSeat()}` : `agent-${thisSeat()}`;
  return {
    session_id: named?.session_id ?? nameless,
    client: named?.client ?? 'cli',
    name: named !== undefined && 'name' in named ? named.name : null,
    agent_because: because,
    sessions: [...told, ...above].map(({ session_id }) => session_id),
  };
}

/** The caller's session, registered when it is new. One that is known stays as its own client described it. */
export async function registerCaller(hive: Hive, { session_id, client, name }: Caller): Promise<Session> {
  const present = await hive.sessions.returning(session_id);
  if (present !== undefined) return present;
  const ended = await hive.sessions.get(session_id);
  const { env } = process;
  const introduction = {
    ...findProject(process.cwd()),
    session_id,
    client,
    name,
    source: decideSource(sourceEvidence(env)),
    machine: hostname(),
    // A shell is no agent: recorded as one, it would make everything in it an agent's.
    pid: ended?.pid ?? null,
    parent_session_id: env['HIVE_PARENT'] ?? null,
  };
  const session = await hive.sessions.introduce(introduction, process.pid);
  const note = name === null || ended !== undefined ? null : explainHandle(name, session.handle);
  if (note !== null) remark(note);
  return session;
}

/** What prints answers to this caller; that the caller comes back proves that it read the last ones. */
export async function carrierOf(hive: Hive, caller: Caller): Promise<string> {
  const carrier = `cli:${caller.session_id}`;
  await hive.delivery.collect(carrier);
  return carrier;
}

/** Whether printing this prompt hands it to its asker: a person who looks at an agent's answer takes nothing away. */
export function isForCaller(prompt: Prompt, caller: Caller): boolean {
  return caller.agent_because !== null || prompt.session_id === caller.session_id;
}
