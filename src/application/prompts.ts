/**
 * Prompts: asking, answering and everything in between. Each method is one transaction around a pure transition from
 * domain/prompts.ts. Nothing is returned before it is on disk (invariant 1). `tx.prompts` is in
 * infrastructure/store/prompts.ts. The events that are appended here reach Emacs through feed.ts and
 * adapters/emacs/prompts.ts, and end the waits in this file.
 */
import {
  type Actor,
  type AgentActor,
  isPersonal,
  refusalToAmend,
  refusalToAnswer,
  refusalToCancel,
  refuse,
  type Via,
} from '../domain/actors.ts';
import { isFresh } from '../domain/devices.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { EventType } from '../domain/events.ts';
import { concerns, escalatePrompt, isEscalationDue, namesOf } from '../domain/humans.ts';
import { mayAllow, permissionDigest, refusalOfUnseen } from '../domain/permissions.ts';
import {
  type AnswerOutcome,
  type AnswerRequest,
  type AskRequest,
  amendPrompt,
  askerOf,
  type CancelReason,
  type CheckedRequest,
  cancelPrompt,
  checkRequest,
  createPrompt,
  deliveryOf,
  expirePrompt,
  isExpired,
  isUncollected,
  leavePromptToHuman,
  notePrompt,
  OPEN_LIMIT,
  type Prompt,
  type PromptAnswer,
  promptEvent,
  refusalOfTerminal,
  resolveAnswer,
  respondPrompt,
} from '../domain/prompts.ts';
import { askQuotas, type QuotaRefusal, tooMany } from '../domain/quotas.ts';
import { type SeatKey, type SignedAnswer, seatThatSigned, signAnswer } from '../domain/seats.ts';
import type { Session } from '../domain/sessions.ts';
import { labelled } from '../domain/sources.ts';
import { excerpt } from '../domain/text.ts';
import { CANCELS, type Turn } from '../domain/turns.ts';
import { writeDue } from './expiry.ts';
import type { Feed } from './feed.ts';
import { authorNamed } from './history.ts';
import { findAddress } from './humans.ts';
import { giveNotice } from './notices.ts';
import type { Parts } from './parts.ts';
import type { Page, PromptFilter, ReadTx, Store, StoredResponse, WriteTx } from './ports.ts';
import { demandOf, noticeRefusal, readQuotas, storeCharge } from './quotas.ts';
import { blockUntilSettled, DIALOG_WAIT, markedAsBlocking } from './waits.ts';
import type { Ids } from './world.ts';

/** A stored question. */
export interface Asked {
  /** The prompt in its current state. */
  prompt: Prompt;
  /** Whether this idempotency key was used before; then `prompt` is the earlier prompt in its current state. */
  existing: boolean;
  /** How many desks of the humans it is addressed to are open. */
  desks_online: number;
}

/** The outcome of an answer; `prompt` is the current prompt, with the winner's answer. */
export interface Answered {
  /** Of the answer that was given. */
  outcome: AnswerOutcome;
  /** The prompt, with the answer that counts. */
  prompt: Prompt;
}

export interface AnswerCommand extends AnswerRequest {
  ask_id: string;
  actor: Actor;
  /** An answer that is sent repeatedly under this id counts once. Generated if missing. */
  response_id?: string | null | undefined;
  /** The store this answer was written for; another store refuses it. */
  store_id?: string | null | undefined;
  /** The digest of the permission as it was displayed in full; an answer that may allow something needs it. */
  displayed_digest?: string | null | undefined;
  /** The signature of a device. Without it, a person's answer is signed in this process. */
  signed?: DeviceSignature | undefined;
}

/** The signature of a device. The signed text includes `responded_at`. */
export interface DeviceSignature {
  /** The key of the device. */
  key: string;
  /** Whether its human has listed this key. */
  may_allow: boolean;
  responded_at: string;
  signature: string;
}

/** A session's open prompts: first those that are settled and not collected, then the pending ones, oldest first. */
export interface Open {
  /** At most OPEN_LIMIT of them. */
  prompts: Prompt[];
  /** The totals of settled and of pending prompts. */
  settled: number;
  pending: number;
}

