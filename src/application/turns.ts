/**
 * Turns: which turns are running, and how a turn begins and ends. In this order:
 *
 * - `createTurns`: the service, for programs that report their own turns and for displays of turns;
 * - the steps inside a transaction: `recordTurnEnd` ends a turn, whatever ended it; `turnOf` finds the turn of an event;
 * - the hook handlers: `beginTurns` begins the turn of an event, and `endTurns` ends it after all other handlers.
 *
 * interrupts.ts stops turns, and passes the actor to `recordTurnEnd`.
 */

import { owed } from '../domain/delivery.ts';
import { HiveError } from '../domain/errors.ts';
import { type HookEvent, isHumanPrompt, isQuiet, type Verdict } from '../domain/hooks.ts';
import { type Interrupt, interruptedBy, requestSentence, settleInterrupt } from '../domain/interrupts.ts';
import { isExpired } from '../domain/prompts.ts';
import { wordsOf } from '../domain/refused-calls.ts';
import { placeOfTurn, runsInside, type Session, type SessionPlace } from '../domain/sessions.ts';
import {
  DISPLACED_TAIL_BYTES,
  type Displacing,
  lastWordsIn,
  rolloutEnd,
  TRANSCRIPT_TAIL_BYTES,
  threadOfRollout,
  transcriptShowsInterrupt,
  transcriptShowsReplaced,
} from '../domain/transcripts.ts';
import {
  type AbortReason,
  type ArrivalKind,
  batchClosed,
  CANCELS,
  durationMs,
  ENDED_UNKNOWN,
  ENDED_WITH_SESSION,
  endKind,
  endTurn,
  INTERRUPTED_AT_TERMINAL,
  meaningOf,
  REPLACED,
  startTurn,
  type Turn,
  type TurnEnd,
  type TurnStart,
  toolEnded,
  toolStarted,
  turnSentence,
} from '../domain/turns.ts';
import type { HookContext, HookHandler } from './hook-context.ts';
import type { ReadTx, Store, WriteTx } from './ports.ts';
import { recordCancel } from './prompts.ts';
import { recordWork } from './session-state.ts';
import type { Files, Ids } from './world.ts';

/** How a program reports that its turn has ended. */
export interface ProgramEnd {
  /** Why it did not complete; missing: it completed. */
  aborted?: AbortReason | undefined;
  /** The person or agent that ended it; missing: the one that requested the interrupt. */
  by?: string | null | undefined;
  /** A note for the record. */
  note?: string | null | undefined;
}

export interface RunningTurn {
  turn: Turn;
  session: Session;
}

/** A turn as people see it, with the fields that docs/internals/protocol.md lists. */
export type TurnView = Readonly<Record<string, unknown>> & SessionPlace;

export interface TurnWithInterrupts {
  turn: Turn;
  interrupts: Interrupt[];
}

const RUNNING_LIMIT = 1_000;

