/** Notices as they reach Emacs: what the human should know though nobody asked anything. */
import type { HiveEvent } from '../../domain/events.ts';
import { noticeListParams } from '../../schemas/notices.ts';
import { fittingCount } from '../fitting.ts';
import { FRAME_BYTES } from './frames.ts';
import { takes } from './params.ts';
import type { Methods, Teller } from './seat.ts';

const DEFAULT_PAGE = 100;

export const tellNotices: Teller = async (events, { seat }, tell) => {
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
    const found = await hive.store.read((tx) => tx.events.notices(size + 1, before));
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