/** The longest wait, and what may end it sooner. */
export interface WaitOptions {
  wait_ms: number;
  signal?: AbortSignal | undefined;
  /** The session that these questions block during the wait (waits.ts). Missing: they block nobody. */
  waiter?: string | undefined;
  /** Called if it has to wait, because nothing is settled yet. */
  onWait?: (() => void) | undefined;
}

/** How many blocking prompts are read; they come first among the pending ones. */
const MOST_BLOCKED = 500;

export type PromptService = ReturnType<typeof createPrompts>;

interface Answering {
  /** The key with which the human's answers are signed in this process, if it has one. */
  seatKey: () => SeatKey | null;
  /** Leaves the dialogs whose hook was killed to their terminals: an answer would reach nobody. */
  leaveKilled: () => Promise<void>;
}

export function createPrompts(
  store: Store,
  feed: Feed,
  ids: Ids,
  { seatKey, leaveKilled }: Answering = { seatKey: () => null, leaveKilled: async () => undefined },
) {
  async function change(
    ask_id: string,
    type: EventType,
    transition: (prompt: Prompt, now: string) => Prompt,
    data: Record<string, unknown> = {},
  ): Promise<Prompt> {
    return store.write(async (tx) => {
      const prompt = await findCurrent(tx, ask_id);
      const changed = transition(prompt, tx.now);
      if (changed === prompt) return prompt;
      await tx.prompts.update(changed);
      await tx.events.append(promptEvent(type, changed, data));
      return changed;
    });
  }

  /** Records due expiries and escalations before anybody reads the prompts. */
  async function recordDue(): Promise<void> {
    await service.expireDue();
    await service.escalateDue();
  }

  const reading = createReading({ store, feed, ids }, recordDue);
  const answering = createAnswering(store, ids, { seatKey, leaveKilled });
  const service = {
    /**
     * Asks in `turn_id`, by default in the session's current turn.
     * @throws HiveError `invalid_input`, `human_not_found`, `idempotency_conflict`, `too_many`, `turn_not_current` if the end of
     * that turn has already cancelled its questions.
     */
    async ask(request: AskRequest, session: Session, turn_id?: string | null): Promise<Asked> {
      const asking = { request: checkRequest(request), session, turn_id };
      const asked = await store.write((tx) => askIn(tx, ids, asking));
      if ('quota' in asked) throw tooMany(asked);
      return asked;
    },

    /**
     * Adds a note of its asker; `accepted` is false when the prompt has settled.
     * @throws HiveError `prompt_not_found`, `not_allowed`, `invalid_input`.
     */
    async note(ask_id: string, note: string, session: Session) {
      const prompt = await change(ask_id, 'prompt/noted', (prompt, now) =>
        notePrompt(prompt, session, note, now),
      );
      return { accepted: prompt.status === 'pending', prompt };
    },

    get: reading.get,
    wait: reading.wait,
    waitForOpen: reading.waitForOpen,

    async list(filter: PromptFilter): Promise<Page<Prompt>> {
      await recordDue();
      return store.read(async (tx) => {
        const { agent } = filter;
        return tx.prompts.list(
          agent === undefined ? filter : { ...filter, agent: await authorNamed(tx, agent) },
        );
      });
    },

    /** The prompt as it is now, and the store's time; undefined once retention has removed it, or if it is damaged. */
    find: (ask_id: string) =>
      store.read(async (tx) => {
        const prompt = await tx.prompts.intact(ask_id);
        return prompt === undefined ? undefined : { prompt, now: tx.now };
      }),
    /** How many prompts match. */
    count: (filter: Omit<PromptFilter, 'limit' | 'cursor'>) => store.read((tx) => tx.prompts.count(filter)),

    /** By session id, the question that blocks the session; of several, the first in order. */
    async blocking(): Promise<ReadonlyMap<string, Prompt>> {
      const { items } = await store.read((tx) => tx.prompts.list({ status: 'pending', limit: MOST_BLOCKED }));
      const blocked = items.filter(({ blocked_since }) => blocked_since !== null);
      // For each session, the last entry wins, so the first in order is entered last.
      return new Map(blocked.toReversed().map((prompt) => [prompt.session_id, prompt]));
    },
    /** How many are pending, by urgency. */
    countPending: () => store.read((tx) => tx.prompts.countByUrgency()),

    respond: answering.respond,
    amend: answering.amend,

    /** @throws HiveError `prompt_not_found`, `not_allowed`. */
    cancel: (ask_id: string, actor: Actor, reason: CancelReason) =>
      store.write(async (tx) => {
        const prompt = await findCurrent(tx, ask_id);
        refuse(refusalToCancel(actor, prompt));
        const cancelled = await recordCancel(tx, prompt, { by: actor.by, via: actor.via, reason });
        return { accepted: cancelled !== prompt, prompt: cancelled };
      }),

    /** Removes damaged prompts from the pending ones, and notifies every desk. Returns how many. */
    async setAsideDamaged(): Promise<number> {
      const damaged = await store.read((tx) => tx.prompts.damagedPending());
      if (damaged.length === 0) return 0;
      return store.write(async (tx) => {
        const found = await tx.prompts.damagedPending();
        for (const ask_id of found) {
          await tx.prompts.setAside(ask_id);
          const text = `The question ${ask_id} is damaged in the store: it does not read as it was written, so it was set aside. Its asker gets an error; restore a backup, or let it ask again.`;
          await giveNotice(tx, { severity: 'error', text, data: { notice: 'damaged', ask_id } });
        }
        return found.length;
      });
    },

    /**
     * Expires prompts that are due. Every live process does this, and the compare-and-set lets one of them win. Returns how many
     * this one expired.
     */
    expireDue: (): Promise<number> => writeDue(store, (tx) => tx.prompts.expiries, recordExpiries),
    /** The same for prompts that are due to be escalated. */
    escalateDue: (): Promise<number> => writeDue(store, (tx) => tx.prompts.escalations, recordEscalations),
    /** Warns the human of prompts that will soon expire. */
    warnDue: (): Promise<number> => writeDue(store, (tx) => tx.prompts.warnings, recordWarnings),

    /**
     * Leaves a question to the human: the actor's session does not get it again. A settled one stays as it is.
     * @throws HiveError `prompt_not_found`, `not_allowed` if the actor could not answer it.
     */
    leave: (ask_id: string, actor: AgentActor): Promise<Prompt> => {
      const leave = (prompt: Prompt): Prompt => {
        refuse(refusalToAnswer(actor, prompt));
        return leavePromptToHuman(prompt, actor.session_id);
      };
      return change(ask_id, 'prompt/left_to_human', leave, { by: actor.by });
    },

    mark: (ask_id: string, receipt: 'offered' | 'seen'): Promise<Prompt> =>
      change(ask_id, receipt === 'offered' ? 'prompt/offered' : 'prompt/seen', (prompt, now) => {
        const field = receipt === 'offered' ? 'offered_at' : 'seen_at';
        return prompt[field] === null ? { ...prompt, [field]: now } : prompt;
      }),

    snooze: (ask_id: string, until: string | null): Promise<Prompt> =>
      change(ask_id, 'prompt/snoozed', (prompt) => ({ ...prompt, snoozed_until: until })),
  };
  return service;
}

