/** Notices as they reach Emacs: what the human should know though nobody asked anything. */
import type { HiveEvent } from '../../domain/events.ts';
import { noticeListParams } from '../../schemas/notices.ts';
import { fittingCount } from '../fitting.ts';
import { FRAME_BYTES } from './frames.ts';
import { takes } from './params.ts';
import type { Methods, Teller } from './seat.ts';

const DEFAULT_PAGE = 100;

export const tellNotices: Teller = async (events, _seat, tell) => {
  for (const event of events) if (event.type === 'desk/notice') tell('desk/notice', toNotice(event));
};

export const noticeMethods = {
  'notice/list': takes(noticeListParams, async ({ limit, cursor }, { hive }) => {
    const size = limit ?? DEFAULT_PAGE;
    const before = cursor === null || cursor === undefined ? undefined : Number(cursor);
    const found = await hive.store.read((tx) => tx.events.notices(size + 1, before));
    const fitting = found.slice(0, size).map(toNotice);
    const notices = fitting.slice(0, fittingCount(fitting, FRAME_BYTES));
    const last = notices.at(-1);
    return {
      notices,
      next_cursor: last === undefined || found.length === notices.length ? null : String(last.notice_id),
    };
  }),
} satisfies Methods;

function toNotice({ seq, at, session_id, data }: HiveEvent): { notice_id: number } & Record<string, unknown> {
  return { notice_id: seq, at, session_id, ...data };
}
