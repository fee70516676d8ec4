import type { Teller } from './seat.ts';
/** Notices as they reach Emacs: what the human should know though nobody asked anything. */

export const tellNotices: Teller = async (events, _seat, tell) => {
  for (const { type, seq, at, session_id, data } of events) {
    if (type === 'desk/notice') await tell('desk/notice', { notice_id: seq, at, session_id, ...data });
  }
};
