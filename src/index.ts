/**
 * The library: a program asks the human, and is told when the answer comes (docs/library.md).
 *
 *     const hive = await openHive({ agent: 'deployer' });
 *     await hive.prompts.ask({ question: 'Deploy?', options: ['yes', 'no'] }, {
 *       onResponse: (prompt) => console.log(prompt.status, prompt.decision),
 *     });
 *
 * A hive that is open keeps its process alive; close it when done. What is refused is a HiveError with a `code` and a
 * sentence; any call may also meet `store_busy` (after `busy_ms`), `store_full` or `store_unavailable`: later may help.
 */
import { hostname } from 'node:os';
import type { ResponseCallback } from './application/callbacks.ts';
import { createDeliveryTracker, type Delivered } from './application/delivery.ts';
import type { Hive } from './application/hive.ts';
import { sessionsInEnvironment } from './application/identity.ts';
import type { InterruptRequest } from './application/interrupts.ts';
import type { Page, PromptFilter } from './application/ports.ts';
import type { Answered, Asked } from './application/prompts.ts';
import type { ProgramEnd, StopOrder } from './application/turns.ts';
import { type AgentActor, refuse } from './domain/actors.ts';
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
export type { Logger, Page, PromptFilter } from './application/ports.ts';
export type { Answered, Asked } from './application/prompts.ts';
export type { ProgramEnd, StopOrder } from './application/turns.ts';
export { type ErrorCode, HiveError } from './domain/errors.ts';
export type { InterruptOutcome } from './domain/interrupts.ts';
export type {
  AnswerRequest,
  AskRequest,
  Prompt,
  PromptAnswer,
  PromptNote,
  PromptOption,
} from './domain/prompts.ts';
export type { Session } from './domain/sessions.ts';
export type { AbortReason, Turn } from './domain/turns.ts';

/** What `openHive` takes; all of it may be left out. */
export interface OpenOptions extends OpenHiveOptions {
  /** The name of this program's session, the same at each start; default: the agent it runs under, else a new one. */
  agent?: string | undefined;
}

/** An open hive. */
export interface HiveLibrary {
  /** Of the store itself, wherever it lies. */
  readonly store_id: string;
  /** Who this program is to the human and to other agents. */
  readonly session: Session;
  /** Questions and their answers. */
  readonly prompts: LibraryPrompts;
  /** Turns of an agent that this program runs. */
  readonly turns: LibraryTurns;
  /** Ends every wait, puts the store away; no callback is called after this. What waits for an answer goes on waiting. */
  close(): Promise<void>;
}