export function createTurns(store: Store, ids: Ids, words: LastWords) {
  return {
    /** Begins a turn of a program that reports its own turns. A running one is replaced by `by`, unless it has the same id. */
    start: ({
      session_id,
      client_turn_id = null,
      by = null,
    }: {
      session_id: string;
      client_turn_id?: string | null | undefined;
      by?: string | null | undefined;
    }): Promise<Turn> =>
      store.write(async (tx) => {
        const current = await tx.turns.current(session_id);
        if (current !== undefined && client_turn_id !== null && current.client_turn_id === client_turn_id)
          return current;
        if (current !== undefined)
          await recordTurnEnd(tx, current, {
            state: 'aborted',
            abort_reason: 'replaced',
            by,
            via: 'library',
            note: null,
          });
        return beginTurn(tx, ids.make('turn'), { session_id, client_turn_id, continues: null });
      }),

    /**
     * Ends a turn, as completed unless a reason says otherwise. One that has ended stays as it is. @throws HiveError
     * `turn_not_found`.
     */
    end: (turn_id: string, end: ProgramEnd = {}): Promise<Turn> =>
      store.write(async (tx) => {
        const turn = await findTurn(tx, turn_id);
        return recordTurnEnd(tx, turn, await programEnd(tx, turn, end));
      }),

    /** @throws HiveError `turn_not_found`. */
    get: (turn_id: string): Promise<Turn> => store.read((tx) => findTurn(tx, turn_id)),
    current: (session_id: string) => store.read((tx) => tx.turns.current(session_id)),

    /** All running turns, with their sessions. */
    running: (): Promise<RunningTurn[]> =>
      store.read(async (tx) => {
        const running: RunningTurn[] = [];
        for (const turn of await tx.turns.running(RUNNING_LIMIT)) {
          const session = await tx.sessions.get(turn.session_id);
          if (session !== undefined) running.push({ turn, session });
        }
        return running;
      }),

    /** The newest turn of each session, with every request to interrupt it. */
    newestOf: (session_ids: readonly string[]): Promise<TurnWithInterrupts[]> =>
      store.read((tx) => newestOf(tx, session_ids)),

    /** The same as people see it, by session. */
    async newestViews(
      sessions: readonly Pick<Session, 'session_id' | 'machine'>[],
    ): Promise<ReadonlyMap<string, TurnView>> {
      const machines = new Map(sessions.map(({ session_id, machine }) => [session_id, machine]));
      const { newest, now } = await store.read(async (tx) => ({
        newest: await newestOf(tx, [...machines.keys()]),
        now: tx.now,
      }));
      return new Map(
        newest.map(({ turn, interrupts }) => [
          turn.session_id,
          { ...turnView(turn, interrupts, now), ...words(turn, machines.get(turn.session_id)) },
        ]),
      );
    },

    /** A turn as people see it, with its session's handle and project; undefined once retention has removed it. */
    async view(turn_id: string): Promise<TurnView | undefined> {
      const found = await store.read(async (tx) => {
        const turn = await tx.turns.get(turn_id);
        if (turn === undefined) return undefined;
        const session = await tx.sessions.get(turn.session_id);
        return { turn, session, view: turnView(turn, await tx.turns.interruptsOf(turn_id), tx.now) };
      });
      if (found === undefined) return undefined;
      const { turn, session, view } = found;
      return {
        ...view,
        agent: session?.handle ?? null,
        agent_title: session?.title ?? null,
        project: session?.project ?? null,
        ...words(turn, session?.machine),
      };
    },
  };
}

/** An agent's last words in a turn; they can be read only on the machine where it runs. */
export type LastWords = (
  turn: Pick<Turn, 'transcript_path' | 'client_turn_id'>,
  machine: string | null | undefined,
) => { last_words?: string };

/** Reads last words from transcripts; an unchanged transcript is not read again. */
export function readingLastWords(files: Pick<Files, 'readTail' | 'modifiedMs'>, here: string): LastWords {
  const read = new Map<string, { modified: number; turn: string | null; words: string | null }>();
  return ({ transcript_path: path, client_turn_id: turn }, machine) => {
    const modified = path === null || machine !== here ? null : files.modifiedMs(path);
    if (path === null || modified === null) return {};
    const known = read.get(path);
    const isKnown = known !== undefined && known.modified === modified && known.turn === turn;
    const tail = isKnown ? null : files.readTail(path, TRANSCRIPT_TAIL_BYTES);
    const words = isKnown ? known.words : tail === null ? null : lastWordsIn(tail, turn);
    read.delete(path);
    read.set(path, { modified, turn, words });
    for (const [oldest] of read) {
      if (read.size <= MOST_TRANSCRIPTS) break;
      read.delete(oldest);
    }
    return words === null ? {} : { last_words: words };
  };
}

/** How many transcripts are remembered. */
const MOST_TRANSCRIPTS = 500;

async function newestOf(tx: ReadTx, session_ids: readonly string[]): Promise<TurnWithInterrupts[]> {
  const newest = await Promise.all(session_ids.map((session_id) => tx.turns.last(session_id)));
  const found = newest.filter((turn) => turn !== undefined);
  return Promise.all(
    found.map(async (turn) => ({ turn, interrupts: await tx.turns.interruptsOf(turn.turn_id) })),
  );
}

async function programEnd(tx: WriteTx, turn: Turn, { aborted, by, note }: ProgramEnd): Promise<TurnEnd> {
  if (aborted === undefined) return { state: 'completed' };
  const [asked] = await tx.turns.pendingInterrupts(turn.turn_id);
  // If a program stops its turn because of a request, the asker ended it.
  if (aborted === 'interrupted' && asked !== undefined && by == null) return interruptedBy(asked);
  return { state: 'aborted', abort_reason: aborted, by: by ?? null, via: 'library', note: note ?? null };
}