/**
 * Asks inside a transaction; the refusal of a quota is returned. `turn_id` as in `ask` above. @throws HiveError as `ask` above does.
 */
export async function askIn(
  tx: WriteTx,
  ids: Ids,
  {
    request,
    session,
    turn_id,
  }: { request: CheckedRequest; session: Session; turn_id?: string | null | undefined },
): Promise<Asked | QuotaRefusal> {
  const { session_id } = session;
  const demand = demandOf([request]);
  const [turn, desks, address, readings] = await Promise.all([
    turn_id === undefined
      ? tx.turns.current(session_id)
      : turn_id === null
        ? undefined
        : tx.turns.get(turn_id),
    tx.desks.online(tx.now),
    findAddress(tx, request),
    readQuotas(tx, session, demand),
  ]);
  const prompt = createPrompt(
    request,
    askerOf(session, turn?.turn_id ?? null),
    ids.make('ask'),
    tx.now,
    address,
  );
  const desks_online = desks.filter((desk) => concerns(prompt, namesOf(desk), tx.now)).length;
  const key = prompt.idempotency_key;
  const before = key === null ? undefined : await tx.prompts.byKey(session_id, key, prompt.fingerprint);
  if (before !== undefined) {
    if (before.fingerprint !== prompt.fingerprint) throw conflict(before);
    return { prompt: await findCurrent(tx, before.ask_id), existing: true, desks_online };
  }
  // A moment earlier, it would have been cancelled with its turn, so it is not stored at all.
  if (turn?.abort_reason != null && CANCELS[turn.abort_reason](prompt)) throw tooLate(turn);
  const opinion = askQuotas(demand, readings, tx.now);
  if (opinion.refusal !== null) {
    await noticeRefusal(tx, session, opinion.refusal);
    return opinion.refusal;
  }
  await storeCharge(tx, opinion.buckets);
  await insertPrompt(tx, prompt);
  return { prompt, existing: false, desks_online };
}

