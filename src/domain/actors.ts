/**
 * Actors: who acts, and what that allows (invariants 8 and 9). Pure. The application finds out who acts; the rules
 * are here, once for every caller.
 */
import { HiveError } from './errors.ts';

/** A person: at a desk, in a popup, or at a terminal that asked for confirmation. */
export interface HumanActor {
  kind: 'human';
  by: string;
  via: Via;
  /** The person typed yes at a terminal. A desk and an enabled popup count as confirmed in themselves. */
  confirmed: boolean;
}

/** A session, with every session it descends from. */
export interface AgentActor {
  kind: 'agent';
  by: string;
  via: Via;
  session_id: string;
  ancestors: readonly string[];
  /**
   * Only of a coordinator, which its human lets answer other agents' questions and interrupt them (coordinators.ts): the sessions
   * whose questions it may answer. Those of its own process tree are not among them.
   */
  coordinates?: readonly string[] | undefined;
  /** It declared that it acts on something of another session (`--as-agent`). */
  declared?: boolean;
}

/** A rule that the human wrote. */
export interface RuleActor {
  kind: 'rule';
  by: string;
  via: 'rule';
}

/** The parts of a prompt that decide who may answer it. */
interface AnswerablePrompt {
  session_id: string;
  kind: 'question' | 'permission';
}

/** Anybody who acts. */
export type Actor = HumanActor | AgentActor | RuleActor;

/**
 * Whether a person gives this answer themselves: at a desk, on the button of a popup, or by typing at a terminal. Such an
 * answer is signed where a registered key is; one without a signature is unattested: that is shown, and permits nothing.
 */
export function isPersonal(actor: Actor): boolean {
  if (actor.kind !== 'human') return false;
  return actor.confirmed || actor.via === 'emacs' || actor.via === 'notification' || actor.via === 'inbox';
}

/** Throws the refusal that one of the rules below returned, if any. @throws HiveError `not_allowed`. */
export function refuse(refusal: string | null): void {
  if (refusal !== null) throw new HiveError('not_allowed', refusal);
}

/** The refusal for an agent that answers or interrupts without the role. */
export const NO_COORDINATOR: string =
  "Only a coordinator answers other agents' questions and interrupts them, and this session's human has not let it be one.";

/** Why this actor may not answer this prompt, as a sentence; null when it may. */
export function refusalToAnswer(actor: Actor, prompt: AnswerablePrompt): string | null {
  if (actor.kind === 'agent') {
    if (prompt.kind === 'permission') return 'A permission is answered by the human, never by an agent.';
    if (actor.session_id === prompt.session_id)
      return 'A session cannot answer its own question. Its human will answer it.';
    if (actor.ancestors.includes(prompt.session_id))
      return 'A session cannot answer a question of a session it descends from.';
    if (actor.coordinates === undefined) return NO_COORDINATOR;
    return actor.coordinates.includes(prompt.session_id)
      ? null
      : 'A coordinator cannot answer what its own processes ask, or a session of long ago. The human will answer it.';
  }
  if (actor.kind === 'rule')
    return prompt.kind === 'permission' ? null : 'A rule may answer permissions, never questions.';
  if (prompt.kind === 'permission' && !actor.confirmed) {
    return 'A permission can be answered only at a desk, in an enabled popup, or at a terminal that asks for confirmation.';
  }
  return null;
}

/** Why this actor may not correct an answer; null when it may. */
export function refusalToAmend(actor: Actor): string | null {
  return actor.kind === 'human' ? null : 'Only a human corrects an answer.';
}

/**
 * Why this actor may not cancel this prompt; null when it may. The asking session always may; another agent may
 * cancel only a question, and only when it declares that.
 */
export function refusalToCancel(actor: Actor, prompt: AnswerablePrompt): string | null {
  if (actor.kind !== 'agent' || actor.session_id === prompt.session_id) return null;
  if (actor.declared === true && prompt.kind === 'question') return null;
  return 'Only the session that asked and the human may cancel a question.';
}

/**
 * Why this actor may not process mentions of this addressee; null when it may. An agent processes its own; those of
 * another session only when it declares that; those of the human never.
 */
export function refusalToProcess(actor: Actor, session_id: string): string | null {
  if (actor.kind !== 'agent' || actor.session_id === session_id) return null;
  if (session_id === HUMAN_ADDRESSEE) return "Only the human may process the human's mentions.";
  if (actor.declared === true) return null;
  return 'Only the addressee and the human may process a mention.';
}

/** Through what somebody acted (invariant 8). */
export type Via =
  | 'emacs'
  | 'notification'
  | 'inbox'
  | 'cli'
  | 'mcp'
  | 'hook'
  | 'terminal'
  | 'rule'
  | 'library'
  | 'clock';

/** The addressee of mentions of @Human, in place of a session id. */
export const HUMAN_ADDRESSEE = 'human';
