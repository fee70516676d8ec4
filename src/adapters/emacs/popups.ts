import type { Seat, Tell } from './seat.ts';
/** A desk's popups: a click on one brings its prompt up in this Emacs. */

/** Null before the handshake: there is no desk yet to show anything for. */
export function startDeskPopups(
  { hive, seat, human, desk, head_seq }: Seat,
  tell: Tell,
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
