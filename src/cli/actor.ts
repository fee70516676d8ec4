/**
 * The actor of a command (invariant 9). At a person's terminal it is the human. Under an agent the command is refused,
 * unless --as-agent says that the agent acts in its own name; the event log records that.
 */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import {
  agentVariable,
  agentVariableAbove,
  parentNamed,
  sessionsInEnvironment,
} from '../application/identity.ts';
import { type Actor, type HumanActor, refusalToAnswer, refuse } from '../domain/actors.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import { type Author, agentAuthor, humanAuthor } from '../domain/messages.ts';
import { explainHandle } from '../domain/names.ts';
import { mayAllow } from '../domain/permissions.ts';
import { type AnswerRequest, type Prompt, refusalOfTerminal, resolveAnswer } from '../domain/prompts.ts';
import type { Session } from '../domain/sessions.ts';
import { decideSource, sourceEvidence } from '../domain/sources.ts';
import { humanName, thisSeat } from '../infrastructure/platform/paths.ts';
import { processes, shellOfTerminal } from '../infrastructure/platform/processes.ts';
import { findProject } from '../infrastructure/platform/project.ts';
import type { ExitCode } from './exit-codes.ts';
import { confirmAnswer, remark } from './output.ts';
import { perform } from './program.ts';

const ACTOR = {
  noAgent: '--as-agent is for an agent, and no agent is running this command. Leave it out.',
  onlyHuman: (action: string, because: string): string =>
    `Only a human may ${action}. This process belongs to an agent (${because}).`,
} as const;

/** An action, before it is known who performs it. */
interface Attempt {
  /** As it follows "Only a human may". */
  action: string;
  /** Whether it concerns only this caller; an agent needs no --as-agent for that. */
  isOwn?: (caller: Caller) => boolean;
  /** Whether a coordinator may do it with its tools. */
  coordinates?: boolean;
  /** Whether `--as-agent` was given. */
  asAgent?: boolean | undefined;
}

/**
 * Finds out who acts; every command asks here. An agent needs --as-agent for everything that is not its own. The domain
 * then decides what the agent may do (invariant 9). @throws HiveError `not_allowed`.
 */
export async function findActor(hive: Hive, attempt: Attempt): Promise<Actor> {
  const { action, isOwn, coordinates, asAgent: declared = false } = attempt;
  const caller = await findCaller(hive);
  if (caller.agent_because === null) {
    if (declared) throw invalidInput(ACTOR.noAgent);
    return humanActor();
  }
  if (!declared && isOwn?.(caller) !== true)
    throw new HiveError(
      'not_allowed',
      coordinates === true
        ? `${ACTOR.onlyHuman(action, caller.agent_because)} A coordinator does this with Hive's MCP tools.`
        : `${ACTOR.onlyHuman(action, caller.agent_because)} To act in its own name, the agent adds --as-agent.`,
    );
  const session = await registerCaller(hive, caller);
  return { ...(await hive.sessions.actor(session, 'cli', caller.sessions)), declared };
}

/**
 * The actor of an answer, once the person has read the question and typed yes. Without a terminal, only a person's scripts
 * answer, if the person allows that, and never a permission. An invalid answer is refused before the person is asked.
 * @throws HiveError `not_allowed`, `invalid_answer`.
 */
export function confirmActor(
  hive: Hive,
  actor: Actor,
  prompt: Prompt,
  answer: AnswerRequest,
  isShown: boolean,
): Actor {
  if (actor.kind !== 'human') return actor;
  const decision = answer.decision ?? (answer.selected ?? []).join(', ');
  refuse(refusalToAnswer({ ...actor, confirmed: true }, prompt) ?? refusalOfTerminal(prompt));
  const { allow_scripts_to_answer, terminal_may_allow, path } = hive.trust.file();
  if (isAllowing(prompt, answer) && !terminal_may_allow)
    throw new HiveError(
      'not_allowed',
      `Here you can only deny a permission. Grant it in Emacs, or on a phone that may allow permissions. To grant permissions at a terminal too, set "terminal_may_allow": true in ${path}.`,
    );
  if (isAtTerminal() && confirmAnswer(prompt, decision, isShown)) return { ...actor, confirmed: true };
  if (prompt.kind === 'permission')
    throw new HiveError(
      'not_allowed',
      'A permission must be confirmed at a terminal, and there is none here. Run the command in a terminal, or answer in Emacs.',
    );
  if (!allow_scripts_to_answer)
    throw new HiveError(
      'not_allowed',
      `An answer must be confirmed at a terminal, and there is none here. Run the command in a terminal, or answer in Emacs. To let your scripts answer questions, set "allow_scripts_to_answer": true in ${path}.`,
    );
  return actor;
}

/** Whether a person can type here. */
export function isAtTerminal(): boolean {
  return process.stdin.isTTY;
}

/** Whether an answer may allow something. @throws HiveError `invalid_answer` if this answer does not fit the prompt. */
function isAllowing(prompt: Prompt, answer: AnswerRequest): boolean {
  const stamp = { by: '', via: 'cli', attested: true, response_id: '', responded_at: '' } as const;
  const resolved = resolveAnswer(prompt, answer, stamp);
  return prompt.kind === 'permission' && mayAllow(prompt, resolved);
}