async function findTurn(tx: ReadTx, turn_id: string): Promise<Turn> {
  const turn = await tx.turns.get(turn_id);
  if (turn === undefined)
    throw new HiveError('turn_not_found', `There is no turn ${turn_id}: check the id.`, { turn_id });
  return turn;
}

// ---- Steps inside a caller's transaction ----

/** Begins a turn. The caller has ended the one before. */
async function beginTurn(
  tx: WriteTx,
  turn_id: string,
  beginning: Omit<TurnStart, 'turn_id' | 'number'>,
): Promise<Turn> {
  const { session_id, client_turn_id, continues } = beginning;
  const data = { state: 'in_progress', client_turn_id, continues: continues?.turn_id ?? null };
  await tx.events.append({ type: 'turn/changed', session_id, subject: turn_id, data });
  const turn = startTurn({ ...beginning, turn_id, number: await tx.events.head() }, tx.now);
  await tx.turns.insert(turn);
  await recordWork(tx, session_id, 'active');
  return turn;
}

/**
 * Ends a turn, cancels the questions that end with it, and answers the requests to interrupt it, all in one transaction, so that
 * these changes are only seen together. A turn that has ended is returned unchanged.
 */
export async function recordTurnEnd(tx: WriteTx, turn: Turn, end: TurnEnd): Promise<Turn> {
  if (turn.state !== 'in_progress') return turn;
  const ended = endTurn(turn, end, await cancelQuestions(tx, turn, end), tx.now);
  await tx.turns.update(ended);
  const { turn_id, session_id, state, abort_reason, by, via, started_at, ended_at, cancelled_prompts } =
    ended;
  const duration_ms = durationMs(ended, tx.now);
  const data = { state, abort_reason, by, via, started_at, ended_at, duration_ms, cancelled_prompts };
  await tx.events.append({ type: 'turn/changed', session_id, subject: turn_id, data });
  for (const interrupt of await tx.turns.pendingInterrupts(turn_id))
    await tx.turns.updateInterrupt(settleInterrupt(interrupt, ended, tx.now));
  if (state === 'aborted') {
    await tx.deliveries.put(owed('interrupt', turn_id, session_id));
    await endWithParent(tx, ended, end);
  }
  await recordWork(tx, session_id, 'idle');
  return ended;
}

async function cancelQuestions(tx: WriteTx, turn: Turn, end: TurnEnd): Promise<string[]> {
  const kind = endKind(end);
  const cancelled: string[] = [];
  for (const prompt of await tx.prompts.pendingOfTurn(turn.turn_id)) {
    // A prompt that is due will be recorded as expired.
    if (!CANCELS[kind](prompt) || isExpired(prompt, tx.now)) continue;
    if (end.state === 'aborted' && end.abort_reason !== 'ended') {
      const { abort_reason: reason, by, via } = end;
      await recordCancel(tx, prompt, { by: by ?? prompt.agent, via: via ?? 'hook', reason });
    }
    cancelled.push(prompt.ask_id);
  }
  return cancelled;
}

/** Subagents that run inside the turn end with it; background ones, and Codex's, continue. */
async function endWithParent(tx: WriteTx, parent: Turn, end: TurnEnd): Promise<void> {
  const session = await tx.sessions.get(parent.session_id);
  for (const child of await tx.sessions.childrenOf(parent.session_id)) {
    if (session === undefined || !runsInside(child, session)) continue;
    const turn = await tx.turns.current(child.session_id);
    if (turn === undefined) continue;
    const { stopped_at, batch_at } = parent;
    await recordTurnEnd(tx, { ...turn, stopped_at, batch_at }, end);
  }
}

/** The turn of a client's event: by the client's id, else the running one, else the last. */
export async function turnOf(
  tx: ReadTx,
  session_id: string,
  client_turn_id: string | null,
): Promise<Turn | undefined> {
  const named = client_turn_id === null ? undefined : await tx.turns.byClientTurn(session_id, client_turn_id);
  if (named !== undefined) return named;
  const current = await tx.turns.current(session_id);
  if (current !== undefined)
    return client_turn_id === null || current.client_turn_id === null ? current : undefined;
  return client_turn_id === null ? tx.turns.last(session_id) : undefined;
}

