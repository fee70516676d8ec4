/**
 * Desks: the places where a human sits, an Emacs with its sidecar each. Presence is a lease, so that a
 * crashed sidecar is gone after `DESK_LEASE_MS` without anyone having to notice its death.
 */
export interface Desk {
  desk_id: string;
  /** Machine and user: one human, several desks; popups are claimed once a seat. */
  seat: string;
  pid: number;
  client: string;
  /** What the human here is called. */
  human: string;
  focused: boolean;
  opened_at: string;
  lease_until: string;
}

/** Stands for every seat of a store where preferences are stored by seat. */
export const EVERY_SEAT = '*';

/** A crashed desk counts as online no longer than this. */
export const DESK_LEASE_MS = 15_000;
/** How often a living desk renews its lease; heartbeats append no event and ring no bell. */
export const DESK_HEARTBEAT_MS = 5_000;

/** The end of a lease that is taken or renewed now. */
export function leaseFrom(now: string): string {
  return new Date(Date.parse(now) + DESK_LEASE_MS).toISOString();
}

/** The machine of a seat. */
export function machineOfSeat(seat: string): string {
  return seat.slice(seat.lastIndexOf('@') + 1);
}

/** The person of a seat, `user@machine`; a user's own name may hold an @, a machine's does not. */
export function userOfSeat(seat: string): string {
  const at = seat.lastIndexOf('@');
  return at > 0 ? seat.slice(0, at) : seat;
}
