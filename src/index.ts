/**
 * The library: a program asks the human, and is called back with the answer (docs/library.md).
 *
 *     const hive = await openHive({ agent: 'deployer' });
 *     await hive.prompts.ask({ question: 'Deploy?', options: ['yes', 'no'] }, {
 *       onResponse: (prompt) => console.log(prompt.status, prompt.decision),
 *     });
 *
 * An open hive keeps its process alive; close it when done. Every refusal is a HiveError with a `code` and a sentence. Any
 * call may also throw `store_busy` (after `busy_ms`), `store_full` or `store_unavailable`; trying again later may help.
 */
import { hostname } from 'node:os';
import { beside } from './application/background.ts';
import type { ResponseCallback } from './application/callbacks.ts';
import { createDeliveryTracker, type Delivered } from './application/delivery.ts';
import type { Hive } from './application/hive.ts';
import { parentNamed, sessionsInEnvironment } from './application/identity.ts';
import type { InterruptRequest, StopRequest } from './application/interrupts.ts';
import type { Page, PromptFilter } from './application/ports.ts';
import type { Answered, Asked } from './application/prompts.ts';
import type { ProgramEnd } from './application/turns.ts';
import { type AgentActor, refuse } from './domain/actors.ts';
import { HiveError } from './domain/errors.ts';
import type { InterruptOutcome } from './domain/interrupts.ts';
import type { AnswerRequest, AskRequest, Prompt } from './domain/prompts.ts';
import { reportedId, type Session } from './domain/sessions.ts';
import { decideSource, sourceEvidence } from './domain/sources.ts';
import type { Turn } from './domain/turns.ts';
import { randomIds } from './infrastructure/platform/ids.ts';
import { findProject } from './infrastructure/platform/project.ts';
import { type OpenHiveOptions, openHive as openWhole } from './open-hive.ts';

export type { ResponseCallback } from './application/callbacks.ts';
export type { Delivered } from './application/delivery.ts';
export type { StopRequest } from './application/interrupts.ts';
export type { Page, PromptFilter } from './application/ports.ts';
export type { Answered, Asked } from './application/prompts.ts';
export type { ProgramEnd } from './application/turns.ts';
export type { Logger } from './application/world.ts';
export { type ErrorCode, HiveError } from './domain/errors.ts';
export type { InterruptOutcome } from './domain/interrupts.ts';
export type {
  AnswerRequest,
  AskedOption,
  AskRequest,
  Prompt,
  PromptAnswer,
  PromptNote,
  PromptOption,
} from './domain/prompts.ts';
export type { Session } from './domain/sessions.ts';
export type { AbortReason, Turn } from './domain/turns.ts';

/** The options of `openHive`; each may be left out. */
export interface OpenOptions extends OpenHiveOptions {
  /** The name of this program's session, the same at each start; default: the agent under which it runs, else a new session. */
  agent?: string | undefined;
}

/** An open hive. */
export interface HiveLibrary {
  /** The id of the store, which stays the same if the store is moved. */
  readonly store_id: string;
  /** The identity of this program, as the human and other agents see it. */
  readonly session: Session;
  /** Questions and their answers. */
  readonly prompts: LibraryPrompts;
  /** Turns of an agent that this program runs. */
  readonly turns: LibraryTurns;
  /** Ends every wait and closes the store; no callback is called after this. Pending questions stay pending. */
  close(): Promise<void>;
}

