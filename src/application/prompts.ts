/**
 * Prompts: asking, answering, and what lies between. Each method is one transaction around a
 * pure transition of domain/prompts.ts; nothing is returned before it is on disk (invariant 1).
 */
import { type Actor, refusalToCancel, refuse } from '../domain/actors.ts';
import type { EventType } from '../domain/events.ts';
import { concerns, namesOf } from '../domain/humans.ts';
import type { AnswerRequest } from '../domain/prompt-answers.ts';
import { type AskRequest, createPrompt } from '../domain/prompt-asking.ts';
import type { AnswerOutcome, CancelReason, Prompt } from '../domain/prompts.ts';
import type { Session } from '../domain/sessions.ts';
import { FALLS, type Turn } from '../domain/turns.ts';
import type { Feed } from './feed.ts';
import { findAddress } from './humans.ts';
import type { Ids, Page, PromptFilter, ReadTx, Store, WriteTx } from './ports.ts';
import { createAnswering } from './prompt-answering.ts';
import { createLooking } from './prompt-looking.ts';
import {
  appendPrompt,
  findCurrent,
  insertPrompt,
  recordCancel,
  recordEscalation,
  recordExpiry,
} from './prompt-records.ts';
import { conflict, tooLate } from './prompt-refusals.ts';
import { authorNamed } from './session-records.ts';

/** A question that is on disk. */
export interface Asked {
  /** The prompt as it stands. */
  prompt: Prompt;
  /** The same idempotency key had asked before: this is that prompt, whatever its state. */
  existing: boolean;
  /** Open desks of the humans whom it concerns. */
  desks_online: number;
}

/** What became of an answer; `prompt` is the prompt as it now stands, with the winner's answer. */
export interface Answered {
  /** `accepted`: it settled the prompt. `late`: kept beside one that had no answer. `lost`: another answer stands. */
  outcome: AnswerOutcome;
  /** With the answer that stands. */
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

/** What a session has open: what has settled and was not collected first, then what is pending, oldest first. */
export interface Open {
  /** At most OPEN_LIMIT of them. */
  prompts: Prompt[];
  /** How many have settled and how many are pending, in all. */
  settled: number;
  pending: number;
}

/** How long a wait lasts at most, and what ends it sooner. */
export interface WaitOptions {
  wait_ms: number;
  signal?: AbortSignal | undefined;
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
  wait(ask_ids: readonly string[], options: WaitOptions): Promise<Prompt[]>;
  /** The same for whatever a session has open, however much that is. */
  waitForOpen(session_id: string, options: WaitOptions): Promise<Open>;
}

const DUE_BATCH = 200;

export function createPrompts(store: Store, feed: Feed, ids: Ids): PromptService {
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
        const [turn, desks, address] = await Promise.all([
          turnOfAsk(tx, session_id, turn_id),
          tx.desks.online(tx.now),
          findAddress(tx, request),
        ]);
        const prompt = createPrompt(
          request,
          { session_id, agent, source, project, project_dir, turn_id: turn?.turn_id ?? null },
          ids.make('ask'),
          tx.now,
          address,
        );
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

    ...createLooking(store, feed, settleDue),

    async list(filter) {
      await settleDue();
      return store.read(async (tx) => {
        const { agent } = filter;
        return tx.prompts.list(
          agent === undefined ? filter : { ...filter, agent: await authorNamed(tx, agent) },
        );
      });
    },

    ...createAnswering(store, ids),

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