/** Questions and their answers. */
export interface LibraryPrompts {
  /**
   * Returns when the question is on disk, and waits for nobody. `onResponse`: see there.
   * @throws HiveError `invalid_input` for a field beyond its bound (AskRequest), `human_not_found` for an unknown `to`,
   * `idempotency_conflict` for another question under that key, `turn_not_current` when its turn was stopped.
   */
  ask(request: AskRequest, options?: { onResponse?: ResponseCallback | undefined }): Promise<Asked>;
  /**
   * Calls back once when the prompt is settled (at once when it is): also for one that was asked before a restart.
   * Resolves to a function that takes the registration back. A callback that throws has not read the answer: the next
   * process that asks for it is told again. @throws HiveError `prompt_not_found`.
   */
  onResponse(ask_id: string, callback: ResponseCallback): Promise<() => void>;
  /** The prompt as it stands; hands nothing over. @throws HiveError `prompt_not_found`. */
  get(ask_id: string): Promise<Prompt>;
  /**
   * Where prompts stand, waiting at most `wait_ms` milliseconds (default 0, at most 2,147,483,647, 24 days) for one of
   * them to settle; `signal` ends the waiting. What has settled counts as handed over. @throws HiveError `prompt_not_found`.
   */
  poll(
    ask_ids: readonly string[],
    options?: { wait_ms?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<Delivered[]>;
  /** A page of anybody's prompts, 100 unless `limit` says otherwise. @throws HiveError `invalid_input` for a foreign cursor. */
  list(filter?: Partial<PromptFilter>): Promise<Page<Prompt>>;
  /**
   * Answers another session's question, as an agent. Permissions are for the human.
   * @throws HiveError `prompt_not_found`; `invalid_answer` that names what was offered; `not_allowed` for an own question,
   * one of a session that this one descends from, and a permission.
   */
  respond(ask_id: string, answer: AnswerRequest): Promise<Answered>;
  /**
   * Takes an own question back; not `accepted` when it was settled before.
   * @throws HiveError `prompt_not_found`, `not_allowed` for another session's.
   */
  cancel(ask_id: string): Promise<{ accepted: boolean; prompt: Prompt }>;
}

/** For a program that runs an agent of its own: it tells when a turn begins and ends, and hears when to stop it. */
export interface LibraryTurns {
  /** Begins a turn; one that still runs is replaced, unless it has the same `client_turn_id`. */
  start(turn?: { client_turn_id?: string | undefined }): Promise<Turn>;
  /** Completed, unless `aborted` says why not. A turn that has ended stays as it is. @throws HiveError `turn_not_found`. */
  end(turn_id: string, end?: ProgramEnd): Promise<Turn>;
  /** The turn of this program that runs; undefined where none does. */
  current(): Promise<Turn | undefined>;
  /**
   * Calls back once when somebody wants the turn stopped: stop it, then call `end` with `aborted: 'interrupted'`.
   * Returns how to stop listening.
   */
  onInterrupt(turn_id: string, callback: (order: StopOrder) => void | Promise<void>): () => void;
  /**
   * Stops another session (handle or id), as an agent; resolves when its turn is over, or `unconfirmed` after `timeout_ms`.
   * @throws HiveError `session_not_found`, `no_turn` when it runs none, `turn_not_current`, `not_allowed`, `invalid_input`.
   */
  interrupt(session: string, request?: LibraryInterrupt): Promise<InterruptOutcome>;
}

/**
 * Which turn to stop and how long to wait for its end: `timeout_ms` milliseconds, 0 to 86,400,000 (24 hours), default ten
 * minutes. `note` says why, in at most 2,000 characters. Asked again under its `interrupt_id` it is the same request.
 */
export type LibraryInterrupt = Pick<
  InterruptRequest,
  'turn_id' | 'note' | 'timeout_ms' | 'interrupt_id' | 'signal'
>;

/**
 * Opens the store and introduces this program as a session.
 * @throws HiveError with a sentence that says what to do: `store_unsafe`, `store_foreign`, `store_too_new`,
 * `store_unavailable`, `sqlite_too_old`; `invalid_input` for a name that is the human's.
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
  const [told] = sessionsInEnvironment(env);
  const claimed = agent === undefined ? told?.session_id : reportedId(agent);
  if (claimed !== undefined)
    refuse(await hive.sessions.refusalToSpeak(claimed, { machine: hostname(), pid: process.pid }));
  if (agent === undefined && told !== undefined) {
    const known = await hive.sessions.get(told.session_id);
    if (known !== undefined && known.state !== 'ended') return known;
  }
  const own = agent ?? (told === undefined ? randomIds.make('connection') : undefined);
  const introduction = {
    ...findProject(process.cwd()),
    session_id: own ?? told?.session_id ?? '',
    client: own === undefined ? (told?.client ?? '') : 'library',
    name: agent ?? told?.name,
    source: decideSource(sourceEvidence(env)),
    machine: hostname(),
    // This process is the program's own session; of the agent that it runs under it is only a part.
    pid: own === undefined ? null : process.pid,
    parent_session_id: env['HIVE_PARENT'] ?? (own === undefined ? null : (told?.session_id ?? null)),
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
    onResponse: (ask_id, callback) => hive.callbacks.onResponse(ask_id, callback),
    get: (ask_id) => hive.prompts.get(ask_id),
    async poll(ask_ids, { wait_ms = 0, signal } = {}) {
      const delivery = tracker.begin();
      await delivery.prove();
      await hive.prompts.wait(ask_ids, { wait_ms, signal });
      const delivered = await delivery.hand(ask_ids);
      delivery.returned();
      return delivered;
    },
    list: ({ limit = 100, ...filter } = {}) => hive.prompts.list({ ...filter, limit }),
    respond: async (ask_id, answer) => hive.prompts.respond({ ...answer, ask_id, actor: await actor() }),
    cancel: async (ask_id) => hive.prompts.cancel(ask_id, await actor(), 'withdrawn'),
  };
  return prompts;
}

function turnsOf(hive: Hive, session: Session): LibraryTurns {
  const { session_id } = session;
  return {
    start: ({ client_turn_id } = {}) => hive.turns.start({ session_id, client_turn_id, by: session.handle }),
    end: (turn_id, end) => hive.turns.end(turn_id, end),
    current: () => hive.turns.current(session_id),
    onInterrupt(turn_id, callback) {
      const stop = new AbortController();
      const watch = async (): Promise<void> => {
        const order = await hive.interrupts.untilInterrupted(turn_id, stop.signal);
        if (order !== null) await callback(order);
      };
      watch().catch((error: unknown) =>
        hive.log.error('An interrupt could not be told.', { turn_id, error: String(error) }),
      );
      return () => stop.abort();
    },
    interrupt: async (other, request = {}) =>
      hive.interrupts.interrupt({
        ...request,
        session: other,
        actor: await hive.sessions.actor(session, 'library'),
      }),
  };
}
