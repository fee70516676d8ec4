/**
 * Dialogs of agents in an editor, offered at the desks as well. Whoever speaks for the editor (`hive acp`) opens a dialog,
 * waits for its answer, and withdraws it when the editor's own dialog was answered first. The store decides who was first.
 */
import {
  allows,
  cleanDialog,
  decideEditorDialog,
  type EditorAnswer,
  type EditorDialog,
  editorFingerprint,
  editorPrompts,
  isWhollyInput,
  optionOfRule,
  refusalIn,
} from '../domain/editors.ts';
import { decidingRule, type Place, rulesForTool } from '../domain/permission-rules.ts';
import { permissionDigest } from '../domain/permissions.ts';
import {
  type CheckedRequest,
  checkRequest,
  createPrompt,
  OPEN_LIMIT,
  type Prompt,
} from '../domain/prompts.ts';
import type { Session } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import { cleanText, excerpt } from '../domain/text.ts';
import type { Trust } from '../domain/trust.ts';
import { type DeliveryService, handPrompt } from './delivery.ts';
import type { Feed } from './feed.ts';
import { giveNotice } from './notices.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { insertPrompt, recordAnswer, recordCancel } from './prompts.ts';
import { chargeQuotas, demandOf } from './quotas.ts';
import { seatThatAnswered, unsignedText } from './signatures.ts';
import type { Ids } from './world.ts';

/** A dialog that is open in an editor. */
export interface EditorRequest {
  session: Session;
  dialog: EditorDialog;
  /** Where the agent works, for the human's rules. */
  place: Place;
  /** The editor's name for this dialog: opened again under it, it is the same dialog, unless it was cancelled. */
  key?: string | undefined;
}

/** A dialog with what it asks, in words: made before the transaction, because others wait for its lock. */
interface WordedRequest extends EditorRequest {
  requests: readonly CheckedRequest[];
  fingerprint: string;
}

/** A dialog as it is offered at the desks. */
export interface OfferedDialog extends WordedRequest {
  /** Its prompts; none where only the editor shows it. */
  ask_ids: readonly string[];
}

/** A dialog that was offered, and its answer where there is one already. */
export interface OpenedDialog {
  offered: OfferedDialog;
  answer: EditorAnswer | null;
}

export interface EditorService {
  /**
   * Offers a dialog at the desks. A rule of the human's may answer it at once. Without prompts, and beyond a quota, only
   * the editor asks.
   */
  open(request: EditorRequest): Promise<OpenedDialog>;
  /** The answer of a desk, once it is complete; null if the dialog was withdrawn, or `signal` ended the wait. */
  untilAnswered(offered: OfferedDialog, signal: AbortSignal): Promise<EditorAnswer | null>;
  /**
   * Withdraws a dialog that its editor has answered, or whose agent no longer asks. `accepted` is false if a desk has
   * answered first: then that answer counts.
   */
  withdraw(
    offered: OfferedDialog,
    reason: 'answered_elsewhere' | 'withdrawn' | 'interrupted',
    decision?: string | null,
  ): Promise<{ accepted: boolean }>;
  /** Withdraws what was opened under keys for a session and waits no more: whoever opened it has lost its connection. */
  withdrawLeft(session_id: string): Promise<void>;
  /** The editor has acted on an answer that was opened under a key. */
  acted(session_id: string, key: string): Promise<void>;
  /** Whether somebody sits at a desk now. */
  isAttended(): Promise<boolean>;
}

interface EditorParts {
  store: Store;
  feed: Feed;
  ids: Ids;
  delivery: Pick<DeliveryService, 'collect'>;
  trust: () => Trust;
}

/** Node's timers last at most 24 days, so longer waits are split. */
const STRETCH_MS = 24 * 60 * 60 * 1000;

