/** Deliveries to agents with their receipts, and the hooks that are about to print some of them. */
import type { Delivery } from '../../domain/delivery.ts';

/** Prompts, mentions and reports are read together with their own receipts; this reads the rest. */
export interface DeliveryReads {
  get(subject: string): Promise<Delivery | undefined>;
  /** Handed over by this carrier before then, and not yet proved to be read. */
  carriedBy(carrier: string, handed_before: string): Promise<Delivery[]>;
}

export interface DeliveryRecords extends DeliveryReads {
  /** Replaces an earlier delivery of the same subject. */
  put(delivery: Delivery): Promise<void>;
  /** Releases what this carrier has handed over without proof that it was read, so that it is handed over again. */
  release(carrier: string): Promise<void>;
  /** Moves the unread prompts and reports of a session to another one, and releases those that `carrier` handed over. */
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
