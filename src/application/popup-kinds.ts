/**
 * The kinds of popups: questions and permissions, pings and cards, mentions of the human. For each kind: which events make
 * a popup due, its text, the effect of its buttons, and the recorded outcome. The engine (popups.ts) does the rest.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HUMAN_ADDRESSEE } from '../domain/actors.ts';
import { isTransient } from '../domain/errors.ts';
import type { HiveEvent } from '../domain/events.ts';
import { concerns, type Desk, namesOf, userOfSeat } from '../domain/humans.ts';
import type { Outreach } from '../domain/outreach.ts';
import { permissionDigest } from '../domain/permissions.ts';
import {
  type MentionOfHuman,
  mentionSubject,
  noticePopup,
  outreachSubject,
  type PopupKind,
  type PopupPreferences,
  type PopupSubject,
  promptSubject,
  type Told,
  tellMention,
  tellOutreach,
  tellPrompt,
  wholePermission,
} from '../domain/popups.ts';
import { type Preferences, preferencesFrom } from '../domain/preferences.ts';
import { isExpired, type Prompt } from '../domain/prompts.ts';
import { HUMAN_HANDLE } from '../domain/sessions.ts';
import { excerpt } from '../domain/text.ts';
import { deliverMentions } from './mentions.ts';
import { markOutreach } from './outreach.ts';
import type { Parts } from './parts.ts';
import type { PopupOutcome, ReadTx, WriteTx } from './ports.ts';
import type { PromptService } from './prompts.ts';
import type { TrustService } from './trust.ts';

/** A process that shows popups. */
export interface PopupParty {
  /** Machine and user. */
  seat: string;
  /** The name of the seat's human; default: their login name. */
  human?: string | undefined;
  /** The holder of the leases: a desk, or a connection of an agent. */
  name: string;
  /** The desk of this process; null if it has none, and then every desk of the seat goes first. */
  desk_id: string | null;
  /** Opens a prompt where the human sits; null if this process cannot. */
  open: ((ask_id: string) => Promise<void>) | null;
  /**
   * Called before a click counts as an answer; throws if the human did not start this process. Missing: its popups only inform,
   * as in an agent's process, because the agent could choose the desktop programs.
   */
  answers?: (() => Promise<void>) | undefined;
  /** Where to begin in the feed; missing: its current head. */
  cursor?: number | undefined;
  /** The seat whose preferences apply where this one has none of its own. */
  inherits?: string | null | undefined;
  /**
   * The part of a party that makes it a phone; missing: it is none. Prompts and mentions that are already pending are due there as
   * well, because nothing else shows them. It is unknown whether a phone showed a push, so being pushed does not count as being
   * seen. `wait`: how long to wait before this is pushed, in ms; null: never, because a desk has announced it.
   */
  phone?: { wait(subject: PopupSubject, now: PhoneMoment): number | null } | undefined;
}

/** The state on which a phone's waiting time depends. */
interface PhoneMoment {
  kind: PopupKind;
  preferences: Preferences;
  /** The desks that are online. */
  desks: readonly Desk[];
  /** By the store's clock. */
  now: string;
}

export interface PopupParts extends Pick<Parts, 'store' | 'feed' | 'notifier' | 'log'> {
  prompts: PromptService;
  trust: Pick<TrustService, 'authority'>;
}

/** The outcome of a popup. */
export interface PopupResult {
  outcome: Exclude<PopupOutcome, 'leased'>;
  /** Why it was suppressed or failed. */
  reason: string | null;
  /** How many popups the popup of a storm represents. */
  count?: number;
}

/** One kind of popup, as the engine sees it. */
export interface PopupDescriptor<T> {
  readonly kind: PopupKind;
  /** The id of the subject that an event makes due; null for any other event. */
  due(event: HiveEvent): string | null;
  /**
   * The id of the subject that an event settles, so that its popup is removed. Null instead of a function: this kind is never
   * settled.
   */
  readonly settled: ((event: HiveEvent) => string | null) | null;
  /** The ids of subjects that are already pending, oldest first. */
  pending(tx: ReadTx, limit: number): Promise<string[]>;
  /** The subject; undefined if this seat wants no popup of it. */
  find(tx: ReadTx, id: string): Promise<T | undefined>;
  subjectOf(item: T): PopupSubject;
  /** The subject in the words of a popup. */
  tell(item: T, preferences: PopupPreferences): Told | Promise<Told>;
  /** Whether a click on the body opens something. */
  readonly openable: boolean;
  /** Records what happened to a popup; called once for each lease. */
  record(tx: WriteTx, item: T, result: PopupResult): Promise<void>;
  /** A click on the body. */
  open?(item: T): Promise<void>;
  /** A click on a button; resolves once the person has been notified of the result. */
  press?(item: T, label: string, stopping: AbortSignal): Promise<void>;
}