export function createEditors({ store, feed, ids, delivery, trust }: EditorParts): EditorService {
  async function promptsNow(tx: ReadTx, { ask_ids }: OfferedDialog): Promise<Prompt[]> {
    const found = await Promise.all(ask_ids.map((ask_id) => tx.prompts.get(ask_id)));
    return found.filter((prompt) => prompt !== undefined);
  }

  return {
    async open(given) {
      const { session, place } = given;
      const dialog = cleanDialog(given.dialog);
      const request: WordedRequest = {
        ...given,
        dialog,
        requests: editorPrompts(dialog).map(checkRequest),
        fingerprint: editorFingerprint(dialog),
      };
      // Matching may take a while, so it is done before the transaction.
      const matching =
        dialog.kind === 'permission'
          ? rulesForTool(trust().permission_rules, asTool(dialog), place).filter(
              ({ decision }) => decision === 'deny' || isWhollyInput(dialog),
            )
          : [];
      return store.write(async (tx) => {
        const before = await openedBefore(tx, request);
        if (before !== null) {
          const offered = { ...request, ask_ids: before.map(({ ask_id }) => ask_id) };
          return { offered, answer: await conclude(tx, offered, before) };
        }
        const rule = decidingRule(matching, session, tx.now);
        const option =
          rule === null || dialog.kind === 'form' ? undefined : optionOfRule(dialog, rule.decision);
        const prompts = await promptsFor(tx, ids, request);
        const offered = { ...request, ask_ids: prompts.map(({ ask_id }) => ask_id) };
        const [first] = prompts;
        if (rule !== null && option !== undefined && first !== undefined) {
          await insertPrompt(tx, first);
          const label = option.label.trim();
          const { prompt } = await recordAnswer(tx, first, {
            decision: label,
            selected: [label],
            comment: rule.decision === 'deny' ? rule.note : null,
            by: rule.name,
            via: 'rule',
            attested: true,
            response_id: ids.make('response'),
            responded_at: tx.now,
          });
          await handPrompt(tx, prompt, carrierOf(session));
          const note = dialog.kind === 'permission' && dialog.takes_notes ? prompt.comment : null;
          return { offered, answer: { kind: 'chosen', option_id: option.id, note } as const };
        }
        if ((await chargeQuotas(tx, session, demandOf(prompts))) !== null)
          return { offered: { ...request, ask_ids: [] }, answer: null };
        for (const prompt of prompts) await insertPrompt(tx, prompt);
        return { offered, answer: null };
      });
    },

    async untilAnswered(offered, signal) {
      const check = (): Promise<true | undefined> =>
        store.read(async (tx) => {
          const prompts = await promptsNow(tx, offered);
          const isOver = prompts.some(({ status }) => status !== 'pending' && status !== 'responded');
          return isOver || prompts.every(({ status }) => status === 'responded') ? true : undefined;
        });
      for (;;) {
        const done = await feed.until(check, { wait_ms: STRETCH_MS, signal, subjects: offered.ask_ids });
        if (done !== undefined) break;
        if (signal.aborted) return null;
      }
      return store.write(async (tx) => conclude(tx, offered, await promptsNow(tx, offered)));
    },

    withdraw: (offered, reason, decision = null) =>
      store.write(async (tx) => {
        const prompts = await promptsNow(tx, offered);
        const isAnswered = prompts.length > 0 && prompts.every(({ status }) => status === 'responded');
        if (isAnswered) {
          if (reason === 'answered_elsewhere' && offered.key !== undefined)
            await noticeLost(tx, offered.session, prompts, decision);
          return { accepted: false };
        }
        for (const prompt of prompts)
          await recordCancel(tx, prompt, { by: 'editor', via: 'terminal', reason });
        return { accepted: true };
      }),

    withdrawLeft: (session_id) =>
      store.write(async (tx) => {
        for (const prompt of await tx.prompts.openOf(session_id, OPEN_LIMIT))
          if (prompt.dialog && prompt.status === 'pending' && prompt.idempotency_key !== null)
            await recordCancel(tx, prompt, { by: 'editor', via: 'terminal', reason: 'withdrawn' });
      }),

    acted: async (session_id, key) => {
      await delivery.collect(carrierOf({ session_id }, key));
    },

    isAttended: () => store.read(async (tx) => (await tx.desks.online(tx.now)).length > 0),
  };

  /** What leaves for the agent. An answer that allows something must be one to exactly this, signed by a seat. */
  async function conclude(
    tx: WriteTx,
    offered: OfferedDialog,
    prompts: readonly Prompt[],
  ): Promise<EditorAnswer | null> {
    const { session, dialog, key } = offered;
    if (!prompts.every(({ status }) => status === 'responded')) return null;
    const decided = decideEditorDialog(dialog, prompts);
    if (decided === null) return null;
    const [answered] = prompts;
    const isDue = dialog.kind === 'permission' && answered !== undefined && allows(dialog, decided);
    if (isDue && !(await isSigned(tx, offered, answered))) {
      const text = unsignedText(answered);
      await giveNotice(tx, { severity: 'warning', session_id: session.session_id, text });
      return refusalIn(dialog, null);
    }
    // Words that the dialog has no room for come with the agent's next poll.
    const takesNotes = dialog.kind === 'permission' && dialog.takes_notes;
    for (const prompt of prompts)
      if (prompt.comment === null || takesNotes) await handPrompt(tx, prompt, carrierOf(session, key));
    return decided;
  }

  async function isSigned(
    tx: ReadTx,
    { requests: [asked], fingerprint }: OfferedDialog,
    answered: Prompt,
  ): Promise<boolean> {
    if (asked === undefined) return false;
    const { kind, question, context, options } = asked;
    const displayed_digest = permissionDigest({
      kind,
      question,
      context,
      options,
      fingerprint,
      notes: answered.notes,
    });
    if (displayed_digest !== permissionDigest(answered)) return false;
    const { seats } = trust();
    return (await seatThatAnswered(tx, answered, { store, displayed_digest, seats })) !== null;
  }
}