// ---- Refusals, as sentences that say what to do ----

function tooLate({ turn_id, abort_reason }: Turn): HiveError {
  return new HiveError(
    'turn_not_current',
    `The turn ${turn_id} is over (${abort_reason}), so its questions are no longer asked. Nothing was asked.`,
    { turn_id },
  );
}

function conflict(before: Prompt): HiveError {
  return new HiveError(
    'idempotency_conflict',
    `The idempotency_key "${before.idempotency_key}" was used for another question (${before.ask_id}). Use a new key for a new question.`,
    { ask_id: before.ask_id },
  );
}

function usedBefore({ response_id, ask_id }: StoredResponse): HiveError {
  return invalidInput(
    `The response_id ${response_id} was used for another answer, to ${ask_id}. Give each answer an id of its own.`,
    { response_id, ask_id },
  );
}

export function wrongStore(given: string, own: string, what: 'answer' | 'message' = 'answer'): HiveError {
  return new HiveError(
    'wrong_store',
    `The ${what} was written for the store ${given}; this is ${own}. It was not accepted here.`,
    { given, own },
  );
}

// ---- Answering and correcting ----
// Each is one transaction, which also records the answer under its id.

/** A signed answer: the signature and the signed time, if they are kept. */
interface Signed {
  signature: string | null;
  responded_at: string | null;
}