/** The preferences that apply to a party now. */
export async function preferencesOf(
  tx: ReadTx,
  { seat, inherits = null }: Pick<PopupParty, 'seat' | 'inherits'>,
): Promise<Preferences> {
  const inherited = inherits === null ? {} : await tx.desks.preferences(inherits);
  return preferencesFrom({ ...inherited, ...(await tx.desks.preferences(seat)) });
}

/** The same, with the settings in the human's trust file that apply to this process. */
export async function readPreferences(
  { store, trust }: Pick<PopupParts, 'store' | 'trust'>,
  party: Pick<PopupParty, 'seat' | 'inherits'>,
): Promise<PopupPreferences> {
  return { ...(await store.read((tx) => preferencesOf(tx, party))), ...trust.authority() };
}

// ---- Questions and permissions ----

/** These events make a prompt due: it is new, or has been escalated to everybody. */
const PROMPT_DUE: ReadonlySet<string> = new Set(['prompt/created', 'prompt/escalated']);
const PROMPT_SETTLED: ReadonlySet<string> = new Set([
  'prompt/responded',
  'prompt/expired',
  'prompt/cancelled',
]);

export function promptPopups(parts: PopupParts, party: PopupParty): PopupDescriptor<Prompt> {
  const { store } = parts;
  const { seat, name, open, answers, phone } = party;
  const names = namesOf({ seat, human: humanOf(party) });
  return {
    kind: 'prompt',
    due: ({ type, subject }) => (PROMPT_DUE.has(type) ? subject : null),
    settled: ({ type, subject }) => (PROMPT_SETTLED.has(type) ? subject : null),
    async pending(tx, limit) {
      const { items } = await tx.prompts.list({ status: 'pending', limit });
      return items.map(({ ask_id }) => ask_id);
    },
    async find(tx, ask_id) {
      const prompt = await tx.prompts.intact(ask_id);
      if (prompt === undefined || prompt.status !== 'pending' || isExpired(prompt, tx.now)) return undefined;
      // Another person's question pops up at their seat, and here only once it is escalated.
      return concerns(prompt, names, tx.now) ? prompt : undefined;
    },
    subjectOf: promptSubject,
    openable: open !== null,
    async tell(prompt, preferences) {
      // A prompt whose options are the buttons of a card shows that card.
      const card = await store.read((tx) => tx.outreach.byPrompt(prompt.ask_id));
      const told = tellPrompt(prompt, preferences, card);
      return answers === undefined ? { ...told, buttons: [] } : told;
    },
    async record(tx, { ask_id, session_id }, result) {
      await tx.events.append({
        type: 'prompt/popup',
        session_id,
        subject: ask_id,
        data: { ...result, seat, claimed_by: name },
      });
      if (result.outcome !== 'sent' || phone !== undefined) return;
      const card = await tx.outreach.byPrompt(ask_id);
      if (card !== undefined) await markShown(tx, card);
    },
    async open(prompt) {
      await open?.(prompt.ask_id);
    },
    ...(answers === undefined ? {} : { press: answerFromPopups(parts, party, answers) }),
  };
}

/** The name of the human for whom this process answers. */
function humanOf({ human, seat }: Pick<PopupParty, 'human' | 'seat'>): string {
  return human ?? userOfSeat(seat);
}

const ANSWER_TRIES = 10;
const ANSWER_RETRY_MS = 1_000;

/** A click on a button is an answer like any other. If it is not accepted, the person is notified. */
function answerFromPopups(
  { store, prompts: service, notifier, log, trust }: PopupParts,
  party: PopupParty,
  check: () => Promise<void>,
): (prompt: Prompt, label: string, stopping: AbortSignal) => Promise<void> {
  async function showNotice(prompt: Prompt, sentence: string, stopping: AbortSignal): Promise<void> {
    if (stopping.aborted) return;
    const notice = noticePopup(
      prompt,
      excerpt(sentence, 400),
      await readPreferences({ store, trust }, party),
    );
    const { outcome } = await notifier.show(notice);
    await outcome;
  }

  /** Answers, and returns the notice for the person, if there is one. */
  async function respond(prompt: Prompt, label: string, response_id: string): Promise<string | null> {
    await check();
    const { popup_permissions } = trust.authority();
    const { outcome, prompt: standing } = await service.respond({
      ask_id: prompt.ask_id,
      selected: [label],
      response_id,
      actor: { kind: 'human', by: humanOf(party), via: 'notification', confirmed: popup_permissions },
      displayed_digest: wholePermission(prompt) === null ? null : permissionDigest(prompt),
    });
    if (outcome === 'lost')
      return `${standing.by ?? 'Somebody'} answered "${standing.decision ?? ''}" before.`;
    if (outcome === 'late')
      return `It was ${standing.status} before; "${label}" is kept as a late answer for the agent.`;
    return null;
  }

  /** Answers for a person who assumes that their click worked: retries a busy store, and reports any other failure. */
  async function respondOrExplain(
    prompt: Prompt,
    label: string,
    stopping: AbortSignal,
  ): Promise<string | null> {
    const response_id = `popup-${crypto.randomUUID()}`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await respond(prompt, label, response_id);
      } catch (error) {
        if (!isTransient(error) || attempt === ANSWER_TRIES || stopping.aborted) {
          log.warn('An answer from a popup was not accepted.', {
            ask_id: prompt.ask_id,
            error: String(error),
          });
          return `"${label}" was not accepted: ${error instanceof Error ? error.message : String(error)}`;
        }
        await sleep(ANSWER_RETRY_MS, undefined, { signal: stopping }).catch(() => undefined);
      }
    }
  }

  return async (prompt, label, stopping) => {
    const notice = await respondOrExplain(prompt, label, stopping);
    if (notice !== null) await showNotice(prompt, notice, stopping);
  };
}

