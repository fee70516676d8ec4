/**
 * Who acts, and what that allows (invariants 8 and 9). Pure: the application finds out who it is, the
 * rule stands here once, whoever calls.
 */
import { HiveError } from './errors.ts';

/** A person: at a desk, in a popup, or at a terminal that asked for confirmation. */
export interface HumanActor {
  kind: 'human';
  by: string;
  via: Via;
  /** A terminal where the person confirmed; a desk and an enabled popup are confirmed by being what they are. */
  confirmed: boolean;
}

/** A session, with every session it descends from. */
export interface AgentActor {
  kind: 'agent';
  by: string;
  via: Via;
  session_id: string;
  ancestors: readonly string[];
  /** It said outright that it acts on what is not its own (`--as-agent`). */
  declared?: boolean;
}

/** A rule that the human wrote. */
export interface RuleActor {
  kind: 'rule';
  by: string;
  via: 'rule';
}

/** What of a prompt decides who may answer it. */
interface Asked {
  session_id: string;
  kind: 'question' | 'permission';
}

export type Actor = HumanActor | AgentActor | RuleActor;

/** Refuses where a rule below gives a sentence. @throws HiveError `not_allowed`. */
export function refuse(refusal: string | null): void {
  if (refusal !== null) throw new HiveError('not_allowed', refusal);
}

/** Why this actor may not answer this prompt, as a sentence; null when it may. */
export function refusalToAnswer(actor: Actor, prompt: Asked): string | null {
  if (actor.kind === 'agent') {
    if (prompt.kind === 'permission') return 'A permission is answered by the human, never by an agent.';
    if (actor.session_id === prompt.session_id)
      return 'A session cannot answer its own prompt: the human will.';
    if (actor.ancestors.includes(prompt.session_id))
      return 'A session cannot answer a prompt of a session it descends from.';
    return null;
  }
  if (actor.kind === 'rule')
    return prompt.kind === 'permission' ? null : 'A rule may answer permissions, never questions.';
  if (prompt.kind === 'permission' && !actor.confirmed) {
    return 'A permission is answered at a desk, in an enabled popup or at a terminal that asks for confirmation.';
  }
  return null;
}

/**
 * Why this actor may not cancel this prompt; null when it may. Its own session may always take it back;
 * another agent only a question, and only when it says outright that it does.
 */
export function refusalToCancel(actor: Actor, prompt: Asked): string | null {
  if (actor.kind !== 'agent' || actor.session_id === prompt.session_id) return null;
  if (actor.declared === true && prompt.kind === 'question') return null;
  return 'Only the asker and the human may cancel a prompt.';
}

/**
 * Why this actor may not deal with the mentions of this addressee; null when it may. An agent deals with its
 * own; with another session's only when it says outright that it does, with the human's never.
 */
export function refusalToProcess(actor: Actor, session_id: string): string | null {
  if (actor.kind !== 'agent' || actor.session_id === session_id) return null;
  if (session_id === HUMAN_ADDRESSEE) return "The human's mentions are the human's to deal with.";
  if (actor.declared === true) return null;
  return 'Only the addressee and the human may deal with a mention.';
}

/** Through what somebody acted (invariant 8). */
export type Via =
  | 'emacs'
  | 'notification'
  | 'cli'
  | 'mcp'
  | 'hook'
  | 'terminal'
  | 'rule'
  | 'library'
  | 'clock';

/** Where others have their session: whose the mentions of @Human are. */
export const HUMAN_ADDRESSEE = 'human';
