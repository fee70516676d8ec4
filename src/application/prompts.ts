/**
 * Prompts: asking, answering, and what lies between (ADR-003). Each method is one transaction around a
 * pure transition of domain/prompts.ts; nothing is returned before it is on disk (invariant 1).
 */
import { type Actor, refusalToAnswer, refusalToCancel } from '../domain/actors.ts';
import { HiveError, invalidInput } from '../domain/errors.ts';
import type { EventType } from '../domain/events.ts';
import { concerns, isEscalationDue, namesOf } from '../domain/humans.ts';
import { type AnswerRequest, resolveAnswer } from '../domain/prompt-answers.ts';
import { type AskRequest, createPrompt } from '../domain/prompt-asking.ts';
import {
  type AnswerOutcome,
  amendPrompt,
  type CancelReason,
  isExpired,
  isUncollected,
  type Prompt,
} from '../domain/prompts.ts';
import type { Session } from '../domain/sessions.ts';
import { FALLS, type Turn } from '../domain/turns.ts';
import type { Feed } from './feed.ts';
import { findAddress } from './humans.ts';
import type { Ids, Page, PromptFilter, ReadTx, Store, StoredResponse, WriteTx } from './ports.ts';
import {
  appendPrompt,
  insertPrompt,
  recordAnswer,
  recordCancel,
  recordEscalation,
  recordExpiry,
} from './prompt-records.ts';

export interface Asked {
  prompt: Prompt;
  /** The same idempotency key had asked before: this is that prompt, whatever its state. */
  existing: boolean;
  /** Open desks of the humans whom it concerns. */
  desks_online: number;
}

/** What became of an answer; `prompt` is the prompt as it now stands, with the winner's answer. */
export interface Answered {
  outcome: AnswerOutcome;
  prompt: Prompt;
}

export interface AnswerCommand extends AnswerRequest {
  ask_id: string;
  actor: Actor;
  /** Sent twice, it is one answer. Made here when missing. */
  response_id?: string | null | undefined;
  /** The store this answer was written for; another store refuses it. */
  store_id?: string | null | undefined;
}

export interface PromptService {
  /**
   * In `turn_id`, else in the turn that the session runs at that moment.
   * @throws HiveError `invalid_input`, `human_not_found`, `idempotency_conflict`, `turn_not_current` when that turn's end has cancelled what was asked in it.
   */
  ask(request: AskRequest, session: Session, turn_id?: string | null): Promise<Asked>;
  /** @throws HiveError `prompt_not_found`. */
  get(ask_id: string): Promise<Prompt>;
  list(filter: PromptFilter): Promise<Page<Prompt>>;
  /** What a session has open: pending, and settled but not collected. */
  openOf(session_id: string): Promise<Prompt[]>;
  /** @throws HiveError `prompt_not_found`, `invalid_answer`, `not_allowed`, `wrong_store`. */
  respond(command: AnswerCommand): Promise<Answered>;
  /** @throws HiveError `prompt_not_amendable`, `prompt_not_found`, `invalid_answer`, `not_allowed`. */
  amend(command: AnswerCommand): Promise<Prompt>;
  /** @throws HiveError `prompt_not_found`, `not_allowed`. */
  cancel(ask_id: string, actor: Actor, reason: CancelReason): Promise<{ accepted: boolean; prompt: Prompt }>;
  /** Expires what is due; every live process does, the compare-and-set lets one win. Returns how many it expired. */
  expireDue(): Promise<number>;
  /** The same for what everybody is to be asked now. */
  escalateDue(): Promise<number>;
  mark(ask_id: string, receipt: 'offered' | 'seen'): Promise<Prompt>;
  snooze(ask_id: string, until: string | null): Promise<Prompt>;
  /** Waits until one of the prompts settles; returns them as they stand then, or when the time is up. */
  wait(
    ask_ids: readonly string[],
    options: { wait_ms: number; signal?: AbortSignal | undefined },
  ): Promise<Prompt[]>;
}

const DUE_BATCH = 200;
const OPEN_LIMIT = 200;