/** Questions and their answers. */
export interface LibraryPrompts {
  /**
   * Returns when the question is on disk, without waiting for the answer. For `onResponse` see the method of that name.
   * @throws HiveError `invalid_input` for a field beyond its bound (AskRequest), `human_not_found` for an unknown `to`,
   * `idempotency_conflict` if the key has another question, `turn_not_current` if its turn has ended.
   */
  ask(request: AskRequest, options?: { onResponse?: ResponseCallback | undefined }): Promise<Asked>;
  /**
   * Calls back once when the prompt is settled, or at once if it already is, even for a prompt from before a restart.
   * Resolves to a function that removes the callback. If the callback throws, the answer counts as not read, and the next
   * process that asks for it gets it again. @throws HiveError `prompt_not_found`.
   */
  onResponse(ask_id: string, callback: ResponseCallback): Promise<() => void>;
  /** The current state of the prompt; this is not a handover. @throws HiveError `prompt_not_found`. */
  get(ask_id: string): Promise<Prompt>;
  /**
   * The current states of prompts, after waiting at most `wait_ms` milliseconds (default 0, at most 2,147,483,647, 24
   * days) for one to settle; `signal` ends the wait. Settled ones count as handed over. @throws HiveError `prompt_not_found`.
   */
  poll(
    ask_ids: readonly string[],
    options?: { wait_ms?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<Delivered[]>;
  /**
   * A page of anybody's prompts, 100 unless `limit` gives another number. @throws HiveError `invalid_input` for a cursor of
   * another list.
   */
  list(filter?: Partial<PromptFilter>): Promise<Page<Prompt>>;
  /**
   * Answers another session's question, as an agent. Only a human can answer a permission.
   * @throws HiveError `prompt_not_found`; `invalid_answer`, which names the options; `not_allowed` for a question of this
   * session or of one that it descends from, and for a permission.
   */
  respond(ask_id: string, answer: AnswerRequest): Promise<Answered>;
  /**
   * Cancels a question of this session; `accepted` is false if it was settled before.
   * @throws HiveError `prompt_not_found`, `not_allowed` for another session's question.
   */
  cancel(ask_id: string): Promise<{ accepted: boolean; prompt: Prompt }>;
}

/** For a program that runs its own agent: it reports when a turn begins and ends, and is called when it should stop one. */
export interface LibraryTurns {
  /** Begins a turn; a running one is replaced, unless it has the same `client_turn_id`. */
  start(turn?: { client_turn_id?: string | undefined }): Promise<Turn>;
  /**
   * Ends a turn as completed, unless `aborted` gives a reason. A turn that has already ended does not change. @throws HiveError
   * `turn_not_found`, `not_allowed` for a turn of another session.
   */
  end(turn_id: string, end?: ProgramEnd): Promise<Turn>;
  /** The running turn of this program, or undefined. */
  current(): Promise<Turn | undefined>;
  /**
   * Calls back once when somebody wants the turn stopped: stop it, then call `end` with `aborted: 'interrupted'`.
   * Returns a function that removes the callback.
   */
  onInterrupt(turn_id: string, callback: (request: StopRequest) => void | Promise<void>): () => void;
  /**
   * Stops another session (handle or id), as an agent; resolves when its turn is over, or `unconfirmed` after `timeout_ms`.
   * @throws HiveError `session_not_found`, `no_turn` if none is running, `turn_not_current`, `not_allowed`, `invalid_input`.
   */
  interrupt(session: string, request?: LibraryInterrupt): Promise<InterruptOutcome>;
}

/**
 * Which turn to stop and how long to wait for its end: `timeout_ms` milliseconds, 0 to 86,400,000 (24 hours), default ten
 * minutes. `note` says why, in at most 2,000 characters. A request repeated under its `interrupt_id` is the same request.
 */
export type LibraryInterrupt = Pick<
  InterruptRequest,
  'turn_id' | 'note' | 'timeout_ms' | 'interrupt_id' | 'signal'
>;

/**
 * Opens the store and introduces this program as a session.
 * @throws HiveError with a sentence that says what to do: `store_unsafe`, `store_foreign`, `store_too_new`,
 * `store_unavailable`, `sqlite_too_old`; `invalid_input` for a name that is reserved for the human.
 */
export async function openHive({ agent, ...options }: OpenOptions = {}): Promise<HiveLibrary> {
  const hive = await openWhole(options);
  try {
    hive.startExpiry();
    const session = await ownSession(hive, agent, options.env ?? process.env);
    return {
      store_id: hive.store_id,
      session,
      prompts: promptsOf(hive, session),
      turns: turnsOf(hive, session),
      close: () => hive.close(),
    };
  } catch (error) {
    await hive.close();
    throw error;
  }
}

async function ownSession(
  hive: Hive,
  agent: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Session> {
  const [named] = sessionsInEnvironment(env);
  const claimed = agent === undefined ? named?.session_id : reportedId(agent);
  if (claimed !== undefined)
    refuse(await hive.sessions.refusalToSpeak(claimed, { machine: hostname(), pid: process.pid }));
  if (agent === undefined && named !== undefined) {
    const known = await hive.sessions.find(named.session_id);
    if (known !== undefined && known.state !== 'ended') return known;
  }
  const own = agent ?? (named === undefined ? randomIds.make('connection') : undefined);
  const introduction = {
    ...findProject(process.cwd()),
    session_id: own ?? named?.session_id ?? '',
    client: own === undefined ? (named?.client ?? '') : 'library',
    name: agent ?? named?.name,
    source: decideSource(sourceEvidence(env)),
    machine: hostname(),
    // The pid is recorded only for a session of this program's own; otherwise the program belongs to the agent's session.
    pid: own === undefined ? null : process.pid,
    parent_session_id: parentNamed(env) ?? (own === undefined ? null : (named?.session_id ?? null)),
  };
  return hive.sessions.introduce(introduction, process.pid);
}

function promptsOf(hive: Hive, session: Session): LibraryPrompts {
  const tracker = createDeliveryTracker(hive.delivery, randomIds.make('library'));
  const actor = (): Promise<AgentActor> => hive.sessions.actor(session, 'library');

  const prompts: LibraryPrompts = {
    async ask(request, { onResponse } = {}) {
      const asked = await hive.prompts.ask(request, session);
      if (onResponse !== undefined) await prompts.onResponse(asked.prompt.ask_id, onResponse);
      return asked;
    },
    onResponse: (ask_id, callback) => hive.callbacks.onResponse(ask_id, callback, session.session_id),
    get: (ask_id) => hive.prompts.get(ask_id),
    async poll(ask_ids, { wait_ms = 0, signal } = {}) {
      const delivery = tracker.begin();
      await delivery.prove();
      await hive.prompts.wait(ask_ids, { wait_ms, signal, waiter: session.session_id });
      const delivered = await delivery.hand(ask_ids, session.session_id);
      delivery.returned();
      return delivered;
    },
    list: ({ limit = 100, ...filter } = {}) => hive.prompts.list({ ...filter, limit }),
    respond: async (ask_id, answer) =>
      hive.prompts.respond({ ...answer, ask_id, actor: await coordinator(hive, session) }),
    cancel: async (ask_id) => hive.prompts.cancel(ask_id, await actor(), 'withdrawn'),
  };
  return prompts;
}

/** The session as a coordinator, which its human lets answer and interrupt. Asks the human if that has not been done. */
function coordinator(hive: Hive, session: Session): Promise<AgentActor> {
  return hive.coordinators.admit(session, 'library', { wait_ms: 0 });
}

function turnsOf(hive: Hive, session: Session): LibraryTurns {
  const { session_id } = session;

  /** @throws HiveError `not_allowed` for a turn of another session, `turn_not_found`. */
  async function requireOwn(turn_id: string): Promise<void> {
    const turn = await hive.turns.get(turn_id);
    if (turn.session_id !== session_id)
      throw new HiveError('not_allowed', `The turn ${turn_id} is one of another session. Nothing was done.`, {
        turn_id,
      });
  }

  return {
    start: ({ client_turn_id } = {}) => hive.turns.start({ session_id, client_turn_id, by: session.handle }),
    async end(turn_id, end) {
      await requireOwn(turn_id);
      return hive.turns.end(turn_id, end);
    },
    current: () => hive.turns.current(session_id),
    onInterrupt(turn_id, callback) {
      const stop = new AbortController();
      const watch = async (): Promise<void> => {
        await requireOwn(turn_id);
        const request = await hive.interrupts.untilInterrupted(turn_id, stop.signal);
        if (request !== null) await callback(request);
      };
      void beside(hive.log, 'The program could not be asked to stop its turn.', watch, { turn_id }, 'error');
      return () => stop.abort();
    },
    interrupt: async (other, request = {}) =>
      hive.interrupts.interrupt({
        ...request,
        session: other,
        actor: await coordinator(hive, session),
      }),
  };
}