/** The turn of an MCP call, as the call reports it. */
export interface CallTrace {
  client_turn_id: string | null;
  tool_use_id: string | null;
}

/** The turn in which one of our tools is called; undefined when none is known. */
export async function turnOfCall(
  tx: ReadTx,
  session_id: string,
  { client_turn_id, tool_use_id }: CallTrace,
): Promise<Turn | undefined> {
  if (client_turn_id !== null) return turnOf(tx, session_id, client_turn_id);
  const current = await tx.turns.current(session_id);
  if (current !== undefined || tool_use_id === null) return current;
  // Its turn was stopped while this call was on its way.
  const last = await tx.turns.last(session_id);
  return last?.open_tools.some(({ use_id }) => use_id === tool_use_id) === true ? last : undefined;
}

/** The end of a turn whose client itself was stopped: by a request through Hive, else by the person at its terminal. */
async function stoppedInClient(tx: ReadTx, turn: Turn): Promise<TurnEnd> {
  const pushed = (await tx.turns.pendingInterrupts(turn.turn_id)).find(({ pushed_at }) => pushed_at !== null);
  return pushed === undefined ? INTERRUPTED_AT_TERMINAL : interruptedBy(pushed);
}

/**
 * The end of a turn that the store has as running, according to the client's transcript; null if the transcript shows no end.
 * `next` is the turn that begins in its place, if one does.
 */
export async function endFromTranscript(
  tx: ReadTx,
  turn: Turn,
  readTail: Files['readTail'],
  next: Displacing | null = null,
): Promise<TurnEnd | null> {
  if (turn.state !== 'in_progress' || turn.transcript_path === null) return null;
  const tail = readTail(turn.transcript_path, next === null ? TRANSCRIPT_TAIL_BYTES : DISPLACED_TAIL_BYTES);
  if (tail === null) return null;
  const rollout = rolloutEnd(tail, turn);
  if (rollout === 'completed') return { state: 'completed' };
  if (rollout === 'interrupted' || transcriptShowsInterrupt(tail, turn)) return stoppedInClient(tx, turn);
  return rollout === 'replaced' || (next !== null && transcriptShowsReplaced(tail, turn, next))
    ? REPLACED
    : null;
}

/**
 * The turn with the transcript that the event names. Claude Code moves the transcript of a session with its directory, also during
 * a turn (EnterWorktree, /cd), and the one that was named at the beginning is gone. A review of Codex has a transcript of its own.
 */
export function whereNow(turn: Turn, { client, agent_id, transcript_path: path }: HookEvent): Turn {
  // A subagent's hooks name its parent's transcript.
  if (client !== 'claude-code' || agent_id !== null || path === null || path === turn.transcript_path)
    return turn;
  return { ...turn, transcript_path: path };
}

// ---- Hook handlers (docs/turns.md) ----
// The first handler finds the turn of an event and begins it. The last but one ends it, because a Stop that is held ends
// nothing.

const KINDS: Readonly<Record<string, ArrivalKind>> = {
  UserPromptSubmit: 'prompt',
  // Also when a message continues a subagent that has stopped.
  SubagentStart: 'prompt',
  PreToolUse: 'tool',
  PermissionRequest: 'tool',
  PostToolUse: 'after',
  PostToolUseFailure: 'after',
  PostToolBatch: 'after',
  Stop: 'stop',
  StopFailure: 'stop',
  SubagentStop: 'stop',
};

/** Whether an event shows that a turn runs or ends. */
export function isOfTurn({ name }: Pick<HookEvent, 'name'>): boolean {
  return name in KINDS;
}