export function createPrompts(store: Store, feed: Feed, ids: Ids): PromptService {
  async function find(tx: ReadTx, ask_id: string): Promise<Prompt> {
    const prompt = await tx.prompts.get(ask_id);
    if (prompt === undefined) throw notFound(ask_id);
    return prompt;
  }

  /** A prompt whose time has run out is expired before anything else is done to it, in the same transaction. */
  async function findCurrent(tx: WriteTx, ask_id: string): Promise<Prompt> {
    const prompt = await find(tx, ask_id);
    return isExpired(prompt, tx.now) ? recordExpiry(tx, prompt) : prompt;
  }

  /** What was written for another store would meet another prompt here, or none. */
  function refuseForeign({ store_id }: AnswerCommand): void {
    if (store_id === undefined || store_id === null || store_id === store.store_id) return;
    throw wrongStore(store_id, store.store_id);
  }

  async function change(
    ask_id: string,
    type: EventType,
    transition: (prompt: Prompt, now: string) => Prompt,
  ): Promise<Prompt> {
    return store.write(async (tx) => {
      const prompt = await findCurrent(tx, ask_id);
      const changed = transition(prompt, tx.now);
      if (changed === prompt) return prompt;
      await tx.prompts.update(changed);
      await appendPrompt(tx, type, changed, {});
      return changed;
    });
  }

  async function read(ask_ids: readonly string[]): Promise<Prompt[]> {
    const { prompts, now } = await store.read(async (tx) => ({
      now: tx.now,
      prompts: await Promise.all(ask_ids.map((ask_id) => find(tx, ask_id))),
    }));
    const due = (prompt: Prompt): boolean => isExpired(prompt, now) || isEscalationDue(prompt, now);
    if (!prompts.some(due)) return prompts;
    await settleDue();
    return store.read((tx) => Promise.all(ask_ids.map((ask_id) => find(tx, ask_id))));
  }

  /** What is due is written down before anybody reads it. */
  async function settleDue(): Promise<void> {
    await service.expireDue();
    await service.escalateDue();
  }

  /** One batch a transaction: others get their turn in between. */
  async function writeDue(
    due: (tx: ReadTx, limit: number) => Promise<Prompt[]>,
    record: (tx: WriteTx, prompt: Prompt) => Promise<Prompt>,
  ): Promise<number> {
    let written = 0;
    while ((await store.read((tx) => due(tx, 1))).length > 0) {
      const count = await store.write(async (tx) => {
        const batch = await due(tx, DUE_BATCH);
        for (const prompt of batch) await record(tx, prompt);
        return batch.length;
      });
      // Somebody else was first, or the clock was set back in between.
      if (count === 0) break;
      written += count;
    }
    return written;
  }

  const service: PromptService = {
    ask: (request, session, turn_id) =>
      store.write(async (tx) => {
        const { session_id, handle: agent, source, project, project_dir } = session;
        const turn = await turnOfAsk(tx, session_id, turn_id);
        const prompt = createPrompt(
          request,
          { session_id, agent, source, project, project_dir, turn_id: turn?.turn_id ?? null },
          ids.make('ask'),
          tx.now,
          await findAddress(tx, request),
        );
        const desks = await tx.desks.online(tx.now);
        const desks_online = desks.filter((desk) => concerns(prompt, namesOf(desk), tx.now)).length;
        const key = prompt.idempotency_key;
        const before = key === null ? undefined : await tx.prompts.byKey(session_id, key);
        if (before !== undefined) {
          if (before.fingerprint !== prompt.fingerprint) throw conflict(before);
          return { prompt: await findCurrent(tx, before.ask_id), existing: true, desks_online };
        }
        // What would have fallen with its turn had it been asked a moment sooner is not asked at all.
        if (turn?.abort_reason != null && FALLS[turn.abort_reason](prompt)) throw tooLate(turn);
        await insertPrompt(tx, prompt);
        return { prompt, existing: false, desks_online };
      }),

    async get(ask_id) {
      const [prompt] = await read([ask_id]);
      return prompt ?? Promise.reject(notFound(ask_id));
    },

    async list(filter) {
      await settleDue();
      return store.read((tx) => tx.prompts.list(filter));
    },

    async openOf(session_id) {
      await service.expireDue();
      return store.read((tx) => tx.prompts.openOf(session_id, OPEN_LIMIT));
    },

    respond: (command) =>
      store.write(async (tx) => {
        const { ask_id, actor } = command;
        refuseForeign(command);
        const response_id = command.response_id ?? ids.make('response');
        const known = await tx.prompts.response(response_id);
        if (known !== undefined) {
          if (known.ask_id !== ask_id) throw usedBefore(known);
          const prompt = await find(tx, ask_id);
          return { outcome: known.outcome === 'amendment' ? 'accepted' : known.outcome, prompt };
        }
        const prompt = await findCurrent(tx, ask_id);
        refuse(refusalToAnswer(actor, prompt));
        const answer = resolveAnswer(prompt, command, {
          by: actor.by,
          via: actor.via,
          response_id,
          responded_at: tx.now,
        });
        return recordAnswer(tx, prompt, answer);
      }),

    amend: (command) =>
      store.write(async (tx) => {
        const { ask_id, actor } = command;
        refuseForeign(command);
        const response_id = command.response_id ?? ids.make('response');
        const prompt = await findCurrent(tx, ask_id);
        const known = await tx.prompts.response(response_id);
        if (known !== undefined) {
          if (known.ask_id !== ask_id || known.outcome !== 'amendment') throw usedBefore(known);
          return prompt;
        }
        refuse(refusalToAnswer(actor, prompt));
        const answer = resolveAnswer(prompt, command, {
          by: actor.by,
          via: actor.via,
          response_id,
          responded_at: tx.now,
        });
        const amended = amendPrompt(prompt, answer);
        await tx.prompts.update(amended);
        await tx.prompts.addResponse({ ...answer, ask_id, outcome: 'amendment' });
        const before = prompt.decision ?? prompt.late_response?.decision ?? null;
        await appendPrompt(tx, 'prompt/amended', amended, {
          decision: answer.decision,
          before,
          by: answer.by,
          via: answer.via,
          response_id,
        });
        return amended;
      }),

    cancel: (ask_id, actor, reason) =>
      store.write(async (tx) => {
        const prompt = await findCurrent(tx, ask_id);
        refuse(refusalToCancel(actor, prompt));
        const cancelled = await recordCancel(tx, prompt, { by: actor.by, via: actor.via, reason });
        return { accepted: cancelled !== prompt, prompt: cancelled };
      }),

    expireDue: () => writeDue((tx, limit) => tx.prompts.due(tx.now, limit), recordExpiry),
    escalateDue: () => writeDue((tx, limit) => tx.prompts.toEscalate(tx.now, limit), recordEscalation),

    mark: (ask_id, receipt) =>
      change(ask_id, receipt === 'offered' ? 'prompt/offered' : 'prompt/seen', (prompt, now) => {
        const field = receipt === 'offered' ? 'offered_at' : 'seen_at';
        return prompt[field] === null ? { ...prompt, [field]: now } : prompt;
      }),

    snooze: (ask_id, until) =>
      change(ask_id, 'prompt/snoozed', (prompt) => ({ ...prompt, snoozed_until: until })),

    async wait(ask_ids, options) {
      const settled = await feed.until(
        async () => {
          const prompts = await read(ask_ids);
          const done = prompts.some(isUncollected) || prompts.every((prompt) => prompt.status !== 'pending');
          return done ? prompts : undefined;
        },
        { ...options, subjects: ask_ids },
      );
      return settled ?? read(ask_ids);
    },
  };
  return service;
}

async function turnOfAsk(
  tx: ReadTx,
  session_id: string,
  turn_id: string | null | undefined,
): Promise<Turn | undefined> {
  if (turn_id === null) return undefined;
  return turn_id === undefined ? tx.turns.current(session_id) : tx.turns.get(turn_id);
}

function tooLate({ turn_id, abort_reason }: Turn): HiveError {
  return new HiveError(
    'turn_not_current',
    `The turn ${turn_id} is over (${abort_reason}): what belongs to it is asked no more. Nothing was asked.`,
    { turn_id },
  );
}

function refuse(refusal: string | null): void {
  if (refusal !== null) throw new HiveError('not_allowed', refusal);
}

function notFound(ask_id: string): HiveError {
  return new HiveError(
    'prompt_not_found',
    `There is no prompt ${ask_id}: check the id; settled prompts are kept until retention removes them.`,
    { ask_id },
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

function wrongStore(given: string, own: string): HiveError {
  return new HiveError(
    'wrong_store',
    `The answer was written for the store ${given}; this is ${own}. It was not taken here.`,
    { given, own },
  );
}