function createAnswering(store: Store, ids: Ids, { seatKey, leaveKilled }: Answering) {
  /** Before the transaction: signs, and refuses an answer for another store, whose id would name a different prompt here, or none. */
  async function prepare(command: AnswerCommand): Promise<{ response_id: string; signed: Signed | null }> {
    const { store_id } = command;
    if (store_id != null && store_id !== store.store_id) throw wrongStore(store_id, store.store_id);
    const response_id = command.response_id ?? ids.make('response');
    return { response_id, signed: await sign(command, response_id) };
  }

  /** The answer that a command gives. @throws HiveError if it allows what was not displayed to its person in full. */
  function answerOf(
    prompt: Prompt,
    command: AnswerCommand,
    response_id: string,
    signed: Signed | null,
    now: string,
  ): PromptAnswer {
    const { actor, displayed_digest = null } = command;
    const { by, via, kind } = actor;
    // An unsigned answer is not attested, even if a person gives it.
    const attested = kind === 'rule' || signed !== null;
    const stamp = { by, via, attested, response_id, responded_at: signed?.responded_at ?? now };
    const answer = resolveAnswer(prompt, command, stamp);
    // A program that uses the library displays nothing.
    if (kind === 'human' && via !== 'library') refuse(refusalOfUnseen(prompt, answer, displayed_digest));
    return answer;
  }

  /** The content of a signature: the answer as it was given at that time. */
  function contentOf(
    prompt: Prompt,
    command: AnswerCommand,
    stamp: Pick<PromptAnswer, 'response_id' | 'responded_at'>,
  ): SignedAnswer {
    const { ask_id, actor, displayed_digest } = command;
    const answer = resolveAnswer(prompt, command, { by: actor.by, via: actor.via, attested: true, ...stamp });
    return { store_id: store.store_id, ask_id, displayed_digest: displayed_digest ?? '', answer };
  }

  /** Reads the prompt, and the answer that is already stored under this id. */
  const readFor = (ask_id: string, response_id: string) =>
    store.read(async (tx) => ({
      prompt: await tx.prompts.get(ask_id),
      known: await tx.prompts.response(response_id),
      now: tx.now,
    }));

  /**
   * Signs a person's answer, if this process has a registered key. An SSH agent may ask the person, so this is done before the
   * transaction, and the signed time becomes the time of the answer.
   */
  async function sign(command: AnswerCommand, response_id: string): Promise<Signed | null> {
    const { ask_id, actor, displayed_digest, signed: ofDevice } = command;
    if (ofDevice !== undefined) return signedByDevice(command, ofDevice, response_id);
    // The key of this process represents the person who sits here, not the holder of a device.
    if (actor.via === 'inbox' || !isPersonal(actor)) return null;
    const seat = seatKey();
    if (seat === null) return null;
    const { prompt, known, now } = await readFor(ask_id, response_id);
    if (prompt === undefined || known !== undefined) return null;
    const content = contentOf(prompt, command, { response_id, responded_at: now });
    const isAllowing = mayAllow(prompt, content.answer);
    if (isAllowing && displayed_digest !== permissionDigest(prompt)) return null;
    try {
      return { signature: await signAnswer(seat, content), responded_at: now };
    } catch (error) {
      if (isAllowing) throw error;
      // Without the person's SSH agent a question can still be answered, unattested.
      return null;
    }
  }

  /**
   * Checks the signature of a device on any answer; null if its human has not listed the key, because anybody with a desk can pair
   * a device. If the answer may allow something, the signature must be recent and is kept. The answer to a question counts however
   * old it is.
   */
  async function signedByDevice(
    command: AnswerCommand,
    { key, may_allow, responded_at, signature }: DeviceSignature,
    response_id: string,
  ): Promise<Signed | null> {
    const { ask_id, actor } = command;
    const { prompt, known, now } = await readFor(ask_id, response_id);
    if (prompt === undefined) throw notFound(ask_id);
    const content = contentOf(prompt, command, { response_id, responded_at });
    if (seatThatSigned([{ name: actor.by, key }], content, signature) === null)
      throw new HiveError(
        'not_allowed',
        `The answer to ${ask_id} was not accepted: its signature is not that of this device.`,
      );
    // The same answer again: its outcome is returned, however late.
    if (known !== undefined || !mayAllow(prompt, content.answer))
      return may_allow ? { signature: null, responded_at: null } : null;
    // The answer would settle the permission although its signature allows nothing.
    if (!may_allow)
      throw new HiveError(
        'not_allowed',
        `The answer to ${ask_id} was not accepted: this phone may deny, but not allow. To change that: hive phone allow`,
        { ask_id },
      );
    if (!isFresh(responded_at, now))
      throw new HiveError(
        'answer_stale',
        `The answer to ${ask_id} was not accepted: it was given at ${responded_at}, and what allows something counts for two minutes. Look at it again and answer it now.`,
        { ask_id, now },
      );
    return { signature, responded_at };
  }

  return {
    /** @throws HiveError `prompt_not_found`, `invalid_answer`, `not_allowed`, `wrong_store`. */
    async respond(command: AnswerCommand): Promise<Answered> {
      const { response_id, signed } = await prepare(command);
      await leaveKilled();
      return store.write(async (tx) => {
        const { ask_id, actor } = command;
        const known = await tx.prompts.response(response_id);
        if (known !== undefined) {
          if (known.ask_id !== ask_id) throw usedBefore(known);
          const prompt = await findPrompt(tx, ask_id);
          return { outcome: known.outcome === 'amendment' ? 'accepted' : known.outcome, prompt };
        }
        const prompt = await findCurrent(tx, ask_id);
        refuse(refusalToAnswer(actor, prompt) ?? refusalOfTerminal(prompt));
        const answer = answerOf(prompt, command, response_id, signed, tx.now);
        const displayed_digest = command.displayed_digest ?? null;
        return recordAnswer(tx, prompt, answer, { displayed_digest, signature: signed?.signature ?? null });
      });
    },

    /** @throws HiveError `prompt_not_amendable`, `prompt_not_found`, `invalid_answer`, `not_allowed`. */
    async amend(command: AnswerCommand): Promise<Prompt> {
      const { response_id, signed } = await prepare(command);
      return store.write(async (tx) => {
        const { ask_id, actor } = command;
        const prompt = await findCurrent(tx, ask_id);
        const known = await tx.prompts.response(response_id);
        if (known !== undefined) {
          if (known.ask_id !== ask_id || known.outcome !== 'amendment') throw usedBefore(known);
          return prompt;
        }
        refuse(refusalToAnswer(actor, prompt) ?? refusalToAmend(actor));
        const answer = answerOf(prompt, command, response_id, signed, tx.now);
        const amended = amendPrompt(prompt, answer);
        await tx.prompts.update(amended);
        const signature = signed?.signature ?? null;
        await tx.prompts.addResponse({ ...answer, ask_id, outcome: 'amendment', signature });
        const before = prompt.decision ?? prompt.late_response?.decision ?? null;
        const data = { ...answerData(answer, command.displayed_digest ?? null), before };
        await tx.events.append(promptEvent('prompt/amended', amended, data));
        return amended;
      });
    },
  };
}

