/**
 * The dialog engine. An agent's dialog is open in two places, at the desks and in its client, and the first answer wins. For
 * every kind of client, this file turns a dialog into prompts, offers it, answers it by a rule, withdraws and concludes it, and
 * has the only gate before an `allow` is sent. A carrier adds how its agent waits and receives the answer: the hooks of a
 * client (hook-dialogs.ts), the control socket of Codex (codex-dialogs.ts), an editor (extensions/editors/dialogs.ts), a
 * headless run (extensions/runs).
 */

import type { PermissionRule } from '../domain/permission-rules.ts';
import { type Displayed, permissionDigest } from '../domain/permissions.ts';
import { askerOf, type CheckedRequest, createPrompt, type Prompt } from '../domain/prompts.ts';
import type { Seat } from '../domain/seats.ts';
import type { Session } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import { handPrompt } from './delivery.ts';
import { giveNotice } from './notices.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { insertPrompt, recordAnswer, recordCancel } from './prompts.ts';
import { chargeQuotas, demandOf } from './quotas.ts';
import { seatThatAnswered } from './signatures.ts';
import type { Ids } from './world.ts';

/**
 * The rendered form of any carrier's dialog. Each carrier renders its own type (HookDialog, EditorDialog) before the transaction,
 * because a call may have a megabyte of text, and everybody else waits for the lock.
 */
export interface Dialog {
  requests: readonly CheckedRequest[];
  /** Represents everything that an answer would permit. */
  fingerprint: string;
}

/** Facts that an answer applies to, in addition to the dialog itself. */
export interface Meant {
  /** A warning at the beginning of the context. */
  warning: string | null;
  /** The only call that may get the answer; null: the dialog that waits for it. */
  call: string | null;
}

/** The dialog with its warning, for one call. */
export function meantFor({ requests, fingerprint }: Dialog, { warning, call }: Meant): Dialog {
  return {
    requests:
      warning === null
        ? requests
        : requests.map((request) => ({ ...request, context: `${warning}\n\n${request.context ?? ''}` })),
    fingerprint: call === null ? fingerprint : `${fingerprint} for ${call}`,
  };
}

/** The display of the first prompt of a dialog, without later notes. */
export function displayedOf({ requests: [request], fingerprint }: Dialog): Displayed | null {
  return request === undefined ? null : { ...request, fingerprint, notes: [] };
}

/** The prompts of a dialog, not stored yet. Their ids are in order, so that lists show them in order. */
export async function draft(
  tx: ReadTx,
  ids: Ids,
  session: Session,
  { requests, fingerprint }: Dialog,
  timeout_ms: number | null = null,
): Promise<Prompt[]> {
  const asker = askerOf(session, (await tx.turns.current(session.session_id))?.turn_id ?? null);
  const ask_ids = requests.map(() => ids.make('ask')).sort();
  const group_id = requests.length > 1 ? ids.make('group') : null;
  return requests.map((request, n) => ({
    ...createPrompt({ ...request, timeout_ms }, asker, ask_ids[n] ?? '', tx.now),
    dialog: true,
    // Until somebody answers, the agent does nothing else.
    blocked_since: tx.now,
    group_id,
    fingerprint,
  }));
}

/**
 * Offers a dialog at the desks, with more facts for the log; returns the ids of its prompts. Empty if a quota refuses it: then only
 * the client asks.
 */
export async function offer(
  tx: WriteTx,
  session: Session,
  prompts: readonly Prompt[],
  facts: object = {},
): Promise<string[]> {
  if ((await chargeQuotas(tx, session, demandOf(prompts))) !== null) return [];
  for (const prompt of prompts) await insertPrompt(tx, prompt, facts);
  return prompts.map(({ ask_id }) => ask_id);
}

/** Answers a permission by the human's rule, which the event log names as the author. */
export async function settleByRule(
  tx: WriteTx,
  ids: Ids,
  asked: Prompt,
  { rule, label, carrier }: { rule: PermissionRule; label: string; carrier: string },
): Promise<Prompt> {
  await insertPrompt(tx, asked);
  const { prompt } = await recordAnswer(tx, asked, {
    decision: label,
    selected: [label],
    comment: rule.decision === 'deny' ? rule.note : null,
    by: rule.name,
    via: 'rule',
    attested: true,
    response_id: ids.make('response'),
    responded_at: tx.now,
  });
  await handPrompt(tx, prompt, carrier);
  return prompt;
}

