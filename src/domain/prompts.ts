/**
 * Prompts: a question for the human and its life (docs/concepts.md). Pure: no clock, no ids, no I/O.
 *
 *     pending ──▶ responded | expired | cancelled
 *
 * A prompt leaves `pending` exactly once (invariant 2). What comes after that is kept beside it, never
 * instead of it: a late answer in `late_response`, the receipts in `offered_at … collected_at`.
 * The field names are the same in the database, on every wire and in Emacs.
 */
import { HiveError } from './errors.ts';
import type { Source } from './sources.ts';

/** A prompt leaves `pending` once. `expired` and `cancelled` carry no decision. */
export type PromptStatus = 'pending' | 'responded' | 'expired' | 'cancelled';
/** `permission`: may I do this? Only a human, or a rule of theirs, answers it. */
export type PromptKind = 'question' | 'permission';
/** `low`: no popup. `critical`: breaks through do-not-disturb. */
export type Urgency = 'low' | 'normal' | 'critical';
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
/** Why a prompt was cancelled. `withdrawn`: the asker took it back. The others name what a turn's end does. */
export type CancelReason =
  | 'withdrawn'
  | 'human'
  | 'answered_elsewhere'
  | 'interrupted'
  | 'replaced'
  | 'unknown';

/** One of the answers to choose from. */
export interface PromptOption {
  /** What is chosen, and the decision; at most 500 characters. */
  label: string;
  /** What it means; at most 2,000 characters. */
  description: string | null;
}

/** An answer as it was given. `selected` is always a list; `decision` its labels joined by ", ", or the free text. */
export interface PromptAnswer {
  /** At most 65,536 characters. */
  decision: string;
  /** Labels of the options chosen, in the order of the options; empty for free text. */
  selected: string[];
  /** A remark beside the decision; at most 65,536 characters. */
  comment: string | null;
  /** Who answered. */
  by: string;
  /** Through what. */
  via: Via;
  /** Sent twice under it, it is one answer. */
  response_id: string;
  /** When. */
  responded_at: string;
}

/** A question for the human, and what became of it. Times are ISO-8601 UTC with milliseconds, null until it is so. */
export interface Prompt {
  /** Made by Hive. */ ask_id: string;
  /** The session that asked. */ session_id: string;
  /** The asker's handle at the time of asking, as people type it. */
  agent: string;
  /** Where that session ran. */ source: Source;
  /** Short name of the project, for people; `project_dir` is the identity. */
  project: string;
  /** The git common directory, else the directory of the project. */ project_dir: string;
  /** The turn it was asked in; null where none was known. */ turn_id: string | null;
  /** What sort of question. */ kind: PromptKind;
  /** A few words for the list. */ header: string | null;
  /** What is asked. */ question: string;
  /** Markdown: what the human needs to know to decide. */ context: string | null;
  /** The answers to choose from; empty where only free text is asked for. */ options: PromptOption[];
  /** Several options may be chosen. */ multi_select: boolean;
  /** The human may write instead of choosing. */ allow_free_text: boolean;
  /** How it is announced. */ urgency: Urgency;
  /** The asker's own name for it. */ label: string | null;
  /** Shared by the questions of one form. */ group_id: string | null;
  /** `turn`: falls when its turn is interrupted, replaced or ends unknown. */
  bind: 'turn' | null;
  /** Stays pending even when its turn is interrupted. */
  survives_turn: boolean;
  /** Stands for a dialog of the agent's own client, which takes the answer: the model did not ask. */
  dialog: boolean;
  /** Under which it was asked. */ idempotency_key: string | null;
  /** What the idempotency key stands for: a key with another fingerprint is a conflict. Empty without a key. */
  fingerprint: string;
  /** When it was asked. */ created_at: string;
  /** When it expires; null: never. */ expires_at: string | null;
  /** The name of the human or team that is asked; null: everybody. */
  to: string | null;
  /** The folded names that `to` stands for (humans.ts). */
  recipients: string[];
  /** When everybody is asked; null: never. */
  escalates_at: string | null;
  /** When everybody was; null: not yet. */ escalated_at: string | null;
  /** Where it stands. */ status: PromptStatus;
  /** When it left `pending`; null until then. */ settled_at: string | null;
  /** The answer; null while there is none, and for what expired or was cancelled. */ decision: string | null;
  /** Labels of the options chosen. */ selected: string[];
  /** A remark beside the decision. */ comment: string | null;
  /** Who settled it. */ by: string | null;
  /** Through what it was settled. */ via: Via | null;
  /** Of the answer that stands. */ response_id: string | null;
  /** Why it was cancelled; null for any other. */ cancel_reason: CancelReason | null;
  /** An answer that came after it had expired or was cancelled. */ late_response: PromptAnswer | null;
  /** Its answer was corrected. */ amended: boolean;
  /** Its session is gone; still answerable. */
  orphaned: boolean;
  /** Out of the way until then. */ snoozed_until: string | null;
  /** Who has taken it up. */ claimed_by: string | null;
  /** When that was. */ claimed_at: string | null;
  /** When a desk showed it first. */ offered_at: string | null;
  /** When a human opened it. */ seen_at: string | null;
  /** When the answer was given. */ responded_at: string | null;
  /** When the answer was returned or printed to the agent. */ handed_at: string | null;
  /** When it was proved read. */ collected_at: string | null;
  /** What carried the answer into the agent (one MCP connection, one hook): only it can prove that it arrived. */
  carrier: string | null;
}