// ---- Reading and waiting ----
// Prompts that are due are settled before anybody reads them.

/** `recordDue` records expiries and escalations that are due. */
function createReading(
  { store, feed, ids }: Pick<Parts, 'store' | 'feed' | 'ids'>,
  recordDue: () => Promise<void>,
) {
  /** Reads until it is done or the time has run out. Meanwhile the questions block the waiting session. */
  async function readUntil<Found>(
    read: () => Promise<Found>,
    isDone: (found: Found) => boolean,
    waitedFor: (found: Found) => { prompts: readonly Prompt[]; subjects: readonly string[] | undefined },
    { waiter: session_id, onWait, ...options }: WaitOptions,
  ): Promise<Found> {
    const first = await read();
    if (isDone(first) || options.wait_ms <= 0) return first;
    onWait?.();
    const { prompts, subjects } = waitedFor(first);
    const check = async (): Promise<Found | undefined> => {
      const found = await read();
      return isDone(found) ? found : undefined;
    };
    const wait = (): Promise<Found | undefined> => feed.until(check, { ...options, subjects });
    const ask_ids = prompts.filter(({ status }) => status === 'pending').map(({ ask_id }) => ask_id);
    const done =
      session_id === undefined
        ? await wait()
        : await markedAsBlocking({ store, ids }, { session_id, ask_ids, ...options }, wait);
    return done ?? read();
  }

  async function read(ask_ids: readonly string[]): Promise<Prompt[]> {
    const { prompts, now } = await store.read(async (tx) => ({
      now: tx.now,
      prompts: await Promise.all(ask_ids.map((ask_id) => findPrompt(tx, ask_id))),
    }));
    const due = (prompt: Prompt): boolean => isExpired(prompt, now) || isEscalationDue(prompt, now);
    if (!prompts.some(due)) return prompts;
    await recordDue();
    return store.read((tx) => Promise.all(ask_ids.map((ask_id) => findPrompt(tx, ask_id))));
  }

  async function readOpen(session_id: string): Promise<Open> {
    await recordDue();
    return store.read(async (tx) => {
      const prompts = await tx.prompts.openOf(session_id, OPEN_LIMIT);
      if (prompts.length === OPEN_LIMIT) return { prompts, ...(await tx.prompts.countOpenOf(session_id)) };
      const pending = prompts.filter(({ status }) => status === 'pending').length;
      return { prompts, settled: prompts.length - pending, pending };
    });
  }

  return {
    /** @throws HiveError `prompt_not_found`. */
    async get(ask_id: string): Promise<Prompt> {
      const [prompt] = await read([ask_id]);
      return prompt ?? Promise.reject(notFound(ask_id));
    },

    /** Waits until one of the prompts is settled or the time has run out; returns their current state. */
    wait: (ask_ids: readonly string[], options: WaitOptions): Promise<Prompt[]> =>
      readUntil(
        () => read(ask_ids),
        (prompts) => prompts.some(isUncollected) || prompts.every(({ status }) => status !== 'pending'),
        (prompts) => ({ prompts, subjects: ask_ids }),
        options,
      ),

    /** The same for all open prompts of a session. */
    waitForOpen: (session_id: string, options: WaitOptions): Promise<Open> =>
      readUntil(
        () => readOpen(session_id),
        ({ settled, pending }) => settled > 0 || pending === 0,
        // If there are more prompts than listed, the others may be answered too, so any event is a reason to read again.
        ({ prompts, pending }) => ({
          prompts,
          subjects: prompts.length === pending ? prompts.map(({ ask_id }) => ask_id) : undefined,
        }),
        options,
      ),
  };
}