/** Begins the turn of this event, if the event shows that it runs. Runs first, except for a refused prompt. */
export const beginTurns: HookHandler = async (context) => {
  const { tx, event, session } = context;
  // A prompt that was refused never reaches the agent. An event that has waited has begun its turn, which may be over.
  if (isForeign(context) || context.verdict.block !== null || context.waited !== null) return null;
  const { session_id } = session;
  const kind = KINDS[event.name];
  const running = await tx.turns.current(session_id);
  const current = running === undefined ? null : whereNow(running, event);
  const { client_turn_id } = event;
  const named =
    client_turn_id === null ? null : ((await tx.turns.byClientTurn(session_id, client_turn_id)) ?? null);
  if (kind === undefined) {
    const isLate = named !== null && named.turn_id !== current?.turn_id;
    if (current !== null && !isLate && showsThatNothingRuns(event)) await endAsFound(context, current);
    return null;
  }
  const last = current ?? (await tx.turns.last(session_id)) ?? null;
  const meaning = meaningOf({ kind, client_turn_id }, { current, named, last });
  if (meaning.kind === 'begin' || meaning.kind === 'continue') {
    if (current !== null) await recordTurnEnd(tx, current, await endBefore(context, current));
    await begin(context, meaning.kind === 'continue' ? meaning.turn : null);
  } else if (meaning.kind === 'steer' && event.agent_id === null) await steer(context, meaning.turn);
  return null;
};

/** Whether the event is not about the session's own turn: /compact fires a SubagentStop for a subagent that never existed. */
function isForeign({ event, session }: HookContext): boolean {
  return event.agent_id !== null && session.session_id === event.session_id;
}

/** Whether an event proves that no turn is running, whatever is stored: the client starts, or waits for its person. */
function showsThatNothingRuns({ name, reason, raw }: HookEvent): boolean {
  if (name === 'SessionStart') return reason === 'startup' || reason === 'resume';
  return name === 'Notification' && raw['notification_type'] === 'idle_prompt';
}

async function endAsFound({ tx, event, surroundings }: HookContext, turn: Turn): Promise<void> {
  const end = await endFromTranscript(tx, turn, surroundings.readTail);
  // The Stop of a turn whose client is idle may have been lost, as with a server that was away.
  const without = event.name === 'SessionStart' ? ENDED_WITH_SESSION : ENDED_UNKNOWN;
  await recordTurnEnd(tx, turn, end ?? without);
}

/** How a turn ended when no hook reported its end before the next one began. */
async function endBefore({ tx, event, surroundings }: HookContext, turn: Turn): Promise<TurnEnd> {
  const { client_turn_id } = event;
  const next = { client_turn_id, prompted: isHumanPrompt(event) };
  return (await endFromTranscript(tx, turn, surroundings.readTail, next)) ?? ENDED_UNKNOWN;
}

async function begin({ tx, ids, event, session }: HookContext, continues: Turn | null): Promise<void> {
  const isOwn = event.agent_id === null || threadOfRollout(event.transcript_path) === event.agent_id;
  await beginTurn(tx, ids.make('turn'), {
    session_id: session.session_id,
    client_turn_id: event.client_turn_id,
    continues,
    // The hooks of a subagent of Claude Code name its parent's transcript, in which Esc is about the parent.
    transcript_path: isOwn ? event.transcript_path : null,
  });
}

async function steer(context: HookContext, turn: Turn): Promise<void> {
  const { tx, session } = context;
  // Without ids, only the transcript distinguishes a message to a running turn from the first message after Esc.
  if (turn.state === 'in_progress' && context.event.client_turn_id === null) {
    const end = await endFromTranscript(tx, turn, context.surroundings.readTail);
    if (end !== null) {
      await recordTurnEnd(tx, turn, end);
      await begin(context, null);
      return;
    }
  }
  const { session_id } = session;
  await tx.events.append({
    type: 'turn/steered',
    session_id,
    subject: turn.turn_id,
    data: { state: turn.state },
  });
}

/** Runs after the gates and guards: updates the turn from the event and from their verdict. */
export const endTurns: HookHandler = async (context) => {
  const { tx, event, session, verdict } = context;
  if (isForeign(context)) return null;
  const turn = await turnOf(tx, session.session_id, event.client_turn_id);
  if (turn === undefined) return null;
  switch (event.name) {
    case 'PreToolUse':
    case 'PostToolUse':
    case 'PostToolUseFailure':
    case 'PermissionDenied':
    case 'PostToolBatch': {
      const changed = afterTool(whereNow(turn, event), event, verdict.deny !== null, tx.now);
      if (changed !== turn) await tx.turns.update(changed);
      break;
    }
    case 'PermissionRequest': {
      const changed = afterRefusal(turn, event, verdict.decision, tx.now);
      if (changed !== turn) await tx.turns.update(changed);
      break;
    }
    case 'Stop':
    case 'StopFailure':
    case 'SubagentStop':
      if (verdict.block === null) await recordTurnEnd(tx, turn, { state: 'completed' });
      // Another hook had held its last Stop, and we hold this one: the turn continues.
      else if (turn.state === 'completed' && !(await isBusy(context))) await begin(context, turn);
      break;
    case 'Interrupt':
      await recordTurnEnd(tx, turn, await stoppedInClient(tx, turn));
      break;
    case 'SessionEnd':
      await endWithSession(context);
      break;
    default:
  }
  return null;
};

