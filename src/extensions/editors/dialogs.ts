/**
 * The carrier of dialogs that an editor shows. `hive acp` and others that act for the editor open a dialog here, wait for
 * its answer, and withdraw it when the editor's own dialog was answered first. The store decides which answer was first
 * (application/dialogs.ts).
 */
import {
  conclude,
  type Dialog,
  displayedOf,
  draft,
  isAnswered,
  offer,
  promptsNow,
  settleByRule,
  withdraw,
} from '../../application/dialogs.ts';
import type { Hive } from '../../application/hive.ts';
import { giveNotice } from '../../application/notices.ts';
import type { ReadTx, WriteTx } from '../../application/ports.ts';
import { saysComment } from '../../domain/forms.ts';
import { decidingRule, type PermissionRule, rulesForTool } from '../../domain/permission-rules.ts';
import type { Place } from '../../domain/places.ts';
import { checkRequest, keptLabel, OPEN_LIMIT, type Prompt } from '../../domain/prompts.ts';
import type { Session } from '../../domain/sessions.ts';
import { labelled } from '../../domain/sources.ts';
import { cleanText, excerpt } from '../../domain/text.ts';
import { editToolsAt } from '../../infrastructure/platform/edits.ts';
import {
  allows,
  cleanDialog,
  decideEditorDialog,
  type EditorAnswer,
  type EditorDialog,
  type EditorPermission,
  editorFingerprint,
  editorPrompts,
  isWhollyInput,
  optionOfRule,
  refusalIn,
} from './dialog.ts';

/** A dialog that is open in an editor. */
export interface EditorRequest {
  session: Session;
  dialog: EditorDialog;
  /** The directory in which the agent works, for the human's rules. */
  place: Place;
  /** The editor's name for this dialog: opened again under that name, it is the same dialog, unless it was cancelled. */
  key?: string | undefined;
}

interface WordedEditorDialog extends EditorRequest, Dialog {}

/** A dialog as it is offered at the desks. */
export interface OfferedDialog extends WordedEditorDialog {
  /** Its prompts; none if only the editor shows it. */
  ask_ids: readonly string[];
}

/** A dialog that was offered, and its answer if there is one already. */
export interface OpenedDialog {
  offered: OfferedDialog;
  answer: EditorAnswer | null;
}

/** Why an editor takes a dialog off the desks. */
export type WithdrawReason = 'answered_elsewhere' | 'withdrawn' | 'interrupted';

export type EditorService = ReturnType<typeof createEditors>;

