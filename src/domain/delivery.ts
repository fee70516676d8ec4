/**
 * Deliveries: things that are owed to an agent or were handed to it, with their receipts. Pure. Settled prompts, mentions,
 * reports and notices of aborted turns have the same shape.
 *
 *     owed ──▶ handed by a carrier ──▶ collected: the carrier has proved that it was read
 *       ▲                │
 *       └───── lost ◀────┘ the carrier is gone: it will be handed over again as `repeated`
 */

/**
 * `interrupt`: the news that a turn was aborted; its subject is the turn. `expiry`: the news that a mention has expired; its
 * subject is made of the mention and the session that it is for.
 */
export type DeliveryKind = 'prompt' | 'mention' | 'report' | 'interrupt' | 'expiry';

/** The progress of a delivery. */
export interface Receipts {
  /** When it was last returned or printed to the agent; null: never. */
  handed_at: string | null;
  /** When it was proved read. */
  collected_at: string | null;
  /**
   * The carrier that delivered it (one MCP connection, or the hooks of a session). Only this carrier can prove that it arrived.
   */
  carrier: string | null;
}

export interface Delivery extends Receipts {
  /** The ask_id, mention_id, outreach_id or turn_id of the thing that is delivered. */
  subject: string;
  kind: DeliveryKind;
  /** The session that receives it. */
  recipient: string;
  /** It was handed over before, and nothing proved that it was read. */
  repeated: boolean;
}

export const NO_RECEIPTS: Receipts = { handed_at: null, collected_at: null, carrier: null };

/** A delivery that nobody has handed over yet. */
export function owed(kind: DeliveryKind, subject: string, recipient: string): Delivery {
  return { subject, kind, recipient, ...NO_RECEIPTS, repeated: false };
}

/**
 * Records that `carrier` returns or prints it. The last time counts, because only a later event proves that it was read. A
 * mention needs no such proof, because its addressee processes it.
 */
export function handOver(delivery: Delivery, carrier: string, now: string): Delivery {
  const collected_at = delivery.kind === 'mention' ? now : null;
  return { ...delivery, carrier, handed_at: now, collected_at, repeated: delivery.handed_at !== null };
}

/** Records that its carrier has proved that it was read. */
export function collect(delivery: Delivery, now: string): Delivery {
  return { ...delivery, collected_at: now };
}

/** Records that it was lost, because its carrier is gone or never printed it: the next carrier hands it over again. */
export function lose(delivery: Delivery): Delivery {
  return { ...delivery, carrier: null };
}

/** The receipts alone, to be read as part of the thing that was delivered. */
export function receiptsOf({ handed_at, collected_at, carrier }: Receipts): Receipts {
  return { handed_at, collected_at, carrier };
}
