/** Desks over JSON-RPC: the handshake, focus, preferences, notices, popups and the doctor. */
import { HiveError, invalidInput } from '../../domain/errors.ts';
import type { HiveEvent } from '../../domain/events.ts';
import { cleanName, EVERY_SEAT } from '../../domain/humans.ts';
import { countThatFits } from '../../domain/limits.ts';
import {
  focusParams,
  initializeParams,
  noticeListParams,
  PROTOCOL_VERSION,
  preferencesParams,
  seatRegisterParams,
} from '../../schemas/desks.ts';
import { VERSION } from '../../version.ts';
import { FRAME_BYTES } from './frames.ts';
import {
  acts,
  type DeskConnection,
  type EventNotifier,
  type Method,
  type Methods,
  type Notify,
  takes,
  withoutParams,
} from './method.ts';

/** Opens the desk: from here on agents see that a human is present. */
export const initializeDesk: Method = takes(
  initializeParams,
  'Opens the desk, once per connection. Another protocol_version is refused.',
  async (params, connection) => {
    const { protocol_version, client, human, seat_key, flush_folders } = params;
    if (protocol_version !== PROTOCOL_VERSION) {
      const older = protocol_version < PROTOCOL_VERSION ? 'the Emacs package hive-mode' : 'hive-sidecar';
      throw invalidInput(
        `Emacs speaks protocol ${protocol_version}, this sidecar ${PROTOCOL_VERSION}: update ${older}.`,
      );
    }
    if (connection.opening) throw invalidInput('This desk is already open: send initialize only once.');
    connection.opening = true;
    try {
      const { hive, pid } = connection;
      hive.flushFolders(flush_folders ?? []);
      if (human !== undefined) connection.human = cleanName('name of the human', human);
      connection.desk = await hive.desks.open({
        seat: connection.seat,
        human: connection.human,
        pid,
        client: `${client.name} ${client.version}`,
      });
    } catch (error) {
      connection.opening = false;
      throw error;
    }
    const { seats, trust } = connection.hive;
    if (seat_key !== undefined) seats.useKey(seat_key);
    const { pid } = connection;
    const seat = seat_key === undefined ? null : await seats.register({ pid, via: 'emacs' });
    await trust.note();
    connection.head_seq = await connection.hive.history.head();
    return {
      server: { name: 'hive-sidecar', version: VERSION },
      protocol_version: PROTOCOL_VERSION,
      desk_id: connection.desk.desk_id,
      human: connection.human,
      store_id: connection.hive.store_id,
      head_seq: connection.head_seq,
      seat,
    };
  },
);

export const deskMethods: Methods = {
  'desk/focus': takes(
    focusParams,
    'Says whether this Emacs has the focus, which decides who shows popups.',
    async ({ focused }, { desk }) => {
      if (desk === null) throw new HiveError('invalid_input', 'Send initialize first: there is no desk yet.');
      await desk.setFocused(focused);
      return {};
    },
  ),

  'seat/register': acts(
    seatRegisterParams,
    'Registers the public key of a further seat for this store, which the human has confirmed. Refused unless the key that this Emacs gave in `initialize` is registered for this store. Returns `registered`, `is_new` and a `text` for the human, as `seat` in the reply to `initialize` does.',
    async ({ name, key }, { hive, pid }) => {
      const state = await hive.seats.admit(
        { name: cleanName('name of the seat', name), key },
        { pid, via: 'emacs' },
      );
      await hive.trust.note();
      return { ...state };
    },
  ),

  'desk/preferences': acts(
    preferencesParams,
    "Changes the seat's preferences. Null restores the default; a preference that is left out keeps its value. Returns all of them. `outreach` applies to every seat. `quiet_times` in the reply are the quiet hours that are on, or the next ones.",
    async (params, connection) => {
      const { hive, seat, human, pid, desk } = connection;
      const { outreach: changes, popup_permissions, notify_command, ...ofSeat } = params;
      const setter = { by: human, pid, from: desk?.desk_id ?? null };
      // Outreach settings apply to every seat: they belong to the agents, not to this desk.
      const outreach = await (changes === undefined || changes === null
        ? hive.outreach.settings()
        : hive.outreach.setSettings(changes, setter));
      const authority = await hive.trust.lend({ popup_permissions, notify_command }, setter);
      const stored = await hive.desks.setPreferences(seat, ofSeat, setter);
      const quiet_times = await hive.desks.quietTimes(seat);
      return { preferences: { ...stored, ...authority, outreach, quiet_times } };
    },
  ),
};