export function createEditors(hive: Hive) {
  const { feed, delivery } = hive;
  const { store, ids } = hive.parts;
  const trust = hive.trust.file;
  return {
    /**
     * Offers a dialog at the desks. A rule of the human may answer it at once. Without prompts, or beyond a quota, only
     * the editor asks.
     */
    async open(given: EditorRequest): Promise<OpenedDialog> {
      const { session, place } = given;
      const dialog = cleanDialog(given.dialog);
      const request = inWords({ ...given, dialog });
      // Matching may take a while, so it is done before the transaction.
      const matching = dialog.kind === 'permission' ? rulesFor(dialog, trust().permission_rules, place) : [];
      return store.write(async (tx) => {
        const before = await openedBefore(tx, request);
        if (before !== null) {
          const offered = { ...request, ask_ids: before.map(({ ask_id }) => ask_id) };
          return { offered, answer: await answerTo(tx, offered, before) };
        }
        const prompts = await draftUnder(tx, request);
        const rule = decidingRule(matching, session, tx.now);
        const option =
          rule === null || dialog.kind === 'form' ? undefined : optionOfRule(dialog, rule.decision);
        const [first] = prompts;
        if (rule !== null && option !== undefined && first !== undefined) {
          const by = { rule, label: keptLabel(option.label), carrier: carrierOf(session) };
          const { comment } = await settleByRule(tx, ids, first, by);
          const note = dialog.kind === 'permission' && dialog.takes_notes ? comment : null;
          const offered = { ...request, ask_ids: [first.ask_id] };
          return { offered, answer: { kind: 'chosen', option_id: option.id, note } as const };
        }
        return { offered: { ...request, ask_ids: await offer(tx, session, prompts) }, answer: null };
      });
    },

    /** The answer of a desk, once it is complete; null if the dialog was withdrawn, or `signal` ended the wait. */
    async untilAnswered(offered: OfferedDialog, signal: AbortSignal): Promise<EditorAnswer | null> {
      const check = (): Promise<true | undefined> =>
        store.read(async (tx) => {
          const prompts = await promptsNow(tx, offered.ask_ids);
          const isOver = prompts.some(({ status }) => status !== 'pending' && status !== 'responded');
          return isOver || prompts.every(({ status }) => status === 'responded') ? true : undefined;
        });
      const whenever = { wait_ms: Number.POSITIVE_INFINITY, signal, subjects: offered.ask_ids };
      if ((await feed.until(check, whenever)) === undefined) return null;
      // If a file has changed in the meantime, the dialog shows something else now, and nothing is allowed.
      const now = { ...inWords(offered), ask_ids: offered.ask_ids };
      return store.write(async (tx) => answerTo(tx, now, await promptsNow(tx, offered.ask_ids)));
    },

    /**
     * Withdraws a dialog that its editor has answered, or about which its agent no longer asks. `accepted` is false if a desk
     * answered first: then that answer counts.
     */
    withdraw: (
      offered: OfferedDialog,
      reason: WithdrawReason,
      decision: string | null = null,
    ): Promise<{ accepted: boolean }> =>
      store.write(async (tx) => {
        const prompts = await promptsNow(tx, offered.ask_ids);
        if (!isAnswered(prompts)) {
          await withdraw(tx, prompts, { by: 'editor', via: 'terminal', reason });
          return { accepted: true };
        }
        if (reason === 'answered_elsewhere' && offered.key !== undefined)
          await noticeLost(tx, offered.session, prompts, decision);
        return { accepted: false };
      }),

    /** Withdraws dialogs of a session that were opened under keys by a connection that is lost, and that nobody waits for. */
    withdrawLeft: (session_id: string): Promise<void> =>
      store.write(async (tx) => {
        const open = await tx.prompts.openOf(session_id, OPEN_LIMIT);
        const left = open.filter(
          ({ dialog, status, idempotency_key }) => dialog && status === 'pending' && idempotency_key !== null,
        );
        await withdraw(tx, left, { by: 'editor', via: 'terminal', reason: 'withdrawn' });
      }),

    /** The editor has passed on an answer to a dialog that was opened under a key. */
    acted: async (session_id: string, key: string): Promise<void> => {
      await delivery.collect(carrierOf({ session_id }, key));
    },

    /** Whether somebody sits at a desk now. */
    isAttended: (): Promise<boolean> => store.read(async (tx) => (await tx.desks.online(tx.now)).length > 0),
  };

  async function answerTo(
    tx: WriteTx,
    offered: OfferedDialog,
    prompts: readonly Prompt[],
  ): Promise<EditorAnswer | null> {
    const { session, dialog, key } = offered;
    if (!isAnswered(prompts)) return null;
    const takesNotes = dialog.kind === 'permission' && dialog.takes_notes;
    return conclude<EditorAnswer>(tx, prompts, {
      carrier: carrierOf(session, key),
      decide: (answered) => decideEditorDialog(dialog, answered),
      allows: (answer) => allows(dialog, answer),
      asked: displayedOf(offered),
      store,
      seats: trust().seats,
      refusal: () => (dialog.kind === 'form' ? { kind: 'refused', note: null } : refusalIn(dialog, null)),
      // A comment that the dialog has no field for comes with the agent's next poll.
      isWhole: (answer, { comment }) => comment === null || takesNotes || saysComment(answer, comment),
    });
  }

  /** The prompts of a dialog, not stored yet, under the first free keys. */
  async function draftUnder(tx: ReadTx, request: WordedEditorDialog): Promise<Prompt[]> {
    const { session, key } = request;
    const prompts = await draft(tx, ids, session, request);
    if (key === undefined) return prompts;
    const opening = await nextOpening(tx, session.session_id, key);
    return prompts.map((prompt, n) => ({ ...prompt, idempotency_key: keyOf(key, n, opening) }));
  }
}

