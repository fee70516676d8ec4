/** Interrupts as Emacs asks for them, and turns as it is told of them. A reply may take minutes; Emacs waits for none. */
import type { OneOfAll } from '../../application/interrupts.ts';
import type { HumanActor } from '../../domain/actors.ts';
import { userOfSeat } from '../../domain/humans.ts';
import { type InterruptOutcome, outcomeSentence } from '../../domain/interrupts.ts';
import { cancelInterruptParams, interruptAllParams, interruptParams } from '../../schemas/turns.ts';
import { toWireError } from '../errors.ts';
import {
  afterNews,
  type DeskConnection,
  type EventNotifier,
  type Methods,
  subjectsOf,
  takes,
} from './desk-connection.ts';

function human({ seat }: DeskConnection, by: string | null | undefined): HumanActor {
  return { kind: 'human', by: by ?? userOfSeat(seat), via: 'emacs', confirmed: true };
}

function told<Outcome extends InterruptOutcome>(outcome: Outcome): Outcome & { sentence: string } {
  return { ...outcome, sentence: outcomeSentence(outcome) };
}

/** One session that could not be asked says why, and the others are told of all the same. */
function toldOne(one: OneOfAll): object {
  if (!('error' in one)) return told(one);
  const { code: _, message, data } = toWireError(one.error);
  return { ...one, outcome: null, error: data.code, sentence: message };
}

const methods = {
  'turn/interrupt': takes(interruptParams, async ({ session_id, by, ...request }, seat) => {
    const actor = human(seat, by);
    return told(await seat.hive.interrupts.interrupt({ ...request, session: session_id, actor }));
  }),

  'turn/interrupt_all': takes(interruptAllParams, async ({ by, ...request }, seat) => {
    const outcomes = await seat.hive.interrupts.interruptAll({ ...request, actor: human(seat, by) });
    return { outcomes: outcomes.map(toldOne) };
  }),

  'turn/cancel_interrupt': takes(cancelInterruptParams, async ({ session_id, by, ...which }, seat) => {
    const withdrawn = await seat.hive.interrupts.cancel({
      ...which,
      session: session_id,
      actor: human(seat, by),
    });
    return { withdrawn: withdrawn.map(({ interrupt_id }) => interrupt_id) };
  }),
} satisfies Methods;

/** Emacs is told that the turn has ended before its request is answered: it is never wrong about the turn. */
export const turnMethods = {
  ...methods,
  'turn/interrupt': afterNews(methods['turn/interrupt']),
  'turn/interrupt_all': afterNews(methods['turn/interrupt_all']),
} satisfies Methods;

/** Each turn that something happened to, as it now stands, with the handle by which people know its session. */
export const notifyTurns: EventNotifier = async (events, { hive }, tell) => {
  for (const turn_id of subjectsOf(events, (type) => type.startsWith('turn/'))) {
    const changed = await hive.turns.view(turn_id);
    if (changed !== undefined) tell('turn/changed', changed);
  }
};
