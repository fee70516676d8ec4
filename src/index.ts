/**
 * The library: a program asks the human, and is told when the answer comes.
 *
 *     const hive = await openHive({ agent: 'deployer' });
 *     await hive.prompts.ask({ question: 'Deploy?', options: ['yes', 'no'] }, {
 *       onResponse: (prompt) => console.log(prompt.status, prompt.decision),
 *     });
 *
 * A hive that is open keeps its process alive; close it when done.
 */
import { hostname } from 'node:os';
import type { ResponseCallback } from './application/callbacks.ts';
import { createCourier } from './application/courier.ts';
import type { Delivered } from './application/delivery.ts';
import type { Hive } from './application/hive.ts';
import { sessionsTold } from './application/identity.ts';
import type { InterruptRequest } from './application/interrupt-requests.ts';
import type { Page, PromptFilter } from './application/ports.ts';
import type { Answered, Asked } from './application/prompts.ts';
import type { StopOrder } from './application/turn-records.ts';
import type { ProgramEnd } from './application/turns.ts';
import type { AgentActor } from './domain/actors.ts';
import type { InterruptOutcome } from './domain/interrupts.ts';
import type { AnswerRequest } from './domain/prompt-answers.ts';
import type { AskRequest } from './domain/prompt-asking.ts';
import type { Prompt } from './domain/prompts.ts';
import type { Session } from './domain/sessions.ts';
import { decideSource, sourceEvidence } from './domain/sources.ts';
import type { Turn } from './domain/turns.ts';
import { randomIds } from './infrastructure/platform/ids.ts';
import { findPlace } from './infrastructure/platform/project.ts';
import { type OpenHiveOptions, openHive as openWhole } from './open-hive.ts';

export type { ResponseCallback } from './application/callbacks.ts';
export type { Delivered } from './application/delivery.ts';
export type { Logger, Page, PromptFilter } from './application/ports.ts';
export type { Answered, Asked } from './application/prompts.ts';
export type { StopOrder } from './application/turn-records.ts';
export type { ProgramEnd } from './application/turns.ts';
export { type ErrorCode, HiveError } from './domain/errors.ts';
export type { InterruptOutcome } from './domain/interrupts.ts';
export type { AnswerRequest } from './domain/prompt-answers.ts';
export type { AskRequest } from './domain/prompt-asking.ts';
export type { Prompt, PromptAnswer, PromptOption } from './domain/prompts.ts';
export type { Session } from './domain/sessions.ts';
export type { AbortReason, Turn } from './domain/turns.ts';

export interface OpenOptions extends OpenHiveOptions {
  /** The name of this program's session, the same at each start; default: the agent it runs under, else a new one. */
  agent?: string | undefined;
}

export interface HiveLibrary {
  readonly store_id: string;
  /** Who this program is to the human and to other agents. */
  readonly session: Session;
  readonly prompts: LibraryPrompts;
  readonly turns: LibraryTurns;
  close(): Promise<void>;
}

export interface LibraryPrompts {
  /** Returns when the question is on disk, and waits for nobody. `onResponse`: see there. */
  ask(request: AskRequest, options?: { onResponse?: ResponseCallback | undefined }): Promise<Asked>;
  /** Calls back once when the prompt is settled (at once when it is): also for one that was asked before a restart. */
  onResponse(ask_id: string, callback: ResponseCallback): Promise<() => void>;
  get(ask_id: string): Promise<Prompt>;
  /** Where prompts stand, waiting at most `wait_ms` for one of them to settle; what has settled counts as handed over. */
  poll(
    ask_ids: readonly string[],
    options?: { wait_ms?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<Delivered[]>;
  list(filter?: Partial<PromptFilter>): Promise<Page<Prompt>>;
  /** Answers another session's question, as an agent. Permissions are for the human. */
  respond(ask_id: string, answer: AnswerRequest): Promise<Answered>;
  cancel(ask_id: string): Promise<{ accepted: boolean; prompt: Prompt }>;
}

/** For a program that runs an agent of its own: it tells when a turn begins and ends, and hears when to stop it. */
export interface LibraryTurns {
  /** Begins a turn; one that still runs is replaced, unless it has the same `client_turn_id`. */
  start(turn?: { client_turn_id?: string | undefined }): Promise<Turn>;
  /** Completed, unless `aborted` says why not. A turn that has ended stays as it is. */
  end(turn_id: string, end?: ProgramEnd): Promise<Turn>;
  current(): Promise<Turn | undefined>;
  /** Calls back once when somebody wants the turn stopped: stop it, then call `end` with `aborted: 'interrupted'`. */
  onInterrupt(turn_id: string, callback: (order: StopOrder) => void | Promise<void>): () => void;
  /** Stops another session, as an agent; resolves when its turn is over. */
  interrupt(session: string, request?: LibraryInterrupt): Promise<InterruptOutcome>;
}

export type LibraryInterrupt = Pick<
  InterruptRequest,
  'turn_id' | 'note' | 'timeout_ms' | 'interrupt_id' | 'signal'
>;

/** @throws HiveError with a sentence that says what to do: `store_unsafe`, `store_foreign`, `store_too_new`, … */
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
  const [told] = sessionsTold(env);
  if (agent === undefined && told !== undefined) {
    const known = await hive.sessions.get(told.session_id);
    if (known !== undefined && known.state !== 'ended') return known;
  }
  const own = agent ?? (told === undefined ? randomIds.make('connection') : undefined);
  const introduction = {
    ...findPlace(process.cwd()),
    session_id: own ?? told?.session_id ?? '',
    client: own === undefined ? (told?.client ?? '') : 'library',
    source: decideSource(sourceEvidence(env)),
    machine: hostname(),
    // This process is the program's own session; of the agent that it runs under it is only a part.
    pid: own === undefined ? null : process.pid,
    parent_session_id: env['HIVE_PARENT'] ?? (own === undefined ? null : (told?.session_id ?? null)),
  };
  return hive.sessions.introduce(introduction, process.pid);
}

function promptsOf(hive: Hive, session: Session): LibraryPrompts {
  const courier = createCourier(hive.delivery, randomIds.make('library'));
  const actor = (): Promise<AgentActor> => actorOf(hive, session);

  const prompts: LibraryPrompts = {
    async ask(request, { onResponse } = {}) {
      const asked = await hive.prompts.ask(request, session);
      if (onResponse !== undefined) await prompts.onResponse(asked.prompt.ask_id, onResponse);
      return asked;
    },
    onResponse: (ask_id, callback) => hive.callbacks.onResponse(ask_id, callback),
    get: (ask_id) => hive.prompts.get(ask_id),
    async poll(ask_ids, { wait_ms = 0, signal } = {}) {
      const errand = courier.begin();
      await errand.prove();
      await hive.prompts.wait(ask_ids, { wait_ms, signal });
      const delivered = await errand.hand(ask_ids);
      errand.returned();
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
      hive.interrupts.interrupt({ ...request, session: other, actor: await actorOf(hive, session) }),
  };
}

async function actorOf(hive: Hive, { session_id, handle }: Session): Promise<AgentActor> {
  const ancestors = await hive.sessions.ancestors(session_id);
  return { kind: 'agent', by: handle, via: 'library', session_id, ancestors };
}
