/** Interrupts as Emacs asks for them, and turns as it is told of them. A reply may take minutes; Emacs waits for none. */
import type { OneOfAll } from '../../application/interrupts.ts';
import type { HumanActor } from '../../domain/actors.ts';
import { userOfSeat } from '../../domain/humans.ts';
import { type InterruptOutcome, outcomeSentence } from '../../domain/interrupts.ts';
import { cancelInterruptParams, interruptAllParams, interruptParams } from '../../schemas/turns.ts';
import { toWireError } from '../errors.ts';
import { type DeskConnection, type EventNotifier, type Methods, subjectsOf } from './desk-connection.ts';

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

export const turnMethods = {
  async 'turn/interrupt'(params, seat) {
    const { session_id, by, ...request } = interruptParams.parse(params);
    const actor = human(seat, by);
    return told(await seat.hive.interrupts.interrupt({ ...request, session: session_id, actor }));
  },

  async 'turn/interrupt_all'(params, seat) {
    const { by, ...request } = interruptAllParams.parse(params);
    const outcomes = await seat.hive.interrupts.interruptAll({ ...request, actor: human(seat, by) });
    return { outcomes: outcomes.map(toldOne) };
  },

  async 'turn/cancel_interrupt'(params, seat) {
    const { session_id, by, ...which } = cancelInterruptParams.parse(params);
    const withdrawn = await seat.hive.interrupts.cancel({
      ...which,
      session: session_id,
      actor: human(seat, by),
    });
    return { withdrawn: withdrawn.map(({ interrupt_id }) => interrupt_id) };
  },
} satisfies Methods;

/** Each turn that something happened to, as it now stands, with the handle by which people know its session. */
export const notifyTurns: EventNotifier = async (events, { hive }, tell) => {
  for (const turn_id of subjectsOf(events, (type) => type.startsWith('turn/'))) {
    const changed = await hive.turns.view(turn_id);
    if (changed !== undefined) tell('turn/changed', changed);
  }
};