/** Whether a prompt's time has run out; pure, so that a read can say so before anyone has written it down. */
export function isExpired(prompt: Prompt, now: string): boolean {
  return prompt.status === 'pending' && prompt.expires_at !== null && prompt.expires_at <= now;
}

/** How an answer fared. `accepted`: it settled the prompt. `late`: kept beside a prompt that had no answer. `lost`: another answer stands. */
export type AnswerOutcome = 'accepted' | 'late' | 'lost';

/**
 * One answer meets one prompt. Expiry is the caller's to apply first (`isExpired`), in the same transaction.
 * A late answer opens the delivery receipts again: the agent may have been told "expired", and is now told this.
 */
export function respondPrompt(
  prompt: Prompt,
  answer: PromptAnswer,
): { prompt: Prompt; outcome: AnswerOutcome } {
  if (prompt.status === 'pending') {
    const { decision, selected, comment, by, via, response_id, responded_at } = answer;
    const settled = { status: 'responded' as const, settled_at: responded_at };
    return {
      outcome: 'accepted',
      prompt: { ...prompt, ...settled, decision, selected, comment, by, via, response_id, responded_at },
    };
  }
  if (prompt.status === 'responded' || prompt.late_response !== null) return { prompt, outcome: 'lost' };
  return {
    outcome: 'late',
    prompt: { ...prompt, late_response: answer, handed_at: null, collected_at: null, carrier: null },
  };
}

/** Its time ran out. Carries no decision (invariant 3). A prompt that is settled stays as it is. */
export function expirePrompt(prompt: Prompt, now: string): Prompt {
  return prompt.status === 'pending'
    ? { ...prompt, status: 'expired', settled_at: now, via: 'clock' }
    : prompt;
}

/** Taken back. Carries no decision (invariant 3). A prompt that is settled stays as it is. */
export function cancelPrompt(
  prompt: Prompt,
  by: { by: string; via: Via; reason: CancelReason },
  now: string,
): Prompt {
  if (prompt.status !== 'pending') return prompt;
  return {
    ...prompt,
    status: 'cancelled',
    settled_at: now,
    by: by.by,
    via: by.via,
    cancel_reason: by.reason,
  };
}

/**
 * Corrects an answer that its author gave and that was not handed to the agent yet (invariant 5).
 * @throws HiveError `prompt_not_amendable` that says why not.
 */
export function amendPrompt(prompt: Prompt, answer: PromptAnswer): Prompt {
  const standing = prompt.status === 'responded' ? prompt : prompt.late_response;
  if (standing === null)
    throw notAmendable(prompt, `it is ${prompt.status}, not answered; answer it instead`);
  if (prompt.handed_at !== null)
    throw notAmendable(prompt, `its answer was handed to ${prompt.agent} at ${prompt.handed_at}`);
  if (standing.by !== answer.by) throw notAmendable(prompt, `its answer is ${standing.by}'s`);
  if (prompt.status !== 'responded') return { ...prompt, late_response: answer, amended: true };
  const { decision, selected, comment, via, response_id, responded_at } = answer;
  return { ...prompt, decision, selected, comment, via, response_id, responded_at, amended: true };
}

function notAmendable(prompt: Prompt, why: string): HiveError {
  return new HiveError('prompt_not_amendable', `The answer to ${prompt.ask_id} cannot be amended: ${why}.`, {
    ask_id: prompt.ask_id,
  });
}

/** Most urgent first, then oldest: the order in which a human should look at what waits. */
export const URGENCY_RANK: Readonly<Record<Urgency, number>> = { critical: 0, normal: 1, low: 2 };

/** The answer was returned or printed to the agent by `carrier`: the last time counts, because only what comes after it proves that it was read. */
export function handPrompt(prompt: Prompt, carrier: string, now: string): Prompt {
  return { ...prompt, handed_at: now, carrier };
}

/**
 * Whether what this session reads of the prompt reaches its asker: the asker itself, the session whose subagent
 * asked, or anyone when the asker is gone. Whoever else knows the id may read, and takes nothing away.
 */
export function isReceiver(prompt: Prompt, session_id: string): boolean {
  const asker = prompt.session_id;
  return (
    asker === session_id ||
    asker.startsWith(`${session_id}:`) ||
    // A caller without identity is a new session with each connection: only the id is its own.
    asker.startsWith('connection-') ||
    prompt.orphaned
  );
}

/** Whether there is something for the agent that it has not provably read: any settlement, or a late answer. */
export function isUncollected(prompt: Prompt): boolean {
  return prompt.status !== 'pending' && prompt.collected_at === null && concernsAgent(prompt);
}

/** A dialog that ended without an answer is the client's affair; a permission that comes late serves nobody. */
function concernsAgent({ dialog, status, kind, late_response }: Prompt): boolean {
  return !dialog || status === 'responded' || (late_response !== null && kind === 'question');
}
