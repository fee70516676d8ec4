/**
 * Actors: who acts, and what that allows (invariants 8 and 9). Pure. The application finds out who acts; every caller
 * uses the rules in this file.
 */
import { HiveError } from './errors.ts';

/** A person: at a desk, in a popup, or at a terminal that asked for confirmation. */
export interface HumanActor {
  kind: 'human';
  by: string;
  via: Via;
  /** The person typed yes at a terminal. Answers at a desk or in an enabled popup always count as confirmed. */
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
   * The sessions whose questions a coordinator may answer; never those of its own process tree. Undefined for any other agent.
   * Its human lets a coordinator answer other agents' questions and interrupt them (coordinators.ts).
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
  /** Whether its client shows it as a dialog of its own, and tells its model that the person has answered it. */
  dialog?: boolean;
}

/** A human, an agent, or a rule. */
export type Actor = HumanActor | AgentActor | RuleActor;

/**
 * Whether a person gives this answer themselves: at a desk, with a popup's button, or by typing at a terminal. Such an
 * answer is signed if this process has a registered key. Without a signature it is shown as unattested and permits nothing.
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
    if (prompt.dialog === true)
      return "A dialog of an agent's client is answered by the human: the client tells its model that the human has answered.";
    if (actor.session_id === prompt.session_id)
      return 'A session cannot answer its own question. Its human will answer it.';
    if (actor.ancestors.includes(prompt.session_id))
      return 'A session cannot answer a question of a session it descends from.';
    if (actor.coordinates === undefined) return NO_COORDINATOR;
    return actor.coordinates.includes(prompt.session_id)
      ? null
      : 'A coordinator cannot answer a question from its own processes or from a very old session. The human will answer it.';
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
 * Why this actor may not process mentions of this addressee; null when it may. An agent may process its own, those of
 * another session only if it declares that, and those of the human never.
 */
export function refusalToProcess(actor: Actor, session_id: string): string | null {
  if (actor.kind !== 'agent' || actor.session_id === session_id) return null;
  if (session_id === HUMAN_ADDRESSEE) return "Only the human may process the human's mentions.";
  if (actor.declared === true) return null;
  return 'Only the addressee and the human may process a mention.';
}

/** The channel through which somebody acted (invariant 8). */
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

/** The addressee of an @Human mention, used instead of a session id. */
export const HUMAN_ADDRESSEE = 'human';