/** The dialog as the desks show it, with the files as they are now. */
function inWords(request: EditorRequest): WordedEditorDialog {
  const { dialog } = request;
  const tools = editToolsAt(dialog.kind === 'permission' ? dialog.cwd : '');
  return {
    ...request,
    requests: editorPrompts(dialog, tools).map(checkRequest),
    fingerprint: editorFingerprint(dialog),
  };
}

/** The carrier of the answers of an editor's dialogs to its agent; with a key, the carrier of one dialog alone. */
export function carrierOf({ session_id }: Pick<Session, 'session_id'>, key?: string): string {
  return key === undefined ? `editor:${session_id}` : `editor:${session_id} ${cleanText(key)}`;
}

/** The editor's own answer reached the agent before a desk's answer did. */
async function noticeLost(
  tx: WriteTx,
  session: Session,
  [first]: readonly Prompt[],
  decision: string | null,
): Promise<void> {
  if (first === undefined) return;
  const elsewhere = decision === null ? '' : `: ${excerpt(decision, 200)}`;
  await giveNotice(tx, {
    severity: 'warning',
    session_id: session.session_id,
    text: `The answer "${excerpt(first.decision ?? '', 200)}" to ${labelled(session)} came too late. The agent was answered in its editor first${elsewhere}.`,
    data: { ask_id: first.ask_id },
  });
}

/** The human's rules that match the call. A rule that denies is also compared with the fields besides the tool's input. */
function rulesFor(
  dialog: EditorPermission,
  rules: readonly PermissionRule[],
  place: Place,
): PermissionRule[] {
  const { changes, rest } = dialog;
  const tool = { ...dialog.tool, use_id: null, response: null, own: null };
  const beside = { ...tool, input: [changes.map(({ path, after }) => ({ path, after })), rest] };
  const denying = rules.filter(({ decision }) => decision === 'deny');
  const allowing = isWhollyInput(dialog) ? rules.filter(({ decision }) => decision === 'allow') : [];
  return [...rulesForTool([...denying, ...allowing], tool, place), ...rulesForTool(denying, beside, place)];
}

/** How often a dialog that was cancelled may be opened again under its key. */
const MOST_OPENINGS = 1_000;

/** The prompts of a dialog that is open under this key, or answered; null if it was cancelled or never opened. */
async function openedBefore(tx: ReadTx, request: WordedEditorDialog): Promise<Prompt[] | null> {
  const { fingerprint } = request;
  const count = request.requests.length;
  for (let opening = 1; request.key !== undefined && count > 0 && opening < MOST_OPENINGS; opening += 1) {
    const keys = Array.from({ length: count }, (_, n) => keyOf(request.key ?? '', n, opening));
    const found = await Promise.all(keys.map((key) => tx.prompts.byKey(request.session.session_id, key)));
    const prompts = found.filter((prompt) => prompt !== undefined);
    if (prompts.length === 0) return null;
    const isStillOffered = prompts.every(
      (prompt) =>
        prompt.dialog &&
        prompt.fingerprint === fingerprint &&
        (prompt.status === 'pending' || prompt.status === 'responded'),
    );
    if (isStillOffered && prompts.length === count) return prompts;
  }
  return null;
}

/** The key of a prompt, from the field of its dialog and the number of the dialog's opening. */
function keyOf(key: string, n: number, opening: number): string {
  return `dialog ${cleanText(key)} ${n} ${opening}`;
}

/** The first opening whose keys are free. */
async function nextOpening(tx: ReadTx, session_id: string, key: string): Promise<number> {
  for (let opening = 1; ; opening += 1)
    if ((await tx.prompts.byKey(session_id, keyOf(key, 0, opening))) === undefined) return opening;
}
