/** Interrupts and turns over JSON-RPC. A reply may take minutes, but Emacs waits for none. */
import type { OneOfAll } from '../../application/interrupts.ts';
import type { EventType } from '../../domain/events.ts';
import { INTERRUPT_LIMITS, type InterruptOutcome, outcomeSentence } from '../../domain/interrupts.ts';
import { cancelInterruptParams, interruptAllParams, interruptParams } from '../../schemas/turns.ts';
import { toWireError } from '../errors.ts';
import { acts, afterEvents, type EventNotifier, humanAt, type Methods, subjectsOf } from './method.ts';

function withSentence<Outcome extends InterruptOutcome>(outcome: Outcome): Outcome & { sentence: string } {
  return { ...outcome, sentence: outcomeSentence(outcome) };
}

/** The outcome for one session. If it could not be interrupted, that is its outcome, and the others are still reported. */
function describeOne(one: OneOfAll): object {
  if (!('error' in one)) return withSentence(one);
  const { code: _, message, data } = toWireError(one.error);
  return { ...one, outcome: null, error: data.code, sentence: message };
}

const methods = {
  'turn/interrupt': acts(
    interruptParams,
    `Interrupts a turn. The reply waits until the turn is over, at most \`timeout_ms\` milliseconds (${INTERRUPT_LIMITS.defaultTimeoutMs} by default), after which it says \`unconfirmed\`. It comes after the \`turn/changed\` that reports the end.`,
    async ({ session_id, by, ...request }, connection) => {
      const actor = humanAt(connection, by);
      return withSentence(
        await connection.hive.interrupts.interrupt({ ...request, session: session_id, actor }),
      );
    },
  ),

  'turn/interrupt_all': acts(
    interruptAllParams,
    'Does the same for every running turn. Each outcome names its agent (`handle`), and has an `error` if that could not be interrupted.',
    async ({ by, ...request }, connection) => {
      const outcomes = await connection.hive.interrupts.interruptAll({
        ...request,
        actor: humanAt(connection, by),
      });
      return { outcomes: outcomes.map(describeOne) };
    },
  ),

  'turn/cancel_interrupt': acts(
    cancelInterruptParams,
    'Withdraws one interrupt, or all interrupts of the turn that are pending.',
    async ({ session_id, by, ...which }, connection) => {
      const withdrawn = await connection.hive.interrupts.cancel({
        ...which,
        session: session_id,
        actor: humanAt(connection, by),
      });
      return { withdrawn: withdrawn.map(({ interrupt_id }) => interrupt_id) };
    },
  ),
} satisfies Methods;

/** Emacs is notified that the turn has ended before its request is answered, so its view of the turn is never wrong. */
export const turnMethods = {
  ...methods,
  'turn/interrupt': afterEvents(methods['turn/interrupt']),
  'turn/interrupt_all': afterEvents(methods['turn/interrupt_all']),
} satisfies Methods;

/**
 * Each turn that changed, in its current state, with the handle of its session. Also the turn of an agent that has just asked
 * something, if it has last words: they explain the question. And that of one whose question is over: its call may be, too.
 */
export const notifyTurns: EventNotifier = async (events, { hive }, notify) => {
  const changed = subjectsOf(events, (type) => type.startsWith('turn/'));
  for (const turn_id of changed) {
    const view = await hive.turns.view(turn_id);
    if (view !== undefined) notify('turn/changed', view);
  }
  const of = (...types: EventType[]): Set<string> =>
    new Set(events.flatMap(({ type, session_id }) => (types.includes(type) ? (session_id ?? []) : [])));
  const over = of('prompt/cancelled', 'prompt/handed');
  for (const session_id of new Set([...of('prompt/created'), ...over])) {
    const turn = await hive.turns.current(session_id);
    const isSent = turn === undefined || changed.includes(turn.turn_id);
    const view = isSent ? undefined : await hive.turns.view(turn.turn_id);
    if (view !== undefined && (over.has(session_id) || view['last_words'] !== undefined))
      notify('turn/changed', view);
  }
};