/** The current state of the prompts of an offered dialog. */
export async function promptsNow(tx: ReadTx, ask_ids: readonly string[]): Promise<Prompt[]> {
  const found = await Promise.all(ask_ids.map((ask_id) => tx.prompts.get(ask_id)));
  return found.filter((prompt) => prompt !== undefined);
}

/** Whether all prompts of the dialog were answered at the desks. */
export function isAnswered(prompts: readonly Prompt[]): boolean {
  return prompts.length > 0 && prompts.every(({ status }) => status === 'responded');
}

/** Takes a dialog off the desks. */
export async function withdraw(
  tx: WriteTx,
  prompts: readonly Prompt[],
  why: Parameters<typeof recordCancel>[2],
): Promise<void> {
  for (const prompt of prompts) await recordCancel(tx, prompt, why);
}

/** Why an answer that would allow something is not sent. */
export type Withheld =
  /** The call that is about to run is not the one that the human was shown: somebody changed the stored prompt (invariant 13). */
  | 'not_displayed'
  /** The call is the one that was shown, but the diff of its files, or the plan in its file, has changed. */
  | 'file_changed'
  /** No registered seat signed it (invariant 14): anybody may write to a store. */
  | 'not_signed';

/** How the answers of a dialog are sent to its agent. */
export interface Leaving<Answer> {
  carrier: string;
  /** The answer to the agent; null if it does not fit the dialog. */
  decide: (prompts: readonly Prompt[]) => Answer | null;
  /** Whether the answer permits something, so that it must have been displayed and signed. */
  allows: (answer: Answer) => boolean;
  /** The call that is about to run, as it would be displayed now. */
  asked: Displayed | null;
  /** Whether the call is the one that was shown, and only the shown files have changed. */
  isChangedFile?: (asked: Displayed, shown: Prompt) => boolean;
  store: Pick<Store, 'store_id' | 'name'>;
  seats: readonly Seat[];
  /** The answer that the agent gets instead of one that may not be sent. */
  refusal: (why: Withheld) => Answer;
  /** Whether the answer contains everything that the human said. Anything else comes with the agent's next hook or poll. */
  isWhole: (answer: Answer, prompt: Prompt) => boolean;
}

/** The answer for the agent, once every prompt of a dialog is answered; null if the answers do not fit it. */
export async function conclude<Answer>(
  tx: WriteTx,
  prompts: readonly Prompt[],
  leaving: Leaving<Answer>,
): Promise<Answer | null> {
  const decided = leaving.decide(prompts);
  if (decided === null) return null;
  const why = leaving.allows(decided) ? await withheldBecause(tx, prompts[0], leaving) : null;
  const [first] = prompts;
  if (why !== null && first !== undefined)
    await giveNotice(tx, { severity: 'warning', session_id: first.session_id, text: WITHHELD[why](first) });
  const answer = why === null ? decided : leaving.refusal(why);
  for (const prompt of prompts)
    if (leaving.isWhole(answer, prompt)) await handPrompt(tx, prompt, leaving.carrier);
  return answer;
}

/** The gate before an allow: null if the answer was given to exactly this call and a registered seat signed it. */
async function withheldBecause(
  tx: ReadTx,
  answered: Prompt | undefined,
  {
    asked,
    isChangedFile,
    store,
    seats,
  }: Pick<Leaving<unknown>, 'asked' | 'isChangedFile' | 'store' | 'seats'>,
): Promise<Withheld | null> {
  if (asked === null || answered === undefined) return 'not_displayed';
  // Notes that its asker added later were displayed as well, and do not run.
  const displayed_digest = permissionDigest({ ...asked, notes: answered.notes });
  if (displayed_digest !== permissionDigest(answered))
    return isChangedFile?.(asked, answered) === true ? 'file_changed' : 'not_displayed';
  const seat = await seatThatAnswered(tx, answered, { store, displayed_digest, seats });
  return seat === null ? 'not_signed' : null;
}

/** The notice to the human. */
const WITHHELD: Readonly<Record<Withheld, (prompt: Prompt) => string>> = {
  not_displayed: (prompt) =>
    `${labelled(prompt)} was not allowed what you allowed: ${prompt.ask_id} does not show what was about to run. If you did not change the store, something else wrote into it.`,
  file_changed: (prompt) =>
    `${labelled(prompt)} was not allowed what you allowed: a file has changed since you were shown it. It was asked to read the file and to ask again.`,
  not_signed: ({ ask_id, agent, by }) =>
    `The answer of ${by} to ${ask_id} (${agent}) allowed nothing: no seat that your trust.json lists for this store signed it. If you gave it, run M-x hive-doctor, which says how to register your seat, and let the agent ask again. If you did not, something else wrote it into the store.`,
};