// ---- Changes to a prompt ----
// Hooks, dialogs, turns and runs use these as well. Each runs inside the caller's transaction and appends its event.

/** Stores a new prompt and announces it. Only a client's own dialog blocks its agent from the start; a question never does. */
export async function insertPrompt(tx: WriteTx, prompt: Prompt, facts: object = {}): Promise<void> {
  const { agent, project, urgency, kind } = prompt;
  const created = promptEvent('prompt/created', prompt, { agent, project, urgency, kind, ...facts });
  await tx.prompts.insert(prompt);
  await tx.events.append(created);
  const { blocked_since: since } = prompt;
  if (since !== null) await blockUntilSettled(tx, prompt, { wait_id: DIALOG_WAIT, since });
}

/** The proof that an answer which may allow something counts. */
interface AnswerProof {
  /** The digest of the displayed text; null if nothing shows that it was displayed. */
  displayed_digest: string | null;
  /** The signature of the seat, for an answer that may allow something. */
  signature: string | null;
}

/**
 * Applies one answer to one prompt. The caller has checked that the prompt is current and the answerer is allowed.
 * The displayed text is known only for a person's answer.
 */
export async function recordAnswer(
  tx: WriteTx,
  prompt: Prompt,
  answer: PromptAnswer,
  { displayed_digest, signature }: AnswerProof = { displayed_digest: null, signature: null },
): Promise<{ outcome: AnswerOutcome; prompt: Prompt }> {
  const { ask_id } = prompt;
  const { prompt: settled, outcome } = respondPrompt(prompt, answer);
  if (outcome === 'accepted' && !(await settle(tx, settled)))
    throw new HiveError('internal', `The prompt ${ask_id} changed inside its own transaction.`);
  if (outcome === 'late') {
    await tx.prompts.update(settled);
    await owe(tx, settled);
  }
  await tx.prompts.addResponse({ ...answer, ask_id, outcome, signature });
  await tx.events.append(promptEvent(RESPONSE_EVENT[outcome], settled, answerData(answer, displayed_digest)));
  return { outcome, prompt: settled };
}

/** The data of the event about an answer. */
function answerData(
  { decision, by, via, attested, response_id }: PromptAnswer,
  displayed_digest: string | null,
): Record<string, unknown> {
  const displayed = displayed_digest === null ? {} : { displayed_digest };
  return { decision, by, via, attested, response_id, ...displayed };
}

const RESPONSE_EVENT: Readonly<Record<AnswerOutcome, EventType>> = {
  accepted: 'prompt/responded',
  late: 'prompt/late_response',
  lost: 'prompt/lost_response',
};

/** Cancels a pending prompt; a settled one stays as it is. */
export async function recordCancel(
  tx: WriteTx,
  prompt: Prompt,
  { by, via, reason }: { by: string; via: Via; reason: CancelReason },
): Promise<Prompt> {
  const cancelled = cancelPrompt(prompt, { by, via, reason }, tx.now);
  if (cancelled === prompt) return prompt;
  await settle(tx, cancelled);
  await tx.events.append(promptEvent('prompt/cancelled', cancelled, { cancel_reason: reason, by, via }));
  if (reason === 'withdrawn')
    await noticeOf(tx, [cancelled], {
      notice: 'withdrawn',
      one: (prompt) => `A question of ${labelled(prompt)} was withdrawn`,
      many: (count) => `${count} questions were withdrawn.`,
    });
  return cancelled;
}

/** For up to this many questions, the human gets a notice each; for more, one notice with their number. */
const MOST_NAMED = 3;