/** The author of a message: the human at a person's terminal, the agent under an agent. */
export async function findAuthor(hive: Hive, asAgent: boolean): Promise<Author> {
  const caller = await findCaller(hive);
  if (caller.agent_because !== null) return agentAuthor(await registerCaller(hive, caller), 'cli');
  if (asAgent) throw invalidInput(ACTOR.noAgent);
  return humanAuthor('cli', findProject(process.cwd()));
}

/**
 * Refuses an action that no agent may take; `action` follows "Only a human may", and `advice` tells the person what to do.
 * @throws HiveError `not_allowed`.
 */
export async function refuseAgents(hive: Hive, action: string, advice?: string): Promise<void> {
  const { agent_because } = await findCaller(hive);
  if (agent_because === null) return;
  const refusal = ACTOR.onlyHuman(action, agent_because);
  throw new HiveError('not_allowed', advice === undefined ? refusal : `${refusal} ${advice}`);
}

/** The person at this terminal; call `refuseAgents` first. */
export function humanActor(): HumanActor {
  return { kind: 'human', by: humanName(process.env), via: 'cli', confirmed: false };
}

// ---- Who runs this command (invariant 9) ----
// The agent that the environment or an ancestor process identifies; otherwise the person at this terminal. There is no option
// for it: what an agent claims about itself proves nothing.

export interface Caller {
  session_id: string;
  client: string;
  /** The name that its person gave it (`HIVE_AGENT`). */
  name: string | null;
  /** How we know that this is an agent, for example `CLAUDECODE is set`; null for a person. */
  agent_because: string | null;
  /** Every session that the environment names or that is an ancestor process. */
  sessions: readonly string[];
}

/** The evidence of an agent whose shell has cleared the variables of this command, whichever store it names. */
function hiddenAgent(): string | null {
  const variable = agentVariableAbove(processes, process.pid);
  return variable === null ? null : `${variable} is set in a process that started this one`;
}

export async function findCaller(hive: Hive): Promise<Caller> {
  const above = await hive.sessions.above({ machine: hostname(), pid: process.pid });
  const inEnvironment = sessionsInEnvironment(process.env);
  for (const { session_id } of inEnvironment) {
    refuse(await hive.sessions.refusalToSpeak(session_id, { machine: hostname(), pid: process.pid }));
  }
  const variable = agentVariable(process.env);
  const nearest = above[0];
  const because =
    variable !== null
      ? `${variable} is set`
      : nearest !== undefined
        ? `it runs under ${nearest.handle}`
        : hiddenAgent();
  // An agent started by an agent inherits its variables; the nearest ancestor process decides between the two.
  const named =
    inEnvironment.find(({ session_id }) => session_id === nearest?.session_id) ?? inEnvironment[0] ?? nearest;
  const nameless = because === null ? `cli-${thisSeat()}` : `agent-${thisSeat()}`;
  return {
    session_id: named?.session_id ?? nameless,
    client: named?.client ?? 'cli',
    name: named !== undefined && 'name' in named ? named.name : null,
    agent_because: because,
    sessions: [...inEnvironment, ...above].map(({ session_id }) => session_id),
  };
}

/** The caller's session, registered if it is new. A known session keeps its own client's description. */
export async function registerCaller(hive: Hive, { session_id, client, name }: Caller): Promise<Session> {
  const shell_pid = shellOfTerminal(process.pid);
  const present = await hive.sessions.returning(session_id, shell_pid);
  if (present !== undefined) return present;
  const ended = await hive.sessions.find(session_id);
  const { env } = process;
  const introduction = {
    ...findProject(process.cwd()),
    session_id,
    client,
    name,
    source: decideSource(sourceEvidence(env)),
    machine: hostname(),
    // Not the shell's: a session recorded with that pid would make every command in the shell an agent's.
    pid: ended?.pid ?? null,
    shell_pid,
    parent_session_id: parentNamed(env),
  };
  const session = await hive.sessions.introduce(introduction, process.pid);
  const note = name === null || ended !== undefined ? null : explainHandle(name, session.handle);
  if (note !== null) remark(note);
  return session;
}

/** The carrier of answers to this caller. Another call from it proves that it has read the previous ones. */
export async function carrierOf(hive: Hive, caller: Caller): Promise<string> {
  const carrier = `cli:${caller.session_id}`;
  await hive.delivery.collect(carrier);
  return carrier;
}

/** Whether printing this prompt hands it to its asker. A person who reads an agent's answer does not take it from the agent. */
export function isForCaller(prompt: Prompt, caller: Caller): boolean {
  return caller.agent_because !== null || prompt.session_id === caller.session_id;
}

/** Defines subcommands that no agent may run; `action` follows "Only a human may". */
export function humanCommands(command: Command, action: string) {
  return <Given extends readonly unknown[]>(
    usage: string,
    summary: string,
    work: (hive: Hive, ...given: Given) => Promise<ExitCode>,
  ): Command =>
    perform(command.command(usage), async (hive, ...given: Given) => {
      await refuseAgents(hive, action);
      return work(hive, ...given);
    }).description(summary);
}
