/**
 * In whose name a command answers or cancels (invariant 9). A person's terminal acts for the human; under an
 * agent it is refused, unless --as-agent says that the agent itself means to, and then the trail says so.
 */
import type { Hive } from '../application/hive.ts';
import type { Actor, AgentActor, HumanActor } from '../domain/actors.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { Prompt } from '../domain/prompts.ts';
import { humanName } from '../infrastructure/platform/seat.ts';
import { type Caller, findCaller, registerCaller } from './caller.ts';
import { confirmPermission } from './confirm.ts';

/** What the help says of `--by`. */
export const BY = 'your name on the trail; default: HIVE_USER, else your login name';

export interface ActorOptions {
  asAgent?: boolean | undefined;
  /** The person's name on the trail. */
  by?: string | undefined;
}

/** The actor of an answer. A permission is put before the person once more. @throws HiveError `not_allowed`. */
export async function answeringActor(
  hive: Hive,
  prompt: Prompt,
  decision: string,
  options: ActorOptions,
): Promise<Actor> {
  const caller = await findCaller(hive);
  if (caller.agent_because === null) {
    if (options.asAgent === true)
      throw invalidInput('There is no agent here to answer as: leave --as-agent out.');
    const human = humanActor(options);
    if (prompt.kind !== 'permission') return human;
    return { ...human, confirmed: await confirmPermission(prompt, decision) };
  }
  if (options.asAgent !== true) throw refused(caller, 'Answering');
  return agentActor(hive, caller);
}

/** The actor of a cancel. An agent takes back its own prompts freely. @throws HiveError `not_allowed`. */
export async function cancellingActor(hive: Hive, prompt: Prompt, options: ActorOptions): Promise<Actor> {
  const caller = await findCaller(hive);
  if (caller.agent_because === null) return humanActor(options);
  if (prompt.session_id !== caller.session_id && options.asAgent !== true)
    throw refused(caller, "Cancelling another session's prompt");
  return { ...(await agentActor(hive, caller)), declared: options.asAgent === true };
}

/** The actor who looks at or deals with the mentions of an addressee. An agent does so with its own freely. */
export async function mentionActor(
  hive: Hive,
  caller: Caller,
  addressee: string,
  options: ActorOptions,
): Promise<Actor> {
  if (caller.agent_because === null) return humanActor(options);
  if (addressee !== caller.session_id && options.asAgent !== true)
    throw refused(caller, "Looking at another's mentions or dealing with them");
  return { ...(await agentActor(hive, caller)), declared: options.asAgent === true };
}

/** The actor of an interrupt. @throws HiveError `not_allowed` for an agent that does not say that it is one. */
export async function interruptingActor(hive: Hive, options: ActorOptions): Promise<Actor> {
  const caller = await findCaller(hive);
  if (caller.agent_because === null) return humanActor(options);
  if (options.asAgent !== true) throw refused(caller, 'Interrupting');
  return agentActor(hive, caller);
}

/** The actor of a change to a session's settings; what an agent may not set, the rule says (domain/session-settings.ts). */
export async function settingActor(hive: Hive, caller: Caller, options: ActorOptions): Promise<Actor> {
  return caller.agent_because === null ? humanActor(options) : agentActor(hive, caller);
}

/** For what no agent may do at all; `whose` begins the sentence that it reads. @throws HiveError `not_allowed`. */
export async function refuseAgents(hive: Hive, whose: string): Promise<void> {
  const { agent_because } = await findCaller(hive);
  if (agent_because !== null)
    throw new HiveError('not_allowed', `${whose}, and this shell is an agent's (${agent_because}).`);
}

/** The person at this terminal, once `refuseAgents` has let them through. */
export function humanActor({ by }: ActorOptions): HumanActor {
  return { kind: 'human', by: by ?? humanName(process.env), via: 'cli', confirmed: false };
}

async function agentActor(hive: Hive, caller: Caller): Promise<AgentActor> {
  const { session_id, handle } = await registerCaller(hive, caller);
  const ancestors = await Promise.all(
    [session_id, ...caller.sessions].map((id) => hive.sessions.ancestors(id)),
  );
  // What an agent was started by counts too, however it was started.
  return {
    kind: 'agent',
    by: handle,
    via: 'cli',
    session_id,
    ancestors: [...new Set([...caller.sessions, ...ancestors.flat()])],
  };
}

function refused({ agent_because }: Caller, what: string): HiveError {
  return new HiveError(
    'not_allowed',
    `${what} is the human's, and this is an agent's process (${agent_because}). An agent that means to act in its own name says so with --as-agent; permissions stay the human's.`,
  );
}