/** Notifies the human about questions that they were shown, with the sentence that `one` or `many` makes. */
async function noticeOf(
  tx: WriteTx,
  prompts: readonly Prompt[],
  say: { notice: string; one: (prompt: Prompt) => string; many: (count: number) => string },
): Promise<void> {
  const shown = prompts.filter(({ offered_at }) => offered_at !== null);
  const { notice } = say;
  if (shown.length > MOST_NAMED) {
    const text = say.many(shown.length);
    return giveNotice(tx, { severity: 'info', text, data: { notice } });
  }
  for (const prompt of shown) {
    const { session_id, ask_id } = prompt;
    const text = `${say.one(prompt)}: "${excerpt(prompt.question, 120)}"`;
    await giveNotice(tx, { severity: 'info', session_id, text, data: { notice, ask_id } });
  }
}

const minutesUntil = (at: string | null, now: string): number =>
  Math.max(1, Math.round((Date.parse(at ?? now) - Date.parse(now)) / 60_000));

/** Warns the human of prompts that have used up most of their time. */
async function recordWarnings(tx: WriteTx, batch: readonly Prompt[]): Promise<void> {
  const warned: Prompt[] = [];
  for (const prompt of batch) {
    if (!(await tx.prompts.warned(prompt.ask_id))) continue;
    warned.push(prompt);
    await tx.events.append(promptEvent('prompt/expiring', prompt, { expires_at: prompt.expires_at }));
  }
  await noticeOf(tx, warned, {
    notice: 'expiring',
    one: (prompt) =>
      `A question of ${labelled(prompt)} expires in ${minutesUntil(prompt.expires_at, tx.now)} min`,
    many: (count) => `${count} questions expire soon.`,
  });
}

async function recordExpiries(tx: WriteTx, batch: readonly Prompt[]): Promise<void> {
  for (const prompt of batch) {
    const expired = expirePrompt(prompt, tx.now);
    await settle(tx, expired);
    await tx.events.append(promptEvent('prompt/expired', expired));
  }
  await noticeOf(tx, batch, {
    notice: 'expired',
    one: (prompt) => `A question of ${labelled(prompt)} expired without an answer`,
    many: (count) => `${count} questions expired without an answer.`,
  });
}

/** Escalates prompts, inside a transaction that has found them due. */
async function recordEscalations(tx: WriteTx, batch: readonly Prompt[]): Promise<void> {
  for (const prompt of batch) {
    const escalated = escalatePrompt(prompt, tx.now);
    if (escalated !== prompt && (await tx.prompts.escalate(escalated)))
      await tx.events.append(promptEvent('prompt/escalated', escalated, { to: prompt.to }));
  }
}

/** Stores that a prompt has left `pending`, with what follows from that; false if another was first. */
async function settle(tx: WriteTx, settled: Prompt): Promise<boolean> {
  const { ask_id, claimed_by, blocked_since } = settled;
  const isFirst = await tx.prompts.settle(settled, tx.now);
  await owe(tx, settled);
  if (claimed_by !== null) await tx.claims.remove(ask_id);
  if (blocked_since !== null) await tx.waits.remove(ask_id);
  return isFirst;
}

/** Records that the outcome must be delivered to the asker. A late answer replaces an earlier outcome. */
async function owe(tx: WriteTx, prompt: Prompt): Promise<void> {
  if (isUncollected(prompt)) await tx.deliveries.put(deliveryOf(prompt));
}

/** @throws HiveError `prompt_not_found`. */
export async function findPrompt(tx: ReadTx, ask_id: string): Promise<Prompt> {
  const prompt = await tx.prompts.get(ask_id);
  if (prompt === undefined) throw notFound(ask_id);
  return prompt;
}

/** Expires a prompt whose time is up before anything else is done to it, in the same transaction. */
export async function findCurrent(tx: WriteTx, ask_id: string): Promise<Prompt> {
  const prompt = await findPrompt(tx, ask_id);
  if (!isExpired(prompt, tx.now)) return prompt;
  await recordExpiries(tx, [prompt]);
  return expirePrompt(prompt, tx.now);
}

function notFound(ask_id: string): HiveError {
  return new HiveError(
    'prompt_not_found',
    `There is no question ${ask_id === '' ? 'with an empty id' : ask_id}. Check the id; settled questions are removed after retention_days.`,
    { ask_id },
  );
}
