/**
 * Devices: phones and browsers that are paired with this hive and show its inbox. Each signs with a key like that of a seat
 * (seats.ts). A paired device may answer questions. It may allow permissions only if its key is listed among the seats in the
 * human's file (trust.ts). Pairing and connecting are in extensions/inbox.
 */

/** A device that is paired, or that its human has yet to confirm. */
export interface Device {
  device_id: string;
  /** Its human's name for it: "Ada's phone". */
  name: string;
  /** The name of its human, who counts as the author of its answers. */
  human: string;
  /** Its public key, in the format of a seat's: 32 bytes, base64url. */
  key: string;
  paired_at: string;
  /** Null until its human has compared the phrases. */
  confirmed_at: string | null;
  revoked_at: string | null;
  /** When it last connected. */
  seen_at: string | null;
  /** Where its notifications go; null if it takes none. */
  push: PushTarget | null;
  /** Why notifications no longer reach it, as a sentence; null while they do. */
  push_failed: string | null;
  /**
   * The seat at which its human paired it. Preferences that the device does not set itself come from this seat. Null: no seat.
   */
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
  /** The human whose device it will be. */
  human: string;
  expires_at: string;
  /** The device that has used it; null until then. */
  device_id: string | null;
  /** The seat of that human; null if another human pairs the device. */
  seat: string | null;
}

/** How far the time of a signed permission may differ from the store's clock, in ms. */
const FRESH_MS = 2 * 60_000;

/** Whether a device signed this answer recently, by the store's clock rather than the device's. */
export function isFresh(signed_at: string, now: string): boolean {
  return Math.abs(Date.parse(now) - Date.parse(signed_at)) <= FRESH_MS;
}
