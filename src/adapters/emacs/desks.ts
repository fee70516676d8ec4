/** The handshake, what a desk tells of itself, and what holds at its seat. */
import { EVERY_SEAT } from '../../domain/desks.ts';
import { HiveError, invalidInput } from '../../domain/errors.ts';
import { cleanName, namesOf } from '../../domain/humans.ts';
import { focusParams, initializeParams, PROTOCOL_VERSION, preferencesParams } from '../../schemas/desks.ts';
import { VERSION } from '../../version.ts';
import { takes } from './params.ts';
import type { Method, Methods, Teller } from './seat.ts';

/** Opens the desk: from here on agents see that a human is near. */
export const initializeDesk: Method = takes(initializeParams, async (params, seat) => {
  const { protocol_version, client, human } = params;
  if (protocol_version !== PROTOCOL_VERSION) {
    const older = protocol_version < PROTOCOL_VERSION ? 'the Emacs package hive-mode' : 'hive-sidecar';
    throw invalidInput(
      `Emacs speaks protocol ${protocol_version}, this sidecar ${PROTOCOL_VERSION}: update ${older}.`,
    );
  }
  if (seat.opening) throw invalidInput('This desk is open already: initialize is sent once.');
  seat.opening = true;
  try {
    const { hive, pid } = seat;
    if (human !== null && human !== undefined) seat.human = cleanName('name of the human', human);
    seat.desk = await hive.desks.open({
      seat: seat.seat,
      human: seat.human,
      pid,
      client: `${client.name} ${client.version}`,
    });
  } catch (error) {
    seat.opening = false;
    throw error;
  }
  seat.head_seq = await seat.hive.store.read((tx) => tx.events.head());
  return {
    server: { name: 'hive-sidecar', version: VERSION },
    protocol_version: PROTOCOL_VERSION,
    desk_id: seat.desk.desk_id,
    human: seat.human,
    // Whoever compares them with a prompt's `recipients` need not fold anything.
    names: namesOf(seat),
    store_id: seat.hive.store_id,
    head_seq: seat.head_seq,
  };
});

export const deskMethods: Methods = {
  'desk/focus': takes(focusParams, async ({ focused }, { desk }) => {
    if (desk === null) throw new HiveError('invalid_input', 'Send initialize first: there is no desk yet.');
    await desk.setFocused(focused);
    return {};
  }),

  'desk/preferences': takes(preferencesParams, async ({ outreach: changes, ...ofSeat }, { hive, seat }) => {
    // What holds for outreach holds at every seat: it is the agents', not this desk's.
    const outreach = await (changes === undefined || changes === null
      ? hive.outreach.settings()
      : hive.outreach.setSettings(changes));
    return { preferences: { ...(await hive.desks.setPreferences(seat, ofSeat)), outreach } };
  }),
};

/** What holds at this seat has changed: by a shell, or by another Emacs. */
export const tellPreferences: Teller = async (events, { hive, seat }, tell) => {
  const ours = events.some(
    ({ type, data }) =>
      type === 'desk/preferences_changed' && (data['seat'] === seat || data['seat'] === EVERY_SEAT),
  );
  if (ours)
    tell('desk/preferences_changed', {
      preferences: { ...(await hive.desks.preferences(seat)), outreach: await hive.outreach.settings() },
    });
};