/** Whether the session has a running turn. A late Stop of an earlier turn must not begin a second one. */
async function isBusy({ tx, session }: HookContext): Promise<boolean> {
  return (await tx.turns.current(session.session_id)) !== undefined;
}

/** The turn with its running tools and progress updated. A denied call never starts. */
function afterTool(turn: Turn, event: HookEvent, denied: boolean, now: string): Turn {
  if (event.name === 'PostToolBatch') return batchClosed(turn, event.batch, now);
  if (event.tool === null) return turn;
  const { use_id, name } = event.tool;
  if (event.name !== 'PreToolUse') return toolEnded(turn, { use_id, name }, now);
  if (denied) return turn;
  const says = wordsOf(event.tool);
  const started = toolStarted(turn, { use_id, name, ...(says === null ? {} : { says }) }, now);
  // Its return is not reported, so it does not count as running.
  return isQuiet(event) ? toolEnded(started, { use_id, name }, now) : started;
}

/**
 * The turn without the call whose permission is refused: no hook reports that it is over. This one does not identify the call, so
 * of several calls of a tool all stay, as does one of Hive with words, whose refusal the end of the turn reports.
 */
function afterRefusal(turn: Turn, { tool }: HookEvent, decision: Verdict['decision'], now: string): Turn {
  if (decision?.kind !== 'deny' || decision.interrupt) return turn;
  const [asking, ...others] = turn.open_tools.filter(({ name }) => name === tool?.name);
  const isClear = asking !== undefined && asking.says === undefined && others.length === 0;
  return isClear ? toolEnded(turn, asking, now) : turn;
}

/**
 * Ends the running turn with its session. The event's own turn id is ignored, because it is not that of the running turn
 * (recorded).
 */
async function endWithSession({ tx, event, session, surroundings }: HookContext): Promise<void> {
  const running = await tx.turns.current(session.session_id);
  if (running === undefined) return;
  const current = whereNow(running, event);
  const end = await endFromTranscript(tx, current, surroundings.readTail);
  await recordTurnEnd(tx, current, end ?? ENDED_WITH_SESSION);
}

// ---- A turn as people see it ----

/** A turn's activity and duration, its end, and the requests to stop it. Paths and processes of the client are left out. */
function turnView(turn: Turn, interrupts: readonly Interrupt[], now: string): TurnView {
  const { turn_id, session_id, client_turn_id, continues, state, abort_reason, by, via, note } = turn;
  const { started_at, ended_at, cancelled_prompts, steps, batches, last_tool, last_tool_at } = turn;
  const under_way = state === 'in_progress' ? turn.open_tools.at(-1) : undefined;
  return {
    turn_id,
    session_id,
    client_turn_id,
    continues,
    state,
    abort_reason,
    by,
    via,
    note,
    started_at,
    ended_at,
    duration_ms: durationMs(turn, now),
    cancelled_prompts,
    steps,
    batches,
    last_tool,
    last_tool_at,
    tool: under_way?.name ?? null,
    tool_since: under_way?.since ?? null,
    sentence: turnSentence(turn),
    ...placeOfTurn(turn),
    interrupts: interrupts.map((interrupt) => ({
      interrupt_id: interrupt.interrupt_id,
      by: interrupt.by,
      via: interrupt.via,
      note: interrupt.note,
      state: interrupt.state,
      outcome: interrupt.outcome,
      asked_at: interrupt.asked_at,
      unconfirmed_at: interrupt.unconfirmed_at,
      sentence: requestSentence(interrupt, turn),
    })),
  };
}
