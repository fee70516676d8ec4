/**
 * Delivery: what is carried into an agent, and what proves that it arrived (invariant 6). At least once,
 * undisturbed exactly once: an answer is stamped `handed_at` when a carrier (one MCP connection, one hook)
 * returns or prints it, and `collected_at` when that same carrier shows by a further sign of life that the
 * agent went on. A carrier that dies in between proves nothing, so the next one hands it again, `repeated`.
 */
import { handPrompt, isUncollected, type Prompt } from '../domain/prompts.ts';
import type { Store } from './ports.ts';

export interface Delivered {
  prompt: Prompt;
  /** It was handed before, and nothing proved that it was read. */
  repeated: boolean;
}

export interface DeliveryService {
  /** Stamps the settled ones among these prompts as handed by `carrier`, before it returns or prints them. */
  hand(ask_ids: readonly string[], carrier: string): Promise<Delivered[]>;
  /** A sign of life of the carrier: what it handed before then was read. Cheap when there is nothing. */
  collect(carrier: string, handed_before: string): Promise<number>;
}

export function createDelivery(store: Store): DeliveryService {
  return {
    hand: (ask_ids, carrier) =>
      store.write(async (tx) => {
        const delivered: Delivered[] = [];
        for (const ask_id of ask_ids) {
          const prompt = await tx.prompts.get(ask_id);
          if (prompt === undefined) continue;
          if (!isUncollected(prompt)) {
            delivered.push({ prompt, repeated: false });
            continue;
          }
          const handed = handPrompt(prompt, carrier, tx.now);
          const repeated = prompt.handed_at !== null;
          await tx.prompts.update(handed);
          await tx.events.append({
            type: 'prompt/handed',
            session_id: prompt.session_id,
            subject: ask_id,
            data: { status: prompt.status, carrier, repeated },
          });
          delivered.push({ prompt: handed, repeated });
        }
        return delivered;
      }),

    async collect(carrier, handed_before) {
      const carried = await store.read((tx) => tx.prompts.carriedBy(carrier, handed_before));
      if (carried.length === 0) return 0;
      return store.write(async (tx) => {
        const prompts = await tx.prompts.carriedBy(carrier, handed_before);
        for (const prompt of prompts) {
          await tx.prompts.update({ ...prompt, collected_at: tx.now });
          await tx.events.append({
            type: 'prompt/collected',
            session_id: prompt.session_id,
            subject: prompt.ask_id,
            data: { status: prompt.status, carrier },
          });
        }
        return prompts.length;
      });
    },
  };
}
