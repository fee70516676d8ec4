/**
 * Deliveries: what is owed to an agent, or was carried into it, with its receipts. Pure; one shape for the
 * settlement of a prompt, a mention, a report, and the word that a turn was aborted.
 *
 *     owed ──▶ handed by a carrier ──▶ collected: that carrier has shown that it was read
 *       ▲                │
 *       └── released ◀───┘ the carrier is gone: it is handed again, `repeated`
 */

/** `interrupt`: the word that a turn was aborted; its subject is the turn. */
export type DeliveryKind = 'prompt' | 'mention' | 'report' | 'interrupt';

/** What is known of how far something has come. */
export interface Receipts {
  /** When it was last returned or printed to the agent; null: never. */
  handed_at: string | null;
  /** When it was proved read. */
  collected_at: string | null;
  /** What carried it in (one MCP connection, the hooks of a session): only that can prove that it arrived. */
  carrier: string | null;
}

export interface Delivery extends Receipts {
  /** The id of what is delivered: an ask_id, mention_id, outreach_id or turn_id. */
  subject: string;
  kind: DeliveryKind;
  /** The session that it is for. */
  recipient: string;
  /** It was handed before, and nothing proved that it was read. */
  repeated: boolean;
}

export const NO_RECEIPTS: Receipts = { handed_at: null, collected_at: null, carrier: null };

/** Something that nobody has carried to its recipient yet. */
export function owed(kind: DeliveryKind, subject: string, recipient: string): Delivery {
  return { subject, kind, recipient, ...NO_RECEIPTS, repeated: false };
}

/**
 * It is returned or printed by `carrier`: the last time counts, because only what comes after it proves that it
 * was read. A mention needs no such proof: its addressee processes it.
 */
export function handOver(delivery: Delivery, carrier: string, now: string): Delivery {
  const collected_at = delivery.kind === 'mention' || globalThis.SABOTAGE?.('false-receipt') ? now : null;
  return { ...delivery, carrier, handed_at: now, collected_at, repeated: delivery.handed_at !== null };
}

/** Its carrier has shown that it was read. */
export function collect(delivery: Delivery, now: string): Delivery {
  return { ...delivery, collected_at: now };
}

/** Its carrier is gone, or never printed it: whoever comes next hands it again. */
export function release(delivery: Delivery): Delivery {
  return { ...delivery, carrier: null };
}

/** The receipts alone, for the thing that they are read with. */
export function receiptsOf({ handed_at, collected_at, carrier }: Receipts): Receipts {
  return { handed_at, collected_at, carrier };
}