/** The preferences of this seat changed, through a shell or another Emacs. */
export const notifyPreferences: EventNotifier = async (events, { hive, seat }, notify) => {
  const ours = events.some(
    ({ type, data }) =>
      type === 'desk/preferences_changed' && (data['seat'] === seat || data['seat'] === EVERY_SEAT),
  );
  if (ours)
    notify('desk/preferences_changed', {
      preferences: {
        ...(await hive.desks.preferences(seat)),
        ...hive.trust.authority(),
        outreach: await hive.outreach.settings(),
        quiet_times: await hive.desks.quietTimes(seat),
      },
    });
};

// ---- Notices ----
// Notices tell the human something though nobody asked them anything.

const DEFAULT_PAGE = 100;

export const notifyNotices: EventNotifier = async (events, { seat }, notify) => {
  for (const event of events)
    if (event.type === 'desk/notice' && isFor(seat, event)) notify('desk/notice', toNotice(event));
};

/** Some notices depend on the preferences of a seat, and are for that seat only. */
function isFor(seat: string, { data }: HiveEvent): boolean {
  return data['seat'] === undefined || data['seat'] === seat;
}

export const noticeMethods = {
  'notice/list': takes(
    noticeListParams,
    'Returns the notices for the human, newest first, 100 per page by default (`limit`).',
    async ({ limit = DEFAULT_PAGE, cursor }, { hive, seat }) => {
      const before = cursor === undefined ? undefined : Number(cursor);
      const found = await hive.notices.list(limit + 1, before);
      const page = found.slice(0, limit);
      const own = page.filter((event) => isFor(seat, event)).map(toNotice);
      const notices = own.slice(0, countThatFits(own, FRAME_BYTES));
      const cut = notices.length < own.length ? notices.at(-1)?.notice_id : undefined;
      const next = cut ?? (found.length > limit ? page.at(-1)?.seq : undefined);
      return { notices, next_cursor: next === undefined ? null : String(next) };
    },
  ),
} satisfies Methods;

const DAMAGED_NOTICE = 'This notice is damaged in the store and cannot be shown; hive doctor names it.';

function toNotice({ seq, at, session_id, data }: HiveEvent): { notice_id: number } & Record<string, unknown> {
  return { notice_id: seq, at, session_id, text: DAMAGED_NOTICE, ...data };
}

// ---- Popups ----

/** Starts the popups of a desk. A click on one opens its prompt in this Emacs. Null before the handshake, without a desk. */
export function startDeskPopups(
  { hive, seat, human, desk, head_seq, check }: DeskConnection,
  notify: Notify,
): (() => Promise<void>) | null {
  if (desk === null) return null;
  const { desk_id } = desk;
  return hive.startPopups({
    seat,
    human,
    name: desk_id,
    desk_id,
    cursor: head_seq,
    answers: check,
    // The person clicked, so Emacs may come to the front; this is still only a notification (invariant 7).
    open: (ask_id) => notify('desk/open_prompt', { ask_id }),
  });
}

// ---- The doctor ----

export const doctorMethods: Methods = {
  'doctor/run': withoutParams('Returns what `hive doctor` finds.', async ({ hive }) => {
    return { checks: await hive.doctor.run() };
  }),
};
