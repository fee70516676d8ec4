/** The handshake, what a desk tells of itself, and what holds at its seat. */
import { HiveError, invalidInput } from '../../domain/errors.ts';
import type { HiveEvent } from '../../domain/events.ts';
import { cleanName, EVERY_SEAT, namesOf } from '../../domain/humans.ts';
import { focusParams, initializeParams, PROTOCOL_VERSION, preferencesParams } from '../../schemas/desks.ts';
import { noticeListParams } from '../../schemas/notices.ts';
import { VERSION } from '../../version.ts';
import { fittingCount } from '../fitting.ts';
import {
  type DeskConnection,
  type EventNotifier,
  type Method,
  type Methods,
  type Notify,
  takes,
  takesNothing,
} from './desk-connection.ts';
import { FRAME_BYTES } from './frames.ts';

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
  seat.head_seq = await seat.hive.history.head();
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
export const tellPreferences: EventNotifier = async (events, { hive, seat }, tell) => {
  const ours = events.some(
    ({ type, data }) =>
      type === 'desk/preferences_changed' && (data['seat'] === seat || data['seat'] === EVERY_SEAT),
  );
  if (ours)
    tell('desk/preferences_changed', {
      preferences: { ...(await hive.desks.preferences(seat)), outreach: await hive.outreach.settings() },
    });
};

// ---------------------------------------------------------------------------
// Notices as they reach Emacs: what the human should know though nobody asked anything.

const DEFAULT_PAGE = 100;

export const notifyNotices: EventNotifier = async (events, { seat }, tell) => {
  for (const event of events)
    if (event.type === 'desk/notice' && isFor(seat, event)) tell('desk/notice', toNotice(event));
};

/** Some notices depend on what the human of a seat prefers, and are for that seat alone. */
function isFor(seat: string, { data }: HiveEvent): boolean {
  return data['seat'] === undefined || data['seat'] === seat;
}

export const noticeMethods = {
  'notice/list': takes(noticeListParams, async ({ limit, cursor }, { hive, seat }) => {
    const size = limit ?? DEFAULT_PAGE;
    const before = cursor === null || cursor === undefined ? undefined : Number(cursor);
    const found = await hive.notices.list(size + 1, before);
    const page = found.slice(0, size);
    const own = page.filter((event) => isFor(seat, event)).map(toNotice);
    const notices = own.slice(0, fittingCount(own, FRAME_BYTES));
    const cut = notices.length < own.length ? notices.at(-1)?.notice_id : undefined;
    const next = cut ?? (found.length > size ? page.at(-1)?.seq : undefined);
    return { notices, next_cursor: next === undefined ? null : String(next) };
  }),
} satisfies Methods;

function toNotice({ seq, at, session_id, data }: HiveEvent): { notice_id: number } & Record<string, unknown> {
  return { notice_id: seq, at, session_id, ...data };
}

// ---------------------------------------------------------------------------
// popups

/** A desk's popups: a click on one brings its prompt up in this Emacs. */

/** Null before the handshake: there is no desk yet to show anything for. */
export function startDeskPopups(
  { hive, seat, human, desk, head_seq }: DeskConnection,
  tell: Notify,
): (() => Promise<void>) | null {
  if (desk === null) return null;
  const { desk_id } = desk;
  return hive.startPopups({
    seat,
    human,
    name: desk_id,
    desk_id,
    cursor: head_seq,
    // The person clicked, so here Emacs may come to the front; still only a notification (invariant 7).
    open: (ask_id) => tell('desk/open_prompt', { ask_id }),
  });
}

// ---------------------------------------------------------------------------
// doctor

/** The doctor, asked from Emacs. */

export const doctorMethods: Methods = {
  'doctor/run': takesNothing(async ({ hive }) => {
    return { checks: await hive.doctor.run() };
  }),
};
