/**
 * A courier carries answers over one connection whose calls may overlap (invariant 6). A call proves that the
 * client has read what earlier calls returned; of a call that has not returned yet it proves nothing. Told by
 * memory and not by clocks: two calls in one millisecond, or a store with a clock of its own, would deceive
 * those; and a courier that dies takes its memory with it, as it should.
 */
import { isUncollected } from '../domain/prompts.ts';
import type { Delivered, DeliveryService, Handed } from './delivery.ts';

export interface Courier {
  /** A call has come. */
  begin(): Errand;
}

/** One call; it ends as `returned` or as `dropped`. */
export interface Errand {
  /** Records as read what calls had returned when this one came. Cheap when there is nothing. */
  prove(): Promise<void>;
  /** Stamps the settled ones among these prompts as handed, before they are returned (see DeliveryService). */
  hand(ask_ids: readonly string[], reader?: string): Promise<Delivered[]>;
  returned(): void;
  /** The client took its call back or got an error: what was handed over did not reach it. */
  dropped(): Promise<void>;
}

export function createCourier(delivery: DeliveryService, carrier: string): Courier {
  /** ask_id → when it was handed over by a call that has returned since. */
  const unproven = new Map<string, string>();

  return {
    begin() {
      const before = entriesOf(unproven);
      const handed = new Map<string, string>();
      return {
        async prove() {
          if (before.length === 0) return;
          await delivery.prove(carrier, before);
          for (const { ask_id, handed_at } of before)
            if (unproven.get(ask_id) === handed_at) unproven.delete(ask_id);
        },
        async hand(ask_ids, reader) {
          const delivered = await delivery.hand(ask_ids, carrier, reader);
          for (const { prompt } of delivered) {
            if (isUncollected(prompt) && prompt.carrier === carrier && prompt.handed_at !== null)
              handed.set(prompt.ask_id, prompt.handed_at);
          }
          return delivered;
        },
        returned() {
          for (const [ask_id, handed_at] of handed) unproven.set(ask_id, handed_at);
        },
        async dropped() {
          if (handed.size > 0) await delivery.release(carrier, entriesOf(handed));
        },
      };
    },
  };
}

function entriesOf(handed: ReadonlyMap<string, string>): Handed[] {
  return [...handed].map(([ask_id, handed_at]) => ({ ask_id, handed_at }));
}