// ---- Pings, and cards without buttons ----
// A card with buttons is shown by its prompt.

export function outreachPopups({
  seat,
  phone,
}: Pick<PopupParty, 'seat' | 'phone'>): PopupDescriptor<Outreach> {
  return {
    kind: 'outreach',
    due: ({ type, subject, data }) =>
      (type === 'outreach/sent' || type === 'outreach/unseen') &&
      data['kind'] !== 'report' &&
      data['ask_id'] === null
        ? subject
        : null,
    settled: null,
    // Emacs announces unseen pings and cards.
    pending: async () => [],
    async find(tx, outreach_id) {
      const item = await tx.outreach.get(outreach_id);
      // Emacs may already have shown it; the popup comes in addition.
      return item?.status === 'suppressed' || item?.status === 'delivered' ? undefined : item;
    },
    subjectOf: outreachSubject,
    openable: false,
    tell: tellOutreach,
    async record(tx, item, { outcome, reason }) {
      if (phone !== undefined) return recordPush(tx, item.outreach_id, { seat, outcome, reason });
      if (outcome === 'sent') return markShown(tx, item);
      // With an open desk, Emacs shows it; without one, the popup was the only way.
      if ((await tx.desks.online(tx.now)).length > 0) return;
      await markOutreach(tx, item.outreach_id, { status: 'unseen', reason: reason ?? outcome });
    },
  };
}

/** Records a failed push as an event. Only questions have an event for each outcome. */
async function recordPush(
  tx: WriteTx,
  subject: string,
  { seat, outcome, reason }: Pick<PopupResult, 'outcome' | 'reason'> & { seat: string },
): Promise<void> {
  if (outcome !== 'failed') return;
  await tx.events.append({ type: 'push/failed', subject, data: { seat, reason } });
}

async function markShown(tx: WriteTx, { outreach_id }: Outreach): Promise<void> {
  await markOutreach(tx, outreach_id, { status: 'shown', shown_via: 'notification' });
}

// ---- Mentions of the human ----

export function mentionPopups({
  seat,
  phone,
}: Pick<PopupParty, 'seat' | 'phone'>): PopupDescriptor<MentionOfHuman> {
  return {
    kind: 'mention',
    due: ({ type, subject, data }) =>
      type === 'mention/created' && data['handle'] === HUMAN_HANDLE ? subject : null,
    settled: ({ type, subject }) =>
      type === 'mention/processed' || type === 'mention/expired' ? subject : null,
    async pending(tx, limit) {
      const mentions = await tx.mentions.unprocessedOf(HUMAN_ADDRESSEE, limit);
      return mentions.map(({ mention_id }) => mention_id);
    },
    find: findUnprocessed,
    subjectOf: mentionSubject,
    openable: false,
    tell: tellMention,
    async record(tx, { mention_id }, { outcome, reason }) {
      if (phone !== undefined) return recordPush(tx, mention_id, { seat, outcome, reason });
      const mention = outcome === 'sent' ? await findUnprocessed(tx, mention_id) : undefined;
      if (mention !== undefined) await deliverMentions(tx, [mention], `popup:${seat}`);
    },
  };
}

async function findUnprocessed(tx: ReadTx, mention_id: string): Promise<MentionOfHuman | undefined> {
  const mention = await tx.mentions.get(mention_id);
  if (mention?.session_id !== HUMAN_ADDRESSEE || mention.status !== 'unprocessed') return undefined;
  const author =
    mention.from_session_id === null ? undefined : await tx.sessions.get(mention.from_session_id);
  return { ...mention, source: author?.source ?? 'main', agent_title: author?.title ?? null };
}
