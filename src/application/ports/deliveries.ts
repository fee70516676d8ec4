/** Deliveries to agents with their receipts, and the hooks that are about to print some of them. */
import type { Delivery } from '../../domain/delivery.ts';

/** What the receipts are read with reads them itself: prompts, mentions, reports. */
export interface DeliveryReads {
  get(subject: string): Promise<Delivery | undefined>;
  /** Handed by this carrier before then, and not proved read yet. */
  carriedBy(carrier: string, handed_before: string): Promise<Delivery[]>;
}

export interface DeliveryRecords extends DeliveryReads {
  /** Replaces an earlier delivery of the same subject. */
  put(delivery: Delivery): Promise<void>;
  /** Releases what this carrier has handed over and nothing proved read, so that it is handed over again. */
  release(carrier: string): Promise<void>;
  /** What a session has yet to read of prompts and reports goes to another; `carrier` has carried it nowhere. */
  move(from: string, to: string, carrier: string): Promise<void>;
}

/** A hook of a session that has handed something over and is about to print it. */
export interface HookOutput {
  output_id: string;
  session_id: string;
  at: string;
}

export interface HookOutputReads {
  of(session_id: string): Promise<HookOutput[]>;
}

export interface HookOutputRecords extends HookOutputReads {
  insert(output: HookOutput): Promise<void>;
  remove(output_id: string): Promise<void>;
}
