/**
 * Devices: phones and browsers that are paired with this hive and show its inbox. Each has a key of the kind that a seat has
 * (seats.ts), and signs with it. A paired device may answer questions. Whether it may allow permissions is not decided here:
 * its key then stands among the seats in the human's file (trust.ts). How one is paired and comes in is in extensions/inbox.
 */

/** A paired device, or one that waits until its human confirms it. */
export interface Device {
  device_id: string;
  /** Its human's name for it: "Ada's phone". */
  name: string;
  /** Whose it is: what it answers is answered by them. */
  human: string;
  /** Its public key, as that of a seat: 32 bytes, base64url. */
  key: string;
  paired_at: string;
  /** Null until its human has compared the phrases. */
  confirmed_at: string | null;
  revoked_at: string | null;
  /** When it last came in. */
  seen_at: string | null;
  /** Where its notifications go; null if it takes none. */
  push: PushTarget | null;
  /** Why notifications no longer reach it, as a sentence; null while they do. */
  push_failed: string | null;
  /** The seat at which its human has paired it: its preferences are those of this seat, except for its own. Null: none. */
  seat: string | null;
}

/** A subscription to Web Push, as the browser gives it. */
export interface PushTarget {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** An invitation: one device may use its code, once. */
export interface Pairing {
  /** SHA-256 of the code, in hexadecimal: the code itself is shown once and not stored. */
  code_digest: string;
  /** Whose device it will be. */
  human: string;
  expires_at: string;
  /** The device that has used it; null until then. */
  device_id: string | null;
  /** The seat of that human; null if another human pairs the device. */
  seat: string | null;
}

/** How far the time of a signed permission may be from the store's clock. */
const FRESH_MS = 2 * 60_000;

/** Whether an answer that a device signed at this time is from now. The time of the store counts, not the device's. */
export function isFresh(signed_at: string, now: string): boolean {
  return Math.abs(Date.parse(now) - Date.parse(signed_at)) <= FRESH_MS;
}