/** What carries the answers of an editor's dialogs to its agent; with a key, that of one dialog alone. */
export function carrierOf({ session_id }: Pick<Session, 'session_id'>, key?: string): string {
  return key === undefined ? `editor:${session_id}` : `editor:${session_id} ${cleanText(key)}`;
}

/** The editor answered its agent before the answer of a desk arrived there. */
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

/** The call as the human's rules see it. */
function asTool({ tool }: Extract<EditorDialog, { kind: 'permission' }>) {
  return { ...tool, use_id: null, response: null, own: null };
}

/** How often a dialog that was cancelled may be opened again under its key. */
const MOST_OPENINGS = 1_000;

/** The prompts of a dialog that is open under this key, or answered; null where it was cancelled, or never opened. */
async function openedBefore(tx: ReadTx, request: WordedRequest): Promise<Prompt[] | null> {
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

/** The key of a prompt: which field of its dialog, and which opening of that. */
function keyOf(key: string, n: number, opening: number): string {
  return `dialog ${cleanText(key)} ${n} ${opening}`;
}

/** The first opening whose keys are free. */
async function nextOpening(tx: ReadTx, session_id: string, key: string): Promise<number> {
  for (let opening = 1; ; opening += 1)
    if ((await tx.prompts.byKey(session_id, keyOf(key, 0, opening))) === undefined) return opening;
}

/** The prompts of a dialog, not stored yet; their ids are in their order, as lists show them. */
async function promptsFor(
  tx: ReadTx,
  ids: Ids,
  { session, requests, fingerprint, key }: WordedRequest,
): Promise<Prompt[]> {
  const { session_id, handle: agent, title: agent_title, source, project, project_dir } = session;
  const turn_id = (await tx.turns.current(session_id))?.turn_id ?? null;
  const asker = { session_id, agent, agent_title, source, project, project_dir, turn_id };
  const ask_ids = requests.map(() => ids.make('ask')).sort();
  const group_id = requests.length > 1 ? ids.make('group') : null;
  const opening = key === undefined ? 0 : await nextOpening(tx, session_id, key);
  return requests.map((request, n) => ({
    ...createPrompt(request, asker, ask_ids[n] ?? '', tx.now),
    dialog: true,
    // Until somebody answers, the agent does nothing else.
    blocked_since: tx.now,
    group_id,
    fingerprint,
    idempotency_key: key === undefined ? null : keyOf(key, n, opening),
  }));
}
